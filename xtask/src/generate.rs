//! `generate`: the API descriptions and the Khronos registry, compiled to the committed Rust.

use anyhow::bail;
use clap::Args;

use crate::tree;

#[derive(Args)]
pub struct Generate {
    /// Change nothing; fail if the committed code is stale
    #[arg(long)]
    pub check: bool,
}

pub fn run(args: &Generate) -> anyhow::Result<()> {
    let root = tree::root();
    let registry = apigen::registry_files(&tree::target())?;
    let generated = apigen::generate(&apigen::Inputs::read(root, &registry)?)?;
    let stale = apigen::stale(root, &generated.files)?;
    if args.check {
        if let Some(first) = stale.first() {
            bail!(
                "{} generated files are stale, {} the first; run `cargo xtask generate`",
                stale.len(),
                first.display()
            );
        }
        return Ok(());
    }
    apigen::write(root, &generated.files)?;
    println!("{}", generated.summary);
    for path in stale {
        println!("wrote {}", path.display());
    }
    Ok(())
}

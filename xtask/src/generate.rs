//! `generate`: the API descriptions and the Khronos registry, compiled to the committed Rust.

use anyhow::bail;
use clap::Args;

use crate::{headers, tree};

#[derive(Args)]
pub struct Generate {
    /// Change nothing; fail if the committed code is stale
    #[arg(long)]
    pub check: bool,
    /// Format the API descriptions, and generate nothing; with --check fail if one is not formatted
    #[arg(long)]
    pub format: bool,
}

pub fn run(args: &Generate) -> anyhow::Result<()> {
    let root = tree::root();
    if args.format {
        return format(args.check);
    }
    let registry = apigen::registry_files(&tree::target())?;
    let mut generated = apigen::generate(&apigen::Inputs::read(root, &registry)?)?;
    generated.files.extend(apigen::generate_toy(root)?);
    let stale = apigen::stale(root, &generated.files)?;
    if args.check {
        let stale = [stale, headers::stale(root, &headers::generate(root)?)].concat();
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
    // Made from the descriptions that were just written.
    let stale_headers = headers::write(root, &headers::generate(root)?)?;
    println!("{}", generated.summary);
    for path in stale.into_iter().chain(stale_headers) {
        println!("wrote {}", path.display());
    }
    Ok(())
}

/// Formats every description.
fn format(check: bool) -> anyhow::Result<()> {
    let root = tree::root();
    let descriptions = apigen::descriptions(root, &apigen::apis::read(root)?)?;
    let changed = apigen::format_descriptions(&descriptions)?;
    for (path, text) in &changed {
        if check {
            bail!("{} is not formatted; run `cargo xtask generate --format`", path.display());
        }
        std::fs::write(root.join(path), text)?;
        println!("formatted {}", path.display());
    }
    Ok(())
}

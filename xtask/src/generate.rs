//! `generate`: the API descriptions and the Khronos registry, compiled to the committed Rust; the tools' C header; the
//! list of files in docs. Only stale files are written; `--check` writes nothing and fails if one is stale; `--format`
//! formats the descriptions instead.

use anyhow::bail;
use clap::Args;

use crate::{file_list, headers, outputs, tree};

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
        let pages = file_list::generate(root)?;
        let others =
            [outputs::stale(root, &headers::generate(root)?), outputs::stale(root, &pages)];
        let stale = [stale, others.concat(), file_list::unwanted(root, &pages)].concat();
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
    let stale_headers = outputs::write(root, &headers::generate(root)?)?;
    let pages = file_list::generate(root)?;
    let stale_pages = outputs::write(root, &pages)?;
    println!("{}", generated.summary);
    for path in [stale, stale_headers, stale_pages].concat() {
        println!("wrote {}", path.display());
    }
    for path in file_list::unwanted(root, &pages) {
        std::fs::remove_file(root.join(&path))?;
        println!("removed {}", path.display());
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

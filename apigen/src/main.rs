//! The generator by hand; `cargo xtask generate` does the same.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use apigen::fetch::RegistryFiles;
use clap::Parser;

/// Compiles the API descriptions to Rust.
#[derive(Parser)]
struct Arguments {
    /// Root of the repository.
    #[arg(long, default_value = ".")]
    root: PathBuf,
    /// Folder with egl.xml and gl.xml; fetched when left out.
    #[arg(long)]
    registry: Option<PathBuf>,
    /// Write nothing; fail if a generated file is stale.
    #[arg(long)]
    check: bool,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let registry = match &arguments.registry {
        Some(folder) => RegistryFiles::in_folder(folder),
        None => apigen::registry_files(&arguments.root.join("target"))?,
    };
    let inputs = apigen::Inputs::read(&arguments.root, &registry)?;
    let generated = apigen::generate(&inputs).context("the API descriptions have mistakes")?;
    println!("{}", generated.summary);
    let stale = apigen::stale(&arguments.root, &generated.files)?;
    if arguments.check && !stale.is_empty() {
        bail!("stale, run `cargo xtask generate`: {stale:?}");
    }
    if !arguments.check {
        apigen::write(&arguments.root, &generated.files)?;
    }
    Ok(())
}

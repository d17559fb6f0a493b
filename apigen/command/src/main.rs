//! The command `apigen`: compiles the API descriptions and the Khronos registry to the committed Rust and the tools' C
//! headers, formats the descriptions, and counts what they don't say. `cargo xtask generate` and `check-api` run it.
//!
//! It exits with 1 if a description has a mistake, and with `--check` if a file is stale.

#![forbid(unsafe_code)]

mod headers;

use std::io::{IsTerminal as _, stderr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use apigen::{Error, Inputs};
use clap::{Parser, Subcommand};

/// Compile the API descriptions of gapii
#[derive(Parser)]
#[command(name = "apigen")]
struct Cli {
    /// Root of the repository
    #[arg(long, default_value = ".")]
    root: PathBuf,
    /// Cargo's target folder, which the Khronos registry is downloaded to
    #[arg(long, default_value = "target")]
    target_dir: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write the generated files that are stale
    Generate {
        /// Change nothing; fail if a generated file is stale
        #[arg(long)]
        check: bool,
    },
    /// Format the API descriptions
    Format {
        /// Change nothing; fail if a description is not formatted
        #[arg(long)]
        check: bool,
    },
    /// Check the API descriptions; fail for a pointer parameter without an extent
    CheckApi,
}

fn main() -> ExitCode {
    let Cli { root, target_dir, command } = Cli::parse();
    let done = match command {
        Command::Generate { check } => generate(&root, &target_dir, check),
        Command::Format { check } => format(&root, check),
        Command::CheckApi => check_api(&root, &target_dir),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("apigen: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn generate(root: &Path, target_dir: &Path, check: bool) -> anyhow::Result<()> {
    let mut generated = apigen::generate(&inputs(root, target_dir)?)?;
    generated.files.extend(apigen::generate_toy(root)?);
    generated.files.extend(headers::generate(root)?);
    let stale = apigen::stale(root, &generated.files)?;
    if check {
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

fn format(root: &Path, check: bool) -> anyhow::Result<()> {
    let descriptions = apigen::descriptions(root, &apigen::apis::read(root)?)?;
    for (path, text) in apigen::format_descriptions(&descriptions)? {
        if check {
            bail!("{} is not formatted; run `cargo xtask generate --format`", path.display());
        }
        std::fs::write(root.join(&path), text)?;
        println!("formatted {}", path.display());
    }
    Ok(())
}

fn check_api(root: &Path, target_dir: &Path) -> anyhow::Result<()> {
    let coverage = match apigen::coverage(&inputs(root, target_dir)?) {
        Ok(coverage) => coverage,
        Err(Error::Descriptions(report)) => {
            eprintln!("{}", report.render(stderr().is_terminal()));
            bail!("{} mistakes in the descriptions", report.diagnostics.len());
        }
        Err(error) => return Err(error.into()),
    };
    println!("{coverage}");
    if !coverage.is_complete() {
        bail!("pointer parameters without an extent");
    }
    Ok(())
}

fn inputs(root: &Path, target_dir: &Path) -> anyhow::Result<Inputs> {
    Ok(Inputs::read(root, &apigen_registry::files(target_dir)?)?)
}

//! `generate` and `check-api`: builds the command `apigen` in the profile of the tests and runs it; `generate` also
//! writes the list of files in docs. Only stale files are written; `--check` writes nothing and fails if one is stale;
//! `--format` formats the descriptions instead.

use anyhow::bail;
use clap::Args;

use crate::tree::Profile;
use crate::{build, file_list, step, tree};

/// Checks of the descriptions and the generated code: a name, the command line, and its words for `xtask`.
pub const CHECKS: [(&str, &str, &[&str]); 3] = [
    (
        "form of the descriptions",
        "cargo xtask generate --format --check",
        &["generate", "--format", "--check"],
    ),
    ("extents of the descriptions", "cargo xtask check-api", &["check-api"]),
    ("generated code", "cargo xtask generate --check", &["generate", "--check"]),
];

#[derive(Args)]
pub struct Generate {
    /// Change nothing; fail if the committed code is stale
    #[arg(long)]
    check: bool,
    /// Format the API descriptions, and generate nothing; with --check fail if one is not formatted
    #[arg(long)]
    format: bool,
}

pub fn run(args: &Generate) -> anyhow::Result<()> {
    let check = if args.check { &["--check"][..] } else { &[] };
    if args.format {
        return apigen(&[&["format"], check].concat());
    }
    apigen(&[&["generate"], check].concat())?;
    let root = tree::root();
    if args.check {
        return match file_list::outdated(root)?.first() {
            Some(page) => bail!("{} is stale; run `cargo xtask generate`", page.display()),
            None => Ok(()),
        };
    }
    let pages = file_list::generate(root)?;
    for page in file_list::write(root, &pages)? {
        println!("wrote {}", page.display());
    }
    for page in file_list::unwanted(root, &pages) {
        std::fs::remove_file(root.join(&page))?;
        println!("removed {}", page.display());
    }
    Ok(())
}

/// The API descriptions, parsed and checked; nothing is generated. Fails for a mistake, and for pointer parameters
/// without an extent, which are listed.
pub fn check_api() -> anyhow::Result<()> {
    apigen(&["check-api"])
}

/// Builds and runs `apigen` with `arguments`.
fn apigen(arguments: &[&str]) -> anyhow::Result<()> {
    build::apigen()?;
    let program = tree::artifacts(Profile::Dev).join("apigen");
    let mut command = step::command(&program.to_string_lossy(), &["--target-dir"]);
    step::run(command.arg(tree::target()).args(arguments))
}

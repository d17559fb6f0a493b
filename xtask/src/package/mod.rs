//! `package`: what people install. Debian packages in `target/package`, or with `--tar` an archive that works
//! wherever it is unpacked. Both have the files that `gapii_package` lists.

mod archive;
mod check;
mod deb;
mod stage;
mod third_party;

use clap::Args;

use crate::{build, packages, tree};

#[derive(Args)]
pub struct Package {
    /// Make an archive that works wherever it is unpacked, instead of Debian packages
    #[arg(long, conflicts_with = "check")]
    tar: bool,

    /// Install the packages in a bare Debian of each release, run the commands of the README's first page there, and
    /// remove the packages
    #[arg(long)]
    check: bool,
}

pub fn run(args: &Package) -> anyhow::Result<()> {
    packages::install(&[packages::PACKAGE])?;
    build::all()?;
    let folder = tree::target().join("package");
    std::fs::create_dir_all(&folder)?;
    if args.tar {
        println!("{}", archive::make(&folder)?.display());
        return Ok(());
    }
    let debs = deb::make(&folder)?;
    deb::judge(&debs)?;
    for deb in &debs {
        println!("{}", deb.display());
    }
    if args.check {
        check::run(&debs)?;
    }
    Ok(())
}

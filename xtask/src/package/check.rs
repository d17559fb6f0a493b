//! `package --check`: the packages in a bare Debian of each release: installed, the commands of the README's first page as
//! they stand there, removed again. The script is `check.sh`.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail, ensure};

use super::stage::empty;
use crate::chroot::{Chroot, Contents};
use crate::{packages, tree};

/// Debian's releases: the one that gapii is built on, the current stable one, and the next.
const SUITES: [&str; 3] = ["bookworm", "trixie", "testing"];

const SCRIPT: &str = include_str!("check.sh");

/// Where the README's first page begins and ends.
const FIRST_PAGE: (&str, &str) =
    ("## What people do with it", "**Find the command that crashed.**");

pub fn run(debs: &[PathBuf]) -> anyhow::Result<()> {
    packages::install(&[packages::CHROOT])?;
    let seen = tree::target().join("package/check");
    empty(&seen)?;
    for deb in debs {
        let name = deb.file_name().context("a package has a name")?;
        fs::copy(deb, seen.join(name))?;
    }
    let readme = fs::read_to_string(tree::root().join("README.md"))?;
    let commands = first_page(&readme);
    ensure!(commands.len() > 2, "the README's first page has no commands");
    fs::write(seen.join("commands"), commands.join("\n") + "\n")?;
    fs::write(seen.join("check.sh"), SCRIPT)?;
    let mut wrong = Vec::new();
    for suite in SUITES {
        println!("Debian {suite}");
        let root = tree::target().join("package/chroots").join(suite);
        let contents = Contents { suite, architecture: None, packages: &[] };
        let chroot = Chroot::open(root, &contents)?;
        let status = chroot.script(&seen, "check.sh")?.status();
        if !status.context("can't start a shell in the chroot")?.success() {
            wrong.push(suite);
        }
    }
    if !wrong.is_empty() {
        bail!("the packages fail on Debian {}", wrong.join(", "));
    }
    Ok(())
}

/// The commands in the blocks of the README's first page.
fn first_page(readme: &str) -> Vec<&str> {
    let (_, rest) = readme.split_once(FIRST_PAGE.0).unwrap_or_default();
    let (page, _) = rest.split_once(FIRST_PAGE.1).unwrap_or_default();
    let blocks = page.split("```").skip(1).step_by(2);
    blocks.flat_map(str::lines).filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_page_has_the_commands_of_its_blocks() {
        let readme = format!(
            "```\nno\n```\n{}\ntext\n```\na b\nc\n```\nmore\n```\nd\n```\n{}\n```\nno\n```\n",
            FIRST_PAGE.0, FIRST_PAGE.1
        );
        assert_eq!(first_page(&readme), ["a b", "c", "d"]);
        assert!(first_page("```\nno\n```\n").is_empty());
    }
}

//! Mistakes that are put into a copy of the shim on purpose, to measure how long the search takes to find each.
//!
//! The tree itself stays as it is. A program that fails with the shim of the tree, too, has found no mistake.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;
use std::time::{Duration, Instant};

use crate::artifacts::{self, artifact};

/// A change of one text in one file of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// What is wrong with it, for people.
    pub name: String,
    /// Path in the tree.
    pub file: PathBuf,
    pub before: String,
    pub after: String,
}

/// A list of mistakes: see `tests/data/planted.txt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes(pub Vec<Mistake>);

impl FromStr for Mistakes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lines: Vec<&str> =
            text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        let mistake = |lines: &[&str]| {
            let beginnings = ["mistake: ", "file: ", "- ", "+ "];
            let mut parts = lines.iter().zip(beginnings).map(|(line, begin)| {
                line.strip_prefix(begin).ok_or_else(|| format!("no line of `{begin}`: {line}"))
            });
            let mut part =
                || parts.next().unwrap_or_else(|| Err("four lines are a mistake".to_owned()));
            let (name, file) = (part()?.to_owned(), part()?.into());
            Ok(Mistake { name, file, before: part()?.to_owned(), after: part()?.to_owned() })
        };
        lines.chunks(LINES).map(mistake).collect::<Result<_, _>>().map(Self)
    }
}

/// Lines of a mistake in the list.
const LINES: usize = 4;

/// A copy of the tree, in which shims with mistakes are built.
pub struct Nursery {
    tree: PathBuf,
    folder: PathBuf,
}

impl Nursery {
    /// Copies the files of the tree that differ from the last copy, so that little is built anew.
    pub fn new() -> Self {
        let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let folder = artifacts::cache_directory().join("planted");
        let nursery = Self { tree, folder };
        for file in nursery.files() {
            let text = fs::read(nursery.tree.join(&file)).expect("git lists files");
            nursery.write(&file, &text);
        }
        nursery
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut git = Command::new("git");
        git.arg("-C").arg(&self.tree).args(["ls-files", "--cached", "--others"]);
        let listed = git.arg("--exclude-standard").output().expect("git is installed");
        let listed = String::from_utf8(listed.stdout).expect("names of files are text");
        // A file that was deleted is listed until that is committed.
        listed.lines().map(PathBuf::from).filter(|file| self.tree.join(file).is_file()).collect()
    }

    fn write(&self, file: &Path, text: &[u8]) {
        let path = self.folder.join("tree").join(file);
        if fs::read(&path).is_ok_and(|old| old == text) {
            return;
        }
        let folder = path.parent().expect("a file is in a folder");
        fs::create_dir_all(folder).expect("the build folder is writable");
        fs::write(&path, text).expect("the build folder is writable");
    }

    /// Builds the shim with a mistake. Returns a folder with it and the other programs, for `GAPII_ARTIFACTS`.
    ///
    /// # Panics
    /// If the text is not once in its file, or the shim cannot be built.
    pub fn build(&self, mistake: &Mistake) -> PathBuf {
        let text = fs::read_to_string(self.tree.join(&mistake.file)).expect("the file is there");
        let times = text.matches(&mistake.before).count();
        assert_eq!(times, 1, "{}: times that {} is there", mistake.name, mistake.before);
        let changed = text.replace(&mistake.before, &mistake.after);
        self.write(&mistake.file, changed.as_bytes());
        let target = self.folder.join("target");
        let mut cargo = Command::new("cargo");
        cargo.current_dir(self.folder.join("tree")).args(["build", "--quiet", "-p", "gapii-shim"]);
        let built = cargo.arg("--target-dir").arg(&target).status();
        self.write(&mistake.file, text.as_bytes());
        assert!(built.expect("cargo is installed").success(), "{}", mistake.name);
        self.lay_out(&target.join("debug/libgapii.so"))
    }

    fn lay_out(&self, shim: &Path) -> PathBuf {
        let folder = self.folder.join("artifacts");
        // What is there may be of an earlier build.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("sonames")).expect("the build folder is writable");
        fs::copy(shim, folder.join("libgapii.so")).expect("the shim is built");
        let link = |from: PathBuf, to: PathBuf| {
            std::os::unix::fs::symlink(from, to).expect("the build folder is writable");
        };
        for name in ["gapiid", "gapii-ctl", "gapii-test-operator", "level-zero"] {
            link(artifact(name), folder.join(name));
        }
        let sonames = fs::read_dir(artifact("sonames")).expect("the folder is there").flatten();
        for name in sonames.map(|entry| entry.file_name()) {
            link("../libgapii.so".into(), folder.join("sonames").join(name));
        }
        folder
    }
}

impl Default for Nursery {
    fn default() -> Self {
        Self::new()
    }
}

/// A program that shows a mistake.
pub struct Find {
    pub seed: u64,
    /// How it fails, in a line.
    pub fault: String,
    pub after: Duration,
}

/// Searches from `seed` on with the programs of a folder until one fails that does not fail without the mistake.
pub fn find(folder: &Path, mut seed: u64, time: Duration) -> Option<Find> {
    let began = Instant::now();
    while let Some(left) = time.checked_sub(began.elapsed()).filter(|left| !left.is_zero()) {
        let (at, fault) = first_fault(folder, seed, left, u64::MAX)?;
        let after = began.elapsed();
        // Once more: what fails by chance has found nothing.
        let fails_again = first_fault(folder, at, time, 1).is_some();
        if fails_again && first_fault(&artifacts::directory(), at, time, 1).is_none() {
            return Some(Find { seed: at, fault, after });
        }
        seed = at + 1;
    }
    None
}

/// The first seed with a fault, and the fault.
///
/// # Panics
/// If the search itself fails.
fn first_fault(folder: &Path, seed: u64, time: Duration, programs: u64) -> Option<(u64, String)> {
    let own = std::env::current_exe().expect("a running program has a path");
    let mut search = Command::new(own);
    search.args(["snapshots", "--shortened", "0", "--faults", "1"]);
    search.args(["--seed", &seed.to_string(), "--programs", &programs.to_string()]);
    search.args(["--seconds", &time.as_secs().max(1).to_string()]);
    let done = search.env("GAPII_ARTIFACTS", folder).output().expect("this program can be started");
    let said = String::from_utf8_lossy(&done.stdout);
    let fault = said.lines().find_map(|line| {
        let (seed, fault) = line.strip_prefix("seed ")?.split_once(", before step ")?;
        Some((seed.parse().ok()?, fault.to_owned()))
    });
    let summary =
        said.lines().any(|line| line.starts_with("snapshots: ") && line.contains("programs"));
    assert!(fault.is_some() || summary, "{}", String::from_utf8_lossy(&done.stderr));
    fault
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_planted_text_is_once_in_its_file() {
        let text = include_str!("../../data/planted.txt");
        let Mistakes(mistakes) = text.parse().expect("a list of mistakes");
        assert!(mistakes.len() >= 5);
        let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for Mistake { name, file, before, after } in mistakes {
            let text = fs::read_to_string(tree.join(file)).expect("the file is there");
            assert_eq!(text.matches(&before).count(), 1, "{name}");
            assert_ne!(before, after, "{name}");
        }
    }

    #[test]
    fn line_without_its_beginning_is_refused() {
        assert!("mistake: it\nfile: a.rs\n- one\n".parse::<Mistakes>().is_err());
        assert!("mistake: it\nfile: a.rs\n+ two\n- one\n".parse::<Mistakes>().is_err());
    }
}

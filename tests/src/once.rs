//! Results that several tests need, made once in a run of the suite: native runs and recordings of programs that are the same on
//! every run.
//!
//! `cargo xtask test` names a folder for them in `GAPII_TEST_ONCE` and removes it at its end. Without the variable they are made
//! in the test's own session. Whoever gets a result must not change it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::gapii::Session;

/// Returns the folder `name`, which `make` fills for the first test that asks. The error is that of `make`; the next test that
/// asks tries again.
pub fn once(
    session: &Session,
    name: &str,
    make: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let all = std::env::var_os("GAPII_TEST_ONCE").map(PathBuf::from);
    let all = all.unwrap_or_else(|| session.path("once"));
    fs::create_dir_all(&all).expect("the folder is writable");
    let lock = File::create(all.join(format!("{name}.lock"))).expect("the folder is writable");
    // Released when the file is closed, also by the end of a test that fails.
    flock(&lock, FlockOperation::LockExclusive).expect("a file can be locked");
    let made = all.join(name);
    if !made.exists() {
        let draft = tempfile::Builder::new().prefix("draft-").tempdir_in(&all).expect("a folder");
        make(draft.path())?;
        fs::rename(draft.keep(), &made).expect("a rename within one folder");
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_is_made_once_and_an_error_is_not_kept() {
        let session = Session::new();
        let write = |text: &'static str| {
            move |folder: &Path| fs::write(folder.join("a"), text).map_err(|e| e.to_string())
        };
        assert_eq!(once(&session, "x", |_| Err("no".to_owned())), Err("no".to_owned()));
        for text in ["first", "second"] {
            let folder = once(&session, "x", write(text)).unwrap();
            assert_eq!(fs::read_to_string(folder.join("a")).unwrap(), "first");
        }
    }
}

//! What was uploaded of large files: a small file for each, so that the next process goes on after the last part.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gapii_store::Begun;
use serde::{Deserialize, Serialize};

/// Stores may throw the parts away after some days.
const AGE_MAX: Duration = Duration::from_secs(7 * 86_400);
const END: &str = ".begun";

/// The folder with these files.
#[derive(Debug)]
pub struct BegunFiles(PathBuf);

#[derive(Serialize, Deserialize)]
struct Kept {
    /// Whole name in the store.
    place: String,
    begun: Begun,
}

impl BegunFiles {
    /// Uses `folder`, and deletes the files that are too old.
    pub fn of(folder: &Path) -> BegunFiles {
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        let is_old = |entry: &fs::DirEntry| {
            let age = entry.metadata().and_then(|it| it.modified()).map(|it| it.elapsed());
            age.is_ok_and(|age| age.is_ok_and(|age| age > AGE_MAX))
        };
        for old in files
            .filter(|it| it.file_name().as_encoded_bytes().ends_with(END.as_bytes()))
            .filter(is_old)
        {
            // It would only be old once more.
            let _ = fs::remove_file(old.path());
        }
        BegunFiles(folder.to_owned())
    }

    /// Returns what was uploaded of the file with this digest to `place`.
    pub fn load(&self, digest: &str, place: &str) -> Option<Begun> {
        let kept: Kept = serde_json::from_slice(&fs::read(self.path(digest)).ok()?).ok()?;
        (kept.place == place).then_some(kept.begun)
    }

    /// Keeps it. A full disk is no reason not to go on: then the file is uploaded from its beginning after a restart.
    pub fn save(&self, digest: &str, place: &str, begun: &Begun) {
        let kept = Kept { place: place.to_owned(), begun: begun.clone() };
        let draft = self.0.join(format!("{digest}{END}.part"));
        let text = serde_json::to_vec(&kept).unwrap_or_default();
        let _ = fs::write(&draft, text).and_then(|()| fs::rename(&draft, self.path(digest)));
    }

    pub fn forget(&self, digest: &str) {
        let _ = fs::remove_file(self.path(digest));
    }

    fn path(&self, digest: &str) -> PathBuf {
        self.0.join(format!("{digest}{END}"))
    }
}

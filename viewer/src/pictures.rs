//! Files that replays have written for the page: pictures of what a command drew, and the textures, buffers and shaders that
//! exist at a command. Each set is made once, by one process, however many ask for it; the last 32 (`SETS_MAX`) are kept in a
//! scratch folder, which goes when the viewer ends.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::question::Words;
use crate::tool::{Cost, Tool, Unanswered};

/// Most sets that are kept.
const SETS_MAX: usize = 32;

/// What a set shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// The attachments of the framebuffer that the command drew to.
    Framebuffer,
    /// All textures, buffers and shaders of the context.
    Objects,
}

/// What a set shows, and after which command.
pub type Key = (Content, u64);

/// The files of a set.
#[derive(Clone, Debug, Serialize)]
pub struct Set {
    #[serde(skip)]
    folder: PathBuf,
    /// The files, by name.
    files: Vec<File>,
    /// What the replay has to say of them: pictures that it could not take, commands that it could not play.
    notes: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
struct File {
    name: String,
    bytes: u64,
}

/// All sets.
pub struct Pictures {
    scratch: TempDir,
    /// The one that was asked for last is at the end.
    sets: Mutex<VecDeque<(Key, Arc<OnceCell<Set>>)>>,
}

impl Pictures {
    /// Makes the scratch folder.
    ///
    /// # Errors
    /// An error of the folder for temporary files.
    pub fn new() -> io::Result<Self> {
        let scratch = tempfile::Builder::new().prefix("gapii-ui-").tempdir()?;
        Ok(Self { scratch, sets: Mutex::default() })
    }

    /// Returns a set of files, and makes it if it is asked for the first time.
    ///
    /// # Errors
    /// [`Unanswered`]. A failure is not kept: the next question tries again.
    pub async fn set(&self, key: Key, trace: &Path, tool: &Tool) -> Result<Set, Unanswered> {
        let cell = self.cell(key);
        let set = cell.get_or_try_init(|| self.make(key, trace, tool)).await?;
        Ok(set.clone())
    }

    fn cell(&self, key: Key) -> Arc<OnceCell<Set>> {
        let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        let at = sets.iter().position(|(known, _)| *known == key);
        let entry = at.and_then(|at| sets.remove(at)).unwrap_or_else(|| (key, Arc::default()));
        let cell = Arc::clone(&entry.1);
        sets.push_back(entry);
        if sets.len() > SETS_MAX
            && let Some((_, oldest)) = sets.pop_front()
            && let Some(set) = oldest.get()
        {
            _ = fs::remove_dir_all(&set.folder);
        }
        cell
    }

    async fn make(&self, (content, at): Key, trace: &Path, tool: &Tool) -> Result<Set, Unanswered> {
        let folder = tempfile::Builder::new().prefix("set-").tempdir_in(self.scratch.path())?;
        let words = match content {
            Content::Framebuffer => Words::of("replay", trace)
                .with_path("images", folder.path())
                .with("at", at)
                .word("--depth")
                .word("--stencil"),
            Content::Objects => {
                Words::of("dump", trace).with_path("resources", folder.path()).with("at", at)
            }
        };
        let answer = tool.ask(Cost::Replay, words.as_slice()).await?;
        let report: Value = serde_json::from_slice(&answer).unwrap_or_default();
        let mut notes: Vec<String> =
            serde_json::from_value(report["notes"].clone()).unwrap_or_default();
        if let Some(skipped) = report["skipped"].as_u64().filter(|skipped| *skipped > 0) {
            notes.push(format!("{skipped} commands before could not be played"));
        }
        let mut files = Vec::new();
        for entry in fs::read_dir(folder.path())? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            files.push(File { name, bytes: entry.metadata()?.len() });
        }
        files.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Set { folder: folder.keep(), files, notes })
    }
}

impl Set {
    /// Returns the content of one of the files; `None` if it is none of them.
    pub fn read(&self, name: &str) -> Option<io::Result<Vec<u8>>> {
        let file = self.files.iter().find(|file| file.name == name)?;
        Some(fs::read(self.folder.join(&file.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_that_was_not_asked_for_longest_is_forgotten() {
        let pictures = Pictures::new().unwrap();
        let keys =
            || pictures.sets.lock().unwrap().iter().map(|(key, _)| key.1).collect::<Vec<_>>();
        let folder = pictures.scratch.path().join("set-0");
        fs::create_dir(&folder).unwrap();
        let set = Set { folder: folder.clone(), files: Vec::new(), notes: Vec::new() };
        pictures.cell((Content::Objects, 0)).set(set).unwrap();
        for at in 1..SETS_MAX as u64 {
            pictures.cell((Content::Objects, at));
        }
        pictures.cell((Content::Objects, 1));
        assert!(folder.exists() && keys().len() == SETS_MAX && keys().last() == Some(&1));
        pictures.cell((Content::Framebuffer, 7));
        assert!(!folder.exists() && keys().len() == SETS_MAX && keys().first() == Some(&2));
    }

    #[test]
    fn only_files_of_the_set_are_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.png"), b"x").unwrap();
        let files = vec![File { name: "a.png".into(), bytes: 1 }];
        let set = Set { folder: folder.path().join("."), files, notes: Vec::new() };
        assert_eq!(set.read("a.png").unwrap().unwrap(), b"x");
        for name in ["../a.png", "./a.png", "", "/etc/passwd"] {
            assert!(set.read(name).is_none(), "{name}");
        }
    }
}

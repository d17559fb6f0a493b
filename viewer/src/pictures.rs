//! Files that replays have written for the page: pictures of what a command drew, and the textures, buffers and shaders that
//! exist at a command. The last 32 sets (`SETS_MAX`), or fewer if they have more than 2 GiB (`BYTES_MAX`), are kept in a scratch
//! folder, which goes when the viewer ends.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use tempfile::TempDir;

use crate::kept::Kept;
use crate::parts::Parts;
use crate::question::{Pixel, Words};
use crate::tool::{Cost, Tool, Unanswered};

/// Most sets that are kept.
const SETS_MAX: usize = 32;
/// Most bytes of the sets that are kept.
const BYTES_MAX: u64 = 2 << 30;

/// Contents of a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// The attachments of the framebuffer that the command drew to.
    Framebuffer,
    /// The same attachments before the command.
    FramebufferBefore,
    /// All textures, buffers and shaders of the context.
    Objects,
}

/// Contents of a set, and the number of the command after which they are taken.
pub type Key = (Content, u64);

/// The files of a set, which go with its last user.
#[derive(Clone, Debug, Serialize)]
pub struct Set {
    #[serde(skip)]
    folder: Arc<TempDir>,
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
    parts: Parts,
    sets: Kept<Key, Set>,
}

impl Pictures {
    /// Makes the scratch folder, for files of `trace`, which is played from its beginning for commands below `whole_below`.
    ///
    /// # Errors
    /// An error of the folder for temporary files.
    pub fn new(trace: &Path, whole_below: u64) -> io::Result<Self> {
        let scratch = tempfile::Builder::new().prefix("gapii-ui-").tempdir()?;
        let parts = Parts::new(trace.to_owned(), scratch.path().to_owned(), whole_below);
        let sets = Kept::new(SETS_MAX, BYTES_MAX, Set::bytes);
        Ok(Self { scratch, parts, sets })
    }

    /// Returns a set of files, and makes it if it is asked for the first time.
    ///
    /// # Errors
    /// [`Unanswered`].
    pub async fn set(&self, key: Key, tool: &Tool) -> Result<Set, Unanswered> {
        self.sets.get(key, || self.make(key, tool)).await
    }

    /// Returns what happened to a pixel, as `gapii-ctl pixel` says it.
    ///
    /// # Errors
    /// [`Unanswered`].
    pub async fn pixel(&self, asked: &Pixel, tool: &Tool) -> Result<Value, Unanswered> {
        let near = self.parts.find(asked.at, tool).await?;
        let words = asked.words(near.trace(), near.at);
        let answer = tool.ask(Cost::Replay, words.as_slice()).await;
        let answer = answer.map_err(|error| numbered(error, near.at, asked.at))?;
        let mut answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        // In a part the commands have other numbers.
        let whole = |own: u64| own.wrapping_sub(near.at).wrapping_add(asked.at);
        let changes = answer["changes"].as_array_mut().into_iter().flatten();
        for seq in changes.filter_map(|change| change.get_mut("seq")) {
            *seq = seq.as_u64().map_or(Value::Null, |own| whole(own).into());
        }
        answer["at"] = asked.at.into();
        Ok(answer)
    }

    async fn make(&self, (content, at): Key, tool: &Tool) -> Result<Set, Unanswered> {
        let near = self.parts.find(at, tool).await?;
        let (trace, own) = (near.trace(), near.at);
        let folder = tempfile::Builder::new().prefix("set-").tempdir_in(self.scratch.path())?;
        let words = match content {
            Content::Framebuffer => picture(trace, folder.path(), own),
            Content::FramebufferBefore => picture(trace, folder.path(), own).word("--before"),
            Content::Objects => {
                Words::of("dump", trace).with_path("resources", folder.path()).with("at", own)
            }
        };
        let answer = tool.ask(Cost::Replay, words.as_slice()).await;
        let answer = answer.map_err(|error| numbered(error, own, at))?;
        let report: Value = serde_json::from_slice(&answer).unwrap_or_default();
        let mut notes: Vec<String> =
            serde_json::from_value(report["notes"].clone()).unwrap_or_default();
        // In a part the command has another number.
        let prefix = |number: u64| format!("at-{number:06}-");
        notes.iter_mut().for_each(|note| *note = note.replace(&prefix(own), &prefix(at)));
        if report["images"]["missed"].is_u64() {
            notes.push(format!("command {at} could not be played, so there is no picture of it"));
        }
        if let Some(skipped) = report["skipped"].as_u64().filter(|skipped| *skipped > 0) {
            notes.push(format!("{skipped} commands before could not be played"));
        }
        let mut files = Vec::new();
        for entry in fs::read_dir(folder.path())? {
            let entry = entry?;
            let mut name = entry.file_name().to_string_lossy().into_owned();
            if let Some(rest) = name.strip_prefix(&prefix(own)) {
                name = prefix(at) + rest;
                fs::rename(entry.path(), folder.path().join(&name))?;
            }
            let bytes = fs::metadata(folder.path().join(&name))?.len();
            files.push(File { name, bytes });
        }
        files.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Set { folder: Arc::new(folder), files, notes })
    }
}

/// Names a command in a refusal as the trace does: in a part it has another number.
fn numbered(error: Unanswered, own: u64, at: u64) -> Unanswered {
    match error {
        Unanswered::Refused(sentence) => {
            let named = |word: &str, number: u64| format!("{word} {number}");
            let words = ["command", "--at"];
            Unanswered::Refused(words.iter().fold(sentence, |sentence, word| {
                sentence.replace(&named(word, own), &named(word, at))
            }))
        }
        error => error,
    }
}

fn picture(trace: &Path, folder: &Path, at: u64) -> Words {
    let words = Words::of("replay", trace).with_path("images", folder).with("at", at);
    words.word("--depth").word("--stencil")
}

impl Set {
    /// Returns the content of one of the files; `None` if it is none of them.
    pub async fn read(&self, name: &str) -> Option<io::Result<Vec<u8>>> {
        let file = self.files.iter().find(|file| file.name == name)?;
        let path = self.folder.path().join(&file.name);
        let read = tokio::task::spawn_blocking(move || fs::read(path)).await;
        Some(match read {
            Ok(read) => read,
            Err(error) => Err(io::Error::other(error)),
        })
    }

    fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_files_of_the_set_are_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.png"), b"x").unwrap();
        let files = vec![File { name: "a.png".into(), bytes: 1 }];
        let set = Set { folder: Arc::new(folder), files, notes: Vec::new() };
        assert_eq!(set.read("a.png").await.unwrap().unwrap(), b"x");
        for name in ["../a.png", "./a.png", "", "/etc/passwd"] {
            assert!(set.read(name).await.is_none(), "{name}");
        }
    }
}

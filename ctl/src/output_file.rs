//! `OutputFile`: the output of a capture, opened by the client and written by the daemon. Without `-o` it is
//! `PROGRAM-DATE-TIME.gapii` in the current folder, with `-2` and so on if that exists. A regular file that holds something is refused, with `--force`
//! replaced once the capture has begun; a trace is not written to a terminal. A file that was created and stays empty,
//! because the capture could not start, is removed. A capture continues after a daemon's death only in a regular file.
//! A file that another capture writes is refused.
//!
//! The client writes nothing to it.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::stdio;
use tempfile::{PathPersistError as PersistError, TempPath};

use crate::args::Output;
use crate::failure::Failure;
use crate::file_lock;
use crate::finished_file::{creation_failure, draft_beside, must_be_free};
use crate::local_time;

/// Most names that are tried for a file without `-o`.
const NUMBERS_MAX: u32 = 1000;

pub struct OutputFile {
    descriptor: OwnedFd,
    pub place: Place,
}

/// Identifies an output without keeping it open, because a reader of a pipe waits until its last writer closes it.
pub struct Place {
    /// Path of the file; `None` for standard output.
    path: Option<PathBuf>,
    created: bool,
    /// The output has this name until it replaces the file with the other one.
    draft: Option<(TempPath, PathBuf)>,
}

impl OutputFile {
    /// Opens the output that `-o` names; without `-o`, creates a file named after `program` and the time.
    pub fn open(args: &Output, program: &str) -> Result<OutputFile, Failure> {
        match args.output.as_deref() {
            Some(path) if path.as_os_str() == "-" => OutputFile::standard_output(),
            Some(path) => OutputFile::named(path, args.force),
            None => OutputFile::fresh(names(Path::new(""), program)),
        }
    }

    fn standard_output() -> Result<OutputFile, Failure> {
        refuse_terminal(stdio::stdout())?;
        let descriptor = rustix::io::fcntl_dupfd_cloexec(stdio::stdout(), 3)
            .map_err(|errno| Failure::system(format!("can't use standard output: {errno}")))?;
        Ok(OutputFile { descriptor, place: Place { path: None, created: false, draft: None } })
    }

    /// Creates a file with the first of these names that is free.
    fn fresh(names: impl Iterator<Item = PathBuf>) -> Result<OutputFile, Failure> {
        let mut taken = None;
        for path in names {
            match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
                Ok(file) => {
                    file_lock::lock(&file, &path)?;
                    let place = Place { path: Some(path), created: true, draft: None };
                    return Ok(OutputFile { descriptor: file.into(), place });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    taken = Some(creation_failure(&path, &error));
                }
                Err(error) => return Err(creation_failure(&path, &error)),
            }
        }
        Err(taken.unwrap_or_else(|| Failure::system("there is no name for a file")))
    }

    fn named(path: &Path, force: bool) -> Result<OutputFile, Failure> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        let (file, created, draft) = match options.clone().create_new(true).open(path) {
            Ok(file) => {
                file_lock::lock(&file, path)?;
                (file, true, None)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let (file, draft) = open_existing(path, &mut options, force)?;
                (file, false, draft)
            }
            Err(error) => return Err(creation_failure(path, &error)),
        };
        refuse_terminal(&file)?;
        let place = Place { path: Some(path.to_owned()), created, draft };
        Ok(OutputFile { descriptor: file.into(), place })
    }
}

impl OutputFile {
    /// Returns a duplicate of the output if a capture can continue in it after its daemon died: only for a regular
    /// file that was created for the capture. Readers of other outputs wait for their last writer.
    pub fn to_go_on(&self) -> Option<OwnedFd> {
        let path = self.place.path.as_ref()?;
        let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
        is_file.then(|| self.descriptor.try_clone().ok()).flatten()
    }
}

impl Place {
    pub fn is_standard_output(&self) -> bool {
        self.path.is_none()
    }

    /// `None` for standard output.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Replaces the file that `--force` overwrites, if there is one: the capture has begun. If that fails, the trace
    /// stays where the error says.
    pub fn settle(&mut self) -> Result<(), Failure> {
        let Some((draft, path)) = self.draft.take() else { return Ok(()) };
        draft.persist(&path).map_err(|PersistError { error, path: draft }| {
            let kept = draft.keep().unwrap_or_else(|kept| kept.path.to_path_buf());
            Failure::system(format!(
                "can't replace {}: {error}; the trace is in {}",
                path.display(),
                kept.display()
            ))
        })
    }

    /// Removes the file if it is new and nothing was recorded.
    pub fn discard(&self) {
        if let Some(path) = self.path.as_ref().filter(|_| self.created) {
            // A failure to remove the file is harmless.
            let _ = std::fs::remove_file(path);
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => path.display().fmt(f),
            None => f.write_str("standard output"),
        }
    }
}

impl AsFd for OutputFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

fn refuse_terminal(output: impl AsFd) -> Result<(), Failure> {
    match rustix::termios::isatty(output) {
        true => Err(Failure::usage(
            "a trace is not written to a terminal; redirect standard output or name a file with `-o FILE`",
        )),
        false => Ok(()),
    }
}

/// Returns a file name that nobody has taken, such as `gears-20260102-150405.gapii` for `/usr/bin/gears`.
pub fn free_name(program: &str) -> PathBuf {
    let mut all = names(Path::new(""), program).peekable();
    let first = all.peek().cloned().unwrap_or_default();
    all.find(|path| !path.exists()).unwrap_or(first)
}

/// Returns names for a trace of a program now, in the order in which they are tried: `gears-20260102-150405.gapii`, then with
/// `-2` and so on behind the time. The program chooses its name, so anything but letters, digits and `._-+` becomes `_`.
fn names(folder: &Path, program: &str) -> impl Iterator<Item = PathBuf> {
    let base = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "._-+".contains(c);
    let base: String = base.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let base = if base.is_empty() { "trace" } else { &base };
    let stem = format!("{base}-{}", local_time::compact_now());
    let folder = folder.to_owned();
    (1..=NUMBERS_MAX).map(move |number| {
        let more = if number == 1 { String::new() } else { format!("-{number}") };
        folder.join(format!("{stem}{more}.gapii"))
    })
}

/// Opens an existing output. A pipe, a device and an empty file are written as they are. In place of a file that holds
/// something, a draft beside it is opened; the file itself where none can be made.
fn open_existing(
    path: &Path,
    options: &mut OpenOptions,
    force: bool,
) -> Result<(File, Option<(TempPath, PathBuf)>), Failure> {
    let failed = |error: io::Error| creation_failure(path, &error);
    let is_regular = path.metadata().is_ok_and(|metadata| metadata.is_file());
    // Whoever may not write a file may not replace it.
    let file = options.read(is_regular).open(path).map_err(failed)?;
    if !is_regular {
        return Ok((file, None));
    }
    file_lock::lock(&file, path)?;
    must_be_free(path, force)?;
    if file.metadata().map_err(failed)?.len() == 0 {
        return Ok((file, None));
    }
    let replaced = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if let Ok(draft) = draft_beside(&replaced) {
        let (file, draft) = draft.into_parts();
        file_lock::lock(&file, &draft)?;
        return Ok((file, Some((draft, replaced))));
    }
    file.set_len(0).map_err(failed)?;
    Ok((file, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finished_file::FinishedFile;

    #[test]
    fn file_that_is_overwritten_stays_until_the_capture_has_begun() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trace.gapii");
        std::fs::write(&path, "old").expect("a file");
        let content = || std::fs::read_to_string(&path).expect("a file");
        let entries = || std::fs::read_dir(&folder).expect("it is there").count();
        assert!(OutputFile::named(&path, false).is_err());
        // The daemon refuses the capture.
        drop(OutputFile::named(&path, true).unwrap_or_else(|failure| panic!("{failure}")));
        assert_eq!((content(), entries()), ("old".to_owned(), 1));
        let mut output = OutputFile::named(&path, true).unwrap_or_else(|why| panic!("{why}"));
        rustix::io::write(&output, b"new").expect("room");
        assert!(output.place.settle().is_ok());
        assert_eq!((content(), entries()), ("new".to_owned(), 1));
    }

    #[test]
    fn file_that_a_capture_writes_is_not_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trace.gapii");
        let open = |force| OutputFile::named(&path, force);
        let refused = || {
            let failure = open(true).err().expect("a capture writes the file");
            assert!(failure.sentence.starts_with("a capture is writing"), "{failure}");
        };
        let first = open(false).unwrap_or_else(|failure| panic!("{failure}"));
        rustix::io::write(&first, b"records").expect("room");
        refused();
        assert!(FinishedFile::create(&path, true).is_err(), "an export");
        // The daemon has the file for longer, and ends the capture in a moment.
        let daemons = rustix::io::dup(&first).expect("a descriptor");
        drop(first);
        let ending = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(100));
            drop(daemons);
        });
        let mut second = open(true).unwrap_or_else(|failure| panic!("{failure}"));
        second.place.settle().unwrap_or_else(|failure| panic!("{failure}"));
        ending.join().expect("it only sleeps");
        refused();
    }

    #[test]
    fn file_without_a_given_name_replaces_none() {
        let folder = tempfile::tempdir().unwrap();
        let all: Vec<_> = names(folder.path(), "gears").take(3).collect();
        let fresh = || OutputFile::fresh(all.iter().cloned()).map_err(|failure| failure.sentence);
        for expected in &all {
            assert_eq!(fresh().unwrap().place.path(), Some(expected.as_path()));
        }
        assert!(fresh().is_err());
    }

    #[test]
    fn default_name_is_the_program_and_the_time() {
        let first = |program: &str| {
            let path = names(Path::new(""), program).next().unwrap();
            path.to_str().unwrap().to_owned()
        };
        let name = first("/usr/bin/gears");
        let time = name.strip_prefix("gears-").and_then(|rest| rest.strip_suffix(".gapii"));
        assert_eq!(time.map(str::len), Some("20260102-150405".len()), "{name}");
        assert!(first("").starts_with("trace-"));
        assert!(first("a/b\u{1b}[2J c").starts_with("b__2J_c-"));
        let second = names(Path::new("folder"), "gears").nth(1).unwrap();
        assert!(second.to_str().unwrap().ends_with("-2.gapii"), "{}", second.display());
    }
}

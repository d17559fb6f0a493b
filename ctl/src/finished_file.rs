//! `FinishedFile`: an output that has its name only when it is finished.
//!
//! It is written beside its place, under a name of its own, and renamed when it is whole; what was
//! there before stays until then. Signals to stop take the unfinished file with them. Pipes and
//! devices are written as they are.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::Access;
use tempfile::TempPath;

use crate::failure::Failure;
use crate::signals::Signals;
use crate::wait;

pub struct FinishedFile {
    file: File,
    /// Its name until it is finished, and then; None for what is no file.
    names: Option<(TempPath, PathBuf)>,
}

impl FinishedFile {
    /// Opens the output `-o` names; `-` is standard output.
    pub fn create(path: &Path) -> Result<FinishedFile, Failure> {
        let failed = |error: io::Error| creation_failure(path, &error);
        if path.as_os_str() == "-" {
            let descriptor = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3);
            let file = descriptor.map_err(|errno| failed(errno.into()))?.into();
            return Ok(FinishedFile { file, names: None });
        }
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            let file = OpenOptions::new().write(true).open(path).map_err(failed)?;
            return Ok(FinishedFile { file, names: None });
        }
        // Before the file is there, so that none can end us and leave it.
        let signals = Signals::block().map_err(failed)?;
        let (file, draft) = draft_beside(path).map_err(failed)?.into_parts();
        remove_on_signals(signals, draft.to_path_buf()).map_err(failed)?;
        Ok(FinishedFile { file, names: Some((draft, path.to_owned())) })
    }

    /// Gives it its name.
    pub fn finish(self) -> io::Result<()> {
        match self.names {
            Some((draft, path)) => draft.persist(path).map_err(|error| error.error),
            None => Ok(()),
        }
    }
}

impl Write for FinishedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A new file in the folder of `path`, with the permissions that a new file there has.
fn draft_beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    tempfile::Builder::new()
        .prefix(&name)
        .suffix(".part")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder_of(path))
}

/// From here on one of `signals` removes `draft` and ends this process.
fn remove_on_signals(signals: Signals, draft: PathBuf) -> io::Result<()> {
    let wait = move || {
        loop {
            let _ = wait::until_ready(&mut [PollFd::new(&signals, PollFlags::IN)], None);
            if let Some(request) = signals.next() {
                // What can't be removed can't be helped.
                let _ = std::fs::remove_file(&draft);
                std::process::exit(128 + request.signal.as_raw());
            }
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(wait).map(drop)
}

/// That `path` can be written, before what it is to hold is made; `what` says what that is.
pub fn check(path: &Path, what: &str) -> Result<(), Failure> {
    if path.as_os_str() == "-" {
        return match rustix::termios::isatty(rustix::stdio::stdout()) {
            true => Err(Failure::usage(format!(
                "{what} is not for a terminal; redirect standard output or name a file with -o"
            ))),
            false => Ok(()),
        };
    }
    let failed = |error: io::Error| creation_failure(path, &error);
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => {
            Err(failed(io::Error::from(io::ErrorKind::IsADirectory)))
        }
        Ok(metadata) if !metadata.is_file() => Ok(()),
        _ => rustix::fs::access(folder_of(path), Access::WRITE_OK | Access::EXEC_OK)
            .map_err(|errno| failed(errno.into())),
    }
}

/// What an output is called in sentences.
pub fn name_of(path: &Path) -> String {
    match path.as_os_str() == "-" {
        true => "standard output".to_owned(),
        false => path.display().to_string(),
    }
}

/// A reader that went away ends us quietly.
pub fn writing_failure(path: &Path, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::reader_gone(),
        _ => Failure::unreachable(format!("can't write {}: {error}", name_of(path))),
    }
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

fn creation_failure(path: &Path, error: &io::Error) -> Failure {
    let name = path.display();
    Failure::unreachable(match error.kind() {
        io::ErrorKind::NotFound => format!("can't create {name}: there is no such folder"),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            format!("not allowed to write {name}; choose another place with -o")
        }
        io::ErrorKind::IsADirectory => format!("can't write {name}: it is a folder"),
        _ => format!("can't create {name}: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_has_its_name_only_once_it_is_finished() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out");
        let entries = || std::fs::read_dir(&folder).expect("it is there").count();
        let mut file = FinishedFile::create(&path).expect("a file");
        file.write_all(b"half").expect("room");
        drop(file);
        assert_eq!(entries(), 0);
        let mut file = FinishedFile::create(&path).expect("a file");
        file.write_all(b"whole").expect("room");
        assert!(!path.exists());
        file.finish().expect("a rename");
        assert_eq!((std::fs::read(&path).expect("a file"), entries()), (b"whole".to_vec(), 1));
    }
}

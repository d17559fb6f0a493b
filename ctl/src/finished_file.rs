//! `FinishedFile`: an output file that gets its name only when it is complete. Until then the content is in
//! `NAME.….part` in the same folder, and an existing file stays unchanged; a file that holds something is refused without
//! `--force`. An error, and SIGINT, SIGTERM and SIGHUP,
//! remove the temporary file; SIGKILL leaves it. Pipes, devices and standard output are written directly; a picture or
//! `.trace` is refused on a terminal.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use gapii_trace::TraceReader;
use rustix::fs::Access;
use tempfile::TempPath;

use crate::ending::{self, OnStop};
use crate::failure::Failure;
use crate::file_lock;
use crate::finisher::Finisher;

pub struct FinishedFile {
    file: File,
    name: Name,
}

/// How the file gets its name.
enum Name {
    /// It has it: it is no regular file.
    Given,
    /// From the temporary file to the final path.
    Rename {
        draft: TempPath,
        path: PathBuf,
        _on_stop: OnStop,
    },
    Finisher(Finisher),
}

impl FinishedFile {
    /// Opens the output that `-o` names; `-` is standard output. With `force` it replaces a file that exists.
    pub fn create(path: &Path, force: bool) -> Result<FinishedFile, Failure> {
        let failed = |error: io::Error| creation_failure(path, &error);
        if let Some(file) = open_irregular(path, force)? {
            return Ok(FinishedFile { file, name: Name::Given });
        }
        ending::hear_stops().map_err(failed)?;
        let make = || {
            let (file, draft) = draft_beside(path)?.into_parts();
            let temporary = draft.to_path_buf();
            // A failure to remove the file is ignored: there is nothing else to try.
            Ok(((file, draft), move || drop(std::fs::remove_file(temporary))))
        };
        let ((file, draft), on_stop) = OnStop::making(make).map_err(failed)?;
        let name = Name::Rename { draft, path: path.to_owned(), _on_stop: on_stop };
        Ok(FinishedFile { file, name })
    }

    /// As [`FinishedFile::create`], for a process that may not rename or remove files when the file is complete. It must
    /// have one thread.
    pub fn create_apart(path: &Path, force: bool) -> Result<FinishedFile, Failure> {
        let failed = |error: io::Error| creation_failure(path, &error);
        if let Some(file) = open_irregular(path, force)? {
            return Ok(FinishedFile { file, name: Name::Given });
        }
        let (file, draft) = draft_beside(path).map_err(failed)?.into_parts();
        let finisher = Finisher::start(&draft, path).map_err(failed)?;
        // The finisher removes it.
        let kept = draft.keep();
        kept.map_err(|error| failed(error.error))?;
        Ok(FinishedFile { file, name: Name::Finisher(finisher) })
    }

    /// Renames the file to its final name.
    pub fn finish(self) -> io::Result<()> {
        match self.name {
            Name::Given => Ok(()),
            Name::Rename { draft, path, .. } => draft.persist(path).map_err(|error| error.error),
            Name::Finisher(finisher) => finisher.finish(),
        }
    }
}

/// Opens an output that is no regular file: standard output, a pipe, a device. `None` for a regular file, which may be
/// written then.
fn open_irregular(path: &Path, force: bool) -> Result<Option<File>, Failure> {
    file_lock::must_be_unlocked(path)?;
    must_be_free(path, force)?;
    let failed = |error: io::Error| creation_failure(path, &error);
    if path.as_os_str() == "-" {
        let stdout = rustix::stdio::stdout();
        let descriptor = rustix::io::fcntl_dupfd_cloexec(stdout, 3);
        return Ok(Some(descriptor.map_err(|error| failed(error.into()))?.into()));
    }
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return OpenOptions::new().write(true).open(path).map(Some).map_err(failed);
    }
    Ok(None)
}

impl Write for FinishedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Fails if the output is a regular file that holds something, unless `force` allows to overwrite it. A trace without a command
/// holds nothing: a run that failed leaves one. Pipes, devices and standard output are written as they are.
pub fn must_be_free(path: &Path, force: bool) -> Result<(), Failure> {
    let holds_something = |path: &Path| {
        let has_bytes =
            path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
        has_bytes && !is_empty_trace(path)
    };
    if force || path.as_os_str() == "-" || !holds_something(path) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} exists; overwrite it with `--force`, or choose another name",
        path.display()
    )))
}

/// Whether a file is a finished trace into which nothing was recorded.
fn is_empty_trace(path: &Path) -> bool {
    let reader = File::open(path).ok().and_then(|file| TraceReader::open(file).ok());
    reader.as_ref().and_then(TraceReader::footer).is_some_and(|footer| footer.totals.records == 0)
}

/// Creates a file in the folder of `path`, with the permissions that a new file has there.
pub fn draft_beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    tempfile::Builder::new()
        .prefix(&name)
        .suffix(".part")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder_of(path))
}

/// Checks that `path` can be written, before the content is produced; `what` names the content in the error.
pub fn check(path: &Path, what: &str) -> Result<(), Failure> {
    if path.as_os_str() == "-" {
        return match rustix::termios::isatty(rustix::stdio::stdout()) {
            true => Err(Failure::usage(format!(
                "{what} is not written to a terminal; redirect standard output or name a file with `-o FILE`"
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

/// Name of an output in messages.
pub fn name_of(path: &Path) -> String {
    match path.as_os_str() == "-" {
        true => "standard output".to_owned(),
        false => path.display().to_string(),
    }
}

/// A closed reader ends the command without a message.
pub fn writing_failure(path: &Path, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::reader_gone(),
        _ => Failure::system(format!("can't write {}: {error}", name_of(path))),
    }
}

/// Returns the folder of a file.
fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Returns why a file that `-o` names could not be created or opened.
pub fn creation_failure(path: &Path, error: &io::Error) -> Failure {
    let (name, folder) = (path.display(), folder_of(path).display());
    Failure::unreachable(match error.kind() {
        io::ErrorKind::NotFound if !folder_of(path).is_dir() => format!(
            "can't create {name}: there is no folder {folder}; create it with `mkdir -p {folder}`"
        ),
        io::ErrorKind::NotFound => {
            format!(
                "can't create {name}: the system lets nobody create files in {folder}; choose another place with `-o FILE`"
            )
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            format!("not allowed to write {name}; choose another place with `-o FILE`")
        }
        io::ErrorKind::IsADirectory => {
            format!("can't write {name}: it is a folder; name a file with `-o FILE`")
        }
        _ => return Failure::system(format!("can't create {name}: {error}")),
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
        let mut file = FinishedFile::create(&path, false).expect("a file");
        file.write_all(b"half").expect("room");
        drop(file);
        assert_eq!(entries(), 0);
        let mut file = FinishedFile::create(&path, false).expect("a file");
        file.write_all(b"whole").expect("room");
        assert!(!path.exists());
        file.finish().expect("a rename");
        assert_eq!((std::fs::read(&path).expect("a file"), entries()), (b"whole".to_vec(), 1));
        assert!(
            FinishedFile::create(&path, false).is_err()
                && FinishedFile::create_apart(&path, false).is_err()
        );
        FinishedFile::create(&path, true)
            .and_then(|file| file.finish().map_err(|_| Failure::no("a rename")))
            .expect("a file");
        assert_eq!((std::fs::read(&path).expect("a file"), entries()), (Vec::new(), 1));
        // An empty file holds nothing.
        assert!(
            FinishedFile::create(&path, false).is_ok()
                && FinishedFile::create(Path::new("/dev/null"), false).is_ok()
        );
    }
}

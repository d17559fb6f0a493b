//! A folder to which up to 8 worker threads (`WORKERS_MAX`) write files, while playing continues; if they are busy and
//! the queue is full, playing waits. A file is written under another name and renamed when it is complete. The first
//! failure ends all writing; existing files of the same names are replaced, others stay.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// Largest number of worker threads.
const WORKERS_MAX: usize = 8;

/// Writes the content of a file.
type Content = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + Send>;

/// A folder with the files that are being written to it.
pub struct Folder {
    jobs: Option<SyncSender<(String, Content)>>,
    workers: Vec<JoinHandle<()>>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    written: u64,
    /// The first failure.
    failure: Option<String>,
}

impl Folder {
    /// Creates a folder if it does not exist. The error names it.
    pub fn make(path: &Path) -> Result<(), String> {
        fs::create_dir_all(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
                format!("{} is not a folder; choose another path", path.display())
            }
            _ => format!("can't create the folder {}: {error}", path.display()),
        })
    }

    /// Opens a folder, and creates it if it does not exist. Existing files stay, except those of
    /// the same names. The error names the folder. Starts threads.
    pub fn open(path: &Path) -> Result<Self, String> {
        Self::make(path)?;
        let count = thread::available_parallelism().map_or(1, usize::from).clamp(1, WORKERS_MAX);
        let state = Arc::<Mutex<State>>::default();
        // The queue is as long as there are workers, which bounds the memory of waiting files.
        let (jobs, jobs_in) = sync_channel(count);
        let jobs_in = Arc::new(Mutex::new(jobs_in));
        let mut workers = Vec::new();
        for number in 0..count {
            let (path, jobs_in, state) = (path.to_owned(), jobs_in.clone(), state.clone());
            let worker = thread::Builder::new()
                .name(format!("write-{number}"))
                .spawn(move || work(&path, &jobs_in, &state))
                .map_err(|error| format!("can't start a thread: {error}"))?;
            workers.push(worker);
        }
        Ok(Self { jobs: Some(jobs), workers, state })
    }

    /// Removes what this process has begun to write in the folder, for a process that ends at once. Failures are ignored.
    pub fn remove_drafts(path: &Path) {
        let Ok(entries) = fs::read_dir(path) else { return };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().ends_with(&draft_suffix()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Queues a file for writing. Waits while the queue is full. The error is the failure of an
    /// earlier file.
    pub fn write(
        &self,
        name: String,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
    ) -> Result<(), String> {
        if let Some(failure) = lock(&self.state).failure.clone() {
            return Err(failure);
        }
        let jobs = self.jobs.as_ref();
        // Sending fails only if all workers have ended; `finish` reports why.
        let sent = jobs.is_some_and(|jobs| jobs.send((name, Box::new(content))).is_ok());
        if sent { Ok(()) } else { Err("the threads that write files have ended".to_owned()) }
    }

    /// Waits until all files are written, and returns their number. The error is the first failure.
    pub fn finish(mut self) -> Result<u64, String> {
        self.end();
        let mut state = lock(&self.state);
        match state.failure.take() {
            Some(failure) => Err(failure),
            None => Ok(state.written),
        }
    }

    fn end(&mut self) {
        self.jobs = None;
        for worker in self.workers.drain(..) {
            if worker.join().is_err() {
                let failure = || "a file could not be encoded".to_owned();
                lock(&self.state).failure.get_or_insert_with(failure);
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.end();
    }
}

fn work(folder: &Path, jobs: &Mutex<Receiver<(String, Content)>>, state: &Mutex<State>) {
    loop {
        let job = lock(jobs).recv();
        let Ok((name, content)) = job else { return };
        if lock(state).failure.is_some() {
            continue;
        }
        let path = folder.join(name);
        let written = write_whole(&path, content);
        let mut state = lock(state);
        match written {
            Ok(()) => state.written += 1,
            Err(error) => {
                let failure = format!("can't write {}: {error}", path.display());
                state.failure.get_or_insert(failure);
            }
        }
    }
}

/// Writes a file under a temporary name, and renames it when it is complete.
fn write_whole(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(draft_suffix());
    let part = PathBuf::from(part);
    // A replay that was killed may have left a file, or another user a link. A new file follows no link.
    let _ = fs::remove_file(&part);
    let written = File::create_new(&part).and_then(|file| {
        let mut out = BufWriter::new(file);
        content(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?;
        fs::rename(&part, path)
    });
    if written.is_err() {
        // Removes the incomplete file. A failure to do so is ignored: the first error matters more.
        let _ = fs::remove_file(&part);
    }
    written
}

/// What the name of an incomplete file ends with.
fn draft_suffix() -> String {
    format!(".{}.part", std::process::id())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn files_are_there_when_finished() {
        let place = scratch();
        let path = place.path().join("a/b");
        let folder = Folder::open(&path).unwrap();
        for number in 0..50u8 {
            folder.write(format!("{number}"), move |out| out.write_all(&[number])).unwrap();
        }
        assert_eq!(folder.finish(), Ok(50));
        for number in 0..50u8 {
            assert_eq!(fs::read(path.join(number.to_string())).unwrap(), [number]);
        }
        assert_eq!(fs::read_dir(&path).unwrap().count(), 50);
    }

    #[test]
    fn file_that_fails_leaves_nothing_and_is_named() {
        let place = scratch();
        fs::write(place.path().join("old"), b"whole").unwrap();
        let folder = Folder::open(place.path()).unwrap();
        let fail = |out: &mut dyn Write| {
            out.write_all(b"half")?;
            Err(io::Error::other("the disk is full"))
        };
        folder.write("old".to_owned(), fail).unwrap();
        let failure = folder.finish().unwrap_err();
        assert!(failure.contains("old: the disk is full"), "{failure}");
        assert_eq!(fs::read(place.path().join("old")).unwrap(), b"whole");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }

    #[test]
    fn links_are_replaced_and_not_followed() {
        let place = scratch();
        let (victim, name) = (place.path().join("victim"), place.path().join("picture"));
        fs::write(&victim, b"whole").unwrap();
        let part = place.path().join(format!("picture{}", draft_suffix()));
        for link in [&name, &part] {
            std::os::unix::fs::symlink(&victim, link).unwrap();
        }
        let folder = Folder::open(place.path()).unwrap();
        folder.write("picture".to_owned(), |out| out.write_all(b"new")).unwrap();
        assert_eq!(folder.finish(), Ok(1));
        assert_eq!(
            (fs::read(&victim).unwrap(), fs::read(&name).unwrap()),
            (b"whole".into(), b"new".into())
        );
        assert!(name.symlink_metadata().unwrap().is_file());
    }

    #[test]
    fn only_drafts_of_this_process_are_removed() {
        let place = scratch();
        let names = ["picture", "picture.1.part", &format!("picture{}", draft_suffix())];
        for name in names {
            fs::write(place.path().join(name), b"half").unwrap();
        }
        Folder::remove_drafts(place.path());
        let is_there = names.map(|name| place.path().join(name).exists());
        assert_eq!(is_there, [true, true, false]);
    }

    #[test]
    fn folder_that_is_a_file_is_refused() {
        let place = scratch();
        let path = place.path().join("file");
        fs::write(&path, b"").unwrap();
        assert!(Folder::open(&path).is_err());
    }
}

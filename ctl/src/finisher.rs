//! `Finisher`: a small process that gives a complete file its name, for a process that confines itself before it writes the
//! file. If that process ends before, however it ends, the finisher removes the file. It hears no stop requests.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

pub struct Finisher {
    socket: UnixStream,
    pid: libc::pid_t,
}

impl Finisher {
    /// Starts the finisher of `draft`, whose name will be `path`. This process must have one thread.
    pub fn start(draft: &Path, path: &Path) -> io::Result<Self> {
        let (socket, other) = UnixStream::pair()?;
        // SAFETY: this process has one thread, so the child may do what it likes.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                drop(socket);
                serve(other, draft, path)
            }
            pid => Ok(Self { socket, pid }),
        }
    }

    /// Has the file renamed.
    pub fn finish(mut self) -> io::Result<()> {
        let mut answer = [0; 4];
        self.socket.write_all(b"f").and_then(|()| self.socket.read_exact(&mut answer))?;
        match i32::from_ne_bytes(answer) {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}

impl Drop for Finisher {
    fn drop(&mut self) {
        // A failure is ignored: the finisher ends when its socket is closed, too.
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        // SAFETY: the child is this process' own, and nobody else waits for it.
        unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), 0) };
    }
}

/// Waits for a word, and renames the file; without one removes it. Ends this process.
fn serve(mut socket: UnixStream, draft: &Path, path: &Path) -> ! {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGPIPE] {
        // SAFETY: no handler is installed.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    match socket.read_exact(&mut [0]) {
        Ok(()) => {
            let error = fs::rename(draft, path).err().and_then(|error| error.raw_os_error());
            // Whoever asked may be gone.
            let _ = socket.write_all(&error.unwrap_or(0).to_ne_bytes());
        }
        Err(_) => {
            // There is nobody to tell.
            let _ = fs::remove_file(draft);
        }
    }
    // SAFETY: the process ends here, without the exit handlers of the one that it was forked from.
    unsafe { libc::_exit(0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_has_its_name_when_that_is_asked_for_and_is_removed_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let [draft, path] = ["draft", "file"].map(|name| folder.path().join(name));
        fs::write(&draft, "half").unwrap();
        drop(Finisher::start(&draft, &path).unwrap());
        assert!(!draft.exists() && !path.exists());
        fs::write(&draft, "whole").unwrap();
        Finisher::start(&draft, &path).unwrap().finish().unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), draft.exists()), ("whole", false));
        let lost = Finisher::start(&draft, &path).unwrap().finish();
        assert_eq!(lost.unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}

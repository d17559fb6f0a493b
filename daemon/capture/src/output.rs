//! A trace's destination: a regular file, or a stream with a reader (pipe, socket, character device); anything else is
//! refused, and so is a terminal, whose user can stop it for ever. Writes whole pieces: after a failed write a regular
//! file is cut back to the last whole piece. A write to a stream waits for its reader without limit, or for as long as
//! `giving_up_after` says; if no caller waits any more (client gone, daemon ends), a reader that accepts nothing for
//! 2 s (20 looks of 100 ms) is given up. A write error ends the capture; the program goes on.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat};
use rustix::pipe::PIPE_BUF;
use rustix::termios::isatty;

/// Interval at which a write that waits for a reader checks whether it should hurry.
const LOOK_UP: Duration = Duration::from_millis(100);
/// Checks without progress, once in a hurry, after which the reader is given up.
const PATIENCE: u32 = 20;

/// A trace's destination, opened by the client.
#[derive(Debug)]
pub struct Output {
    file: File,
    kind: Kind,
    /// Bytes written, in whole pieces.
    len: u64,
    /// Set when no caller waits any more for a slow reader.
    hurry: Arc<AtomicBool>,
    /// Checks without progress after which the reader is given up in any case.
    looks_max: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// A regular file, in which the trace starts at this offset.
    Regular(u64),
    /// A pipe, a socket or a device: written bytes cannot be taken back.
    Stream,
}

/// Why the output failed.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error("the output cannot be written: {0}")]
    Io(#[source] io::Error),
    #[error("the reader of the output is gone")]
    ReaderGone,
    #[error("the reader of the output accepts no more")]
    ReaderStuck,
    #[error("the temporary file of the output cannot be read: {0}")]
    Spill(#[source] io::Error),
    #[error(
        "the daemon held as much memory as it may (its option memory), and most of it for this capture"
    )]
    Memory,
    #[error("the part of the trace from before the daemon's restart cannot be read: {0}")]
    Survey(#[source] io::Error),
    #[error("a block cannot be compressed: {0}")]
    Encode(#[from] gapii_trace::block::EncodeError),
}

impl OutputError {
    /// Whether less would have fit: the disk, a quota or a limit on the file's size has no more room.
    pub fn is_full(&self) -> bool {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        matches!(self, Self::Io(error) if matches!(error.kind(), StorageFull | FileTooLarge | QuotaExceeded))
    }
}

impl Output {
    /// Takes a descriptor that a client has opened, if it can be written to.
    pub fn new(fd: OwnedFd, hurry: Arc<AtomicBool>) -> io::Result<Self> {
        let mut file = File::from(fd);
        let refuse = |why| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        if fcntl_getfl(&file)? & OFlags::RWMODE == OFlags::RDONLY {
            return refuse("the output is not open for writing");
        }
        let kind = match FileType::from_raw_mode(fstat(&file)?.st_mode) {
            FileType::RegularFile => Kind::Regular(file.stream_position()?),
            FileType::CharacterDevice if isatty(&file) => {
                return refuse("a trace is not written to a terminal; name a file or a pipe");
            }
            FileType::Fifo | FileType::Socket | FileType::CharacterDevice => Kind::Stream,
            _ => return refuse("the output is no file, pipe, socket or device"),
        };
        Ok(Self { file, kind, len: 0, hurry, looks_max: u32::MAX })
    }

    /// Gives up a reader that accepts nothing for this time.
    #[must_use]
    pub fn giving_up_after(self, limit: Duration) -> Self {
        let looks = limit.as_millis() / LOOK_UP.as_millis();
        Self { looks_max: u32::try_from(looks).unwrap_or(u32::MAX), ..self }
    }

    /// Treats a file as a stream.
    #[cfg(test)]
    #[must_use]
    pub fn as_stream(self) -> Self {
        Self { kind: Kind::Stream, ..self }
    }

    /// Continues a trace that starts at the file's beginning, behind its byte `end`. The file is truncated there.
    pub fn go_on(fd: OwnedFd, hurry: Arc<AtomicBool>, end: u64) -> io::Result<Self> {
        let mut file = File::from(fd);
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        Ok(Self { file, kind: Kind::Regular(0), len: end, hurry, looks_max: u32::MAX })
    }

    /// Returns another descriptor of the file.
    pub fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Returns the number of bytes written, without unfinished pieces.
    pub fn len_bytes(&self) -> u64 {
        self.len
    }

    /// Writes a piece. After an error a regular file ends before that piece.
    pub fn write(&mut self, piece: &[u8]) -> Result<(), OutputError> {
        let written = match self.kind {
            Kind::Regular(_) => self.file.write_all(piece).map_err(OutputError::Io),
            Kind::Stream => self.write_stream(piece),
        };
        match written {
            Ok(()) => self.len += piece.len() as u64,
            Err(_) => self.take_back(),
        }
        written
    }

    /// Returns whether the output is a stream, whose reader decides when it takes more.
    pub fn is_stream(&self) -> bool {
        self.kind == Kind::Stream
    }

    /// Returns whether something else can be written behind the last whole piece after an error.
    pub fn is_whole(&self) -> bool {
        matches!(self.kind, Kind::Regular(_))
    }

    /// Takes back everything behind the first `len` bytes of the trace.
    ///
    /// # Errors
    /// The output is no regular file, or it cannot be truncated.
    pub fn go_back(&mut self, len: u64) -> io::Result<()> {
        let Kind::Regular(start) = self.kind else { return Err(io::ErrorKind::Unsupported.into()) };
        self.file.set_len(start + len)?;
        self.file.seek(SeekFrom::Start(start + len))?;
        self.len = len;
        Ok(())
    }

    fn take_back(&mut self) {
        // A piece that cannot be taken back stays: a reader stops at the last whole frame.
        let _ = self.go_back(self.len);
    }

    /// Writes only as many bytes as the poll has promised not to block on.
    fn write_stream(&mut self, piece: &[u8]) -> Result<(), OutputError> {
        for part in piece.chunks(PIPE_BUF) {
            let mut part = part;
            while !part.is_empty() {
                self.wait_for_reader()?;
                match self.file.write(part) {
                    Ok(count) => part = &part[count..],
                    Err(error) => match error.kind() {
                        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock => {}
                        io::ErrorKind::BrokenPipe => return Err(OutputError::ReaderGone),
                        _ => return Err(OutputError::Io(error)),
                    },
                }
            }
        }
        Ok(())
    }

    fn wait_for_reader(&self) -> Result<(), OutputError> {
        let (mut idle_looks, mut idle_looks_in_a_hurry) = (0, 0);
        let look_up = Timespec::try_from(LOOK_UP).ok();
        loop {
            let mut fds = [PollFd::new(&self.file, PollFlags::OUT)];
            match poll(&mut fds, look_up.as_ref()) {
                Ok(0) => {}
                // Also on an error condition: the next write returns the error.
                Ok(_) => return Ok(()),
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(OutputError::Io(error.into())),
            }
            idle_looks += 1;
            // Relaxed: a flag on its own.
            idle_looks_in_a_hurry += u32::from(self.hurry.load(Ordering::Relaxed));
            if idle_looks == self.looks_max || idle_looks_in_a_hurry == PATIENCE {
                return Err(OutputError::ReaderStuck);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::Read;

    fn output(file: impl Into<OwnedFd>) -> (Output, Arc<AtomicBool>) {
        let hurry = Arc::new(AtomicBool::new(false));
        (Output::new(file.into(), Arc::clone(&hurry)).unwrap(), hurry)
    }

    #[test]
    fn full_device_is_an_error_of_the_system() {
        let (mut full, _) = output(File::options().write(true).open("/dev/full").unwrap());
        let error = full.write(b"x").unwrap_err();
        assert!(error.to_string().contains("No space left"), "{error}");
        assert_eq!(full.len_bytes(), 0);
    }

    #[test]
    fn pipe_without_reader_is_a_reader_gone() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        assert!(matches!(output(writer).0.write(b"x"), Err(OutputError::ReaderGone)));
    }

    #[test]
    fn stuck_reader_is_given_up_after_its_time() {
        let (_reader, writer) = io::pipe().unwrap();
        let mut output = output(writer).0.giving_up_after(2 * LOOK_UP);
        assert!(matches!(output.write(&[0; 1 << 20]), Err(OutputError::ReaderStuck)));
    }

    #[test]
    fn terminal_is_refused() {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let terminal = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let error = Output::new(terminal.into(), Arc::default()).unwrap_err();
        assert!(error.to_string().contains("terminal"), "{error}");
    }

    #[test]
    fn stuck_reader_is_given_up_in_a_hurry() {
        let (_reader, writer) = io::pipe().unwrap();
        let (mut output, hurry) = output(writer);
        hurry.store(true, Ordering::Relaxed);
        assert!(matches!(output.write(&[0; 1 << 20]), Err(OutputError::ReaderStuck)));
    }

    #[test]
    fn slow_reader_gets_everything() {
        let (mut reader, writer) = io::pipe().unwrap();
        let bytes: Vec<u8> = (0..1 << 19).map(|i| (i % 251) as u8).collect();
        let expected = bytes.clone();
        let writing = std::thread::spawn(move || output(writer).0.write(&bytes));
        let mut read = Vec::new();
        reader.read_to_end(&mut read).unwrap();
        writing.join().unwrap().unwrap();
        assert!(read == expected);
    }

    #[test]
    fn file_keeps_bytes_before_the_trace() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"before").unwrap();
        let mut same = file.try_clone().unwrap();
        let (mut output, _) = output(file);
        output.write(b"trace").unwrap();
        same.write_all(b" and half a piece").unwrap();
        output.take_back();
        let mut text = String::new();
        same.seek(SeekFrom::Start(0)).unwrap();
        same.read_to_string(&mut text).unwrap();
        assert_eq!(text, "beforetrace");
    }
}

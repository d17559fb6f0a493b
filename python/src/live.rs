//! A capture that is read while it is recorded. One thread copies what the capture writes from a pipe to a file, the *spool*,
//! without waiting for anybody; another one makes commands of the whole blocks that are there. If the process of Python dies,
//! the pipe breaks, and the capture ends.
//!
//! Holds a bounded number of commands in memory, and places of blocks and names of blobs. The spool grows with the capture.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use gapii_analysis::object_names::ObjectNames;
use gapii_trace::parallel::Choice;
use gapii_trace::reader::OpenError;
use gapii_trace::{Commands, Description, FileAt, Tail, TraceReader};

use crate::command::Batch;
use crate::failure::Failure;
use crate::opened::Opened;
use crate::recorded::Recorded;
use crate::selection::Selection;
use crate::source::Source;
use crate::stream::{Batches, Stream};

/// What messages call the trace.
const NAME: &str = "the capture";
/// Bytes that are copied at once.
const COPIED_BYTES: usize = 1 << 20;
/// Most commands of a batch.
const COMMANDS_MAX: usize = 2048;
/// Bytes of a file that tell whether it is a trace.
const BEGIN_BYTES: u64 = 8;

/// A capture that is recorded.
pub struct Live {
    /// Read end of the pipe that the capture writes to.
    pub pipe: File,
    /// Where it is copied to.
    pub spool: File,
    pub selection: Selection,
    /// Whether the end of an incomplete trace is a failure.
    pub is_strict: bool,
}

/// How much of a capture is in its spool.
#[derive(Default)]
struct Progress {
    copied: Mutex<Copied>,
    changed: Condvar,
}

#[derive(Default)]
struct Copied {
    bytes: u64,
    is_all: bool,
    failure: Option<Failure>,
}

impl Live {
    /// Opens the descriptors of this process with these numbers.
    ///
    /// # Errors
    /// There are no such descriptors, or they are no pipe and no file.
    pub fn open(pipe: i32, spool: i32) -> io::Result<(File, File)> {
        let path = |number: i32| Path::new("/proc/self/fd").join(number.to_string());
        let spool = OpenOptions::new().read(true).write(true).open(path(spool))?;
        Ok((File::open(path(pipe))?, spool))
    }

    /// Begins to copy and to read.
    ///
    /// # Errors
    /// A word of the selection fits nothing, or no thread can be started.
    pub fn start(self) -> Result<Stream<Batch>, Failure> {
        if let Some(mistake) = self.selection.filter.mistake(Description::built_in()) {
            return Err(Failure::Other(mistake));
        }
        let unreadable = |error| Failure::unreadable(NAME, &error);
        let source = Source::File(FileAt::of(&self.spool).map_err(unreadable)?);
        let progress = Arc::new(Progress::default());
        let (copied, pipe, spool) = (Arc::clone(&progress), self.pipe, self.spool);
        let copy = move || copied.end(copy(pipe, spool, &copied));
        let started = thread::Builder::new().name("gapii-copy".to_owned()).spawn(copy);
        started.map_err(unreadable)?;
        let (selection, is_strict) = (self.selection, self.is_strict);
        Stream::of(NAME, move |batches| {
            let tail = read(&source, &progress, &selection, batches)?;
            let failure = tail.and_then(|tail| Failure::of_tail(NAME, &tail));
            failure.filter(|_| is_strict).map_or(Ok(()), Err)
        })
    }
}

impl Progress {
    /// Waits until there are more bytes than these, or all. Returns how many there are, and whether these are all.
    fn beyond(&self, bytes: u64) -> Result<(u64, bool), Failure> {
        let copied = self.copied.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = |copied: &mut Copied| copied.bytes <= bytes && !copied.is_all;
        let copied = self.changed.wait_while(copied, waits).unwrap_or_else(PoisonError::into_inner);
        match &copied.failure {
            Some(failure) => Err(failure.clone()),
            None => Ok((copied.bytes, copied.is_all)),
        }
    }

    fn add(&self, bytes: u64) {
        self.copied.lock().unwrap_or_else(PoisonError::into_inner).bytes += bytes;
        self.changed.notify_all();
    }

    fn end(&self, result: io::Result<()>) {
        let failure = |error| Failure::Other(format!("can't keep {NAME}: {error}"));
        let mut copied = self.copied.lock().unwrap_or_else(PoisonError::into_inner);
        (copied.is_all, copied.failure) = (true, result.err().map(failure));
        self.changed.notify_all();
    }
}

/// Copies until the pipe has no writer, or the file takes no more.
fn copy(mut pipe: File, mut spool: File, progress: &Progress) -> io::Result<()> {
    let mut bytes = vec![0; COPIED_BYTES];
    loop {
        let len = match pipe.read(&mut bytes) {
            Ok(0) => return Ok(()),
            Ok(len) => len,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        spool.write_all(&bytes[..len])?;
        progress.add(len as u64);
    }
}

/// Sends the commands of a spool until its capture ends. Returns how the trace ends; `None` if nobody takes the commands.
fn read(
    source: &Source,
    progress: &Progress,
    selection: &Selection,
    batches: &Batches<Batch>,
) -> Result<Option<Tail>, Failure> {
    let unreadable = |error: io::Error| Failure::unreadable(NAME, &error);
    let again = || source.again().map_err(unreadable);
    let mut seen = 0;
    let mut reader = loop {
        let (bytes, is_all) = progress.beyond(seen)?;
        seen = bytes;
        if bytes < BEGIN_BYTES && !is_all {
            continue;
        }
        match TraceReader::open(again()?) {
            Ok(reader) => break reader,
            Err(OpenError::HeaderTruncated { .. }) if !is_all => {}
            Err(error) => return Err(Failure::unopened(NAME, error)),
        }
    };
    let opened = Opened::growing(NAME, again()?)?;
    let mut sending =
        Sending { opened: Arc::new(opened), selection, batches, names: ObjectNames::default() };
    let mut described = reader.descriptions().len();
    // A thread's last command would wait for a tool's change to it, and all others behind it.
    let mut commands = reader.commands().map_err(unreadable)?;
    loop {
        if !sending.all(|commands| commands.advance_so_far(), &mut commands)? {
            return Ok(None);
        }
        let unfinished = commands.leave();
        let (bytes, is_all) = progress.beyond(seen)?;
        seen = bytes;
        reader.grow().map_err(unreadable)?;
        if reader.descriptions().len() > described {
            described = reader.descriptions().len();
            let description = reader.header().description.clone();
            sending.opened = Arc::new(sending.opened.described(description));
        }
        commands = reader.go_on(unfinished).map_err(unreadable)?;
        if is_all {
            sending.all(|commands| commands.advance(), &mut commands)?;
            return Ok(Some(match commands.tail() {
                damaged @ Tail::Damaged { .. } => damaged.clone(),
                // Footer and index were not looked for.
                _ => sending.opened.reader()?.tail().clone(),
            }));
        }
    }
}

/// A reading of a spool, with what is told to whoever takes the commands.
struct Sending<'a> {
    opened: Arc<Opened>,
    selection: &'a Selection,
    batches: &'a Batches<Batch>,
    names: ObjectNames,
}

/// Commands of a spool.
type Spooled<'r> = Commands<'r, Source>;

impl Sending<'_> {
    /// Sends the commands that `advance` comes to. Returns false if nobody takes them.
    fn all<'r>(
        &mut self,
        advance: impl Fn(&mut Spooled<'r>) -> io::Result<bool>,
        commands: &mut Spooled<'r>,
    ) -> Result<bool, Failure> {
        let mut batch = Vec::new();
        loop {
            let has_more = advance(commands).map_err(|error| Failure::unreadable(NAME, &error))?;
            if has_more {
                let command = commands.command();
                self.names.learn(&command);
                let choice = self.selection.choose(&command, commands.assembler().tracker());
                if choice == Choice::Take {
                    batch.push(Recorded::of(&command, Some(&self.names)));
                }
            }
            if batch.len() >= COMMANDS_MAX || (!has_more && !batch.is_empty()) {
                let commands = std::mem::take(&mut batch);
                let opened = Arc::clone(&self.opened);
                if self.batches.send(Ok(Batch { opened, commands })).is_err() {
                    return Ok(false);
                }
            }
            if !has_more {
                return Ok(true);
            }
        }
    }
}

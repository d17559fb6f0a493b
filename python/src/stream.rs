//! Reads commands on a thread of their own, which hands over batches in the order of the commands. The thread holds a
//! bounded number of batches, touches nothing of Python, and ends when nobody takes its batches any more. A panic on it
//! becomes a failure.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use gapii_analysis::object_names::ObjectNames;
use gapii_trace::gpu_times::GpuTimes;
use gapii_trace::parallel::{Choice, Work, cores};
use gapii_trace::{Command, Commands};
use pyo3::prelude::*;

use crate::failure::{Failure, caught};
use crate::opened::Opened;
use crate::selection::Selection;
use crate::source::Source;

/// How long Python waits for a batch before it looks whether somebody has interrupted it.
const PATIENCE: Duration = Duration::from_millis(50);
/// Batches that wait to be taken, besides those that workers have.
const WAITING_MAX: usize = 4;

/// The part of a trace that is read.
#[derive(Clone)]
pub struct Reading {
    pub opened: Arc<Opened>,
    pub selection: Selection,
    /// Whether damage is a failure behind the readable part.
    pub is_strict: bool,
    /// Whether commands have their times on the GPU, for which such a trace is read twice.
    pub has_gpu_times: bool,
    /// Learns words for objects from the commands in their order.
    pub names: Option<Arc<RwLock<ObjectNames>>>,
}

/// Batches of a trace. A batch is what a worker makes of some commands.
pub struct Stream<T>(Mutex<Receiver<Result<T, Failure>>>);

/// Why no further command is read.
pub enum End {
    /// Nobody takes the batches.
    Gone,
    /// The trace can't be read.
    Unreadable(io::Error),
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// What collects commands on the thread that reads them.
pub trait Collect: Send + 'static {
    /// Takes a command.
    fn add(&mut self, command: &Command<'_>);

    /// Whether the next command belongs to another batch.
    fn is_full(&self) -> bool;
}

impl<T: Send + 'static> Stream<T> {
    /// Begins to read, and has several threads make batches: for work that costs more than reading. Each gets a copy of
    /// `worker`.
    ///
    /// # Errors
    /// A word of the selection fits nothing, or no thread can be started.
    pub fn in_parallel<W>(reading: Reading, worker: W) -> Result<Self, Failure>
    where
        W: FnMut(Work<'_>) -> T + Clone + Send + 'static,
    {
        let names = reading.names.clone();
        Self::start(reading, move |commands, selection, batches| {
            commands.in_parallel(
                vec![worker; cores()],
                |command, tracker| {
                    if let Some(names) = names.as_ref().filter(|_| ObjectNames::is_told_by(command))
                    {
                        names.write().unwrap_or_else(PoisonError::into_inner).learn(command);
                    }
                    selection.choose(command, tracker)
                },
                |batch, _| batches.send(Ok(batch)).map_err(|_| End::Gone),
            )
        })
    }

    /// Returns the next batch, or a failure behind the last one; `None` at the end. Releases Python's lock while it waits.
    ///
    /// # Errors
    /// Somebody has interrupted Python.
    pub fn next(&self, py: Python<'_>) -> PyResult<Option<Result<T, Failure>>> {
        loop {
            let taken = || {
                let batches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                batches.recv_timeout(PATIENCE)
            };
            match py.detach(taken) {
                Ok(batch) => return Ok(Some(batch)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            }
        }
    }

    /// Begins to read the trace `name` as `work` does, which sends batches.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn of<F>(name: &str, work: F) -> Result<Self, Failure>
    where
        F: FnOnce(&Batches<T>) -> Result<(), Failure> + Send + 'static,
    {
        let (batches, taken) = sync_channel(WAITING_MAX);
        let reads = name.to_owned();
        let work = move || {
            if let Err(failure) = caught(&reads, || work(&batches)) {
                // Nobody may be there to take it.
                _ = batches.send(Err(failure));
            }
        };
        let started = thread::Builder::new().name("gapii-read".to_owned()).spawn(work);
        started.map_err(|error| Failure::Other(format!("can't read {name}: {error}")))?;
        Ok(Self(Mutex::new(taken)))
    }

    fn start<F>(reading: Reading, make: F) -> Result<Self, Failure>
    where
        F: FnOnce(&mut Commands<'_, Source>, &Selection, &Batches<T>) -> Result<(), End>,
        F: Send + 'static,
    {
        let opened = Arc::clone(&reading.opened);
        let name = opened.name();
        if let Some(mistake) = reading.selection.filter.mistake(opened.description()) {
            return Err(Failure::Other(format!(
                "{mistake}; `gapii-ctl stats {name}` lists the functions of the trace"
            )));
        }
        Self::of(name, move |batches| read(&reading, make, batches))
    }
}

impl<T: Collect> Stream<T> {
    /// Begins to read. The thread that reads makes the batches: for work that costs less than handing over commands.
    ///
    /// # Errors
    /// A word of the selection fits nothing, or no thread can be started.
    pub fn in_order(
        reading: Reading,
        empty: impl Fn() -> T + Send + 'static,
    ) -> Result<Self, Failure> {
        Self::start(reading, move |commands, selection, batches| {
            let mut batch = empty();
            while commands.advance()? {
                let command = commands.command();
                match selection.choose(&command, commands.assembler().tracker()) {
                    Choice::Take | Choice::Last => batch.add(&command),
                    Choice::Leave => {}
                    Choice::Stop => break,
                }
                if batch.is_full() {
                    let full = std::mem::replace(&mut batch, empty());
                    batches.send(Ok(full)).map_err(|_| End::Gone)?;
                }
            }
            batches.send(Ok(batch)).map_err(|_| End::Gone)
        })
    }
}

/// Where batches go.
pub type Batches<T> = SyncSender<Result<T, Failure>>;

fn read<T>(
    reading: &Reading,
    make: impl FnOnce(&mut Commands<'_, Source>, &Selection, &Batches<T>) -> Result<(), End>,
    batches: &Batches<T>,
) -> Result<(), Failure> {
    let Reading { opened, selection, is_strict, has_gpu_times, .. } = reading;
    if selection.has_empty_range() {
        return Ok(());
    }
    let unreadable = |error: io::Error| Failure::unreadable(opened.name(), &error);
    let mut reader = opened.reader()?;
    let gpu_times = match has_gpu_times {
        true => GpuTimes::of(&mut reader).map_err(unreadable)?,
        false => None,
    };
    let commands = match (&selection.frames, &selection.numbers) {
        (Some(frames), _) => reader.commands_in_frames(frames.start..=frames.end - 1),
        (None, Some(numbers)) => reader.commands_numbered(numbers.clone()),
        (None, None) => reader.commands(),
    };
    let mut commands = commands.map_err(unreadable)?.with_tracers().with_gpu_times(gpu_times);
    match make(&mut commands, selection, batches) {
        Ok(()) if *is_strict => {
            Failure::of_tail(opened.name(), commands.tail()).map_or(Ok(()), Err)
        }
        Ok(()) | Err(End::Gone) => Ok(()),
        Err(End::Unreadable(error)) => Err(unreadable(error)),
    }
}

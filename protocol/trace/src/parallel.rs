//! Reads the commands of a trace with several threads: the caller's thread reads records and makes commands of them, in
//! order; other threads work on batches of commands; the caller's thread takes the results, in the order of the
//! commands. An error of the file comes after the results of the commands before it.
//!
//! Holds at most `IN_FLIGHT_PER_WORKER` batches for each worker, so memory does not depend on the trace's size. With one
//! worker, the worker sees all batches in order. A reader that can't open its file again works on the caller's thread.

use std::collections::VecDeque;
use std::io::{self, Read, Seek};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::ahead::Input;
use super::assembler::Batch;
use super::blob_name::BlobName;
use super::blobs::{BlobNumber, BlobSource};
use super::block_file::BlockFile;
use super::command::Command;
use super::commands::Commands;
use super::description::Description;
use super::store::Store;
use super::tracker::Tracker;

/// Most batches that wait for a worker or whose results wait to be taken, for each worker.
const IN_FLIGHT_PER_WORKER: usize = 4;
/// Most commands that are passed over before the workers' results are taken again.
const LEFT_OUT_MAX: usize = 1 << 16;

/// What becomes of a command that was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// A worker gets it.
    Take,
    /// A worker gets it, and no command after it is read.
    Last,
    /// No worker gets it.
    Leave,
    /// Neither this command nor any after it is read.
    Stop,
}

/// Commands for a worker.
pub struct Work<'a> {
    batch: &'a Batch,
    description: &'a Description,
    blobs: &'a dyn BlobSource,
}

/// A batch for a worker, and where its result goes.
struct Job<T> {
    batch: Batch,
    result: SyncSender<(T, Batch)>,
}

impl<'a> Work<'a> {
    /// Returns the commands, in order.
    pub fn commands(&self) -> impl ExactSizeIterator<Item = Command<'a>> + use<'a> {
        self.batch.commands(self.description, self.blobs)
    }
}

/// Returns the number of workers for work on commands that need no order: one for each core.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

impl<R: Read + Seek> Commands<'_, R> {
    /// Reads all commands. `choose` gets each command with the state as of the last record that was read; `workers` get
    /// the chosen ones, each worker on a thread of its own; `take` gets the workers' results in order, with the number of
    /// commands that were read for each.
    ///
    /// # Errors
    /// The first error of `take`, which ends the reading, or an error of the file.
    ///
    /// # Panics
    /// If a worker panics.
    pub fn in_parallel<T, E, W>(
        &mut self,
        workers: Vec<W>,
        mut choose: impl FnMut(&Command<'_>, &Tracker) -> Choice,
        mut take: impl FnMut(T, u64) -> Result<(), E>,
    ) -> Result<(), E>
    where
        T: Send,
        E: From<io::Error>,
        W: FnMut(Work<'_>) -> T + Send,
    {
        let header = self.header;
        let description = &header.description;
        let beside = self.blobs.file.borrow().beside();
        let Some(file) = beside else {
            return self.on_this_thread(workers, choose, take);
        };
        let blobs = SharedBlobs(Mutex::new((file, self.blobs.store.borrow().beside())));
        let most = workers.len() * IN_FLIGHT_PER_WORKER;
        thread::scope(|scope| {
            let (jobs, waiting) = sync_channel(most);
            let waiting = Arc::new(Mutex::new(waiting));
            for worker in workers {
                let (waiting, blobs) = (Arc::clone(&waiting), &blobs);
                scope.spawn(move || work(worker, &waiting, description, blobs));
            }
            // The workers alone keep it, so that handing out fails when all of them are gone.
            drop(waiting);
            let mut filler = Filler::default();
            let mut results = Results::new(most);
            loop {
                if !results.take_finished(&mut take)? {
                    return Ok(());
                }
                let mut batch = results.spare.pop().unwrap_or_default();
                let filled = filler.fill(self, &mut batch, &mut choose);
                let (result, finished) = sync_channel(1);
                results.in_flight.push_back((finished, std::mem::take(&mut filler.read)));
                if jobs.send(Job { batch, result }).is_err() {
                    return Ok(());
                }
                match filled {
                    Ok(true) => {}
                    Ok(false) => return results.take_all(&mut take),
                    Err(error) => {
                        return results.take_all(&mut take).and_then(|()| Err(error.into()));
                    }
                }
            }
        })
    }

    /// Does the same with the first worker, on the caller's thread.
    fn on_this_thread<T, E, W>(
        &mut self,
        mut workers: Vec<W>,
        mut choose: impl FnMut(&Command<'_>, &Tracker) -> Choice,
        mut take: impl FnMut(T, u64) -> Result<(), E>,
    ) -> Result<(), E>
    where
        E: From<io::Error>,
        W: FnMut(Work<'_>) -> T,
    {
        let Some(worker) = workers.first_mut() else { return Ok(()) };
        let mut filler = Filler::default();
        let mut batch = Batch::default();
        loop {
            let filled = filler.fill(self, &mut batch, &mut choose);
            let (description, blobs) = (&self.header.description, &self.blobs);
            let result = worker(Work { batch: &batch, description, blobs });
            take(result, std::mem::take(&mut filler.read))?;
            batch.clear();
            if !filled? {
                return Ok(());
            }
        }
    }
}

/// Fills batches with commands.
#[derive(Default)]
struct Filler {
    /// True if the reader has a command that no batch has yet, because it is of another block.
    has_command: bool,
    /// Commands that were read since the caller reset this.
    read: u64,
}

impl Filler {
    /// Fills a batch. Returns false if no command follows.
    fn fill<R: Read + Seek>(
        &mut self,
        commands: &mut Commands<'_, R>,
        batch: &mut Batch,
        choose: &mut impl FnMut(&Command<'_>, &Tracker) -> Choice,
    ) -> io::Result<bool> {
        let mut block = commands.blocks_read();
        let mut left_out = 0;
        while !batch.is_full() && left_out < LEFT_OUT_MAX {
            if !std::mem::take(&mut self.has_command) && !commands.advance()? {
                return Ok(false);
            }
            if commands.blocks_read() != block {
                if !batch.is_empty() {
                    self.has_command = true;
                    return Ok(true);
                }
                block = commands.blocks_read();
            }
            match choose(&commands.command(), commands.assembler().tracker()) {
                Choice::Take => commands.take_into(batch),
                Choice::Last => {
                    commands.take_into(batch);
                    self.read += 1;
                    return Ok(false);
                }
                Choice::Leave => left_out += 1,
                Choice::Stop => return Ok(false),
            }
            self.read += 1;
        }
        Ok(true)
    }
}

/// Results of workers, in the order of the commands.
struct Results<T> {
    /// A channel for each batch that a worker has or had, with the number of commands that were read for it.
    in_flight: VecDeque<(Receiver<(T, Batch)>, u64)>,
    most: usize,
    /// Batches to fill again: reusing memory is cheaper than allocating it.
    spare: Vec<Batch>,
}

impl<T> Results<T> {
    fn new(most: usize) -> Self {
        Self { in_flight: VecDeque::new(), most, spare: Vec::new() }
    }

    /// Passes the results that are there to `take`, and waits for one if no further batch may be handed out. Returns false
    /// if a worker has panicked.
    fn take_finished<E>(
        &mut self,
        take: &mut impl FnMut(T, u64) -> Result<(), E>,
    ) -> Result<bool, E> {
        while let Some((first, _)) = self.in_flight.front() {
            let finished = match self.in_flight.len() >= self.most {
                true => first.recv().map_err(|_| TryRecvError::Disconnected),
                false => first.try_recv(),
            };
            match finished {
                Ok(finished) => self.take(finished, take)?,
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Passes all results to `take`, up to that of a worker that has panicked.
    fn take_all<E>(&mut self, take: &mut impl FnMut(T, u64) -> Result<(), E>) -> Result<(), E> {
        while let Some((first, _)) = self.in_flight.front() {
            match first.recv() {
                Ok(finished) => self.take(finished, take)?,
                Err(_) => break,
            }
        }
        Ok(())
    }

    fn take<E>(
        &mut self,
        (result, batch): (T, Batch),
        take: &mut impl FnMut(T, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let read = self.in_flight.pop_front().map_or(0, |(_, read)| read);
        self.spare.push(batch);
        take(result, read)
    }
}

/// Works on batches until no more come, or nobody takes the results.
fn work<T>(
    mut worker: impl FnMut(Work<'_>) -> T,
    waiting: &Mutex<Receiver<Job<T>>>,
    description: &Description,
    blobs: &SharedBlobs,
) {
    loop {
        // A worker panics while it holds no lock.
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { mut batch, result }) = next else { return };
        let value = worker(Work { batch: &batch, description, blobs });
        batch.clear();
        if result.send((value, batch)).is_err() {
            return;
        }
    }
}

/// The blobs of a file for several threads, one at a time.
struct SharedBlobs(Mutex<(BlockFile<Box<dyn Input>>, Store)>);

impl SharedBlobs {
    fn lock(&self) -> MutexGuard<'_, (BlockFile<Box<dyn Input>>, Store)> {
        // A thread that panicked leaves at worst an incomplete cache behind.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BlobSource for SharedBlobs {
    fn name(&self, number: BlobNumber) -> Option<BlobName> {
        let (file, store) = &mut *self.lock();
        store.name(file, number)
    }

    fn bytes(&self, name: BlobName, size: u64) -> Option<Arc<Vec<u8>>> {
        let (file, store) = &mut *self.lock();
        store.cached(file, name, size)
    }
}

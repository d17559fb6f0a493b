//! A capture: its threads, and how the rest of the daemon talks to it.
//!
//! Three threads per capture and none without: the writer, which touches the output and no ring, one of low
//! priority that compresses for it, and one that puts aside what the output does not take. Another, the
//! drain, touches rings and no file, and is shared by all captures that have processes in common.

pub mod armed;
pub mod assemble;
pub mod backlog;
pub mod drain;
pub mod end;
pub mod facts;
pub mod fault;
pub mod fill;
pub mod filtering;
pub mod keeper;
pub mod kept;
pub mod lane;
pub mod ledger;
pub mod member;
pub mod output;
pub mod plain;
pub mod plan;
pub mod progress;
pub mod recover;
pub mod save;
pub mod selection;
#[cfg(test)]
mod simulation;
pub mod spill;
pub mod survey;
pub mod takeover;
pub mod taker;
pub mod writer;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use gapii_abi::atom::EndReason;
use gapii_protocol::control::{IfSlow, Summary};
use gapii_protocol::trace::frame::{TIMED_VERSION, UNTIMED_VERSION};
use gapii_protocol::trace::{BlockEncoder, TraceHeader};
use gapii_ringbuf::CaptureId;

use crate::capture::backlog::backlog;
use crate::capture::drain::DrainHandle;
use crate::capture::end::Cause;
use crate::capture::keeper::Keeper;
use crate::capture::kept::Kept;
use crate::capture::member::Joining;
use crate::capture::output::Output;
use crate::capture::plan::Plan;
use crate::capture::progress::Progress;
use crate::capture::recover::Recovered;
use crate::capture::spill::{Spill, SpillRoom};
use crate::capture::taker::Taker;
use crate::capture::writer::{Writer, Written};
use crate::clock;
use crate::process::{Counter, Process};

/// Niceness of threads whose work can wait: beside a busy thread of a program they get a tenth of its time.
const LOW_PRIORITY: i32 = 10;

/// Where a capture goes.
pub enum Destination {
    File(OwnedFd),
    /// Into a file that another daemon has begun, behind what that one wrote.
    Begun(OwnedFd, Box<Recovered>),
    /// Into memory; the function hears how many frames there were when a thread was held, and for how
    /// long, in microseconds.
    Memory(Arc<Kept>, Box<dyn Fn(u64, u64) + Send>),
}

/// A running capture.
#[derive(Debug)]
pub struct Capture {
    pub plan: Plan,
    pub started_ns: u64,
    /// Another daemon began it.
    pub was_begun_elsewhere: bool,
    /// The processes that are in its file then, by their segments, and whether their part is over.
    segments: BTreeMap<u64, bool>,
    /// Another daemon could go on with it, as its output is a file.
    pub can_go_on: bool,
    pub progress: Arc<Progress>,
    /// Where it goes, if that is memory.
    pub kept: Option<Arc<Kept>>,
    /// What gives it its records. Known before anybody else has the capture.
    drain: OnceLock<Arc<DrainHandle>>,
    /// The processes in it, by their indices in the session.
    processes: Mutex<BTreeSet<u32>>,
    hurry: Arc<AtomicBool>,
}

/// What a drain is told; captures by their numbers.
pub enum Order {
    /// Another capture takes part.
    Take(Box<Taker>),
    /// A process joins the drain, for this capture.
    Join {
        capture: u64,
        joining: Joining,
    },
    /// The capture is to have this process, too.
    Want {
        capture: u64,
        process: Arc<Process>,
    },
    /// A process that was handed over is this capture's, too.
    Claim {
        capture: u64,
        process: Arc<Process>,
    },
    /// No more processes join than have by now.
    AllJoined {
        capture: u64,
    },
    /// This process (by its index in the session) writes no more.
    Gone {
        index: u32,
        how: Departure,
    },
    Stop {
        capture: u64,
        cause: Cause,
    },
    /// Leave out what comes; go on.
    Pause {
        capture: u64,
    },
    Resume {
        capture: u64,
    },
    /// Give out all that was published by now; who waits hears of it when this is dropped.
    Flush {
        capture: u64,
        reached: Sender<()>,
    },
    /// The launched program has ended, with this signal if with any.
    Exited {
        capture: u64,
        signal: Option<i32>,
    },
}

/// How a process left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Departure {
    /// Its pid is free again.
    Died,
    /// It became another program.
    Exec,
}

/// Tells who asked for a capture what came of it, whatever becomes of the thread that has this.
struct Ending {
    ended: Option<Box<dyn FnOnce(Summary) + Send>>,
}

impl Capture {
    /// Starts a capture, of what `drain` gives out if there is one. `ended` is called once, from a thread
    /// of the capture's, with what came of it.
    pub fn start(
        plan: Plan,
        destination: Destination,
        (counter, room): (&Counter, &Arc<SpillRoom>),
        drain: Option<Arc<DrainHandle>>,
        ended: impl FnOnce(Summary) + Send + 'static,
    ) -> io::Result<Arc<Self>> {
        let (feed, backlog, ahead) = backlog(plan.ring_bytes);
        let (done, done_in) = channel();
        let hurry = Arc::new(AtomicBool::new(false));
        let progress = Arc::new(Progress::default());
        let mut encoder = BlockEncoder::new(plan.level).map_err(io::Error::other)?;
        let (unix_ns, started_ns) = (clock::unix_ns(), clock::monotonic_ns());
        let program = concat!("gapiid ", env!("CARGO_PKG_VERSION"));
        let version = if plan.timing { TIMED_VERSION } else { UNTIMED_VERSION };
        let untimed = TraceHeader::new(program, plan.origin.session, unix_ns, started_ns);
        let (capture, filter) = (plan.origin.number, plan.filter.clone());
        let header = TraceHeader { version, capture, filter, ..untimed };
        let (destination, recovered) = match destination {
            Destination::Begun(output, recovered) => (Destination::File(output), Some(*recovered)),
            destination => (destination, None),
        };
        let begun = recovered.as_ref().and_then(|recovered| recovered.header.clone());
        let (unix_ns, started_ns) = match &begun {
            Some(begun) => (begun.started_unix_ns, begun.started_ns),
            None => (unix_ns, started_ns),
        };

        let id = plan.id;
        let writing = thread::Builder::new().name(format!("write-{id}"));
        let (told, woken) = (Arc::clone(&progress), Arc::clone(&counter.map));
        let mut can_go_on = false;
        let kept = match destination {
            Destination::File(output) | Destination::Begun(output, _) => {
                let hurry = Arc::clone(&hurry);
                let output = match &recovered {
                    Some(recovered) => Output::go_on(output, hurry, recovered.end)?,
                    None => Output::new(output, hurry)?,
                };
                can_go_on = !output.is_stream();
                if plan.if_slow != IfSlow::Wait {
                    let spill = match plan.if_slow {
                        IfSlow::Drop => Spill::none(),
                        _ => Spill::new(Arc::clone(room)),
                    };
                    let spiller = backlog.spiller(spill, output.is_stream());
                    let (done, woken) = (done.clone(), Arc::clone(&counter.map));
                    let level = plan.level;
                    thread::Builder::new()
                        .name(format!("spill-{id}"))
                        .spawn(move || spiller.run(level, &done, &woken))?;
                }
                let mut writer = Writer::new(output, plan.level).map_err(io::Error::other)?;
                if let (Some(begun), Some(recovered)) = (&begun, &recovered) {
                    writer.go_on(begun, recovered)?;
                }
                writing.spawn(move || {
                    let ending = Ending::new(ended);
                    ending.with(&writer.run(&header, &backlog, &done, (&told, &woken)));
                })?;
                None
            }
            Destination::Memory(kept, held) => {
                let keeper = Keeper::new(Arc::clone(&kept), plan.level, told, woken, held);
                let keeper = keeper.map_err(io::Error::other)?;
                writing.spawn(move || {
                    let ending = Ending::new(ended);
                    ending.with(&keeper.run(&backlog, &done));
                })?;
                Some(kept)
            }
        };
        thread::Builder::new().name(format!("compress-{id}")).spawn(move || {
            yield_to_programs();
            ahead.run(&mut encoder);
        })?;
        let capture = Arc::new(Self {
            plan,
            started_ns,
            was_begun_elsewhere: recovered.is_some(),
            segments: recovered.as_ref().map(Recovered::segments).unwrap_or_default(),
            can_go_on,
            progress,
            kept,
            drain: OnceLock::new(),
            processes: Mutex::default(),
            hurry,
        });
        let taker = Taker::new(Arc::clone(&capture), feed, done_in, unix_ns, recovered);
        let drain = DrainHandle::with(drain, Box::new(taker), counter)?;
        // Set here alone.
        let _ = capture.drain.set(drain);
        Ok(capture)
    }

    /// Tells a process to record and adds it. False if another drain has the process, or the capture has
    /// ended.
    pub fn join(&self, process: &Arc<Process>) -> bool {
        let Some(drain) = self.drain.get() else { return false };
        if !process.counter().is(&drain.counter) {
            return false;
        }
        match Joining::begin(process, drain.id, &self.plan, self.can_go_on) {
            Some(joining) => self.order_to_join(drain, process, joining),
            None => false,
        }
    }

    /// Whether a process, which began to record for that capture, is in this one.
    pub fn is_of(&self, process: &Process, capture: CaptureId) -> bool {
        match self.segments.get(&process.segment()) {
            Some(is_over) => !is_over,
            None => self.was_begun_elsewhere && self.plan.origin == capture,
        }
    }

    /// Goes on with a process that was handed over. False as above.
    pub fn take_over(&self, process: &Arc<Process>, lost_ns: u64) -> bool {
        let Some(drain) = self.drain.get() else { return false };
        if !process.counter().is(&drain.counter) {
            return false;
        }
        if process.drain() == Some(drain.id) {
            self.processes().insert(process.index);
            let process = Arc::clone(process);
            return self.order(Order::Claim { capture: self.plan.id, process }).is_ok();
        }
        match Joining::take_over(process, drain.id, lost_ns) {
            Some(joining) => self.order_to_join(drain, process, joining),
            None => false,
        }
    }

    fn order_to_join(&self, drain: &DrainHandle, process: &Process, joining: Joining) -> bool {
        self.processes().insert(process.index);
        match drain.order(Order::Join { capture: self.plan.id, joining }) {
            Ok(()) => true,
            Err(order) => {
                if let Order::Join { joining, .. } = order {
                    joining.take_back();
                }
                self.leave(process.index);
                false
            }
        }
    }

    /// Adds a process that the drain has for others, or may have as well. False: the capture has ended.
    pub fn share(&self, process: &Arc<Process>) -> bool {
        self.processes().insert(process.index);
        let process = Arc::clone(process);
        self.order(Order::Want { capture: self.plan.id, process }).is_ok()
    }

    /// Every process that is to be in the capture has joined.
    pub fn all_joined(&self) {
        if self.plan.launch.is_none() {
            // One that takes no orders has ended.
            let _ = self.order(Order::AllJoined { capture: self.plan.id });
        }
    }

    /// Whether the process of that index in the session is in it.
    pub fn has(&self, process: u32) -> bool {
        self.processes().contains(&process)
    }

    /// A process is no longer in it.
    pub fn leave(&self, process: u32) {
        self.processes().remove(&process);
    }

    /// Ends it; false: it has ended.
    pub fn stop(&self, cause: Cause) -> bool {
        self.order(Order::Stop { capture: self.plan.id, cause }).is_ok()
    }

    /// Leaves out what comes, or goes on; false: it has ended.
    pub fn pause(&self, pauses: bool) -> bool {
        let capture = self.plan.id;
        let order = if pauses { Order::Pause { capture } } else { Order::Resume { capture } };
        self.order(order).is_ok()
    }

    /// The launched program has ended, with this signal if with any.
    pub fn exited(&self, signal: Option<i32>) {
        // One that takes no orders has ended for another reason.
        let _ = self.order(Order::Exited { capture: self.plan.id, signal });
    }

    /// Gives out all that was published by now; who waits hears of it when `reached` is dropped. False: it
    /// has ended.
    pub fn flush(&self, reached: Sender<()>) -> bool {
        self.order(Order::Flush { capture: self.plan.id, reached }).is_ok()
    }

    /// A process (by its index in the session) writes no more, for nobody.
    pub fn gone(&self, index: u32, how: Departure) {
        // One that takes no orders has ended, for this process too.
        let _ = self.order(Order::Gone { index, how });
    }

    /// What gives it its records.
    pub fn drain(&self) -> Option<&Arc<DrainHandle>> {
        self.drain.get()
    }

    /// Memory that is held for it, about.
    pub fn held_bytes(&self) -> u64 {
        let kept = self.kept.as_ref().map_or(0, |kept| kept.extent().bytes);
        // Relaxed: a number for people.
        kept + self.progress.waiting_bytes.load(Ordering::Relaxed)
    }

    /// Nobody is left who would wait for a slow reader of the output.
    pub fn hurry(&self) {
        // Relaxed: a flag on its own.
        self.hurry.store(true, Ordering::Relaxed);
    }

    fn order(&self, order: Order) -> Result<(), Order> {
        match self.drain.get() {
            Some(drain) => drain.order(order),
            None => Err(order),
        }
    }

    fn processes(&self) -> MutexGuard<'_, BTreeSet<u32>> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ending {
    /// In the thread whose end it is: before there is one nobody need be told.
    fn new(ended: impl FnOnce(Summary) + Send + 'static) -> Self {
        Self { ended: Some(Box::new(ended)) }
    }

    fn with(mut self, written: &Written) {
        if let Some(ended) = self.ended.take() {
            ended(written.summary());
        }
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        if let Some(ended) = self.ended.take() {
            ended(Summary {
                reason: EndReason::Lost.name().to_owned(),
                error: Some("the writer of the capture failed".to_owned()),
                ..Summary::default()
            });
        }
    }
}

/// This thread leaves the processors to others, but for a little: with next to nothing it would be long in
/// ending when the daemon is killed, and none could take its place meanwhile.
pub fn yield_to_programs() {
    // Of this thread alone.
    if let Err(error) = rustix::process::setpriority_process(None, LOW_PRIORITY) {
        tracing::debug!(%error, "compression has the daemon's own priority");
    }
}

//! A capture: its threads, and how the rest of the daemon talks to it.
//!
//! Three threads per capture and none without: the writer, which touches the output and no ring, one of low
//! priority that compresses for it, and one that puts aside what the output does not take. Another, the
//! drain, touches rings and no file, and is shared by all captures that have processes in common.

use std::collections::BTreeMap;
use std::io;
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use gapii_abi::atom::EndReason;
use gapii_control::{IfSlow, Summary};
use gapii_ringbuf::CaptureId;
use gapii_trace::frame::{TIMED_VERSION, UNTIMED_VERSION};
use gapii_trace::{BlockEncoder, TraceHeader};

use crate::backlog::backlog;
use crate::clock::Clock;
use crate::drain::DrainHandle;
use crate::end::{Cause, Departure};
use crate::keeper::Keeper;
use crate::kept::Kept;
use crate::member::Joining;
use crate::order::Order;
use crate::output::Output;
use crate::plan::Plan;
use crate::priority::yield_to_programs;
use crate::process::{Counter, Process};
use crate::profile::Profile;
use crate::progress::Progress;
use crate::recover::Recovered;
use crate::spill::{Spill, SpillRoom};
use crate::taker::Taker;
use crate::writer::{Writer, Written};

/// Where a capture goes.
pub enum Destination {
    File(OwnedFd),
    /// Into a file that another daemon has begun, behind what that one wrote.
    Begun(OwnedFd, Box<Recovered>),
    /// Into memory; the function hears how many frames there were when a thread was held, and for how
    /// long, in microseconds.
    Memory(Arc<Kept>, Box<dyn Fn(u64, u64) + Send>),
}

/// What a capture needs of the daemon beside its plan.
#[derive(Clone, Copy)]
pub struct Resources<'a> {
    /// The counter page that the capture's processes take stamps from.
    pub counter: &'a Counter,
    /// Where captures put aside what their outputs do not take yet.
    pub spill_room: &'a Arc<SpillRoom>,
    /// Where the capture's threads read the time.
    pub clock: Clock,
}

/// The handle of a running capture; gives access to its [`Profile`].
#[derive(Debug)]
pub struct Capture {
    profile: Arc<Profile>,
    /// The segments of the processes that another daemon had in the capture's file, each with whether that
    /// process' part is over.
    segments: BTreeMap<u64, bool>,
    /// The drain that gives the capture its records. Set before the capture is handed to anybody.
    drain: OnceLock<Arc<DrainHandle>>,
    hurry: Arc<AtomicBool>,
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
        Resources { counter, spill_room, clock }: Resources<'_>,
        drain: Option<Arc<DrainHandle>>,
        ended: impl FnOnce(Summary) + Send + 'static,
    ) -> io::Result<Arc<Self>> {
        let (feed, backlog, ahead) = backlog(plan.ring_bytes);
        let (done, done_in) = channel();
        let hurry = Arc::new(AtomicBool::new(false));
        let progress = Arc::new(Progress::default());
        let mut encoder = BlockEncoder::new(plan.level).map_err(io::Error::other)?;
        let (unix_ns, started_ns) = (clock.unix_ns(), clock.monotonic_ns());
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
                        _ => Spill::new(Arc::clone(spill_room)),
                    };
                    let spiller = backlog.spiller(spill, output.is_stream());
                    let (done, woken) = (done.clone(), Arc::clone(&counter.map));
                    let level = plan.level;
                    thread::Builder::new()
                        .name(format!("spill-{id}"))
                        .spawn(move || spiller.run(level, &done, &woken))?;
                }
                let mut writer =
                    Writer::new(output, plan.level, clock).map_err(io::Error::other)?;
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
        let profile = Arc::new(Profile {
            plan,
            started_unix_ns: unix_ns,
            started_ns,
            was_begun_elsewhere: recovered.is_some(),
            can_go_on,
            progress,
            kept,
            clock,
            processes: Mutex::default(),
        });
        let segments = recovered.as_ref().map(Recovered::segments).unwrap_or_default();
        let taker = Taker::new(Arc::clone(&profile), feed, done_in, recovered);
        let capture = Arc::new(Self { profile, segments, drain: OnceLock::new(), hurry });
        let drain = DrainHandle::with(drain, Box::new(taker), counter)?;
        // Set here alone.
        let _ = capture.drain.set(drain);
        Ok(capture)
    }

    /// Makes a handle without threads and without a drain.
    #[cfg(test)]
    pub(crate) fn of(
        profile: Arc<Profile>,
        recovered: Option<&Recovered>,
        hurry: Arc<AtomicBool>,
    ) -> Self {
        let segments = recovered.map(Recovered::segments).unwrap_or_default();
        Self { profile, segments, drain: OnceLock::new(), hurry }
    }

    /// Sets the drain of a handle that [`Self::of`] made.
    #[cfg(test)]
    pub(crate) fn set_drain(&self, drain: Arc<DrainHandle>) {
        self.drain.set(drain).expect("a capture has one drain");
    }

    /// Returns whether no process of another daemon is in the capture's file.
    #[cfg(test)]
    pub(crate) fn has_no_segments(&self) -> bool {
        self.segments.is_empty()
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

    /// Ends it; false: it has ended.
    pub fn stop(&self, cause: Cause) -> bool {
        self.order(Order::Stop { capture: self.plan.id, cause }).is_ok()
    }

    /// Ends the capture, because its client is gone and nobody waits for a slow reader of its output.
    pub fn abandon(&self) {
        self.hurry();
        self.stop(Cause::Stop);
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
}

impl Deref for Capture {
    type Target = Profile;

    fn deref(&self) -> &Profile {
        &self.profile
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

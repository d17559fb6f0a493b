//! A capture's handle: starts its threads, and passes orders to its drain. A capture joins a running drain if one has
//! its processes; otherwise it starts one. A process whose stamps come from another counter page, or whose rings
//! another drain has, is not joined. If the client is gone, the capture ends and does not wait for a slow reader.
//! Orders to a drain that has ended are refused, and the caller gets false.
//!
//! A running capture has three threads of its own: the writer, which touches the output and no ring; a thread of low
//! priority that compresses in advance; and a thread that puts aside blocks which the output does not accept yet. The
//! drain, which touches rings and no file, is shared by all captures that have processes in common.

use std::collections::BTreeMap;
use std::io;
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};

use gapii_control::Summary;
use gapii_ringbuf::CaptureId;
use gapii_trace::clock::Moment;
use gapii_trace::frame::{TIMED_VERSION, UNTIMED_VERSION};
use gapii_trace::{BlockEncoder, TraceHeader};

use crate::backlog::backlog;
use crate::clock::Clock;
use crate::drain::DrainHandle;
use crate::end::{Cause, Departure};
use crate::host;
use crate::kept_frames::KeptFrames;
use crate::member::Joining;
use crate::order::Order;
use crate::output_threads::{OutputThreads, start_compressing};
use crate::plan::Plan;
use crate::process::{Counter, Process};
use crate::profile::Profile;
use crate::progress::Progress;
use crate::recover::Recovered;
use crate::spill::SpillRoom;
use crate::taker::Taker;

/// Destination of a capture's blocks.
pub enum Destination {
    File(OwnedFd),
    /// Into a file that another daemon has begun, behind its blocks.
    Begun(OwnedFd, Box<Recovered>),
    /// Into memory. The function is called with the number of frames so far and a duration in microseconds whenever a
    /// thread was held for a keyframe.
    Memory(Arc<KeptFrames>, Box<dyn Fn(u64, u64) + Send>),
}

/// The daemon's resources that a capture uses, beside its plan.
#[derive(Clone, Copy)]
pub struct Resources<'a> {
    /// The counter page that the capture's processes take stamps from.
    pub counter: &'a Counter,
    /// Where captures put aside blocks that their outputs do not accept yet.
    pub spill_room: &'a Arc<SpillRoom>,
    /// Where the capture's threads read the time.
    pub clock: Clock,
}

/// The handle of a running capture. Dereferences to the capture's [`Profile`].
#[derive(Debug)]
pub struct Capture {
    profile: Arc<Profile>,
    /// The segments of the processes in the capture's file that another daemon began, each with whether that
    /// process' part is over.
    segments: BTreeMap<u64, bool>,
    /// The drain that gives the capture its records. Set before another thread gets the capture.
    drain: OnceLock<Arc<DrainHandle>>,
    hurry: Arc<AtomicBool>,
}

/// A destination whose threads run.
struct Started {
    /// Another daemon could continue the capture.
    can_continue: bool,
    /// The memory that the capture goes to, if it goes to memory.
    kept: Option<Arc<KeptFrames>>,
    /// The part of the capture that another daemon wrote, if one began it.
    recovered: Option<Recovered>,
}

impl Destination {
    /// Starts the threads that write to the destination. `ended` is called once all is written.
    fn start(
        self,
        threads: OutputThreads<'_>,
        header: TraceHeader,
        ended: impl FnOnce(Summary) + Send + 'static,
    ) -> io::Result<Started> {
        match self {
            Self::File(output) => {
                let can_continue = threads.write_file(output, header, None, ended)?;
                Ok(Started { can_continue, kept: None, recovered: None })
            }
            Self::Begun(output, begun) => {
                let can_continue = threads.write_file(output, header, Some(&begun), ended)?;
                Ok(Started { can_continue, kept: None, recovered: Some(*begun) })
            }
            Self::Memory(kept, held) => {
                threads.keep(Arc::clone(&kept), held, ended)?;
                Ok(Started { can_continue: false, kept: Some(kept), recovered: None })
            }
        }
    }
}

impl Capture {
    /// Starts a capture with its threads. It takes part in `drain`, or in a drain of its own. `ended` is called once,
    /// from one of the capture's threads, with the outcome.
    pub fn start(
        plan: Plan,
        destination: Destination,
        Resources { counter, spill_room, clock }: Resources<'_>,
        drain: Option<Arc<DrainHandle>>,
        ended: impl FnOnce(Summary) + Send + 'static,
    ) -> io::Result<Arc<Self>> {
        let (feed, backlog, ahead) = backlog(plan.ring_bytes);
        let (done, done_in) = channel();
        let (hurry, progress) = (Arc::new(AtomicBool::new(false)), Arc::new(Progress::default()));
        let header = header_of(&plan, clock);
        let threads = OutputThreads {
            plan: &plan,
            backlog,
            done,
            counter: Arc::clone(&counter.map),
            progress: Arc::clone(&progress),
            hurry: Arc::clone(&hurry),
            spill_room,
            clock,
        };
        let (now, version) = (header.began(), header.version);
        let Started { can_continue, kept, recovered } =
            destination.start(threads, header, ended)?;
        let begun = recovered.as_ref().and_then(|recovered| recovered.header.as_ref());
        let started = begun.map_or(now, TraceHeader::began);
        let version = begun.map_or(version, |begun| begun.version);
        let encoder = BlockEncoder::for_version(plan.level, version).map_err(io::Error::other)?;
        start_compressing(plan.id, ahead, encoder)?;
        let profile = Arc::new(Profile {
            plan,
            started,
            was_begun_elsewhere: recovered.is_some(),
            can_continue,
            progress,
            kept,
            clock,
            processes: Mutex::default(),
        });
        let segments = recovered.as_ref().map(Recovered::segments).unwrap_or_default();
        let taker = Taker::new(Arc::clone(&profile), feed, done_in, recovered);
        let capture = Arc::new(Self { profile, segments, drain: OnceLock::new(), hurry });
        let drain = DrainHandle::with(drain, Box::new(taker), counter)?;
        // Nobody else sets it.
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

    /// Tells a process to record, and adds it to the capture. Returns false if another drain has the process, or if the
    /// capture has ended.
    pub fn join(&self, process: &Arc<Process>) -> bool {
        let Some(drain) = self.drain.get() else { return false };
        if !process.counter().is(&drain.counter) {
            return false;
        }
        match Joining::begin(process, drain.id, &self.plan, self.can_continue) {
            Some(joining) => self.order_to_join(drain, process, joining),
            None => false,
        }
    }

    /// Returns whether a process that another daemon told to record for capture `capture` belongs to this capture.
    pub fn is_of(&self, process: &Process, capture: CaptureId) -> bool {
        match self.segments.get(&process.segment()) {
            Some(is_over) => !is_over,
            None => self.was_begun_elsewhere && self.plan.origin == capture,
        }
    }

    /// Continues with a process that has handed its rings over. Returns false if another drain has the process, or if the
    /// capture has ended.
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

    /// Adds a process that the drain may already have for other captures. Returns false if the capture has
    /// ended.
    pub fn want(&self, process: &Arc<Process>) -> bool {
        self.processes().insert(process.index);
        let process = Arc::clone(process);
        self.order(Order::Want { capture: self.plan.id, process }).is_ok()
    }

    /// Notes that all processes that are to be in the capture have joined, unless the capture is of a launch.
    pub fn all_joined(&self) {
        if self.plan.launch.is_none() {
            // A drain that takes no orders has ended.
            let _ = self.order(Order::AllJoined { capture: self.plan.id });
        }
    }

    /// Tells the capture to end. Returns false if it has ended already.
    pub fn stop(&self, cause: Cause) -> bool {
        self.order(Order::Stop { capture: self.plan.id, cause }).is_ok()
    }

    /// Tells the capture to end, because its client is gone. Does not wait for a slow reader of the output.
    pub fn abandon(&self) {
        self.hurry();
        self.stop(Cause::Stop);
    }

    /// Pauses or resumes the capture. Returns false if it has ended.
    pub fn pause(&self, pauses: bool) -> bool {
        let capture = self.plan.id;
        let order = if pauses { Order::Pause { capture } } else { Order::Resume { capture } };
        self.order(order).is_ok()
    }

    /// Notes that the launched program has ended, with the signal that ended it, if one did.
    pub fn exited(&self, pid: Option<u32>, signal: Option<i32>) {
        // A drain that takes no orders has ended for another reason.
        let _ = self.order(Order::Exited { capture: self.plan.id, pid, signal });
    }

    /// Drops `reached` when all records that are published by now are written. Returns false if the capture has ended.
    pub fn flush(&self, reached: Sender<()>) -> bool {
        self.order(Order::Flush { capture: self.plan.id, reached }).is_ok()
    }

    /// Notes that the process with this index in the session writes no more, for any capture.
    pub fn gone(&self, index: u32, how: Departure) {
        // A drain that takes no orders has ended, for this process too.
        let _ = self.order(Order::Gone { index, how });
    }

    /// Returns the drain that gives the capture its records.
    pub fn drain(&self) -> Option<&Arc<DrainHandle>> {
        self.drain.get()
    }

    /// Returns roughly how many bytes of memory are held for the capture.
    pub fn held_bytes(&self) -> u64 {
        let kept = self.kept.as_ref().map_or(0, |kept| kept.extent().bytes);
        // Relaxed: a number for people.
        kept + self.progress.waiting_bytes.load(Ordering::Relaxed)
    }

    /// Tells the writer that no caller waits any more for a slow reader of the output.
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

/// Makes the header of a trace that begins now.
fn header_of(plan: &Plan, clock: Clock) -> TraceHeader {
    let program = concat!("gapiid ", env!("CARGO_PKG_VERSION"));
    let version = if plan.timing { TIMED_VERSION } else { UNTIMED_VERSION };
    let Moment { monotonic_ns, unix_ns, boot_ns } = clock.now();
    let untimed = TraceHeader::new(program, plan.origin.session, unix_ns, monotonic_ns);
    let (capture, filter) = (plan.origin.number, plan.filter.clone());
    let host = host::name();
    TraceHeader { version, host, started_boot_ns: boot_ns, capture, filter, ..untimed }
}

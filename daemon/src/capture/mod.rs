//! A capture: its plan, its threads, and how the rest of the daemon talks to it.
//!
//! Three threads per capture and none without: the drain, which touches rings and no file, the
//! writer, which touches the file and no ring, and one that compresses for the writer in idle time.

pub mod assemble;
pub mod backlog;
pub mod drain;
pub mod end;
pub mod facts;
pub mod fill;
pub mod keeper;
pub mod kept;
pub mod lane;
pub mod ledger;
pub mod output;
pub mod plain;
pub mod progress;
pub mod save;
pub mod writer;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use gapii_protocol::app::Launch;
use gapii_protocol::control::{self, Summary};
use gapii_protocol::trace::footer::CaptureOptions;
use gapii_protocol::trace::frame::{TIMED_VERSION, UNTIMED_VERSION};
use gapii_protocol::trace::{BlockEncoder, TraceHeader};
use gapii_ringbuf::{CounterMap, Mode, ModeSettings, Overflow, SlotCounts};
use thread_priority::{
    NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

use crate::capture::backlog::backlog;
use crate::capture::drain::{Drain, Threads};
use crate::capture::end::Cause;
use crate::capture::keeper::Keeper;
use crate::capture::kept::{KeepLimits, Kept};
use crate::capture::output::Output;
use crate::capture::progress::Progress;
use crate::capture::writer::Writer;
use crate::clock;
use crate::process::{Process, Rings};

/// What a capture is to be.
#[derive(Clone, Debug)]
pub struct Plan {
    pub id: u64,
    pub session: [u8; 16],
    /// Processes with this token join; without one, only those that were there at the start.
    pub launch: Option<Launch>,
    pub frames: Option<u64>,
    pub skip_frames: u64,
    pub seconds: Option<f64>,
    pub overflow: control::Overflow,
    pub stall_ms: u64,
    pub observe_frames: Option<u32>,
    pub frame_pixels: bool,
    pub timing: bool,
    pub keep: Option<KeepLimits>,
    pub command: Vec<String>,
    pub level: i32,
    pub ring_bytes: u64,
}

/// Where a capture goes.
pub enum Destination {
    File(OwnedFd),
    /// Into memory; the function hears how many frames there were when a thread was held, and for how
    /// long, in microseconds.
    Memory(Arc<Kept>, Box<dyn Fn(u64, u64) + Send>),
}

/// A running capture.
#[derive(Debug)]
pub struct Capture {
    pub plan: Plan,
    pub started_ns: u64,
    pub progress: Arc<Progress>,
    /// Where it goes, if that is memory.
    pub kept: Option<Arc<Kept>>,
    /// Closed when the drain takes no more orders.
    orders: Mutex<Option<Sender<Order>>>,
    counter: Arc<CounterMap>,
    hurry: Arc<AtomicBool>,
}

/// What a drain is told.
#[derive(Debug)]
pub enum Order {
    Join(Joining),
    /// No more processes join than have by now.
    AllJoined,
    /// This process (by its index in the session) writes no more.
    Gone {
        index: u32,
        how: Departure,
    },
    Stop(Cause),
    /// Give out all that was published by now; who waits hears of it when this is dropped.
    Flush(Sender<()>),
    /// The launched program has ended, with this signal if with any.
    Exited {
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

/// A process on its way into a capture, already told to record.
#[derive(Debug)]
pub struct Joining {
    pub process: Arc<Process>,
    pub rings: Rings,
    /// What the slots said before.
    pub counts: Vec<SlotCounts>,
    pub unslotted_calls: u64,
    /// Of the order to record.
    pub generation: u64,
}

impl Capture {
    /// Starts the threads. `ended` is called once, from the drain, with what came of it.
    pub fn start(
        plan: Plan,
        destination: Destination,
        counter: Arc<CounterMap>,
        ended: impl FnOnce(Summary) + Send + 'static,
    ) -> io::Result<Arc<Self>> {
        let (orders, orders_in) = channel();
        let (feed, backlog, ahead) = backlog(plan.ring_bytes);
        let (done, done_in) = channel();
        let hurry = Arc::new(AtomicBool::new(false));
        let progress = Arc::new(Progress::default());
        let mut encoder = BlockEncoder::new(plan.level).map_err(io::Error::other)?;
        let (unix_ns, started_ns) = (clock::unix_ns(), clock::monotonic_ns());
        let program = concat!("gapiid ", env!("CARGO_PKG_VERSION"));
        let version = if plan.timing { TIMED_VERSION } else { UNTIMED_VERSION };
        let untimed = TraceHeader::new(program, plan.session, unix_ns, started_ns);
        let header = TraceHeader { version, ..untimed };

        let id = plan.id;
        let writing = thread::Builder::new().name(format!("write-{id}"));
        let (told, woken) = (Arc::clone(&progress), Arc::clone(&counter));
        let (kept, writing) = match destination {
            Destination::File(output) => {
                let output = Output::new(output, Arc::clone(&hurry))?;
                let writer = Writer::new(output, plan.level).map_err(io::Error::other)?;
                let run = move || writer.run(&header, &backlog, &done, (&told, &woken));
                (None, writing.spawn(run)?)
            }
            Destination::Memory(kept, held) => {
                let keeper = Keeper::new(Arc::clone(&kept), plan.level, told, woken, held);
                let keeper = keeper.map_err(io::Error::other)?;
                (Some(kept), writing.spawn(move || keeper.run(&backlog, &done))?)
            }
        };
        thread::Builder::new().name(format!("compress-{id}")).spawn(move || {
            yield_to_programs();
            ahead.run(&mut encoder);
        })?;
        let capture = Arc::new(Self {
            plan,
            started_ns,
            progress,
            kept,
            orders: Mutex::new(Some(orders)),
            counter: Arc::clone(&counter),
            hurry,
        });
        let threads = Threads { orders: orders_in, feed, done: done_in, writing };
        let drain = Drain::new(Arc::clone(&capture), counter, threads, unix_ns);
        thread::Builder::new().name(format!("drain-{id}")).spawn(move || ended(drain.run()))?;
        Ok(capture)
    }

    /// Tells a process to record and adds it. False if the process is in another capture, or this
    /// one has ended.
    pub fn join(&self, process: &Arc<Process>) -> bool {
        let Some(mut rings) = process.lend_rings(self.plan.id) else { return false };
        lane::discard_leftovers(&mut rings);
        let counts = rings.iter().map(|ring| ring.slot().counts_untrusted()).collect();
        // Relaxed: a claim of the application's.
        let unslotted_calls = process.claims().unslotted_calls.load(Ordering::Relaxed);
        let generation = process.begin_capture(self.plan.mode());
        let process = Arc::clone(process);
        let joining = Joining { process, rings, counts, unslotted_calls, generation };
        match self.order(Order::Join(joining)) {
            Ok(()) => true,
            Err(order) => {
                take_back(order);
                false
            }
        }
    }

    /// Gives the drain an order; the order comes back if it takes no more.
    pub fn order(&self, order: Order) -> Result<(), Order> {
        let orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        match &*orders {
            Some(sender) => sender.send(order).map_err(|refused| refused.0)?,
            None => return Err(order),
        }
        self.counter.ring_doorbell();
        Ok(())
    }

    /// Every process that is to be in the capture has joined.
    pub fn all_joined(&self) {
        if self.plan.launch.is_none() {
            // A drain that takes no orders has ended.
            let _ = self.order(Order::AllJoined);
        }
    }

    /// Nobody is left who would wait for a slow reader of the output.
    pub fn hurry(&self) {
        // Relaxed: a flag on its own.
        self.hurry.store(true, Ordering::Relaxed);
    }

    /// Takes no more orders; those that are still there have no effect.
    fn close(&self, left: &Receiver<Order>) {
        *self.orders.lock().unwrap_or_else(PoisonError::into_inner) = None;
        left.try_iter().for_each(take_back);
    }
}

impl Plan {
    /// What its processes are told.
    fn mode(&self) -> ModeSettings {
        ModeSettings {
            mode: Mode::Capturing,
            overflow: match self.overflow {
                control::Overflow::Wait => Overflow::Wait,
                control::Overflow::Drop => Overflow::Drop,
            },
            frames: self.frames.unwrap_or(0),
            skip_frames: self.skip_frames,
            stall_ns: self.stall_ms.saturating_mul(1_000_000),
            observe_frames: self.observe_frames.unwrap_or(0),
            observe_pixels: self.frame_pixels,
            times_driver: self.timing,
            keyframe_every: self.keep.map_or(0, |keep| keep.keyframe_every),
        }
    }

    /// What the footer says was asked.
    pub fn options(&self) -> CaptureOptions {
        CaptureOptions {
            frames: self.frames,
            skip_frames: self.skip_frames,
            seconds: self.seconds,
            overflow: match self.overflow {
                control::Overflow::Wait => "wait",
                control::Overflow::Drop => "drop",
            }
            .to_owned(),
            stall_ms: self.stall_ms,
            observe_frames: self.observe_frames,
            frame_pixels: self.frame_pixels,
            timing: self.timing,
            keep_frames: self.keep.map(|keep| keep.frames),
            keyframe_every: self.keep.map(|keep| keep.keyframe_every),
            command: self.command.clone(),
        }
    }
}

/// Undoes a join that came too late.
fn take_back(order: Order) {
    if let Order::Join(Joining { process, rings, .. }) = order {
        process.return_rings(rings);
    }
}

/// This thread runs only where no other wants the processor.
fn yield_to_programs() {
    let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
    let thread = thread_native_id();
    if let Err(error) = set_thread_priority_and_policy(thread, ThreadPriority::Min, idle) {
        tracing::debug!(%error, "compression has the daemon's own priority");
    }
}

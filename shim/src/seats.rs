//! The threads that use EGL, and how long a snapshot waits for each that may be in the driver with a command that the
//! capture does not hold: until the thread comes to a command, has run for 250 ms of processor time (`LIMIT`), or has
//! slept for 20 ms (`ASLEEP`); for all of them together at most 2 s (`LONGEST`). Threads that may still be inside are
//! listed in the snapshot as missing.
//!
//! While nothing is recorded, most commands jump straight to the driver, so the shim cannot see whether a thread is
//! in there. Once the hooks have changed, a thread that comes to its next command is outside, and says so here. A
//! thread that sleeps all the while, or that has no context, is most probably outside.
//!
//! At a keyframe within a capture every command passes the shim, and a thread's gate tells whether it is inside a
//! command. Threads that are outside are not waited for.

use core::ptr;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, fence};
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use gapii_edges::{AtWork, Epoch, barrier_in_all_threads};
use gapii_recorder::Thread;

use crate::capture;

/// One thread's place in the list. Seats are leaked; once a thread has ended, another takes its seat.
pub struct Seat {
    next: AtomicPtr<Seat>,
    /// The thread's id; 0 if the seat is free.
    tid: AtomicU32,
    /// Set while the thread has a context, or makes one.
    is_at_work: AtWork,
    /// The newest epoch that the thread knows. None of its commands that are in progress began before that epoch.
    knows: AtomicU64,
    /// The thread's recording state; null until it has one. The state stays mapped.
    records_in: AtomicPtr<Thread>,
}

/// All seats, newest first. A forked child begins with none.
static SEATS: AtomicPtr<Seat> = AtomicPtr::new(ptr::null_mut());

/// The longest wait for a thread that is running, in time for which a processor ran the thread.
const LIMIT: Duration = Duration::from_millis(250);
/// The longest wait, whatever the threads do. On a busy machine a thread waits for a processor meanwhile.
const LONGEST: Duration = Duration::from_secs(2);
/// How long a thread must have slept to count as idle.
const ASLEEP: Duration = Duration::from_millis(20);
/// By then most threads have come to a command. Only after that does the wait look up whether the others sleep, which
/// is slower.
const SOON: Duration = Duration::from_millis(2);
/// The interval between two looks: before `SOON`, and after it.
const LOOK_AGAIN: [Duration; 2] = [Duration::from_micros(50), Duration::from_millis(1)];

impl Seat {
    /// Takes a free seat for this thread, or a new one.
    pub fn take() -> &'static Seat {
        // SAFETY: has no failure.
        let tid = unsafe { libc::gettid() } as u32;
        // SEAT: pairs with the release in Seat::leave: the seat is as its last thread left it.
        let free = all().find(|seat| seat.tid.compare_exchange(0, tid, Acquire, Relaxed).is_ok());
        free.unwrap_or_else(|| {
            let seat: &'static mut Seat = Box::leak(Box::new(Seat {
                next: AtomicPtr::new(ptr::null_mut()),
                tid: AtomicU32::new(tid),
                is_at_work: AtWork::no(),
                knows: AtomicU64::new(0),
                records_in: AtomicPtr::new(ptr::null_mut()),
            }));
            let mut newest = SEATS.load(Relaxed);
            loop {
                seat.next.store(newest, Relaxed);
                // LIST: pairs with the acquire in all: a seat in the list is initialised.
                match SEATS.compare_exchange_weak(newest, seat, Release, Relaxed) {
                    Ok(_) => return &*seat,
                    Err(newer) => newest = newer,
                }
            }
        })
    }

    /// Leaves the seat to another thread.
    pub fn leave(&self) {
        self.is_at_work.set(false);
        self.knows.store(0, Relaxed);
        self.records_in.store(ptr::null_mut(), Relaxed);
        // SEAT: pairs with the acquire in Seat::take.
        self.tid.store(0, Release);
    }

    /// Sets whether the thread has a current context or runs an EGL command.
    #[inline(always)]
    pub fn set_at_work(&self, is_at_work: bool) {
        self.is_at_work.set(is_at_work);
    }

    /// Begins a command while nothing is recorded. Returns whether something is recorded nevertheless; if not, a thread
    /// that begins a capture from now on sees this one at work.
    #[inline(always)]
    pub fn begin(&self, epoch: &Epoch) -> bool {
        self.is_at_work.begin(epoch)
    }

    /// Sets the state in which the thread records. It is used from the next [`Seat::know`] on.
    pub fn record_in(&self, thread: &'static Thread) {
        self.records_in.store(ptr::from_ref(thread).cast_mut(), Relaxed);
    }

    /// Whether the thread knows no epoch from `epoch` on. Called by the thread itself.
    pub fn is_older_than(&self, epoch: u64) -> bool {
        // Relaxed: only this thread writes it.
        self.knows.load(Relaxed) < epoch
    }

    /// Notes that no command of the thread that began before epoch `epoch` is in progress.
    pub fn know(&self, epoch: u64) {
        // ARRIVE: pairs with the acquires in Other: what the thread's last command did is visible.
        self.knows.store(epoch, Release);
    }
}

fn all() -> impl Iterator<Item = &'static Seat> {
    let seat = |seat: &AtomicPtr<Seat>| {
        // LIST: pairs with the release in Seat::take.
        let seat = seat.load(Acquire);
        // SAFETY: null, or leaked.
        unsafe { seat.as_ref() }
    };
    core::iter::successors(seat(&SEATS), move |last| seat(&last.next))
}

/// Waits until no thread but the one with seat `own` is in the driver with a command that epoch `epoch` does not hold.
/// Gives up on a thread that has run for 250 ms or slept for 20 ms meanwhile, and on all of them after 2 s. Returns the
/// ids of the threads that may still be inside.
pub fn wait_for_others(own: Option<&Seat>, epoch: u64) -> Vec<u32> {
    // KEEPER and OUTSIDE: the epoch was raised before; pairs with the fences in AtWork::begin and Gate::enter.
    let has_barrier = barrier_in_all_threads();
    if !has_barrier {
        // KEEPER: pairs with the full fence in AtWork::begin, where it is one without such a barrier.
        fence(SeqCst);
    }
    let tells = has_barrier && !capture::is_first_of_this_capture(epoch);
    let is_other = |seat: &&Seat| !own.is_some_and(|own| ptr::eq(own, *seat));
    let mut others: Vec<Other> = all().filter(is_other).map(Other::new).collect();
    let began = Instant::now();
    loop {
        others.retain(|other| other.may_be_inside(epoch) && !(tells && other.is_outside()));
        let elapsed = began.elapsed();
        let is_late = elapsed >= SOON;
        let is_over = others.is_empty() || elapsed >= LONGEST;
        if is_over || (is_late && others.iter_mut().all(Other::is_hopeless)) {
            return others.iter().map(|other| other.tid).collect();
        }
        thread::sleep(LOOK_AGAIN[usize::from(is_late)]);
    }
}

/// Empties the list in a forked child, whose only thread takes a new seat.
pub fn forget() {
    SEATS.store(ptr::null_mut(), Release);
}

/// Another thread, while it is waited for.
struct Other {
    seat: &'static Seat,
    tid: u32,
    /// Since when the thread has been asleep, and its number of context switches by then.
    asleep: Option<(Instant, u64)>,
    /// How long processors had run the thread when the wait began.
    had_run: Option<Duration>,
}

impl Other {
    fn new(seat: &'static Seat) -> Self {
        let tid = seat.tid.load(Relaxed);
        Self { seat, tid, asleep: None, had_run: processor_time(tid) }
    }

    fn may_be_inside(&self, epoch: u64) -> bool {
        let Seat { tid, is_at_work, knows, .. } = self.seat;
        // ARRIVE: pairs with the release in Seat::know.
        let knows = knows.load(Acquire);
        tid.load(Acquire) == self.tid && self.tid != 0 && is_at_work.is_at_work() && knows < epoch
    }

    /// Whether the thread records, and is in no command now.
    fn is_outside(&self) -> bool {
        // ARRIVE: pairs with the release in Seat::know: it also shows what the thread records in.
        let knows_capture = self.seat.knows.load(Acquire) >= capture::first_epoch();
        // SAFETY: null, or a state that stays mapped.
        let thread = unsafe { self.seat.records_in.load(Relaxed).as_ref() };
        knows_capture && thread.is_some_and(|thread| thread.is_outside())
    }

    /// Whether a longer wait for the thread is of no use.
    fn is_hopeless(&mut self) -> bool {
        self.is_idle() || self.has_run() >= Some(LIMIT)
    }

    /// How long processors have run the thread since the wait began; `None` if the kernel does not say.
    fn has_run(&self) -> Option<Duration> {
        processor_time(self.tid)?.checked_sub(self.had_run?)
    }

    /// Whether the thread has slept without a break for long enough to count as idle.
    fn is_idle(&mut self) -> bool {
        let Some(wakes) = sleeping(self.tid) else {
            self.asleep = None;
            return false;
        };
        match self.asleep {
            Some((since, before)) if before == wakes => since.elapsed() >= ASLEEP,
            _ => {
                self.asleep = Some((Instant::now(), wakes));
                false
            }
        }
    }
}

/// Returns the thread's number of context switches, if it is asleep now.
fn sleeping(tid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/self/task/{tid}/status")).ok()?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
    if !field("State:")?.trim_start().starts_with('S') {
        return None;
    }
    let count = |name| field(name)?.trim().parse::<u64>().ok();
    Some(count("voluntary_ctxt_switches:")? + count("nonvoluntary_ctxt_switches:")?)
}

/// Returns for how long processors have run a thread of this process, by its clock of processor time.
fn processor_time(tid: u32) -> Option<Duration> {
    // The kernel's number for the clock of a thread, of which glibc knows the one of a `pthread_t` only
    // (`pthread_getcpuclockid`): the inverted id, and 6 for "one thread" and "scheduler time".
    let clock = (!tid.cast_signed() << 3) | 6;
    // SAFETY: a time is plain numbers.
    let mut time: libc::timespec = unsafe { core::mem::zeroed() };
    // SAFETY: `time` is writable.
    let is_known = unsafe { libc::clock_gettime(clock, &raw mut time) } == 0;
    is_known.then(|| Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicBool;
    use std::hint::black_box;
    use std::sync::mpsc::channel;

    #[test]
    fn thread_that_sleeps_is_waited_for_a_short_while_and_named() {
        let (tell, told) = channel();
        let (end, ended) = channel::<()>();
        let sleeper = thread::spawn(move || {
            let seat = Seat::take();
            seat.set_at_work(true);
            tell.send(seat).unwrap();
            ended.recv().unwrap_err();
            seat.leave();
        });
        let seat = told.recv().unwrap();
        let tid = seat.tid.load(Relaxed);
        let began = Instant::now();
        // Another test has seats, too.
        assert!(wait_for_others(None, 7).contains(&tid));
        assert!((ASLEEP..LONGEST).contains(&began.elapsed()), "{:?}", began.elapsed());
        seat.know(7);
        assert!(!wait_for_others(None, 7).contains(&tid));
        drop(end);
        sleeper.join().unwrap();
        assert!(!wait_for_others(None, 8).contains(&tid));
    }
    #[test]
    fn thread_that_runs_is_given_up_when_it_has_run_for_the_limit() {
        let (tell, told) = channel();
        let ends = std::sync::Arc::new(AtomicBool::new(false));
        let is_told = ends.clone();
        let runner = thread::spawn(move || {
            let seat = Seat::take();
            seat.set_at_work(true);
            tell.send(seat).unwrap();
            let mut rounds = 0_u64;
            while !is_told.load(Relaxed) {
                rounds = black_box(rounds.wrapping_add(1));
            }
            seat.leave();
        });
        let seat = told.recv().unwrap();
        let tid = seat.tid.load(Relaxed);
        let before = processor_time(tid).unwrap();
        let began = Instant::now();
        assert!(wait_for_others(None, 7).contains(&tid));
        let has_run = processor_time(tid).unwrap() - before;
        assert!(has_run >= LIMIT || began.elapsed() >= LONGEST, "{has_run:?}");
        ends.store(true, Relaxed);
        runner.join().unwrap();
    }
}

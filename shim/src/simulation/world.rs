//! The world of the simulated program: a clock that moves only here, the daemon, and the program's waits for it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::os::fd::RawFd;
use std::time::Duration;

use super::daemon::Daemon;
use super::random::Random;
use crate::system;

/// The time at which a simulation begins, in nanoseconds.
const BEGIN_NS: u64 = 5_000_000_000;
/// The longest wait that is simulated. A wait without a limit lasts as long.
const FOR_EVER_NS: u64 = 60_000_000_000;

/// Clock, daemon, and waits.
pub struct World {
    now_ns: Cell<u64>,
    /// Begins and ends of the program's waits within the last second.
    waits: RefCell<VecDeque<(u64, u64)>>,
    pub daemon: RefCell<Daemon>,
    random: Random,
}

impl World {
    /// Begins the world of a seed.
    pub fn new(seed: u64) -> Self {
        Self {
            now_ns: Cell::new(BEGIN_NS),
            waits: RefCell::default(),
            daemon: RefCell::new(Daemon::new(seed ^ 0xDAE3)),
            random: Random::new(seed ^ 0x5160),
        }
    }

    /// Returns the time, in nanoseconds.
    pub fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }

    /// Lets time pass in which the daemon works.
    pub fn pass(&self, time: Duration) {
        let end = self.now_ns() + time.as_nanos() as u64;
        self.pass_until(end, || false);
    }

    /// Lets time pass until `end`, or until `is_over` after something that the daemon has done.
    fn pass_until(&self, end_ns: u64, is_over: impl Fn() -> bool) {
        loop {
            self.daemon.borrow_mut().act(self.now_ns());
            if is_over() {
                return;
            }
            let next = self.daemon.borrow().next_ns().filter(|next| *next <= end_ns);
            let Some(next) = next else { break };
            self.now_ns.set(next.max(self.now_ns()));
        }
        self.now_ns.set(end_ns.max(self.now_ns()));
    }

    /// Lets time pass in which the program waits.
    fn wait(&self, limit_ns: u64, is_over: impl Fn() -> bool) {
        let began = self.now_ns();
        self.pass_until(began + limit_ns.min(FOR_EVER_NS), is_over);
        self.waits.borrow_mut().push_back((began, self.now_ns()));
    }

    /// Returns how long the program has waited within the last second.
    pub fn waited(&self) -> Duration {
        let from = self.now_ns() - 1_000_000_000;
        let mut waits = self.waits.borrow_mut();
        waits.retain(|(_, end)| *end > from);
        let time = |(begin, end): &(u64, u64)| end - (*begin).max(from);
        Duration::from_nanos(waits.iter().map(time).sum())
    }

    /// Answers [`system::poll`].
    pub fn poll(&self, descriptor: RawFd, events: libc::c_short, limit: Duration) -> libc::c_short {
        let ready = || system::poll_really(descriptor, events, Duration::ZERO);
        if ready() == 0 && !limit.is_zero() {
            // A signal of the program ends a wait.
            let limit_ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
            let limit_ns = match self.random.once_in(10) {
                true => self.random.below(limit_ns.min(FOR_EVER_NS)),
                false => limit_ns,
            };
            self.wait(limit_ns, || ready() != 0);
        }
        ready()
    }

    /// Answers [`system::connect`].
    pub fn connect(&self, socket: RawFd) -> bool {
        // SAFETY: reads flags of a descriptor.
        let blocks = unsafe { libc::fcntl(socket, libc::F_GETFL) } & libc::O_NONBLOCK == 0;
        let now = self.now_ns();
        if blocks && self.daemon.borrow().is_full(now) {
            self.wait(u64::MAX, || !self.daemon.borrow().is_full(self.now_ns()));
        }
        self.daemon.borrow_mut().connect(socket, self.now_ns())
    }
}

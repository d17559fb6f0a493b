//! A simulated world: programs, a drain, captures; and whose turn it is.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use gapii_control::trigger::Trigger;
use gapii_ringbuf::SegmentLayout;
use gapii_trace::BlockEncoder;

use super::calls::Calls;
use super::check::check;
use super::client::{Client, RING_BYTES};
use super::clock;
use super::program::Program;
use super::random::Random;
use crate::drain::{Drain, DrainHandle, Step};
use crate::end::{Cause, Departure};
use crate::fault::putting_in::set_between_looks;
use crate::order::Order;
use crate::plan::Plan;
use crate::process::Counter;
use crate::spill::{Spill, SpillRoom};

/// Number of steps before all programs end.
const STEPS: u64 = 4_000;
/// Number of steps within which all have ended.
const ENDING_STEPS: u64 = 20_000;
/// Number of steps before that within which every capture has begun with all its programs.
const BEGINNING_STEPS: u64 = 20_000;
/// Number of slots of a program: few, which threads use again and again, or many, most of which stay unused.
const SLOTS: [u32; 2] = [4, 64];
const PROGRAMS: u64 = 3;
const CAPTURES: usize = 3;
/// Room of each capture in its temporary file: little.
const SPILL_BYTES: u64 = 20_000;

/// The programs, which continue while the drain looks at them.
pub(super) struct Programs {
    random: Random,
    calls: Calls,
    pub(super) all: Vec<Program>,
    /// Number of the last thread or recording.
    last: u32,
}

/// A simulation.
pub struct World {
    pub(super) random: Random,
    pub(super) now_ns: u64,
    pub(super) counter: Counter,
    pub(super) programs: Rc<RefCell<Programs>>,
    pub(super) drain: Option<(Arc<DrainHandle>, Drain)>,
    pub(super) captures: Vec<Client>,
    room: Arc<SpillRoom>,
    pub(super) encoder: BlockEncoder,
}

impl Programs {
    fn go_on(&mut self) {
        for _ in 0..self.random.below(4) {
            self.step();
        }
    }

    fn step(&mut self) {
        let Self { random, calls, all, last } = self;
        if all.is_empty() {
            return;
        }
        let at = random.below(all.len() as u64) as usize;
        all[at].step(random, calls, last);
    }
}

impl World {
    /// Makes the simulation of a seed.
    pub fn new(seed: u64) -> Self {
        let counter = Counter::create().expect("memory");
        let slots = SLOTS[Random::new(seed ^ 0x5107).below(2) as usize];
        let layout = SegmentLayout::new(slots, RING_BYTES).expect("sizes");
        let mut random = Random::new(seed);
        clock::set(clock::BEGIN_NS);
        let count = 1 + random.below(PROGRAMS) as u32;
        let all = (0..count).map(|index| Program::new(index, &counter, layout)).collect();
        let programs =
            Programs { random: Random::new(seed ^ 0x5EED), calls: Calls::default(), all, last: 0 };
        Self {
            random,
            now_ns: clock::BEGIN_NS,
            counter,
            programs: Rc::new(RefCell::new(programs)),
            drain: None,
            captures: Vec::new(),
            room: Arc::new(SpillRoom::new(std::env::temp_dir(), SPILL_BYTES, 3 * SPILL_BYTES)),
            encoder: BlockEncoder::new(1).expect("memory"),
        }
    }

    /// Runs the whole simulation. Returns a sentence that describes the first fault, if there is one.
    pub fn run(mut self) -> Result<(), String> {
        let programs = Rc::clone(&self.programs);
        set_between_looks(Some(Rc::new(move || programs.borrow_mut().go_on())));
        let done = self.run_and_check();
        set_between_looks(None);
        done
    }

    fn run_and_check(&mut self) -> Result<(), String> {
        self.start();
        for _ in 0..STEPS {
            self.step();
        }
        self.end()?;
        let programs = self.programs.borrow();
        self.captures.iter_mut().try_for_each(|client| {
            let id = client.capture.plan.id;
            check(client, &programs.calls).map_err(|what| format!("capture {id}: {what}"))
        })
    }

    fn step(&mut self) {
        let ns = 1 + self.random.below(300_000);
        self.advance(ns);
        match self.random.below(1000) {
            0..600 => self.programs.borrow_mut().step(),
            600..800 => self.drain(),
            800..940 => self.write(),
            940..970 => self.put_aside(),
            970..972 => self.start_some(),
            972..974 => self.stop(),
            974..980 => self.pause(),
            980..988 => self.hold_up(),
            988..989 => self.kill(),
            989..990 => self.restart(),
            990..991 => self.let_sleep(),
            // Nothing happens for a while.
            _ => {
                let ns = self.random.below(300_000_000);
                self.advance(ns);
            }
        }
    }

    fn advance(&mut self, ns: u64) {
        self.now_ns += ns;
        clock::set(self.now_ns);
    }

    fn drain(&mut self) {
        if let Some((_, drain)) = &mut self.drain
            && drain.step(self.now_ns) == Step::Over
        {
            self.drain = None;
        }
    }

    /// Lets an output accept something.
    fn write(&mut self) {
        if let Some(client) = self.any_client().filter(|client| !client.takes_nothing) {
            client.write();
        }
    }

    fn put_aside(&mut self) {
        let Self { captures, encoder, .. } = self;
        for client in captures.iter_mut().filter(|client| client.takes_nothing) {
            client.wait_for_reader(encoder);
        }
    }

    /// Begins a capture, or two, the second of which may begin before a program has heard of the first.
    fn start_some(&mut self) {
        self.start();
        if self.random.once_in(3) {
            self.drain();
            self.start();
            self.drain();
        }
    }

    /// Begins a capture of some programs, or of all if there is no other capture.
    fn start(&mut self) {
        if self.captures.iter().filter(|client| client.writer.is_some()).count() >= CAPTURES {
            return;
        }
        let programs = self.programs.borrow();
        let alive: Vec<_> = programs.all.iter().filter(|program| !program.is_dead()).collect();
        let wanted: Vec<_> = alive
            .iter()
            .filter(|_| self.drain.is_none() || !self.random.once_in(3))
            .map(|program| Arc::clone(&program.process))
            .collect();
        if wanted.is_empty() {
            return;
        }
        let began = programs.all.iter().map(Program::recording).collect();
        let left = programs.all.iter().filter_map(Program::left_recording).collect();
        drop(programs);
        let id = self.captures.len() as u64 + 1;
        let spill = match self.random.once_in(3) {
            true => Spill::none(),
            false => Spill::new(Arc::clone(&self.room)),
        };
        let when = self.random.once_in(3).then(|| Trigger::Frame(self.random.below(40)));
        let plan = Plan { ring_bytes: RING_BYTES, when, ..Plan::of(id) };
        let file = tempfile::tempfile().expect("a file");
        let output = (file, spill, self.random.once_in(3));
        let (client, taker) = Client::new(plan, output, (began, self.now_ns), None);
        let client = Client { left, ..client };
        let capture = Arc::clone(&client.capture);
        let is_shared = match &self.drain {
            Some((handle, _)) => {
                assert!(handle.order(Order::Take(Box::new(taker))).is_ok(), "a drain takes orders");
                capture.set_drain(Arc::clone(handle));
                true
            }
            None => {
                let (handle, drain) = DrainHandle::new(taker, self.counter.clone(), self.now_ns);
                capture.set_drain(Arc::clone(&handle));
                self.drain = Some((handle, drain));
                false
            }
        };
        for process in &wanted {
            match is_shared {
                true => capture.want(process),
                false => capture.join(process),
            };
        }
        capture.all_joined();
        self.captures.push(client);
    }

    /// Returns any client whose trace is not written yet.
    fn any_client(&mut self) -> Option<&mut Client> {
        let clients = self.captures.iter_mut().filter(|client| client.writer.is_some());
        let mut clients: Vec<_> = clients.collect();
        match clients.len() as u64 {
            0 => None,
            count => Some(clients.swap_remove(self.random.below(count) as usize)),
        }
    }

    fn stop(&mut self) {
        if let Some(client) = self.any_client() {
            client.is_stopped = true;
            client.capture.stop(Cause::Stop);
        }
    }

    fn pause(&mut self) {
        let pauses = self.random.once_in(2);
        if let Some(client) = self.any_client() {
            client.was_slow = true;
            client.capture.pause(pauses);
        }
    }

    /// Lets an output accept nothing from now on, or everything again.
    fn hold_up(&mut self) {
        if let Some(client) = self.any_client() {
            client.was_slow = true;
            client.takes_nothing ^= true;
        }
    }

    /// Lets a program do nothing for so long that the drain ends its part of a capture without it.
    fn let_sleep(&mut self) {
        let mut programs = self.programs.borrow_mut();
        let at = self.random.below(programs.all.len() as u64) as usize;
        programs.all[at].sleep(self.random.below(2_000_000_000));
    }

    fn kill(&mut self) {
        let mut programs = self.programs.borrow_mut();
        let at = self.random.below(programs.all.len() as u64) as usize;
        // One of the programs lives to the end.
        if at > 0 && !programs.all[at].is_dead() {
            programs.all[at].kill();
            self.tell_gone(at as u32);
        }
    }

    fn tell_gone(&self, index: u32) {
        if let Some((handle, _)) = &self.drain {
            // A drain that takes no more orders has no process any more.
            let _ = handle.order(Order::Gone { index, how: Departure::Died });
        }
    }

    /// Ends the simulation: captures begin that have not, programs end, and with them their captures, first those
    /// whose outputs accept data, then the others.
    fn end(&mut self) -> Result<(), String> {
        for client in &mut self.captures {
            client.saw_the_end = client.writer.is_some() && !client.is_stopped;
            client.capture.pause(false);
        }
        if !self.all_begin() {
            return Err("a capture waits for a keyframe that does not come".to_owned());
        }
        let takes = |client: &Client| !client.takes_nothing;
        if !self.come_to_an_end(takes) {
            return Err("who takes all waits for who takes nothing".to_owned());
        }
        self.captures.iter_mut().for_each(|client| client.takes_nothing = false);
        if !self.come_to_an_end(|_| true) || self.drain.is_some() {
            return Err("it does not come to an end".to_owned());
        }
        Ok(())
    }

    /// Runs until no capture waits for its beginning, except for those whose output accepts nothing.
    fn all_begin(&mut self) -> bool {
        let waits =
            |world: &Self| world.drain.as_ref().is_some_and(|(_, drain)| drain.has_waiting());
        for _ in 0..BEGINNING_STEPS {
            self.advance(100_000);
            self.programs.borrow_mut().step();
            self.drain();
            self.captures.iter_mut().filter(|it| it.writer.is_some()).for_each(Client::write);
            if !waits(self) {
                return true;
            }
        }
        false
    }

    /// Runs until the traces of these captures are written.
    fn come_to_an_end(&mut self, of: impl Fn(&Client) -> bool) -> bool {
        for _ in 0..ENDING_STEPS {
            self.advance(1_000_000);
            self.drain();
            self.captures.iter_mut().filter(|it| !it.takes_nothing).for_each(Client::write);
            self.put_aside();
            let programs = self.programs.borrow().all.len();
            for at in 0..programs {
                if self.end_program(at) {
                    self.tell_gone(at as u32);
                }
            }
            let mut clients = self.captures.iter().filter(|it| of(it));
            let all_dead = self.programs.borrow().all.iter().all(Program::is_dead);
            if all_dead && clients.all(|client| client.writer.is_none()) {
                // The holder of the last ring space learns that it is free.
                (0..4).for_each(|_| self.drain());
                return true;
            }
        }
        false
    }

    /// Lets a program end, as far as it can. Returns whether it has just ended.
    fn end_program(&self, at: usize) -> bool {
        let programs = &mut *self.programs.borrow_mut();
        let program = &mut programs.all[at];
        !program.is_dead() && program.exit(&mut programs.calls)
    }
}

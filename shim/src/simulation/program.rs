//! The program of the simulation: one thread that calls safe points, hooked commands and other commands.

use std::rc::Rc;
use std::time::Duration;

use gapii_abi::app::LOOK_MS;

use super::random::Random;
use super::world::World;
use crate::capture;
use crate::connection::Connection;
use crate::orders;
use crate::orphan;
use crate::process;
use crate::safe_point::{self, Moment, safe_point};

/// Steps of a seed.
const STEPS: u64 = 300;
/// The longest time that the program may wait for the daemon within a second.
const PATIENCE: Duration = Duration::from_millis(20);
/// The longest time between two commands.
const PAUSE: Duration = Duration::from_millis(500);
/// By when the program is connected to a daemon that is well: it notices within a second that the old one is gone, looks
/// for another a second later, and needs some commands for that.
const RECONNECTS: Duration = Duration::from_millis(2_100);
/// The pause between two looks for a daemon, which is part of [`RECONNECTS`], and the longest pause after daemons that died
/// young.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(64);

/// The program.
pub struct Program {
    world: Rc<World>,
    random: Random,
    /// For how long it has recorded without a daemon.
    alone: Duration,
    /// How often it was connected, and to which daemon last.
    connected: (usize, Option<*const Connection>),
}

impl Program {
    /// A program that has made no command.
    pub fn new(world: Rc<World>, seed: u64) -> Self {
        Self { world, random: Random::new(seed), alone: Duration::ZERO, connected: (0, None) }
    }

    /// Runs to its end, or returns which promise was broken.
    pub fn run(mut self) -> Result<(), String> {
        let done = self.steps().and_then(|()| self.finds_a_daemon_that_is_well());
        safe_point::forget();
        process::forget();
        orphan::forget();
        done
    }

    /// Makes a command every half second for `time`, while each daemon that accepts the program dies at once and another one
    /// begins. Returns the number of connections.
    pub fn with_daemons_that_die_young(&self, time: Duration) -> u32 {
        self.world.daemon.borrow_mut().get_well(self.world.now_ns());
        let end_ns = self.world.now_ns() + time.as_nanos() as u64;
        let mut made = 0;
        while self.world.now_ns() < end_ns {
            self.world.pass(PAUSE);
            safe_point(Moment::Command);
            if process::connection().is_some_and(|connection| !connection.is_daemon_gone()) {
                made += 1;
                self.world.daemon.borrow_mut().begin_anew();
            }
        }
        made
    }

    fn steps(&mut self) -> Result<(), String> {
        process::connect();
        safe_point(Moment::FirstCommand);
        self.check("the first command")?;
        for step in 0..STEPS {
            let pause = match self.random.below(3) {
                0 => Duration::ZERO,
                1 => Duration::from_millis(self.random.below(5)),
                _ => Duration::from_millis(self.random.below(PAUSE.as_millis() as u64)),
            };
            self.world.pass(pause);
            self.world.daemon.borrow_mut().suffer(self.world.now_ns());
            self.command(&format!("step {step}"), pause)?;
        }
        Ok(())
    }

    /// Makes a command.
    fn command(&mut self, name: &str, pause: Duration) -> Result<(), String> {
        match self.random.below(3) {
            0 => safe_point(Moment::FrameEnd),
            1 => safe_point(Moment::Command),
            _ if orders::are_new() => safe_point(Moment::Command),
            _ => {}
        }
        let lonely = capture::is_running()
            && process::connection().is_none_or(|connection| connection.is_daemon_gone());
        // A daemon that took the capture over may have died since.
        self.alone = if lonely && orphan::is_one() { self.alone + pause } else { Duration::ZERO };
        self.check(name)
    }

    fn check(&mut self, step: &str) -> Result<(), String> {
        let waited = self.world.waited();
        if waited > PATIENCE {
            return Err(format!("{step}: the program waited {waited:?} within a second"));
        }
        // A few commands may come between the death of the daemon and the first look.
        if self.alone > Duration::from_millis(LOOK_MS) + 8 * PAUSE {
            return Err(format!("{step}: records without a daemon for {:?}", self.alone));
        }
        let mut daemon = self.world.daemon.borrow_mut();
        if let Some(mistake) = daemon.mistake.take() {
            return Err(format!("{step}: {mistake}"));
        }
        let connection = process::connection().map(core::ptr::from_ref);
        let is_new = connection.is_some() && connection != self.connected.1;
        self.connected = (self.connected.0 + usize::from(is_new), connection);
        if self.connected.0 > daemon.accepted {
            return Err(format!("{step}: connected by an answer that is none"));
        }
        Ok(())
    }

    fn finds_a_daemon_that_is_well(&mut self) -> Result<(), String> {
        self.world.daemon.borrow_mut().get_well(self.world.now_ns());
        let began = self.world.now_ns();
        loop {
            self.world.pass(Duration::from_millis(10));
            safe_point(Moment::Command);
            self.check("the end")?;
            if process::connection().is_some_and(|connection| !connection.is_daemon_gone()) {
                return Ok(());
            }
            let time = Duration::from_nanos(self.world.now_ns() - began);
            let pause = Duration::from_nanos(process::pause_ns());
            if time > RECONNECTS - PAUSE_MIN + pause || pause > PAUSE_MAX {
                return Err(format!("not connected {time:?} after the daemon got well"));
            }
        }
    }
}

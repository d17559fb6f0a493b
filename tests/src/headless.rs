//! `tests/programs/headless.c`: a program that makes no EGL command after its start, and measures its own commands.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::fake_driver;
use crate::process::{LIMIT, Running};
use crate::programs::program;

/// Times of an ended program, without the time that its thread waited for a processor.
#[derive(Debug)]
pub struct Times {
    /// Of its start, with its first commands.
    pub start: Duration,
    /// Of its longest command after that.
    pub longest: Duration,
}

/// The program on the fake driver, which takes no time. It makes 256 commands at a time, and rests 0.5 ms after them.
pub fn on_fake_driver(page: Option<&Path>) -> Command {
    let mut process = Command::new(program("headless"));
    process.arg("500");
    fake_driver::use_in(&mut process, page);
    process
}

/// Ends the program, and returns its times.
pub fn end(running: Running) -> Times {
    running.signal(Signal::TERM);
    let ended = running.finish(LIMIT).ok();
    let time = |name: &str| {
        let line = ended.stdout.lines().find_map(|line| line.strip_prefix(name));
        let us = line.and_then(|us| us.parse().ok());
        Duration::from_micros(us.unwrap_or_else(|| panic!("no {name:?} in {ended}")))
    };
    Times { start: time("start "), longest: time("longest ") }
}

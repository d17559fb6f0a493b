//! Kills a program at a random moment and compares its trace with the fake driver's own counts.
//!
//! A record is published before the driver is called. So, for each thread, the trace may have one command more than the
//! driver, and never one less.

use std::collections::BTreeMap;
use std::process::Command as Process;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::fake_driver::{self, Page, Thread};
use crate::gapii::{Command, Session, Trace};
use crate::process::{LIMIT, Running, send_signal};
use crate::programs::program;
use crate::random::Random;

/// Functions that `programs/draw_forever.c` calls; the shim itself calls only other functions.
pub const CALLED: &[&str] = &[
    "eglBindAPI",
    "eglChooseConfig",
    "eglCreateContext",
    "eglCreatePbufferSurface",
    "eglGetDisplay",
    "eglInitialize",
    "eglMakeCurrent",
    "eglSwapBuffers",
    "glBindTexture",
    "glDeleteTextures",
    "glDisable",
    "glDrawArrays",
    "glEnable",
    "glFinish",
    "glGenTextures",
    "glGetError",
    "glIsEnabled",
    "glUniform1i",
    "glUniform4f",
];

/// Kills a program after a random number of calls below `calls_max`, and checks its trace. `options` are those of
/// `gapii-ctl run`.
#[track_caller]
pub fn kill_once(random: &mut Random, calls_max: u64, options: &[&str]) {
    let session = Session::new();
    let page = session.path("page");
    let trace = Trace::new(session.path("killed.gapii"));
    let mut process = Process::new(program("draw_forever"));
    process.arg("3").env("FAKE_DRIVER_FINISH", "20000");
    fake_driver::use_in(&mut process, Some(&page));
    let page = Page::new(&page);
    // After the first call at the earliest: the driver is loaded, and its page made, before any call. One time in ten,
    // while the program is still creating its objects.
    let below = if random.below(10) == 0 { 60 } else { calls_max };
    let moment = 1 + random.below(below);
    let run = Running::start(&mut session.run_command(options, &trace.path, &process));
    let pid = crate::wait::until("the program's calls", LIMIT, || {
        page.pid().filter(|_| page.calls() >= moment)
    });
    send_signal(pid, Signal::KILL);
    run.finish(Duration::from_secs(30)).exited_with(137);
    check_killed(&trace, &page.threads());
}

/// Checks that the trace of a killed program is complete by the driver's counts.
#[track_caller]
pub fn check_killed(trace: &Trace, threads: &[Thread]) {
    trace.verify();
    let info = trace.info();
    assert_eq!(info["end_of_stream"]["reason"], "crash", "{info:#}");
    assert_eq!(info["lost"]["commands"], 0, "{info:#}");
    let commands = trace.commands();
    let in_flight = in_flight(&info);
    let called: u64 =
        threads.iter().map(|thread| check_thread(thread, &commands, &in_flight)).sum();
    assert!(called > 0, "the driver was not called: {threads:?}");
}

/// Returns the number of the thread's calls that reached the driver.
#[track_caller]
fn check_thread(thread: &Thread, commands: &[Command], in_flight: &[(i64, String)]) -> u64 {
    let tid = i64::from(thread.tid);
    let mut recorded: BTreeMap<&str, u64> = BTreeMap::new();
    for command in commands.iter().filter(|command| command.tid == tid) {
        *recorded.entry(&command.name).or_default() += 1;
    }
    let (mut ahead, mut called) = (0, 0);
    for name in CALLED {
        let ours = recorded.get(name).copied().unwrap_or(0);
        let theirs = thread.counts.get(*name).copied().unwrap_or(0);
        assert!(ours >= theirs, "thread {tid}: {ours} {name}, the driver has {theirs}: {thread:?}");
        ahead += ours - theirs;
        called += theirs;
    }
    assert!(ahead <= 1, "thread {tid} has {ahead} commands that the driver has not: {thread:?}");
    let names: Vec<&str> =
        in_flight.iter().filter(|(t, _)| *t == tid).map(|(_, name)| &**name).collect();
    assert!(names.len() <= 1, "thread {tid} is in several commands: {names:?}");
    if let Some(current) = thread.current.as_deref().filter(|name| CALLED.contains(name)) {
        assert_eq!(names, [current], "thread {tid} was in the driver: {thread:?}");
    }
    called
}

fn in_flight(info: &Value) -> Vec<(i64, String)> {
    let list = info["end_of_stream"]["in_flight"].as_array().expect("a list of commands in flight");
    let one = |command: &Value| {
        let thread = command["tid"].as_i64().expect("a thread id");
        (thread, command["name"].as_str().expect("a name").to_owned())
    };
    list.iter().map(one).collect()
}

//! Many programs and many clients of one daemon, some of them slow or stalled: the other clients get whole traces, and the
//! daemon stays within its memory limit.

use std::fmt;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::attaching::anonymous_bytes;
use crate::fake_driver;
use crate::gapii::{Session, Trace, append};
use crate::process::{LIMIT, Running, run};
use crate::programs::program;
use crate::sharing::{Piped, listed, number, start};
use crate::wait;

pub const PROGRAMS: usize = 16;
/// Fewest frames of each program in a capture of a second: each of its threads draws one about every millisecond, and up to
/// 64 threads share two processors.
const FRAMES_MIN: u64 = 4;
/// Most anonymous memory that the daemon may have, in bytes; its rings are not counted.
const HELD_MAX: u64 = 256 << 20;
/// Options of the daemon: little room for each slow client.
const DAEMON: &[&str] = &["--ring-size", "256K", "--spill", "8M"];

/// Counts of one run.
#[derive(Debug, Default)]
pub struct Crowd {
    /// Commands of the lossless captures together.
    pub calls: u64,
    /// Commands that slow clients did not get, by the counts that the daemon sent them.
    pub missed: u64,
    /// Largest anonymous memory of the daemon, in bytes.
    pub held: u64,
}

/// A client whose trace must be complete.
struct Whole {
    name: String,
    running: Running,
    trace: Trace,
}

/// Captures all programs, each with so many `threads`, for `time`, with eight clients, three of which are slow.
///
/// # Panics
/// If a trace does not verify, a lossless trace lacks something, a slow client is not told what it missed, a
/// program ends, or the daemon holds too much memory.
#[track_caller]
pub fn capture_crowd(threads: usize, time: Duration) -> Crowd {
    let session = Session::new();
    let daemon = session.daemon(DAEMON);
    let programs: Vec<_> = (0..PROGRAMS).map(|_| start_program(&session, threads)).collect();
    let pids = wait::until("all programs to be connected", LIMIT, || {
        let pids: Vec<_> = session.apps().iter().map(|app| number(&app["pid"])).collect();
        (pids.len() == PROGRAMS).then_some(pids)
    });

    let mut whole = vec![begin(&session, "all", &["--all"])];
    for (at, pid) in pids.iter().take(4).enumerate() {
        whole.push(begin(&session, &format!("one-{at}"), &["--app", &pid.to_string()]));
    }
    let piped = |name: &str, options: &[&str]| {
        let command =
            session.ctl(["start", "--name", name].iter().chain(options).chain(&["-o", "-"]));
        Piped::start(&session, name, command)
    };
    let stalled = piped("stalled", &["--all"]);
    let stalled_too = piped("stalled-too", &["--app", &pids[5].to_string(), "--if-slow", "drop"]);
    let slow = piped("slow", &["--app", &pids[0].to_string()]);
    let slow = std::thread::spawn(move || slow.read(Duration::from_millis(100)));

    let began = Instant::now();
    let mut held = 0;
    while began.elapsed() < time {
        std::thread::park_timeout(time / 100);
        held = held.max(anonymous_bytes(daemon.pid()));
    }
    assert_eq!(session.apps().len(), PROGRAMS, "every program goes on");
    assert!(held < HELD_MAX, "the daemon held {held} bytes");
    run(&mut session.ctl(["stop"])).ok();

    let mut crowd = Crowd { held, ..Crowd::default() };
    let finish = |Whole { name, running, trace }| {
        println!("{name}: {}", running.finish(LIMIT).ok().stderr.trim());
        (name, trace)
    };
    let whole: Vec<_> = whole.into_iter().map(finish).collect();
    let slow = slow.join().expect("the slow client reads");
    let slow = [slow, stalled.read(Duration::ZERO), stalled_too.read(Duration::ZERO)];
    // Checking the traces needs the processors.
    assert_eq!(session.apps().len(), PROGRAMS, "every program goes on");
    drop(programs);
    for (name, trace) in whole {
        trace.is_whole("stop");
        let info = trace.info();
        assert_eq!(info["lost"]["records"], 0, "{info:#}");
        has_frames_of_all(&info, if name == "all" { PROGRAMS } else { 1 });
        crowd.calls += number(&info["commands"]);
    }
    for (trace, said) in slow {
        println!("{}", said.trim());
        trace.verify();
        let info = trace.info();
        assert!(number(&info["commands"]) > 0, "{said}: {info:#}");
        let lost = number(&info["lost"]["commands"]);
        assert_eq!(lost == 0, said.contains(" 0 lost"), "{said}");
        crowd.missed += lost;
    }
    crowd
}

/// Checks that a trace has frames of so many programs.
#[track_caller]
fn has_frames_of_all(info: &Value, programs: usize) {
    let processes = info["processes"].as_array().expect("a list");
    assert_eq!(processes.len(), programs, "{info:#}");
    for process in processes {
        assert!(number(&process["frames"]) >= FRAMES_MIN, "{process}");
    }
}

fn start_program(session: &Session, threads: usize) -> Running {
    let mut process = Command::new(program("draw_forever"));
    // About a millisecond in glFinish: the threads want more than two processors, and make calls all the time.
    process.arg(threads.to_string()).env("FAKE_DRIVER_FINISH", "2000000");
    fake_driver::use_in(&mut process, None);
    let mut command = session.ctl(["run", "--idle"]);
    append(&mut command, &process);
    Running::start(&mut command)
}

/// Starts a capture and waits until it has frames.
fn begin(session: &Session, name: &str, options: &[&str]) -> Whole {
    let (running, trace) = start(session, name, options);
    let has_frames = |capture: &Value| number(&capture["progress"]["frames"]) > 0;
    wait::until(&format!("frames of {name}"), LIMIT, || listed(session, name).filter(has_frames));
    Whole { name: name.to_owned(), running, trace }
}

impl fmt::Display for Crowd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, missed, held } = self;
        let held = held >> 20;
        write!(
            f,
            "{calls} commands without a loss, {missed} missed by slow clients; the daemon held {held} MiB at most"
        )
    }
}

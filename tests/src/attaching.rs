//! Captures of programs that are running: begun at any moment, again and again, and killed meanwhile.

use std::fs::File;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{FileType, Mode};
use rustix::process::Signal;
use serde_json::Value;

use crate::gapii::{Session, Trace, append};
use crate::loading::offscreen;
use crate::process::{LIMIT, Running, run};
use crate::programs::program;
use crate::random::Random;
use crate::replays::verified_frames;
use crate::wait;

/// A program that checks its own pictures and runs until it gets SIGTERM. Its threads rest for `rest_us` microseconds
/// after each frame.
fn threads_forever(threads: usize, rest_us: u32) -> Command {
    let [threads, rest] = [threads.to_string(), rest_us.to_string()];
    offscreen(&program("threads_forever"), [&threads[..], "3600", &rest])
}

/// Starts a program that is not recorded yet. Others may run beside it.
pub fn run_idle(session: &Session, process: &Command) -> Running {
    let others: Vec<Value> = session.apps().iter().map(|app| app["pid"].clone()).collect();
    let mut command = session.ctl(["run", "--idle"]);
    append(&mut command, process);
    let running = Running::start(&mut command);
    let is_it = |app: &Value| !others.contains(&app["pid"]) && app["mode"] == "idle";
    wait::until("the program, idle", LIMIT, || session.apps().iter().any(is_it).then_some(()));
    running
}

/// Captures `frames` frames of the running program.
pub fn attach(session: &Session, name: &str, frames: &str) -> Trace {
    let trace = Trace::new(session.path(name));
    let options = ["start", "--frames", frames, "--observe-frames", "1", "--force", "-o"];
    run(session.ctl(options).arg(&trace.path)).ok();
    trace.is_whole("frames");
    trace
}

/// Attaches at random moments to threads that share their objects, and plays what was recorded after the program's end:
/// its threads never rest, and would take the processors from the replays.
#[track_caller]
pub fn attach_at_random(threads: usize, times: u64) {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let running = run_idle(&session, &threads_forever(threads, 0));
    let mut random = Random::seeded("the moments to attach at");
    let attach_once = |number: u64| {
        sleep(Duration::from_micros(random.below(50_000)));
        let trace = attach(&session, &format!("{number}.gapii"), "6");
        session.app_in_mode("idle");
        trace
    };
    let traces: Vec<Trace> = (0..times).map(attach_once).collect();
    ends_well(running);
    for (number, trace) in traces.iter().enumerate() {
        let frames = verified_frames(&session, trace);
        // Each thread may be inside one more frame when the last frame ends.
        assert!((6..6 + threads as u64).contains(&frames), "attached {number} times: {frames}");
    }
}

/// Begins and ends `cycles` captures of one program; each must be whole, and neither the program nor the daemon may
/// grow. Prints the frame rate before and after, and the memory of both.
#[track_caller]
pub fn start_and_stop(cycles: u64) {
    /// Captures after which the program and the daemon have allocated all memory that they need.
    const WARM: u64 = 20;
    /// The driver allocates when a thread describes what the other one was drawing to for the first time, by chance after
    /// any number of captures: 1.5 MiB were seen, once. What each capture keeps adds up in `soak cycles`, which makes 1,000.
    const GROWTH_MAX: u64 = 2 << 20;
    let session = Session::new();
    let daemon = session.daemon(&[]);
    // The rest leaves the processors to the daemon, the client and the replay.
    let mut process = threads_forever(2, 10_000);
    // The C library raises its thresholds when large memory is freed, and keeps such memory from then on. With fixed
    // thresholds and one arena, the program holds what it uses, not the most that two threads happened to use at once.
    process.envs([
        ("MALLOC_ARENA_MAX", "1"),
        ("MALLOC_MMAP_THRESHOLD_", "131072"),
        ("MALLOC_TRIM_THRESHOLD_", "131072"),
    ]);
    let running = run_idle(&session, &process);
    let app = session.app_in_mode("idle")["pid"].as_u64().expect("a number") as u32;
    let mut held = Vec::new();
    let before = frame_rate(&session);
    for cycle in 0..cycles {
        let trace = attach(&session, "cycle.gapii", "2");
        assert!(verified_frames(&session, &trace) >= 2, "cycle {cycle}");
        session.app_in_mode("idle");
        held.push((anonymous_bytes(app), anonymous_bytes(daemon.pid())));
    }
    let after = frame_rate(&session);
    println!("{before:.0} frames/s before, {after:.0} after: {:.2}", after / before);
    let warm = held
        .iter()
        .take(WARM as usize)
        .fold((0, 0), |most: (u64, u64), now| (most.0.max(now.0), most.1.max(now.1)));
    let last = held.last().expect("at least one cycle");
    println!("the program holds {} KiB, {} after {WARM}", last.0 >> 10, warm.0 >> 10);
    println!("the daemon holds {} KiB, {} after {WARM}", last.1 >> 10, warm.1 >> 10);
    assert!(last.0 <= warm.0 + GROWTH_MAX, "the program has grown: {held:?}");
    assert!(last.1 <= 2 * warm.1, "the daemon has grown: {held:?}");
    ends_well(running);
}

/// Kills the daemon, the client or both while they attach, capture or stop; the program must go on. Every second time the
/// capture has begun for sure.
#[track_caller]
pub fn kill_who_attaches(times: u64) {
    let session = Session::new();
    let first = session.daemon(&[]);
    let running = run_idle(&session, &threads_forever(3, 2_000));
    drop(first);
    let mut random = Random::seeded("the moments to kill at");
    let mut daemon = None;
    for number in 0..times {
        if daemon.is_none() {
            daemon = Some(session.daemon(&[]));
        }
        // Says hello again within a second or two.
        wait::until("the program to find the daemon", LIMIT, || {
            (session.apps().len() == 1).then_some(())
        });
        let path = session.path("killed.gapii");
        let has_begun = number % 2 == 1;
        let frames = if has_begun { 1_000_000 } else { 1 + random.below(200) }.to_string();
        let options = ["start", "--frames", &frames, "--force", "-o"];
        let client = Running::start(session.ctl(options).arg(&path));
        if has_begun {
            session.app_in_mode("capturing");
        }
        sleep(Duration::from_micros(random.below(120_000)));
        match number % 3 {
            0 => daemon.take().expect("it serves").kill(),
            1 => client.signal(Signal::KILL),
            _ => {
                client.signal(Signal::KILL);
                daemon.take().expect("it serves").kill();
            }
        }
        drop(client);
        assert!(!running.ended_within(Duration::from_millis(20)), "the program has ended");
    }
    drop(daemon);
    ends_well(running);
}

/// Ends the program. It must have drawn, its pictures must have been right, and its longest pause must be below 1 s, or as many
/// times that as an emulator is slower, which `GAPII_TEST_SLOWNESS` says.
#[track_caller]
fn ends_well(running: Running) {
    running.signal(Signal::TERM);
    let finished = running.finish(LIMIT);
    assert!(finished.status.success(), "{finished}");
    let rounds = finished.stdout.split(" rounds").next().and_then(|rounds| rounds.parse().ok());
    assert!(rounds > Some(100u64), "{finished}");
    let pause = finished.stdout.split("longest pause ").nth(1);
    let pause = pause.and_then(|rest| rest.split(' ').next()).and_then(|ms| ms.parse().ok());
    let pause: u64 =
        pause.unwrap_or_else(|| panic!("the program says its longest pause: {finished}"));
    println!("longest pause of the program: {pause} ms");
    let slowness = std::env::var("GAPII_TEST_SLOWNESS");
    let slowness: u64 = slowness.map_or(1, |times| times.parse().expect("a number"));
    assert!(pause < 1000 * slowness, "{finished}");
}

/// Frames per second of the only application, measured for 1 s.
pub fn frame_rate(session: &Session) -> f64 {
    let frames = || session.apps()[0]["frames"].as_u64().expect("a number");
    let (began, first) = (Instant::now(), frames());
    sleep(Duration::from_secs(1));
    (frames() - first) as f64 / began.elapsed().as_secs_f64()
}

/// Anonymous private memory of a process (`RssAnon`), in bytes.
pub fn anonymous_bytes(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let field = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = field.and_then(|field| field.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.expect("the process runs") << 10
}

/// A pipe that takes the output of a capture and that nobody reads.
pub struct UnreadPipe {
    pub path: PathBuf,
    /// Keeps the pipe open, so that the capture can open it.
    open: File,
}

impl UnreadPipe {
    /// Makes the pipe.
    pub fn new(path: PathBuf) -> Self {
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &path, FileType::Fifo, mode, 0).expect("a pipe");
        let open = File::options().read(true).write(true).open(&path).expect("the pipe opens");
        Self { path, open }
    }

    /// Reads all that comes until the capture closes the pipe.
    pub fn read_into(self, file: &mut File) {
        let mut reader = File::open(&self.path).expect("the pipe opens");
        drop(self.open);
        std::io::copy(&mut reader, file).expect("the whole trace");
    }
}

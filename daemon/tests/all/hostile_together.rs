//! All hostile applications and clients at once, again and again, while an honest application is captured: its trace is whole,
//! the daemon keeps its budgets meanwhile, and in the end it has what it had before.
//!
//! Attacks for `SHORT`, 4 s. `cargo xtask soak -- hostile` sets `GAPII_HOSTILE_SECONDS`, and adds four honest programs with the
//! shim, two captures of them, and peers from other machines (`guests.rs`).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use gapii_control::{Event, KeepRequest, Request, SaveRequest, StartRequest, StopRequest, Target};

use crate::guests::{Guest, Guests, PATIENCE};

use crate::hostile_applications::LIES;
use crate::hostile_clients::{first_words, later_words, outputs, starts};
use crate::metrics::{self, Place};
use crate::support::{Client, Daemon, capture_of, full_pipe, sound, until};

/// Time of the attack, unless `GAPII_HOSTILE_SECONDS` says another one.
const SHORT: Duration = Duration::from_secs(4);
/// Time between two looks at the budgets, and between two bursts of the honest application.
const PACE: Duration = Duration::from_millis(20);
/// Commands of a burst.
const BURST: u64 = 100;
/// Bytes that the daemon may have allocated more in the end than at its start: tables that have grown once.
const GROWTH_BYTES: f64 = 4e6;
/// Attacks on the counter that all applications of a session share. They spoil the order of all captures, so they are not
/// carried out here.
const ON_ALL: &str = "counter of all";

/// A request that any client may make, and that would stop the honest capture.
const NO_LIE: &str = "stop of what does not run";

/// Whether the attack is over, and how many attacks there were.
#[derive(Default)]
struct Siege {
    is_over: AtomicBool,
    attacks: AtomicU64,
}

impl Siege {
    /// Attacks until the end. A failure ends the siege.
    fn attack(&self, mut attack: impl FnMut()) {
        let _end = End(self);
        while !self.is_over.load(Ordering::Relaxed) {
            attack();
            self.attacks.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Ends the siege when it is dropped, also if the test fails.
struct End<'a>(&'a Siege);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

/// Threads, descriptors and memory of a daemon, besides the descriptor over which it is asked.
#[derive(Clone, Copy, Debug)]
struct Footprint {
    threads: usize,
    descriptors: usize,
    allocated_bytes: f64,
}

impl Footprint {
    fn of(daemon: &Daemon, place: &Place) -> Self {
        let allocated_bytes = metrics::sample(place, "gapiid_memory_bytes");
        let (threads, descriptors) = (daemon.threads(), daemon.open_descriptors());
        Self { threads, descriptors, allocated_bytes }
    }

    fn is_within(&self, before: &Self) -> bool {
        self.threads <= before.threads
            && self.descriptors <= before.descriptors
            && self.allocated_bytes <= before.allocated_bytes + GROWTH_BYTES
    }
}

fn time() -> Duration {
    let seconds = std::env::var("GAPII_HOSTILE_SECONDS").ok();
    let seconds =
        seconds.map(|seconds| seconds.parse().expect("GAPII_HOSTILE_SECONDS is a number"));
    seconds.map_or(SHORT, Duration::from_secs)
}

/// A client, once the daemon has room for one: those that have left may not be gone yet.
fn hostile_client(daemon: &Daemon) -> Client {
    until("room for a client", || {
        Client::try_greet(UnixStream::connect(daemon.path("ctl.sock")).unwrap())
    })
}

/// An application that is captured and carries out the next lie.
fn lie(daemon: &Daemon, at: &mut usize) {
    let (what, orders, _) = LIES[*at % LIES.len()];
    *at += 1;
    if what.contains(ON_ALL) {
        return;
    }
    let mut liar = daemon.app();
    let mut client = hostile_client(daemon);
    let file = tempfile::tempfile().unwrap();
    client.start(capture_of(Target::App(liar.pid().to_string())), &file);
    liar.obey(&["wait", "thread", "calls 5"]);
    for order in orders {
        liar.tell(order);
        assert!(liar.answered(), "{what}: {order} failed");
    }
    liar.tell("kill");
    client.ended();
}

/// A client that says something wrong, and one that does not read its answers.
fn talk(daemon: &Daemon, at: &mut usize) {
    let socket = || UnixStream::connect(daemon.path("ctl.sock")).unwrap();
    let firsts = first_words();
    let (_, bytes, _) = &firsts[*at % firsts.len()];
    // The daemon may have closed the connection in the middle.
    let _ = socket().write_all(bytes);
    let mut laters = later_words();
    laters.retain(|(what, ..)| *what != NO_LIE);
    let (_, bytes, _) = &laters[*at % laters.len()];
    let mut client = hostile_client(daemon);
    client.socket.write_all(bytes).unwrap();
    assert!(matches!(client.receive(), Event::Error(_)));
    let starts = starts();
    let (what, request, _) = &starts[*at % starts.len()];
    let file = tempfile::tempfile().unwrap();
    assert!(matches!(client.try_start(request.clone(), &file), Event::Error(_)), "{what}");
    let questions = gapii_control::encode(&Request::Status).unwrap().repeat(200);
    client.socket.set_nonblocking(true).unwrap();
    let _ = client.socket.write(&questions);
    *at += 1;
}

/// Connections without a hello, and a process that says hello again and again.
fn crowd(daemon: &Daemon) {
    for number in 0..200 {
        let socket =
            UnixStream::connect(daemon.path(["app.sock", "ctl.sock"][number % 2])).unwrap();
        if number % 3 == 0 {
            let _ = socket.shutdown(Shutdown::Write);
        }
    }
    daemon.app().obey(&["hellos 20"]);
}

/// Saves into pipes that nobody reads, and more than a client may have.
fn save(daemon: &Daemon) {
    let mut client = hostile_client(daemon);
    let pipes: Vec<_> = (0..5)
        .map(|_| {
            let (reader, writer) = full_pipe();
            client.send_with(&Request::Save(SaveRequest::default()), writer);
            reader
        })
        .collect();
    assert!(matches!(client.receive(), Event::Error(_)));
    drop(pipes);
}

/// Captures into outputs that take nothing, which their client stops or leaves.
fn refuse_output(daemon: &Daemon, target: u32, at: &mut usize) {
    let mut outputs = outputs(daemon);
    let (_, output) = outputs.swap_remove(*at % outputs.len());
    *at += 1;
    let mut client = hostile_client(daemon);
    let target = Target::App(target.to_string());
    let started = client.try_start(capture_of(target.clone()), &output);
    if matches!(started, Event::Started(_)) && at.is_multiple_of(2) {
        client.stop(target);
    }
}

/// Each figure that has a limit is within it.
fn check_budgets(samples: &BTreeMap<String, f64>) {
    for (name, value) in samples {
        let bare = name.split('{').next().unwrap();
        if let Some(limit) = samples.get(&format!("{bare}_limit")) {
            assert!(value <= limit, "{name} is {value}, above the limit of {limit}");
        }
    }
}

/// Receives what the daemon says of the honest capture, until it has ended. Returns its commands and losses.
fn follow(mut client: Client) -> (u64, u64) {
    loop {
        match client.receive() {
            Event::Progress(_) => {}
            Event::Ended(ended) => return (ended.summary.calls, ended.summary.lost.calls),
            other => panic!("the honest client hears {other:?}"),
        }
    }
}

/// Programs with the shim, and captures of the first two.
struct Honest<'scope> {
    programs: Vec<Guest>,
    captures: Vec<(File, ScopedJoinHandle<'scope, (u64, u64)>)>,
}

impl Honest<'_> {
    /// Ends captures and programs: the captures are whole, and no command waited for longer than it may.
    fn end(self, daemon: &Daemon) {
        for (program, (file, capture)) in self.programs.iter().zip(self.captures) {
            let target = Target::App(program.pid().to_string());
            let stop = Request::Stop(StopRequest { target, ..StopRequest::default() });
            let stopped = hostile_client(daemon).ask(&stop);
            assert!(matches!(stopped, Event::Stopped(_)), "{stopped:?}");
            let (calls, lost) = capture.join().unwrap();
            sound(&file);
            println!("capture of an honest program: {calls} commands, {lost} lost");
            assert!(calls > 0 && lost == 0);
        }
        let longest: Vec<_> = self.programs.into_iter().map(Guest::end).collect();
        println!("longest commands of the honest programs: {longest:?}");
        assert!(longest.iter().all(|time| *time <= PATIENCE), "{longest:?}");
    }
}

#[test]
fn honest_capture_is_whole_and_budgets_hold_under_all_attacks_at_once() {
    let guests = Guests::invited();
    let options = guests.as_ref().map(Guests::options);
    let options = options.unwrap_or_else(|| vec!["--ring-size".to_owned(), "64K".to_owned()]);
    let options: Vec<_> = options.iter().map(String::as_str).collect();
    let (daemon, place) = metrics::daemon_with(&options);
    // It serves nobody yet.
    let before = Footprint::of(&daemon, &place);
    let (mut honest, mut aim) = (daemon.app(), daemon.app());
    let programs = guests.as_ref().map(|guests| {
        let socket = daemon.path("app.sock");
        let programs = [(); 3].map(|()| guests.start(&socket));
        until("the programs to be connected", || {
            (metrics::sample(&place, "gapiid_applications") >= 5.0).then_some(())
        });
        programs.into_iter().chain([guests.start_at_a_silent_daemon()]).collect()
    });
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    client.start(capture_of(Target::App(honest.pid().to_string())), &file);
    honest.obey(&["wait", "thread"]);
    let (mut lies, mut talks, mut refusals) = (0, 0, 0);
    lie(&daemon, &mut lies);
    talk(&daemon, &mut talks);
    crowd(&daemon);
    refuse_output(&daemon, aim.pid(), &mut refusals);
    let mut keeper = daemon.client();
    let keep = KeepRequest { frames: 100, keyframe_every: 10, bytes: 1 << 20 };
    let kept = Target::App(aim.pid().to_string());
    let keep = StartRequest { keep: Some(keep), ..capture_of(kept) };
    assert!(matches!(keeper.ask(&Request::Start(keep)), Event::Started(_)));
    aim.obey(&["wait", "thread", "frames 1 10"]);
    save(&daemon);
    let (siege, began, time) = (Siege::default(), Instant::now(), time());
    let calls = std::thread::scope(|scope| {
        let _end = End(&siege);
        let of_client = scope.spawn(move || follow(client));
        scope.spawn(|| siege.attack(|| lie(&daemon, &mut lies)));
        scope.spawn(|| siege.attack(|| talk(&daemon, &mut talks)));
        scope.spawn(|| siege.attack(|| crowd(&daemon)));
        scope.spawn(|| siege.attack(|| save(&daemon)));
        if let Some(guests) = &guests {
            scope.spawn(|| siege.attack(|| guests.knock()));
        }
        let honest_programs = programs.map(|programs: Vec<Guest>| {
            let captures = programs[..2].iter().map(|program| {
                let file = tempfile::tempfile().unwrap();
                let mut client = hostile_client(&daemon);
                client.start(capture_of(Target::App(program.pid().to_string())), &file);
                (file, scope.spawn(move || follow(client)))
            });
            let captures = captures.collect();
            Honest { captures, programs }
        });
        scope.spawn(|| siege.attack(|| refuse_output(&daemon, aim.pid(), &mut refusals)));
        let mut bursts = 0;
        while began.elapsed() < time && !siege.is_over.load(Ordering::Relaxed) {
            honest.obey(&[&format!("calls {BURST}")]);
            bursts += 1;
            check_budgets(&metrics::samples(&metrics::get(&place)));
            std::thread::sleep(PACE);
        }
        if let Some(programs) = honest_programs {
            programs.end(&daemon);
        }
        honest.obey(&["end 4", "retire"]);
        let (calls, lost) = of_client.join().unwrap();
        assert_eq!((calls, lost), (bursts * BURST, 0));
        calls
    });
    let attacks = siege.attacks.load(Ordering::Relaxed);
    println!(
        "{attacks} attacks in {:?}; {calls} commands of the honest application",
        began.elapsed()
    );
    assert!(attacks > 8, "{attacks} attacks");
    sound(&file);
    // It serves nobody again.
    drop((honest, aim, keeper));
    println!("before {before:?}, at the end of the attack {:?}", Footprint::of(&daemon, &place));
    let after = until("the daemon to have what it had before", || {
        std::thread::sleep(PACE);
        let now = Footprint::of(&daemon, &place);
        now.is_within(&before).then_some(now)
    });
    println!("before {before:?}, after {after:?}");
    let lines = daemon.log().lines().count() as u64;
    let most = 10_000 * (1 + time.as_secs() / 10);
    assert!(lines < most, "{lines} lines of log");
}

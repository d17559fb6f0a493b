//! Daemons that listen and do not answer: programs with the shim do not wait for them.

use std::fs;
use std::io::Write;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use gapii_tests::artifacts::artifact;
use gapii_tests::attaching::run_idle;
use gapii_tests::gapii::Session;
use gapii_tests::headless;
use gapii_tests::process::{Running, send_signal};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::process::Signal;

/// The time that a program may take to start with a daemon that does not answer: 20 ms for the daemon, and the rest for
/// the program on a busy machine. A program that waits for the daemon takes 2 s.
const START: Duration = Duration::from_millis(1_000);
/// The time that any command of a running program may take. The shim waits 20 ms at most.
const COMMAND: Duration = Duration::from_millis(500);

/// The program of `headless`, with the shim and without a launch of `gapii-ctl`.
fn preloaded(session: &Session) -> Command {
    let mut process = headless::on_fake_driver(None);
    session.adopt(&mut process);
    process.env("LD_PRELOAD", artifact("libgapii.so"));
    process
}

/// A program that has run for a while.
fn left_alone(session: &Session) -> Running {
    let running = Running::start(&mut preloaded(session));
    // Attempts are a second apart: the program makes two more.
    sleep(Duration::from_millis(2_500));
    running
}

/// Ends a program: it has not waited for its daemon.
fn is_quick(running: Running) {
    let times = headless::end(running);
    println!("{times:?}");
    assert!(times.start <= START && times.longest <= COMMAND, "{times:?}");
}

#[test]
fn daemon_that_accepts_and_does_not_answer_delays_no_program() {
    let session = Session::new();
    fs::create_dir(session.path("gapii")).expect("a folder");
    let _listener = UnixListener::bind(session.path("gapii/app.sock")).expect("a socket");
    is_quick(left_alone(&session));
}

/// Daemons that answer with other bytes than a daemon's, with a few of them, and with none.
#[test]
fn daemon_that_answers_nonsense_delays_no_program() {
    const ANSWERS: [&[u8]; 3] = [&[0xff; 256], &[1; 8], &[]];
    let programs = ANSWERS.map(|answer| {
        let session = Session::new();
        fs::create_dir(session.path("gapii")).expect("a folder");
        let listener = UnixListener::bind(session.path("gapii/app.sock")).expect("a socket");
        let program = Running::start(&mut preloaded(&session));
        let (mut socket, _) = listener.accept().expect("it looks for a daemon");
        socket.write_all(answer).expect("it is there");
        let kept = (!answer.is_empty()).then_some(socket);
        (program, kept, listener, session)
    });
    sleep(Duration::from_millis(1_500));
    for (program, ..) in programs {
        is_quick(program);
    }
}

#[test]
fn daemon_with_a_full_queue_of_connections_delays_no_program() {
    let session = Session::new();
    fs::create_dir(session.path("gapii")).expect("a folder");
    let path = session.path("gapii/app.sock");
    let address = SocketAddrUnix::new(&path).expect("a short path");
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = || {
        rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
            .expect("a socket")
    };
    let listener = socket();
    rustix::net::bind(&listener, &address).expect("a free path");
    rustix::net::listen(&listener, 0).expect("a bound socket");
    let mut waiting = Vec::new();
    loop {
        let client = socket();
        match rustix::net::connect(&client, &address) {
            Ok(()) => waiting.push(client),
            Err(rustix::io::Errno::AGAIN) => break,
            Err(error) => panic!("{error}"),
        }
    }
    is_quick(left_alone(&session));
    assert!(!waiting.is_empty());
}

/// A daemon that stands still, and answers in the end: the program is connected then, without an EGL command.
#[test]
fn late_answer_of_a_stopped_daemon_is_taken() {
    let session = Session::new();
    let daemon = session.daemon(&[]);
    daemon.signal(Signal::STOP);
    let running = Running::start(&mut preloaded(&session));
    sleep(Duration::from_millis(300));
    daemon.signal(Signal::CONT);
    session.app_in_mode("idle");
    let times = headless::end(running);
    assert!(times.start <= START && times.longest <= COMMAND, "{times:?}");
}

/// A daemon that stops while programs are connected to it.
#[test]
fn daemon_that_stops_delays_no_connected_program() {
    let session = Session::new();
    let daemon = session.daemon(&[]);
    let running = run_idle(&session, &headless::on_fake_driver(None));
    send_signal(daemon.pid(), Signal::STOP);
    sleep(Duration::from_millis(1_500));
    let times = headless::end(running);
    send_signal(daemon.pid(), Signal::CONT);
    assert!(times.longest <= COMMAND, "{times:?}");
    // The daemon is as it was.
    UnixStream::connect(session.path("gapii/ctl.sock")).expect("the daemon listens");
}

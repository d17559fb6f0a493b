//! Hostile clients: each is answered or disconnected, and all other peers are served.

use crate::support;
use std::fs::File;
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use crate::support::{Client, Daemon, LIMIT, capture_of, sound};
use gapii_control::{
    ClientHello, Event, ExitedRequest, KeepRequest, MESSAGE_LEN_MAX, Request, SaveRequest,
    StartRequest, StopRequest, Target, code,
};
use gapii_trace::frame_rule::FrameRule;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::Signal;
use rustix::pty::OpenptFlags;

/// The daemon's handling of a connection.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fate {
    /// The client gets an error with this code, and the connection stays open.
    Answered(&'static str),
    /// The client gets an error with this code, and the connection is closed.
    Closed(&'static str),
    /// The connection is closed without an answer.
    Dropped,
}
use Fate::{Answered, Closed, Dropped};

fn framed(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_le_bytes(), body].concat()
}

fn hello(version_min: u16, version_max: u16) -> Vec<u8> {
    let hello = ClientHello { version_min, version_max, ..ClientHello::new("liar") };
    gapii_control::encode(&Request::Hello(hello)).unwrap()
}

/// First bytes on a connection, after which the client sends nothing.
pub fn first_words() -> Vec<(&'static str, Vec<u8>, Fate)> {
    let apps = gapii_control::encode(&Request::Apps).unwrap();
    vec![
        ("nothing", Vec::new(), Dropped),
        ("half a length", vec![1, 0], Dropped),
        ("half a message", [100, 0, 0, 0, 1].to_vec(), Dropped),
        ("message of no bytes", framed(b""), Answered(code::BAD_REQUEST)),
        (
            "message longer than any",
            (MESSAGE_LEN_MAX + 1).to_le_bytes().to_vec(),
            Closed(code::BAD_REQUEST),
        ),
        ("message of 4 GiB", u32::MAX.to_le_bytes().to_vec(), Closed(code::BAD_REQUEST)),
        ("HTTP", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(), Closed(code::BAD_REQUEST)),
        ("TLS", [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00].to_vec(), Closed(code::BAD_REQUEST)),
        ("request before the hello", apps, Closed(code::OUT_OF_TURN)),
        ("versions to come", hello(98, 99), Closed(code::VERSION)),
        ("versions long gone", hello(0, 0), Closed(code::VERSION)),
        ("versions that are no range", hello(9, 1), Closed(code::VERSION)),
    ]
}

/// Messages after the hello.
pub fn later_words() -> Vec<(&'static str, Vec<u8>, Fate)> {
    let request = |request: &Request| gapii_control::encode(request).unwrap();
    let start = |start: StartRequest| request(&Request::Start(start));
    let any = StartRequest::default;
    let many = "x".repeat(MESSAGE_LEN_MAX as usize - 100);
    let bad = Answered(code::BAD_REQUEST);
    vec![
        ("a second hello", hello(1, 2), Answered(code::OUT_OF_TURN)),
        ("byte that no message begins with", framed(&[0xC1]), bad),
        ("array in an array, very often", framed(&[0x91; 100_000]), bad),
        ("map in a map, very often", framed(&[0x81; 100_000]), bad),
        ("map of four thousand million", framed(&[0xDF, 0xFF, 0xFF, 0xFF, 0xFF]), bad),
        ("array of four thousand million", framed(&[0xDD, 0xFF, 0xFF, 0xFF, 0xFF]), bad),
        ("text of four thousand million", framed(&[0xDB, 0xFF, 0xFF, 0xFF, 0xFF]), bad),
        ("request that there is not", gapii_control::encode(&"Dance").unwrap(), bad),
        ("request with fields of other types", framed(b"\x81\xa5Start\x81\xa6frames\xa3abc"), bad),
        ("zeros", framed(&[0; 1000]), bad),
        ("start without an output", start(any()), Answered(code::NO_OUTPUT)),
        (
            "save without an output",
            request(&Request::Save(SaveRequest::default())),
            Answered(code::NO_OUTPUT),
        ),
        ("keeping of no frames", start(kept(0, 1)), bad),
        ("keyframes without end", start(kept(1, 0)), bad),
        (
            "keeping of all memory",
            start(StartRequest { target: Target::App("none".into()), ..kept(u64::MAX, u32::MAX) }),
            Answered(code::NO_APP),
        ),
        (
            "stop of what does not run",
            request(&Request::Stop(StopRequest::default())),
            Answered(code::NO_CAPTURE),
        ),
        (
            "stop of a name of a megabyte",
            request(&Request::Stop(StopRequest {
                target: Target::App(many),
                ..StopRequest::default()
            })),
            Answered(code::NO_CAPTURE),
        ),
    ]
}

/// Requests to start, each with an output.
pub fn starts() -> Vec<(&'static str, StartRequest, &'static str)> {
    let any = StartRequest::default;
    let of = |name: &str| Target::App(name.to_owned());
    vec![
        ("no frames", StartRequest { frames: Some(0), ..any() }, code::BAD_REQUEST),
        (
            "frames that end at two things",
            StartRequest { counts_submits: true, frame_rule: flushes(), ..any() },
            code::BAD_REQUEST,
        ),
        (
            "observed frames that no swap ends",
            StartRequest { observe_frames: Some(1), frame_rule: flushes(), ..any() },
            code::BAD_REQUEST,
        ),
        (
            "frames that end at no function",
            StartRequest { frame_rule: FrameRule(vec!["glflush".to_owned()]), ..any() },
            code::BAD_REQUEST,
        ),
        ("no time", StartRequest { seconds: Some(0.0), ..any() }, code::BAD_REQUEST),
        (
            "time that runs backwards",
            StartRequest { seconds: Some(-1.0), ..any() },
            code::BAD_REQUEST,
        ),
        (
            "time that is no number",
            StartRequest { seconds: Some(f64::NAN), ..any() },
            code::BAD_REQUEST,
        ),
        ("all time", StartRequest { seconds: Some(f64::INFINITY), ..any() }, code::BAD_REQUEST),
        (
            "observing every frame of none",
            StartRequest { observe_frames: Some(0), ..any() },
            code::BAD_REQUEST,
        ),
        ("application without a name", StartRequest { target: of(""), ..any() }, code::NO_APP),
        (
            "application that is a path",
            StartRequest { target: of("../../etc/passwd"), ..any() },
            code::NO_APP,
        ),
        (
            "application of control bytes",
            StartRequest { target: of("\0\x1b[2J\n"), ..any() },
            code::NO_APP,
        ),
    ]
}

fn flushes() -> FrameRule {
    FrameRule(vec!["glFlush".to_owned()])
}

fn kept(frames: u64, keyframe_every: u32) -> StartRequest {
    let keep = KeepRequest { frames, keyframe_every, bytes: u64::MAX };
    StartRequest { keep: Some(keep), ..StartRequest::default() }
}

fn connect(daemon: &Daemon) -> UnixStream {
    let socket = UnixStream::connect(daemon.path("ctl.sock")).unwrap();
    socket.set_read_timeout(Some(LIMIT)).unwrap();
    socket
}

/// Other clients and applications are served as before.
fn serves(daemon: &Daemon) {
    assert!(matches!(daemon.client().ask(&Request::Apps), Event::Apps(_)));
}

#[track_caller]
fn check(what: &str, socket: &mut UnixStream, fate: Fate) {
    let answer = gapii_control::read_message::<Event>(socket).unwrap();
    match (fate, answer) {
        (Answered(code) | Closed(code), Some(Event::Error(error))) => {
            assert_eq!(error.code, code, "{what}: {}", error.message);
            for text in [&error.message, &error.suggestion] {
                assert!(text.raw().len() < 2000, "{what}: {} bytes", text.raw().len());
            }
        }
        (Dropped, None) => {}
        (_, answer) => panic!("{what}: {answer:?}"),
    }
    if matches!(fate, Closed(_)) {
        assert_eq!(gapii_control::read_message::<Event>(socket).unwrap(), None, "{what}");
    }
}

#[test]
fn first_words_that_are_none_are_refused() {
    let daemon = Daemon::start(&[]);
    for (what, bytes, fate) in first_words() {
        let mut socket = connect(&daemon);
        socket.write_all(&bytes).unwrap();
        socket.shutdown(Shutdown::Write).unwrap();
        check(what, &mut socket, fate);
        serves(&daemon);
    }
}

#[test]
fn messages_that_are_none_are_errors_and_no_more() {
    let daemon = Daemon::start(&[]);
    let mut liar = daemon.client();
    for (what, bytes, fate) in later_words() {
        liar.socket.write_all(&bytes).unwrap();
        check(what, &mut liar.socket, fate);
        assert!(matches!(liar.ask(&Request::Apps), Event::Apps(_)), "{what}");
    }
    // Not answered, and without effect on other peers.
    let nobody = ExitedRequest { capture: u64::MAX, pid: Some(u32::MAX), signal: Some(-1) };
    liar.send(&Request::Exited(nobody));
    assert!(matches!(liar.ask(&Request::Apps), Event::Apps(_)));
}

#[test]
fn starts_of_nonsense_are_errors_and_no_more() {
    let daemon = Daemon::start(&[]);
    let _app = daemon.app();
    let mut liar = daemon.client();
    let file = tempfile::tempfile().unwrap();
    for (what, request, expected) in starts() {
        match liar.try_start(request, &file) {
            Event::Error(error) => assert_eq!(error.code, expected, "{what}: {}", error.message),
            other => panic!("{what}: {other:?}"),
        }
    }
    assert_eq!(file.metadata().unwrap().len(), 0);
}

/// Outputs that cannot be written to, or that no process reads.
pub fn outputs(daemon: &Daemon) -> Vec<(&'static str, OwnedFd)> {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let controller = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    rustix::pty::unlockpt(&controller).unwrap();
    let terminal = rustix::pty::ptsname(&controller, Vec::new()).unwrap();
    let terminal = File::options().read(true).write(true).open(terminal.to_str().unwrap()).unwrap();
    let epoll = rustix::event::epoll::create(rustix::event::epoll::CreateFlags::empty()).unwrap();
    vec![
        ("a folder", File::open(daemon.folder.path()).unwrap().into()),
        ("a file to read", File::open("/etc/passwd").unwrap().into()),
        ("a pipe without a reader", writer.into()),
        ("a full device", File::options().write(true).open("/dev/full").unwrap().into()),
        ("a socket of the daemon's", connect(daemon).into()),
        ("a set of events", epoll),
        ("a terminal", terminal.into()),
    ]
}

#[test]
fn outputs_that_take_nothing_end_their_captures_alone() {
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    for (what, output) in outputs(&daemon) {
        let mut liar = daemon.client();
        match liar.try_start(capture_of(Target::Only), &output) {
            Event::Error(_) => continue,
            Event::Started(_) => {}
            other => panic!("{what}: {other:?}"),
        }
        // The header and the end cannot be written, so no application needs to record anything.
        let ended = liar.stop(Target::Only);
        assert!(ended.summary.error.is_some(), "{what}: {:?}", ended.summary);
    }
    app.obey(&["idle"]);
    let file = tempfile::tempfile().unwrap();
    let mut client = daemon.client();
    client.start(capture_of(Target::Only), &file);
    app.obey(&["wait", "thread", "calls 100", "end 4", "retire"]);
    assert_eq!(client.ended().summary.calls, 100);
    sound(&file);
}

/// Sends bytes with this number of descriptors.
fn send_with(socket: &UnixStream, bytes: &[u8], count: usize) {
    let null = File::open("/dev/null").unwrap();
    let fds = vec![null.as_fd(); count];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(253))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    assert!(control.push(SendAncillaryMessage::ScmRights(&fds)));
    let sent = sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL);
    assert_eq!(sent.unwrap(), bytes.len());
}

#[test]
fn unrequested_descriptors_are_closed() {
    let daemon = Daemon::start(&[]);
    let open = daemon.open_descriptors();
    let apps = gapii_control::encode(&Request::Apps).unwrap();
    for count in [5, 253] {
        let mut liar = daemon.client();
        send_with(&liar.socket, &apps, count);
        check("more than any message has", &mut liar.socket, Closed(code::BAD_REQUEST));
    }
    for count in [1, 4] {
        let mut liar = daemon.client();
        for _ in 0..50 {
            send_with(&liar.socket, &apps, count);
            let answer = liar.receive();
            assert!(matches!(answer, Event::Apps(_)), "{count} descriptors: {answer:?}");
        }
    }
    // With a message that is never complete they accumulate, up to the limit.
    let mut liar = daemon.client();
    liar.socket.write_all(&1000_u32.to_le_bytes()).unwrap();
    send_with(&liar.socket, &[0], 4);
    send_with(&liar.socket, &[0], 4);
    check("descriptors beside nothing", &mut liar.socket, Closed(code::BAD_REQUEST));
    drop(liar);
    support::until("descriptors to be closed", || {
        (daemon.open_descriptors() <= open).then_some(())
    });
}

#[test]
fn client_that_does_not_listen_holds_up_itself_alone() {
    let daemon = Daemon::start(&[]);
    let liar = daemon.client();
    liar.socket.set_nonblocking(true).unwrap();
    let status = gapii_control::encode(&Request::Status).unwrap();
    let questions = status.repeat(1000);
    let mut sent = 0;
    while let Ok(count) = (&liar.socket).write(&questions) {
        sent += count;
        assert!(sent < 256 << 20, "questions are taken without end");
        serves(&daemon);
    }
    serves(&daemon);
    assert!(daemon.memory_kib() < 64 << 10, "{} KiB", daemon.memory_kib());
}

#[test]
fn client_that_does_not_listen_does_not_hold_up_the_daemon_s_end() {
    let mut daemon = Daemon::start(&[]);
    let liar = daemon.client();
    liar.socket.set_nonblocking(true).unwrap();
    let questions = gapii_control::encode(&Request::Status).unwrap().repeat(1000);
    // The daemon reads no more once it cannot answer.
    support::until("the answers to fill the socket", || {
        (&liar.socket).write(&questions).is_err().then_some(())
    });
    let told = Instant::now();
    daemon.signal(Signal::TERM);
    assert!(daemon.wait().success());
    assert!(told.elapsed() < Duration::from_secs(4), "{:?}", told.elapsed());
}

#[test]
fn first_message_that_is_not_understood_ends_the_connection() {
    let daemon = Daemon::start(&[]);
    let mut liar = connect(&daemon);
    liar.write_all(&framed(&[0xc1, 1, 2])).unwrap();
    check("no hello", &mut liar, Closed(code::BAD_REQUEST));
}

#[test]
fn silent_client_is_disconnected() {
    let daemon = Daemon::start(&[]);
    let mut silent = connect(&daemon);
    check("silence", &mut silent, Closed(code::OUT_OF_TURN));
    // A client that has sent its hello may be silent.
    let mut client = daemon.client();
    client.socket.set_nonblocking(true).unwrap();
    assert_eq!(client.socket.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    let Event::Status(status) = daemon.client().ask(&Request::Status) else { panic!("a status") };
    assert_eq!(status.rejected.ctl_timeouts, 1);
}

#[test]
fn clients_captures_and_saves_have_bounds() {
    let daemon = Daemon::start(&["--max-clients", "3", "--max-captures", "2"]);
    let clients: Vec<Client> = (0..3).map(|_| daemon.client()).collect();
    let mut more = connect(&daemon);
    more.write_all(&hello(1, 2)).unwrap();
    check("a client more", &mut more, Closed(code::TOO_MANY));
    drop(clients);
    let launch = |byte| capture_of(Target::Launch([byte; 16]));
    let mut client = support::until("room for a client", || Client::try_greet(connect(&daemon)));
    let file = tempfile::tempfile().unwrap();
    let mut start = |byte| {
        let mut answer = client.try_start(launch(byte), &file);
        while let Event::Progress(_) = answer {
            answer = client.receive();
        }
        answer
    };
    assert!(matches!(start(1), Event::Started(_)));
    assert!(matches!(start(2), Event::Started(_)));
    match start(3) {
        Event::Error(error) => assert_eq!(error.code, code::TOO_MANY, "{}", error.message),
        other => panic!("a third capture: {other:?}"),
    }
}

#[test]
fn saves_into_pipes_that_nobody_reads_have_bounds_and_end_with_their_clients() {
    const OF_CLIENT: usize = 4;
    const OF_ALL: usize = 64;
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let mut keeper = daemon.client();
    assert!(matches!(keeper.ask(&Request::Start(kept(100, 10))), Event::Started(_)));
    app.obey(&["wait", "thread", "frames 10 10"]);
    let save = Request::Save(SaveRequest::default());
    let file = tempfile::tempfile().unwrap();
    support::until("a frame to be kept", || {
        keeper.send_with(&save, &file);
        matches!(keeper.receive(), Event::Saved(_)).then_some(())
    });
    let (before, mut readers) = (daemon.threads(), Vec::new());
    let mut stuck = |client: &mut Client, count| {
        for _ in 0..count {
            let (reader, writer) = support::full_pipe();
            client.send_with(&save, writer);
            readers.push(reader);
        }
    };
    let refused = |client: &mut Client| match client.receive() {
        Event::Error(error) => assert_eq!(error.code, code::TOO_MANY, "{}", error.message),
        other => panic!("one more save: {other:?}"),
    };
    let mut clients: Vec<Client> = (0..OF_ALL / OF_CLIENT).map(|_| daemon.client()).collect();
    stuck(&mut clients[0], OF_CLIENT + 1);
    refused(&mut clients[0]);
    for client in &mut clients[1..] {
        stuck(client, OF_CLIENT);
        serves(&daemon);
    }
    keeper.send_with(&save, &file);
    refused(&mut keeper);
    assert!(daemon.threads() <= before + OF_ALL, "{} threads", daemon.threads());
    drop(clients);
    support::until("the stuck saves to end", || (daemon.threads() <= before).then_some(()));
    keeper.send_with(&save, tempfile::tempfile().unwrap());
    assert!(matches!(keeper.receive(), Event::Saved(_)));
}

//! Peers that may connect, peers that are refused, and that neither cost other connections anything.

use crate::support;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use crate::support::{Daemon, LIMIT};
use gapii_abi::app::{AppHello, HELLO_LEN, HelloReply, REPLY_LEN, reply_status};
use gapii_control::{
    CTL_VERSION_MAX, ClientHello, Event, MESSAGE_LEN_MAX, Rejected, Request, code,
};

fn rejected(daemon: &Daemon) -> Rejected {
    match daemon.client().ask(&Request::Status) {
        Event::Status(status) => status.rejected,
        other => panic!("not a status: {other:?}"),
    }
}

fn connect(daemon: &Daemon, socket: &str) -> UnixStream {
    let socket = UnixStream::connect(daemon.path(socket)).unwrap();
    socket.set_read_timeout(Some(LIMIT)).unwrap();
    socket
}

#[test]
fn foreign_application_is_refused_and_counted() {
    let daemon = Daemon::start(&[]);
    let mut later = AppHello::new(1);
    (later.version_min, later.version_max) = (7, 9);
    let cases = [
        ([b'x'; HELLO_LEN], reply_status::NOT_ALLOWED),
        ([0; HELLO_LEN], reply_status::NOT_ALLOWED),
        (later.to_bytes(), reply_status::VERSION),
    ];
    for (hello, status) in cases {
        let mut socket = connect(&daemon, "app.sock");
        socket.write_all(&hello).unwrap();
        let mut bytes = [0; REPLY_LEN];
        socket.read_exact(&mut bytes).unwrap();
        let reply = HelloReply::from_bytes(&bytes).unwrap();
        assert_eq!((reply.status, reply.segment_bytes), (status, 0));
        assert_eq!(socket.read(&mut bytes).unwrap(), 0);
    }
    let rejected = rejected(&daemon);
    assert_eq!((rejected.app_hellos, rejected.app_versions), (2, 1));
}

#[test]
fn half_a_hello_is_dropped_after_a_while() {
    let daemon = Daemon::start(&[]);
    let mut socket = connect(&daemon, "app.sock");
    socket.write_all(b"GAPIIAPP").unwrap();
    assert_eq!(socket.read(&mut [0]).unwrap(), 0);
    assert_eq!(rejected(&daemon).app_timeouts, 1);
}

#[test]
fn more_applications_than_allowed_are_refused() {
    let daemon = Daemon::start(&["--max-apps", "1"]);
    let _app = daemon.app();
    let mut socket = connect(&daemon, "app.sock");
    socket.write_all(&AppHello::new(1).to_bytes()).unwrap();
    let mut bytes = [0; REPLY_LEN];
    socket.read_exact(&mut bytes).unwrap();
    assert_eq!(HelloReply::from_bytes(&bytes).unwrap().status, reply_status::TOO_MANY);
}

#[test]
fn process_that_says_hello_again_and_again_has_the_descriptors_of_one_connection() {
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let before = daemon.open_descriptors();
    app.obey(&["hellos 500"]);
    support::until("the former connections to be closed", || {
        (daemon.open_descriptors() <= before).then_some(())
    });
    let Event::Apps(apps) = daemon.client().ask(&Request::Apps) else { panic!("apps") };
    assert_eq!(apps.iter().map(|app| app.pid).collect::<Vec<_>>(), [app.pid()]);
}

#[test]
fn foreign_client_is_told_and_dropped() {
    let daemon = Daemon::start(&[]);
    let too_long = (MESSAGE_LEN_MAX + 1).to_le_bytes();
    let unasked = gapii_control::encode(&Request::Apps).unwrap();
    let (version_min, version_max) = (CTL_VERSION_MAX + 1, CTL_VERSION_MAX + 3);
    let later = ClientHello { version_min, version_max, ..ClientHello::new("later") };
    let later = gapii_control::encode(&Request::Hello(later)).unwrap();
    let cases = [
        (&b"GET / HTTP/1.1\r\n\r\n"[..], code::BAD_REQUEST),
        (&too_long, code::BAD_REQUEST),
        (&unasked, code::OUT_OF_TURN),
        (&later, code::VERSION),
    ];
    for (bytes, expected) in cases {
        let mut socket = connect(&daemon, "ctl.sock");
        socket.write_all(bytes).unwrap();
        match gapii_control::read_message(&mut socket).unwrap() {
            Some(Event::Error(error)) => assert_eq!(error.code, expected),
            other => panic!("not refused: {other:?}"),
        }
        assert_eq!(gapii_control::read_message::<Event>(&mut socket).unwrap(), None);
    }
    assert_eq!((rejected(&daemon).ctl_messages, rejected(&daemon).ctl_peers), (2, 2));
}

#[test]
fn request_that_is_not_understood_is_an_error_and_no_more() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client();
    client.socket.write_all(&gapii_control::encode(&"Dance").unwrap()).unwrap();
    assert!(matches!(client.receive(), Event::Error(error) if error.code == code::BAD_REQUEST));
    assert!(matches!(client.ask(&Request::Apps), Event::Apps(_)));
}

#[test]
fn idle_application_costs_no_thread() {
    let daemon = Daemon::start(&[]);
    let before = daemon.threads();
    let mut app = daemon.app();
    app.obey(&["idle"]);
    assert_eq!(daemon.threads(), before);
}

#[test]
fn application_is_listed_until_it_is_gone() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client();
    let mut app = daemon.app();
    let Event::Apps(apps) = client.ask(&Request::Apps) else { panic!("apps are asked for") };
    assert_eq!((apps[0].pid, apps[0].name.raw()), (app.pid(), "fake-app"));
    assert_eq!(apps[0].apis, ["egl", "gl"]);
    app.tell("kill");
    support::until("the application to be gone", || {
        let Event::Apps(apps) = client.ask(&Request::Apps) else { return None };
        apps.is_empty().then_some(())
    });
}

#[test]
fn second_daemon_refuses_to_start() {
    let daemon = Daemon::start(&[]);
    let said = daemon.rival();
    assert!(said.contains("another gapiid serves"), "{said}");
    assert!(matches!(daemon.client().ask(&Request::Apps), Event::Apps(_)));
}

#[test]
fn private_daemon_ends_with_its_parent() {
    let mut daemon = Daemon::start(&[]);
    daemon.close_stdin();
    assert!(daemon.wait().success());
    assert!(!daemon.path("ctl.sock").exists());
}

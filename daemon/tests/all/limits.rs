//! Resources that run out: disk space, descriptors, memory. Each is reported, and what was recorded is sound.

use crate::support;
use std::io::Read;
use std::os::unix::net::UnixStream;

use crate::support::{Daemon, capture_of, sound};
use gapii_abi::app::{HelloReply, REPLY_LEN, reply_status};
use gapii_control::{ClientHello, Event, KeepRequest, Request, StartRequest, Target, code};

#[test]
fn full_device_ends_the_capture_with_an_error() {
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let mut client = daemon.client();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    client.start(capture_of(Target::Only), &full);
    app.obey(&["thread", "calls 10", "idle", "end 2"]);
    let error = client.ended().summary.error.expect("nothing can be written");
    assert!(error.raw().contains("No space left on device"), "{error}");
    let Event::Apps(apps) = client.ask(&Request::Apps) else { panic!("apps are asked for") };
    assert_eq!(apps[0].mode, "idle");
}

/// Captures into a file that may have `room` bytes behind its header, or a little less.
fn check_room(room: u64) {
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    client.start(capture_of(Target::Only), &file);
    app.obey(&["wait", "thread", "calls 1000"]);
    let some = support::until("the header to be written", || {
        let Event::Status(status) = daemon.client().ask(&Request::Status) else { return None };
        Some(status.captures[0].progress.file_bytes).filter(|&bytes| bytes > 0)
    });
    daemon.limit_files(some + room);
    app.obey(&["frames 250 1000", "idle", "end 2"]);
    let summary = client.ended().summary;
    assert!(summary.error.is_some_and(|error| error.raw().contains("File too large")));
    let footer = sound(&file).footer().cloned().unwrap_or_else(|| panic!("{room}: no footer"));
    assert!(footer.lost.records > 0, "{room}: {:?}", footer.totals);
    let [thread] = &footer.threads[..] else { panic!("one thread records") };
    assert_eq!(thread.produced, thread.emitted + thread.lost);
}

#[test]
fn file_that_may_not_grow_says_what_it_lacks_wherever_its_room_ends() {
    for room in (1..=4).map(|quarter| quarter * (4 << 10) + 300 * quarter) {
        check_room(room);
    }
}

#[test]
fn peer_without_a_free_descriptor_is_told_and_captures_continue() {
    let daemon = Daemon::serving(&["--max-clients", "4096"], &[]);
    let mut app = daemon.app();
    let (mut client, mut other) = (daemon.client(), daemon.client());
    let file = tempfile::tempfile().unwrap();
    client.start(capture_of(Target::Only), &file);
    app.obey(&["wait", "thread", "calls 100"]);
    daemon.limit_descriptors();

    // Some descriptors below the limit are still free.
    let mut guests = Vec::new();
    let error = loop {
        let mut late = UnixStream::connect(daemon.path("ctl.sock")).unwrap();
        let hello = Request::Hello(ClientHello::new("late"));
        gapii_control::write_message(&mut late, &hello).unwrap();
        match gapii_control::read_message(&mut late).unwrap() {
            Some(Event::Hello(_)) => guests.push(late),
            Some(Event::Error(error)) => break error,
            said => panic!("{said:?}"),
        }
    };
    assert!(
        error.code == code::TOO_MANY && error.suggestion.raw().contains("ulimit -n"),
        "{error:?}"
    );
    let mut late = UnixStream::connect(daemon.path("app.sock")).unwrap();
    let mut reply = [0; REPLY_LEN];
    late.read_exact(&mut reply).unwrap();
    assert_eq!(HelloReply::from_bytes(&reply).unwrap().status, reply_status::TOO_MANY);
    // The output of a client that is connected already does not arrive.
    let refused = other.try_start(capture_of(Target::Only), tempfile::tempfile().unwrap());
    assert!(matches!(refused, Event::Error(error) if error.suggestion.raw().contains("ulimit -n")));
    let Event::Status(_) = other.ask(&Request::Status) else { panic!("it goes on") };
    assert!(daemon.log().contains("cannot be accepted: Too many open files"), "{}", daemon.log());

    app.obey(&["calls 100", "end 4", "retire"]);
    let summary = client.ended().summary;
    assert_eq!((summary.calls, summary.error), (200, None));
    assert!(sound(&file).footer().is_some());
}

#[test]
fn capture_that_holds_most_of_the_memory_ends_and_others_go_on() {
    let daemon = Daemon::serving(&["--memory", "32M"], &[]);
    let (mut kept, mut app) = (daemon.app(), daemon.app());
    let (mut keeper, mut client) = (daemon.client(), daemon.client());
    let file = tempfile::tempfile().unwrap();
    client.start(capture_of(Target::App(app.pid().to_string())), &file);
    app.obey(&["wait", "thread", "calls 100"]);
    let keep =
        KeepRequest { frames: u64::from(u32::MAX), bytes: 1 << 30, ..KeepRequest::default() };
    let target = Target::App(kept.pid().to_string());
    let request = StartRequest { keep: Some(keep), ..capture_of(target) };
    assert!(matches!(keeper.ask(&Request::Start(request)), Event::Started(_)));
    kept.obey(&["wait", "thread"]);
    support::until("the memory to be used up", || {
        kept.obey(&["frames 1000 10"]);
        daemon.log().contains("capture 2, which holds most of them, ends").then_some(())
    });

    app.obey(&["calls 100", "end 4", "retire"]);
    let summary = client.ended().summary;
    assert_eq!((summary.calls, summary.error), (200, None));
    assert!(sound(&file).footer().is_some());
}

//! Whole captures: everything that an application records is in the trace, no matter which process ends first.

use crate::support;
use std::io::Read;
use std::time::{Duration, Instant};

use crate::support::{App, Client, Daemon, capture_of, sound, until};
use gapii_abi::atom::{EndReason, GapCause};
use gapii_control::{
    Event, ExitedRequest, KeepRequest, Overflow, Request, StartRequest, StopRequest, Target, code,
};
use gapii_trace::Footer;
use gapii_trace::filter::Filter;
use rustix::process::Signal;

/// Returns the footer of a sound trace that has every record of every thread.
fn complete_footer(file: &std::fs::File) -> Footer {
    let footer = sound(file).footer().cloned().expect("a finished trace has a footer");
    for thread in &footer.threads {
        assert_eq!((thread.emitted, thread.lost), (thread.produced, 0), "{thread:?}");
    }
    footer
}

fn stop(client: &mut Client) {
    client.send(&Request::Stop(StopRequest { target: Target::All, ..StopRequest::default() }));
}

#[test]
fn attached_capture_ends_with_its_frames() {
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    let request = StartRequest { frames: Some(3), ..capture_of(Target::Only) };
    let started = client.start(request, &file);
    assert_eq!(started.apps[0].pid, app.pid());
    app.obey(&["wait", "thread", "frames 3 10", "end 1"]);
    let summary = client.ended().summary;
    assert_eq!((summary.reason.as_str(), summary.frames, summary.calls), ("frames", 3, 33));
    assert_eq!(summary.error, None);
    assert_eq!(summary.file_bytes, file.metadata().unwrap().len());

    let footer = complete_footer(&file);
    assert_eq!(footer.reason, EndReason::Frames);
    // Thread, context and end, and per frame ten commands and the two records of a swap.
    assert_eq!(footer.threads[0].produced, 3 + 3 * 12);
    let mut reader = sound(&file);
    let mut commands = reader.commands().unwrap();
    let mut frames = Vec::new();
    while let Some(command) = commands.next_command().unwrap() {
        assert_eq!((command.pid, command.tid, command.context), (app.pid(), app.pid(), 0xC0));
        frames.push(command.frame);
    }
    assert_eq!(frames.len(), 33);
    assert_eq!((frames[10], frames[11], frames[32]), (0, 1, 2));
    app.obey(&["idle"]);
}

#[test]
fn filtered_capture_accounts_for_what_it_leaves_out() {
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    let functions = vec!["gl*Clear*".to_owned()];
    let filter = Filter { functions, ..Filter::default() };
    let request = StartRequest { filter: filter.clone(), ..capture_of(Target::Only) };
    client.start(request.clone(), &file);
    app.obey(&["wait", "thread", "frames 3 10"]);
    stop(&mut client);
    app.obey(&["idle", "end 2"]);
    let summary = client.ended().summary;
    assert_eq!((summary.reason.as_str(), summary.frames, summary.calls), ("stop", 3, 3));
    let reader = sound(&file);
    assert_eq!(reader.header().filter, filter);
    let footer = reader.footer().unwrap();
    assert_eq!(footer.options.filter, filter);
    let [thread] = &footer.threads[..] else { panic!("{:?}", footer.threads) };
    assert_eq!((thread.emitted, thread.lost, thread.left_out), (3 + 3 * 2, 0, 30));

    let wrong = Filter { functions: vec!["glclear".to_owned()], ..Filter::default() };
    for (request, word) in [
        (StartRequest { filter: wrong, ..request.clone() }, "glclear"),
        (StartRequest { keep: Some(KeepRequest::default()), ..request }, "kept"),
    ] {
        let Event::Error(error) = client.try_start(request, &file) else { panic!("it started") };
        assert_eq!(error.code, code::BAD_REQUEST);
        assert!(error.message.raw().contains(word), "{error}");
    }
}

#[test]
fn applications_are_listed_with_their_counts() {
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let mut client = daemon.client();
    let mut other = daemon.client();
    let file = tempfile::tempfile().unwrap();
    client.start(capture_of(Target::Only), &file);
    app.obey(&["wait", "thread", "frames 3 10", "drop 5"]);
    let counts = until("all calls to be counted", || {
        let Event::Apps(apps) = other.ask(&Request::Apps) else { panic!() };
        apps[0].counts.filter(|counts| counts.calls == 33)
    });
    assert_eq!((counts.lost_calls, counts.lost_bytes, counts.waits), (5, 160, 0));
    assert!(counts.ring_bytes > 30 * 28, "{counts:?}");
    stop(&mut client);
    app.obey(&["idle", "end 2"]);
    client.ended();
    // They belong to the program and stay.
    let Event::Apps(apps) = other.ask(&Request::Apps) else { panic!() };
    assert_eq!(apps[0].counts.unwrap().calls, 33);
}

#[test]
fn stop_waits_for_the_hooks_and_keeps_everything() {
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    client.start(capture_of(Target::App(app.pid().to_string())), &file);
    app.obey(&["wait", "thread", "frames 5 1000"]);
    stop(&mut client);
    app.obey(&["idle", "calls 7", "end 2"]);
    let summary = client.ended().summary;
    assert_eq!((summary.reason.as_str(), summary.calls), ("stop", 5 * 1001 + 7));
    complete_footer(&file);
}

#[test]
fn application_that_does_not_answer_a_stop_is_not_waited_for() {
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    client.start(capture_of(Target::Only), &file);
    app.obey(&["wait", "thread", "calls 5"]);
    stop(&mut client);
    assert_eq!(client.ended().summary.calls, 5);
    complete_footer(&file);
}

#[test]
fn second_capture_of_a_process_has_none_of_the_first() {
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let mut client = daemon.client();
    for calls in [5, 9] {
        let file = tempfile::tempfile().unwrap();
        client.start(capture_of(Target::Only), &file);
        app.obey(&["wait", "thread", &format!("calls {calls}"), "end 4", "retire"]);
        assert_eq!(client.ended().summary.calls, calls);
        let footer = complete_footer(&file);
        assert_eq!((footer.reason, footer.threads.len()), (EndReason::Exit, 1));
        // Records that no capture wants are in no trace.
        app.obey(&["idle", "thread", "calls 3", "retire"]);
    }
}

#[test]
fn small_ring_goes_round_many_times_without_a_loss() {
    let daemon = Daemon::start(&["--ring-size", "64K"]);
    let mut app = daemon.app();
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    client.start(capture_of(Target::Only), &file);
    app.obey(&["wait", "thread", "frames 100 1000", "end 4"]);
    let summary = client.ended().summary;
    assert_eq!((summary.calls, summary.lost.calls), (100_100, 0));
    let footer = complete_footer(&file);
    assert_eq!(footer.totals.frames, 100);
}

#[test]
fn threads_that_come_and_go_share_slots_and_keep_their_accounts() {
    let daemon = Daemon::start(&["--slots", "2"]);
    let mut app = daemon.app();
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    client.start(capture_of(Target::Only), &file);
    app.obey(&["wait"]);
    for _ in 0..6 {
        // A slot is free again once its last owner's records are in the file.
        app.obey(&["thread", "calls 4", "retire"]);
    }
    app.obey(&["thread", "end 4"]);
    assert_eq!(client.ended().summary.calls, 24);
    let footer = complete_footer(&file);
    assert_eq!(footer.threads.len(), 7);
}

#[test]
fn dropped_commands_are_in_the_ledger_with_or_without_gap_record() {
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    let request = StartRequest { overflow: Overflow::Drop, ..capture_of(Target::Only) };
    client.start(request, &file);
    app.obey(&["wait", "thread", "calls 5", "drop 3", "calls 5", "drop-silently 4", "end 4"]);
    let summary = client.ended().summary;
    assert_eq!((summary.calls, summary.lost.calls, summary.lost.bytes), (10, 7, 7 * 32));
    let footer = sound(&file).footer().cloned().unwrap();
    let [thread] = &footer.threads[..] else { panic!("one thread records") };
    assert_eq!((thread.produced, thread.emitted, thread.lost), (21, 14, 7));
    let gaps: Vec<_> = footer.gaps.iter().map(|gap| (gap.records, gap.cause)).collect();
    assert_eq!(gaps, [(3, GapCause::Dropped), (4, GapCause::Dropped)]);
}

#[test]
fn many_processes_of_a_launch_follow_each_other() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    let launch = [9; 16];
    let capture = client.start(capture_of(Target::Launch(launch)), &file).capture;
    for calls in 1..=5 {
        let mut app = daemon.launched_app(launch);
        app.obey(&["wait", "thread", &format!("calls {calls}"), "end 4", "idle"]);
    }
    client.send(&Request::Exited(ExitedRequest { pid: None, capture, signal: None }));
    let summary = client.ended().summary;
    assert_eq!((summary.reason.as_str(), summary.processes, summary.calls), ("exit", 5, 15));
    complete_footer(&file);
}

#[test]
fn killed_application_leaves_its_command_in_flight() {
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    client.start(capture_of(Target::Only), &file);
    app.obey(&["wait", "thread", "calls 100", "enter"]);
    app.tell("kill");
    app.wait();
    // The daemon tells its progress four times a second, so these count how long it takes to say so: there is no silence.
    let mut before = 0;
    let summary = loop {
        match client.receive() {
            Event::Ended(ended) => break ended.summary,
            Event::Progress(_) => before += 1,
            other => panic!("not an end: {other:?}"),
        }
    };
    assert!(before <= 4, "{before} messages before the end was told");
    assert_eq!(summary.reason, "crash");
    assert_eq!(summary.in_flight[0].tid, app.pid());
    let footer = complete_footer(&file);
    assert_eq!((footer.totals.calls, footer.in_flight.len()), (101, 1));
}

#[test]
fn application_killed_between_commands_has_crashed_with_its_signal() {
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    client.start(capture_of(Target::Only), &file);
    app.obey(&["wait", "thread", "calls 100"]);
    app.tell("kill");
    // By the kernel's account: nobody else tells the daemon.
    let summary = client.ended().summary;
    assert_eq!((summary.reason.as_str(), summary.signal), ("crash", Some(9)));
    assert_eq!(complete_footer(&file).totals.calls, 100);
}

#[test]
fn application_that_becomes_another_program_leaves_the_capture() {
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    client.start(capture_of(Target::Only), &file);
    app.obey(&["wait", "thread", "calls 100"]);
    app.tell("exec");
    let summary = client.ended().summary;
    assert_eq!((summary.reason.as_str(), summary.calls), ("exit", 100));
    complete_footer(&file);
}

#[test]
fn launched_processes_are_captured_from_their_first_call() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    let launch = [7; 16];
    let started = client.start(capture_of(Target::Launch(launch)), &file);
    assert!(started.apps.is_empty());
    let (mut first, mut second) = (daemon.launched_app(launch), daemon.launched_app(launch));
    let mut other = daemon.app();
    other.obey(&["idle"]);
    first.obey(&["wait", "thread", "frames 1 2"]);
    second.obey(&["wait", "thread", "frames 2 2", "end 4"]);
    first.tell("kill");
    first.wait();
    client.send(&Request::Exited(ExitedRequest {
        pid: None,
        capture: started.capture,
        signal: Some(9),
    }));
    let summary = client.ended().summary;
    assert_eq!((summary.reason.as_str(), summary.signal), ("crash", Some(9)));
    assert_eq!((summary.processes, summary.frames), (2, 3));
    assert_eq!(complete_footer(&file).processes.len(), 2);
}

#[test]
fn launched_process_that_runs_already_is_captured_and_others_are_not() {
    let daemon = Daemon::start(&[]);
    let launch = [6; 16];
    let (mut first, mut other) = (daemon.launched_app(launch), daemon.app());
    other.obey(&["idle"]);
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    let started = client.start(capture_of(Target::Launch(launch)), &file);
    assert_eq!(started.apps.iter().map(|app| app.pid).collect::<Vec<_>>(), [first.pid()]);
    first.obey(&["wait", "thread", "frames 1 2", "end 4", "idle"]);
    let mut second = daemon.launched_app(launch);
    second.obey(&["wait", "thread", "frames 2 2", "end 4", "idle"]);
    let capture = started.capture;
    client.send(&Request::Exited(ExitedRequest { pid: None, capture, signal: None }));
    let summary = client.ended().summary;
    assert_eq!((summary.processes, summary.frames), (2, 3));
    complete_footer(&file);
}

#[test]
fn launched_program_that_exits_ends_the_capture() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    let started = client.start(capture_of(Target::Launch([8; 16])), &file);
    client.send(&Request::Exited(ExitedRequest {
        pid: None,
        capture: started.capture,
        signal: None,
    }));
    assert_eq!(client.ended().summary.reason, "exit");
    assert_eq!(complete_footer(&file).totals.calls, 0);
}

#[test]
fn time_limit_stops_a_capture() {
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    client.start(StartRequest { seconds: Some(0.05), ..capture_of(Target::All) }, &file);
    app.obey(&["wait", "thread", "calls 1", "idle", "end 2"]);
    assert_eq!(client.ended().summary.reason, "stop");
    complete_footer(&file);
}

#[test]
fn time_limit_does_not_count_while_the_first_snapshot_is_written() {
    const LIMIT: Duration = Duration::from_millis(300);
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    let seconds = Some(LIMIT.as_secs_f64());
    client.start(StartRequest { seconds, ..capture_of(Target::All) }, &file);
    app.obey(&["wait", "thread", "describe"]);
    std::thread::sleep(LIMIT * 3);
    let described = Instant::now();
    app.obey(&["described", "calls 5", "idle", "end 2"]);
    assert!(described.elapsed() > LIMIT - LIMIT / 10, "{:?}", described.elapsed());
    let summary = client.ended().summary;
    assert_eq!((&*summary.reason, summary.calls, summary.snapshot), ("stop", 6, true));
}

#[test]
fn client_that_leaves_stops_its_capture() {
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    client.start(capture_of(Target::Only), &file);
    app.obey(&["wait", "thread", "calls 10"]);
    drop(client);
    app.obey(&["idle", "end 2"]);
    let mut other = daemon.client();
    support::until("the capture to end", || {
        let Event::Status(status) = other.ask(&Request::Status) else { return None };
        status.captures.is_empty().then_some(())
    });
    let footer = complete_footer(&file);
    assert_eq!((footer.reason, footer.totals.calls), (EndReason::Stop, 10));
}

#[test]
fn terminated_daemon_finishes_its_traces() {
    let mut daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    client.start(capture_of(Target::Only), &file);
    app.obey(&["wait", "thread", "calls 10"]);
    daemon.signal(Signal::TERM);
    assert_eq!(client.ended().summary.reason, "shutdown");
    assert!(daemon.wait().success());
    assert_eq!(complete_footer(&file).reason, EndReason::Shutdown);
    assert!(!daemon.path("app.sock").exists());
}

#[test]
fn trace_goes_through_a_pipe() {
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let mut client = daemon.client();
    let (mut reader, writer) = std::io::pipe().unwrap();
    client.start(capture_of(Target::Only), &writer);
    drop(writer);
    app.obey(&["wait", "thread", "frames 20 1000", "end 4"]);
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).unwrap();
    assert_eq!(client.ended().summary.calls, 20_020);
    let mut file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut file, &bytes).unwrap();
    complete_footer(&file);
}

#[test]
fn reader_that_leaves_stops_the_capture() {
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let mut client = daemon.client();
    let (reader, writer) = std::io::pipe().unwrap();
    client.start(capture_of(Target::Only), &writer);
    drop((reader, writer));
    app.obey(&["thread", "calls 10", "idle", "end 2"]);
    let summary = client.ended().summary;
    assert_eq!(summary.error, Some("the reader of the output is gone".into()));
}

#[test]
fn ring_that_breaks_a_rule_is_refused_and_the_others_go_on() {
    let daemon = Daemon::start(&[]);
    let (mut liar, mut app) = (daemon.app(), daemon.app());
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    client.start(capture_of(Target::All), &file);
    liar.obey(&["wait", "thread", "calls 5", "record 0xff10 0 24", "calls 5"]);
    app.obey(&["wait", "thread", "calls 1000", "end 4"]);
    liar.tell("kill");
    let summary = client.ended().summary;
    assert_eq!(summary.calls, 1005);
    let footer = sound(&file).footer().cloned().unwrap();
    assert_eq!((footer.refused.len(), footer.lost.records), (1, 6));
    assert_eq!(footer.refused[0].why, "reserved-id");
}

/// Captures an application that carries out orders. Returns the trace's footer.
fn captured(daemon: &Daemon, app: &mut App, orders: &[&str]) -> Footer {
    let file = tempfile::tempfile().unwrap();
    let mut client = daemon.client();
    client.start(capture_of(Target::Only), &file);
    app.obey(&["wait", "thread"]);
    app.obey(orders);
    app.obey(&["retire", "thread", "end 4", "retire"]);
    client.ended();
    sound(&file).footer().cloned().expect("a finished trace has a footer")
}

/// Returns the number of blobs of a trace, and of bytes that it lacks because a store lacks them.
fn blobs_and_lack(footer: &Footer) -> (u64, u64) {
    let lacking = footer.gaps.iter().filter(|gap| gap.cause == GapCause::Store);
    (footer.totals.memory.blobs, lacking.map(|gap| gap.bytes).sum())
}

#[test]
fn contents_sent_for_the_store_are_in_later_captures() {
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let first = captured(&daemon, &mut app, &["send a", "send b"]);
    assert_eq!(blobs_and_lack(&first), (2, 0));
    for _ in 0..2 {
        let footer = captured(&daemon, &mut app, &["name b", "calls 5", "name a"]);
        assert_eq!((blobs_and_lack(&footer), footer.missing.len()), ((2, 0), 0));
    }
    let footer = captured(&daemon, &mut app, &["name a", "name c"]);
    assert_eq!((blobs_and_lack(&footer), footer.lost.bytes), ((1, 60_000), 60_000));
    assert!(footer.missing[0].raw().contains("the daemon has lost them"), "{:?}", footer.missing);
    // The store has nothing for another application.
    let mut other = daemon.app();
    drop(app);
    support::until("the first one to be gone", || {
        let Event::Apps(apps) = daemon.client().ask(&Request::Apps) else { return None };
        (apps.len() == 1).then_some(())
    });
    assert_eq!(blobs_and_lack(&captured(&daemon, &mut other, &["name a"])), (0, 60_000));
}

#[test]
fn store_that_could_not_be_written_is_emptied_before_the_next_capture() {
    let daemon = Daemon::start(&[]);
    let mut app = daemon.app();
    let sent = ["send a", "send b", "send c", "send d", "send e", "send f", "send g", "send h"];
    daemon.limit_files(200 << 10);
    assert_eq!(blobs_and_lack(&captured(&daemon, &mut app, &sent)), (8, 0));
    let again = captured(&daemon, &mut app, &["name a", "send b"]);
    assert_eq!(blobs_and_lack(&again), (1, 60_000));
    let footer = captured(&daemon, &mut app, &["name b"]);
    assert_eq!(blobs_and_lack(&footer), (1, 0));
}

#[test]
fn ring_that_names_more_than_there_can_be_is_refused() {
    let some = (4 << 20) / 60_000 + 1;
    for (size, order, most) in [("1M", "name-much a", some), ("0", "name a", 1)] {
        let daemon = Daemon::start(&["--keep-contents", size]);
        let mut app = daemon.app();
        let footer = captured(&daemon, &mut app, &["send a", order]);
        // The slot's next thread, if it gets the slot in time, writes into a ring that is refused already.
        let [refused, ..] = &footer.refused[..] else { panic!("{order}: {:?}", footer.refused) };
        assert!(refused.why.raw().contains("the daemon's store"), "{refused:?}");
        assert!((1..=most).contains(&footer.totals.memory.blobs), "{order}: {:?}", footer.totals);
    }
}

#[test]
fn start_of_nothing_or_of_too_much_is_an_error() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    let refused =
        |client: &mut Client, request: StartRequest| match client.try_start(request, &file) {
            Event::Error(error) => error.code,
            other => panic!("not refused: {other:?}"),
        };
    assert_eq!(refused(&mut client, capture_of(Target::Only)), code::NO_APP);
    let (mut one, _two) = (daemon.app(), daemon.app());
    assert_eq!(refused(&mut client, capture_of(Target::Only)), code::AMBIGUOUS);
    assert_eq!(refused(&mut client, capture_of(Target::App("nobody".into()))), code::NO_APP);
    let no_frames = StartRequest { frames: Some(0), ..capture_of(Target::All) };
    assert_eq!(refused(&mut client, no_frames), code::BAD_REQUEST);
    client.start(capture_of(Target::App(one.pid().to_string())), &file);
    // A second capture cannot have what the running one did not ask the program for.
    let timed = StartRequest { timing: true, ..capture_of(Target::All) };
    assert_eq!(refused(&mut daemon.client(), timed), code::BUSY);
    one.obey(&["wait"]);
}

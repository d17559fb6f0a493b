//! The shim is a guest: programs that are hard to record behave as natively, and are recorded.

use std::process::Command as Process;

use gapii_tests::fake_driver::{self, Page};
use gapii_tests::gapii::{Command, Recording, Session, Trace};
use gapii_tests::loading::{behaves_as_natively, names, offscreen, same_behaviour};
use gapii_tests::order::{counts_up, uniforms};
use gapii_tests::process::run;
use gapii_tests::programs::program;
use gapii_tests::sharing::number;

/// A program on the fake driver.
fn on_fake_driver(name: &str, arguments: &[&str]) -> Process {
    let mut process = Process::new(program(name));
    process.args(arguments);
    fake_driver::use_in(&mut process, None);
    process
}

fn count(commands: &[Command], name: &str) -> usize {
    names(commands).into_iter().filter(|known| *known == name).count()
}

/// Returns the number before `words` in the program's output on stderr.
fn said(recording: &Recording, words: &str) -> u64 {
    let stderr = &recording.run.stderr;
    let number = stderr.split(words).next().and_then(|before| before.split_whitespace().last());
    number.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{words}: {stderr}"))
}

#[test]
fn signal_handler_that_calls_is_safe() {
    let session = Session::new();
    let mut process = on_fake_driver("guest_signals", &[]);
    process.env("FAKE_DRIVER_FINISH", "20000");
    let recording = behaves_as_natively(&session, &mut process);
    recording.trace.is_whole("exit");
    let commands = recording.trace.commands();
    let by_main = said(&recording, " by main");
    assert!(by_main >= 100, "{by_main} calls by main");
    assert_eq!(counts_up(&uniforms(&commands, 0), by_main), Ok(()));
    // Calls of the handler while the thread was in the shim went straight to the driver.
    let handled = uniforms(&commands, 1);
    assert!(handled.is_sorted(), "{handled:?}");
    let by_handler = said(&recording, " by the handler");
    assert!(by_handler >= 200, "{by_handler} calls by the handler");
    let inside = number(&recording.trace.info()["reentrant_commands"]);
    assert_eq!(handled.len() as u64 + inside, by_handler);
}

#[test]
fn debug_callback_that_calls_is_safe() {
    let session = Session::new();
    let mut process = offscreen(&program("guest_debug_callback"), [""; 0]);
    let recording = behaves_as_natively(&session, &mut process);
    recording.trace.is_whole("exit");
    let commands = recording.trace.commands();
    assert_eq!(count(&commands, "glDebugMessageInsertKHR"), 20);
    assert_eq!(count(&commands, "glIsEnabled"), 0, "what a callback calls is not the program's");
    are_told(&recording, 20);
}

/// Commands from inside other commands are told to everyone who asks what the trace lacks.
#[track_caller]
fn are_told(recording: &Recording, calls: u64) {
    // Thousands may be separated.
    let says = |text: &str, words: &str| text.replace(',', "").contains(words);
    let summary = format!("; {calls} commands inside others not recorded");
    assert!(says(&recording.run.stderr, &summary), "{}", recording.run);
    let info = recording.trace.ask("info", &[]).ok();
    let line =
        format!("inside     {calls} commands that other commands called are not in the trace");
    assert!(says(&info.stdout, &line), "{info}");
    let verified = recording.trace.ask("verify", &[]).ok();
    let warning = format!("warning: {calls} commands that were called from inside other commands");
    assert!(says(&verified.stdout, &warning), "{verified}");
}

#[test]
fn driver_that_calls_itself_is_not_recorded_twice() {
    let session = Session::new();
    let mut process = on_fake_driver("guest_reenter", &["1000"]);
    process.env("FAKE_DRIVER_REENTER", "1");
    let recording = behaves_as_natively(&session, &mut process);
    recording.trace.is_whole("exit");
    let commands = recording.trace.commands();
    assert_eq!(counts_up(&uniforms(&commands, 0), 1000), Ok(()));
    assert_eq!((count(&commands, "glFlush"), count(&commands, "glIsEnabled")), (1000, 0));
    are_told(&recording, 1000);
}

#[test]
fn many_short_lived_threads_are_recorded() {
    const THREADS: i64 = 600;
    let session = Session::new();
    let mut process = on_fake_driver("guest_threads", &[&THREADS.to_string()]);
    let recording = behaves_as_natively(&session, &mut process);
    recording.trace.is_whole("exit");
    let mut values = uniforms(&recording.trace.commands(), 0);
    values.sort_unstable();
    let expected: Vec<_> = (0..THREADS).flat_map(|k| [k; 4]).collect();
    assert_eq!(values, expected);
}

#[test]
fn process_that_ends_while_a_thread_draws_ends_as_natively() {
    let check = |how: &str, reason: &str| {
        let session = Session::new();
        let mut process = on_fake_driver("guest_exit", &[how]);
        let recording = behaves_as_natively(&session, &mut process);
        recording.trace.is_whole(reason);
        let report = recording.trace.path.with_extension("gapii.crash.txt");
        assert_eq!(report.exists(), reason == "crash", "{how}");
        let commands = recording.trace.commands();
        let drawn = uniforms(&commands, 0);
        assert_eq!(counts_up(&drawn, drawn.len() as u64), Ok(()), "{how}");
        assert!(drawn.len() >= 1000, "{how}: {}", drawn.len());
        commands
    };
    check("return", "exit");
    check("exit", "exit");
    check("_exit", "exit");
    check("thread", "exit");
    check("abort", "crash");
    // The program was asked to end.
    check("terminate", "exit");
    let commands = check("destructor", "exit");
    for location in [1, 2] {
        assert_eq!(counts_up(&uniforms(&commands, location), 100), Ok(()), "location {location}");
    }
}

#[test]
fn errno_and_floating_point_state_come_out_as_they_went_in() {
    let session = Session::new();
    let mut process = on_fake_driver("guest_errno", &[]);
    let recording = behaves_as_natively(&session, &mut process);
    recording.trace.is_whole("exit");
    has_checked_calls(&recording);
}

/// Checks that all calls that the program `guest_errno` has checked are in the trace: one of each kind, 400,000 that fill
/// rings, ten swaps and a thread's five.
#[track_caller]
fn has_checked_calls(recording: &Recording) {
    const CHECKED: u64 = 9 + 400_000 + 10 + 5;
    assert_eq!(recording.run.stdout, format!("{CHECKED} checks\n"), "{}", recording.run);
    assert_eq!(number(&recording.trace.info()["commands"]), CHECKED);
}

#[test]
fn errno_comes_out_as_it_went_in_with_small_rings() {
    let session = Session::new();
    let _daemon = session.daemon(&["--ring-size", "64K"]);
    let mut process = on_fake_driver("guest_errno", &[]);
    let recording = behaves_as_natively(&session, &mut process);
    recording.trace.is_whole("exit");
    has_checked_calls(&recording);
    assert!(number(&recording.trace.info()["waits"]) > 0, "the rings were to be filled");
}

#[test]
fn descriptors_that_the_program_closes_and_reuses_stay_its_own() {
    let session = Session::new();
    let folder = session.path("files");
    std::fs::create_dir(&folder).unwrap();
    let mut process = on_fake_driver("guest_descriptors", &[folder.to_str().unwrap()]);
    let native = run(&mut process);
    let recording = session.record(&[], &process);
    same_behaviour(&native, &recording.run);
    recording.trace.verify();
    let drawn = uniforms(&recording.trace.commands(), 0);
    assert!(drawn.starts_with(&(0..1000).collect::<Vec<_>>()), "{} commands", drawn.len());
}

#[test]
fn crash_in_the_driver_leaves_the_call_in_the_trace() {
    let session = Session::new();
    let page = session.path("page");
    let mut process = Process::new(program("draw_forever"));
    process.arg("2").env("FAKE_DRIVER_CRASH_AT", "5000");
    fake_driver::use_in(&mut process, Some(&page));
    let recording = session.record(&[], &process);
    recording.run.clone().exited_with(139);
    gapii_tests::kill::check_killed(&recording.trace, &Page::new(&page).threads());
    let end = &recording.trace.info()["end_of_stream"];
    assert_eq!(end["signal"], 11, "{end}");
    let in_flight = end["in_flight"].as_array().unwrap();
    assert!(in_flight.iter().any(|command| command["name"] == "glDrawArrays"), "{end}");
    check_crash_report(&recording.trace);
}

#[test]
fn crash_of_a_program_that_a_shell_has_started_is_reported() {
    let session = Session::new();
    let mut process = Process::new("sh");
    process.args(["-c", "\"$0\" 2; true"]).arg(program("draw_forever"));
    fake_driver::use_in(process.env("FAKE_DRIVER_CRASH_AT", "5000"), Some(&session.path("page")));
    let recording = session.record(&[], &process);
    // The shell goes on.
    recording.run.clone().ok();
    assert_eq!(recording.trace.info()["end_of_stream"]["reason"], "crash");
    let path = recording.trace.path.with_extension("gapii.crash.txt");
    let report = std::fs::read_to_string(&path).expect("a report beside the trace");
    assert!(report.contains(": in glDrawArrays, which had not returned\n"), "{report}");
}

/// Checks that the report beside the trace names the signal, and lists the last commands of the thread that died.
fn check_crash_report(trace: &Trace) {
    let path = trace.path.with_extension("gapii.crash.txt");
    let report = std::fs::read_to_string(&path).expect("a report beside the trace");
    assert!(report.contains("was ended by signal 11 (SIGSEGV), after "), "{report}");
    assert!(report.contains("\ncore dump  "), "{report}");
    let threads: Vec<&str> = report.split("\nthread ").skip(1).collect();
    assert_eq!(threads.len(), 3, "the first one and two that draw: {report}");
    // The other thread may have been in a command too.
    let died = threads.iter().find(|it| it.contains(": in glDrawArrays, which had not returned\n"));
    let died = died.unwrap_or_else(|| panic!("nobody died: {report}"));
    assert!(died.contains("(in flight)"), "{report}");
    let last: Vec<&str> = died.lines().skip(1).collect();
    assert_eq!(last.len(), 20, "{report}");
    assert!(last[19].contains("glDrawArrays(mode = GL_TRIANGLES"), "{report}");
}

//! Names that a program has chosen for itself: they are shown on one line, and no terminal obeys them.

use crate::support::{FakeDaemon, run, summary};
use gapii_control::{
    AppInfo, CTL_VERSION_MAX, CaptureInfo, ControlError, Event, KeptInfo, Request, ServerHello,
    StatusInfo, Summary, code,
};
use gapii_trace::Untrusted;

/// Clears the screen, begins a line of its own, sets the title of a terminal, and reverses the rest.
const NAME: &str = "\u{1b}[2Jgears\nlost 0\r\u{9b}31m\u{1b}]0;x\u{7}\u{202e}";
const SHOWN: &str = r"\u{1b}[2Jgears\nlost 0\r\u{9b}31m\u{1b}]0;x\u{7}\u{202e}";

fn app() -> AppInfo {
    AppInfo { pid: 41, name: NAME.into(), exe: NAME.into(), ..AppInfo::default() }
}

/// Answers every question with texts that a program could have chosen.
fn answer(request: &Request) -> Event {
    match request {
        Request::Apps => Event::Apps(vec![app(), AppInfo { pid: 42, ..app() }]),
        Request::Status => Event::Status(StatusInfo {
            apps: vec![app()],
            captures: vec![CaptureInfo {
                name: Some(NAME.into()),
                pids: vec![41],
                ..Default::default()
            }],
            kept: vec![KeptInfo { pid: 41, name: NAME.into(), ..KeptInfo::default() }],
            ..StatusInfo::default()
        }),
        _ => Event::Error(ControlError::new(code::NO_APP, NAME, "`gapii-ctl apps`")),
    }
}

#[test]
fn names_of_programs_are_shown_on_one_line_without_control_characters() {
    let check = |arguments: &[&str], status| {
        let daemon = FakeDaemon::new();
        let serving = daemon.serve(|mut conversation| {
            let hello = conversation.hear();
            assert!(matches!(hello, Some(Request::Hello(_))), "{hello:?}");
            let version = CTL_VERSION_MAX;
            conversation.say(&Event::Hello(ServerHello { version, ..ServerHello::default() }));
            while let Some(request) = conversation.hear() {
                conversation.say(&answer(&request));
            }
            true
        });
        let (stdout, stderr) = run(daemon.ctl().args(arguments), status);
        for said in [&stdout, &stderr] {
            let harms = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!said.contains(harms), "{arguments:?}: {said:?}");
        }
        assert!(
            stdout.contains(SHOWN) || stderr.contains(SHOWN),
            "{arguments:?}: {stdout}{stderr}"
        );
        serving.join().unwrap();
    };
    check(&["apps"], 0);
    check(&["list"], 0);
    check(&["status"], 0);
    check(&["watch", "--count", "1", "--interval", "0.1"], 0);
    check(&["start", "-o", "x.gapii"], 2);
    check(&["stop", "--app", "41"], 3);
    check(&["save", "--app", "41", "-o", "x.gapii"], 3);
}

#[test]
fn end_of_a_capture_shows_no_control_characters() {
    let daemon = FakeDaemon::new();
    let serving = daemon.serve(|mut conversation| {
        conversation.greet();
        conversation.hear();
        conversation.say(&Event::Apps(vec![app()]));
        conversation.start_capture();
        let text = || Untrusted::from(NAME);
        let missing = vec![text()];
        conversation.end_capture(Summary { missing, error: Some(text()), ..summary() });
        true
    });
    // The default name of the file is made from the program's name.
    let (stdout, stderr) = run(daemon.ctl().arg("start"), 3);
    let said = stdout + &stderr;
    assert!(!said.contains(|c: char| c.is_control() && c != '\n'), "{said:?}");
    assert_eq!(said.matches(SHOWN).count(), 2, "{said}");
    serving.join().unwrap();
}

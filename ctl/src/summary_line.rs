//! Summarizes a finished capture in one line, and decides whether it failed: an error of the output is status 3, a lost
//! process and a capture without a command status 1. Losses, waits and missing state alone are no failure. On a terminal
//! the line has the trace's growth a minute, without its header, which is read from the trace; nothing is said of the
//! growth of a pipe.

use std::fmt::Display;
use std::io::{self, IsTerminal};
use std::time::Duration;

use gapii_abi::atom::EndReason;
use gapii_control::{StartRequest, Summary};
use gapii_trace::Recorded;
use indicatif::{DecimalBytes, HumanCount};

use crate::emptiness::onlooker::Onlooker;
use crate::emptiness::why_no_command;
use crate::failure::Failure;
use crate::output_file::Place;
use crate::text::counted;
use crate::trace_file;

/// Formats frames, commands, threads, bytes before and after compression, growth, waits, losses, and the output.
pub fn text(summary: &Summary, place: &Place) -> String {
    let growth = io::stderr().is_terminal().then(|| bytes_a_minute(summary, place)).flatten();
    line(summary, place, growth)
}

/// Returns by how many bytes a minute the trace grew while it was recorded; `None` if that is not known.
fn bytes_a_minute(summary: &Summary, place: &Place) -> Option<u64> {
    // A pipe must not be opened, and another file with this name tells nothing.
    let path = place.path().filter(|path| path.is_file())?;
    let mut reader = trace_file::open(path).ok()?;
    if reader.file_len() != summary.file_bytes {
        return None;
    }
    let header_bytes = reader.header_bytes();
    let duration_ns = Recorded::of(&mut reader).ok()?.duration_ns.filter(|ns| *ns > 0)?;
    let minutes = duration_ns as f64 / 60e9;
    Some((summary.file_bytes.saturating_sub(header_bytes) as f64 / minutes) as u64)
}

fn line(summary: &Summary, destination: &impl Display, growth: Option<u64>) -> String {
    let growth = growth.map(|bytes| format!(", {} a minute at this rate", DecimalBytes(bytes)));
    format!(
        "{}, {} of {}, {} in {}{}; {}{}; {}{} -> {destination} ({})",
        counted(summary.frames, "frame"),
        counted(summary.calls, "command"),
        counted(summary.threads, "thread"),
        DecimalBytes(summary.raw_bytes),
        DecimalBytes(summary.file_bytes),
        growth.unwrap_or_default(),
        held(summary),
        waits(summary),
        losses(summary) + &incomplete(summary) + &reentrant(summary) + &foreign(summary),
        seams(summary),
        ending(summary),
    )
}

/// Whether the capture ended as intended and its file is complete.
pub fn is_complete(summary: &Summary) -> bool {
    let intended =
        [EndReason::Frames.name(), EndReason::Stop.name()].contains(&summary.reason.as_str());
    intended && summary.error.is_none()
}

/// Returns the failure of a capture that did not end as intended, or that has no command. `request` began it, and
/// `onlooker` has looked at its program.
pub fn failure(
    summary: &Summary,
    destination: &impl Display,
    request: &StartRequest,
    onlooker: &Onlooker,
) -> Option<Failure> {
    if let Some(error) = &summary.error {
        return Some(Failure::system(format!(
            "{destination} holds only what was recorded before this: {error}"
        )));
    }
    if summary.reason == EndReason::Lost.name() {
        return Some(Failure::answer(format!(
            "the capture was lost: the program disappeared or left it, and how is not known; {destination} holds what \
             was recorded before that"
        )));
    }
    (summary.calls == 0)
        .then(|| Failure::nothing_recorded(&why_no_command(summary, request, onlooker)))
}

/// Returns the failure of a capture that ended because its program did, before a limit that `request` set.
pub fn shortfall(
    summary: &Summary,
    destination: &impl Display,
    request: &StartRequest,
) -> Option<Failure> {
    let limit = match (request.frames, request.seconds, request.bytes) {
        (Some(frames), ..) if request.counts_submits => counted(frames, "submit"),
        (Some(frames), ..) => counted(frames, "frame"),
        (None, Some(seconds), _) => format!("{seconds} s"),
        (None, None, Some(bytes)) => DecimalBytes(bytes).to_string(),
        (None, None, None) => return None,
    };
    if let (Some(_), Some(seconds), 0, true) =
        (request.frames, request.seconds, summary.frames, is_complete(summary))
    {
        return Some(Failure::answer(format!(
            "no frame ended within {seconds} s, of {limit} that were asked for; {destination} has the commands"
        )));
    }
    let has_all = is_complete(summary) || request.frames.is_some_and(|it| summary.frames >= it);
    (!has_all).then(|| {
        Failure::answer(format!(
            "the program ended before the capture had {limit}; {destination} has {}",
            counted(summary.frames, "frame")
        ))
    })
}

/// Lists the state and the memory that the trace lacks, and which commands have no times on the GPU, one line each.
pub fn missing(summary: &Summary) -> impl Iterator<Item = String> {
    let of_state = summary.missing.iter().map(|it| format!("missing: {it}"));
    let untimed = summary.without_gpu_times.iter();
    of_state.chain(untimed.map(|it| format!("without times on the GPU: {it}")))
}

fn held(summary: &Summary) -> String {
    let stored = match summary.stored_bytes {
        0 => String::new(),
        bytes => format!(", {} not sent again", DecimalBytes(bytes)),
    };
    let without_room = match summary.held_bytes {
        0 => String::new(),
        bytes => format!(", also to send {} (see --attach-memory)", DecimalBytes(bytes)),
    };
    match summary.snapshot {
        true => {
            let held = Duration::from_micros(summary.held_us);
            format!("held {held:.1?}{without_room}{stored}; ")
        }
        false => String::new(),
    }
}

fn waits(summary: &Summary) -> String {
    if summary.waits == 0 {
        return "0 waits".to_owned();
    }
    let waited = Duration::from_nanos(summary.wait_ns);
    format!("{} ({waited:.1?})", counted(summary.waits, "wait"))
}

fn losses(summary: &Summary) -> String {
    match summary.lost.calls {
        0 => "0 lost".to_owned(),
        calls => {
            let paused = match summary.paused.calls {
                0 => String::new(),
                paused if paused == calls => ", all while it was paused".to_owned(),
                paused => format!(", {} of them while it was paused", HumanCount(paused)),
            };
            format!("{} lost ({}){paused}", HumanCount(calls), DecimalBytes(summary.lost.bytes))
        }
    }
}

/// Formats the number of draws whose vertices the trace lacks.
fn incomplete(summary: &Summary) -> String {
    match summary.incomplete {
        0 => String::new(),
        count => format!("; {} without vertices", counted(count, "draw")),
    }
}

/// Formats the number of commands that were called from inside other commands.
fn reentrant(summary: &Summary) -> String {
    match summary.reentrant {
        0 => String::new(),
        count => format!("; {} inside others not recorded", counted(count, "command")),
    }
}

/// Formats the number of commands in threads without a context, which are not recorded.
fn foreign(summary: &Summary) -> String {
    match summary.foreign {
        0 => String::new(),
        count => format!("; {} without a recorded context", counted(count, "command")),
    }
}

/// Formats how often the daemon was restarted, and for how long it was away in all.
fn seams(summary: &Summary) -> String {
    match summary.seams {
        0 => String::new(),
        seams => {
            let away = Duration::from_nanos(summary.away_ns);
            format!("; {} ({away:.1?} without a daemon)", counted(seams, "seam"))
        }
    }
}

/// Says why a capture ended; a reason that this build does not know, as it is.
fn reason(summary: &Summary) -> &str {
    match EndReason::from_name(&summary.reason) {
        _ if summary.error.is_some() => "the output failed",
        Some(EndReason::Frames) => "all frames recorded",
        Some(EndReason::Stop) => "stopped",
        Some(EndReason::Exit) => "the program ended",
        Some(EndReason::Crash) if summary.signal.is_some() => "the program crashed",
        Some(EndReason::Crash) => "the program disappeared inside of a command",
        Some(EndReason::Lost) => "the program disappeared",
        Some(EndReason::Shutdown) => "the daemon ended",
        Some(EndReason::Other(_)) | None => &summary.reason,
    }
}

fn ending(summary: &Summary) -> String {
    let signal = summary.signal.map(|signal| format!(", signal {signal}")).unwrap_or_default();
    let in_flight = match &summary.in_flight[..] {
        [] => String::new(),
        [inside] if !inside.name.is_empty() => format!(", inside of {}", inside.name),
        inside => format!(", {} in flight", counted(inside.len() as u64, "command")),
    };
    format!("{}{signal}{in_flight}", reason(summary))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use gapii_control::trigger::Trigger;
    use gapii_control::{InFlight, Lost, Target};
    use gapii_trace::filter::Filter;

    use super::*;
    use crate::emptiness::reason::Reason;

    fn failure(
        summary: &Summary,
        destination: &impl Display,
        request: &StartRequest,
    ) -> Option<Failure> {
        let program = request.command.first().map_or("", |word| word.raw());
        // No process has this number.
        let onlooker = Onlooker::of_program(u32::MAX, program.as_ref());
        super::failure(summary, destination, request, &onlooker)
    }

    fn summary() -> Summary {
        Summary {
            reason: EndReason::Frames.name().into(),
            frames: 100,
            calls: 12_345,
            threads: 1,
            raw_bytes: 2_000_000,
            file_bytes: 150_000,
            ..Summary::default()
        }
    }

    #[test]
    fn plain_capture_reads_as_one_line() {
        let expected = "100 frames, 12,345 commands of 1 thread, 2.00 MB in 150.00 kB; 0 waits; \
                        0 lost -> gears.gapii (all frames recorded)";
        assert_eq!(line(&summary(), &"gears.gapii", None), expected);
        assert!(is_complete(&summary()));
        assert!(failure(&summary(), &"gears.gapii", &StartRequest::default()).is_none());
    }

    #[test]
    fn growth_follows_the_size() {
        let line = super::line(&summary(), &"gears.gapii", Some(90_000_000));
        assert!(line.contains(" in 150.00 kB, 90.00 MB a minute at this rate; 0 waits"), "{line}");
    }

    #[test]
    fn capture_that_began_in_the_middle_says_how_long_it_held_and_what_it_lacks() {
        let missing = vec!["the samples of texture 7".into()];
        let attached = Summary { snapshot: true, held_us: 12_345, missing, ..summary() };
        let line = super::line(&attached, &"x.gapii", None);
        assert!(line.contains("; held 12.3ms; 0 waits;"), "{line}");
        let again = Summary { stored_bytes: 2_500_000, ..attached.clone() };
        let line = super::line(&again, &"x.gapii", None);
        assert!(line.contains("; held 12.3ms, 2.50 MB not sent again; 0 waits;"), "{line}");
        let long = Summary { held_bytes: 1_800_000, ..attached.clone() };
        let line = super::line(&long, &"x.gapii", None);
        assert!(
            line.contains("; held 12.3ms, also to send 1.80 MB (see --attach-memory); "),
            "{line}"
        );
        let lines: Vec<String> = super::missing(&attached).collect();
        assert_eq!(lines, ["missing: the samples of texture 7"]);
        let untimed = Summary { without_gpu_times: vec!["commands".into()], ..summary() };
        let lines: Vec<String> = super::missing(&untimed).collect();
        assert_eq!(lines, ["without times on the GPU: commands"]);
    }

    #[test]
    fn losses_of_a_pause_are_told_from_others() {
        let [all, some] = [3, 1].map(|calls| {
            let (lost, paused) = (Lost { calls: 3, bytes: 96 }, Lost { calls, bytes: 32 });
            super::line(&Summary { lost, paused, ..summary() }, &"x.gapii", None)
        });
        assert!(all.contains("; 3 lost (96 B), all while it was paused -> "), "{all}");
        assert!(some.contains("; 3 lost (96 B), 1 of them while it was paused -> "), "{some}");
    }

    #[test]
    fn waits_losses_and_crash_are_named() {
        let crash = Summary {
            reason: EndReason::Crash.name().into(),
            lost: Lost { calls: 3, bytes: 96 },
            waits: 2,
            wait_ns: 1_500_000,
            in_flight: vec![InFlight::default()],
            signal: Some(11),
            ..summary()
        };
        let line = super::line(&crash, &"x.gapii", None);
        assert!(line.contains("2 waits (1.5ms); 3 lost (96 B)"), "{line}");
        let resumed = Summary { seams: 2, away_ns: 40_000_000, ..crash.clone() };
        let line_of_seams = super::line(&resumed, &"x.gapii", None);
        let expected = "3 lost (96 B); 2 seams (40.0ms without a daemon) -> x.gapii";
        assert!(line_of_seams.contains(expected), "{line_of_seams}");
        assert!(line.ends_with("(the program crashed, signal 11, 1 command in flight)"), "{line}");
        let inside = InFlight { name: "glFinish".into(), ..InFlight::default() };
        let named = Summary { in_flight: vec![inside], ..crash.clone() };
        let line = super::line(&named, &"x.gapii", None);
        assert!(line.ends_with("(the program crashed, signal 11, inside of glFinish)"), "{line}");
        let line = super::line(
            &Summary { incomplete: 2, reentrant: 1, ..crash.clone() },
            &"x.gapii",
            None,
        );
        let expected = "3 lost (96 B); 2 draws without vertices; 1 command inside others not recorded -> x.gapii";
        assert!(line.contains(expected), "{line}");
        assert!(!is_complete(&crash));
    }

    #[test]
    fn unwritten_output_and_lost_capture_are_failures() {
        let full = Summary { error: Some("no space left on device".into()), ..summary() };
        assert!(!is_complete(&full));
        assert_eq!(
            failure(&full, &"x", &StartRequest::default())
                .map(|failure| failure.status_of("start")),
            Some(3)
        );
        let lost = Summary { reason: EndReason::Lost.name().into(), ..summary() };
        assert_eq!(
            failure(&lost, &"x", &StartRequest::default())
                .map(|failure| failure.status_of("start")),
            Some(1)
        );
    }

    #[test]
    fn program_that_ends_before_a_limit_leaves_too_little() {
        let ended = Summary { reason: EndReason::Exit.name().into(), frames: 60, ..summary() };
        let check = |request: &StartRequest, expected: Option<&str>| {
            let message = shortfall(&ended, &"x", request).map(|failure| failure.to_string());
            assert_eq!(message.as_deref(), expected);
        };
        let plain = StartRequest::default();
        check(&plain, None);
        let frames = |count| StartRequest { frames: Some(count), ..plain.clone() };
        check(&frames(60), None);
        check(
            &frames(100),
            Some("the program ended before the capture had 100 frames; x has 60 frames"),
        );
        check(
            &StartRequest { seconds: Some(2.5), ..plain.clone() },
            Some("the program ended before the capture had 2.5 s; x has 60 frames"),
        );
        assert!(shortfall(&summary(), &"x", &frames(200)).is_none());
        let reason = EndReason::Stop.name().to_owned();
        let late = StartRequest { seconds: Some(2.0), ..frames(10) };
        let some = Summary { reason: reason.clone(), frames: 3, ..summary() };
        assert!(shortfall(&some, &"x", &late).is_none());
        let none = Summary { reason, frames: 0, ..summary() };
        let message = shortfall(&none, &"x", &late).map(|failure| failure.to_string());
        let expected =
            "no frame ended within 2 s, of 10 frames that were asked for; x has the commands";
        assert_eq!(message.as_deref(), Some(expected));
    }

    #[test]
    fn capture_without_a_command_is_a_failure_that_says_why() {
        let empty = Summary { calls: 0, processes: 1, ..summary() };
        let check = |summary: &Summary, request: &StartRequest, expected: &str| {
            let failure = self::failure(summary, &"x", request).expect("a failure");
            assert_eq!(failure.status_of("start"), 1);
            let message = failure.to_string();
            assert!(message.starts_with("nothing was recorded: "), "{message}");
            assert!(message.contains(expected), "{message}");
        };
        let plain = StartRequest::default();
        check(&empty, &plain, "made no command");
        let foreign = Summary { foreign: 3, ..empty.clone() };
        check(&foreign, &plain, "made 3 commands of OpenGL in threads");
        let inside = InFlight { name: "eglGetDisplay".into(), ..InFlight::default() };
        let held = Summary { in_flight: vec![inside], ..empty.clone() };
        check(&held, &plain, "the program's eglGetDisplay had not returned");
        let functions = vec!["glDraw*".to_owned()];
        let filter = Filter { functions, ..Filter::default() };
        let filtered = StartRequest { filter, ..plain.clone() };
        check(&empty, &filtered, "fits the filter (functions glDraw*)");
        let when: Trigger = "frame=3".parse().expect("a trigger");
        let triggered = StartRequest { when: Some(when), ..plain };
        check(&empty, &triggered, "frame=3 did not happen");
        let happened = Summary { when_happened: true, ..empty };
        check(
            &happened,
            &triggered,
            "frame=3 happened, and the program ended before a recording could begin behind it",
        );
    }

    #[test]
    fn program_that_never_reached_the_daemon_is_looked_at() {
        let folder = tempfile::tempdir().expect("a folder");
        let empty = Summary { calls: 0, processes: 0, ..summary() };
        let program = folder.path().join("program");
        let message = || {
            let command = vec![program.to_string_lossy().as_ref().into()];
            let target = Target::Launch([1; 16]);
            let request = StartRequest { target, command, ..StartRequest::default() };
            failure(&empty, &"x", &request).expect("a failure")
        };
        let write = |bytes: &[u8], mode| {
            std::fs::write(&program, bytes).expect("a file");
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&program, permissions).expect("it is ours");
        };
        let check = |expected: &str, reason: Reason| {
            let failure = message();
            assert!(failure.sentence.contains(expected), "{failure}");
            assert_eq!(failure.reason, Some(reason));
        };
        let mut bytes = std::fs::read("/proc/self/exe").expect("it is readable");
        bytes.truncate(1 << 12);
        bytes[4] = 1;
        write(&bytes, 0o755);
        check("program is a 32-bit program", Reason::OtherWordSize);
        // Without program headers nothing names a dynamic linker.
        (bytes[4], bytes[56], bytes[57]) = (2, 0, 0);
        bytes[16..18].copy_from_slice(&2_u16.to_ne_bytes());
        write(&bytes, 0o755);
        check("program is linked statically", Reason::StaticProgram);
        bytes[18] ^= 0xff;
        write(&bytes, 0o755);
        check("program is a program for another processor", Reason::OtherProcessor);
    }
}

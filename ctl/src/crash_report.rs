//! Writes a crash report, `FILE.crash.txt`, beside a trace: for each thread, the commands that had not returned, and
//! the last 20 commands (`LISTED`). Written if the program crashed or was lost; not for SIGHUP, SIGINT and SIGTERM, not
//! to standard output or a pipe, and not while a process of a lost capture lives. Reads the last 4 frames, and 4 times as many
//! until each thread has 20 commands or 4,000,000 were read. A failure is only printed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use gapii_abi::atom::EndReason;
use gapii_control::Summary;
use gapii_trace::Info;
use gapii_trace::footer::ThreadLedger;

use crate::call_text;
use crate::failure::Failure;
use crate::finished_file::draft_beside;
use crate::output_file::Place;
use crate::text::{self, counted};
use crate::trace_file::{self, Reader, unreadable};

/// Number of commands listed per thread.
const LISTED: u64 = 20;
/// Number of frames from the end that are read first; the number is multiplied by 4 until there are enough commands.
const FIRST_FRAMES: u64 = 4;
/// Reading stops after this number of commands, so that the report appears quickly.
const COMMANDS_MAX: u64 = 4_000_000;

/// Most bytes of a report that are read again.
const REPORT_BYTES_MAX: u64 = 1 << 20;

/// The last commands of each thread as lines, oldest first.
type Last = BTreeMap<u32, Vec<String>>;

/// Writes the report if the program died, and prints its path. A failure to write it is printed and does not fail the
/// capture.
pub fn write_if_it_died(summary: &Summary, place: &Place) {
    // A pipe cannot be read again.
    let trace = place.path().filter(|path| has_died(summary) && path.is_file());
    let Some(trace) = trace else { return };
    match write(trace) {
        Ok(Some(report)) => {
            text::say(&format_args!(
                "the last commands of its threads are in {}",
                report.display()
            ));
        }
        Ok(None) => {}
        Err(failure) => {
            text::say(&format_args!(
                "a report of its last commands could not be written: {failure}"
            ));
        }
    }
}

/// Returns the report beside a trace, if the program died and there is one.
pub fn beside(trace: &Path, summary: &Summary) -> Option<PathBuf> {
    Some(name_beside(trace)).filter(|report| has_died(summary) && report.is_file())
}

/// Returns the text of the report beside a trace, if there is one.
pub fn text_beside(trace: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let file = File::open(name_beside(trace)).ok()?;
    // A pipe of that name would never end, and a long file is none of these reports.
    let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
    file.take(REPORT_BYTES_MAX).read_to_end(&mut bytes).ok().filter(|_| is_file)?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn name_beside(trace: &Path) -> PathBuf {
    let mut name = trace.as_os_str().to_owned();
    name.push(".crash.txt");
    PathBuf::from(name)
}

/// A program that was asked to end did not die. Older daemons call that a crash.
fn has_died(summary: &Summary) -> bool {
    match EndReason::from_name(&summary.reason) {
        Some(EndReason::Crash) => {
            summary.signal.is_none_or(|signal| EndReason::of_signal(signal) == EndReason::Crash)
        }
        // The process may also have left the capture and still be running.
        Some(EndReason::Lost) => true,
        _ => false,
    }
}

/// Writes `FILE.crash.txt` and returns its name; `None` if a process of the trace is still alive.
fn write(trace: &Path) -> Result<Option<PathBuf>, Failure> {
    let mut reader = trace_file::open(trace)?;
    let info = Info::of(&mut reader).map_err(|error| unreadable(trace, &error))?;
    let is_alive = |pid: u32| Path::new(&format!("/proc/{pid}")).exists();
    let is_lost = info.end_of_stream.reason == Some(EndReason::Lost);
    if is_lost && info.processes.iter().any(|process| is_alive(process.pid)) {
        return Ok(None);
    }
    let threads = reader.footer().map(|footer| footer.threads.clone()).unwrap_or_default();
    let last = last_commands(&mut reader, &threads).map_err(|error| unreadable(trace, &error))?;
    let path = name_beside(trace);
    let text = describe(trace, &info, &threads, &last);
    // The name is easy to guess, so another user may have put a link there. A rename replaces it.
    let written = draft_beside(&path).and_then(|mut draft| {
        draft.write_all(text.as_bytes())?;
        draft.persist(&path).map_err(|error| error.error)
    });
    written.map_err(|error| {
        Failure::system(format!("can't write the crash report {}: {error}", path.display()))
    })?;
    Ok(Some(path))
}

/// Collects the last commands by thread id, reading as few frames from the end as needed.
fn last_commands(reader: &mut Reader, threads: &[ThreadLedger]) -> io::Result<Last> {
    let ends = reader.index().map(|index| index.frame_ends.iter().map(|end| end.frame));
    let end = ends.and_then(Iterator::max).map_or(0, |last| last + 1);
    let mut frames = FIRST_FRAMES;
    loop {
        let first = end.saturating_sub(frames);
        let counts = count_from(reader, first)?;
        let is_enough =
            |thread: &ThreadLedger| counts.get(&thread.tid).is_some_and(|count| *count >= LISTED);
        let is_much = counts.values().sum::<u64>() >= COMMANDS_MAX;
        if first == 0 || is_much || threads.iter().all(is_enough) {
            return lines_from(reader, first, counts);
        }
        frames = frames.saturating_mul(4);
    }
}

/// Reads the commands of each thread from a frame on.
fn count_from(reader: &mut Reader, first: u64) -> io::Result<BTreeMap<u32, u64>> {
    let mut counts = BTreeMap::new();
    let mut commands = reader.commands_in_frames(first..=u64::MAX)?;
    while let Some(command) = commands.next_command()? {
        *counts.entry(command.tid).or_default() += 1;
    }
    Ok(counts)
}

/// Selects the last commands among those that were counted.
fn lines_from(reader: &mut Reader, first: u64, mut left: BTreeMap<u32, u64>) -> io::Result<Last> {
    let mut last = Last::new();
    let mut commands = reader.commands_in_frames(first..=u64::MAX)?;
    while let Some(command) = commands.next_command()? {
        let left = left.entry(command.tid).or_default();
        if *left <= LISTED {
            let mut line = Vec::new();
            call_text::write_line(&command, None, &mut line)?;
            let line = String::from_utf8_lossy(&line).into_owned();
            last.entry(command.tid).or_default().push(line);
        }
        *left = left.saturating_sub(1);
    }
    Ok(last)
}

fn describe(trace: &Path, info: &Info, threads: &[ThreadLedger], last: &Last) -> String {
    let mut text = String::new();
    let who: Vec<String> = info
        .processes
        .iter()
        .map(|process| format!("{} (process {})", process.name, process.pid))
        .collect();
    let (frames, calls) = (counted(info.frames, "frame"), counted(info.calls, "command"));
    let by = info.end_of_stream.signal.map_or_else(
        || "ended without a word".to_owned(),
        |signal| format!("was ended by signal {signal}{}", name_of(signal)),
    );
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{} {by}, after {frames} and {calls}", who.join(", "));
    let _ = writeln!(text, "trace      {}", trace.display());
    let _ = writeln!(text, "core dump  {}", core_dump_hint(info));
    for thread in threads {
        let in_flight = &info.end_of_stream.in_flight;
        let inside = in_flight.iter().find(|command| command.tid == thread.tid);
        let state = inside.map_or_else(
            || "in no command".to_owned(),
            |command| format!("in {}, which had not returned", command.name),
        );
        let _ = writeln!(text, "\nthread {} \"{}\": {state}", thread.tid, thread.name);
        match last.get(&thread.tid) {
            Some(lines) => lines.iter().for_each(|line| text.push_str(line)),
            None => text.push_str("  it has no command near the end\n"),
        }
    }
    text
}

/// Returns the number of a signal and, if it is known, its name, such as `11 (SIGSEGV)`.
pub fn signal(number: i32) -> String {
    format!("{number}{}", name_of(number))
}

/// Returns the signal's name in parentheses, such as ` (SIGSEGV)`, or nothing for an unknown signal.
fn name_of(signal: i32) -> String {
    const NAMES: [(i32, &str); 9] = [
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGQUIT, "SIGQUIT"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGSYS, "SIGSYS"),
        (libc::SIGTRAP, "SIGTRAP"),
    ];
    let name = NAMES.iter().find(|(number, _)| *number == signal);
    name.map(|(_, name)| format!(" ({name})")).unwrap_or_default()
}

/// Describes where the system stores core dumps, according to its current configuration.
fn core_dump_hint(info: &Info) -> String {
    if info.end_of_stream.signal == Some(libc::SIGKILL) {
        return "none: SIGKILL makes none".to_owned();
    }
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    let pattern = pattern.trim();
    if pattern.contains("systemd-coredump") {
        let first = info.processes.first();
        let pid = first.map(|process| format!(" {}", process.pid)).unwrap_or_default();
        return format!("coredumpctl debug{pid}");
    }
    if let Some(handler) = pattern.strip_prefix('|') {
        return format!("given to {}", handler.split(' ').next().unwrap_or(handler));
    }
    let limit = rustix::process::getrlimit(rustix::process::Resource::Core);
    match limit.current {
        Some(0) => "none is written: `ulimit -c unlimited` before the program starts".to_owned(),
        _ => format!("{pattern:?}, by /proc/sys/kernel/core_pattern"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_was_not_told_to_end_has_died() {
        let died = |reason: &str, signal| {
            has_died(&Summary { reason: reason.to_owned(), signal, ..Summary::default() })
        };
        assert!(died(EndReason::Crash.name(), Some(libc::SIGSEGV)));
        assert!(died(EndReason::Crash.name(), Some(libc::SIGKILL)));
        assert!(died(EndReason::Lost.name(), None));
        assert!(!died(EndReason::Crash.name(), Some(libc::SIGTERM)));
        assert!(!died(EndReason::Exit.name(), None) && !died(EndReason::Frames.name(), None));
    }

    #[test]
    fn report_replaces_a_link_and_does_not_follow_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let header = gapii_trace::TraceHeader::new("test", [0; 16], 0, 0).encode();
        std::fs::write(at("x.gapii"), header.expect("a header")).expect("a trace");
        std::fs::write(at("victim"), "whole").expect("a file");
        std::os::unix::fs::symlink(at("victim"), at("x.gapii.crash.txt")).expect("a link");
        let report = write(&at("x.gapii")).expect("a report").expect("no process is alive");
        assert!(report.symlink_metadata().is_ok_and(|metadata| metadata.is_file()));
        assert_eq!(std::fs::read_to_string(at("victim")).ok().as_deref(), Some("whole"));
    }

    #[test]
    fn signals_have_their_names() {
        assert_eq!(name_of(11), " (SIGSEGV)");
        assert_eq!(name_of(64), "");
    }
}

//! `replay`: plays a trace against the driver of this machine.
//!
//! What is played is `gapii_replay`'s; here are the flags, the progress, Ctrl-C and the report.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use gapii_replay::verify::{Verified, Verifier};
use gapii_replay::{
    Events, FrameEnd, Options, ReplayError, Report, SystemLoader, replay as play_trace,
};

use crate::args::{Frames, Json, Trace};
use crate::failure::Failure;
use crate::reading_progress::ReadingProgress;
use crate::signals::{self, Signals};
use crate::text::{self, counted};
use crate::trace_file::{self, unreadable};

#[derive(Args, Debug)]
pub struct Replay {
    #[command(flatten)]
    trace: Trace,

    #[command(flatten)]
    frames: Frames,

    /// Compare what the driver answers with what it answered when the program was recorded
    #[arg(long)]
    verify: bool,

    /// Show windows where the program had windows
    #[arg(long)]
    window: bool,

    #[command(flatten)]
    json: Json,
}

pub fn run(args: &Replay) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    let mut reader = trace_file::open(path)?;
    let signals = Signals::block()
        .map_err(|error| Failure::unreachable(format!("can't wait for signals: {error}")))?;
    let is_cancelled = signals::flag(signals);
    let loader = SystemLoader::open().map_err(|error| Failure::unreachable(error.to_string()))?;
    let options = Options {
        frames: args.frames.frames.clone(),
        window: args.window,
        verify: if args.verify { Verifier::on() } else { Verifier::default() },
        ..Options::default()
    };
    let commands = reader.footer().map_or(0, |footer| footer.totals.calls);
    let mut watch = Watch { progress: ReadingProgress::start(commands), is_cancelled };
    let report = play_trace(&mut reader, &loader, options, &mut watch);
    watch.progress.clear();
    let report = report.map_err(|error| match error {
        ReplayError::Io(error) => unreadable(path, &error),
        ReplayError::Memory(_) => Failure::unreachable(error.to_string()),
        error => Failure::no(format!("{} can't be played: {error}", path.display())),
    })?;
    match args.json.json {
        true => text::print_json(&report)?,
        false => text::print(|out| write!(out, "{}", describe(&report)))?,
    }
    judge(&report)?;
    trace_file::judge_tail(path, reader.tail())?;
    Ok(0)
}

/// Whether all of it was played.
fn judge(report: &Report) -> Result<(), Failure> {
    if report.cancelled {
        let frames = counted(report.frames, "frame");
        return Err(Failure::no(format!("stopped after {frames}, as asked")));
    }
    if report.skipped > 0 {
        let commands = counted(report.skipped, "command");
        return Err(Failure::no(format!("{commands} could not be played")));
    }
    match report.verified.as_ref().map_or(0, |verified| verified.different) {
        0 => Ok(()),
        1 => Err(Failure::no("1 answer is not as it was recorded".to_owned())),
        many => Err(Failure::no(format!("{many} answers are not as they were recorded"))),
    }
}

fn describe(report: &Report) -> String {
    let mut text = String::new();
    for skip in &report.skips {
        let seq = skip.seq.map(|seq| seq.to_string()).unwrap_or_default();
        text.push_str(&format!("{seq} {}: {}\n", skip.function, skip.why));
    }
    let unlisted = report.skipped - report.skips.len() as u64;
    if unlisted > 0 {
        let functions: Vec<_> = report
            .skips_by_function
            .iter()
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        let more = counted(unlisted, "command");
        text.push_str(&format!("and {more} more; by function: {}\n", functions.join(", ")));
    }
    for note in &report.notes {
        text.push_str(&format!("{note}\n"));
    }
    if let Some(verified) = &report.verified {
        text.push_str(&describe_verified(verified));
    }
    let rate = report.frames as f64 / report.seconds.max(1e-9);
    text.push_str(&format!(
        "played {}, {} of {} in {:.2} s, {rate:.1} frames/s\n",
        counted(report.played, "command"),
        counted(report.frames, "frame"),
        counted(report.threads as u64, "thread"),
        report.seconds,
    ));
    text
}

fn describe_verified(verified: &Verified) -> String {
    let mut text = String::new();
    for difference in &verified.differences {
        let seq = difference.seq.map(|seq| seq.to_string()).unwrap_or_default();
        text.push_str(&format!(
            "{seq} {}, {}: recorded {}, here {}\n",
            difference.function, difference.part, difference.expected, difference.seen,
        ));
    }
    let unlisted = verified.different - verified.differences.len() as u64;
    if unlisted > 0 {
        text.push_str(&format!("and {} more\n", counted(unlisted, "difference")));
    }
    for (reason, count) in &verified.reasons {
        text.push_str(&format!("{count} tolerated: {reason}\n"));
    }
    text.push_str(&format!(
        "compared {} ({} of them): {} equal, {} tolerated, {} different\n",
        counted(verified.compared, "answer"),
        counted(verified.frames, "frame"),
        verified.equal,
        verified.tolerated,
        verified.different,
    ));
    text
}

/// Shows how far it is, and hears Ctrl-C.
struct Watch {
    progress: ReadingProgress,
    is_cancelled: Arc<AtomicBool>,
}

impl Events for Watch {
    fn frame(&mut self, _: &FrameEnd) {}

    fn progress(&mut self, done: u64, _: u64) {
        self.progress.set(done);
    }

    fn is_cancelled(&self) -> bool {
        // Relaxed: a flag alone, nothing is read because of it.
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use gapii_replay::report::SkippedCommand;
    use gapii_replay::verify::Difference;

    use super::*;

    #[test]
    fn what_was_not_played_is_listed_and_makes_the_answer_no() {
        let skip =
            SkippedCommand { seq: Some(7), function: "glFoo".into(), why: "there is none".into() };
        let mut report = Report { skipped: 3, skips: vec![skip], ..Report::default() };
        report.skips_by_function.insert("glFoo".into(), 3);
        let text = describe(&report);
        assert!(text.starts_with("7 glFoo: there is none\nand 2 commands more"), "{text}");
        assert_eq!(judge(&report).map_err(|failure| failure.status()), Err(1));
        assert!(judge(&Report::default()).is_ok());
    }

    #[test]
    fn difference_makes_the_answer_no() {
        let difference = Difference {
            seq: Some(9),
            function: "glGetError".into(),
            part: "result".into(),
            expected: "0".into(),
            seen: "1280".into(),
        };
        let verified = Verified {
            compared: 5,
            equal: 3,
            different: 2,
            differences: vec![difference],
            ..Verified::default()
        };
        let report = Report { verified: Some(verified), ..Report::default() };
        let text = describe(&report);
        assert!(
            text.contains("9 glGetError, result: recorded 0, here 1280\nand 1 difference more")
        );
        assert!(text.contains("compared 5 answers"), "{text}");
        assert_eq!(judge(&report).map_err(|failure| failure.status()), Err(1));
    }
}

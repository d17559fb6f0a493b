//! `replay`: replays a trace on the driver of this machine. Status 1 if it was stopped, if commands could not be played
//! (without `--verify`), if answers differ or none was compared, if the trace is damaged, or if pictures of `--at` are missing. Defines the
//! flags and prints the report; the crate `gapii_replay` does the work. A replay that takes more memory or time than it
//! may has status 1 and no report.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use gapii_replay::images::{At, Folder, Images};
use gapii_replay::verify::{Verified, Verifier};
use gapii_replay::{Options, Report};
use gapii_trace::Info;

use crate::args::{Allowance, Frames, Json, Trace};
use crate::ending::OnStop;
use crate::failure::Failure;
use crate::playing;
use crate::sandbox::{self, Needs};
use crate::text::{self, counted};
use crate::trace_file::{self, unreadable};

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl replay x.gapii --verify                         compare the driver's answers with the recorded ones
  gapii-ctl replay x.gapii --images folder --frames 10..20  pictures of frames 10 to 19
  gapii-ctl replay x.gapii --images folder --at 4711        what command 4711 has drawn";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Replay {
    #[command(flatten)]
    trace: Trace,

    #[command(flatten)]
    frames: Frames,

    /// Compare the driver's answers and observed frames with the recorded ones
    ///
    /// The exit status is 1 if any differ, and also if there was nothing to compare. Frames are compared if they were
    /// recorded with `--observe-frames`.
    #[arg(long)]
    verify: bool,

    /// Write each frame as a PNG to this folder, as it is just before it is presented
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    images: Option<PathBuf>,

    /// Omit the alpha channel from pictures of frames
    #[arg(long, requires = "images", conflicts_with = "at")]
    opaque: bool,

    /// With --images: replay up to this command and write the framebuffer that it drew to
    #[arg(long, value_name = "SEQ", requires = "images")]
    at: Option<u64>,

    /// With --at: write the framebuffer as it is before the command
    #[arg(long, requires = "at")]
    before: bool,

    /// With --at: also write the depth attachment
    #[arg(long, requires = "at")]
    depth: bool,

    /// With --at: also write the stencil attachment
    #[arg(long, requires = "at")]
    stencil: bool,

    /// Open a window for each window of the program
    #[arg(long)]
    window: bool,

    #[command(flatten)]
    allowance: Allowance,

    #[command(flatten)]
    json: Json,
}

pub fn run(args: &Replay) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    if let Some(folder) = &args.images {
        Folder::make(folder).map_err(Failure::system)?;
    }
    let needs = Needs { traces: &[path], folder: args.images.as_deref(), windows: args.window };
    sandbox::enter(args.allowance.sandbox, &needs)?;
    let stop = playing::hear_stops()?.within(&args.allowance);
    let mut reader = trace_file::open(path)?;
    trace_file::judge_wish(path, &mut reader, args.frames.frames.as_ref(), args.at)?;
    let mut options = Options {
        frames: args.frames.frames.clone(),
        window: args.window,
        verify: if args.verify { Verifier::on() } else { Verifier::default() },
        ..Options::default()
    };
    let mut drafts = None;
    if let Some(path) = &args.images {
        let begun = path.clone();
        drafts = Some(OnStop::new(move || Folder::remove_drafts(&begun)));
        let folder = Folder::open(path).map_err(Failure::system)?;
        options.stop_after = args.at;
        options.images = match args.at {
            None => Images::of_frames(
                folder,
                args.frames.frames.clone().unwrap_or(0..u64::MAX),
                args.opaque,
            ),
            Some(seq) => Images::of_command(At {
                seq,
                is_before: args.before,
                colors: true,
                depth: args.depth,
                stencil: args.stencil,
                resources: false,
                folder,
            }),
        };
    }
    let report = playing::play(path, &mut reader, options, stop)?;
    drop(drafts);
    match args.json.json {
        true => text::print_json(&report)?,
        false => {
            text::print(|out| write!(out, "{}", describe(&report)))?;
            if let Some(folder) = &args.images {
                text::say_written(report.images.files, folder);
            }
        }
    }
    let is_whole = args.at.is_none() && args.frames.frames.is_none() && !report.cancelled;
    if is_whole && reader.header().kept.is_some() {
        let info = Info::of(&mut reader).map_err(|error| unreadable(path, &error))?;
        let passed = info.calls.saturating_sub(report.played + report.skipped + report.refused);
        if passed > 0 {
            let commands = counted(passed, "command");
            text::say(&format!(
                "left out {commands} of later snapshots, which describe objects and state that the replay has already"
            ));
        }
    }
    if let Some(hint) = hint(args, &report) {
        text::say(&hint);
    }
    judge(&report)?;
    trace_file::judge_tail(path, reader.tail())?;
    if let Some(seq) = args.at {
        judge_pictures(&report, seq)?;
    }
    Ok(0)
}

/// Prints notes that explain the report.
fn hint(args: &Replay, report: &Report) -> Option<&'static str> {
    if report.played + report.skipped + report.refused == 0 && !report.cancelled {
        return Some("the trace has no commands of EGL, OpenGL ES or Level Zero");
    }
    if args.images.is_some() && args.at.is_none() && report.frames == 0 {
        return Some(
            "no pictures: no frame ended in the trace; --at SEQ shows what a command has drawn",
        );
    }
    lacks_observed_frames(report).then_some(
        "no frame was compared: the trace has none observed; record with --observe-frames N",
    )
}

/// Whether frames were to be compared, and the trace says of none what it looked like.
fn lacks_observed_frames(report: &Report) -> bool {
    // Without any comparison, the failure says it.
    let has_none =
        report.verified.as_ref().is_some_and(|it| it.compared > 0 && it.compared_frames() == 0);
    has_none && report.frames > 0 && report.has_surfaces
}

/// Fails if the requested pictures of a command were not taken.
pub fn judge_pictures(report: &Report, seq: u64) -> Result<(), Failure> {
    match (report.images.missed, report.images.files) {
        (Some(_), _) => Err(Failure::no(format!(
            "command {seq} was not played, so no picture of it exists; `gapii-ctl state FILE --at {seq}` needs none"
        ))),
        (None, 0) => Err(Failure::no(format!(
            "no picture of command {seq} could be taken: nothing is drawn to there; `gapii-ctl state FILE --at {seq}` shows what is bound"
        ))),
        (None, _) => Ok(()),
    }
}

/// Fails if the replay was stopped, skipped commands or found differences.
fn judge(report: &Report) -> Result<(), Failure> {
    if report.cancelled {
        let frames = counted(report.frames, "frame");
        return Err(Failure::answer(format!("stopped after {frames}, as asked")));
    }
    // Verification has judged skipped commands: some had failed in the recording, too.
    if report.skipped > 0 && report.verified.is_none() {
        let commands = counted(report.skipped, "command");
        return Err(Failure::answer(format!("{commands} could not be played")));
    }
    let Some(verified) = &report.verified else { return Ok(()) };
    // A command that had failed in the recording, and is not played, was compared: it is tolerated.
    if verified.compared == 0 {
        return Err(Failure::no(
            "nothing was verified: the trace has no answer of the driver and no frame to compare; record frames with \
             `--observe-frames N`",
        ));
    }
    match verified.different {
        0 => Ok(()),
        1 => Err(Failure::answer("1 answer differs from the recording".to_owned())),
        many => Err(Failure::answer(format!("{many} answers differ from the recording"))),
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
    if report.refused > 0 {
        let commands = counted(report.refused, "command");
        text.push_str(&format!("{commands} not played that had failed in the recording, too\n"));
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
        "compared {}, among them {}: {} equal, {} tolerated, {} different\n",
        counted(verified.compared, "answer"),
        counted(verified.compared_frames(), "frame"),
        verified.equal,
        verified.tolerated,
        verified.different,
    ));
    text
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
        assert_eq!(judge(&report).map_err(|failure| failure.status_of("replay")), Err(1));
        assert!(judge(&Report::default()).is_ok());
    }

    #[test]
    fn frames_that_all_differ_were_compared() {
        let lacks = |different_frames| {
            let verified = Verified { compared: 1, different_frames, ..Verified::default() };
            let (verified, frames, has_surfaces) = (Some(verified), 2, true);
            lacks_observed_frames(&Report { verified, frames, has_surfaces, ..Report::default() })
        };
        assert_eq!((lacks(0), lacks(2)), (true, false));
    }

    #[test]
    fn replay_without_a_comparison_verifies_nothing() {
        let judged = |verified: Verified| {
            let report = Report { verified: Some(verified), frames: 3, ..Report::default() };
            judge(&report).map_err(|failure| (failure.status_of("replay"), failure.to_string()))
        };
        let failure = judged(Verified::default()).expect_err("nothing was compared");
        assert!(failure.0 == 1 && failure.1.contains("nothing was verified"), "{failure:?}");
        // Commands that failed in the recording, too.
        assert!(judged(Verified { compared: 2, tolerated: 2, ..Verified::default() }).is_ok());
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
        assert_eq!(judge(&report).map_err(|failure| failure.status_of("replay")), Err(1));
    }
}

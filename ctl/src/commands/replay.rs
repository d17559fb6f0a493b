//! `replay`: replays a trace on the driver of this machine. Status 1 if it was stopped, if commands could not be played
//! (without `--verify`), if answers differ or none was compared, if the trace is damaged, or if pictures of `--at` are missing. Defines the
//! flags and prints the report; the crate `gapii_replay` does the work. A replay that takes more memory or time than it
//! may has status 1 and no report.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueHint};
use gapii_replay::images::{At, Checksums, Folder, Images, Which};
use gapii_replay::verify::{Verified, Verifier};
use gapii_replay::{Benchmark, Options, Report};
use gapii_trace::Info;

use crate::args::{Allowance, Frames, Json, Trace};
use crate::ending::OnStop;
use crate::failure::Failure;
use crate::finished_file::{self, FinishedFile};
use crate::frame_lines;
use crate::playing;
use crate::rounds::{self, Rounds};
use crate::sandbox::{self, Needs};
use crate::strictness;
use crate::text::{self, counted};
use crate::trace_file::{self, Reader, unreadable};

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl replay x.gapii --verify                         compare the driver's answers with the recorded ones
  gapii-ctl replay x.gapii --images folder --frames 10..20  pictures of frames 10 to 19
  gapii-ctl replay x.gapii --images folder --at 4711        what command 4711 has drawn
  gapii-ctl replay x.gapii --strict --checksum --json       for programs: a digest of each frame, and no exceptions";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
#[command(group(ArgGroup::new("pictures").multiple(true)))]
#[command(group(ArgGroup::new("of_frames").multiple(true)))]
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
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, group = "pictures")]
    images: Option<PathBuf>,

    /// Print a digest of each frame's pixels: BLAKE3 of its size and its RGBA pixels
    ///
    /// Equal pixels have equal digests on every machine. docs/replay.md has the exact form.
    #[arg(long, conflicts_with = "at", groups = ["pictures", "of_frames"])]
    checksum: bool,

    /// Print how long each frame took, on the CPU and on the GPU, in nanoseconds
    ///
    /// A frame's CPU time is the time since the end of the frame before. Its GPU time needs GL_EXT_disjoint_timer_query.
    /// Nothing is read back meanwhile but what the trace reads back itself.
    #[arg(long, conflicts_with_all = ["pictures", "verify", "at"], group = "of_frames")]
    benchmark: bool,

    /// Play the trace this many times, each time from its beginning, with contexts of its own
    ///
    /// Fails if a frame has different digests (--checksum) in two rounds.
    #[arg(long = "loop", value_name = "N", conflicts_with = "images", value_parser = clap::value_parser!(u64).range(1..))]
    rounds: Option<u64>,

    /// Play the last frame this many times, each time with the state and the objects that the time before has left
    ///
    /// Faster than --loop, which plays the whole trace each time and so gives the last frame the state that it had. Fails if the
    /// frame has different digests (--checksum) in two rounds.
    #[arg(long, value_name = "N", conflicts_with_all = ["rounds", "images", "verify"], value_parser = clap::value_parser!(u64).range(1..))]
    loop_last: Option<u64>,

    /// With --checksum or --benchmark: only of the last frame, of each round
    #[arg(long, requires = "of_frames")]
    last_frame: bool,

    /// Write the last frame as a PNG to this file, or to standard output for -
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "at", group = "pictures")]
    snapshot_last: Option<PathBuf>,

    /// Omit the alpha channel from pictures of frames, and take it as opaque in digests
    #[arg(long, requires = "pictures", conflicts_with = "at")]
    opaque: bool,

    /// Fail if anything was left out: commands that could not be played, also those that had failed in the recording,
    /// commands that the recording lost, and everything else that the replay remarks on
    #[arg(long)]
    strict: bool,

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

/// apitrace's name for `replay --images`, with its option for the output.
#[derive(Args, Debug)]
pub struct DumpImages {
    #[command(flatten)]
    trace: Trace,

    #[command(flatten)]
    frames: Frames,

    /// Folder for the pictures
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath, default_value = ".")]
    output: PathBuf,

    /// Omit the alpha channel
    #[arg(long)]
    opaque: bool,

    #[command(flatten)]
    allowance: Allowance,
}

/// Replays a trace for pictures of its frames.
pub fn dump_images(args: &DumpImages) -> Result<u8, Failure> {
    run(&Replay {
        trace: args.trace.clone(),
        frames: args.frames.clone(),
        verify: false,
        images: Some(args.output.clone()),
        checksum: false,
        benchmark: false,
        rounds: None,
        loop_last: None,
        last_frame: false,
        snapshot_last: None,
        opaque: args.opaque,
        strict: false,
        at: None,
        before: false,
        depth: false,
        stencil: false,
        window: false,
        allowance: args.allowance.clone(),
        json: Json { json: false },
    })
}

pub fn run(args: &Replay) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    if let Some(folder) = &args.images {
        Folder::make(folder).map_err(Failure::system)?;
    }
    let mut snapshot = None;
    if let Some(output) = &args.snapshot_last {
        args.json.must_have_standard_output(output)?;
        finished_file::check(output, "a picture")?;
        snapshot = Some((output, FinishedFile::create_apart(output, true)?));
    }
    let needs = Needs { traces: &[path], folder: args.images.as_deref(), windows: args.window };
    sandbox::enter(args.allowance.sandbox, &needs)?;
    let stop = playing::hear_stops()?.within(&args.allowance);
    let mut reader = trace_file::open(path)?;
    trace_file::judge_wish(path, &mut reader, args.frames.frames.as_ref(), args.at)?;
    let begun = args.images.clone();
    let drafts = begun.map(|begun| OnStop::new(move || Folder::remove_drafts(&begun)));
    let mut rounds = Rounds::default();
    for round in 0..args.rounds.unwrap_or(1) {
        let options = options(args, round)?;
        if !rounds.add(playing::play(path, &mut reader, options, stop.clone())?) {
            break;
        }
    }
    let mut report = rounds.finish();
    let first = args.frames.frames.as_ref().map_or(0, |frames| frames.start);
    report.frame_times.retain(|it| it.frame >= first);
    drop(drafts);
    let has_snapshot = report.last_picture.is_some();
    if let Some((output, mut file)) = snapshot
        && let Some(picture) = &report.last_picture
    {
        let failed = |error: io::Error| finished_file::writing_failure(output, &error);
        let mut png = Vec::new();
        picture.write_png(&mut png).map_err(failed)?;
        file.write_all(&png).and_then(|()| file.finish()).map_err(failed)?;
    }
    match args.json.json {
        true => text::print_json(&report)?,
        false => {
            let lines = frame_lines::lines(&report, args.rounds.or(args.loop_last).is_some());
            // A picture on standard output stands alone.
            match args.snapshot_last.as_ref().is_some_and(|output| output.as_os_str() == "-") {
                true => text::say(&format!("{lines}{}", describe(&report)).trim_end()),
                false => text::print(|out| write!(out, "{lines}{}", describe(&report)))?,
            }
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
    if let Some(hint) = hint(args, &report, &mut reader) {
        text::say(&hint);
    }
    judge(&report)?;
    judge_frames(args, &report, has_snapshot, &mut reader)?;
    rounds::judge(&report)?;
    if args.strict {
        strictness::judge(&report, reader.footer().map_or(0, |footer| footer.lost.calls))?;
    }
    trace_file::judge_tail(path, reader.tail())?;
    if let Some(seq) = args.at {
        judge_pictures(&report, seq)?;
    }
    Ok(0)
}

/// Options of a round.
fn options(args: &Replay, round: u64) -> Result<Options, Failure> {
    let mut options = Options {
        frames: args.frames.frames.clone(),
        window: args.window,
        repeats: args.loop_last.map_or(0, |rounds| rounds - 1),
        verify: if args.verify { Verifier::on() } else { Verifier::default() },
        checksums: checksums(args).in_round(round),
        ..Options::default()
    };
    if args.benchmark {
        options.benchmark = Benchmark::on(args.last_frame, round);
    }
    if let Some(path) = &args.images {
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
    Ok(options)
}

/// Checksums that the command line asks for.
fn checksums(args: &Replay) -> Checksums {
    let which = match (args.checksum, args.last_frame) {
        (false, _) => Which::None,
        (true, false) => Which::All,
        (true, true) => Which::Last,
    };
    Checksums::of(which, args.frames.frames.clone().unwrap_or(0..u64::MAX))
        .keep_last_picture(args.snapshot_last.is_some())
        .opaque(args.opaque)
}

/// Fails if a checksum or the picture of the last frame is missing.
fn judge_frames(
    args: &Replay,
    report: &Report,
    has_snapshot: bool,
    reader: &mut Reader,
) -> Result<(), Failure> {
    let what = [
        (args.checksum && report.checksums.is_empty(), "no checksum"),
        (args.benchmark && report.frame_times.is_empty(), "no frame was measured"),
        (args.snapshot_last.is_some() && !has_snapshot, "no picture of the last frame"),
    ];
    if let Some((_, what)) = what.into_iter().find(|(is_missing, _)| *is_missing) {
        let why = match report.notes.first() {
            Some(note) => note.clone(),
            None => format!("no frame ended in the trace{}", trace_file::guess_clause(reader)),
        };
        return Err(Failure::no(format!(
            "{what}: {why}; `gapii-ctl replay FILE --images DIR --at SEQ` shows what a command has drawn"
        )));
    }
    match report.frames_missed {
        0 => Ok(()),
        missed => Err(Failure::answer(format!("{} without a checksum", counted(missed, "frame")))),
    }
}

/// Prints notes that explain the report.
fn hint(args: &Replay, report: &Report, reader: &mut Reader) -> Option<String> {
    if report.played + report.skipped + report.refused == 0 && !report.cancelled {
        return Some("the trace has no commands of OpenGL, EGL, GLX or Level Zero".to_owned());
    }
    if args.images.is_some() && args.at.is_none() && report.frames == 0 {
        return Some(format!(
            "no pictures: no frame ended in the trace{}; --at SEQ shows what a command has drawn",
            trace_file::guess_clause(reader)
        ));
    }
    lacks_observed_frames(report).then(|| {
        "no frame was compared: the trace has none observed; record with --observe-frames N"
            .to_owned()
    })
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

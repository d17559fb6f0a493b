//! `stats`: prints statistics of a trace as tables or as one JSON object. Functions are sorted by driver time if the
//! trace has times, otherwise by calls; `--sort time` without times is refused. With times, the slowest commands follow,
//! with their numbers. `--plot` writes a picture of the frames' times, or fails without two frames with times. A filtered trace gets a warning, because redundant changes are told from its commands alone. A
//! damaged trace is counted up to the damage, with status 1.

use std::cmp::Reverse;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use gapii_analysis::stats::{
    Counter, Durations, FrameStats, FunctionStats, SlowCommand, Spread, Stats as TraceStats,
};
use gapii_trace::Info;
use gapii_trace::filter::Filter;
use gapii_trace::gpu_times::GpuTimes;
use gapii_trace::parallel::{Choice, Work};
use indicatif::{DecimalBytes, HumanCount};

use crate::args::{Json, Trace, one_or_more};
use crate::failure::Failure;
use crate::finished_file::{self, FinishedFile};
use crate::frame_plot::FramePlot;
use crate::reading_progress::ReadingProgress;
use crate::table::aligned;
use crate::text::{self, counted};
use crate::trace_file::{self, unreadable};

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl stats x.gapii --top 20                  the 20 most used functions (slowest, with --timing recorded)
  gapii-ctl stats x.gapii --function 'glDraw*'      all functions that draw
  gapii-ctl stats x.gapii --plot frames.svg         also a picture of the frames' times";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Stats {
    #[command(flatten)]
    trace: Trace,

    /// Sort order of functions [default: time if the trace has timing, otherwise count]
    #[arg(long, value_enum, value_name = "BY")]
    sort: Option<Sort>,

    /// List only this function, and the slowest of its commands, by name (* and ? match); may be repeated
    ///
    /// Totals, frames and threads are those of all commands.
    #[arg(long = "function", value_name = "NAME|GLOB")]
    functions: Vec<String>,

    /// List only the first N functions of the order that --sort gives, and the N slowest commands [default: all functions,
    /// 10 commands]
    #[arg(long, value_name = "N", value_parser = one_or_more::<NonZeroUsize>)]
    top: Option<NonZeroUsize>,

    /// Also write the times of frames over the trace as a picture, with the slowest frames marked
    #[arg(long, value_name = "OUT.svg")]
    plot: Option<PathBuf>,

    /// Overwrite the file of --plot if it exists
    #[arg(long, requires = "plot")]
    force: bool,

    #[command(flatten)]
    json: Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Sort {
    /// Number of calls
    Count,
    /// Total time in the driver, from a trace recorded with --timing
    #[value(alias = "driver-time")]
    Time,
}

pub fn run(args: &Stats) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    let mut reader = trace_file::open(path)?;
    if args.sort == Some(Sort::Time) {
        trace_file::judge_times(path, &reader)?;
    }
    let listed = Filter { functions: args.functions.clone(), ..Filter::default() };
    if let Some(mistake) = listed.mistake(&reader.header().description) {
        return Err(Failure::usage(format!(
            "{mistake}; `gapii-ctl stats {}` lists the functions of the trace",
            path.display()
        )));
    }
    if args.plot.as_deref() == Some(Path::new("-")) {
        return Err(Failure::usage(
            "standard output has the statistics; name a file, as in `--plot frames.svg`".to_owned(),
        ));
    }
    let info = Info::of(&mut reader).map_err(|error| unreadable(path, &error))?;
    let filter = reader.header().filter.clone();
    let gpu_times = GpuTimes::of(&mut reader).map_err(|error| unreadable(path, &error))?;
    let commands = reader.commands().map_err(|error| unreadable(path, &error))?;
    let mut commands = commands.with_gpu_times(gpu_times);
    let mut progress = ReadingProgress::start(info.calls);
    let mut plot = FramePlot::default();
    let mut counter = Counter::listing(listed, args.top.map(NonZeroUsize::get));
    // One worker: what a command changes depends on those before it.
    let count = |work: Work<'_>| work.commands().for_each(|command| counter.count(&command));
    let counted: io::Result<()> = commands.in_parallel(
        vec![count],
        |command, _| {
            if args.plot.is_some() {
                plot.note(command);
            }
            Choice::Take
        },
        |(), read| {
            progress.add(read);
            Ok(())
        },
    );
    progress.clear();
    counted.map_err(|error| unreadable(path, &error))?;
    if let Some(output) = &args.plot {
        let svg = plot.svg().ok_or_else(|| no_times(path))?;
        write_plot(output, args.force, &svg)?;
    }
    let mut stats = counter.finish();
    let is_empty = stats.functions.is_empty() && !args.functions.is_empty();
    keep_top(&mut stats, args);
    match args.json.json {
        true => text::print_json(&stats)?,
        false => text::print(|out| write!(out, "{}", describe(&stats, args.sort)))?,
    }
    if !filter.is_empty() {
        text::say(&format!(
            "it was recorded with a filter, and has only {filter}: whether a change was needless is told \
             from these alone"
        ));
    }
    trace_file::judge_tail(path, commands.tail())?;
    match is_empty {
        false => Ok(0),
        true => Err(Failure::no(format!(
            "{0} has no command of {1}; `gapii-ctl stats {0}` lists its functions",
            path.display(),
            args.functions.join(", ").escape_debug()
        ))),
    }
}

/// Writes the picture of `--plot`.
fn write_plot(output: &Path, force: bool, svg: &str) -> Result<(), Failure> {
    let unwritable = |error: &io::Error| finished_file::writing_failure(output, error);
    let mut file = FinishedFile::create(output, force)?;
    file.write_all(svg.as_bytes()).map_err(|error| unwritable(&error))?;
    file.finish().map_err(|error| unwritable(&error))
}

fn no_times(path: &Path) -> Failure {
    Failure::no(format!(
        "{0} has no two frames with times, so there is nothing to plot; `gapii-ctl info {0}` shows its frames",
        path.display()
    ))
}

/// Leaves the first functions in the list, by the order of `--sort`; they stay sorted by name.
fn keep_top(stats: &mut TraceStats, args: &Stats) {
    let Some(top) = args.top else { return };
    let order = sorted(stats, args.sort);
    let kept: Vec<String> =
        order.into_iter().take(top.get()).map(|function| function.name.clone()).collect();
    stats.functions.retain(|function| kept.contains(&function.name));
}

/// Returns the functions in the order of `--sort`.
fn sorted(stats: &TraceStats, sort: Option<Sort>) -> Vec<&FunctionStats> {
    let sort = sort.unwrap_or(if stats.driver.is_some() { Sort::Time } else { Sort::Count });
    let mut functions: Vec<&FunctionStats> = stats.functions.iter().collect();
    functions.sort_by_key(|function| match (sort, function.driver) {
        (Sort::Count, _) => Reverse((function.commands, 0)),
        (Sort::Time, driver) => {
            Reverse((driver.map_or(0, |driver| driver.total_ns), function.commands))
        }
    });
    functions
}

fn describe(stats: &TraceStats, sort: Option<Sort>) -> String {
    let mut text = aligned(summary(stats).into_iter());
    text.push('\n');
    let is_timed = stats.driver.is_some();
    let functions = sorted(stats, sort).into_iter();
    if !is_timed {
        return text + &aligned(std::iter::once(head()).chain(functions.map(function_row)));
    }
    text.push_str(&aligned(std::iter::once(timed_head()).chain(functions.map(timed_function_row))));
    if stats.gpu.is_some() {
        text.push_str("\non the GPU\n");
        text.push_str(&aligned(std::iter::once(gpu_head()).chain(gpu_rows(stats))));
    }
    text.push_str("\nslowest commands\n");
    text + &aligned(std::iter::once(slow_head()).chain(stats.slowest.iter().map(slow_row)))
}

fn head() -> [String; 5] {
    ["FUNCTION", "COMMANDS", "READ", "WRITTEN", "REDUNDANT"].map(str::to_owned)
}

/// SEQ is the number of the command with the time MAX.
fn timed_head() -> [String; 10] {
    let [function, commands, read, written, redundant] = head();
    let [time, share, mean, max, seq] = ["TIME", "SHARE", "MEAN", "MAX", "SEQ"].map(str::to_owned);
    [function, commands, time, share, mean, max, seq, read, written, redundant]
}

/// SEQ is the number of the command with the time MAX.
fn gpu_head() -> [String; 7] {
    ["FUNCTION", "COMMANDS", "TIME", "SHARE", "MEAN", "MAX", "SEQ"].map(str::to_owned)
}

/// Returns the functions with times on the GPU, the longest time first.
fn gpu_rows(stats: &TraceStats) -> impl Iterator<Item = [String; 7]> + '_ {
    let timed = stats.functions.iter().filter_map(|function| Some((function, function.gpu?)));
    let mut timed: Vec<_> = timed.collect();
    timed.sort_by_key(|(_, gpu)| Reverse(gpu.total_ns));
    timed.into_iter().map(|(function, gpu)| {
        let [time, share, mean, max, seq] = times_row(&gpu);
        [function.name.clone(), HumanCount(gpu.commands).to_string(), time, share, mean, max, seq]
    })
}

fn slow_head() -> [String; 5] {
    ["SEQ", "THREAD", "FRAME", "TIME", "COMMAND"].map(str::to_owned)
}

fn slow_row(slow: &SlowCommand) -> [String; 5] {
    [
        seq_text(slow.seq),
        slow.tid.to_string(),
        slow.frame.to_string(),
        time(slow.driver_ns),
        slow.name.clone(),
    ]
}

/// A command without an effect has no number.
fn seq_text(seq: Option<u64>) -> String {
    seq.map_or_else(|| "-".to_owned(), |seq| seq.to_string())
}

fn summary(stats: &TraceStats) -> Vec<[String; 2]> {
    let row = |name: &str, value: String| [name.to_owned(), value];
    let frames = &stats.frames;
    let mut rows = vec![
        row("commands", format!("{} in {}", HumanCount(stats.commands), counted_frames(frames))),
        row("per frame", spread(frames, |frame| frame.commands)),
    ];
    if stats.setup_commands > 0 {
        let commands = counted(stats.setup_commands, "command");
        rows.push(row(
            "snapshots",
            format!("{commands} of the shim beside these, which describe the state"),
        ));
    }
    rows.extend([
        row(
            "draws",
            format!("{}; per frame {}", HumanCount(stats.draws), spread(frames, |f| f.draws)),
        ),
        row("dispatches", HumanCount(stats.dispatches).to_string()),
        row(
            "uploaded",
            format!(
                "{} to buffers and textures, {} by draws from client memory",
                DecimalBytes(stats.uploaded_bytes),
                DecimalBytes(stats.client_bytes)
            ),
        ),
        row("read back", DecimalBytes(stats.read_back_bytes).to_string()),
        row(
            "state",
            format!(
                "{}, {} of them redundant",
                counted(stats.state_changes, "change"),
                HumanCount(stats.redundant_changes)
            ),
        ),
    ]);
    rows.extend(stats.driver.map(|driver| row("driver", driver_text(&driver, stats))));
    rows.extend(stats.gpu.map(|gpu| row("gpu", gpu_text(&gpu, stats))));
    rows.extend(stats.threads.iter().map(|thread| {
        let commands = counted(thread.commands, "command");
        let draws = counted(thread.draws, "draw");
        let driver = thread.driver_ns.map(|ns| format!(", {} in the driver", time(ns)));
        let driver = driver.unwrap_or_default();
        row("thread", format!("{}: {commands}, {draws}{driver}", thread.tid))
    }));
    rows
}

fn driver_text(driver: &Durations, stats: &TraceStats) -> String {
    let total = time(driver.total_ns);
    let Some(Spread { min_ns, median_ns, max_ns }) = stats.driver_in_frames else { return total };
    let [min, median, max] = [min_ns, median_ns, max_ns].map(time);
    let slowest = stats.frames.iter().find(|frame| frame.driver_ns == Some(max_ns));
    let slowest = slowest.map(|slowest| format!(" (frame {})", slowest.frame)).unwrap_or_default();
    format!(
        "{total} of CPU time until the calls returned; per frame {min} to {max}{slowest}, median {median}"
    )
}

fn gpu_text(gpu: &Durations, stats: &TraceStats) -> String {
    let (total, commands) = (time(gpu.total_ns), counted(gpu.commands, "command"));
    let Some(Spread { min_ns, median_ns, max_ns }) = stats.gpu_in_frames else { return total };
    let [min, median, max] = [min_ns, median_ns, max_ns].map(time);
    format!("{total} for {commands}; per frame {min} to {max}, median {median}")
}

/// Formats a time with its unit, with at most four digits.
fn time(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} µs", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.2} s", Duration::from_nanos(ns).as_secs_f64()),
    }
}

/// Counts the frames that ended, as `info` does, and names the commands behind the last one.
fn counted_frames(frames: &[FrameStats]) -> String {
    let ended = frames.iter().filter(|frame| frame.is_complete).count();
    let rest: u64 = frames.iter().filter(|it| !it.is_complete).map(|it| it.commands).sum();
    let ended = counted(ended as u64, "frame");
    match rest {
        0 => ended,
        _ => format!("{ended}, and {} after the last frame", HumanCount(rest)),
    }
}

/// Minimum, median and maximum of a figure over the frames.
fn spread(frames: &[FrameStats], figure: impl Fn(&FrameStats) -> u64) -> String {
    let mut figures: Vec<u64> = frames.iter().map(figure).collect();
    figures.sort_unstable();
    match (figures.first(), figures.get(figures.len() / 2), figures.last()) {
        (Some(least), Some(middle), Some(most)) => format!(
            "{} to {}, median {}",
            HumanCount(*least),
            HumanCount(*most),
            HumanCount(*middle)
        ),
        _ => "0".to_owned(),
    }
}

fn function_row(function: &FunctionStats) -> [String; 5] {
    let bytes = |bytes: u64| match bytes {
        0 => "-".to_owned(),
        bytes => DecimalBytes(bytes).to_string(),
    };
    let redundant = match function.redundant {
        0 => "-".to_owned(),
        count => HumanCount(count).to_string(),
    };
    [
        function.name.clone(),
        HumanCount(function.commands).to_string(),
        bytes(function.read_bytes),
        bytes(function.written_bytes),
        redundant,
    ]
}

fn timed_function_row(function: &FunctionStats) -> [String; 10] {
    let [name, commands, read, written, redundant] = function_row(function);
    let [total, share, mean, max, seq] = match function.driver {
        Some(times) => times_row(&times),
        None => ["-"; 5].map(str::to_owned),
    };
    [name, commands, total, share, mean, max, seq, read, written, redundant]
}

/// Total, share, mean, maximum, and the number of the command with the maximum.
fn times_row(times: &Durations) -> [String; 5] {
    let Durations { total_ns, mean_ns, max_ns, max_seq, share, .. } = *times;
    let share = format!("{:.1}%", share * 100.0);
    [time(total_ns), share, time(mean_ns), time(max_ns), seq_text(max_seq)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_listed_by_how_often_they_occur() {
        let function = |name: &str, commands| FunctionStats {
            name: name.to_owned(),
            commands,
            ..FunctionStats::default()
        };
        let stats = TraceStats {
            functions: vec![function("glClear", 2), function("glFlush", 30)],
            ..TraceStats::default()
        };
        let text = describe(&stats, None);
        assert!(text.find("glFlush") < text.find("glClear"), "{text}");
        assert!(!text.contains("driver") && !text.contains("TIME"), "{text}");
    }

    #[test]
    fn functions_with_times_are_listed_by_them_unless_asked_otherwise() {
        let timed = |total_ns| Some(Durations { commands: 1, total_ns, ..Durations::default() });
        let function = |name: &str, commands, total_ns| FunctionStats {
            name: name.to_owned(),
            commands,
            driver: timed(total_ns),
            ..FunctionStats::default()
        };
        let stats = TraceStats {
            driver: timed(5_000_000),
            functions: vec![function("glUniform1i", 30, 999), function("glFinish", 2, 4_999_001)],
            ..TraceStats::default()
        };
        for (sort, finish_first) in
            [(None, true), (Some(Sort::Time), true), (Some(Sort::Count), false)]
        {
            let text = describe(&stats, sort);
            assert_eq!(text.find("glFinish") < text.find("glUniform1i"), finish_first, "{text}");
            assert!(text.contains("5.0 ms") && text.contains("999 ns"), "{text}");
        }
    }

    #[test]
    fn slowest_commands_and_frame_are_listed_with_their_numbers() {
        let driver = Durations { max_ns: 7_000, max_seq: Some(41), ..Durations::default() };
        let finish = FunctionStats {
            name: "glFinish".to_owned(),
            driver: Some(driver),
            ..Default::default()
        };
        let frame = |frame, driver_ns| FrameStats { frame, driver_ns, ..FrameStats::default() };
        let slow = |seq, driver_ns| SlowCommand {
            seq,
            name: "glFinish".to_owned(),
            tid: 17,
            frame: 3,
            driver_ns,
            ..SlowCommand::default()
        };
        let stats = TraceStats {
            driver: Some(driver),
            driver_in_frames: Some(Spread { min_ns: 1, median_ns: 1, max_ns: 7_000 }),
            frames: vec![
                FrameStats { is_complete: true, ..frame(2, Some(1)) },
                FrameStats { commands: 5, ..frame(3, Some(7_000)) },
            ],
            setup_commands: 9,
            functions: vec![finish],
            slowest: vec![slow(Some(41), 7_000), slow(None, 30)],
            ..TraceStats::default()
        };
        let text = describe(&stats, None);
        assert!(text.contains(" in 1 frame, and 5 after the last frame\n"), "{text}");
        assert!(text.contains("9 commands of the shim beside these"), "{text}");
        assert!(text.contains("7.0 µs (frame 3)"), "{text}");
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let lines: Vec<_> = text.lines().map(words).collect();
        let row = lines.iter().find(|words| words.first().is_some_and(|word| word == "glFinish"));
        assert!(row.is_some_and(|row| row.contains(&"41".to_owned())), "{text}");
        let expected =
            ["SEQ THREAD FRAME TIME COMMAND", "41 17 3 7.0 µs glFinish", "- 17 3 30 ns glFinish"];
        assert_eq!(lines[lines.len() - 3..], expected.map(words), "{text}");
    }

    #[test]
    fn times_have_units() {
        let times = [0, 999, 1_000, 12_345, 1_000_000, 2_500_000_000].map(time);
        assert_eq!(times, ["0 ns", "999 ns", "1.0 µs", "12.3 µs", "1.0 ms", "2.50 s"]);
    }

    #[test]
    fn spread_has_least_middle_and_most() {
        let frame = |commands| FrameStats { commands, ..FrameStats::default() };
        let frames = [frame(9), frame(1), frame(4)];
        assert_eq!(spread(&frames, |frame| frame.commands), "1 to 9, median 4");
        assert_eq!(spread(&[], |frame| frame.commands), "0");
    }
}

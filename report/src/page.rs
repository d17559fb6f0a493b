//! The page: what it has, in which order, and how it keeps within its size.

use std::collections::{BTreeMap, BTreeSet};

use gapii_analysis::graphics::Graphics;
use gapii_analysis::problems::{Problem, Problems};
use gapii_analysis::stats::{FrameStats, Stats};
use gapii_trace::{Info, Untrusted};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::graph::{Bar, graph};
use crate::notable::notable_frames;
use crate::numbers::{bytes, count, counted, time};
use crate::picture::address;

pub(crate) const STYLE: &str = include_str!("style.css");
/// The page may show what is in it, and nothing else: no script, no other file, no request.
pub(crate) const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
/// Bytes of a row in the table of frames, about.
const ROW_BYTES: u64 = 160;
/// Bytes of a link from a bar of a graph to a row, at most.
const LINK_BYTES: usize = 48;
/// Most rows in the table of functions.
const FUNCTIONS_MAX: usize = 100;
/// Most processes with graphs of their own.
const PROCESSES_MAX: usize = 8;
/// Most bytes of the crash report that are shown.
const CRASH_BYTES_MAX: usize = 200_000;

/// The trace that a report describes, with what was found in it.
pub struct Report<'a> {
    /// Name of the trace, for the title.
    pub name: String,
    /// When and for how long the trace was recorded, in words; `None` if it does not tell.
    pub recorded: Option<String>,
    /// Summary of the trace.
    pub info: &'a Info,
    /// Drivers and surfaces.
    pub graphics: &'a Graphics,
    /// Statistics.
    pub stats: &'a Stats,
    /// Problems.
    pub problems: &'a Problems,
    /// Times of frames, if the trace has them.
    pub frame_times: &'a [FrameTime],
    /// Text of the crash report; `None` if there is none.
    pub crash: Option<&'a str>,
    /// Thumbnails, the most notable first.
    pub thumbnails: &'a [Thumbnail],
    /// Why the report has no thumbnails, as a sentence; `None` if it has some.
    pub without_thumbnails: Option<String>,
    /// Name and version of the program that makes the report.
    pub made_by: String,
    /// Most bytes of the page.
    pub max_bytes: u64,
}

/// How long a frame took.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameTime {
    /// Index of the process.
    pub process: u32,
    /// Number of the frame.
    pub frame: u64,
    /// Nanoseconds.
    pub time_ns: u64,
}

/// A small picture of a frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thumbnail {
    /// Index of the process.
    pub process: u32,
    /// Number of the frame.
    pub frame: u64,
    /// Width and height, in pixels.
    pub size: [u32; 2],
    /// The picture as PNG.
    pub png: Vec<u8>,
}

/// A page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// The text of the file.
    pub html: String,
    /// Number of thumbnails in it.
    pub thumbnails: usize,
    /// Number of frames that it lists.
    pub frames: usize,
}

impl Report<'_> {
    /// Returns the page. It is larger than [`Report::max_bytes`] only if it is without frames and thumbnails.
    pub fn page(&self) -> Page {
        let listed = self.listed(self.room_for_frames());
        let before = self.before_thumbnails(&listed).into_string();
        let after = self.after_thumbnails(&listed).into_string();
        let ends = html! { (PreEscaped("</main></body></html>\n")) }.into_string();
        let used = (before.len() + after.len() + ends.len()) as u64;
        let (thumbnails, shown) = self.sheet(&listed, self.max_bytes.saturating_sub(used));
        let html = [before, thumbnails.into_string(), after, ends].concat();
        Page { html, thumbnails: shown, frames: listed.len() }
    }

    /// Times of the frames, at their positions in the statistics.
    fn times(&self) -> Vec<Option<u64>> {
        let times = self.frame_times.iter().map(|it| ((it.process, it.frame), it.time_ns));
        let times: BTreeMap<(u32, u64), u64> = times.collect();
        let frames = self.stats.frames.iter();
        frames.map(|it| times.get(&(it.process, it.frame)).copied().or(it.driver_ns)).collect()
    }

    /// Bytes for rows of frames: half of what everything else leaves, so that thumbnails have the other half.
    fn room_for_frames(&self) -> u64 {
        let none = BTreeSet::new();
        let before = self.before_thumbnails(&none).into_string();
        let after = self.after_thumbnails(&none).into_string();
        let links = before.matches("<rect").count() * LINK_BYTES;
        let rest = (before.len() + after.len() + links) as u64;
        self.max_bytes.saturating_sub(rest) / 2
    }

    /// Positions of the frames that have a row in a table of this size.
    fn listed(&self, room: u64) -> BTreeSet<usize> {
        let most = usize::try_from(room / ROW_BYTES).unwrap_or(usize::MAX);
        let frames = &self.stats.frames;
        match frames.len() <= most {
            true => (0..frames.len()).collect(),
            false => notable_frames(frames, &self.times(), most).into_iter().collect(),
        }
    }

    fn before_thumbnails(&self, listed: &BTreeSet<usize>) -> Markup {
        html! {
            (DOCTYPE)
            (PreEscaped("<html lang=\"en\">"))
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width";
                meta name="referrer" content="no-referrer";
                title { (shown(&self.name)) " – gapii report" }
                style { (PreEscaped(STYLE)) }
            }
            (PreEscaped("<body><main>"))
            h1 { (shown(&self.name)) }
            nav {
                @for (id, title) in [
                    ("problems", "Problems"), ("graphs", "Frame graph"), ("thumbnails", "Thumbnails"),
                    ("statistics", "Statistics"), ("system", "System"), ("frames", "Frames"),
                ] {
                    a href={ "#" (id) } { (title) }
                }
                @if self.crash.is_some() { a href="#crash" { "Crash report" } }
            }
            p {
                (counted(self.info.frames, "frame")) ", "
                (counted(self.stats.commands, "command")) " of "
                (counted(self.info.threads, "thread"))
                @if let Some(recorded) = &self.recorded { ", recorded " (shown(recorded)) }
                ". Frames and commands are numbered from 0."
            }
            (self.problems())
            (self.crash())
            (self.graphs(listed))
        }
    }

    fn after_thumbnails(&self, listed: &BTreeSet<usize>) -> Markup {
        html! { (self.statistics()) (self.system()) (self.frames(listed)) }
    }

    fn problems(&self) -> Markup {
        let Problems { errors, warnings, notes, problems, left_out } = self.problems;
        html! {
            h2 id="problems" { "Problems" }
            @if problems.is_empty() {
                p { "No problem was found." }
            } @else {
                p {
                    (counted(*errors, "error")) ", " (counted(*warnings, "warning")) ", "
                    (counted(*notes, "note")) "."
                    @if *left_out > 0 { " " (count(*left_out)) " further occurrences are left out." }
                }
                table {
                    tr {
                        th { "severity" } th class="n" { "count" } th class="n" { "frame" }
                        th class="n" { "command" } th { "problem" }
                    }
                    @for problem in problems { (problem_row(problem)) }
                }
            }
        }
    }

    fn crash(&self) -> Markup {
        let Some(crash) = self.crash else { return html! {} };
        let text = Untrusted::from(crash).cut(CRASH_BYTES_MAX);
        html! {
            h2 id="crash" { "Crash report" }
            pre { @for line in text.raw().lines() { (shown(line)) "\n" } }
        }
    }

    fn graphs(&self, listed: &BTreeSet<usize>) -> Markup {
        let frames = &self.stats.frames;
        let times = self.times();
        let what = match (self.frame_times.is_empty(), self.stats.driver.is_some()) {
            (false, _) => "time per frame",
            (true, true) => "driver's time per frame",
            (true, false) => "",
        };
        let mut parts: Vec<(usize, &[FrameStats])> = Vec::new();
        for part in frames.chunk_by(|a, b| a.process == b.process) {
            let first = parts.last().map_or(0, |(first, before)| first + before.len());
            parts.push((first, part));
        }
        html! {
            h2 id="graphs" { "Frame graph" }
            @if frames.is_empty() { p { "The trace has no frame." } }
            @for (first, part) in parts.iter().take(PROCESSES_MAX) {
                @if parts.len() > 1 { h3 { (self.process(part[0].process)) } }
                @let bar = |at: usize, value: u64, words: String| {
                    let frame = &part[at];
                    let row = listed.contains(&(first + at)).then(|| row_of(frame));
                    Bar { value, title: format!("frame {}: {words}", frame.frame), row }
                };
                @if !what.is_empty() {
                    @let value = |at: usize| times[first + at].unwrap_or(0);
                    (graph(what, part.len(), value, |at| bar(at, value(at), time(value(at))), time))
                }
                @let value = |at: usize| part[at].commands;
                @let words = |at: usize| counted(value(at), "command");
                (graph("commands per frame", part.len(), value, |at| bar(at, value(at), words(at)), count))
                @let value = |at: usize| part[at].uploaded_bytes;
                @if part.iter().any(|frame| frame.uploaded_bytes > 0) {
                    (graph("uploaded per frame", part.len(), value, |at| bar(at, value(at), bytes(value(at))), bytes))
                }
            }
            @if parts.len() > PROCESSES_MAX {
                p class="detail" { (counted((parts.len() - PROCESSES_MAX) as u64, "further process")) " without graphs." }
            }
        }
    }

    /// The thumbnails that fit into `room` bytes, and their number.
    fn sheet(&self, listed: &BTreeSet<usize>, room: u64) -> (Markup, usize) {
        let several = self.stats.frames.iter().any(|frame| frame.process != 0);
        let listed = listed.iter().filter_map(|at| self.stats.frames.get(*at)).map(row_of);
        let listed: BTreeSet<String> = listed.collect();
        let figure = |thumbnail: &Thumbnail| {
            let Thumbnail { process, frame, size: [width, height], png } = thumbnail;
            let row = row_name(*process, *frame);
            let words = match several {
                true => format!("{frame} of process {process}"),
                false => frame.to_string(),
            };
            html! {
                figure {
                    img src=(address(png)) width=(width) height=(height) alt={ "frame " (words) };
                    figcaption {
                        @if listed.contains(&row) { a href={ "#" (row) } { "frame " (words) } }
                        @else { "frame " (words) }
                    }
                }
            }
        };
        // The words around the thumbnails.
        let mut room = room.saturating_sub(1000);
        let mut shown_ones: Vec<((u32, u64), String)> = Vec::new();
        for thumbnail in self.thumbnails {
            let text = figure(thumbnail).into_string();
            let Some(rest) = room.checked_sub(text.len() as u64) else { continue };
            room = rest;
            shown_ones.push(((thumbnail.process, thumbnail.frame), text));
        }
        shown_ones.sort_by_key(|(frame, _)| *frame);
        let left_out = self.thumbnails.len() - shown_ones.len();
        let markup = html! {
            h2 id="thumbnails" { "Thumbnails" }
            @if let Some(why) = &self.without_thumbnails { p { (shown(why)) } }
            @if !shown_ones.is_empty() {
                p class="detail" {
                    "The longest frames, those that differ most from the frame before, and some between."
                    @if left_out > 0 {
                        " " (counted(left_out as u64, "thumbnail")) " did not fit; gapii-ctl report --max-bytes allows a larger file."
                    }
                }
                div class="sheet" { @for (_, text) in &shown_ones { (PreEscaped(text)) } }
            } @else if left_out > 0 {
                p { "No thumbnail fits into the file; gapii-ctl report --max-bytes allows a larger one." }
            }
        };
        (markup, shown_ones.len())
    }

    fn statistics(&self) -> Markup {
        let stats = self.stats;
        let is_timed = stats.driver.is_some();
        let mut functions: Vec<_> = stats.functions.iter().collect();
        functions.sort_by_key(|function| {
            let time = function.driver.map_or(0, |driver| driver.total_ns);
            std::cmp::Reverse((time, function.commands))
        });
        let rows: [(&str, String); 8] = [
            ("commands", count(stats.commands)),
            ("commands of snapshots", count(stats.setup_commands)),
            ("draws", count(stats.draws)),
            ("dispatches", count(stats.dispatches)),
            ("uploaded", bytes(stats.uploaded_bytes)),
            ("read from client memory by draws", bytes(stats.client_bytes)),
            ("read back", bytes(stats.read_back_bytes)),
            (
                "state changes",
                format!(
                    "{}, {} redundant",
                    count(stats.state_changes),
                    count(stats.redundant_changes)
                ),
            ),
        ];
        html! {
            h2 id="statistics" { "Statistics" }
            table { @for (name, value) in rows { tr { th { (name) } td class="n" { (value) } } } }
            h3 { "Functions" }
            table {
                tr {
                    th { "function" } th class="n" { "commands" }
                    @if is_timed { th class="n" { "time" } th class="n" { "longest" } }
                    th class="n" { "read" } th class="n" { "written" } th class="n" { "redundant" }
                }
                @for function in functions.iter().take(FUNCTIONS_MAX) {
                    tr {
                        td { (shown(&function.name)) } td class="n" { (count(function.commands)) }
                        @if is_timed {
                            @let driver = function.driver.unwrap_or_default();
                            td class="n" { (time(driver.total_ns)) } td class="n" { (time(driver.max_ns)) }
                        }
                        td class="n" { (bytes(function.read_bytes)) }
                        td class="n" { (bytes(function.written_bytes)) }
                        td class="n" { (count(function.redundant)) }
                    }
                }
            }
            @if functions.len() > FUNCTIONS_MAX {
                p class="detail" { "and " (counted((functions.len() - FUNCTIONS_MAX) as u64, "further function")) }
            }
            @if !stats.slowest.is_empty() {
                h3 { "Slowest commands" }
                table {
                    tr { th class="n" { "command" } th class="n" { "frame" } th class="n" { "time" } th { "function" } }
                    @for slow in &stats.slowest {
                        tr {
                            td class="n" { (number(slow.seq)) } td class="n" { (slow.frame) }
                            td class="n" { (time(slow.driver_ns)) } td { (shown(&slow.name)) }
                        }
                    }
                }
            }
            h3 { "Threads" }
            table {
                tr { th class="n" { "thread" } th { "process" } th class="n" { "commands" } th class="n" { "draws" } }
                @for thread in stats.threads.iter().take(FUNCTIONS_MAX) {
                    tr {
                        td class="n" { (thread.tid) } td { (self.process(thread.process)) }
                        td class="n" { (count(thread.commands)) } td class="n" { (count(thread.draws)) }
                    }
                }
            }
        }
    }

    fn system(&self) -> Markup {
        let info = self.info;
        html! {
            h2 id="system" { "System" }
            table {
                @for driver in &self.graphics.drivers {
                    tr {
                        th { "driver" }
                        td {
                            @if let Some(renderer) = &driver.renderer { (renderer.to_string()) }
                            @if let Some(version) = &driver.version { br; (version.to_string()) }
                        }
                    }
                }
                @if !self.graphics.surface_sizes.is_empty() {
                    tr {
                        th { "surfaces" }
                        td { @for size in &self.graphics.surface_sizes { (size.width) " × " (size.height) " " } }
                    }
                }
                @for process in info.processes.iter().take(FUNCTIONS_MAX) {
                    @let name = if process.exe.is_empty() { &process.name } else { &process.exe };
                    tr {
                        th { "process " (process.pid) }
                        td { (name.to_string()) ", " (counted(process.frames, "frame")) }
                    }
                }
                tr { th { "APIs" } td { @for api in &info.apis { (api.to_string()) " " } } }
                tr {
                    th { "capture" }
                    td {
                        @if info.snapshot { "begins with a snapshot of a running program" }
                        @else { "begins with the program" }
                        @if let Some(reason) = info.end_of_stream.reason { "; ended: " (reason.name()) }
                        @if let Some(signal) = info.end_of_stream.signal { ", signal " (signal) }
                        @if let Some(tail) = &info.tail { "; the file is " (shown(tail)) }
                    }
                }
                tr {
                    th { "recorder" }
                    td { (info.writer.to_string()) ", trace format " (info.format_version) }
                }
                tr { th { "file" } td { (bytes(info.file_bytes)) } }
                tr { th { "report" } td { "made by " (shown(&self.made_by)) } }
            }
        }
    }

    fn frames(&self, listed: &BTreeSet<usize>) -> Markup {
        let frames = &self.stats.frames;
        let times = self.times();
        let is_timed = times.iter().any(Option::is_some);
        let several = frames.iter().any(|frame| frame.process != 0);
        html! {
            h2 id="frames" { "Frames" }
            @if listed.len() < frames.len() {
                p class="detail" {
                    "The " (count(listed.len() as u64)) " most notable of " (count(frames.len() as u64))
                    " frames; gapii-ctl report --max-bytes allows a larger file."
                }
            }
            table {
                tr {
                    @if several { th class="n" { "process" } }
                    th class="n" { "frame" }
                    @if is_timed { th class="n" { "time" } }
                    th class="n" { "commands" } th class="n" { "draws" } th class="n" { "uploaded" }
                }
                @for at in listed {
                    @let frame = &frames[*at];
                    tr id=(row_of(frame)) {
                        @if several { td class="n" { (frame.process) } }
                        td class="n" { (frame.frame) @if !frame.is_complete { " (did not end)" } }
                        @if is_timed { td class="n" { @if let Some(ns) = times[*at] { (time(ns)) } } }
                        td class="n" { (frame.commands) } td class="n" { (frame.draws) }
                        td class="n" { (bytes(frame.uploaded_bytes)) }
                    }
                }
            }
        }
    }

    /// Name and id of a process.
    fn process(&self, process: u32) -> String {
        match self.info.processes.get(process as usize) {
            Some(entry) => format!("process {} {}", entry.pid, entry.name),
            None => format!("process {process}"),
        }
    }
}

fn problem_row(problem: &Problem) -> Markup {
    let row = problem.process.zip(problem.frame).map(|(process, frame)| row_name(process, frame));
    html! {
        tr {
            td class=(problem.severity) { (problem.severity) }
            td class="n" { (count(problem.count)) }
            td class="n" { @if let (Some(row), Some(frame)) = (row, problem.frame) { a href={ "#" (row) } { (frame) } } }
            td class="n" { (number(problem.seq)) }
            td {
                (problem.sentence.to_string())
                @if let Some(wasted) = problem.bytes { "; " (bytes(wasted)) " in vain" }
                @if let Some(detail) = &problem.detail {
                    div class="detail" { @for line in detail.raw().lines() { (shown(line)) br; } }
                }
            }
        }
    }
}

/// Text of a trace, without control characters and without characters that reverse the order of text.
fn shown(text: &str) -> String {
    Untrusted::from(text).to_string()
}

fn number(number: Option<u64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

fn row_of(frame: &FrameStats) -> String {
    row_name(frame.process, frame.frame)
}

/// Name of a frame's row in the page.
fn row_name(process: u32, frame: u64) -> String {
    format!("f{process}-{frame}")
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use gapii_trace::{TraceHeader, TraceReader};

    use super::*;

    /// The page of a trace with this number of frames, of which each has a thumbnail of 30,000 bytes; the last one is the
    /// most notable.
    fn page(frames: u64, max_bytes: u64) -> Page {
        let file = TraceHeader::new("test", [7; 16], 0, 0).encode().expect("a header");
        let mut reader = TraceReader::open(Cursor::new(file)).expect("a trace");
        let info = Info::of(&mut reader).expect("a summary");
        let frame = |frame| FrameStats { frame, ..FrameStats::default() };
        let stats = Stats { frames: (0..frames).map(frame).collect(), ..Stats::default() };
        let thumbnail = |frame| Thumbnail { process: 0, frame, size: [8, 8], png: vec![7; 30_000] };
        let thumbnails: Vec<_> = (0..frames).rev().map(thumbnail).collect();
        let report = Report {
            name: "t.gapii".to_owned(),
            recorded: None,
            info: &info,
            graphics: &Graphics::default(),
            stats: &stats,
            problems: &Problems::default(),
            frame_times: &[],
            crash: None,
            thumbnails: &thumbnails,
            without_thumbnails: None,
            made_by: "test".to_owned(),
            max_bytes,
        };
        report.page()
    }

    #[test]
    fn thumbnails_that_do_not_fit_are_left_out() {
        let Page { html, thumbnails, frames } = page(100, 1_000_000);
        assert!((900_000..1_000_000).contains(&html.len()), "{} bytes", html.len());
        assert_eq!(html.matches("<img ").count(), thumbnails);
        assert_eq!(frames, 100);
        assert!(html.contains(&format!("{} thumbnails did not fit", 100 - thumbnails)));
        // The most notable ones are there, in the order of the frames.
        let first = html.find("alt=\"frame 98\"").expect("a thumbnail");
        let last = html.find("alt=\"frame 99\"").expect("a thumbnail");
        assert!(first < last);
        assert!(!html.contains("alt=\"frame 0\""));
        let whole = page(100, 10_000_000);
        assert_eq!(whole.thumbnails, 100);
        assert!(!whole.html.contains("did not fit"));
        let none = page(100, 60_000);
        assert_eq!(none.thumbnails, 0);
        assert!(none.html.contains("No thumbnail fits into the file"));
    }
}

//! `Profile`: the file, with a thread for each thread and one for the frames of each process. Its version, 55, is the one that
//! version 0.8.1 of the crate `fxprof-processed-profile` writes; the profiler converts it to its own.

use std::collections::HashMap;
use std::io::{self, Read, Seek, Write};

use gapii_commands::Api;
use gapii_trace::clock::TraceClock;
use gapii_trace::footer::GapEntry;
use serde_json::{Value, json};

use super::rows::{Kind, Row, Rows};
use crate::timeline::{
    Among, CommandSlice, Exporter, FrameSlice, GpuSlice, MarkedMoment, Origin, ProcessFacts,
    StopSlice, ThreadFacts, Timeline,
};

/// Version of the processed profile format.
const VERSION: u32 = 55;
/// Version of the format that Firefox itself sends, which the profiler does not look at in a processed profile.
const GECKO_VERSION: u32 = 24;

/// Category of functions whose API is not known. The profiler requires a grey one.
const OTHER: u8 = 0;
/// Category of the first API.
const FIRST_API: u8 = 1;
const CATEGORIES_OF_APIS: u8 = Api::ALL.len() as u8;
const FRAMES: u8 = FIRST_API + CATEGORIES_OF_APIS;
const NOT_RECORDED: u8 = FRAMES + 1;
const STOPS: u8 = FRAMES + 2;
const MARKS: u8 = FRAMES + 3;
/// Colours of APIs, in their order.
const COLORS: [&str; 4] = ["blue", "green", "orange", "lightblue"];

/// Phases of markers: a moment, a marker with begin and end, and the two halves of one, which the profiler joins by their name.
const INSTANT: u32 = 0;
const INTERVAL: u32 = 1;
const INTERVAL_BEGIN: u32 = 2;
const INTERVAL_END: u32 = 3;

/// A file of the Firefox Profiler.
pub struct Profile<W: Write, S> {
    out: W,
    clock: Option<TraceClock>,
    rows: Rows<S>,
    threads: Vec<Thread>,
    /// Places in `threads` by the index of a thread in the trace.
    place_of: HashMap<u32, usize>,
    /// Places of the threads for frames, by the index of the process in the trace.
    frames_of: HashMap<u32, usize>,
    /// Places of the threads for the GPU, by the index of the process in the trace and the context.
    gpu_of: HashMap<(u32, Among), usize>,
    /// Place of the thread for times without a daemon.
    capture: Option<usize>,
    /// The earliest begin of a slice.
    first_ns: Option<u64>,
}

/// A thread of the file; its rows have the same place.
struct Thread {
    name: String,
    process_name: String,
    pid: String,
    tid: String,
    is_main: bool,
    names: Names,
    begin_ns: u64,
}

/// Names of markers, each once.
#[derive(Default)]
struct Names {
    list: Vec<String>,
    places: HashMap<String, u32>,
}

impl Names {
    fn place(&mut self, name: &str) -> u32 {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.list.len() as u32;
        self.list.push(name.to_owned());
        self.places.insert(name.to_owned(), place);
        place
    }
}

/// Begins a file. `spool` is an empty file, which holds the slices until the end.
pub fn begin<W: Write, S: Read + Write + Seek>(
    out: W,
    spool: S,
    origin: Origin<'_>,
) -> Exporter<'_, Profile<W, S>> {
    let profile = Profile {
        out,
        clock: origin.clock,
        rows: Rows::new(spool),
        threads: Vec::new(),
        place_of: HashMap::new(),
        frames_of: HashMap::new(),
        gpu_of: HashMap::new(),
        capture: None,
        first_ns: None,
    };
    Exporter::new(profile, origin.footer)
}

impl<W: Write, S: Read + Write + Seek> Timeline for Profile<W, S> {
    type Output = W;
    /// Place of the group's name in the names of its thread.
    type Group = u32;

    fn process(&mut self, facts: ProcessFacts) -> io::Result<()> {
        self.frames_of(&facts);
        Ok(())
    }

    fn thread(&mut self, facts: ThreadFacts) -> io::Result<()> {
        let ThreadFacts { thread, process, tid, name } = facts;
        self.frames_of(&process);
        let name = if name.is_empty() { format!("thread {tid}") } else { name };
        let place = self.add(Thread {
            name,
            process_name: process.name,
            pid: process.pid.to_string(),
            tid: tid.to_string(),
            is_main: false,
            names: Names::default(),
            begin_ns: u64::MAX,
        });
        self.place_of.insert(thread, place);
        Ok(())
    }

    fn command(&mut self, command: &CommandSlice<'_>) -> io::Result<()> {
        let Some(place) = self.place_of.get(&command.thread).copied() else { return Ok(()) };
        let api = Api::ALL.iter().position(|api| api.name() == command.api);
        let category = api.map_or(OTHER, |at| FIRST_API + at as u8);
        let times = (command.begin_ns, command.end_ns);
        let values = [value_of(command.seq), 0, 0];
        self.push(place, (Kind::Command, category, command.name), times, values)
    }

    fn gpu(&mut self, slice: &GpuSlice<'_>) -> io::Result<()> {
        let Some(place) = self.gpu_of(slice.process, slice.among) else { return Ok(()) };
        let api = match slice.among {
            Among::Context(_) => Api::Gl,
            Among::List(_) => Api::LevelZero,
        };
        let category = FIRST_API + api as u8;
        let times = (slice.begin_ns, slice.end_ns);
        self.push(place, (Kind::Command, category, slice.name), times, [value_of(slice.seq), 0, 0])
    }

    fn frame(&mut self, process: u32, frame: &FrameSlice) -> io::Result<()> {
        let Some(place) = self.frames_of.get(&process).copied() else { return Ok(()) };
        let FrameSlice { number, begin_ns, ended } = *frame;
        let values = [number, ended.commands, ended.uploaded_bytes];
        self.push(place, (Kind::Frame, FRAMES, "frame"), (begin_ns, ended.end_ns), values)
    }

    fn stop(&mut self, stop: &StopSlice) -> io::Result<()> {
        let Some(place) = self.place_of.get(&stop.thread).copied() else { return Ok(()) };
        let times = (stop.begin_ns, stop.end_ns);
        self.push(place, (Kind::Stop, STOPS, stop.name), times, [stop.next_seq, 0, 0])
    }

    fn keyframe(&mut self, facts: ProcessFacts, at_ns: u64, next_seq: u64) -> io::Result<()> {
        let place = self.frames_of(&facts);
        let values = [next_seq, 0, 0];
        self.push(place, (Kind::Keyframe, FRAMES, "keyframe"), (at_ns, at_ns), values)
    }

    fn mark(&mut self, mark: &MarkedMoment<'_>) -> io::Result<()> {
        self.marked(Kind::Mark, mark)
    }

    fn begin_group(&mut self, begin: &MarkedMoment<'_>) -> io::Result<u32> {
        self.marked(Kind::GroupBegin, begin)?;
        let place = self.place_of.get(&begin.thread);
        Ok(place.map_or(0, |place| self.threads[*place].names.place(begin.name)))
    }

    fn end_group(&mut self, thread: u32, at_ns: u64, group: Option<u32>) -> io::Result<()> {
        let (Some(place), Some(name)) = (self.place_of.get(&thread).copied(), group) else {
            return Ok(());
        };
        let (kind, category) = (Kind::GroupEnd, MARKS);
        let row = Row { kind, category, name, begin_ns: at_ns, end_ns: at_ns, values: [0; 3] };
        self.rows.push(place, row)
    }

    fn gap(&mut self, gap: &GapEntry) -> io::Result<()> {
        let Some(place) = self.place_of.get(&gap.thread).copied() else { return Ok(()) };
        let name = format!("not recorded: {}", gap.cause);
        let times = (gap.start_ns, gap.end_ns);
        self.push(place, (Kind::Gap, NOT_RECORDED, &name), times, [gap.calls, gap.records, 0])
    }

    fn seam(&mut self, from_ns: u64, to_ns: u64) -> io::Result<()> {
        let place = match self.capture {
            Some(place) => place,
            None => self.add(Thread {
                name: "capture".to_owned(),
                process_name: "capture".to_owned(),
                pid: "capture".to_owned(),
                tid: "capture".to_owned(),
                is_main: true,
                names: Names::default(),
                begin_ns: u64::MAX,
            }),
        };
        self.capture = Some(place);
        self.push(place, (Kind::Seam, NOT_RECORDED, "no daemon"), (from_ns, to_ns), [0; 3])
    }

    /// Writes the file.
    fn finish(mut self) -> io::Result<W> {
        let base_ns = match &self.clock {
            Some(clock) => clock.began.monotonic_ns,
            None => self.first_ns.unwrap_or(0),
        };
        let meta = meta(base_ns, self.clock.as_ref(), self.threads.len());
        let out = &mut self.out;
        write!(out, "{{\"meta\":")?;
        serde_json::to_writer(&mut *out, &meta)?;
        write!(
            out,
            ",\"libs\":[],\"pages\":[],\"profilerOverhead\":[],\"counters\":[],\"threads\":["
        )?;
        for (place, thread) in self.threads.iter().enumerate() {
            if place > 0 {
                write!(out, ",")?;
            }
            write_thread(out, thread, (&mut self.rows, place), base_ns)?;
        }
        writeln!(out, "]}}")?;
        Ok(self.out)
    }
}

impl<W: Write, S: Read + Write + Seek> Profile<W, S> {
    fn add(&mut self, thread: Thread) -> usize {
        self.threads.push(thread);
        self.rows.add_table()
    }

    /// Returns the place of the thread for the frames of a process; adds it the first time. The profiler shows it as the process.
    fn frames_of(&mut self, facts: &ProcessFacts) -> usize {
        if let Some(place) = self.frames_of.get(&facts.process) {
            return *place;
        }
        let place = self.add(Thread {
            name: "frames".to_owned(),
            process_name: facts.name.clone(),
            pid: facts.pid.to_string(),
            tid: format!("{}-frames", facts.pid),
            is_main: true,
            names: Names::default(),
            begin_ns: u64::MAX,
        });
        self.frames_of.insert(facts.process, place);
        place
    }

    /// Returns the place of the thread for a context or a list on the GPU; adds it the first time. `None` if the process is not known.
    fn gpu_of(&mut self, process: u32, among: Among) -> Option<usize> {
        if let Some(place) = self.gpu_of.get(&(process, among)) {
            return Some(*place);
        }
        let frames = &self.threads[*self.frames_of.get(&process)?];
        let (process_name, pid) = (frames.process_name.clone(), frames.pid.clone());
        let place = self.add(Thread {
            name: format!("GPU, {among}"),
            process_name,
            tid: match among {
                Among::Context(context) => format!("{pid}-gpu-{context:x}"),
                Among::List(list) => format!("{pid}-gpu-list-{list:x}"),
            },
            pid,
            is_main: false,
            names: Names::default(),
            begin_ns: u64::MAX,
        });
        self.gpu_of.insert((process, among), place);
        Some(place)
    }

    fn marked(&mut self, kind: Kind, mark: &MarkedMoment<'_>) -> io::Result<()> {
        let Some(place) = self.place_of.get(&mark.thread).copied() else { return Ok(()) };
        let times = (mark.at_ns, mark.at_ns);
        self.push(place, (kind, MARKS, mark.name), times, [value_of(mark.seq), 0, 0])
    }

    fn push(
        &mut self,
        place: usize,
        (kind, category, name): (Kind, u8, &str),
        (begin_ns, end_ns): (u64, u64),
        values: [u64; 3],
    ) -> io::Result<()> {
        let thread = &mut self.threads[place];
        let name = thread.names.place(name);
        thread.begin_ns = thread.begin_ns.min(begin_ns);
        self.first_ns = Some(self.first_ns.unwrap_or(begin_ns).min(begin_ns));
        self.rows.push(place, Row { kind, category, name, begin_ns, end_ns, values })
    }
}

/// Returns the value of a row for the number of a command.
fn value_of(seq: Option<u64>) -> u64 {
    seq.map_or(0, |seq| seq.wrapping_add(1))
}

/// Facts about the whole file. Times of markers are in milliseconds since `startTime`.
fn meta(base_ns: u64, clock: Option<&TraceClock>, threads: usize) -> Value {
    let apis = Api::ALL.iter().zip(COLORS.iter().cycle());
    let apis = apis.map(|(api, color)| (api.name(), *color));
    let others = [
        ("frames", "purple"),
        ("not recorded", "red"),
        ("held and waiting", "yellow"),
        ("marks", "magenta"),
    ];
    let category =
        |(name, color)| json!({"name": name, "color": color, "subcategories": ["Other"]});
    let all = [("Other", "grey")].into_iter().chain(apis).chain(others);
    let unix_ns = clock.and_then(|clock| clock.unix_ns(base_ns)).unwrap_or(0);
    json!({
        "version": GECKO_VERSION,
        "preprocessedProfileVersion": VERSION,
        "product": "gapii",
        "importedFrom": "gapii",
        "processType": 0,
        "stackwalk": 0,
        "debug": false,
        "interval": 1.0,
        "startTime": unix_ns as f64 / 1e6,
        "startTimeAsClockMonotonicNanosecondsSinceBoot": base_ns,
        "symbolicated": true,
        "usesOnlyOneStackType": true,
        "sourceCodeIsNotOnSearchfox": true,
        "keepProfileThreadOrder": true,
        "initialVisibleThreads": (0..threads).collect::<Vec<_>>(),
        "initialSelectedThreads": (0..threads.min(1)).collect::<Vec<_>>(),
        "extensions": {"length": 0, "baseURL": [], "id": [], "name": []},
        "categories": all.map(category).collect::<Vec<_>>(),
        "markerSchema": marker_schemas(),
    })
}

fn marker_schemas() -> Value {
    const NEXT: &str = "Number of the next command";
    let display = json!(["marker-chart", "marker-table", "timeline-overview"]);
    let field = |key, label, format| json!({"key": key, "label": label, "format": format});
    let beside = |name, description, label| json!({"name": name, "display": display, "description": description, "fields": [field("seq", label, "integer")]});
    json!([
        {
            "name": "command",
            "display": display,
            "chartLabel": "{marker.name}",
            "tableLabel": "{marker.data.seq}",
            "description": "A command, from the driver call to the driver's return",
            "fields": [field("seq", "Number in the trace", "integer")],
        },
        {
            "name": "frame",
            "display": display,
            "chartLabel": "frame {marker.data.number}",
            "tableLabel": "frame {marker.data.number}",
            "tooltipLabel": "frame {marker.data.number}",
            "description": "From the end of the frame before to its own",
            "fields": [
                field("number", "Number", "integer"),
                field("commands", "Commands", "integer"),
                field("uploaded", "Bytes uploaded", "bytes"),
            ],
            "graphs": [
                {"key": "commands", "type": "bar", "color": "blue"},
                {"key": "uploaded", "type": "line", "color": "orange"},
            ],
        },
        {
            "name": "gap",
            "display": display,
            "description": "Commands that are not in the trace",
            "fields": [
                field("commands", "Commands", "integer"),
                field("records", "Records", "integer"),
            ],
        },
        {
            "name": "seam",
            "display": display,
            "description": "A time in which no daemon recorded",
            "fields": [],
        },
        beside("stop", "The thread was held for a snapshot, or waited for room in its ring", NEXT),
        beside("keyframe", "The capture can be read from here on", NEXT),
        beside("mark", "A place that the program marks", "Number in the trace"),
        beside("group", "Commands that the program groups", "Number in the trace"),
    ])
}

/// Writes a thread, with its markers column by column.
fn write_thread<S: Read + Write + Seek>(
    out: &mut impl Write,
    thread: &Thread,
    (rows, place): (&mut Rows<S>, usize),
    base_ns: u64,
) -> io::Result<()> {
    let begin_ns = if thread.begin_ns == u64::MAX { base_ns } else { thread.begin_ns };
    let facts = json!({
        "name": thread.name,
        "processName": thread.process_name,
        "processType": "default",
        "isMainThread": thread.is_main,
        "pid": thread.pid,
        "tid": thread.tid,
        "registerTime": (begin_ns as f64 - base_ns as f64) / 1e6,
        "unregisterTime": null,
        "processStartupTime": 0.0,
        "processShutdownTime": null,
        "pausedRanges": [],
        "showMarkersInTimeline": true,
        "stringArray": thread.names.list,
        "samples": {"length": 0, "stack": [], "timeDeltas": [], "weight": null, "weightType": "samples"},
        "stackTable": {"length": 0, "prefix": [], "frame": []},
        "frameTable": {
            "length": 0, "address": [], "inlineDepth": [], "category": [], "subcategory": [], "func": [],
            "nativeSymbol": [], "innerWindowID": [], "line": [], "column": []
        },
        "funcTable": {
            "length": 0, "name": [], "isJS": [], "relevantForJS": [], "resource": [], "fileName": [],
            "lineNumber": [], "columnNumber": []
        },
        "resourceTable": {"length": 0, "lib": [], "name": [], "host": [], "type": []},
        "nativeSymbols": {"length": 0, "address": [], "functionSize": [], "libIndex": [], "name": []},
    });
    let facts = serde_json::to_string(&facts)?;
    let facts = facts.strip_suffix('}').unwrap_or(&facts);
    write!(out, "{facts},\"markers\":{{\"length\":{}", rows.count(place))?;
    let mut column = |name: &str, write: &dyn Fn(&mut Vec<u8>, &Row) -> io::Result<()>| {
        write!(out, ",\"{name}\":[")?;
        let (mut is_first, mut cell) = (true, Vec::new());
        rows.each(place, |row| {
            cell.clear();
            if !is_first {
                cell.push(b',');
            }
            is_first = false;
            write(&mut cell, row)?;
            out.write_all(&cell)
        })?;
        write!(out, "]")
    };
    column("startTime", &|cell, row| match phase_of(row.kind) {
        INTERVAL_END => write!(cell, "null"),
        _ => write_ms(cell, row.begin_ns, base_ns),
    })?;
    column("endTime", &|cell, row| match phase_of(row.kind) {
        INSTANT | INTERVAL_BEGIN => write!(cell, "null"),
        _ => write_ms(cell, row.end_ns, base_ns),
    })?;
    column("phase", &|cell, row| write!(cell, "{}", phase_of(row.kind)))?;
    column("category", &|cell, row| write!(cell, "{}", row.category))?;
    column("name", &|cell, row| write!(cell, "{}", row.name))?;
    column("data", &write_data)?;
    write!(out, "}}}}")
}

fn phase_of(kind: Kind) -> u32 {
    match kind {
        Kind::Keyframe | Kind::Mark => INSTANT,
        Kind::Command | Kind::Frame | Kind::Gap | Kind::Seam | Kind::Stop => INTERVAL,
        Kind::GroupBegin => INTERVAL_BEGIN,
        Kind::GroupEnd => INTERVAL_END,
    }
}

/// Writes a time as milliseconds since `base_ns`, exactly.
fn write_ms(cell: &mut Vec<u8>, at_ns: u64, base_ns: u64) -> io::Result<()> {
    let sign = if at_ns < base_ns { "-" } else { "" };
    let ns = at_ns.abs_diff(base_ns);
    let (ms, rest) = (ns / 1_000_000, ns % 1_000_000);
    write!(cell, "{sign}{ms}.{rest:06}")
}

fn write_data(cell: &mut Vec<u8>, row: &Row) -> io::Result<()> {
    let [first, second, third] = row.values;
    let with_seq = |cell: &mut Vec<u8>, name: &str, seq: Option<u64>| match seq {
        Some(seq) => write!(cell, "{{\"type\":\"{name}\",\"seq\":{seq}}}"),
        None => write!(cell, "{{\"type\":\"{name}\"}}"),
    };
    match row.kind {
        Kind::Command => with_seq(cell, "command", first.checked_sub(1)),
        Kind::Frame => write!(
            cell,
            "{{\"type\":\"frame\",\"number\":{first},\"commands\":{second},\"uploaded\":{third}}}"
        ),
        Kind::Gap => {
            write!(cell, "{{\"type\":\"gap\",\"commands\":{first},\"records\":{second}}}")
        }
        Kind::Seam => with_seq(cell, "seam", None),
        Kind::Stop => with_seq(cell, "stop", Some(first)),
        Kind::Keyframe => with_seq(cell, "keyframe", Some(first)),
        Kind::Mark => with_seq(cell, "mark", first.checked_sub(1)),
        Kind::GroupBegin => with_seq(cell, "group", first.checked_sub(1)),
        Kind::GroupEnd => with_seq(cell, "group", None),
    }
}

//! Header and footer of a merged trace, and what keeps traces from being merged. What is different in the traces and has no sum
//! is that of the first (its options), or of the one that ended last (why it ended).

use std::io::{Read, Seek};

use gapii_trace::footer::{CaptureOptions, Lost, ProcessEntry};
use gapii_trace::reader::TraceReader;
use gapii_trace::{Footer, TraceHeader, Untrusted};

/// Why traces can't be merged. Traces are numbered in the order in which they are given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// A trace was saved from memory.
    Kept(usize),
    /// Another build wrote a trace, or an older format version.
    Tables(usize),
    /// A trace has no session.
    NoSession(usize),
    /// A trace is of another session than the first.
    Session(usize),
    /// Two traces are of one capture.
    Same([usize; 2]),
    /// A trace has another filter than the first.
    Filter(usize),
    /// Other commands end frames in a trace than in the first.
    FrameRule(usize),
}

/// Returns why the traces can't be merged, by their headers and footers. They must be whole, and not anonymised.
pub fn refusal<R: Read + Seek>(traces: &[TraceReader<R>]) -> Option<Refusal> {
    let (first, _) = traces.split_first()?;
    let options =
        |it: &TraceReader<R>| it.footer().map(|it| it.options.clone()).unwrap_or_default();
    let rule = |options: CaptureOptions| (options.frame_rule, options.counts_submits);
    for (number, trace) in traces.iter().enumerate() {
        let (header, of_first) = (trace.header(), first.header());
        if header.kept.is_some() {
            return Some(Refusal::Kept(number));
        }
        if header.description_writer().is_none() {
            return Some(Refusal::Tables(number));
        }
        if header.session.is_empty() {
            return Some(Refusal::NoSession(number));
        }
        if header.session != of_first.session {
            return Some(Refusal::Session(number));
        }
        let is_same =
            |it: &TraceReader<R>| header.capture != 0 && it.header().capture == header.capture;
        if let Some(other) = traces[..number].iter().position(is_same) {
            return Some(Refusal::Same([other, number]));
        }
        if header.filter != of_first.filter {
            return Some(Refusal::Filter(number));
        }
        if rule(options(trace)) != rule(options(first)) {
            return Some(Refusal::FrameRule(number));
        }
    }
    None
}

/// The header: that of the trace that began first.
pub fn header<'a>(traces: impl Iterator<Item = &'a TraceHeader>, writer: &str) -> TraceHeader {
    let traces: Vec<_> = traces.collect();
    let version = traces.iter().map(|it| it.version).max().unwrap_or_default();
    let first = traces.into_iter().min_by_key(|it| it.started_ns).expect("there is a trace");
    TraceHeader { version, writer: writer.into(), capture: 0, ..first.clone() }
}

/// The footer, without what depends on the blocks, on processes and on threads. `footers` are those of the traces, the one that
/// began first at the beginning.
pub fn footer(footers: &[&Footer], header: &TraceHeader, command: Vec<Untrusted>) -> Footer {
    let first = footers.first().map(|it| it.options.clone()).unwrap_or_default();
    let last = footers.iter().max_by_key(|it| (it.ended_ns, it.ended_unix_ns));
    let last = last.map(|it| (*it).clone()).unwrap_or_default();
    let equal = |is_equal: fn(&CaptureOptions, &CaptureOptions) -> bool| {
        footers.iter().all(|it| is_equal(&it.options, &first))
    };
    let any = |is_so: fn(&CaptureOptions) -> bool| footers.iter().any(|it| is_so(&it.options));
    let options = CaptureOptions {
        frames: first.frames.filter(|_| equal(|a, b| a.frames == b.frames)),
        seconds: first.seconds.filter(|_| equal(|a, b| a.seconds == b.seconds)),
        observe_frames: footers.iter().filter_map(|it| it.options.observe_frames).min(),
        frame_pixels: any(|it| it.frame_pixels),
        timing: any(|it| it.timing),
        gpu_timing: any(|it| it.gpu_timing),
        when: first.when.clone().filter(|_| equal(|a, b| a.when == b.when)),
        command,
        ..first.clone()
    };
    let mut footer = Footer {
        started_unix_ns: header.started_unix_ns,
        options,
        lost: Lost::default(),
        processes: Vec::new(),
        threads: Vec::new(),
        gaps: Vec::new(),
        refused: Vec::new(),
        in_flight: Vec::new(),
        seams: Vec::new(),
        missing: Vec::new(),
        without_gpu_times: Vec::new(),
        set_back_ns: 0,
        when_happened: false,
        ..last
    };
    for it in footers {
        footer.set_back_ns = footer.set_back_ns.max(it.set_back_ns);
        footer.when_happened |= it.when_happened;
        footer.lost = footer.lost.plus(it.lost);
        add_new(&mut footer.without_gpu_times, &it.without_gpu_times);
    }
    footer
}

/// Adds what another trace says of a process that both have.
pub fn add_process(to: &mut ProcessEntry, other: &ProcessEntry) {
    add_new(&mut to.apis, &other.apis);
    // Where both captures ran, both have counted.
    to.reentrant_calls = to.reentrant_calls.max(other.reentrant_calls);
    to.foreign_calls = to.foreign_calls.max(other.foreign_calls);
}

/// Adds the items that are not there.
pub fn add_new(to: &mut Vec<Untrusted>, items: &[Untrusted]) {
    for item in items {
        if !to.contains(item) {
            to.push(item.clone());
        }
    }
}

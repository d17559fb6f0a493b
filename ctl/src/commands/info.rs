//! `info`: summarizes a trace in a few lines or one JSON object. A cut or damaged trace is summarized up to that place,
//! with status 1.

use std::time::Duration;

use clap::Args;
use gapii_abi::atom::Seam;
use gapii_trace::footer::{Lost, ProcessEntry};
use gapii_trace::{Info as TraceInfo, Untrusted};
use indicatif::DecimalBytes;

use crate::args::{Json, Trace};
use crate::failure::Failure;
use crate::text::{self, counted};
use crate::trace_file::{self, unreadable};

#[derive(Args, Debug)]
pub struct Info {
    #[command(flatten)]
    trace: Trace,

    #[command(flatten)]
    json: Json,
}

pub fn run(args: &Info) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    let mut reader = trace_file::open(path)?;
    let info = TraceInfo::of(&mut reader).map_err(|error| unreadable(path, &error))?;
    if args.json.json {
        text::print_json(&info)?;
    } else {
        text::print(|out| write!(out, "{}", describe(&info)))?;
    }
    match info.tail {
        None => Ok(0),
        Some(tail) => {
            let name = path.display();
            Err(Failure::no(format!("{name} is {tail}; the summary covers the part before that")))
        }
    }
}

fn describe(info: &TraceInfo) -> String {
    let mut lines = vec![
        format!("frames     {}", info.frames),
        format!("commands   {} of {}", info.calls, counted(info.threads, "thread")),
        format!(
            "bytes      {} in {}, {}",
            DecimalBytes(info.raw_bytes),
            DecimalBytes(info.file_bytes),
            counted(info.blocks, "block")
        ),
        format!(
            "memory     {} observed; {} of {}, {} saved",
            DecimalBytes(info.memory.totals.observed_bytes),
            counted(info.memory.totals.blobs, "blob"),
            DecimalBytes(info.memory.totals.blob_bytes),
            DecimalBytes(info.memory.saved_bytes),
        ),
        format!("apis       {}", listed(&info.apis)),
        format!(
            "begins     {}",
            match info.snapshot {
                true => format!(
                    "with a snapshot, for which a thread was held {:.1?}",
                    Duration::from_micros(info.held_us)
                ),
                false => "without snapshot".to_owned(),
            }
        ),
        format!("ended      {}", ending(info)),
        format!("waits      {} ({:.1?})", info.waits, Duration::from_nanos(info.wait_ns)),
        format!(
            "lost       {}, {}{}",
            counted(info.lost.calls, "command"),
            DecimalBytes(info.lost.bytes),
            causes(info)
        ),
        format!("written by {}, format {}", info.writer, info.format_version),
    ];
    if !info.filter.is_empty() {
        lines.push(format!("filtered   only {}, and swaps", info.filter));
    }
    if info.reentrant_calls > 0 {
        let commands = counted(info.reentrant_calls, "command");
        lines
            .push(format!("inside     {commands} that other commands called are not in the trace"));
    }
    if info.foreign_calls > 0 {
        let commands = counted(info.foreign_calls, "command");
        lines.push(format!(
            "foreign    {commands} of an API that is not recorded are not in the trace"
        ));
    }
    if info.memory.totals.incomplete > 0 {
        let draws = counted(info.memory.totals.incomplete, "draw");
        lines.push(format!(
            "incomplete {draws} without vertices, because their indices are unknown"
        ));
    }
    if info.set_back_ns > 0 {
        let back = Duration::from_nanos(info.set_back_ns);
        lines.push(format!(
            "clock      was set back by {back:.1?} during the capture; times of commands come from another clock"
        ));
    }
    lines.extend(info.seams.iter().map(seam_line));
    lines.extend(info.missing.iter().map(|sentence| format!("missing    {sentence}")));
    lines.extend(info.processes.iter().map(process_line));
    lines.extend(
        info.end_of_stream
            .in_flight
            .iter()
            .map(|command| format!("in flight  {} of thread {}", command.name, command.thread)),
    );
    lines.join("\n") + "\n"
}

fn listed(texts: &[Untrusted]) -> String {
    texts.iter().map(Untrusted::to_string).collect::<Vec<_>>().join(", ")
}

/// The causes of losses, each with its number of records.
fn causes(info: &TraceInfo) -> String {
    let cause =
        |(name, lost): (&String, &Lost)| format!("{name} {}", counted(lost.records, "record"));
    let causes: Vec<_> = info.lost_by_cause.iter().map(cause).collect();
    if causes.is_empty() { String::new() } else { format!(" ({})", causes.join(", ")) }
}

fn seam_line(seam: &Seam) -> String {
    let away = Duration::from_nanos(seam.away_ns());
    let absent = match seam.absent {
        0 => String::new(),
        count => format!(", {} did not come back", counted(count.into(), "program")),
    };
    format!("seam       {away:.1?} without a daemon{absent}")
}

fn process_line(process: &ProcessEntry) -> String {
    let name = if process.exe.is_empty() { &process.name } else { &process.exe };
    format!("process    {} {name}, {}", process.pid, counted(process.frames, "frame"))
}

fn ending(info: &TraceInfo) -> String {
    let end = &info.end_of_stream;
    let reason = match end.reason {
        Some(reason) => reason.name(),
        None => return "not in the file".to_owned(),
    };
    let signal = end.signal.map(|signal| format!(", signal {signal}")).unwrap_or_default();
    format!("{reason}{signal}")
}

//! `merge`: writes traces of one session as one trace, in the order in which their commands happened. Traces that do not belong
//! together, and those that contradict each other, are refused (status 1), and no file is left.

use std::io::{self, BufWriter};
use std::path::PathBuf;

use clap::{Args, ValueHint};
use gapii_analysis::merge::{MergeError, Merged, Refusal, merge, refusal};
use gapii_trace::reader::{BlockError, Tail};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Force, Json};
use crate::failure::Failure;
use crate::finished_file::{self, FinishedFile};
use crate::reading_progress::ReadingProgress;
use crate::text::{self, counted};
use crate::trace_file::{self, unreadable};

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl merge compositor.gapii client.gapii -o both.gapii   two programs that one daemon recorded at the same time
  gapii-ctl merge early.gapii late.gapii -o all.gapii           two captures of one program

A process that both traces have at the same time is one process, and each of its commands comes once. If one capture of it ended \
before the other began, it is two processes with the same id: nothing is known of the time between.";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Merge {
    /// Traces that one daemon recorded
    #[arg(value_name = "FILE", required = true, num_args = 2.., value_hint = ValueHint::FilePath)]
    traces: Vec<PathBuf>,

    /// Trace to write, or - for standard output
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    #[command(flatten)]
    force: Force,

    #[command(flatten)]
    json: Json,
}

/// A trace that was written from several.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// Trace that was written.
    output: PathBuf,
    /// Number of processes in it.
    processes: u64,
    /// Number of threads in it.
    threads: u64,
    /// Number of commands that took effect.
    commands: u64,
    /// Number of frames that ended, of all processes.
    frames: u64,
    /// Number of records that a second trace had, too, and that are in the output once, or not at all because they describe what
    /// an earlier capture has.
    repeated_records: u64,
    /// Bytes of the file.
    file_bytes: u64,
}

pub fn run(args: &Merge) -> Result<u8, Failure> {
    args.json.must_have_standard_output(&args.output)?;
    let mut readers = Vec::new();
    for (at, path) in args.traces.iter().enumerate() {
        let reader = trace_file::open(path)?;
        let is_it = |other: &PathBuf| trace_file::is_same(path, other);
        if args.traces[..at].iter().any(is_it) {
            return Err(Failure::usage(format!(
                "{} is given twice; type each trace once: `gapii-ctl merge A B -o OUT`",
                path.display()
            )));
        }
        if is_it(&args.output) {
            return Err(Failure::usage(format!(
                "{} is one of the traces; choose another name with `-o FILE`",
                args.output.display()
            )));
        }
        trace_file::judge_contents(path, &reader, "can't be merged")?;
        if *reader.tail() != Tail::Complete {
            let name = path.display();
            return Err(Failure::answer(format!(
                "{name} is cut or damaged, and only whole traces can be merged; `gapii-ctl verify {name}` says where it ends"
            )));
        }
        readers.push(reader);
    }
    if let Some(refusal) = refusal(&readers) {
        return Err(refused(args, refusal));
    }
    finished_file::check(&args.output, "a trace")?;
    let file = FinishedFile::create(&args.output, args.force.force)?;
    let mut out = BufWriter::with_capacity(256 << 10, file);
    let blocks = readers.iter().map(|reader| reader.blocks().len() as u64).sum();
    let mut progress = ReadingProgress::of_blocks(blocks);
    let writer = concat!("gapii-ctl ", env!("CARGO_PKG_VERSION"));
    let command = std::env::args().map(|word| word.as_str().into()).collect();
    let merged = merge(&mut readers, &mut out, (writer, command), |read| progress.set(read));
    progress.clear();
    let merged = merged.map_err(|error| failed(args, &error))?;
    let unwritable = |error: &io::Error| finished_file::writing_failure(&args.output, error);
    let file = out.into_inner().map_err(|error| unwritable(error.error()))?;
    file.finish().map_err(|error| unwritable(&error))?;
    let Merged { processes, threads, commands, frames, repeated_records, file_bytes } = merged;
    let output = args.output.clone();
    let answer =
        Answer { output, processes, threads, commands, frames, repeated_records, file_bytes };
    match args.json.json {
        true => text::print_json(&answer)?,
        false => text::say(&format!(
            "{} and {} of {processes} process{} -> {}",
            counted(commands, "command"),
            counted(frames, "frame"),
            if processes == 1 { "" } else { "es" },
            finished_file::name_of(&args.output)
        )),
    }
    Ok(0)
}

fn refused(args: &Merge, refusal: Refusal) -> Failure {
    let name = |at: usize| args.traces[at].display();
    let first = name(0);
    Failure::no(match refusal {
        Refusal::Kept(at) => format!(
            "{0} was saved from memory and may begin inside of a description, so it can't be merged; `gapii-ctl start -o FILE` \
             records a trace that can",
            name(at)
        ),
        Refusal::Tables(at) => format!(
            "{0} was written by another version of gapii, with other tables of functions, so it can't be merged; type \
             `gapii-ctl merge` of that version, which `gapii-ctl info {0}` names",
            name(at)
        ),
        Refusal::NoSession(at) => format!(
            "{0} is of no daemon's session, so its commands have no order among those of other traces; `gapii-ctl info {0}` \
             says where it is from",
            name(at)
        ),
        Refusal::Session(at) => format!(
            "{0} and {first} are of different sessions, so their commands have no common order; only traces that one daemon \
             recorded can be merged: `gapii-ctl info {0}`",
            name(at)
        ),
        Refusal::Same([one, other]) => format!(
            "{} and {} are the same capture; type each once: `gapii-ctl merge A B -o OUT`",
            name(one),
            name(other)
        ),
        Refusal::Filter(at) => format!(
            "{0} was recorded with another filter than {first}, so commands would be missing in a part of the result; `gapii-ctl \
             info {0}` shows the filter",
            name(at)
        ),
        Refusal::FrameRule(at) => format!(
            "frames of {0} end at other commands than those of {first}; record both with the same `--frame-end`",
            name(at)
        ),
    })
}

fn failed(args: &Merge, error: &MergeError) -> Failure {
    let name = |at: &usize| args.traces[*at].display();
    match error {
        MergeError::Write(error) => finished_file::writing_failure(&args.output, error),
        MergeError::Encode(error) => Failure::system(format!("can't compress: {error}")),
        MergeError::Read { trace, error: BlockError::Io(error) } => {
            unreadable(&args.traces[*trace], error)
        }
        MergeError::Read { trace, .. } | MergeError::Record { trace, .. } => {
            let name = name(trace);
            Failure::answer(format!(
                "{name} is damaged, and can't be merged: {error}; `gapii-ctl verify {name}` lists the damage"
            ))
        }
        MergeError::Counters { traces: [one, other] } => Failure::no(format!(
            "{} and {} have stamps of different counters, so their commands have no common order: the daemon took programs of \
             another one over; `gapii-ctl info FILE` of each says when",
            name(one),
            name(other)
        )),
        MergeError::Lossy { trace, pid } => {
            let name = name(trace);
            Failure::no(format!(
                "{name} lost records of process {pid}, which another of the traces has at the same time, so the two can't be \
                 compared; `gapii-ctl verify {name}` says what was lost"
            ))
        }
        MergeError::Differ { traces: [one, other], tid, stamp } => Failure::no(format!(
            "{} and {} have thread {tid} at the same time, and its commands differ at stamp {stamp}; `gapii-ctl dump --json` of \
             both shows them",
            name(one),
            name(other)
        )),
    }
}

//! A summary of a trace: from its footer, or by counting all blocks if it has none. Counting stops at the first damaged
//! block, and the summary says where the file is cut or damaged. Without a footer the threads' own counts (waits,
//! reentrant calls) are missing, and losses are not known (`lost_is_known`).

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Seek};

use gapii_abi::atom::{EndReason, InFlight, Seam};
use schemars::JsonSchema;
use serde::Serialize;

use super::atom_serde;
use super::block_file::BlockError;
use super::census::Census;
use super::description::Description;
use super::file_parts::Tail;
use super::footer::{Footer, LevelUse, ProcessEntry};
use super::ledger::{GapEntry, Lost, ThreadLedger, by_cause};
use super::memory_totals::MemoryTotals;
use super::meta::End;
use super::reader::TraceReader;
use super::untrusted::Untrusted;
use crate::filter::Filter;
use crate::frame_rule::FrameRule;

/// The summary.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Info {
    /// Frames that ended, over all processes.
    pub frames: u64,
    /// Commands that took effect, with those that set up the state that a snapshot describes.
    pub calls: u64,
    /// Threads with records.
    pub threads: u64,
    /// APIs with commands: `egl`, `gl`, `glx`, `level_zero`.
    pub apis: Vec<Untrusted>,
    /// True if the trace begins with a snapshot of a running program.
    pub snapshot: bool,
    /// The longest that a thread stood still for a snapshot, in microseconds.
    pub held_us: u64,
    /// State that the snapshots leave out, and imported memory that was not recorded, one sentence per item.
    pub missing: Vec<Untrusted>,
    /// Filter that selected the trace's commands; empty if the trace has all.
    #[serde(skip_serializing_if = "Filter::is_empty")]
    pub filter: Filter,
    /// True if texts and memory of the trace are noise (`gapii-ctl anonymise`); left out if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub anonymised: bool,
    /// The commands that ended frames, if the client said so, as `--frame-end` takes them; left out if swaps ended them. Unknown
    /// in a cut trace.
    #[serde(skip_serializing_if = "FrameRule::is_empty")]
    pub frame_rule: FrameRule,
    /// How the stream ended.
    pub end_of_stream: EndOfStream,
    /// Totals of what the stream lacks. Without a footer only the losses that the readable part tells of.
    pub lost: Lost,
    /// True if `lost`, `waits`, `wait_ns`, `reentrant_calls` and `foreign_calls` are known: the trace has a footer.
    pub lost_is_known: bool,
    /// Parts of `lost` by the name of their cause.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub lost_by_cause: BTreeMap<String, Lost>,
    /// Commands that are not in the stream because they were called from inside other commands.
    #[serde(skip_serializing_if = "is_zero")]
    pub reentrant_calls: u64,
    /// Commands of OpenGL that are not in the trace, because no recorded context was current. 0 in a cut trace.
    #[serde(skip_serializing_if = "is_zero")]
    pub foreign_calls: u64,
    /// The processes of the capture.
    pub processes: Vec<ProcessEntry>,
    /// True if the file is as its writer finished it, as far as this summary read it.
    pub complete: bool,
    /// Where the file is cut or damaged; `None` if it is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail: Option<String>,
    /// Records from applications.
    pub records: u64,
    /// Blocks.
    pub blocks: u64,
    /// Bytes of records before compression.
    pub raw_bytes: u64,
    /// Levels at which the blocks were compressed: a lower one where processors were short. Those since the last seam.
    /// Missing in a cut trace, and in a saved one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LevelUse>,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Format version of the writer.
    pub format_version: u32,
    /// Name and version of the program that wrote the trace.
    pub writer: Untrusted,
    /// Name of the machine on which the trace was recorded; left out if unknown.
    #[serde(skip_serializing_if = "Untrusted::is_empty")]
    pub host: Untrusted,
    /// When the capture began, in nanoseconds of Unix time; 0 if unknown.
    pub started_unix_ns: u64,
    /// When the capture ended, in nanoseconds of Unix time; 0 if unknown.
    pub ended_unix_ns: u64,
    /// How far the system's calendar clock was set back during the capture, in nanoseconds.
    pub set_back_ns: u64,
    /// Times that threads waited for ring space.
    pub waits: u64,
    /// Nanoseconds of these waits.
    pub wait_ns: u64,
    /// Memory that commands read and wrote.
    pub memory: MemoryInfo,
    /// Where other daemons continued the capture.
    #[serde(
        serialize_with = "atom_serde::seams::serialize",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(with = "Vec<atom_serde::SeamFields>")]
    pub seams: Vec<Seam>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The memory that commands read and wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct MemoryInfo {
    /// Blobs and observations.
    #[serde(flatten)]
    pub totals: MemoryTotals,
    /// Bytes that the stream saves by referring to blobs instead of repeating them.
    pub saved_bytes: u64,
}

/// How a stream ended.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct EndOfStream {
    /// Why it ended; `None` if the file does not have the end.
    #[serde(serialize_with = "atom_serde::end_reason::serialize_option")]
    #[schemars(with = "Option<String>")]
    pub reason: Option<EndReason>,
    /// The signal that ended the program, if its parent process saw it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Commands that had not returned.
    pub in_flight: Vec<InFlightInfo>,
}

/// A command that had not returned when the stream ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct InFlightInfo {
    /// Thread id of the operating system; 0 if unknown.
    pub tid: u32,
    /// Name of the function; empty if the header does not describe it.
    pub name: String,
}

impl Info {
    /// Returns the summary of an open trace. Reads the whole file if it has no footer.
    ///
    /// # Errors
    /// An error of the file. Damage is not an error; see [`Self::tail`].
    pub fn of<R: Read + Seek>(reader: &mut TraceReader<R>) -> io::Result<Self> {
        match reader.footer().cloned() {
            Some(footer) => Ok(Self::from_footer(reader, footer)),
            None => Self::by_counting(reader),
        }
    }

    fn from_footer<R: Read + Seek>(reader: &TraceReader<R>, footer: Footer) -> Self {
        let description = &reader.header().description;
        let (reentrant_calls, foreign_calls) = (footer.reentrant_calls(), footer.foreign_calls());
        let tids: Vec<_> = footer.threads.iter().map(|t| (t.thread, t.tid)).collect();
        let tid_of = |thread| tids.iter().find(|(index, _)| *index == thread).map(|(_, tid)| *tid);
        let apis: BTreeSet<_> = footer.processes.iter().flat_map(|process| &process.apis).collect();
        Self {
            frames: footer.totals.frames,
            calls: footer.totals.calls,
            threads: footer.threads.len() as u64,
            apis: apis.into_iter().cloned().collect(),
            end_of_stream: EndOfStream {
                reason: Some(footer.reason),
                signal: footer.signal,
                in_flight: in_flight_info(&footer.in_flight, description, tid_of),
            },
            lost: footer.lost,
            lost_is_known: true,
            snapshot: footer.snapshot,
            held_us: footer.held_us,
            missing: footer.missing,
            levels: footer.levels,
            seams: footer.seams,
            records: footer.totals.records,
            memory: footer.totals.memory.into(),
            blocks: footer.totals.blocks,
            raw_bytes: footer.totals.raw_bytes,
            started_unix_ns: footer.started_unix_ns,
            ended_unix_ns: footer.ended_unix_ns,
            set_back_ns: footer.set_back_ns,
            waits: sum(&footer.threads, |thread| thread.waits),
            wait_ns: sum(&footer.threads, |thread| thread.wait_ns),
            lost_by_cause: by_cause(footer.gaps.iter().map(|gap| (gap.cause, gap.lost()))),
            reentrant_calls,
            foreign_calls,
            processes: footer.processes,
            ..Self::from_file(reader)
        }
    }

    fn by_counting<R: Read + Seek>(reader: &mut TraceReader<R>) -> io::Result<Self> {
        let mut census = Census::default();
        census.begin(reader.header());
        let mut raw = Vec::new();
        let mut damage = None;
        for index in 0..reader.blocks().len() {
            match reader.read_block(index, &mut raw) {
                Ok(()) => census.block(&raw, &reader.header().description),
                Err(BlockError::Io(error)) => return Err(error),
                Err(error) => {
                    damage = Some(error.to_string());
                    break;
                }
            }
        }
        let file = Self::from_file(reader);
        let description = &reader.header().description;
        let tid_of = |thread| census.tracker().thread_at(thread).map(|thread| thread.tid);
        let end = census.tracker().end().map(|End { reason, in_flight }| EndOfStream {
            reason: Some(*reason),
            signal: None,
            in_flight: in_flight_info(in_flight, description, tid_of),
        });
        Ok(Self {
            frames: census.frame_ends.len() as u64,
            calls: census.calls,
            threads: census.threads.len() as u64,
            apis: apis_of(&census, description),
            end_of_stream: end.unwrap_or_default(),
            lost: lost_in_gaps(&census),
            lost_by_cause: by_cause(
                census
                    .gaps
                    .iter()
                    .map(|(thread, gap)| (gap.cause, GapEntry::told_by(*thread, gap).lost())),
            ),
            snapshot: census.snapshot,
            held_us: census.held_us,
            missing: census.missing.clone(),
            levels: Vec::new(),
            seams: census.seams.clone(),
            processes: processes_of(&census),
            complete: file.complete && damage.is_none(),
            tail: damage.or(file.tail.clone()),
            records: census.records,
            memory: census.memory.into(),
            blocks: census.blocks,
            raw_bytes: census.raw_bytes,
            ..file
        })
    }

    /// Returns a summary with the fields that the header and the tail determine; all other fields are empty.
    fn from_file<R: Read + Seek>(reader: &TraceReader<R>) -> Self {
        let tail = match reader.tail() {
            Tail::Complete => None,
            Tail::Truncated { at } => Some(format!("cut at byte {at}")),
            Tail::Damaged { at, why } => Some(format!("damaged at byte {at}: {why}")),
        };
        Self {
            frames: 0,
            calls: 0,
            threads: 0,
            apis: Vec::new(),
            snapshot: false,
            held_us: 0,
            missing: Vec::new(),
            filter: reader.header().filter.clone(),
            anonymised: reader.header().anonymised,
            frame_rule: reader
                .footer()
                .map_or_else(FrameRule::default, |footer| footer.options.frame_rule.clone()),
            end_of_stream: EndOfStream::default(),
            lost: Lost::default(),
            lost_is_known: false,
            lost_by_cause: BTreeMap::new(),
            reentrant_calls: 0,
            foreign_calls: 0,
            processes: Vec::new(),
            complete: tail.is_none(),
            tail,
            records: 0,
            blocks: 0,
            raw_bytes: 0,
            file_bytes: reader.file_len(),
            format_version: reader.header().version,
            writer: reader.header().writer.clone(),
            host: reader.header().host.clone(),
            started_unix_ns: reader.header().started_unix_ns,
            ended_unix_ns: 0,
            set_back_ns: 0,
            waits: 0,
            wait_ns: 0,
            memory: MemoryInfo::default(),
            levels: Vec::new(),
            seams: Vec::new(),
        }
    }
}

impl From<MemoryTotals> for MemoryInfo {
    fn from(totals: MemoryTotals) -> Self {
        Self { totals, saved_bytes: totals.saved_bytes() }
    }
}

fn in_flight_info(
    in_flight: &[InFlight],
    description: &Description,
    tid_of: impl Fn(u32) -> Option<u32>,
) -> Vec<InFlightInfo> {
    let info = in_flight.iter().map(|command| InFlightInfo {
        tid: tid_of(command.thread).unwrap_or(0),
        name: description.function(command.id).map_or_else(String::new, |f| f.name.clone()),
    });
    info.collect()
}

fn apis_of(census: &Census, description: &Description) -> Vec<Untrusted> {
    let called = (0..).zip(&census.functions).filter(|(_, count)| **count > 0);
    let functions = called.filter_map(|(id, _)| description.function(id));
    let apis: BTreeSet<_> = functions.map(|function| function.api.as_str()).collect();
    apis.into_iter().map(Untrusted::from).collect()
}

fn lost_in_gaps(census: &Census) -> Lost {
    census.threads.values().fold(Lost::default(), |lost, thread| {
        lost.plus(Lost {
            records: thread.lost_records,
            calls: thread.lost_calls,
            bytes: thread.lost_bytes,
        })
    })
}

/// Returns the sum of a counter over all threads. It saturates, because threads may claim any number.
fn sum(threads: &[ThreadLedger], counter: fn(&ThreadLedger) -> u64) -> u64 {
    threads.iter().map(counter).fold(0, u64::saturating_add)
}

fn processes_of(census: &Census) -> Vec<ProcessEntry> {
    let processes = census.tracker().processes().map(|(index, process)| ProcessEntry {
        process: index,
        pid: process.pid,
        name: process.name.clone(),
        frames: process.frames,
        ..ProcessEntry::default()
    });
    processes.collect()
}

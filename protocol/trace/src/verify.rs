//! Verifies a trace: its structure, checksums, order, payloads, index, footer and ledgers. A damaged block is a
//! problem, and verification goes on with the next one. Lists the first 100 problems (`PROBLEMS_MAX`) and counts all.
//! Losses that the footer explains, and commands from inside other commands, are warnings, not problems; so are missing
//! blobs and unpaired records as far as records were lost. Missing vertices of draws are a problem.
//!
//! Reads the whole file and stops only at errors of the file. One thread decompresses blocks, one counts their records,
//! and one checks their commands.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Seek};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use schemars::JsonSchema;
use serde::Serialize;

use super::assembler::{Advance, Assembler, HoldLimits};
use super::blobs::NoBlobs;
use super::block_file::BlockError;
use super::census::{Census, References};
use super::command::Command;
use super::description::Description;
use super::file_parts::{Described, Tail, read_descriptions};
use super::footer::Footer;
use super::frame::{Variety, has_begins};
use super::ledger::{Lost, by_cause};
use super::memory_totals::MemoryTotals;
pub use super::problem::{Problem, ProblemKind};
use super::reader::TraceReader;
use super::used::Used;
use super::value::{Observation, Value};

/// Most problems that are listed. All are counted.
pub const PROBLEMS_MAX: usize = 100;
/// Most blocks that the census has counted and whose commands are not checked yet.
const BLOCKS_WAITING_MAX: usize = 4;

/// Result of a verification.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct Verification {
    /// True if there is no problem.
    pub ok: bool,
    /// The first problems, at most 100.
    pub problems: Vec<Problem>,
    /// Number of all problems.
    pub problem_count: u64,
    /// Records that the trace lacks because they were lost, and imported memory that was not recorded, in sentences.
    pub warnings: Vec<String>,
    /// Totals of the checked parts.
    pub checked: Checked,
}

/// Totals of the checked parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct Checked {
    /// Blocks.
    pub blocks: u64,
    /// Records from applications.
    pub records: u64,
    /// Commands that took effect.
    pub calls: u64,
    /// Frames that ended.
    pub frames: u64,
    /// Threads with records.
    pub threads: u64,
    /// Bytes of records before compression.
    pub raw_bytes: u64,
    /// True if the trace has a footer, which tells `produced`, `lost`, `left_out`, `reentrant_calls` and
    /// `foreign_calls`.
    pub lost_is_known: bool,
    /// Records that the applications counted, by the footer.
    pub produced: u64,
    /// Records among `produced` that the stream should have and lacks.
    pub lost: u64,
    /// Records among `produced` that do not belong to the stream.
    pub left_out: u64,
    /// Commands that are not in the stream because they were called from inside other commands, by the footer.
    #[serde(skip_serializing_if = "is_zero")]
    pub reentrant_calls: u64,
    /// Commands of OpenGL that are not in the trace, because no recorded context was current, as the footer says.
    #[serde(skip_serializing_if = "is_zero")]
    pub foreign_calls: u64,
    /// Blobs and observations.
    pub memory: MemoryTotals,
    /// References to blobs that do not precede them in the stream.
    pub missing_references: u64,
    /// Records with the driver's time.
    pub timed: u64,
    /// Places where another daemon continued the capture.
    #[serde(skip_serializing_if = "is_zero")]
    pub seams: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Verifies an open trace.
///
/// # Errors
/// An error of the file. What is wrong with the trace is a [`Problem`].
pub fn verify<R: Read + Seek>(reader: &mut TraceReader<R>) -> io::Result<Verification> {
    verify_with(reader, |_| {})
}

/// Verifies an open trace, and passes the index of each block to `begin_block` before it checks the block.
///
/// # Errors
/// As [`verify`].
pub fn verify_with<R: Read + Seek>(
    reader: &mut TraceReader<R>,
    mut begin_block: impl FnMut(u64),
) -> io::Result<Verification> {
    let mut census = Census::default();
    census.begin(reader.header());
    let mut checker = Checker::default();
    checker.verifier.tail(reader.tail());
    checker.assembler.begin(reader.header().begin());
    let (mut undescribed, damage) = Undescribed::of(reader)?;
    checker.verifier.problems(damage);
    reader.file.get_mut().begin_ahead(0);
    let reader = &*reader;
    let description = &reader.header.description;
    let checker = thread::scope(|scope| {
        let (blocks, waiting) = sync_channel(BLOCKS_WAITING_MAX);
        let checking = scope.spawn(move || checker.check_all(&waiting, description));
        for index in 0..reader.blocks().len() {
            begin_block(index as u64);
            let block = match reader.file.borrow_mut().block(index) {
                Ok(block) => {
                    census.block(&block, description);
                    let unknown = undescribed.in_block(reader.blocks()[index].offset, &block);
                    census.problems.extend(unknown.into_iter().map(|id| Problem {
                        kind: ProblemKind::Structure,
                        block: Some(index as u64),
                        message: format!("function {id} is not described in front of the block"),
                    }));
                    Some(block)
                }
                Err(BlockError::Io(error)) => return Err(error),
                Err(error) => {
                    let (kind, block) = (ProblemKind::Checksum, Some(index as u64));
                    census.problems.push(Problem { kind, block, message: error.to_string() });
                    census.blocks += 1;
                    None
                }
            };
            let problems = std::mem::take(&mut census.problems);
            if blocks.send(Counted { index: index as u64, problems, block }).is_err() {
                break;
            }
        }
        drop(blocks);
        Ok(checking.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })?;
    let Checker { mut verifier, assembler } = checker;
    verifier.pairing(&assembler, reader.footer());
    verifier.times(reader.header().version, &census);
    verifier.memory(reader.footer(), &census);
    verifier.incomplete(&census);
    verifier.index(reader, &census);
    match reader.footer() {
        Some(footer) => verifier.footer(footer, reader, &census),
        None if *reader.tail() == Tail::Complete => {}
        None => verifier.problem(ProblemKind::Ledger, None, "there is no footer".to_owned()),
    }
    Ok(verifier.finish(&census))
}

/// Looks for functions that a trace of this build's tables does not describe in front of the block that uses them first: a
/// reader of another build would not know them.
struct Undescribed {
    /// Ids in the description frames that no block has been behind so far, with the offsets of the frames.
    ahead: std::vec::IntoIter<(u64, Vec<u16>)>,
    /// Ids that are described or were reported. `None` if the reader knows only what the trace describes.
    known: Option<BTreeSet<u16>>,
}

impl Undescribed {
    /// Reads the description frames. Also returns what is wrong with the first one that is damaged.
    fn of<R: Read + Seek>(reader: &mut TraceReader<R>) -> io::Result<(Self, Option<Problem>)> {
        if reader.header().description_writer().is_none() {
            return Ok((Self { ahead: Vec::new().into_iter(), known: None }, None));
        }
        let file = reader.file.get_mut();
        let read = |offset, len| file.read(offset, len);
        let Described { parts, damage } = read_descriptions(&reader.descriptions, read)?;
        let ids = parts.into_iter().map(|(offset, part)| {
            (offset, part.functions.iter().map(|function| function.id).collect())
        });
        let ahead = ids.collect::<Vec<_>>().into_iter();
        let problem = damage.map(|(at, why)| Problem {
            kind: ProblemKind::Tail,
            block: None,
            message: format!("the description at byte {at} is damaged: {why}"),
        });
        Ok((Self { ahead, known: Some(BTreeSet::new()) }, problem))
    }

    /// Returns the functions of the block at byte `offset` that no frame in front of it describes. Each is returned once.
    fn in_block(&mut self, offset: u64, raw: &[u8]) -> Vec<u16> {
        let Some(known) = &mut self.known else { return Vec::new() };
        while let Some((at, ids)) = self.ahead.as_slice().first()
            && *at < offset
        {
            known.extend(ids);
            self.ahead.next();
        }
        Used::by(raw).functions.iter().copied().filter(|id| known.insert(*id)).collect()
    }
}

/// A block that the census has counted.
struct Counted {
    index: u64,
    /// What the census found.
    problems: Vec<Problem>,
    /// The records; `None` if the block is damaged.
    block: Option<Arc<Vec<u8>>>,
}

/// Checks the commands of blocks, on a thread of its own behind the census.
struct Checker {
    verifier: Verifier,
    assembler: Assembler,
}

impl Default for Checker {
    fn default() -> Self {
        let assembler = Assembler::new(HoldLimits::default());
        Self { verifier: Verifier::default(), assembler }
    }
}

impl Checker {
    /// Checks blocks until no more come, and then the commands that are left.
    fn check_all(mut self, blocks: &Receiver<Counted>, description: &Description) -> Self {
        let mut count = 0;
        for Counted { index, problems, block } in blocks {
            self.verifier.problems(problems);
            count = index + 1;
            let Some(block) = block else { continue };
            let filled: Result<(), ()> = self.assembler.refill(|| Ok(block));
            debug_assert!(filled.is_ok());
            self.verifier.commands(&mut self.assembler, description, index);
        }
        self.assembler.finish();
        self.verifier.commands(&mut self.assembler, description, count);
        self
    }
}

#[derive(Default)]
struct Verifier {
    found: Verification,
}

impl Verifier {
    fn problem(&mut self, kind: ProblemKind, block: Option<u64>, message: String) {
        self.problems([Problem { kind, block, message }]);
    }

    fn problems(&mut self, problems: impl IntoIterator<Item = Problem>) {
        for problem in problems {
            self.found.problem_count += 1;
            if self.found.problems.len() < PROBLEMS_MAX {
                self.found.problems.push(problem);
            }
        }
    }

    /// Notes a problem if two counts differ.
    fn expect(&mut self, kind: ProblemKind, what: &str, stated: u64, counted: u64) {
        if stated != counted {
            let message = format!("{what}: {stated} stated, {counted} counted");
            self.problem(kind, None, message);
        }
    }

    fn tail(&mut self, tail: &Tail) {
        let message = match tail {
            Tail::Complete => return,
            Tail::Truncated { at } => format!("the file is cut at byte {at}"),
            Tail::Damaged { at, why } => format!("the file is damaged at byte {at}: {why}"),
        };
        self.problem(ProblemKind::Tail, None, message);
    }

    /// Checks the payloads of the commands that the assembler can complete.
    fn commands(&mut self, assembler: &mut Assembler, description: &Description, block: u64) {
        loop {
            match assembler.advance() {
                Ok(Advance::Command) => {}
                Ok(Advance::NeedsBlock | Advance::Done) => return,
                // The census has noted it.
                Err(_) => continue,
            }
            let command = assembler.command(description, &NoBlobs);
            if let Some(what) = unreadable_part(&command) {
                let message = format!("{}: the record is too short for {what}", command.name());
                self.problem(ProblemKind::Payload, Some(block), message);
            }
        }
    }

    /// Checks that enter and leave records pair up. A command may lack a record that the footer counts as
    /// lost.
    fn pairing(&mut self, assembler: &Assembler, footer: Option<&Footer>) {
        let anomalies = assembler.anomalies();
        let lost = footer.map_or(Lost::default(), |footer| footer.lost);
        let parts = anomalies.missing_leaves + anomalies.dropped_records;
        if anomalies.orphan_leaves == 0 && parts <= lost.records {
            return;
        }
        for (count, what) in [
            (anomalies.orphan_leaves, "leave records have no enter record"),
            (anomalies.missing_leaves, "commands have no leave record though their thread went on"),
            (anomalies.dropped_records, "records exceeded the limit of held records"),
        ] {
            if count != 0 {
                self.problem(ProblemKind::Pairing, None, format!("{count} {what}"));
            }
        }
    }

    /// Checks that only traces of a version with times, or begins, have them.
    fn times(&mut self, version: u32, census: &Census) {
        if census.timed > 0 && Variety::of(version) == Variety::Untimed {
            let message = format!(
                "{} records have a driver time, in a trace of format version {version}",
                census.timed
            );
            self.problem(ProblemKind::Structure, None, message);
        }
        if census.begun > 0 && !has_begins(version) {
            let message = format!(
                "{} records have the begin of their command, in a trace of format version {version}",
                census.begun
            );
            self.problem(ProblemKind::Structure, None, message);
        }
    }

    /// Checks that blobs precede their references. A blob may be missing where records were lost.
    fn memory(&mut self, footer: Option<&Footer>, census: &Census) {
        let missing = census.missing_blobs();
        if missing.count == 0 {
            return;
        }
        let References { count, bytes } = missing;
        let message = format!("{count} references, to {bytes} bytes, have no blob before them");
        match footer.is_some_and(|footer| footer.lost.records > 0) {
            true => self.found.warnings.push(message),
            false => self.problem(ProblemKind::Memory, None, message),
        }
    }

    /// Reports commands whose memory the trace lacks because its extent was not known, and memory that the recorder named as missing.
    fn incomplete(&mut self, census: &Census) {
        let count = census.memory.incomplete;
        if count > 0 {
            let message = format!(
                "{count} draws lack their vertices: the driver has their indices and lets nobody read them"
            );
            self.problem(ProblemKind::Memory, None, message);
        }
        let named = census.missing_memory.iter();
        self.found.warnings.extend(named.map(|sentence| format!("the trace lacks {sentence}")));
    }

    fn index<R: Read + Seek>(&mut self, reader: &TraceReader<R>, census: &Census) {
        let Some(index) = reader.index() else { return };
        let are_equal = index.frame_ends.len() == census.frame_ends.len()
            && index.frame_ends.iter().zip(&census.frame_ends).all(|(end, it)| end.agrees_with(it));
        if !are_equal {
            let message = format!(
                "the index lists {} ends of frames and the stream has {}, or their places or times differ",
                index.frame_ends.len(),
                census.frame_ends.len()
            );
            self.problem(ProblemKind::Index, None, message);
        }
        let seqs: u64 = index.blocks.iter().map(|block| u64::from(block.seqs)).sum();
        self.expect(ProblemKind::Index, "commands by the index", seqs, census.calls);
        let raw_bytes: u64 = index.blocks.iter().map(|block| u64::from(block.raw_len)).sum();
        self.expect(ProblemKind::Index, "bytes by the index", raw_bytes, census.raw_bytes);
        self.blobs(reader, census);
        let mut seq = reader.header().kept.map_or(0, |kept| kept.seq);
        for (number, block) in index.blocks.iter().enumerate() {
            if block.first_seq != seq {
                let message =
                    format!("the index has seq {} for the block, expected {seq}", block.first_seq);
                self.problem(ProblemKind::Index, Some(number as u64), message);
            }
            seq = block.first_seq.saturating_add(u64::from(block.seqs));
        }
    }

    fn blobs<R: Read + Seek>(&mut self, reader: &TraceReader<R>, census: &Census) {
        let Some(listed) = reader.listed_blobs() else { return };
        let counted = census.blobs().len() as u64;
        self.expect(ProblemKind::Index, "blobs by the index", listed.len() as u64, counted);
        let elsewhere = census.blobs().filter(|blob| {
            listed.binary_search_by_key(&blob.name, |e| e.name).ok().and_then(|at| listed.get(at))
                != Some(blob)
        });
        let elsewhere = elsewhere.count();
        if elsewhere > 0 {
            let message = format!("the index has wrong places for {elsewhere} blobs");
            self.problem(ProblemKind::Index, None, message);
        }
    }

    fn footer<R: Read + Seek>(
        &mut self,
        footer: &Footer,
        reader: &TraceReader<R>,
        census: &Census,
    ) {
        match census.tracker().end() {
            None => {
                self.problem(ProblemKind::Footer, None, "the stream has no END record".to_owned())
            }
            Some(end) if end.reason != footer.reason || end.in_flight != footer.in_flight => {
                let message = "the footer and the END record differ".to_owned();
                self.problem(ProblemKind::Footer, None, message);
            }
            Some(_) => {}
        }
        let totals = footer.totals;
        let compressed = reader.blocks().iter().map(|block| u64::from(block.compressed_len)).sum();
        for (what, stated, counted) in [
            ("frames", totals.frames, census.frame_ends.len() as u64),
            ("commands", totals.calls, census.calls),
            ("records", totals.records, census.records),
            ("blocks", totals.blocks, census.blocks),
            ("bytes", totals.raw_bytes, census.raw_bytes),
            ("compressed bytes", totals.compressed_bytes, compressed),
            ("blobs", totals.memory.blobs, census.memory.blobs),
            ("bytes of blobs", totals.memory.blob_bytes, census.memory.blob_bytes),
            ("references to blobs", totals.memory.references, census.memory.references),
            ("seams", footer.seams.len() as u64, census.seams.len() as u64),
            ("bytes observed", totals.memory.observed_bytes, census.memory.observed_bytes),
            ("incomplete commands", totals.memory.incomplete, census.memory.incomplete),
        ] {
            self.expect(ProblemKind::Footer, what, stated, counted);
        }
        for process in &footer.processes {
            let ends = census.frame_ends.iter().filter(|end| end.process == process.process);
            let what = format!("frames of process {}", process.process);
            self.expect(ProblemKind::Footer, &what, process.frames, ends.count() as u64);
        }
        self.ledger(footer, census);
        let gaps = footer.gaps.iter().map(|gap| (gap.cause, gap.lost()));
        for (cause, Lost { records, calls, .. }) in by_cause(gaps) {
            let message = format!("lost, cause {cause}: {records} records, {calls} commands");
            self.found.warnings.push(message);
        }
        let inside = footer.reentrant_calls();
        self.found.checked.reentrant_calls = inside;
        if inside > 0 {
            self.found.warnings.push(format!(
                "{inside} commands that were called from inside other commands are not in the trace"
            ));
        }
        let foreign = footer.foreign_calls();
        self.found.checked.foreign_calls = foreign;
        if foreign > 0 {
            self.found.warnings.push(format!(
                "{foreign} commands of OpenGL without a recorded context are not in the trace"
            ));
        }
    }

    fn ledger(&mut self, footer: &Footer, census: &Census) {
        let mut gaps: BTreeMap<u32, u64> = BTreeMap::new();
        for gap in &footer.gaps {
            let lost = gaps.entry(gap.thread).or_default();
            *lost = lost.saturating_add(gap.records);
        }
        let mut threads = census.threads.clone();
        let mut lost: u64 = 0;
        for ledger in &footer.threads {
            let thread = ledger.thread;
            lost = lost.saturating_add(ledger.lost);
            self.found.checked.produced =
                self.found.checked.produced.saturating_add(ledger.produced);
            self.found.checked.left_out =
                self.found.checked.left_out.saturating_add(ledger.left_out);
            let known = ledger.emitted.checked_add(ledger.lost);
            if known.and_then(|known| known.checked_add(ledger.left_out)) != Some(ledger.produced) {
                let message = format!(
                    "thread {thread}: {} emitted, {} lost and {} left out do not add up to {} produced",
                    ledger.emitted, ledger.lost, ledger.left_out, ledger.produced
                );
                self.problem(ProblemKind::Ledger, None, message);
            }
            let counted = threads.remove(&thread).unwrap_or_default();
            let what = format!("records of thread {thread}");
            self.expect(ProblemKind::Ledger, &what, ledger.emitted, counted.records);
            let what = format!("lost records of thread {thread}, by its gaps");
            let in_gaps = gaps.remove(&thread).unwrap_or(0);
            self.expect(ProblemKind::Ledger, &what, ledger.lost, in_gaps);
            if counted.lost_records > ledger.lost {
                let message =
                    format!("the GAPs of thread {thread} report more lost records than the ledger");
                self.problem(ProblemKind::Ledger, None, message);
            }
        }
        for thread in threads.keys() {
            let message = format!("thread {thread} is not in the ledger");
            self.problem(ProblemKind::Ledger, None, message);
        }
        self.found.checked.lost_is_known = true;
        self.found.checked.lost = lost;
        self.expect(ProblemKind::Ledger, "lost records", footer.lost.records, lost);
    }

    fn finish(mut self, census: &Census) -> Verification {
        let checked = &mut self.found.checked;
        checked.blocks = census.blocks;
        checked.records = census.records;
        checked.calls = census.calls;
        checked.frames = census.frame_ends.len() as u64;
        checked.threads = census.threads.len() as u64;
        checked.raw_bytes = census.raw_bytes;
        checked.memory = census.memory;
        checked.missing_references = census.missing_blobs().count;
        checked.timed = census.timed;
        checked.seams = census.seams.len() as u64;
        self.found.ok = self.found.problem_count == 0;
        self.found
    }
}

/// Returns the first part of a command that its records are too short for.
fn unreadable_part(command: &Command<'_>) -> Option<String> {
    let mut ranges = command.ranges_read().chain(command.ranges_written());
    if ranges.any(|range| matches!(range.observation, Observation::Missing { .. })) {
        return Some("a range of memory".to_owned());
    }
    for arg in command.args() {
        let gone = matches!(arg.observation, Observation::Missing { .. });
        if (arg.value == Value::Missing && arg.param.ty.repr.is_some()) || gone {
            return Some(format!("argument {}", arg.param.name));
        }
    }
    let (value, text) = command.result()?;
    let gone = value == Value::Missing || matches!(text, Observation::Missing { .. });
    gone.then(|| "the result".to_owned())
}

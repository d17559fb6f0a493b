//! Writes kept frames into a trace. The accounts count only the records in the file and the losses among them. The end
//! reason is the capture's own if it has ended (`exit` or `crash` by the parent's report if the process said nothing),
//! otherwise `stop`. If the output fails, the result names the error.

use gapii_abi::atom::EndReason;
use gapii_trace::TraceHeader;
use gapii_trace::Untrusted;
use gapii_trace::clock::Moment;
use gapii_trace::footer::{CaptureOptions, Footer, GapEntry, Lost, ProcessEntry, ThreadLedger};
use gapii_trace::frame::{KEPT_TIMED_VERSION, KEPT_VERSION};
use gapii_trace::meta::End;
use std::collections::BTreeMap;

use crate::clock::Clock;
use crate::end::Exited;
use crate::facts::Facts;
use crate::finish::Finish;
use crate::host;
use crate::kept_frames::Excerpt;
use crate::ledger::Ledger;
use crate::output::{Output, OutputError};
use crate::writer::{Writer, Written};

/// Facts about a capture that every trace saved from it states.
#[derive(Clone, Debug)]
pub struct Origin {
    pub session: [u8; 16],
    pub started: Moment,
    pub process: ProcessEntry,
    pub options: CaptureOptions,
}

/// Writes an excerpt into `output`. The result names the parts that could not be written.
pub fn save(
    excerpt: &Excerpt,
    origin: &Origin,
    exited: Option<Exited>,
    output: Output,
    clock: Clock,
) -> Result<Written, OutputError> {
    let program = concat!("gapiid ", env!("CARGO_PKG_VERSION"));
    let Origin { session, started, .. } = *origin;
    let header = TraceHeader {
        version: if origin.options.timing { KEPT_TIMED_VERSION } else { KEPT_VERSION },
        kept: Some(excerpt.from),
        host: host::name(),
        started_boot_ns: started.boot_ns,
        ..TraceHeader::new(program, session, started.unix_ns, started.monotonic_ns)
    };
    // The writer's encoder compresses only the end of the stream.
    let mut writer = Writer::new(output, 1, clock)?;
    writer.begin(&header);
    for block in &excerpt.blocks {
        writer.write_whole(&block.frame, &block.facts);
    }
    Ok(writer.finish(finish(excerpt, origin, exited)))
}

fn finish(excerpt: &Excerpt, origin: &Origin, exited: Option<Exited>) -> Finish {
    let facts = || excerpt.blocks.iter().map(|block| &block.facts);
    let told: Vec<GapEntry> = facts().flat_map(|facts| facts.gaps.iter().copied()).collect();
    let ended = excerpt.end.as_deref();
    let untold = ended.map_or(&[][..], |finish| &finish.ledger.gaps);
    let end = match ended {
        Some(finish) => {
            End { reason: seen(finish.end.reason, exited), in_flight: finish.end.in_flight.clone() }
        }
        // The program continues. Commands without a leave record show the calls that it is in.
        None => End { reason: EndReason::Stop, in_flight: Vec::new() },
    };
    let ledger = ledger(facts(), &told, untold, ended.map(|finish| &finish.ledger));
    let mut missing: Vec<Untrusted> = Vec::new();
    for text in facts().flat_map(|facts| &facts.missing) {
        if !missing.contains(text) {
            missing.push(text.clone());
        }
    }
    let footer = Footer {
        signal: ended.and(exited).and_then(|exited| exited.signal),
        started_unix_ns: origin.started.unix_ns,
        processes: vec![origin.process.clone()],
        gaps: told,
        options: origin.options.clone(),
        snapshot: excerpt.from.is_keyframe,
        held_us: facts().map(|facts| facts.held_us).max().unwrap_or(0),
        missing: if excerpt.from.is_keyframe { missing } else { Vec::new() },
        ..Footer::default()
    };
    let calls = facts().map(|facts| u64::from(facts.seqs)).sum();
    Finish { end, ledger, calls, stored_bytes: 0, held_bytes: 0, ends_for_memory: false, footer }
}

/// Returns the end reason: the parent's report if the program said nothing.
fn seen(reason: EndReason, exited: Option<Exited>) -> EndReason {
    match (reason, exited) {
        (EndReason::Lost | EndReason::Crash, Some(exited)) => exited.reason(),
        _ => reason,
    }
}

/// Makes the accounts of the records in the file. Records from before the file are not in them, neither as emitted
/// nor as lost.
fn ledger<'a>(
    blocks: impl Iterator<Item = &'a Facts>,
    told: &[GapEntry],
    untold: &[GapEntry],
    whole: Option<&Ledger>,
) -> Ledger {
    let mut threads: BTreeMap<u32, ThreadLedger> = BTreeMap::new();
    for facts in blocks {
        for label in &facts.threads {
            let thread = threads.entry(label.thread).or_default();
            (thread.thread, thread.process, thread.tid) = (label.thread, label.process, label.tid);
            thread.name = label.name().into();
        }
        for (thread, records) in &facts.records {
            threads.entry(*thread).or_default().emitted += records;
        }
    }
    let is_here = |gap: &&GapEntry| threads.contains_key(&gap.thread);
    let untold: Vec<GapEntry> = untold.iter().filter(is_here).copied().collect();
    let mut lost = Lost::default();
    for gap in told.iter().chain(&untold) {
        lost = lost.plus(gap.lost());
        if let Some(thread) = threads.get_mut(&gap.thread) {
            thread.lost = thread.lost.saturating_add(gap.records);
        }
    }
    for thread in threads.values_mut() {
        thread.produced = thread.emitted.saturating_add(thread.lost);
        let known = whole
            .and_then(|ledger| ledger.threads.iter().find(|known| known.thread == thread.thread));
        (thread.waits, thread.wait_ns) = known.map_or((0, 0), |known| (known.waits, known.wait_ns));
    }
    let (mut waits, mut wait_ns) = (0_u64, 0_u64);
    for thread in threads.values() {
        waits = waits.saturating_add(thread.waits);
        wait_ns = wait_ns.saturating_add(thread.wait_ns);
    }
    let refused = whole.map_or_else(Vec::new, |ledger| ledger.refused.clone());
    Ledger { threads: threads.into_values().collect(), gaps: untold, refused, lost, waits, wait_ns }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn account_of_the_parent_says_how_a_silent_program_ended() {
        let check = |reason, signal: Option<Option<i32>>, expected| {
            let exited = signal.map(|signal| Exited { signal });
            assert_eq!(seen(reason, exited), expected, "{reason:?}, {exited:?}");
        };
        for silent in [EndReason::Lost, EndReason::Crash] {
            check(silent, None, silent);
            check(silent, Some(None), EndReason::Exit);
            check(silent, Some(Some(15)), EndReason::Exit);
            check(silent, Some(Some(11)), EndReason::Crash);
        }
        check(EndReason::Stop, Some(Some(11)), EndReason::Stop);
    }
}

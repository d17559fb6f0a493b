//! What a capture says of itself: while it runs, and in its footer.

use std::sync::atomic::Ordering;

use gapii_trace::Footer;
use gapii_trace::footer::{Lost, ProcessEntry};
use gapii_trace::meta::End;

use crate::end::{self, Cause};
use crate::finish::Finish;
use crate::lane::Lane;
use crate::taker::Taker;
use crate::taker::portion::{Portion, PortionState};

/// How often the counters that others read are brought up to date.
const REPORT_NS: u64 = 100_000_000;

impl Taker {
    /// A ring that it takes is read no further.
    pub fn count_refused_ring(&self) {
        // Relaxed: a number for people.
        self.profile.progress.refused_rings.fetch_add(1, Ordering::Relaxed);
    }

    /// Brings the counters that others read up to date, from time to time.
    pub fn report(&mut self, lanes: &[Lane], now_ns: u64) {
        if now_ns < self.reported_ns + REPORT_NS {
            return;
        }
        self.reported_ns = now_ns;
        let mut lost = self.ledger.lost;
        let (mut waits, mut wait_ns) = (self.ledger.waits, self.ledger.wait_ns);
        for (lane, share) in lanes.iter().zip(&self.shares) {
            let Some(share) = share else { continue };
            if !self.portion(lane.member).is_some_and(Portion::has_begun) {
                continue;
            }
            let (counts, begun) = (lane.counts(), share.begun);
            let missed = share.missed.unwrap_or_default();
            let dropped = Lost {
                records: counts.dropped_records.saturating_sub(begun.dropped_records),
                calls: counts.dropped_calls.saturating_sub(begun.dropped_calls),
                bytes: counts.dropped_bytes.saturating_sub(begun.dropped_bytes),
            };
            lost = lost.plus(missed.lost()).plus(dropped);
            waits = waits.saturating_add(counts.waits.saturating_sub(begun.waits));
            wait_ns = wait_ns.saturating_add(counts.wait_ns.saturating_sub(begun.wait_ns));
        }
        let live = self.portions.iter().flatten().filter(|portion| portion.has_begun());
        let unslotted =
            live.map(Portion::unslotted).fold(self.unslotted_calls, u64::saturating_add);
        lost = lost.plus(Lost { calls: unslotted, ..Lost::default() });
        let progress = &self.profile.progress;
        let describing = self.stream.frames() == 0 && self.stream.is_describing();
        // Relaxed: as below.
        progress.describing.store(describing, Ordering::Relaxed);
        let misses = |portion: &Portion| matches!(portion.state, PortionState::Missing { .. });
        let is_missing = self.portions.iter().flatten().any(misses);
        progress.is_missing.store(is_missing, Ordering::Relaxed);
        progress.is_paused.store(self.is_paused, Ordering::Relaxed);
        let is_waiting = self.portions.iter().flatten().any(Portion::is_armed);
        progress.is_waiting.store(is_waiting, Ordering::Relaxed);
        for (counter, value) in [
            (&progress.frames, self.stream.frames()),
            (&progress.calls, self.stream.calls()),
            (&progress.records, self.stream.records()),
            (&progress.raw_bytes, self.stream.raw_bytes()),
            (&progress.blob_bytes, self.stream.blob_bytes()),
            (&progress.stored_bytes, self.stream.stored_bytes()),
            (&progress.ring_bytes, self.ring_bytes),
            (&progress.lost_calls, lost.calls),
            (&progress.lost_bytes, lost.bytes),
            (&progress.waits, waits),
            (&progress.wait_ns, wait_ns),
            (&progress.waiting_bytes, self.feed.waiting_bytes()),
            (&progress.spilled_bytes, self.feed.spilled_bytes()),
        ] {
            // Relaxed: numbers for people.
            counter.store(value, Ordering::Relaxed);
        }
    }

    /// Ends the stream and the trace; whoever writes it tells the client once it is there.
    pub fn finish(&mut self, lanes: &[Lane]) {
        self.is_finished = true;
        self.reported_ns = 0;
        self.report(lanes, u64::MAX);
        self.flush();
        let reason = end::reason(self.cause, self.exited, &self.ends);
        let in_flight: Vec<_> = self.ends.iter().flat_map(|end| end.in_flight.clone()).collect();
        let mut ledger = std::mem::take(&mut self.ledger);
        let unslotted = Lost { calls: self.unslotted_calls, ..Lost::default() };
        ledger.lost = ledger.lost.plus(unslotted);
        let footer = Footer {
            signal: self.exited.and_then(|exited| exited.signal),
            started_unix_ns: self.profile.started_unix_ns,
            set_back_ns: self
                .profile
                .clock
                .set_back_ns(self.profile.started_unix_ns, self.profile.started_ns),
            processes: self.process_entries(),
            gaps: self.stream.gaps().to_vec(),
            options: self.profile.plan.options(),
            snapshot: self.stream.has_snapshot(),
            held_us: self.stream.held_us(),
            missing: self.stream.missing().to_vec(),
            seams: self.stream.seams().to_vec(),
            ..Footer::default()
        };
        let (calls, stored_bytes) = (self.stream.calls(), self.stream.stored_bytes());
        let end = End { reason, in_flight };
        let ends_for_memory = self.cause == Some(Cause::Memory);
        let finish = Finish { end, ledger, calls, stored_bytes, ends_for_memory, footer };
        // A writer that is gone has said so.
        self.feed.finish(finish);
    }

    fn process_entries(&mut self) -> Vec<ProcessEntry> {
        let mut entries = Vec::with_capacity(self.portions.len());
        for Portion { process, key, .. } in self.portions.iter().flatten() {
            let index = self.stream.place(*key);
            let frames = self.stream.member(*key).frames;
            entries.push(ProcessEntry { process: index, frames, ..process.entry() });
        }
        entries.sort_by_key(|entry| entry.process);
        entries
    }
}

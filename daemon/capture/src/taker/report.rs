//! A capture's reports: counters while it runs, updated at most every 100 ms (`REPORT_NS`), and its footer. Losses that
//! no record explains count as `stalled` in a capture with `--overflow wait`, otherwise as `dropped`; calls of threads
//! without a slot as `no_slot`.

use std::sync::atomic::Ordering;

use gapii_trace::Footer;
use gapii_trace::footer::{Lost, ProcessEntry};
use gapii_trace::meta::End;

use crate::armed::Armed;
use crate::end::Cause;
use crate::finish::Finish;
use crate::lane::Lane;
use crate::member::PassedOn;
use crate::taker::Taker;
use crate::taker::membership::{Membership, MembershipState};
use crate::taker::tally::{LossesAndWaits, show};

/// Interval between updates of the counters that other threads read: 100 ms.
const REPORT_NS: u64 = 100_000_000;

impl Taker {
    /// Counts a ring of the capture that is read no further.
    pub fn count_refused_ring(&self) {
        // Relaxed: a number for people.
        self.profile.progress.refused_rings.fetch_add(1, Ordering::Relaxed);
    }

    /// Updates the counters that other threads read, at most every 100 ms.
    pub fn report(&mut self, lanes: &[Lane], now_ns: u64) {
        if now_ns < self.tally.reported_ns + REPORT_NS {
            return;
        }
        self.tally.reported_ns = now_ns;
        self.report_state();
        let LossesAndWaits { lost, waits, wait_ns } = self.losses_and_waits(lanes);
        let progress = &self.profile.progress;
        for (counter, value) in [
            (&progress.frames, self.stream.frames()),
            (&progress.calls, self.stream.calls()),
            (&progress.records, self.stream.records()),
            (&progress.raw_bytes, self.stream.raw_bytes()),
            (&progress.blob_bytes, self.stream.blob_bytes()),
            (&progress.stored_bytes, self.stream.stored_bytes()),
            (&progress.ring_bytes, self.tally.ring_bytes),
            (&progress.lost_calls, lost.calls),
            (&progress.lost_bytes, lost.bytes),
            (&progress.waits, waits),
            (&progress.wait_ns, wait_ns),
            (&progress.waiting_bytes, self.outlet.waiting_bytes()),
            (&progress.spilled_bytes, self.outlet.spilled_bytes()),
        ] {
            show(counter, value);
        }
    }

    fn report_state(&self) {
        let progress = &self.profile.progress;
        let misses = |it: &Membership| matches!(it.state, MembershipState::Missing { .. });
        let owes = self.memberships.values().any(Membership::owes_blobs);
        let describing = owes || self.stream.frames() == 0 && self.stream.is_describing();
        for (flag, value) in [
            (&progress.describing, describing),
            (&progress.is_missing, self.memberships.values().any(misses)),
            (&progress.is_paused, self.is_paused),
            (&progress.is_waiting, self.memberships.values().any(Membership::is_armed)),
        ] {
            // Relaxed: independent flags for people.
            flag.store(value, Ordering::Relaxed);
        }
    }

    /// Returns the losses and waits of closed and of open accounts.
    fn losses_and_waits(&self, lanes: &[Lane]) -> LossesAndWaits {
        let mut sum = self.tally.closed();
        for (at, share) in self.shares.iter() {
            let Some(lane) = lanes.get(at) else { continue };
            if self.memberships.get(lane.member).is_some_and(Membership::has_begun) {
                sum.add(lane, share);
            }
        }
        let begun = self.memberships.values().filter(|membership| membership.has_begun());
        let unslotted = begun
            .map(Membership::unslotted_calls)
            .fold(self.tally.unslotted_calls, u64::saturating_add);
        sum.add_calls(unslotted);
        sum
    }

    /// Ends the stream. The writer ends the trace, and tells the client once it is written.
    pub fn finish(&mut self, lanes: &[Lane]) {
        self.lifetime.is_finished = true;
        self.tally.reported_ns = 0;
        self.report(lanes, u64::MAX);
        self.flush();
        let ends = &self.lifetime.ends;
        let in_flight: Vec<_> = ends.iter().flat_map(|end| end.in_flight.clone()).collect();
        let end = End { reason: self.lifetime.reason(), in_flight };
        let mut ledger = std::mem::take(&mut self.tally.ledger);
        self.close_absent(&mut ledger);
        let unslotted = Lost { calls: self.tally.unslotted_calls, ..Lost::default() };
        ledger.lost = ledger.lost.plus(unslotted);
        ledger.note_unslotted(unslotted);
        if self.profile.plan.overflow == gapii_control::Overflow::Wait {
            ledger.name_stalls();
        }
        let footer = self.footer();
        let (calls, stored_bytes) = (self.stream.calls(), self.stream.stored_bytes());
        let ends_for_memory = self.lifetime.cause == Some(Cause::Memory);
        let held_bytes = self.tally.held_bytes;
        let finish =
            Finish { end, ledger, calls, stored_bytes, held_bytes, ends_for_memory, footer };
        self.outlet.finish(finish);
    }

    /// Makes the footer, as far as the drain knows it.
    fn footer(&mut self) -> Footer {
        let processes = self.process_entries();
        let profile = &self.profile;
        Footer {
            signal: self.lifetime.signal(),
            started_unix_ns: profile.started.unix_ns,
            set_back_ns: profile
                .clock
                .set_back_ns(profile.started.unix_ns, profile.started.monotonic_ns),
            processes,
            gaps: self.stream.gaps().to_vec(),
            options: profile.plan.options(),
            when_happened: self
                .memberships
                .values()
                .any(|membership| membership.armed.as_ref().is_some_and(Armed::has_come)),
            snapshot: self.stream.has_snapshot(),
            held_us: self.stream.held_us(),
            missing: self.stream.missing().to_vec(),
            without_gpu_times: self.stream.without_gpu_times().to_vec(),
            seams: self.stream.seams().to_vec(),
            ..Footer::default()
        }
    }

    fn process_entries(&mut self) -> Vec<ProcessEntry> {
        let mut entries = Vec::new();
        for membership in self.memberships.values() {
            let Membership { process, key, .. } = membership;
            let index = self.stream.place(*key);
            let frames = self.stream.process(*key).frames;
            let PassedOn { reentrant_calls, foreign_calls } = membership.passed_on();
            entries.push(ProcessEntry {
                process: index,
                frames,
                reentrant_calls,
                foreign_calls,
                ..process.entry()
            });
        }
        entries.sort_by_key(|entry| entry.process);
        entries
    }
}

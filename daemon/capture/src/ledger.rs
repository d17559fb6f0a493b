//! The accounts of a capture's threads: the records that each thread produced, those of them that are in the stream,
//! and those that are lost (with a cause: dropped or stalled, refused, missed, no slot, output) or left out. Records
//! that the output did not accept are subtracted at the end. Sums saturate.
//!
//! Copies the application's counts, and never adjusts a sum: a record that no account contains shows as `emitted
//! + lost + left_out` below `produced`.

use gapii_abi::atom::GapCause;
use gapii_ringbuf::SlotCounts;
use gapii_trace::footer::{GapEntry, Lost, RefusedRing, ThreadLedger};
use gapii_trace::rings::{self, Counts};

/// One thread's use of one slot, once it is over.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// Index in the trace.
    pub thread: u32,
    pub process: u32,
    pub slot: u32,
    pub tid: u32,
    pub name: String,
    /// The slot's counts when the thread, or the capture, began.
    pub before: SlotCounts,
    /// The slot's counts at the end.
    pub after: SlotCounts,
    /// Records that went into blocks.
    pub appended: u64,
    /// Records that do not belong to the stream.
    pub left_out: u64,
    /// Records read from the ring that were not appended.
    pub discarded: u64,
    /// Records that were not appended because the client did not want them, or its output was too slow.
    pub missed: Option<GapEntry>,
    /// Records that the application counted and that could not be read.
    pub unread: u64,
    /// The capture began while the thread was recording: losses that the thread's records state may be from before.
    pub is_late: bool,
    /// Why the ring was refused, if it was.
    pub refused: Option<String>,
    /// Losses that the thread's own records state.
    pub told: Lost,
}

/// All closed accounts of a capture.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub threads: Vec<ThreadLedger>,
    /// Gaps that no record in the stream states.
    pub gaps: Vec<GapEntry>,
    pub refused: Vec<RefusedRing>,
    pub lost: Lost,
    pub waits: u64,
    pub wait_ns: u64,
}

impl Account {
    /// Makes the account that a stream's ACCOUNT record states.
    pub fn told_by(account: &rings::Account, (process, tid, name): (u32, u32, String)) -> Self {
        let Lost { records, calls, bytes } = account.missed;
        let cause = account.missed_cause;
        let missed = GapEntry { records, calls, bytes, cause, ..GapEntry::default() };
        Self {
            thread: account.thread,
            process,
            slot: account.slot,
            tid,
            name,
            after: slot_counts_of(&account.counts),
            left_out: account.left_out,
            discarded: account.refused_records,
            missed: (cause != GapCause::default()).then_some(missed),
            told: account.told,
            ..Self::default()
        }
    }

    /// Returns the account's record for the stream.
    pub fn record(&self) -> rings::Account {
        let missed = self.missed.unwrap_or_default();
        rings::Account {
            thread: self.thread,
            slot: self.slot,
            counts: Counts {
                produced: self.produced(),
                waits: self.after.waits.wrapping_sub(self.before.waits),
                wait_ns: self.after.wait_ns.wrapping_sub(self.before.wait_ns),
                dropped: self.dropped(),
            },
            told: self.told,
            refused_records: self.discarded.saturating_add(self.unread),
            left_out: self.left_out,
            missed: missed.lost(),
            missed_cause: missed.cause,
        }
    }

    fn produced(&self) -> u64 {
        self.after.produced.wrapping_sub(self.before.produced)
    }

    fn dropped(&self) -> Lost {
        let dropped = Lost {
            records: self.after.dropped_records.wrapping_sub(self.before.dropped_records),
            calls: self.after.dropped_calls.wrapping_sub(self.before.dropped_calls),
            bytes: self.after.dropped_bytes.wrapping_sub(self.before.dropped_bytes),
        };
        if self.is_late { most(dropped, self.told) } else { dropped }
    }
}

impl Ledger {
    /// Enters a closed account.
    pub fn close(&mut self, account: Account) {
        let (dropped, told) = (account.dropped(), account.told);
        self.untold(account.thread, GapCause::Dropped, minus(dropped, told));
        let records = account.discarded.saturating_add(account.unread);
        let unread = Lost { records, ..Lost::default() };
        self.untold(account.thread, GapCause::Refused, unread);

        let missed = account.missed.unwrap_or_default();
        if account.missed.is_some() {
            self.gaps.push(GapEntry { thread: account.thread, ..missed });
        }

        let all_lost = dropped.plus(unread).plus(missed.lost());
        self.lost = self.lost.plus(all_lost);
        let lost = all_lost.records;
        let waits = account.after.waits.wrapping_sub(account.before.waits);
        let wait_ns = account.after.wait_ns.wrapping_sub(account.before.wait_ns);
        self.waits = self.waits.saturating_add(waits);
        self.wait_ns = self.wait_ns.saturating_add(wait_ns);
        let produced = account.produced().wrapping_add(dropped.records);
        let Account { thread, process, slot, tid, name, appended, left_out, refused, .. } = account;
        if let Some(why) = refused {
            self.refused.push(RefusedRing { process, slot, tid, why: why.into() });
        }
        let emitted = appended;
        self.threads.push(ThreadLedger {
            thread,
            process,
            tid,
            name: name.into(),
            produced,
            emitted,
            lost,
            left_out,
            waits,
            wait_ns,
        });
    }

    /// Names the cause of losses that no record states in a capture whose threads wait for room: the wait was in vain.
    pub fn name_stalls(&mut self) {
        for gap in self.gaps.iter_mut().filter(|gap| gap.cause == GapCause::Dropped) {
            gap.cause = GapCause::Stalled;
        }
    }

    /// Enters the gap of the threads that got no ring.
    pub fn note_unslotted(&mut self, lost: Lost) {
        self.untold(GapEntry::NO_THREAD, GapCause::NoSlot, lost);
    }

    /// Corrects the accounts by what the output accepted. `written` has the number of records of each thread in the
    /// file.
    pub fn settle(&mut self, written: &[u64]) {
        for index in 0..self.threads.len() {
            let account = &mut self.threads[index];
            let in_file = written.get(account.thread as usize).copied().unwrap_or(0);
            let missing = account.emitted.saturating_sub(in_file);
            account.emitted = in_file;
            account.lost = account.lost.saturating_add(missing);
            self.lost.records = self.lost.records.saturating_add(missing);
            let thread = account.thread;
            let records = missing;
            self.untold(thread, GapCause::Output, Lost { records, ..Lost::default() });
        }
        self.threads.sort_by_key(|account| account.thread);
    }

    fn untold(&mut self, thread: u32, cause: GapCause, lost: Lost) {
        let Lost { records, calls, bytes } = lost;
        if lost != Lost::default() {
            self.gaps.push(GapEntry {
                thread,
                records,
                calls,
                bytes,
                cause,
                ..GapEntry::default()
            });
        }
    }
}

/// Converts a slot's counts for a stream.
pub fn counts_of(counts: &SlotCounts) -> Counts {
    let SlotCounts { produced, waits, wait_ns, dropped_records, dropped_calls, dropped_bytes } =
        *counts;
    let dropped = Lost { records: dropped_records, calls: dropped_calls, bytes: dropped_bytes };
    Counts { produced, waits, wait_ns, dropped }
}

/// Converts counts of a stream to a slot's.
pub fn slot_counts_of(counts: &Counts) -> SlotCounts {
    let Counts { produced, waits, wait_ns, dropped } = *counts;
    SlotCounts {
        produced,
        waits,
        wait_ns,
        dropped_records: dropped.records,
        dropped_calls: dropped.calls,
        dropped_bytes: dropped.bytes,
    }
}

fn most(a: Lost, b: Lost) -> Lost {
    Lost {
        records: a.records.max(b.records),
        calls: a.calls.max(b.calls),
        bytes: a.bytes.max(b.bytes),
    }
}

fn minus(all: Lost, told: Lost) -> Lost {
    Lost {
        records: all.records.saturating_sub(told.records),
        calls: all.calls.saturating_sub(told.calls),
        bytes: all.bytes.saturating_sub(told.bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account() -> Account {
        Account {
            before: SlotCounts { produced: 100, waits: 1, ..SlotCounts::default() },
            after: SlotCounts {
                produced: 150,
                waits: 3,
                wait_ns: 7,
                dropped_records: 10,
                dropped_calls: 6,
                dropped_bytes: 640,
            },
            appended: 50,
            tid: 9,
            ..Account::default()
        }
    }

    fn balance(ledger: &Ledger) -> Vec<(u64, u64, u64)> {
        ledger.threads.iter().map(|t| (t.produced, t.emitted, t.lost)).collect()
    }

    #[test]
    fn dropped_records_count_as_produced_and_lost() {
        let mut ledger = Ledger::default();
        ledger.close(account());
        assert_eq!(balance(&ledger), [(60, 50, 10)]);
        assert_eq!(ledger.lost, Lost { records: 10, calls: 6, bytes: 640 });
        assert_eq!((ledger.waits, ledger.wait_ns), (2, 7));
    }

    #[test]
    fn drops_that_no_record_tells_of_become_a_gap() {
        let told = Lost { records: 4, calls: 3, bytes: 240 };
        let mut ledger = Ledger::default();
        ledger.close(Account { told, ..account() });
        let [gap] = ledger.gaps[..] else { panic!("{:?}", ledger.gaps) };
        assert_eq!((gap.records, gap.calls, gap.bytes), (6, 3, 400));
        assert_eq!(gap.cause, GapCause::Dropped);
    }

    #[test]
    fn records_of_a_refused_ring_are_lost_and_listed() {
        let refused = Account {
            appended: 20,
            discarded: 5,
            unread: 25,
            refused: Some("bad-length".into()),
            ..account()
        };
        let mut ledger = Ledger::default();
        ledger.close(refused);
        assert_eq!(balance(&ledger), [(60, 20, 40)]);
        assert_eq!(ledger.refused[0].why, "bad-length");
        assert!(ledger.gaps.iter().any(|g| g.cause == GapCause::Refused && g.records == 30));
    }

    #[test]
    fn records_left_out_are_not_lost() {
        let mut ledger = Ledger::default();
        ledger.close(Account { appended: 30, left_out: 20, ..account() });
        assert_eq!(balance(&ledger), [(60, 30, 10)]);
        assert_eq!((ledger.threads[0].left_out, ledger.lost.records), (20, 10));
    }

    #[test]
    fn gap_of_before_a_late_begin_is_accounted_for() {
        let told = Lost { records: 15, calls: 9, bytes: 900 };
        let mut ledger = Ledger::default();
        ledger.close(Account { is_late: true, told, ..account() });
        assert_eq!(balance(&ledger), [(65, 50, 15)]);
        assert_eq!(ledger.gaps, []);
    }

    #[test]
    fn records_that_the_output_did_not_take_are_lost() {
        let mut ledger = Ledger::default();
        ledger.close(account());
        ledger.settle(&[35]);
        assert_eq!(balance(&ledger), [(60, 35, 25)]);
        assert_eq!(ledger.lost.records, 25);
        assert!(ledger.gaps.iter().any(|g| g.cause == GapCause::Output && g.records == 15));
    }

    #[test]
    fn account_that_was_in_the_stream_comes_to_the_same() {
        let missed =
            GapEntry { records: 6, bytes: 90, cause: GapCause::Paused, ..GapEntry::default() };
        let told = Lost { records: 15, calls: 9, bytes: 900 };
        let closed = Account {
            appended: 30,
            left_out: 9,
            discarded: 5,
            missed: Some(missed),
            is_late: true,
            told,
            ..account()
        };
        let (mut first, mut second) = (Ledger::default(), Ledger::default());
        second.close(Account::told_by(&closed.record(), (0, 9, String::new())));
        first.close(closed);
        first.settle(&[30]);
        second.settle(&[30]);
        assert_eq!(first.threads, second.threads);
        assert_eq!((first.gaps, first.lost), (second.gaps, second.lost));
        assert_eq!((first.waits, first.wait_ns), (second.waits, second.wait_ns));
    }

    #[test]
    fn unaccounted_record_shows_in_the_ledger() {
        let mut ledger = Ledger::default();
        ledger.close(Account { appended: 49, ..account() });
        ledger.settle(&[49]);
        let [(produced, emitted, lost)] = balance(&ledger)[..] else { panic!() };
        assert_eq!(produced, emitted + lost + 1);
    }

    #[test]
    fn losses_without_a_ring_and_after_a_vain_wait_have_causes_of_their_own() {
        let mut ledger = Ledger::default();
        let lost = |calls| Lost { records: 2 * calls, calls, bytes: 64 };
        ledger.untold(3, GapCause::Dropped, lost(1));
        ledger.untold(3, GapCause::Refused, lost(2));
        ledger.note_unslotted(Lost { calls: 7, ..Lost::default() });
        ledger.note_unslotted(Lost::default());
        ledger.name_stalls();
        let gaps: Vec<_> = ledger.gaps.iter().map(|g| (g.thread, g.cause, g.calls)).collect();
        let expected = [
            (3, GapCause::Stalled, 1),
            (3, GapCause::Refused, 2),
            (GapEntry::NO_THREAD, GapCause::NoSlot, 7),
        ];
        assert_eq!(gaps, expected);
    }
}

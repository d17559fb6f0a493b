//! The books of a capture: what every thread produced, what of it came into the stream, what not.
//!
//! Copies what the application counted, and never makes a sum come out even: a record that nobody
//! accounts for shows as `emitted + lost + left_out` below `produced`.

use gapii_protocol::atom::gap_cause;
use gapii_protocol::trace::footer::{GapEntry, Lost, RefusedRing, ThreadLedger};
use gapii_ringbuf::SlotCounts;

/// One thread's use of one slot, once it is over.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// Index in the trace.
    pub thread: u32,
    pub process: u32,
    pub slot: u32,
    pub tid: u32,
    pub name: String,
    /// What the slot said when the thread, or the capture, began.
    pub before: SlotCounts,
    /// What it says now.
    pub after: SlotCounts,
    /// Records that went into blocks.
    pub appended: u64,
    /// Records that do not belong to the stream.
    pub left_out: u64,
    /// Records read from the ring that were not appended.
    pub discarded: u64,
    /// What was not appended because the client did not want it, or could not take it.
    pub missed: Option<GapEntry>,
    /// Records counted by the application that could not be read.
    pub unread: u64,
    /// It began while the thread was recording: what it is told of may have been lost before.
    pub is_late: bool,
    /// Why the ring was refused, if it was.
    pub refused: Option<String>,
}

/// All accounts of a capture.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub threads: Vec<ThreadLedger>,
    /// Gaps that no record in the stream tells of.
    pub gaps: Vec<GapEntry>,
    pub refused: Vec<RefusedRing>,
    pub lost: Lost,
    pub waits: u64,
    pub wait_ns: u64,
}

impl Account {
    fn produced(&self) -> u64 {
        self.after.produced.wrapping_sub(self.before.produced)
    }

    fn dropped(&self) -> Lost {
        Lost {
            records: self.after.dropped_records.wrapping_sub(self.before.dropped_records),
            calls: self.after.dropped_calls.wrapping_sub(self.before.dropped_calls),
            bytes: self.after.dropped_bytes.wrapping_sub(self.before.dropped_bytes),
        }
    }
}

impl Ledger {
    /// Enters an account. `told_gaps` are those that the thread's own records tell of.
    pub fn close<'a>(&mut self, account: Account, told_gaps: impl Iterator<Item = &'a GapEntry>) {
        let mut dropped = account.dropped();
        let told = told_gaps.fold(Lost::default(), |sum, gap| sum.plus(gap.lost()));
        if account.is_late {
            dropped = most(dropped, told);
        }
        self.untold(account.thread, gap_cause::DROPPED, minus(dropped, told));
        let records = account.discarded.saturating_add(account.unread);
        let unread = Lost { records, ..Lost::default() };
        self.untold(account.thread, gap_cause::REFUSED, unread);

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
            self.refused.push(RefusedRing { process, slot, tid, why });
        }
        let emitted = appended;
        self.threads.push(ThreadLedger {
            thread,
            process,
            tid,
            name,
            produced,
            emitted,
            lost,
            left_out,
            waits,
            wait_ns,
        });
    }

    /// Corrects the accounts by what the output took: `written` has the records of each thread
    /// that are in the file.
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
            self.untold(thread, gap_cause::OUTPUT, Lost { records, ..Lost::default() });
        }
        self.threads.sort_by_key(|account| account.thread);
    }

    fn untold(&mut self, thread: u32, cause: u32, lost: Lost) {
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
        ledger.close(account(), [].iter());
        assert_eq!(balance(&ledger), [(60, 50, 10)]);
        assert_eq!(ledger.lost, Lost { records: 10, calls: 6, bytes: 640 });
        assert_eq!((ledger.waits, ledger.wait_ns), (2, 7));
    }

    #[test]
    fn drops_that_no_record_tells_of_become_a_gap() {
        let told = GapEntry { records: 4, calls: 3, bytes: 240, ..GapEntry::default() };
        let mut ledger = Ledger::default();
        ledger.close(account(), [told].iter());
        let [gap] = ledger.gaps[..] else { panic!("{:?}", ledger.gaps) };
        assert_eq!((gap.records, gap.calls, gap.bytes), (6, 3, 400));
        assert_eq!(gap.cause, gap_cause::DROPPED);
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
        ledger.close(refused, [].iter());
        assert_eq!(balance(&ledger), [(60, 20, 40)]);
        assert_eq!(ledger.refused[0].why, "bad-length");
        assert!(ledger.gaps.iter().any(|g| g.cause == gap_cause::REFUSED && g.records == 30));
    }

    #[test]
    fn what_does_not_belong_to_the_stream_is_not_lost() {
        let mut ledger = Ledger::default();
        ledger.close(Account { appended: 30, left_out: 20, ..account() }, [].iter());
        assert_eq!(balance(&ledger), [(60, 30, 10)]);
        assert_eq!((ledger.threads[0].left_out, ledger.lost.records), (20, 10));
    }

    #[test]
    fn gap_of_before_a_late_begin_is_accounted_for() {
        let told = GapEntry { records: 15, calls: 9, bytes: 900, ..GapEntry::default() };
        let mut ledger = Ledger::default();
        ledger.close(Account { is_late: true, ..account() }, [told].iter());
        assert_eq!(balance(&ledger), [(65, 50, 15)]);
        assert_eq!(ledger.gaps, []);
    }

    #[test]
    fn records_that_the_output_did_not_take_are_lost() {
        let mut ledger = Ledger::default();
        ledger.close(account(), [].iter());
        ledger.settle(&[35]);
        assert_eq!(balance(&ledger), [(60, 35, 25)]);
        assert_eq!(ledger.lost.records, 25);
        assert!(ledger.gaps.iter().any(|g| g.cause == gap_cause::OUTPUT && g.records == 15));
    }

    #[test]
    fn record_that_nobody_accounts_for_shows() {
        let mut ledger = Ledger::default();
        ledger.close(Account { appended: 49, ..account() }, [].iter());
        ledger.settle(&[49]);
        let [(produced, emitted, lost)] = balance(&ledger)[..] else { panic!() };
        assert_eq!(produced, emitted + lost + 1);
    }
}

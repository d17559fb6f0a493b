//! Records for a daemon that continues the capture of a dead one: positions of rings at the end of a block (at most
//! 4,096 in one record), and totals of threads that are gone. Readers of commands skip these records. Decoding trusts
//! no count.
//!
//! The layouts are [`atom::Ring`] and [`atom::Account`]; the types here have flags as booleans and totals in groups.

use super::append::append;
use super::ledger::Lost;
use gapii_abi::atom::ring_flags::{
    AT_KEYFRAME, BEGUN_IS_LOW, IS_INTRODUCED, IS_LATE, IS_MISSING, IS_OVER, IS_PAUSED,
    LACKS_RECORDS,
};
use gapii_abi::atom::{self, GapCause, Ring, Short};

/// The rings of a capture whose positions have changed since their process joined.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rings {
    /// Threads that the stream has so far.
    pub threads: u32,
    /// Processes that the stream has so far.
    pub processes: u32,
    /// True if the capture is paused.
    pub is_paused: bool,
    /// The rings.
    pub rings: Vec<RingState>,
}

/// Position of one ring in the stream, and the state of its owner.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RingState {
    /// Index of the process in the trace.
    pub process: u32,
    /// Slot of the ring in the process' segment.
    pub slot: u32,
    /// Inode of the segment's memory file, which identifies the segment.
    pub segment: u64,
    /// Index of the ring's owner in the trace; `None` if the last owner has its account.
    pub thread: Option<u32>,
    /// True if the stream began while the owner recorded.
    pub is_late: bool,
    /// True if some records of the ring were lost unseen, so that `records` is too low.
    pub lacks_records: bool,
    /// True if the stream began while the owner recorded, behind records that were lost unseen, so that
    /// `begun.produced` is too low.
    pub begun_is_low: bool,
    /// True if the process' part in the stream is over, though the process is alive.
    pub is_over: bool,
    /// True if the stream lacks the process' commands up to its next keyframe.
    pub is_missing: bool,
    /// True if the process' part begins, or goes on, at a keyframe: records of a thread before its THREAD
    /// do not belong to the stream.
    pub at_keyframe: bool,
    /// True if the owner has written its THREAD since that keyframe.
    pub is_introduced: bool,
    /// Ring index in bytes behind the last record that is in the stream or does not belong there.
    pub index: u64,
    /// Records of the ring below `index`, of all owners.
    pub records: u64,
    /// Stamp of the last of these records.
    pub stamp: u64,
    /// Id of the owner's last command; 0 without one.
    pub last_id: u16,
    /// Flags of the last record of that command.
    pub last_flags: u16,
    /// Stamp of that record.
    pub last_stamp: u64,
    /// Ring index in bytes behind that record.
    pub last_end: u64,
    /// Losses that the owner's GAPs report.
    pub told: Lost,
    /// Counts of the application when the owner, or the stream, began.
    pub begun: Counts,
    /// Records of the owner that are in the stream.
    pub emitted: u64,
    /// Records of the owner that do not belong to the stream.
    pub left_out: u64,
    /// Records of the owner that the daemon refused.
    pub refused_records: u64,
    /// Records of the owner that are missing in the stream.
    pub missed: Lost,
    /// Why `missed` is missing.
    pub missed_cause: GapCause,
}

/// Totals of a thread that is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Account {
    /// Index of the thread in the trace.
    pub thread: u32,
    /// Slot of its ring in the process' segment.
    pub slot: u32,
    /// Counts of the application.
    pub counts: Counts,
    /// Losses that the thread's GAPs report.
    pub told: Lost,
    /// Records that the daemon could not read, or refused.
    pub refused_records: u64,
    /// Records that do not belong to the stream.
    pub left_out: u64,
    /// Records that are missing in the stream.
    pub missed: Lost,
    /// Why `missed` is missing.
    pub missed_cause: GapCause,
}

/// Counts that an application keeps per ring. Records that found no room are not among `produced`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Records that were written into the ring.
    pub produced: u64,
    /// Times that the thread waited for room.
    pub waits: u64,
    /// Nanoseconds of these waits.
    pub wait_ns: u64,
    /// Records that found no room.
    pub dropped: Lost,
}

/// Most rings in one record, so that the record is not too long.
pub const RINGS_MAX: usize = 4096;
/// Thread index that stands for no thread in [`atom::Ring`].
const NO_THREAD: u32 = u32::MAX;

impl Rings {
    /// Appends the record. Rings beyond [`RINGS_MAX`] are left out.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        let rings = &self.rings[..self.rings.len().min(RINGS_MAX)];
        let fixed = atom::Rings {
            threads: self.threads,
            processes: self.processes,
            rings: rings.len() as u32,
            flags: if self.is_paused { IS_PAUSED } else { 0 },
        };
        append(out, &fixed, |out| out.extend(rings.iter().flat_map(|ring| ring.layout().encode())));
    }

    /// Decodes a payload.
    ///
    /// # Errors
    /// The length in bytes that the payload would need.
    pub fn decode(payload: &[u8]) -> Result<Self, u64> {
        let needed = |short: Short| short.needed as u64;
        let (fixed, tail) = atom::Rings::decode(payload).map_err(needed)?;
        let len = u64::from(fixed.rings) * Ring::LEN as u64;
        if (tail.len() as u64) < len {
            return Err(atom::Rings::LEN as u64 + len);
        }
        let rings = tail.chunks_exact(Ring::LEN).take(fixed.rings as usize);
        let rings = rings.map(|bytes| Ok(RingState::of(&Ring::decode(bytes)?.0)));
        Ok(Self {
            threads: fixed.threads,
            processes: fixed.processes,
            is_paused: fixed.flags & IS_PAUSED != 0,
            rings: rings.collect::<Result<_, _>>().map_err(needed)?,
        })
    }
}

impl RingState {
    /// Returns the number of records of the ring below `index`, of all owners, as far as the stream tells.
    /// The owner's own totals may include more than `records` if a daemon continued from a place about
    /// which less was known.
    pub fn known_records(&self) -> u64 {
        self.records.max(self.begun.produced.saturating_add(self.owner_records()))
    }

    /// Returns the number of records of the owner, as far as the stream tells.
    fn owner_records(&self) -> u64 {
        let Self { emitted, left_out, refused_records, missed, .. } = *self;
        [emitted, left_out, refused_records, missed.records]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// Returns the owner's totals, as far as the stream tells; `None` if the last owner has its account.
    pub fn account(&self) -> Option<Account> {
        let (produced, dropped) = (self.owner_records(), self.told);
        Some(Account {
            thread: self.thread?,
            slot: self.slot,
            counts: Counts { produced, dropped, ..Counts::default() },
            told: self.told,
            refused_records: self.refused_records,
            left_out: self.left_out,
            missed: self.missed,
            missed_cause: self.missed_cause,
        })
    }

    fn layout(&self) -> Ring {
        let flags = [
            (self.is_late, IS_LATE),
            (self.lacks_records, LACKS_RECORDS),
            (self.is_over, IS_OVER),
            (self.is_missing, IS_MISSING),
            (self.at_keyframe, AT_KEYFRAME),
            (self.is_introduced, IS_INTRODUCED),
            (self.begun_is_low, BEGUN_IS_LOW),
        ];
        let Counts { produced, waits, wait_ns, dropped } = self.begun;
        Ring {
            process: self.process,
            slot: self.slot,
            thread: self.thread.unwrap_or(NO_THREAD),
            flags: flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum(),
            segment: self.segment,
            index: self.index,
            records: self.records,
            stamp: self.stamp,
            last_id: self.last_id,
            last_flags: self.last_flags,
            missed_cause: self.missed_cause,
            last_stamp: self.last_stamp,
            last_end: self.last_end,
            told_records: self.told.records,
            told_calls: self.told.calls,
            told_bytes: self.told.bytes,
            produced,
            waits,
            wait_ns,
            dropped_records: dropped.records,
            dropped_calls: dropped.calls,
            dropped_bytes: dropped.bytes,
            emitted: self.emitted,
            left_out: self.left_out,
            refused_records: self.refused_records,
            missed_records: self.missed.records,
            missed_calls: self.missed.calls,
            missed_bytes: self.missed.bytes,
        }
    }

    fn of(ring: &Ring) -> Self {
        let has = |flag| ring.flags & flag != 0;
        Self {
            process: ring.process,
            slot: ring.slot,
            segment: ring.segment,
            thread: Some(ring.thread).filter(|thread| *thread != NO_THREAD),
            is_late: has(IS_LATE),
            lacks_records: has(LACKS_RECORDS),
            is_over: has(IS_OVER),
            is_missing: has(IS_MISSING),
            at_keyframe: has(AT_KEYFRAME),
            is_introduced: has(IS_INTRODUCED),
            begun_is_low: has(BEGUN_IS_LOW),
            index: ring.index,
            records: ring.records,
            stamp: ring.stamp,
            last_id: ring.last_id,
            last_flags: ring.last_flags,
            last_stamp: ring.last_stamp,
            last_end: ring.last_end,
            told: lost(ring.told_records, ring.told_calls, ring.told_bytes),
            begun: Counts {
                produced: ring.produced,
                waits: ring.waits,
                wait_ns: ring.wait_ns,
                dropped: lost(ring.dropped_records, ring.dropped_calls, ring.dropped_bytes),
            },
            emitted: ring.emitted,
            left_out: ring.left_out,
            refused_records: ring.refused_records,
            missed: lost(ring.missed_records, ring.missed_calls, ring.missed_bytes),
            missed_cause: ring.missed_cause,
        }
    }
}

impl Account {
    /// Appends the record.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        let Counts { produced, waits, wait_ns, dropped } = self.counts;
        let layout = atom::Account {
            thread: self.thread,
            slot: self.slot,
            produced,
            waits,
            wait_ns,
            dropped_records: dropped.records,
            dropped_calls: dropped.calls,
            dropped_bytes: dropped.bytes,
            told_records: self.told.records,
            told_calls: self.told.calls,
            told_bytes: self.told.bytes,
            refused_records: self.refused_records,
            left_out: self.left_out,
            missed_records: self.missed.records,
            missed_calls: self.missed.calls,
            missed_bytes: self.missed.bytes,
            missed_cause: self.missed_cause,
        };
        append(out, &layout, |_| {});
    }

    /// Decodes a payload.
    ///
    /// # Errors
    /// [`Short`] if the payload ends before the record does.
    pub fn decode(payload: &[u8]) -> Result<Self, Short> {
        let (it, _) = atom::Account::decode(payload)?;
        Ok(Self {
            thread: it.thread,
            slot: it.slot,
            counts: Counts {
                produced: it.produced,
                waits: it.waits,
                wait_ns: it.wait_ns,
                dropped: lost(it.dropped_records, it.dropped_calls, it.dropped_bytes),
            },
            told: lost(it.told_records, it.told_calls, it.told_bytes),
            refused_records: it.refused_records,
            left_out: it.left_out,
            missed: lost(it.missed_records, it.missed_calls, it.missed_bytes),
            missed_cause: it.missed_cause,
        })
    }
}

fn lost(records: u64, calls: u64, bytes: u64) -> Lost {
    Lost { records, calls, bytes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::append::AppendTo;
    use crate::meta::{Meta, MetaError};
    use gapii_abi::atom::{Header, Seam};

    fn ring(number: u64) -> RingState {
        RingState {
            process: 1,
            slot: number as u32,
            thread: number.is_multiple_of(2).then_some(7),
            index: 8 * number,
            records: number,
            stamp: 3,
            last_id: 0x1234,
            last_flags: 6,
            last_stamp: 2,
            last_end: 4,
            told: Lost { records: 10, calls: 11, bytes: 12 },
            begun: counts(13),
            emitted: 19,
            left_out: 20,
            refused_records: 21,
            missed: Lost { records: 22, calls: 23, bytes: 24 },
            missed_cause: GapCause::Other(25),
            segment: 26,
            is_late: number.is_multiple_of(3),
            lacks_records: number == 4,
            begun_is_low: number == 3,
            is_over: number == 1,
            is_missing: number == 2,
            at_keyframe: number > 1,
            is_introduced: number.is_multiple_of(2),
        }
    }

    fn counts(from: u64) -> Counts {
        let dropped = Lost { records: from + 3, calls: from + 4, bytes: from + 5 };
        Counts { produced: from, waits: from + 1, wait_ns: from + 2, dropped }
    }

    fn account() -> Account {
        let told = Lost { records: 11, calls: 12, bytes: 13 };
        let missed = Lost { records: 16, calls: 17, bytes: 18 };
        Account {
            thread: 3,
            slot: 4,
            counts: counts(5),
            told,
            refused_records: 14,
            left_out: 15,
            missed,
            missed_cause: GapCause::Other(19),
        }
    }

    /// Id and payload of the one record in `bytes`.
    fn only_record(bytes: &[u8]) -> (u16, &[u8]) {
        let header = Header(u64::from_le_bytes(*bytes.first_chunk().unwrap()));
        assert_eq!(header.span_untrusted() as usize, bytes.len());
        (header.id(), &bytes[8..])
    }

    #[test]
    fn records_written_and_read_are_the_same() {
        let rings =
            Rings { threads: 9, processes: 2, is_paused: true, rings: (0..5).map(ring).collect() };
        let seam = Seam { from_ns: 5, to_ns: 8, processes: 1, absent: 2 };
        let check = |bytes: &[u8], expected: Meta<'_>| {
            let (id, payload) = only_record(bytes);
            assert_eq!(Meta::decode(id, payload), Ok(expected));
            let short = Meta::decode(id, &payload[..payload.len() - 8]);
            assert!(matches!(short, Err(MetaError::Short { .. })), "{short:?}");
        };
        let mut out = Vec::new();
        rings.append_to(&mut out);
        check(&out, Meta::Rings(rings));
        out.clear();
        account().append_to(&mut out);
        check(&out, Meta::Account(account()));
        out.clear();
        seam.append_to(&mut out);
        check(&out, Meta::Seam(seam));
        assert_eq!(seam.away_ns(), 3);
    }

    #[test]
    fn count_of_rings_past_the_payload_is_refused() {
        let mut payload = [0; 16 + Ring::LEN];
        payload[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        let needed = 16 + u64::from(u32::MAX) * Ring::LEN as u64;
        assert_eq!(Rings::decode(&payload), Err(needed));
    }

    #[test]
    fn most_rings_are_a_record_that_is_not_too_long() {
        let rings = vec![ring(1); RINGS_MAX + 1];
        let mut out = Vec::new();
        Rings { threads: 1, processes: 1, is_paused: false, rings }.append_to(&mut out);
        assert!(out.len() <= atom::RECORD_LEN_MAX as usize);
        let (_, payload) = only_record(&out);
        assert_eq!(Rings::decode(payload).map(|rings| rings.rings.len()), Ok(RINGS_MAX));
    }
}

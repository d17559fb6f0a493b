//! Records for a daemon that takes the place of one that died: how far each ring was at the end of a block,
//! what threads came to that are gone, and where the stream was taken up again.
//!
//! Readers of commands pass them over. Decodes what the daemon writes, and believes no count in it.

use super::footer::Lost;
use gapii_abi::atom::{self, HEADER_LEN, Header};

/// The rings of a capture whose positions are not those that they had when their process joined.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rings {
    /// Threads and processes that the stream has had so far.
    pub threads: u32,
    pub processes: u32,
    /// The capture is paused.
    pub is_paused: bool,
    pub rings: Vec<RingState>,
}

/// How far a ring is in the stream, and what its thread was at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RingState {
    /// Index of the process in the trace.
    pub process: u32,
    /// Place of the ring in the process' segment.
    pub slot: u32,
    /// Tells the segment from others: the inode of its memory file.
    pub segment: u64,
    /// Index of its present owner in the trace; `None`: the last one has its account.
    pub thread: Option<u32>,
    /// The stream began while the owner recorded.
    pub is_late: bool,
    /// Records of the ring are not known of, so that `records` is too few.
    pub lacks_records: bool,
    /// The process' part in the stream is over, though the process is not.
    pub is_over: bool,
    /// What the process does is missing in the stream, up to its next keyframe.
    pub is_missing: bool,
    /// The process' part begins, or goes on, at a keyframe: what a thread says before it introduces itself does
    /// not belong to the stream.
    pub at_keyframe: bool,
    /// The owner has introduced itself since.
    pub is_introduced: bool,
    /// Ring index behind the last record that is in the stream, or does not belong there.
    pub index: u64,
    /// Records of the ring below that, ever.
    pub records: u64,
    /// Stamp of the last of them.
    pub stamp: u64,
    /// The owner's last command: id and flags of its last record, its stamp, and the ring index behind it; 0
    /// without one.
    pub last_id: u16,
    pub last_flags: u16,
    pub last_stamp: u64,
    pub last_end: u64,
    /// What the owner's gaps have told of.
    pub told: Lost,
    /// What the application had counted when the owner began, or the stream.
    pub begun: Counts,
    /// Records of the owner that are in the stream, that do not belong there, and that were refused.
    pub emitted: u64,
    pub left_out: u64,
    pub refused_records: u64,
    /// What of the owner's is missing, and why.
    pub missed: Lost,
    pub missed_cause: u32,
}

/// What a thread that is gone came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Account {
    /// Index in the trace.
    pub thread: u32,
    pub slot: u32,
    /// What the application has counted of it.
    pub counts: Counts,
    /// What its gaps tell of.
    pub told: Lost,
    /// Records that the daemon could not read, or has refused.
    pub refused_records: u64,
    /// Records that do not belong to the stream.
    pub left_out: u64,
    /// What is missing, and why.
    pub missed: Lost,
    pub missed_cause: u32,
}

/// What an application counts of a ring. Records that were left out for want of room are not among those
/// produced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    pub produced: u64,
    pub waits: u64,
    pub wait_ns: u64,
    pub dropped: Lost,
}

/// The daemon went away here, and another took the capture up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Seam {
    /// `CLOCK_MONOTONIC`, in nanoseconds: when a program saw first that the daemon was gone, or, where none
    /// came back, when the last block was begun.
    pub from_ns: u64,
    /// When the other daemon began.
    pub to_ns: u64,
    /// Processes that handed their rings over, and those that were in the capture and did not.
    pub processes: u32,
    pub absent: u32,
}

/// Rings in one record, so that it is no longer than a record may be.
pub const RINGS_MAX: usize = 4096;
/// Words of a ring, and of an account.
const RING_WORDS: usize = 24;
const RING_BYTES: usize = RING_WORDS * 8;
const ACCOUNT_WORDS: usize = 16;
/// What stands for no thread.
const NO_THREAD: u32 = u32::MAX;
/// Flag of the record.
const IS_PAUSED: u32 = 1;
/// Flags of a ring.
const IS_LATE: u32 = 1;
const LACKS_RECORDS: u32 = 2;
const IS_OVER: u32 = 4;
const IS_MISSING: u32 = 8;
const AT_KEYFRAME: u32 = 16;
const IS_INTRODUCED: u32 = 32;

impl Rings {
    /// Appends the record. Of more than [`RINGS_MAX`] rings the rest is left out.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        let rings = &self.rings[..self.rings.len().min(RINGS_MAX)];
        let flags = if self.is_paused { IS_PAUSED } else { 0 };
        let first = [pair(self.threads, self.processes), pair(rings.len() as u32, flags)];
        append(out, atom::RINGS, first.into_iter().chain(rings.iter().flat_map(RingState::words)));
    }

    /// What a payload says; as an error the bytes that it would need.
    pub fn decode(payload: &[u8]) -> Result<Self, u64> {
        let [counts, rest] = words(payload)?;
        let ((threads, processes), (count, flags)) = (halves(counts), halves(rest));
        let needed = 16 + u64::from(count) * RING_BYTES as u64;
        if (payload.len() as u64) < needed {
            return Err(needed);
        }
        let rings = payload[16..].chunks_exact(RING_BYTES).take(count as usize);
        Ok(Self {
            threads,
            processes,
            is_paused: flags & IS_PAUSED != 0,
            rings: rings.map(RingState::decode).collect::<Result<_, _>>()?,
        })
    }
}

impl RingState {
    /// Records of the ring below `index`, ever, as far as anything in the stream tells: the owner's own books may
    /// know of more than `records`, where a daemon went on from a place of which less was known.
    pub fn known_records(&self) -> u64 {
        let Self { begun, emitted, left_out, refused_records, missed, .. } = *self;
        let owners = [emitted, left_out, refused_records, missed.records];
        let in_books = owners.into_iter().fold(begun.produced, u64::saturating_add);
        self.records.max(in_books)
    }

    fn words(&self) -> [u64; RING_WORDS] {
        let flags = [
            (self.is_late, IS_LATE),
            (self.lacks_records, LACKS_RECORDS),
            (self.is_over, IS_OVER),
            (self.is_missing, IS_MISSING),
            (self.at_keyframe, AT_KEYFRAME),
            (self.is_introduced, IS_INTRODUCED),
        ];
        let flags = flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum();
        let [told, missed] = [self.told, self.missed];
        let [produced, waits, wait_ns, records, calls, bytes] = self.begun.words();
        [
            pair(self.process, self.slot),
            pair(self.thread.unwrap_or(NO_THREAD), flags),
            self.segment,
            self.index,
            self.records,
            self.stamp,
            pair(u32::from(self.last_id) | u32::from(self.last_flags) << 16, self.missed_cause),
            self.last_stamp,
            self.last_end,
            told.records,
            told.calls,
            told.bytes,
            produced,
            waits,
            wait_ns,
            records,
            calls,
            bytes,
            self.emitted,
            self.left_out,
            self.refused_records,
            missed.records,
            missed.calls,
            missed.bytes,
        ]
    }

    fn decode(bytes: &[u8]) -> Result<Self, u64> {
        let words: [u64; RING_WORDS] = words(bytes)?;
        let [place, thread, segment, index, records, stamp, last, last_stamp, last_end, rest @ ..] =
            words;
        let (low, flags) = halves(thread);
        let (process, slot) = halves(place);
        let (last, missed_cause) = halves(last);
        Ok(Self {
            process,
            slot,
            segment,
            thread: Some(low).filter(|thread| *thread != NO_THREAD),
            is_late: flags & IS_LATE != 0,
            lacks_records: flags & LACKS_RECORDS != 0,
            is_over: flags & IS_OVER != 0,
            is_missing: flags & IS_MISSING != 0,
            at_keyframe: flags & AT_KEYFRAME != 0,
            is_introduced: flags & IS_INTRODUCED != 0,
            index,
            records,
            stamp,
            last_id: last as u16,
            last_flags: (last >> 16) as u16,
            last_stamp,
            last_end,
            told: lost(&rest[..3]),
            begun: Counts::of(&rest[3..9]),
            emitted: rest[9],
            left_out: rest[10],
            refused_records: rest[11],
            missed: lost(&rest[12..15]),
            missed_cause,
        })
    }
}

impl Account {
    pub fn append_to(&self, out: &mut Vec<u8>) {
        let [produced, waits, wait_ns, records, calls, bytes] = self.counts.words();
        let [told, missed] = [self.told, self.missed];
        let words: [u64; ACCOUNT_WORDS] = [
            pair(self.thread, self.slot),
            produced,
            waits,
            wait_ns,
            records,
            calls,
            bytes,
            told.records,
            told.calls,
            told.bytes,
            self.refused_records,
            self.left_out,
            missed.records,
            missed.calls,
            missed.bytes,
            pair(self.missed_cause, 0),
        ];
        append(out, atom::ACCOUNT, words.into_iter());
    }

    /// What a payload says; as an error the bytes that it would need.
    pub fn decode(payload: &[u8]) -> Result<Self, u64> {
        let words: [u64; ACCOUNT_WORDS] = words(payload)?;
        let (thread, slot) = halves(words[0]);
        Ok(Self {
            thread,
            slot,
            counts: Counts::of(&words[1..7]),
            told: lost(&words[7..10]),
            refused_records: words[10],
            left_out: words[11],
            missed: lost(&words[12..15]),
            missed_cause: words[15] as u32,
        })
    }
}

impl Counts {
    fn words(&self) -> [u64; 6] {
        let Lost { records, calls, bytes } = self.dropped;
        [self.produced, self.waits, self.wait_ns, records, calls, bytes]
    }

    /// Six words.
    fn of(words: &[u64]) -> Self {
        let (produced, waits, wait_ns) = (words[0], words[1], words[2]);
        Self { produced, waits, wait_ns, dropped: lost(&words[3..6]) }
    }
}

impl Seam {
    pub fn append_to(&self, out: &mut Vec<u8>) {
        let words = [self.from_ns, self.to_ns, pair(self.processes, self.absent)];
        append(out, atom::SEAM, words.into_iter());
    }

    /// What a payload says; as an error the bytes that it would need.
    pub fn decode(payload: &[u8]) -> Result<Self, u64> {
        let [from_ns, to_ns, counts] = words(payload)?;
        let (processes, absent) = halves(counts);
        Ok(Self { from_ns, to_ns, processes, absent })
    }

    /// For how long nobody recorded, in nanoseconds.
    pub fn away_ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }
}

/// Two halves of a word.
fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

fn halves(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

/// Three words.
fn lost(words: &[u64]) -> Lost {
    Lost { records: words[0], calls: words[1], bytes: words[2] }
}

fn append(out: &mut Vec<u8>, id: u16, words: impl Iterator<Item = u64>) {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER_LEN as usize]);
    words.for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    let header = Header::new(id, 0, (out.len() - start) as u32);
    out[start..start + HEADER_LEN as usize].copy_from_slice(&header.0.to_le_bytes());
}

/// The first words of a payload; as an error the bytes that these are.
fn words<const N: usize>(payload: &[u8]) -> Result<[u64; N], u64> {
    let chunks = payload.as_chunks::<8>().0;
    let first = chunks.first_chunk::<N>().ok_or(N as u64 * 8)?;
    Ok(first.map(u64::from_le_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::meta::{Meta, MetaError};

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
            missed_cause: 25,
            segment: 26,
            is_late: number.is_multiple_of(3),
            lacks_records: number == 4,
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
            missed_cause: 19,
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
        let mut payload = [0; 16 + RING_BYTES];
        payload[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        let needed = 16 + u64::from(u32::MAX) * RING_BYTES as u64;
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

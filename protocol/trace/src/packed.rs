//! The packed form of a block: runs of short records (at most [`SHORT_LEN_MAX`], 264 bytes) without what is the same in all
//! records of a kind. Records of a kind have the same header word. A run is one PACKED record: the kinds with the words that
//! never change, then a byte for each record, then the words that do change. Longer records stand between the runs as they are.
//!
//! A packed block begins with a PACKED, so a block that begins otherwise is not looked through. Packing keeps every record
//! but not the bytes of padding, which become 0. Unpacking believes no number: a run that is cut, names a kind that it does
//! not have, or has a record of less than 8 or more than 264 bytes, is an error. The packer also collects what the records need
//! of a description ([`Used`]), because it looks at the kinds of records already.

use std::ops::Range;

use gapii_abi::atom::{Atom, HEADER_LEN, Header, PACKED, Packed, RECORD_LEN_MAX};

use super::record::{RecordError, locate};
use super::used::{UseFinder, Used, WORD};

/// Longest record that is packed: a header word, and a bit for each word of four bytes in a `u64`.
pub const SHORT_LEN_MAX: u32 = HEADER_LEN + 4 * u64::BITS;
/// Most kinds of a run: a byte names one.
const KINDS_MAX: usize = 256;
/// Bytes of records after which a run ends, so that a PACKED is no longer than any other record.
const RUN_BYTES_MAX: usize = RECORD_LEN_MAX as usize / 2;
/// A block whose packed form is not shorter by this part stays as it is.
const WORTH: usize = 32;

/// Why a packed block is rejected. `at` is the offset of the bad record in the packed block, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UnpackError {
    /// The bytes are not records.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A run is cut, or names a kind that it does not have, or a kind is of no short record.
    #[error("packed records at byte {at} of the block are damaged")]
    Damaged {
        /// Offset of the run.
        at: usize,
    },
    /// The records take more bytes than the reader accepts.
    #[error("packed records exceed the limit of {limit} bytes")]
    TooLong {
        /// The reader's limit, in bytes.
        limit: usize,
    },
}

/// Packs blocks. Keeps its working memory from one block to the next.
#[derive(Default)]
pub struct Packer {
    kinds: Vec<Kind>,
    /// Kinds by a hash of their header word, a guess: the last one of each hash.
    guesses: Vec<u8>,
    /// The kind of each record of the run.
    records: Vec<u8>,
    packed: Vec<u8>,
    finder: UseFinder,
}

/// The records of a run with the same header word.
struct Kind {
    header: Header,
    /// Offset of the first one in the block.
    first: usize,
    /// A bit for each word behind the header word that differs in two records.
    varying: u64,
    /// A bit for each of these words that may be a value of an enum.
    enums: u64,
}

impl Packer {
    /// Returns the packed form of the records `raw`, unless it is hardly shorter or they are no records.
    pub fn pack(&mut self, raw: &[u8]) -> Option<&[u8]> {
        self.finder.clear();
        let is_packed = self.put_all(raw).is_some();
        if !is_packed || self.finder.has_namers() {
            self.finder.look_through(raw);
        }
        let is_worth_it = is_packed && self.packed.len() < raw.len() - raw.len() / WORTH;
        is_worth_it.then_some(&self.packed)
    }

    /// Returns what the records of the last block need of a description.
    pub fn used(&self) -> Used {
        self.finder.used()
    }

    /// Packs all records. `None` if they are no records.
    fn put_all(&mut self, raw: &[u8]) -> Option<()> {
        self.guesses.resize(KINDS_MAX, 0);
        self.packed.clear();
        let mut at = 0;
        while at < raw.len() {
            let run = self.take_run(raw, at)?;
            at = run.end;
            self.put_run(raw, run);
            if let Ok(record) = locate(raw, at)
                && record.header.len_untrusted() > SHORT_LEN_MAX
            {
                let enums = self.finder.kind(record.header);
                self.finder.values(&raw[at..], enums);
                self.packed.extend_from_slice(&raw[at..record.next]);
                at = record.next;
            }
        }
        Some(())
    }

    /// Takes short records from byte `at` on: notes their kinds and which of their words vary.
    fn take_run(&mut self, raw: &[u8], mut at: usize) -> Option<Range<usize>> {
        let start = at;
        self.kinds.clear();
        self.records.clear();
        while at < raw.len() && at - start < RUN_BYTES_MAX {
            let record = locate(raw, at).ok().filter(|record| record.header.id() != PACKED)?;
            let header = record.header;
            if header.len_untrusted() > SHORT_LEN_MAX {
                break;
            }
            let Some(kind) = self.kind_of(header, at) else { break };
            self.records.push(kind);
            let kind = &mut self.kinds[usize::from(kind)];
            let len = usize::try_from(header.len_untrusted()).ok()?;
            kind.varying |= differing(&raw[kind.first..], &raw[at..], len);
            at = record.next;
        }
        Some(start..at)
    }

    /// Returns the kind of a header word, a new one if it is the run's first. `None` if the run has no room for a new one.
    fn kind_of(&mut self, header: Header, at: usize) -> Option<u8> {
        let hash = usize::from((header.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8);
        let is_it = |kind: &Kind| kind.header == header;
        let guess = self.guesses[hash];
        if self.kinds.get(usize::from(guess)).is_some_and(is_it) {
            return Some(guess);
        }
        let known = self.kinds.iter().position(is_it);
        let kind = u8::try_from(known.unwrap_or(self.kinds.len())).ok()?;
        if known.is_none() {
            let enums = self.finder.kind(header);
            self.kinds.push(Kind { header, first: at, varying: 0, enums });
        }
        self.guesses[hash] = kind;
        Some(kind)
    }

    /// Appends the records of a run as a PACKED. Nothing for no records, except at the block's beginning.
    fn put_run(&mut self, raw: &[u8], run: Range<usize>) {
        let Self { kinds, records, packed, finder, .. } = self;
        let start = packed.len();
        if records.is_empty() && start > 0 {
            return;
        }
        packed.extend_from_slice(&[0; HEADER_LEN as usize]);
        let fixed = Packed { records: records.len() as u32, kinds: kinds.len() as u32 };
        packed.extend_from_slice(fixed.encode().as_ref());
        let mut spans = Vec::with_capacity(kinds.len());
        for Kind { header, first, varying, enums } in kinds.iter() {
            let words = words(header.len_untrusted());
            packed.extend_from_slice(&header.0.to_le_bytes());
            packed.extend_from_slice(&varying.to_le_bytes());
            for span in spans_of(!varying, words) {
                put(packed, &raw[*first..], span, header.len_untrusted());
            }
            finder.values(&raw[*first..], enums & !varying);
            let spans_of_kind: Vec<_> = spans_of(*varying, words).collect();
            spans.push((spans_of_kind, header.len_untrusted(), enums & varying));
        }
        packed.extend_from_slice(records);
        let mut at = run.start;
        for &kind in records.iter() {
            let (spans, len, enums) = &spans[usize::from(kind)];
            for span in spans {
                put(packed, &raw[at..], span.clone(), *len);
            }
            finder.values(&raw[at..], *enums);
            at += Header::new(0, 0, *len).span_untrusted() as usize;
        }
        let len = (packed.len() - start) as u32;
        let header = Header::new(Packed::ID, 0, len);
        packed[start..start + HEADER_LEN as usize].copy_from_slice(&header.0.to_le_bytes());
        packed.resize(start + header.span_untrusted() as usize, 0);
        if packed.len() - start > run.len() && start > 0 {
            packed.truncate(start);
            packed.extend_from_slice(&raw[run]);
        }
    }
}

/// Returns whether a block is in its packed form.
pub fn is_packed(block: &[u8]) -> bool {
    locate(block, 0).is_ok_and(|first| first.header.id() == PACKED)
}

/// Appends the records of a packed block to `out`, up to `limit` bytes in all.
///
/// # Errors
/// [`UnpackError`]; `out` then has some of the records.
pub fn unpack(block: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), UnpackError> {
    let mut at = 0;
    while at < block.len() {
        let record = locate(block, at)?;
        if record.header.id() == PACKED {
            let payload = &block[record.payload_start..record.payload_end];
            unpack_run(payload, limit, out).map_err(|why| match why {
                Stop::Damaged => UnpackError::Damaged { at },
                Stop::TooLong => UnpackError::TooLong { limit },
            })?;
        } else {
            append(out, &block[at..record.next], limit)
                .map_err(|_| UnpackError::TooLong { limit })?;
        }
        at = record.next;
    }
    Ok(())
}

/// Why a run can't be unpacked.
enum Stop {
    Damaged,
    TooLong,
}

fn unpack_run(payload: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), Stop> {
    let (fixed, mut rest) = Packed::decode(payload).map_err(|_| Stop::Damaged)?;
    let mut take = |len: usize| {
        let (taken, left) = rest.split_at_checked(len).ok_or(Stop::Damaged)?;
        rest = left;
        Ok(taken)
    };
    // The first record of each kind without the words that vary, and where these belong.
    let (mut kinds, mut forms) = (Vec::new(), Vec::new());
    for _ in 0..fixed.kinds {
        let [header, varying] = [take(8)?, take(8)?].map(word_at_start);
        let header = Header(header);
        let len = header.len_untrusted();
        if !(HEADER_LEN..=SHORT_LEN_MAX).contains(&len) || header.id() == PACKED {
            return Err(Stop::Damaged);
        }
        let start = forms.len();
        forms.extend_from_slice(&header.0.to_le_bytes());
        forms.resize(start + header.span_untrusted() as usize, 0);
        for span in spans_of(!varying, words(len)) {
            let place = bytes_of(&span);
            forms[start..][place.clone()].copy_from_slice(take(place.len())?);
        }
        let places: Vec<_> = spans_of(varying, words(len)).map(|span| bytes_of(&span)).collect();
        kinds.push((start..forms.len(), places));
    }
    for &kind in take(fixed.records as usize)? {
        let (form, places) = kinds.get(usize::from(kind)).ok_or(Stop::Damaged)?;
        let start = out.len();
        append(out, &forms[form.clone()], limit)?;
        for place in places {
            out[start..][place.clone()].copy_from_slice(take(place.len())?);
        }
    }
    if rest.is_empty() { Ok(()) } else { Err(Stop::Damaged) }
}

fn append(out: &mut Vec<u8>, bytes: &[u8], limit: usize) -> Result<(), Stop> {
    if out.len() + bytes.len() > limit {
        return Err(Stop::TooLong);
    }
    out.extend_from_slice(bytes);
    Ok(())
}

/// Number of words behind the header word of a record of `len` bytes.
fn words(len: u32) -> usize {
    (len.saturating_sub(HEADER_LEN) as usize).div_ceil(WORD)
}

/// The runs of ones among the lowest `words` bits, by the places of their bits.
fn spans_of(bits: u64, words: usize) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let left = bits.checked_shr(at as u32).unwrap_or(0);
        let start = at + left.trailing_zeros() as usize;
        if left == 0 || start >= words {
            return None;
        }
        let ones = (!(bits >> start)).trailing_zeros() as usize;
        at = (start + ones).min(words);
        Some(start..at)
    })
}

/// Where these words are in a record.
fn bytes_of(words: &Range<usize>) -> Range<usize> {
    let byte = |word: usize| HEADER_LEN as usize + word * WORD;
    byte(words.start)..byte(words.end)
}

/// Appends words of the first record in `raw`, of `len` bytes. Bytes behind its end become 0.
fn put(out: &mut Vec<u8>, raw: &[u8], words: Range<usize>, len: u32) {
    let bytes = bytes_of(&words);
    let end = out.len() + bytes.len();
    out.extend_from_slice(&raw[bytes.start..bytes.end.min(len as usize)]);
    out.resize(end, 0);
}

/// Returns a bit for each word behind the header word in which two records of `len` bytes differ.
fn differing(one: &[u8], other: &[u8], len: usize) -> u64 {
    let (one, one_rest) = one[HEADER_LEN as usize..len].as_chunks::<8>();
    let (other, other_rest) = other[HEADER_LEN as usize..len].as_chunks::<8>();
    let mut bits = 0;
    for (at, (one, other)) in one.iter().zip(other).enumerate() {
        let differing = u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other);
        let (low, high) = (differing as u32 != 0, differing >> 32 != 0);
        bits |= (u64::from(low) | u64::from(high) << 1) << (2 * at);
    }
    let rest = one_rest.chunks(WORD).zip(other_rest.chunks(WORD)).enumerate();
    rest.fold(bits, |bits, (at, (a, b))| bits | u64::from(a != b) << (2 * one.len() + at))
}

fn word_at_start(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appends a record whose padding is not zero.
    fn record(raw: &mut Vec<u8>, id: u16, flags: u16, payload: &[u8]) {
        let header = Header::new(id, flags, HEADER_LEN + payload.len() as u32);
        raw.extend_from_slice(&header.0.to_le_bytes());
        raw.extend_from_slice(payload);
        raw.resize(raw.len().next_multiple_of(8), 0xAA);
    }

    fn unpacked(packed: &[u8]) -> Result<Vec<u8>, UnpackError> {
        let mut raw = Vec::new();
        unpack(packed, 8 << 20, &mut raw).map(|()| raw)
    }

    /// Packs and unpacks, and compares all but the padding. Returns the packed form, or the records if they stay as they are.
    #[track_caller]
    fn there_and_back(raw: &[u8]) -> Vec<u8> {
        let mut packer = Packer::default();
        let Some(packed) = packer.pack(raw) else { return raw.to_vec() };
        assert!(is_packed(packed) && !is_packed(raw));
        let back = unpacked(packed).expect("what was packed");
        assert_eq!(back.len(), raw.len());
        let mut at = 0;
        while at < raw.len() {
            let (one, other) = (locate(raw, at).unwrap(), locate(&back, at).unwrap());
            assert_eq!(one, other);
            let payload = one.start..one.payload_end;
            assert_eq!(raw[payload.clone()], back[payload], "the record at byte {at}");
            at = one.next;
        }
        packed.to_vec()
    }

    /// Numbers that do not repeat, as the coordinates of a program.
    fn coordinates(count: usize, seed: usize) -> Vec<u8> {
        let number = |at: usize| (seed * 16 + at) as f32 * 0.618_034 + 1.0;
        (0..count).flat_map(|at| number(at).to_le_bytes()).collect()
    }

    #[test]
    fn run_of_vertices_takes_the_arguments_and_at_most_four_bytes() {
        // An address, the word of an observation, and three numbers, padded (glVertex3fv).
        let array = |seed| {
            let numbers = coordinates(3, seed);
            [
                &(0x7FFE_0000 + 12 * seed as u64).to_le_bytes()[..],
                &[12, 0, 0, 0, 0, 0, 0, 1],
                &numbers,
                &[0; 4],
            ]
            .concat()
        };
        let three_bytes = |seed: usize| vec![seed as u8, (seed / 7) as u8, 255];
        type Payload = Box<dyn Fn(usize) -> Vec<u8>>;
        let commands: [(usize, Payload); 6] = [
            (8, Box::new(|seed| coordinates(2, seed))),
            (12, Box::new(|seed| coordinates(3, seed))),
            (16, Box::new(|seed| coordinates(4, seed))),
            (24, Box::new(|seed| coordinates(6, seed))),
            (8 + 12, Box::new(array)),
            (3, Box::new(three_bytes)),
        ];
        for (arguments, payload) in &commands {
            let mut raw = Vec::new();
            for seed in 0..1000 {
                // Every fourth record is of another command.
                let (id, seed) = if seed % 4 == 3 { (8, seed / 4) } else { (7, seed) };
                record(&mut raw, id, 4, &payload(seed));
            }
            let packed = there_and_back(&raw).len() as f64 / 1000.0;
            assert!(
                packed <= (arguments + 4) as f64,
                "{packed} bytes for {arguments} of arguments"
            );
        }
    }

    #[test]
    fn any_records_come_back_and_long_ones_stay_where_they_are() {
        let mut raw = Vec::new();
        for at in 0..3000_usize {
            let len = [0, 1, 3, 4, 12, 255, 256, 257, 400][at % 9];
            let payload: Vec<u8> = (0..len).map(|byte| (byte * at / 5) as u8).collect();
            record(&mut raw, (at % 40) as u16, 4, &payload);
            (0..8).for_each(|n| record(&mut raw, 50, 4, &coordinates(3, 8 * at + n)));
        }
        let packed = there_and_back(&raw);
        assert!(packed.len() < raw.len(), "they are packed");
        // A long record first, and more than a run's bytes.
        let mut raw = Vec::new();
        record(&mut raw, 1, 0, &[1; 5000]);
        (0..60_000).for_each(|at| record(&mut raw, 2, 1, &coordinates(4, at)));
        assert!(there_and_back(&raw).len() < raw.len());
    }

    #[test]
    fn records_that_hardly_shrink_stay_as_they_are() {
        let mut raw = Vec::new();
        (0..50).for_each(|at| record(&mut raw, 1, 0, &vec![at; 4000]));
        assert_eq!(there_and_back(&raw), raw);
        assert!(Packer::default().pack(&[]).is_none());
        // Bytes that are no records, and records that are packed already.
        assert!(Packer::default().pack(&[1; 64]).is_none());
        (0..50).for_each(|at| record(&mut raw, 2, 0, &coordinates(3, at)));
        let packed = Packer::default().pack(&raw).map(<[u8]>::to_vec);
        assert!(packed.is_none_or(|packed| Packer::default().pack(&packed).is_none()));
    }

    #[test]
    fn damaged_run_is_an_error() {
        let mut raw = Vec::new();
        (0..20).for_each(|at| record(&mut raw, at % 3, 0, &coordinates(3, at.into())));
        let packed = there_and_back(&raw);
        // Every number of the run in turn: its length, its counts, its kinds, and the kind of a record.
        let places = [0, 8, 12, 16, 24, 32, 48, 64];
        for place in places {
            let mut damaged = packed.clone();
            damaged[place] ^= 0x85;
            let found = unpacked(&damaged);
            assert!(found.is_err(), "{place}: {found:?}");
        }
        for len in 1..packed.len() {
            assert!(unpacked(&packed[..len]).is_err(), "{len} bytes");
        }
        let mut short = Vec::new();
        let limit = raw.len() - 1;
        assert_eq!(unpack(&packed, limit, &mut short), Err(UnpackError::TooLong { limit }));
        assert!(short.len() <= limit);
    }
}

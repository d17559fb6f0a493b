//! What the records of a block need of a description: the ids of their functions, and the values in their arguments that
//! only a long list of names knows (`LONG_GROUP`, more than 128 names, or a group that falls back to one).
//!
//! Values are found in arguments, results and arrays that stand in the record, in its first 264 bytes, and only below
//! 65,536. Values in blobs and in structs are not looked for. Nothing here fails: a record that is not whole ends the search.

use std::sync::OnceLock;

use gapii_abi::atom::{self, HEADER_LEN, Header, LEAVE, META_FIRST};

use super::description::{Description, Kind, Observed, Repr, Type};
use super::meta::Meta;
use super::record::{Record, Records};

/// Bytes of a word.
pub(super) const WORD: usize = 4;

/// What the records of a block need of a description.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Used {
    /// Ids of functions, ascending.
    pub functions: Box<[u16]>,
    /// Values of enums, ascending; some may be other numbers.
    pub values: Box<[u16]>,
}

/// A bit for each number of 16 bits.
#[derive(Clone)]
struct Bits(Box<[u64; 1024]>);

/// Collects what records need.
#[derive(Clone, Default)]
pub(super) struct UseFinder {
    functions: Bits,
    values: Bits,
    /// Whether there was a record whose payload names functions.
    has_namers: bool,
}

impl Used {
    /// Returns what these records, which are not packed, need.
    pub fn by(raw: &[u8]) -> Self {
        let mut finder = UseFinder::default();
        finder.look_through(raw);
        finder.used()
    }

    /// Returns roughly how many bytes of memory the lists take.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.functions) + size_of_val(&*self.values)
    }
}

impl UseFinder {
    pub(super) fn clear(&mut self) {
        self.functions.0.fill(0);
        self.values.0.fill(0);
        self.has_namers = false;
    }

    /// Notes the function of records with this header word. Returns a bit for each word behind it that may be a value for
    /// [`Self::value`].
    pub(super) fn kind(&mut self, header: Header) -> u64 {
        let id = header.id();
        if id >= META_FIRST {
            self.has_namers |= names_functions(id);
            return 0;
        }
        self.functions.insert(id);
        let words = enum_words().get(usize::from(id)).map_or(0, |parts| {
            let part = usize::from(header.flags() & LEAVE != 0);
            let before = (header.payload_offset() - HEADER_LEN as usize) / WORD;
            parts[part] << before
        });
        let count = (header.len_untrusted().saturating_sub(HEADER_LEN) as usize).div_ceil(WORD);
        words & 1_u64.checked_shl(count as u32).map_or(u64::MAX, |bit| bit - 1)
    }

    /// Notes the values in those words of a record, which begins at `raw`, whose bit is set.
    pub(super) fn values(&mut self, raw: &[u8], mut words: u64) {
        while words != 0 {
            let at = HEADER_LEN as usize + WORD * words.trailing_zeros() as usize;
            words &= words - 1;
            let Some(word) = raw.get(at..).and_then(|rest| rest.first_chunk::<WORD>()) else {
                return;
            };
            if let Ok(value) = u16::try_from(u32::from_le_bytes(*word)) {
                self.values.insert(value);
            }
        }
    }

    /// Returns whether some function can be found only with [`Self::look_through`].
    pub(super) fn has_namers(&self) -> bool {
        self.has_namers
    }

    /// Notes what the records of a block need.
    pub(super) fn look_through(&mut self, raw: &[u8]) {
        for record in Records::new(raw).map_while(Result::ok) {
            let words = self.kind(record.header);
            self.values(&raw[record.start..], words);
            self.named_in(&record);
        }
    }

    /// Notes the functions that the payload of a record names.
    fn named_in(&mut self, record: &Record<'_>) {
        let id = record.header.id();
        if !names_functions(id) {
            return;
        }
        let mut note = |id: u16| {
            if id < META_FIRST {
                self.functions.insert(id);
            }
        };
        match Meta::decode(id, record.payload) {
            Ok(Meta::Traced(traced)) => note(traced.id),
            Ok(Meta::End(end)) => end.in_flight.iter().for_each(|command| note(command.id)),
            _ => {}
        }
    }

    pub(super) fn used(&self) -> Used {
        Used { functions: self.functions.iter().collect(), values: self.values.iter().collect() }
    }
}

/// Whether the payloads of records with this id name functions.
fn names_functions(id: u16) -> bool {
    matches!(id, atom::TRACED | atom::END)
}

impl Bits {
    fn insert(&mut self, number: u16) {
        self.0[usize::from(number / 64)] |= 1 << (number % 64);
    }

    fn iter(&self) -> impl Iterator<Item = u16> {
        (0..).zip(self.0.iter()).flat_map(|(word, &bits)| {
            let mut left = bits;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as u16;
                left &= left.checked_sub(1)?;
                Some(64 * word + bit)
            })
        })
    }
}

impl Default for Bits {
    fn default() -> Self {
        Self(Box::new([0; 1024]))
    }
}

/// By function id, of enter and of leave records: a bit for each word of the payload that may be such a value.
fn enum_words() -> &'static [[u64; 2]] {
    static WORDS: OnceLock<Vec<[u64; 2]>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let description = Description::built_in();
        let is_listed = |ty: Type| match ty.kind {
            Kind::Enum(group) | Kind::Attributes(group) => description.is_long(group),
            _ => false,
        };
        let word = |offset: usize| 1_u64.checked_shl((offset / WORD) as u32).unwrap_or(0);
        let from = |offset: usize| u64::MAX.checked_shl((offset / WORD) as u32).unwrap_or(0);
        description.table([0; 2], |function| {
            let (enter_len, leave_len) = (function.fixed_len as usize, function.result_len());
            let mut words = [0, if is_listed(function.result) { word(0) } else { 0 }];
            for param in &function.params {
                if is_listed(param.ty) && param.ty.repr != Some(Repr::Pointer) {
                    words[0] |= word(param.offset as usize);
                }
                let is_list = is_listed(param.ty) || param.element.is_some_and(is_listed);
                match param.observed {
                    Observed::In if is_list => words[0] |= from(enter_len),
                    Observed::Out if is_list => words[1] |= from(leave_len),
                    _ => {}
                }
            }
            words
        })
    })
}

//! One kept command: its arguments, and the memory that it read and wrote, as the record of the command would have them.
//! Memory that could not be read is kept as unreadable.
//!
//! ```text
//! arguments, one word each
//! for each piece of memory: kind << 56 | parameter << 48 | size in bytes, address, bytes padded to 8
//! ```

use std::sync::Arc;

use gapii_recorder::observe::Observation;
use gapii_recorder::program::guarded;
use gapii_state::{NO_PARAM, Observer};

use super::facts::{Kept, Place};

const SIZE_BITS: u32 = 48;
const PARAM_BITS: u32 = 8;
const SIZE_MASK: u64 = (1 << SIZE_BITS) - 1;

/// What a piece of memory is to its command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Role {
    /// Memory that the command always reads, in the order of its parameters.
    ReadSlot,
    /// Memory that the command read, depending on other memory.
    ReadRange,
    /// Memory that the command always writes, in the order of its parameters.
    WriteSlot,
    /// Memory that the command wrote, depending on other memory.
    WriteRange,
}

/// Added to the role of a piece without bytes: a null pointer, or memory that is not readable.
const EMPTY: u8 = 0x80;

/// Memory that a kept command read or wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece<'a> {
    pub role: Role,
    /// Index of the parameter; [`NO_PARAM`] for none.
    pub param: u8,
    /// Where the program had the memory.
    pub address: u64,
    /// `None` for a null pointer, and for memory that was not readable.
    pub bytes: Option<&'a [u8]>,
}

/// Properties of an object: for each command and key the last one that set it.
pub type Properties = Arc<Vec<Property>>;

/// A property of an object.
#[derive(Clone)]
pub struct Property {
    pub id: u16,
    pub key: u64,
    pub entry: Arc<Entry>,
}

/// A kept command.
pub struct Entry {
    /// Number of the command among all that were kept: a higher one was called later.
    pub serial: u64,
    pub command: &'static Kept,
    words: Box<[u64]>,
}

/// Words of a draft that need no allocation: enough for a launch with a few events.
const INLINE_WORDS: usize = 40;

/// A command that is being kept. Most commands allocate nothing here.
pub struct Draft {
    command: &'static Kept,
    inline: [u64; INLINE_WORDS],
    /// Words in `inline`, if `spilled` is empty.
    len: usize,
    /// All words, once they do not fit.
    spilled: Vec<u64>,
    /// Ranges that are named now were written.
    has_returned: bool,
}

impl Draft {
    /// Begins to keep a command with these arguments.
    #[inline(always)]
    pub fn new(command: &'static Kept, args: &[u64]) -> Self {
        let (inline, spilled) = ([0; INLINE_WORDS], Vec::new());
        let mut draft = Self { command, inline, len: 0, spilled, has_returned: false };
        draft.grow(args.len()).copy_from_slice(args);
        draft
    }

    /// Appends words, which are zero, and returns them.
    fn grow(&mut self, count: usize) -> &mut [u64] {
        let begin = self.words().len();
        if self.spilled.is_empty() {
            if begin + count <= INLINE_WORDS {
                self.len += count;
                return &mut self.inline[begin..begin + count];
            }
            self.spilled.reserve_exact(begin + count);
            self.spilled.extend_from_slice(&self.inline[..begin]);
        }
        self.spilled.resize(begin + count, 0);
        &mut self.spilled[begin..]
    }

    fn truncate(&mut self, len: usize) {
        if self.spilled.is_empty() {
            self.inline[len..self.len].fill(0);
            self.len = len;
        } else {
            self.spilled.truncate(len);
        }
    }

    /// Returns the draft's words, as an entry has them.
    pub fn words(&self) -> &[u64] {
        if self.spilled.is_empty() { &self.inline[..self.len] } else { &self.spilled }
    }

    /// Returns the command that is kept.
    pub fn command(&self) -> &'static Kept {
        self.command
    }

    /// Notes that the driver has returned: memory from here on was written.
    pub fn returned(&mut self) {
        self.has_returned = true;
    }

    /// Keeps the next memory that the command always reads, or writes after it has returned.
    pub fn slot(&mut self, seen: Observation) {
        let role = if self.has_returned { Role::WriteSlot } else { Role::ReadSlot };
        let (address, size) = seen.memory().unwrap_or_default();
        self.keep(role, NO_PARAM, address, size);
    }

    fn keep(&mut self, role: Role, param: u8, address: u64, size: u64) {
        let at = self.words().len();
        let has_memory = address != 0 && size < SIZE_MASK;
        let data_words = if has_memory { size.div_ceil(8) as usize } else { 0 };
        let [head, place, data @ ..] = self.grow(2 + data_words) else { return };
        *place = address;
        // SAFETY: the words hold `size` bytes, and are the shim's own.
        let is_kept = has_memory
            && unsafe { guarded::read(address, data.as_mut_ptr().cast(), size as usize) };
        let (kind, size) = if is_kept { (role as u8, size) } else { (role as u8 | EMPTY, 0) };
        let kind = u64::from(kind) << (SIZE_BITS + PARAM_BITS);
        *head = kind | u64::from(param) << SIZE_BITS | size;
        if !is_kept {
            self.truncate(at + 2);
        }
    }

    /// Returns the argument at this index.
    pub fn arg(&self, at: u8) -> u64 {
        self.words().get(usize::from(at)).copied().unwrap_or(0)
    }

    /// Returns the handles or numbers at a place.
    pub fn numbers(&self, place: Place) -> Vec<u64> {
        numbers(self.words(), self.command.sizes.len(), place)
    }

    /// Returns the first handle or number at a place; 0 for none.
    pub fn number(&self, place: Place) -> u64 {
        match place {
            Place::Argument(at) => self.arg(at),
            Place::Array(_) => self.numbers(place).first().copied().unwrap_or(0),
        }
    }
}

impl Observer for Draft {
    fn range(&mut self, param: u8, address: u64, len: u64) {
        let role = if self.has_returned { Role::WriteRange } else { Role::ReadRange };
        self.keep(role, param, address, len);
    }

    fn unknown(&mut self, param: u8, address: u64) {
        self.range(param, address, u64::MAX);
    }

    fn apart(&mut self) {}
}

impl Entry {
    /// Builds an entry of the words of a draft.
    pub fn new(serial: u64, command: &'static Kept, words: &[u64]) -> Self {
        Self { serial, command, words: words.into() }
    }

    /// Takes the place of an earlier call of the same command. False if that had more or less memory.
    pub fn replace(&mut self, serial: u64, words: &[u64]) -> bool {
        let fits = self.words.len() == words.len();
        if fits {
            self.words.copy_from_slice(words);
            self.serial = serial;
        }
        fits
    }

    /// Returns the arguments, one word each.
    pub fn args(&self) -> &[u64] {
        &self.words[..self.command.sizes.len()]
    }

    /// Returns the argument at this index.
    pub fn arg(&self, at: u8) -> u64 {
        self.args().get(usize::from(at)).copied().unwrap_or(0)
    }

    /// Returns the memory of the command, in the order in which it was read and written.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        pieces(&self.words, self.command.sizes.len())
    }

    /// Returns the handles or numbers at a place.
    pub fn numbers(&self, place: Place) -> Vec<u64> {
        numbers(&self.words, self.command.sizes.len(), place)
    }

    /// Returns the handles that the command takes, without nulls.
    pub fn handles(&self) -> Vec<u64> {
        let facts = &self.command.facts;
        let mut handles: Vec<u64> = facts.handles.iter().map(|at| self.arg(*at)).collect();
        let slots = self.pieces().filter(|piece| piece.role == Role::ReadSlot);
        for (slot, piece) in slots.enumerate() {
            if facts.handle_arrays.iter().any(|at| usize::from(*at) == slot) {
                handles.extend(words_of(piece.bytes.unwrap_or_default()));
            }
        }
        handles.retain(|handle| *handle != 0);
        handles
    }

    /// Returns the handles and addresses that the command made or found, without nulls.
    pub fn makes(&self) -> Vec<u64> {
        let facts = &self.command.facts;
        let places = facts.made.iter().copied().chain(facts.found).map(Place::Array);
        let mut handles: Vec<u64> = places.flat_map(|place| self.numbers(place)).collect();
        handles.retain(|handle| *handle != 0);
        handles
    }
}

fn pieces(words: &[u64], args: usize) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = words.get(args..).unwrap_or_default();
    core::iter::from_fn(move || {
        let (head, after) = rest.split_first_chunk::<2>()?;
        let [head, address] = *head;
        let size = (head & SIZE_MASK) as usize;
        let (data, next) = after.split_at_checked(size.div_ceil(8))?;
        rest = next;
        let kind = (head >> (SIZE_BITS + PARAM_BITS)) as u8;
        let role = match kind & !EMPTY {
            0 => Role::ReadSlot,
            1 => Role::ReadRange,
            2 => Role::WriteSlot,
            _ => Role::WriteRange,
        };
        // SAFETY: `data` has at least `size` bytes, and every byte of a word is initialised.
        let bytes = unsafe { core::slice::from_raw_parts(data.as_ptr().cast::<u8>(), size) };
        let param = (head >> SIZE_BITS) as u8;
        Some(Piece { role, param, address, bytes: (kind & EMPTY == 0).then_some(bytes) })
    })
}

/// Of memory that was both read and written, what was written counts.
fn numbers(words: &[u64], args: usize, place: Place) -> Vec<u64> {
    let arg = |at: u8| words.get(usize::from(at)).copied().unwrap_or(0);
    match place {
        Place::Argument(at) => vec![arg(at)],
        Place::Array(at) => {
            let here = |piece: &Piece<'_>| piece.address != 0 && piece.address == arg(at);
            let last = pieces(words, args).filter(here).last();
            words_of(last.and_then(|piece| piece.bytes).unwrap_or_default()).collect()
        }
    }
}

fn words_of(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use gapii_recorder::observe;

    use super::*;
    use crate::kept::facts::Facts;

    static TWO: Kept = Kept {
        id: 1,
        facts: Facts { handles: &[0], handle_arrays: &[1], made: &[1], ..Facts::NONE },
        sizes: &[8, 8],
    };

    #[test]
    fn memory_is_kept_with_its_address_and_unreadable_memory_without_bytes() {
        let text = *b"nine byte";
        let large = vec![7_u8; 1000];
        let (handles, made) = ([5_u64, 0, 6], [9_u64]);
        let mut draft = Draft::new(&TWO, &[3, made.as_ptr() as u64]);
        draft.slot(observe::array(text.as_ptr(), 9, 1));
        draft.slot(observe::array(handles.as_ptr(), 3, 8));
        draft.slot(observe::none());
        draft.range(1, large.as_ptr() as u64, 1000);
        draft.range(2, 8, 16);
        draft.returned();
        draft.slot(observe::array(made.as_ptr(), 1, 8));
        let entry = Entry::new(1, &TWO, draft.words());
        let pieces: Vec<_> = entry.pieces().collect();
        let bytes: Vec<_> = pieces.iter().map(|piece| piece.bytes.map(<[u8]>::len)).collect();
        assert_eq!(bytes, [Some(9), Some(24), None, Some(1000), None, Some(8)]);
        assert_eq!(pieces[0].bytes, Some(&text[..]));
        assert_eq!((pieces[3].param, pieces[3].address), (1, large.as_ptr() as u64));
        assert_eq!(pieces[3].bytes, Some(&large[..]));
        assert_eq!((pieces[4].role, pieces[4].address), (Role::ReadRange, 8));
        assert_eq!(pieces[5].role, Role::WriteSlot);
        assert_eq!(entry.handles(), [3, 5, 6]);
        assert_eq!(entry.makes(), [9]);
    }

    #[test]
    fn later_call_takes_the_place_of_one_of_the_same_size() {
        let mut entry = Entry::new(1, &TWO, &[1, 2]);
        assert!(entry.replace(4, &[3, 4]));
        assert_eq!((entry.serial, entry.args()), (4, &[3, 4][..]));
        assert!(!entry.replace(5, &[3, 4, 5]));
        assert_eq!(entry.serial, 4);
    }
}

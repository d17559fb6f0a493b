//! One kept command: its arguments, and the memory that it read and wrote, as the record of the command would have them.
//! Memory that could not be read is kept as unreadable.
//!
//! ```text
//! arguments, one word each
//! for each piece of memory: kind << 56 | parameter << 48 | size in bytes, address, bytes padded to 8
//! ```

use core::mem::MaybeUninit;

use gapii_recorder::observe::Observation;
use gapii_recorder::program::guarded;
use gapii_state::{Memory, NO_PARAM, Observer};

use super::facts::{Kept, Place};

const SIZE_BITS: u32 = 48;
const PARAM_BITS: u32 = 8;
const SIZE_MASK: u64 = (1 << SIZE_BITS) - 1;

/// When a command reads or writes a piece of memory.
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

/// A kept command.
pub struct Entry {
    /// Number of the command among those that made objects: a higher one was called later. 0 for other commands.
    pub serial: u64,
    pub command: &'static Kept,
    words: Box<[u64]>,
}

/// Words of a draft that need no allocation: enough for a launch with a few events.
const INLINE_WORDS: usize = 40;

/// A command that is being kept. Most commands allocate nothing here.
pub struct Draft {
    command: &'static Kept,
    /// The first `len` words are initialised.
    inline: [MaybeUninit<u64>; INLINE_WORDS],
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
    pub fn new<const ARGS: usize>(command: &'static Kept, args: &[u64; ARGS]) -> Self {
        const { assert!(ARGS <= INLINE_WORDS) };
        let mut inline = [MaybeUninit::uninit(); INLINE_WORDS];
        for (place, arg) in inline.iter_mut().zip(args) {
            place.write(*arg);
        }
        Self { command, inline, len: ARGS, spilled: Vec::new(), has_returned: false }
    }

    /// Moves the words out of the draft, with room for `more`.
    #[cold]
    fn spill(&mut self, more: usize) {
        if self.spilled.is_empty() {
            let mut spilled = Vec::with_capacity(self.len + more);
            spilled.extend_from_slice(self.words());
            self.spilled = spilled;
        }
        self.spilled.reserve(more);
    }

    /// Returns the draft's words, as an entry has them.
    #[inline(always)]
    pub fn words(&self) -> &[u64] {
        if self.spilled.is_empty() {
            let words = self.inline.as_ptr().cast();
            // SAFETY: the first `len` words are initialised.
            unsafe { core::slice::from_raw_parts(words, self.len) }
        } else {
            &self.spilled
        }
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
    #[inline(always)]
    pub fn slot(&mut self, seen: Observation) {
        let role = if self.has_returned { Role::WriteSlot } else { Role::ReadSlot };
        let (address, size) = seen.memory().unwrap_or_default();
        self.keep(role, NO_PARAM, address, size);
    }

    #[inline(always)]
    fn keep(&mut self, role: Role, param: u8, address: u64, size: u64) {
        let head = |kind: u8, size: u64| {
            u64::from(kind) << (SIZE_BITS + PARAM_BITS) | u64::from(param) << SIZE_BITS | size
        };
        let has_memory = address != 0 && size < SIZE_MASK;
        let data_words = if has_memory { size.div_ceil(8) as usize } else { 0 };
        let (empty, full) = (head(role as u8 | EMPTY, 0), head(role as u8, size));
        let room = self.inline.get_mut(self.len..).and_then(|room| room.get_mut(..2 + data_words));
        let Some([kind, place, data @ ..]) = room.filter(|_| self.spilled.is_empty()) else {
            return self.keep_much([empty, full], address, size, data_words);
        };
        kind.write(empty);
        place.write(address);
        self.len += 2;
        if has_memory {
            if let Some(last) = data.last_mut() {
                last.write(0);
            }
            // SAFETY: the words hold `size` bytes, and are the shim's own.
            if unsafe { guarded::read(address, data.as_mut_ptr().cast(), size as usize) } {
                kind.write(full);
                self.len += data_words;
            }
        }
    }

    /// Keeps memory that does not fit into the draft. `heads` are those of unreadable and of readable memory.
    #[cold]
    fn keep_much(&mut self, heads: [u64; 2], address: u64, size: u64, data_words: usize) {
        self.spill(2 + data_words);
        let begin = self.spilled.len() + 2;
        self.spilled.extend_from_slice(&[heads[0], address]);
        self.spilled.resize(begin + data_words, 0);
        let (before, data) = self.spilled.split_at_mut(begin);
        let has_memory = address != 0 && size < SIZE_MASK;
        let into = data.as_mut_ptr().cast();
        // SAFETY: the words hold `size` bytes, and are the shim's own.
        if has_memory && unsafe { guarded::read(address, into, size as usize) } {
            if let [.., kind, _] = before {
                *kind = heads[1];
            }
        } else {
            self.spilled.truncate(begin);
        }
    }

    /// Returns the argument at this index.
    #[inline(always)]
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

/// The memory that a kept command read, at the addresses where the program had it.
pub struct KeptMemory<'a> {
    command: &'static Kept,
    words: &'a [u64],
}

impl<'a> KeptMemory<'a> {
    /// The memory of a command with these words.
    pub fn new(command: &'static Kept, words: &'a [u64]) -> Self {
        Self { command, words }
    }
}

impl Memory for KeptMemory<'_> {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let found = pieces(self.words, self.command.sizes.len()).find_map(|piece| {
            let begin = usize::try_from(address.checked_sub(piece.address)?).ok()?;
            piece.bytes?.get(begin..begin.checked_add(into.len())?)
        });
        found.map(|bytes| into.copy_from_slice(bytes)).is_some()
    }

    fn text_len(&self, _address: u64, _most: u64) -> u64 {
        0
    }
}

impl Entry {
    /// Builds an entry of the words of a draft.
    pub fn new(serial: u64, command: &'static Kept, words: &[u64]) -> Self {
        Self { serial, command, words: words.into() }
    }

    /// Returns the arguments, one word each.
    pub fn args(&self) -> &[u64] {
        self.words.get(..self.command.sizes.len()).unwrap_or(&self.words)
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
}

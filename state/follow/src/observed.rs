//! The program's memory around one command of a trace, as far as it was observed: at enter what the command read comes
//! first, at leave what it wrote. Strings of arrays, whose pointers the trace does not have, get addresses from 2^60
//! on.

use std::cell::OnceCell;
use std::sync::Arc;

use gapii_state::Memory;
use gapii_trace::description::{Kind, Observed as Direction};
use gapii_trace::value::{Arg, Observation, Range, Value};
use gapii_trace::{Bytes, Command};

/// First address for strings of arrays. No program uses addresses from here on.
const TEXTS_FIRST_ADDRESS: u64 = 1 << 60;

/// Memory that a command read and wrote.
pub struct Observed<'a> {
    command: &'a Command<'a>,
    /// Filled when memory is first read, because most commands read none.
    pieces: OnceCell<Pieces<'a>>,
    prefers_outputs: bool,
}

#[derive(Default)]
struct Pieces<'a> {
    reads: Vec<Piece<'a>>,
    writes: Vec<Piece<'a>>,
}

/// Bytes at an address. The bytes of a blob are read from the trace on demand.
struct Piece<'a> {
    address: u64,
    observation: Observation<'a>,
    bytes: OnceCell<Option<Bytes<'a>>>,
}

impl<'a> Piece<'a> {
    fn new(address: u64, observation: Observation<'a>) -> Self {
        Self { address, observation, bytes: OnceCell::new() }
    }

    fn of(address: u64, bytes: Vec<u8>) -> Self {
        let known = OnceCell::from(Some(Bytes::Blob(Arc::new(bytes))));
        Self { address, observation: Observation::None, bytes: known }
    }
}

impl<'a> Observed<'a> {
    /// The memory as it was when the command was entered.
    pub fn of(command: &'a Command<'a>) -> Self {
        Self { command, pieces: OnceCell::new(), prefers_outputs: false }
    }

    /// Switches to the memory as it was when the command returned.
    pub fn prefer_outputs(&mut self) {
        self.prefers_outputs = true;
    }

    fn bytes_at(&self, address: u64) -> Option<&[u8]> {
        let Pieces { reads, writes } = self.pieces.get_or_init(|| Pieces::of(self.command));
        let (first, second) = match self.prefers_outputs {
            true => (writes, reads),
            false => (reads, writes),
        };
        first.iter().chain(second).find_map(|piece| {
            let offset = usize::try_from(address.checked_sub(piece.address)?).ok()?;
            let bytes = piece.bytes.get_or_init(|| self.command.bytes_of(piece.observation));
            bytes.as_ref()?.get(offset..).filter(|rest| !rest.is_empty())
        })
    }
}

impl<'a> Pieces<'a> {
    fn of(command: &Command<'a>) -> Self {
        let mut pieces = Self::default();
        for arg in command.args() {
            pieces.add_argument(command, &arg);
        }
        let piece = |range: Range<'a>| Piece::new(range.address, range.observation);
        pieces.reads.extend(command.ranges_read().map(piece));
        pieces.writes.extend(command.ranges_written().map(piece));
        pieces
    }

    fn add_argument(&mut self, command: &Command<'a>, arg: &Arg<'a>) {
        let Value::Pointer(address) = arg.value else { return };
        if arg.param.ty.kind == Kind::Strings {
            self.add_texts(command, address, arg.observation);
            return;
        }
        let piece = Piece::new(address, arg.observation);
        match arg.param.observed {
            Direction::In => self.reads.push(piece),
            Direction::Out => self.writes.push(piece),
            Direction::No => {}
        }
    }

    /// Adds the strings of an array, and pointers to them: the trace holds the strings without the program's pointers.
    fn add_texts(&mut self, command: &Command<'a>, address: u64, observation: Observation<'a>) {
        let recorded = command.bytes_of(observation);
        let mut rest = recorded.as_deref().unwrap_or_default();
        let (mut pointers, mut texts) = (Vec::new(), Vec::new());
        while let Some((len, behind)) = rest.split_first_chunk::<4>() {
            let len = u32::from_le_bytes(*len) as usize;
            let Some((text, behind)) = behind.split_at_checked(len) else { break };
            let at = TEXTS_FIRST_ADDRESS + texts.len() as u64;
            pointers.extend_from_slice(&at.to_le_bytes());
            texts.extend_from_slice(text);
            texts.push(0);
            rest = behind;
        }
        self.reads.push(Piece::of(address, pointers));
        self.reads.push(Piece::of(TEXTS_FIRST_ADDRESS, texts));
    }
}

impl Memory for Observed<'_> {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let found = self.bytes_at(address).and_then(|bytes| bytes.get(..into.len()));
        found.map(|found| into.copy_from_slice(found)).is_some()
    }

    fn text_len(&self, address: u64, most: u64) -> u64 {
        let bytes = self.bytes_at(address).unwrap_or_default();
        let len = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        most.min(len as u64)
    }

    /// A draw names memory of unknown extent only if the recorder did not know its vertices.
    fn has_vertices(&self) -> bool {
        !self.command.is_incomplete()
    }
}

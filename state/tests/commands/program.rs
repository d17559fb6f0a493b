//! A simulated program: memory that the test fills, and an observer that collects ranges.

use std::sync::Arc;

use gapii_state::{Memory, Observer, Whole};

/// State in the scope of the tools.
pub type Context = gapii_state::Context<Whole>;
pub type Group = gapii_state::Group<Whole>;
pub type Process = gapii_state::Process<Whole>;
pub type Thread = gapii_state::Thread<Whole>;

/// Memory that begins at an address.
#[derive(Default)]
pub struct Program {
    bytes: Vec<u8>,
}

/// The address where the memory begins.
pub const BASE: u64 = 0x10_0000;

impl Program {
    /// Appends bytes, aligned to 16, and returns their address.
    pub fn put(&mut self, bytes: &[u8]) -> u64 {
        self.bytes.resize(self.bytes.len().next_multiple_of(16), 0);
        let address = BASE + self.bytes.len() as u64;
        self.bytes.extend_from_slice(bytes);
        address
    }

    pub fn put_i32(&mut self, values: &[i32]) -> u64 {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.put(&bytes)
    }

    pub fn put_u64(&mut self, values: &[u64]) -> u64 {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.put(&bytes)
    }
}

impl Memory for Program {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let from = address.checked_sub(BASE).and_then(|from| usize::try_from(from).ok());
        let found = from.and_then(|from| self.bytes.get(from..)?.get(..into.len()));
        found.map(|found| into.copy_from_slice(found)).is_some()
    }

    fn text_len(&self, address: u64, most: u64) -> u64 {
        let mut byte = [0];
        (0..most).take_while(|at| self.read(address + at, &mut byte) && byte != [0]).count() as u64
    }
}

/// Observed ranges: parameter, address, length.
#[derive(Default)]
pub struct Seen {
    pub ranges: Vec<(u8, u64, u64)>,
    pub frames: u32,
}

impl Observer for Seen {
    fn range(&mut self, param: u8, address: u64, len: u64) {
        self.ranges.push((param, address, len));
    }

    fn frame(&mut self) {
        self.frames += 1;
    }
}

/// A thread of a new process.
pub fn thread() -> Thread {
    Thread::new(Arc::<Process>::default(), 1)
}

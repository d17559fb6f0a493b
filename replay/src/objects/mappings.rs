//! Buffers that the trace has mapped into memory.

/// Most mappings that are known at a time.
const MAPPINGS_MAX: usize = 1 << 12;

/// The mappings that the trace made and that may still be there.
#[derive(Default)]
pub struct Mappings {
    all: Vec<Mapping>,
}

/// A buffer that was mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mapping {
    pub process: u32,
    /// Scope of the share group.
    pub group: u32,
    /// The driver's name of the buffer.
    pub buffer: u32,
    /// Where the program had it.
    pub address: u64,
}

impl Mappings {
    /// Whether the trace has mapped no buffer so far.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A buffer was mapped.
    pub fn insert(&mut self, mapping: Mapping) {
        let Mapping { process, group, buffer, address } = mapping;
        // A program has one thing at an address, and a buffer is mapped once.
        self.all.retain(|other| {
            (other.process, other.address) != (process, address)
                && (other.group, other.buffer) != (group, buffer)
        });
        if buffer != 0 && self.all.len() < MAPPINGS_MAX {
            self.all.push(mapping);
        }
    }

    /// The mapping that begins at or before `address`, the nearest one.
    pub fn find(&self, process: u32, group: u32, address: u64) -> Option<Mapping> {
        let known = self.all.iter().filter(|mapping| {
            (mapping.process, mapping.group) == (process, group) && mapping.address <= address
        });
        known.max_by_key(|mapping| mapping.address).copied()
    }
}

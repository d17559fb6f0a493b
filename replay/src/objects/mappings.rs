//! Mapped buffers of the trace, at most 4,096 at a time (`MAPPINGS_MAX`); writes to further ones are not copied to the
//! driver.

/// Largest number of mappings that are noted at a time.
const MAPPINGS_MAX: usize = 1 << 12;

/// Mappings that the trace made and that may still exist.
#[derive(Default)]
pub struct Mappings {
    all: Vec<Mapping>,
}

/// A mapped buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mapping {
    /// Index of the process in the trace.
    pub process: u32,
    /// Scope of the share group.
    pub group: u32,
    /// The driver's name of the buffer.
    pub buffer: u32,
    /// Address of the mapping in the program.
    pub address: u64,
}

impl Mappings {
    /// Whether no mapping is noted.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Notes a mapping. Older mappings at the same address or of the same buffer are forgotten.
    pub fn insert(&mut self, mapping: Mapping) {
        let Mapping { process, group, buffer, address } = mapping;
        // An address belongs to one mapping, and a buffer is mapped once.
        self.all.retain(|other| {
            (other.process, other.address) != (process, address)
                && (other.group, other.buffer) != (group, buffer)
        });
        if buffer != 0 && self.all.len() < MAPPINGS_MAX {
            self.all.push(mapping);
        }
    }

    /// The mapping that begins nearest to `address`, at it or before it.
    pub fn find(&self, process: u32, group: u32, address: u64) -> Option<Mapping> {
        let known = self.all.iter().filter(|mapping| {
            (mapping.process, mapping.group) == (process, group) && mapping.address <= address
        });
        known.max_by_key(|mapping| mapping.address).copied()
    }
}

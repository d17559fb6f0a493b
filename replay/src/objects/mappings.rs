//! Mapped buffers of the trace that the program may write, at most 4,096 (`MAPPINGS_MAX`): the oldest one is forgotten for
//! a further one.

use std::collections::VecDeque;

/// Largest number of mappings that are noted at a time.
const MAPPINGS_MAX: usize = 1 << 12;

/// Mappings that the trace made and that may still exist.
#[derive(Default)]
pub struct Mappings {
    /// The oldest one in front.
    all: VecDeque<Mapping>,
}

/// A mapped buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mapping {
    /// Index of the process in the trace.
    pub process: u32,
    /// Scope of the share group.
    pub group: u32,
    /// The driver's name of the buffer. A buffer whose name is deleted, and another one that has the name, can both be
    /// mapped.
    pub buffer: u32,
    /// Address of the mapping in the program.
    pub address: u64,
    pub len_bytes: u64,
    /// Address of the mapping in this process.
    pub here: usize,
}

impl Mapping {
    fn has(&self, address: u64) -> bool {
        address.checked_sub(self.address).is_some_and(|offset| offset < self.len_bytes)
    }
}

impl Mappings {
    /// Whether no mapping is noted.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Notes a mapping. Older mappings that it overlaps in the program or here have ended, and are forgotten.
    pub fn insert(&mut self, mapping: Mapping) {
        self.all.retain(|other| {
            let overlaps = other.has(mapping.address) || mapping.has(other.address);
            !(overlaps && other.process == mapping.process) && other.here != mapping.here
        });
        if self.all.len() == MAPPINGS_MAX {
            self.all.pop_front();
        }
        self.all.push_back(mapping);
    }

    /// The mapping that has this address of the program.
    pub fn find(&self, process: u32, group: u32, address: u64) -> Option<Mapping> {
        let is_it = |mapping: &&Mapping| {
            (mapping.process, mapping.group) == (process, group) && mapping.has(address)
        };
        self.all.iter().find(is_it).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(address: u64, len_bytes: u64, here: usize) -> Mapping {
        Mapping { process: 0, group: 0, buffer: 1, address, len_bytes, here }
    }

    #[test]
    fn mapping_is_found_by_the_addresses_that_it_has() {
        let mut all = Mappings::default();
        assert!(all.is_empty());
        let (first, second) = (mapping(100, 10, 1000), mapping(110, 10, 2000));
        all.insert(first);
        all.insert(second);
        let find = |address| all.find(0, 0, address);
        assert_eq!([99, 100, 109].map(find), [None, Some(first), Some(first)]);
        assert_eq!([110, 119, 120].map(find), [Some(second), Some(second), None]);
        assert_eq!(all.find(1, 0, 100), None);
        assert_eq!(all.find(0, 1, 100), None);
    }

    #[test]
    fn mapping_ends_older_ones_that_it_overlaps() {
        let mut all = Mappings::default();
        all.insert(mapping(100, 10, 1000));
        all.insert(mapping(95, 6, 2000));
        assert_eq!(all.find(0, 0, 105), None);
        all.insert(mapping(200, 10, 2000));
        assert_eq!(all.find(0, 0, 95), None);
        assert_eq!(all.all.len(), 1);
    }

    #[test]
    fn oldest_mapping_is_forgotten_for_one_too_many() {
        let mut all = Mappings::default();
        for number in 0..=MAPPINGS_MAX {
            all.insert(mapping(100 * number as u64, 10, number));
        }
        assert_eq!(all.find(0, 0, 0), None);
        assert!(all.find(0, 0, 100).is_some());
        assert!(all.find(0, 0, 100 * MAPPINGS_MAX as u64).is_some());
    }
}

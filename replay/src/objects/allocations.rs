//! Allocations of Level Zero programs, and their own memory, by the recording's addresses. A new allocation removes
//! those that it overlaps. Only bytes that differ from what the host last saw are written.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes that are compared at once.
const STEP: usize = 4096;

/// The allocations of a process, by the recording's addresses.
#[derive(Default)]
pub struct Allocations(BTreeMap<u64, Allocation>);

/// One allocation.
pub struct Allocation {
    /// Size in bytes.
    pub bytes: u64,
    /// Its address here.
    pub real: u64,
    /// Content that the host of the recording last saw.
    pub seen: Option<Arc<Vec<u8>>>,
    /// Whether the host may read it.
    pub is_visible: bool,
}

impl Allocations {
    /// Address here of `address`, and the number of bytes from there to the end of its allocation.
    pub fn find(&self, address: u64) -> Option<(u64, u64)> {
        let (base, offset) = self.place(address, 1)?;
        let allocation = &self.0[&base];
        Some((allocation.real + offset, allocation.bytes - offset))
    }

    /// The allocation that holds `bytes` from `address` on: its recorded base address, and the
    /// offset of `address` in it.
    pub fn place(&self, address: u64, bytes: u64) -> Option<(u64, u64)> {
        let (base, allocation) = self.0.range(..=address).next_back()?;
        let offset = address - base;
        (offset.checked_add(bytes)? <= allocation.bytes).then_some((*base, offset))
    }

    /// Adds an allocation at `base`. Allocations that it overlaps are removed: they have been
    /// freed, recorded or not.
    pub fn insert(&mut self, base: u64, allocation: Allocation) {
        let end = base.saturating_add(allocation.bytes);
        let reaches_in = |(first, old): (&u64, &Allocation)| {
            (first.saturating_add(old.bytes) > base).then_some(*first)
        };
        let before = self.0.range(..base).next_back().and_then(reaches_in);
        let inside: Vec<u64> = self.0.range(base..end).map(|(first, _)| *first).collect();
        for first in before.into_iter().chain(inside) {
            self.0.remove(&first);
        }
        self.0.insert(base, allocation);
    }

    /// Removes the allocation that begins at `base`.
    pub fn remove(&mut self, base: u64) {
        self.0.remove(&base);
    }

    /// The host-visible allocation that holds `len` bytes from `address` on, and the offset of
    /// `address` in it.
    pub fn visible(&mut self, address: u64, len: usize) -> Option<(&mut Allocation, usize)> {
        let (base, offset) = self.place(address, len as u64)?;
        let found = self.0.get_mut(&base).filter(|allocation| allocation.is_visible)?;
        Some((found, offset as usize))
    }

    /// Content here of `len` bytes at `address`, if the host may read them.
    pub fn bytes(&self, address: u64, len: usize) -> Option<&[u8]> {
        let (base, offset) = self.place(address, len as u64)?;
        let allocation = self.0.get(&base).filter(|allocation| allocation.is_visible)?;
        let at = (allocation.real + offset) as usize as *const u8;
        // SAFETY: the driver allocated it for host and device, and has not freed it; a device still
        // writing there would be a mistake of the program's, and yields a wrong byte at worst.
        Some(unsafe { std::slice::from_raw_parts(at, len) })
    }
}

impl Allocation {
    /// Whether the content at `offset` differs from what the host last saw.
    pub fn is_changed(&self, offset: usize, now: &[u8]) -> bool {
        let before = self.seen.as_ref().and_then(|seen| seen.get(offset..offset + now.len()));
        before != Some(now)
    }

    /// Writes the bytes that differ from what the host last saw.
    pub fn update(&mut self, offset: usize, now: Arc<Vec<u8>>) {
        if self.seen.as_ref().is_some_and(|seen| Arc::ptr_eq(seen, &now)) {
            return;
        }
        let to = self.real as usize as *mut u8;
        let put = |at: usize, bytes: &[u8]| {
            let to = to.wrapping_add(at);
            // SAFETY: inside an allocation that the host may write to; see `Allocations::visible`.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        };
        let Some(before) = self.seen.as_ref().and_then(|it| it.get(offset..offset + now.len()))
        else {
            put(offset, &now);
            if offset == 0 {
                self.seen = Some(now);
            }
            return;
        };
        for (step, (old, new)) in before.chunks(STEP).zip(now.chunks(STEP)).enumerate() {
            if old == new {
                continue;
            }
            let pairs = old.iter().zip(new).enumerate();
            for (at, (_, new)) in pairs.filter(|(_, (old, new))| old != new) {
                put(offset + step * STEP + at, &[*new]);
            }
        }
        match &mut self.seen {
            Some(seen) if seen.len() > now.len() => {
                Arc::make_mut(seen)[offset..offset + now.len()].copy_from_slice(&now);
            }
            seen => *seen = Some(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocation(bytes: u64, real: u64) -> Allocation {
        Allocation { bytes, real, seen: None, is_visible: true }
    }

    #[test]
    fn address_is_found_in_its_allocation_alone() {
        let mut all = Allocations::default();
        all.insert(0x1000, allocation(0x100, 0x9000));
        all.insert(0x3000, allocation(0x100, 0x8000));
        assert_eq!(all.find(0x1000), Some((0x9000, 0x100)));
        assert_eq!(all.find(0x10ff), Some((0x90ff, 1)));
        assert_eq!(all.find(0x1100), None);
        assert_eq!(all.find(0xfff), None);
        all.remove(0x1000);
        assert_eq!(all.find(0x1000), None);
    }

    #[test]
    fn address_allocated_again_belongs_to_the_last_allocation() {
        let mut all = Allocations::default();
        all.insert(0x1000, allocation(0x100, 0x9000));
        all.insert(0x1200, allocation(0x100, 0x9200));
        all.insert(0x1080, allocation(0x200, 0x7000));
        assert_eq!(all.find(0x1000), None);
        assert_eq!(all.find(0x1200), Some((0x7180, 0x80)));
        assert_eq!(all.find(0x12ff), None);
    }

    #[test]
    fn only_changed_bytes_are_written() {
        let mut here = vec![0u8; 3];
        let mut allocation = allocation(3, here.as_mut_ptr() as u64);
        allocation.update(0, Arc::new(vec![1, 2, 3]));
        assert_eq!(here, [1, 2, 3]);
        here[2] = 9;
        assert!(allocation.is_changed(0, &[1, 5, 3]));
        allocation.update(0, Arc::new(vec![1, 5, 3]));
        assert_eq!(here, [1, 5, 9]);
        assert!(!allocation.is_changed(1, &[5, 3]));
        allocation.update(1, Arc::new(vec![6, 3]));
        assert_eq!(here, [1, 6, 9]);
        assert!(!allocation.is_changed(0, &[1, 6, 3]));
    }

    #[test]
    fn only_host_visible_memory_is_shown() {
        let here = [1u8, 2, 3];
        let mut all = Allocations::default();
        all.insert(0x1000, allocation(3, here.as_ptr() as u64));
        all.insert(0x2000, Allocation { is_visible: false, ..allocation(3, 0x10) });
        assert_eq!(all.bytes(0x1001, 2), Some(&here[1..]));
        assert_eq!(all.bytes(0x1001, 3), None);
        assert_eq!(all.bytes(0x2000, 1), None);
    }
}

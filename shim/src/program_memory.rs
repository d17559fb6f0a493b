//! The program's memory as the tracked state reads it: the names, numbers and texts that commands
//! are given, and the indices that draws use.

use core::ptr;

use gapii_state::Memory;

use crate::guarded;

/// Addresses below are never memory: a null pointer, and what was added to one.
const FIRST_ADDRESS: u64 = 1 << 12;
/// Up to so many bytes are read as the driver reads them; more than that might be a mistake of the
/// program's that the driver refuses to follow.
const DIRECT_BYTES_MAX: usize = 1 << 10;

pub struct ProgramMemory;

impl Memory for ProgramMemory {
    #[inline]
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        if address < FIRST_ADDRESS {
            return false;
        }
        if into.len() > DIRECT_BYTES_MAX {
            // SAFETY: `into` is ours; where the kernel does not copy, the driver would read there too.
            return unsafe { guarded::read(address, into.as_mut_ptr(), into.len()) };
        }
        // SAFETY: a command's argument says that the driver may read there.
        unsafe { ptr::copy_nonoverlapping(address as *const u8, into.as_mut_ptr(), into.len()) };
        true
    }

    fn text_len(&self, address: u64, most: u64) -> u64 {
        if address < FIRST_ADDRESS {
            return 0;
        }
        // SAFETY: a command's argument says that there is text, or `most` bytes of it.
        unsafe { libc::strnlen(address as *const libc::c_char, most as usize) as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_and_what_cannot_be_is_said() {
        let numbers: Vec<u8> = (0..=255).cycle().take(5000).collect();
        let check = |address: u64, len: usize, expected: Option<&[u8]>| {
            let mut into = vec![0xEE; len];
            assert_eq!(ProgramMemory.read(address, &mut into), expected.is_some());
            assert_eq!(into, expected.unwrap_or(&vec![0xEE; len]));
        };
        let at = numbers.as_ptr() as u64;
        check(at, 5, numbers.get(..5));
        check(at, 5000, numbers.get(..5000));
        check(0, 4, None);
        check(8, 4, None);
        check(0xDEAD_0000_0000, 5000, None);
    }

    #[test]
    fn text_ends_at_its_zero_byte_or_at_the_limit() {
        let text = c"name".as_ptr() as u64;
        assert_eq!(ProgramMemory.text_len(text, 100), 4);
        assert_eq!(ProgramMemory.text_len(text, 2), 2);
        assert_eq!(ProgramMemory.text_len(0, 2), 0);
    }
}

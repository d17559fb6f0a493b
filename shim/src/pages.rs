//! Which pages of the program's memory were readable a moment ago, so that a small argument array is
//! copied without asking the kernel, and one that is not there is no crash.
//!
//! A page that is not known is probed once. All are forgotten at the end of every frame and with every
//! quarter of a ring, so that what a program has unmapped is not taken for readable for long.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crossbeam_utils::CachePadded;

use crate::errno::ErrnoGuard;
use crate::guarded::{PAGE_BYTES, is_page_readable};

/// Pages that are known at once.
const ENTRIES: usize = 1024;
/// Bits of the generation in an entry.
const GENERATION_BITS: u32 = 16;

/// The pages that this process knows. Words on their own, so that any thread may ask and answer.
static PAGES: Pages = Pages::unknown();

/// Pages that were found readable.
struct Pages {
    generation: CachePadded<AtomicU64>,
    /// By the low bits of the page's number.
    known: [AtomicU64; ENTRIES],
}

/// Whether all of `len` bytes are known to be readable; they are in two pages at most.
#[inline(always)]
pub fn are_known(address: u64, len: u64) -> bool {
    PAGES.know(address, len)
}

/// Whether all of `len` bytes are readable; asks the kernel about pages that are not known.
#[inline]
pub fn are_readable(address: u64, len: u64) -> bool {
    len <= PAGE_BYTES && PAGES.know(address, len) || PAGES.look(address, len)
}

/// From here on every page is asked about again.
pub fn forget() {
    PAGES.forget();
}

impl Pages {
    const fn unknown() -> Pages {
        Pages {
            generation: CachePadded::new(AtomicU64::new(0)),
            known: [const { AtomicU64::new(0) }; ENTRIES],
        }
    }

    #[inline(always)]
    fn know(&self, address: u64, len: u64) -> bool {
        if len == 0 {
            return true;
        }
        let (first, last) = (page_of(address), page_of(address.wrapping_add(len - 1)));
        self.knows(first) && (first == last || self.knows(last))
    }

    #[cold]
    #[inline(never)]
    fn look(&self, address: u64, len: u64) -> bool {
        let Some(last) = address.checked_add(len.saturating_sub(1)) else { return false };
        len == 0 || (page_of(address)..=page_of(last)).all(|page| self.look_at(page))
    }

    fn look_at(&self, page: u64) -> bool {
        if self.knows(page) {
            return true;
        }
        // Taken first: what is found counts for the time before it was looked for.
        let entry = self.entry(page);
        let readable = probe(page);
        if readable {
            self.known[page as usize % ENTRIES].store(entry, Relaxed);
        }
        readable
    }

    fn forget(&self) {
        let generation = self.generation.load(Relaxed) + 1;
        self.generation.store(generation % (1 << GENERATION_BITS), Relaxed);
        if generation == 1 << GENERATION_BITS {
            self.known.iter().for_each(|known| known.store(0, Relaxed));
        }
    }

    #[inline(always)]
    fn knows(&self, page: u64) -> bool {
        self.known[page as usize % ENTRIES].load(Relaxed) == self.entry(page)
    }

    /// What stands for the page while it is known; never 0.
    #[inline(always)]
    fn entry(&self, page: u64) -> u64 {
        (page << GENERATION_BITS | self.generation.load(Relaxed)) + 1
    }
}

/// Bytes of the text at `address` before its zero byte or before `most`; as an error the bytes
/// before the first that is not readable.
pub fn text_len(address: u64, most: u64) -> Result<u64, u64> {
    let mut len = 0;
    while len < most {
        let at = address.checked_add(len).ok_or(len)?;
        if !are_readable(at, 1) {
            return Err(len);
        }
        let rest = (PAGE_BYTES - at % PAGE_BYTES).min(most - len);
        // SAFETY: the rest of a page that is readable.
        let found = unsafe { libc::strnlen(at as *const libc::c_char, rest as usize) } as u64;
        len += found;
        if found < rest {
            break;
        }
    }
    Ok(len)
}

fn probe(page: u64) -> bool {
    let _errno = ErrnoGuard::new();
    is_page_readable(page * PAGE_BYTES)
}

#[inline(always)]
fn page_of(address: u64) -> u64 {
    address / PAGE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guarded::tests::holed;

    #[test]
    fn page_is_asked_about_once_until_it_is_forgotten() {
        let memory = holed();
        let pages = Pages::unknown();
        assert!(!pages.know(memory, 8) && pages.look(memory, 8) && pages.know(memory, 8));
        assert!(!pages.look(memory + 4090, 8) && !pages.know(memory + 4090, 8));
        assert!(pages.know(memory + 4090, 6));
        pages.forget();
        assert!(!pages.know(memory, 8));
        for _ in 0..1 << GENERATION_BITS {
            assert!(pages.look(memory, 8) && pages.know(memory, 8));
            pages.forget();
            assert!(!pages.know(memory, 8));
        }
    }

    #[test]
    fn nothing_is_known_of_no_memory() {
        let pages = Pages::unknown();
        assert!(!pages.know(0, 1) && !pages.look(0, 1));
        assert!(pages.know(0, 0) && pages.look(0, 0));
        assert!(!pages.look(u64::MAX, 2) && !pages.look(u64::MAX - 4096, 1));
    }

    #[test]
    fn text_ends_at_its_zero_or_at_a_hole() {
        let memory = holed();
        let zero = (memory + 100) as *mut u8;
        // SAFETY: within the first page.
        unsafe { zero.write(0) };
        assert_eq!(text_len(memory, u64::MAX), Ok(100));
        assert_eq!(text_len(memory, 50), Ok(50));
        assert_eq!(text_len(memory + 101, u64::MAX), Err(4096 - 101));
        assert_eq!(text_len(memory + 101, 10), Ok(10));
        assert_eq!(text_len(8, u64::MAX), Err(0));
    }
}

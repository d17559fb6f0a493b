//! Remembers up to 1,024 pages (`ENTRIES`) of the program's memory that were readable a moment ago, so that most small
//! argument arrays are copied without a system call, and an unreadable one causes no crash. Only pages of the thread's
//! stack (128 KiB above the shim's frame), of the program itself and of its heap are remembered, until the end of the
//! frame or until a thread has filled another quarter of its ring. Others are probed every time, because the program
//! can unmap them at any time.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crossbeam_utils::CachePadded;

use super::{PAGE_BYTES, kernel};
use crate::errno::ErrnoGuard;

/// Number of pages that can be remembered at once.
const ENTRIES: usize = 1024;
/// Bits of an entry that hold the generation.
const GENERATION_BITS: u32 = 16;

/// How far above the shim's own frame memory counts as stack, in bytes.
const STACK_BYTES: u64 = 128 << 10;

/// The range from the program's first byte to the end of the heap behind it; empty until it is known.
static LASTING: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// The remembered pages of this process. Each word stands on its own, so any thread may read and write it.
static PAGES: Pages = Pages::unknown();

/// Pages that were found readable.
struct Pages {
    generation: CachePadded<AtomicU64>,
    /// Indexed by the low bits of the page number.
    known: [AtomicU64; ENTRIES],
}

/// Whether all of `len` bytes are remembered as readable. They may span two pages at most.
#[inline(always)]
pub fn are_known(address: u64, len: u64) -> bool {
    len == 0 || lasts(address) && PAGES.know(address, len)
}

/// Whether all of `len` bytes are readable. Probes the pages that are not remembered.
#[inline]
pub fn are_readable(address: u64, len: u64) -> bool {
    len <= PAGE_BYTES && are_known(address, len) || PAGES.look(address, len)
}

/// Forgets all pages, and looks where the heap ends now.
pub fn forget() {
    PAGES.forget();
    let heap_end = kernel::heap_end();
    LASTING[1].store(heap_end.max(LASTING[0].load(Relaxed)), Relaxed);
}

/// Finds the address range of the program itself.
pub fn set_up() {
    // SAFETY: the function has the signature asked for, and never unwinds.
    unsafe { libc::dl_iterate_phdr(Some(note_program), core::ptr::null_mut()) };
    forget();
}

/// Notes the first byte of the first object, which is the program.
unsafe extern "C" fn note_program(
    object: *mut libc::dl_phdr_info,
    _size: usize,
    _data: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: the loader gives an object that lives as long as this call.
    let object = unsafe { &*object };
    // SAFETY: the loader's own table of that many entries.
    let headers =
        unsafe { core::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()) };
    let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
    if let Some(first) = loaded.map(|header| header.p_vaddr).min() {
        LASTING[0].store(object.dlpi_addr + first, Relaxed);
    }
    1
}

/// Whether memory at an address stays mapped for a while.
#[inline(always)]
fn lasts(address: u64) -> bool {
    let here = 0_u8;
    let stack = (&raw const here as u64) - PAGE_BYTES;
    let start = LASTING[0].load(Relaxed);
    address.wrapping_sub(stack) < STACK_BYTES
        || address.wrapping_sub(start) < LASTING[1].load(Relaxed).wrapping_sub(start)
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
        // The entry is computed before the probe: if the pages are forgotten meanwhile, the result is of the old
        // generation.
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

    /// Returns the word that stands for the page while it is remembered; never 0.
    #[inline(always)]
    fn entry(&self, page: u64) -> u64 {
        (page << GENERATION_BITS | self.generation.load(Relaxed)) + 1
    }
}

/// Returns how many bytes from `address` on are readable without a break, at most `most`.
pub fn readable_len(address: u64, most: u64) -> u64 {
    let mut len = 0;
    while len < most {
        let Some(at) = address.checked_add(len).filter(|at| are_readable(*at, 1)) else { break };
        len += (PAGE_BYTES - at % PAGE_BYTES).min(most - len);
    }
    len
}

/// Returns the length of the NUL-terminated string at `address`, at most `most` bytes. If an unreadable byte comes
/// before the NUL, returns as the error how many bytes precede it.
pub fn text_len(address: u64, most: u64) -> Result<u64, u64> {
    let mut len = 0;
    while len < most {
        let at = address.checked_add(len).ok_or(len)?;
        if !are_readable(at, 1) {
            return Err(len);
        }
        let rest = (PAGE_BYTES - at % PAGE_BYTES).min(most - len);
        // SAFETY: the rest of a readable page.
        let found = unsafe { libc::strnlen(at as *const libc::c_char, rest as usize) } as u64;
        len += found;
        if found < rest {
            break;
        }
    }
    Ok(len)
}

fn probe(page: u64) -> bool {
    let _errno = ErrnoGuard::save();
    kernel::is_page_readable(page * PAGE_BYTES)
}

#[inline(always)]
fn page_of(address: u64) -> u64 {
    address / PAGE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::guarded::tests::holed;

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel which pages are readable")]
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
    #[cfg_attr(miri, ignore = "asks the kernel which pages are readable")]
    fn nothing_is_known_of_no_memory() {
        let pages = Pages::unknown();
        assert!(!pages.know(0, 1) && !pages.look(0, 1));
        assert!(pages.know(0, 0) && pages.look(0, 0));
        assert!(!pages.look(u64::MAX, 2) && !pages.look(u64::MAX - 4096, 1));
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel which pages are readable")]
    fn program_stack_and_heap_last_and_mappings_do_not() {
        static OF_THE_PROGRAM: u8 = 7;
        set_up();
        let local = 7_u8;
        for (address, expected) in [
            (&raw const OF_THE_PROGRAM as u64, true),
            (&raw const local as u64, true),
            (holed(), false),
            (8, false),
        ] {
            assert!(are_readable(address, 1) || address == 8, "{address:#x}");
            assert_eq!(are_known(address, 1), expected, "{address:#x}");
        }
        assert!(!are_readable(8, 1));
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel which pages are readable")]
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

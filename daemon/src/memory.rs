//! How much memory the daemon has allocated.
//!
//! What grows has a bound of its own, each thing by itself; `memory` bounds all of them together, so that
//! the daemon ends a capture, with a whole trace, before the system ends the daemon.

/// Bytes that are allocated and not freed, in all threads.
pub fn allocated_bytes() -> u64 {
    // SAFETY: it looks at the allocator's own books and takes its own locks.
    let books = unsafe { libc::mallinfo2() };
    (books.uordblks + books.hblkhd) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allocated_is_counted_until_it_is_freed() {
        // Much more than other tests have meanwhile.
        const BYTES: u64 = 256 << 20;
        let before = allocated_bytes();
        let block = std::hint::black_box(vec![0_u8; BYTES as usize]);
        let during = allocated_bytes();
        drop(block);
        let after = allocated_bytes();
        assert!(during > before + BYTES / 2, "{before}, then {during}");
        assert!(after < during - BYTES / 2, "{during}, then {after}");
    }
}

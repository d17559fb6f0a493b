//! The memory that the daemon has allocated, by the allocator's own statistics. Everything that grows has a limit of
//! its own. The option `memory` limits all of it together: above it no capture starts, and the capture that holds most
//! memory ends (`bound_memory` in `daemon/src/session/mod.rs`), with a complete trace, before the system ends the
//! daemon.

/// Returns the number of bytes that are allocated and not freed, in all threads.
pub fn allocated_bytes() -> u64 {
    // SAFETY: the function reads the allocator's own statistics under the allocator's own locks.
    let books = unsafe { libc::mallinfo2() };
    (books.uordblks + books.hblkhd) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocated_memory_is_counted_until_it_is_freed() {
        // Much more than other tests allocate meanwhile.
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

//! The device's timer: 12,000,000 counts per second, of 36 bits. It begins 1 ms before its largest count, so that it begins anew
//! while a program runs.

use std::sync::LazyLock;
use std::time::Instant;

/// Counts per second.
pub const COUNTS_PER_SECOND: u64 = 12_000_000;
/// Nanoseconds of a count, rounded down.
pub const COUNT_NS: u64 = 1_000_000_000 / COUNTS_PER_SECOND;
/// Bits of a count.
pub const BITS: u32 = 36;

static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Returns the present count.
pub fn count() -> u64 {
    let elapsed = BEGAN.elapsed().as_nanos() * u128::from(COUNTS_PER_SECOND) / 1_000_000_000;
    let first = (1 << BITS) - COUNTS_PER_SECOND / 1000;
    (first + elapsed as u64) & ((1 << BITS) - 1)
}

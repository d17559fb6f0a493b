//! The program's memory: read where it may be unreadable, without a signal and mostly without a system call.

pub mod guarded;
/// Miri has none of the system calls.
#[cfg_attr(miri, path = "kernel_miri.rs")]
mod kernel;
pub mod pages;

/// Granularity of readability in bytes: no architecture here has smaller pages.
pub const PAGE_BYTES: u64 = 4096;

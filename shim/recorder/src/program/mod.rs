//! The program's memory: read where it may be unreadable, without a signal and mostly without a system call.

pub mod guarded;
/// Miri has none of the system calls.
#[cfg_attr(miri, path = "kernel_miri.rs")]
mod kernel;
pub mod pages;

/// Granularity of readability in bytes: no architecture here has smaller pages.
pub const PAGE_BYTES: u64 = 4096;

/// Result of a copy by the kernel.
enum Copied {
    /// Bytes copied, at least one.
    #[cfg_attr(miri, expect(dead_code, reason = "Miri's kernel never copies"))]
    Bytes(usize),
    /// The first byte is not readable, or not in this way.
    #[cfg_attr(miri, expect(dead_code, reason = "Miri's kernel never copies"))]
    Fault,
    /// The kernel does not offer this: it is too old, or a sandbox forbids it.
    Unavailable,
}

//! Limits on what a trace can make the player hold: 16,384 threads alive at once, 64 listed skips, 1,048,576 names of a
//! kind in a scope, 1 GiB that one command reads, 256 MiB that it writes, 256 MiB of decompressed trace kept from the
//! survey. A command that exceeds a limit is skipped with a reason; further skips are only counted.

/// Limits of one replay. [`Limits::default`] has the values that `gapii-ctl` uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Number of threads that are alive at once; commands of further threads are skipped.
    pub threads: usize,
    /// Number of skipped commands that the report lists; further ones are only counted.
    pub listed_skips: usize,
    /// Number of names of one kind in one scope.
    pub names: usize,
    /// Bytes that one command may read. Memory is allocated only as it is used.
    pub input_bytes: usize,
    /// Bytes that one command may write. Memory is allocated only as it is used.
    pub output_bytes: usize,
    /// Bytes of decompressed trace that are kept from the survey for the player.
    pub kept_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            threads: 1 << 14,
            listed_skips: 64,
            names: 1 << 20,
            input_bytes: 1 << 30,
            output_bytes: 256 << 20,
            kept_bytes: 256 << 20,
        }
    }
}

//! Limits on what a trace can make the player hold.

/// Limits of one replay. [`Limits::default`] has the values that `gapii-ctl` uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Number of threads that are played; commands of further threads are skipped.
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
            threads: 256,
            listed_skips: 64,
            names: 1 << 20,
            input_bytes: 1 << 30,
            output_bytes: 256 << 20,
            kept_bytes: 256 << 20,
        }
    }
}

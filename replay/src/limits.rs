//! How much a trace may make the player hold.

/// What one replay takes at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Threads that are played; commands of others are skipped.
    pub threads: usize,
    /// Skipped commands that the report lists; the others are counted.
    pub listed_skips: usize,
    /// Names of one kind that are told apart in one scope.
    pub names: usize,
    /// Bytes that one command may read. Only what is used is held.
    pub input_bytes: usize,
    /// Bytes that one command may write. Only what is used is held.
    pub output_bytes: usize,
    /// Bytes of the trace that are decompressed once for both readings, the survey's and the player's.
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

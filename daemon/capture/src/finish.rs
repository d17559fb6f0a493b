//! Data that the drain's half of a capture hands to its writer at the end of the stream.

use gapii_trace::{Footer, meta};

use crate::ledger::Ledger;

/// The end of the stream, and the contents of the footer.
#[derive(Debug)]
pub struct Finish {
    /// The END record.
    pub end: meta::End,
    /// The accounts of all threads.
    pub ledger: Ledger,
    /// Commands that took effect in the blocks.
    pub calls: u64,
    /// Bytes of blobs that came from stores.
    pub stored_bytes: u64,
    /// Bytes of a snapshot that had no room for a copy in the program.
    pub held_bytes: u64,
    /// The daemon ended the capture because it held too much memory.
    pub ends_for_memory: bool,
    /// The footer without the parts that only the writer knows: totals, and accounts of the records in the file.
    pub footer: Footer,
}

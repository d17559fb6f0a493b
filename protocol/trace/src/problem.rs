//! What is wrong with a trace, as `verify` lists it.

use serde::Serialize;

/// Something that is not as it should be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Problem {
    pub kind: ProblemKind,
    /// Index of the block, where there is one.
    pub block: Option<u64>,
    pub message: String,
}

/// What a problem is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// The file is cut or its end damaged.
    Tail,
    /// A block's bytes are not those that were written.
    Checksum,
    /// Records do not follow each other as they must.
    Structure,
    /// Block numbers, sequence numbers, stamps or restated state contradict each other.
    Sequence,
    /// Enter and leave records do not pair.
    Pairing,
    /// A payload does not hold what the header describes.
    Payload,
    /// Memory is referred to that does not come before.
    Memory,
    /// The index does not say where things are.
    Index,
    /// The footer's totals or its end differ from the stream.
    Footer,
    /// emitted + lost = produced does not hold.
    Ledger,
}

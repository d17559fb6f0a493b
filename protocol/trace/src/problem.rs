//! Contradictions in a trace, as `verify` lists them.

use schemars::JsonSchema;
use serde::Serialize;

/// A contradiction that verification found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Problem {
    /// Kind of the contradiction.
    pub kind: ProblemKind,
    /// Index of the block in which it was found; `None` if it concerns the whole file.
    pub block: Option<u64>,
    /// The contradiction, in one sentence.
    pub message: String,
}

/// Kind of a contradiction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// The file is cut, or its end is damaged.
    Tail,
    /// The bytes of a block are not those that were written.
    Checksum,
    /// A record is not allowed at its place.
    Structure,
    /// Block numbers, sequence numbers, stamps or restated state contradict each other.
    Sequence,
    /// Enter and leave records do not pair up.
    Pairing,
    /// A payload does not match the description in the header.
    Payload,
    /// A record refers to a blob that does not precede it, or a command lacks memory that it read.
    Memory,
    /// The index is wrong.
    Index,
    /// The totals or the end in the footer differ from the stream.
    Footer,
    /// A thread's `emitted + lost + left_out = produced` does not hold.
    Ledger,
}

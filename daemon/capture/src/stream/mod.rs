//! Puts merged records into blocks: the stream, before compression.
//!
//! Pure: no clock, no ring, no file. Takes whole, validated records in their final order, and states
//! process, thread and context in every block, so that each block can be read alone. Copies runs as they are.
//! Looks at every record once, at its header word, and at the content of the few records that are not
//! commands.

mod append;
mod block;
mod builder;
mod figures;
mod handover;
mod meta;
mod process;
mod refusal;
mod ring;
#[cfg(test)]
mod tests;
pub mod thread;
mod words;

pub use self::block::{Block, Memory};
pub use self::builder::StreamBuilder;
pub use self::figures::MISSING_MAX;
pub use self::process::{ProcessKey, StreamProcess};
pub use self::refusal::Refusal;
pub use self::ring::{RingKey, RingNote, RingPlace, RingSite, Run, index_at};
pub use self::thread::{LastCommand, StreamThread, ThreadLabel, name_text};

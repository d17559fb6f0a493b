//! Puts merged records into blocks: the stream, before compression.
//!
//! Pure: uses no clock, no ring and no file. Takes whole, validated records in their final order, and states process,
//! thread and context in every block, so that each block can be read alone. Copies runs unchanged. Looks at the
//! header word of every record, and at the content of the few records that are not commands.

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

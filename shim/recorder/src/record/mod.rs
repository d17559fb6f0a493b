//! Records: how a thread writes them into its ring, counts those without room, and times commands.

mod gap;
mod timing;
mod wait;
mod writer;

pub use timing::TIME_BYTES;
pub use writer::Writer;

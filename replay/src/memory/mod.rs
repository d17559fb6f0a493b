//! Memory that the driver reads and writes: all of it is the player's own.

mod inputs;
mod outputs;
mod region;

pub use inputs::Memory;
pub use outputs::{FILLED_BYTES, Output, Outputs, UNWRITTEN};

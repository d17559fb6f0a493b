//! Memory that the driver reads and writes. All of it belongs to the player.

mod inputs;
mod outputs;
mod plan;
mod region;

pub use inputs::{Memory, Unknown};
pub use outputs::{FILLED_BYTES, Output, Outputs, UNWRITTEN};

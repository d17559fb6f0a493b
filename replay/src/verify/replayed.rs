//! What became of a command in the replay, as verification asks for it.

use gapii_follow::Context;

use crate::names::Kind;
use crate::objects::rows::Rows;
use crate::objects::shapes::Shape;

/// What became of a command in the replay.
pub trait Replayed {
    /// What the driver wrote, from where this output parameter pointed on.
    fn output(&self, param: usize) -> Option<&[u8]>;
    /// `len` bytes of a mapping that the recording had at `address`.
    fn mapped(&self, address: u64, len: usize) -> Option<&[u8]>;
    /// What an argument leads to, where it has a shape: the memory here for that which the recording had at
    /// `address`.
    fn shaped(&self, address: u64) -> Option<(Shape, &[u8])> {
        let _ = address;
        None
    }
    /// Of memory that was written at `address`, the rows that were.
    fn rows(&self, address: u64) -> Option<Rows> {
        let _ = address;
        None
    }
    /// Whether devices may be at work behind what a command of Level Zero has waited for.
    fn has_others_at_work(&self) -> bool {
        false
    }
    /// The name that an object of the recording has here.
    fn name(&self, kind: Kind, recorded: u32) -> Option<u32>;
    /// The text that the result points at.
    fn text(&self) -> Option<Vec<u8>>;
    /// Width and height of what pixels are read from, where that is a surface.
    fn read_size(&self) -> Option<(u32, u32)>;
    /// The state of the thread's current context.
    fn context(&self) -> Option<&Context>;
}

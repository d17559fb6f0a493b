//! The outcome of a command in the replay, as verification needs it.

use gapii_follow::Context;

use crate::names::Kind;
use crate::objects::rows::Rows;
use crate::objects::shapes::Shape;

/// The outcome of a command in the replay.
pub trait Replayed {
    /// Bytes that the driver wrote, from the address of this output parameter on.
    fn output(&self, param: usize) -> Option<&[u8]>;
    /// `len` bytes of a mapping that the recording had at `address`.
    fn mapped(&self, address: u64, len: usize) -> Option<&[u8]>;
    /// Memory here for the memory that the recording had at `address`, with its shape, if it has
    /// one.
    fn shaped(&self, address: u64) -> Option<(Shape, &[u8])> {
        let _ = address;
        None
    }
    /// Rows that were written at `address`, if not all bytes were.
    fn rows(&self, address: u64) -> Option<Rows> {
        let _ = address;
        None
    }
    /// Whether devices may still be running after the wait of a Level Zero command.
    fn has_others_at_work(&self) -> bool {
        false
    }
    /// Whether `here` is the name here of an object that the recording calls `recorded`; `None` if no such object is known.
    fn is_named(&self, kind: Kind, recorded: u32, here: u64) -> Option<bool>;
    /// The string to which the result points.
    fn text(&self) -> Option<Vec<u8>>;
    /// Width and height of the surface or framebuffer object that pixels are read from; `None` if they are not
    /// known.
    fn read_size(&self) -> Option<(u32, u32)>;
    /// Tracked state of the thread's current context.
    fn context(&self) -> Option<&Context>;
}

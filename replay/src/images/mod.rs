//! Pictures of what is played: of frames as they are shown, and of what a command has left behind.
//!
//! Takes them with the driver, between its commands, and leaves no trace there. Encoding and writing
//! goes on beside the playing.

mod at;
mod back_buffer;
mod depth;
mod fetch;
mod folder;
mod framebuffer;
mod gl;
mod picture;
mod resources;
mod sheet;
mod taking;
mod wanted;

pub use at::At;
pub use folder::Folder;
pub use picture::{FrameOf, Picture, PixelDifference};
pub use sheet::{Sheet, spread};
pub(crate) use taking::{after, before_swap};
pub use wanted::{Images, Taken, Taker, name_of};

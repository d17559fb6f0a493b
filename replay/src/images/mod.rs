//! Pictures: of frames as they are shown, and of framebuffer and resources after one command.
//!
//! The driver's state is the same before and after a picture of a frame, or a read of a pixel. Other threads encode and
//! write the files while playing continues.

mod at;
mod back_buffer;
mod beside;
mod checksums;
mod depth;
mod fetch;
mod folder;
mod framebuffer;
mod gl;
mod picture;
mod pixel;
mod resources;
mod sheet;
mod taking;
mod target;
mod wanted;

pub use at::At;
pub use beside::beside;
pub use checksums::{Checksums, FrameChecksum, Which};
pub use folder::Folder;
pub use picture::{FrameOf, Picture, PixelDifference};
pub use pixel::{Seen, Watched};
pub use sheet::{Sheet, spread};
pub(crate) use taking::{after, before, before_swap, frame_end};
pub use wanted::{Images, Taken, Taker, name_of};

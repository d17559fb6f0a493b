//! Blobs: larger pieces of the program's memory. A capture sends each once and afterwards refers to it by its number.

mod number;
mod piece;
mod sender;
mod source;
mod stored;
mod table;

pub use number::{Number, next as next_number};
pub use piece::{BLOB_MIN_BYTES, PIECE_BYTES, Piece};
pub use sender::BlobSender;
pub use source::{Kept, Lost, Own, Source};
pub use stored::{Stored, Terms};
pub use table::Known;

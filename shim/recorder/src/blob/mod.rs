//! Blobs: larger pieces of the program's memory. A capture sends each once and afterwards refers to it by name.

mod name;
mod piece;
mod sender;
mod source;
mod stored;
mod table;

pub use name::{Name, name_bytes, name_words};
pub use piece::{BLOB_MIN_BYTES, PIECE_BYTES, Piece};
pub use sender::BlobSender;
pub use source::{Kept, Lost, Source};
pub use stored::{Stored, Terms};
pub use table::Known;

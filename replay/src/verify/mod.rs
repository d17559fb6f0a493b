//! `--verify`: what the program was told while it was recorded, held against what the driver says
//! now, and frames that were observed against those that are drawn.
//!
//! Looks only: never calls a driver, never changes what is played.

mod answers;
mod comparison;
mod differences;
mod pixels;
mod played;
mod policy;
mod replayed;
mod verdict;
mod verifier;
mod why;

pub use differences::{Difference, Verified};
pub use policy::{Rule, rule};
pub use replayed::Replayed;
pub(crate) use verifier::after;
pub use verifier::{FramePixels, Verifier};
pub use why::Why;

//! `--verify`: compares recorded answers with those of the driver here, and observed frames with
//! the frames drawn here.
//!
//! Only compares: never calls a driver, never changes what is played.

mod answers;
mod comparison;
mod differences;
mod pixels;
mod played;
mod policy;
mod replayed;
mod rule;
mod verdict;
mod verifier;
mod why;

pub use differences::{Difference, Verified};
pub use policy::{Part, rule};
pub use replayed::Replayed;
pub use rule::{Answers, Rule, Target};
pub(crate) use rule::{answers, part};
pub(crate) use verifier::after;
pub use verifier::{FramePixels, Verifier};
pub use why::Why;

//! Commands that no replay can play, because they need something that existed only in the program's process: skipped.

use crate::call::Call;
use crate::skip::{Outcome, Skip};

/// Skips a command that needs something that existed only in the program's process.
pub fn outside(_call: &mut Call<'_, '_>) -> Outcome {
    Err(Skip::from("it needs something outside the program that a trace can't hold"))
}

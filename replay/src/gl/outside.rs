//! Commands that no replay can play.

use crate::call::Call;
use crate::skip::{Outcome, Skip};

/// Plays a command that needs what only the program's own process had.
pub fn outside(_call: &mut Call<'_, '_>) -> Outcome {
    Err(Skip::from("it needs something outside of the program that a trace can't have"))
}

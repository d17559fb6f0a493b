//! Commands of EGL that replay does not pass to a driver: some do nothing here, and those of streams and other
//! programs' memory are skipped if they succeeded in the recording.

use super::arguments::succeeded;
use crate::call::Call;
use crate::skip::Outcome;

/// Does nothing: the command is a query, or only the program's own driver uses what it sets.
pub fn nothing(_call: &mut Call<'_, '_>) -> Outcome {
    Ok(())
}

/// Skips a command that succeeded in the recording, and does nothing otherwise.
pub fn refused_if_it_succeeded(call: &mut Call<'_, '_>) -> Outcome {
    match succeeded(call) {
        true => Err("streams and the memory of other programs are not played".into()),
        false => Ok(()),
    }
}

//! Commands of GLX that replay does not play: questions, and what only an X server or one driver does.

use crate::call::Call;
use crate::egl::arguments::succeeded;
use crate::skip::Outcome;

/// Does nothing: the command is a question, or only the program's own driver uses what it sets.
pub fn nothing(_call: &mut Call<'_, '_>) -> Outcome {
    Ok(())
}

/// Skips a command that succeeded in the recording, and does nothing otherwise.
pub fn refused_if_it_succeeded(call: &mut Call<'_, '_>) -> Outcome {
    match succeeded(call) {
        true => Err("replay plays GLX through EGL, which has no such command".into()),
        false => Ok(()),
    }
}

//! Which context and drawables are current on which thread. A window of X that no command made a surface of gets one.

use crate::call::Call;
use crate::egl::arguments::succeeded;
use crate::egl::current;
use crate::egl::surfaces::{self, Sort};
use crate::objects::egl::Current;
use crate::skip::Outcome;

/// glXMakeCurrent.
pub fn make_current(call: &mut Call<'_, '_>) -> Outcome {
    make(call, (call.u64(1), call.u64(1), call.u64(2)))
}

/// glXMakeContextCurrent, glXMakeCurrentReadSGI.
pub fn make_context_current(call: &mut Call<'_, '_>) -> Outcome {
    make(call, (call.u64(1), call.u64(2), call.u64(3)))
}

fn make(call: &mut Call<'_, '_>, handles: (u64, u64, u64)) -> Outcome {
    if !succeeded(call) {
        return Ok(());
    }
    let process = call.command.process;
    let is_same = |it: &Current| {
        (it.process, it.draw, it.read, it.context) == (process, handles.0, handles.1, handles.2)
    };
    if call.parts.egl.currents.get(&call.command.thread).is_some_and(is_same) {
        // GLX takes the handle of a context that was destroyed while it is current.
        return Ok(());
    }
    for window in [handles.0, handles.1] {
        let is_known = call.parts.egl.surfaces.contains_key(&(process, window));
        if let Some(facts) = call.parts.survey.window(process, window).filter(|_| !is_known) {
            surfaces::create_as(call, window, Some(facts), Vec::new(), Sort::Window)?;
        }
    }
    current::make(call, handles)
}

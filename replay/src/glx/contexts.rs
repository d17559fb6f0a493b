//! Contexts of GLX: contexts of EGL with the attributes that the survey has translated.

use gapii_commands::CommandId;

use crate::call::Call;
use crate::egl;
use crate::skip::Outcome;

/// glXCreateContext, glXCreateNewContext and similar commands, whose contexts are those of desktop OpenGL.
pub fn create(call: &mut Call<'_, '_>) -> Outcome {
    let share = match call.command.known() {
        Some(CommandId::GLX_CREATE_CONTEXT) => 2,
        _ => 3,
    };
    egl::contexts::make(call, call.u64(share), None)
}

/// glXCreateContextAttribsARB.
pub fn create_with_attributes(call: &mut Call<'_, '_>) -> Outcome {
    let facts = call.command.seq.and_then(|seq| call.parts.survey.context(seq));
    let attributes = facts.map(|facts| facts.asked.clone()).unwrap_or_default();
    egl::contexts::make(call, call.u64(2), Some(&attributes))
}

/// glXDestroyContext. The driver keeps the context while it is current.
pub fn destroy(call: &mut Call<'_, '_>) -> Outcome {
    egl::contexts::destroy(call)
}

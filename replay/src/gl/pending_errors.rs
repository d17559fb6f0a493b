//! GL errors that commands before a recorded part have caused, and that the program asks for in the part.
//!
//! A snapshot does not have them: asking for an error clears it, so the shim does not ask. The player asks for the errors
//! of a context before the first command of the context in the part, and causes them again by commands that fail with them
//! and change nothing. The recorder sees these commands, so the part causes the errors, too. A way that a context's version or
//! state does not have is found out by trying it past the recorder. GL_OUT_OF_MEMORY and errors of stacks cannot be caused
//! without a change; a note says that such an error is lost.

use std::ptr;

use gapii_commands::constants::{
    GL_DRAW_FRAMEBUFFER, GL_FRAMEBUFFER, GL_FRAMEBUFFER_BINDING, GL_INVALID_ENUM,
    GL_INVALID_FRAMEBUFFER_OPERATION, GL_INVALID_OPERATION, GL_INVALID_VALUE, GL_NO_ERROR,
    GL_QUERY_RESULT_AVAILABLE, GL_RGBA, GL_UNSIGNED_SHORT_5_6_5,
};
use gapii_commands::ids;
use gapii_state::gl::lists;
use gapii_trace::Command;

use crate::parts::Parts;
use crate::skip::Skip;

/// Most errors that a driver is asked for: it may have a flag for each, and a lost context always has another one.
const ERRORS_MAX: usize = 8;

/// A command, or several, that fail with an error and change nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    AskForNoCapability,
    ClearUnknownBuffers,
    ReadMixedFormat,
    AskForNoQuery,
    ClearNothing,
    ClearNothingOfNewFramebuffer,
}

/// Ways to cause an error, the simplest first.
const WAYS: [(u32, Way); 6] = [
    (GL_INVALID_ENUM, Way::AskForNoCapability),
    (GL_INVALID_VALUE, Way::ClearUnknownBuffers),
    (GL_INVALID_OPERATION, Way::ReadMixedFormat),
    (GL_INVALID_OPERATION, Way::AskForNoQuery),
    (GL_INVALID_FRAMEBUFFER_OPERATION, Way::ClearNothing),
    (GL_INVALID_FRAMEBUFFER_OPERATION, Way::ClearNothingOfNewFramebuffer),
];

/// Causes the pending errors of the command's context, which is current, in the part, before the part's first command in
/// this context.
pub fn keep(parts: &mut Parts, command: &Command<'_>) {
    if !parts.pending_errors.are_looked_for() {
        return;
    }
    let thread = parts.follower.thread(command.thread);
    let is_busy = thread.and_then(|it| it.context.as_deref()).is_some_and(lists::is_busy);
    if is_busy || !parts.pending_errors.ask((command.process, command.context)) {
        return;
    }
    let pending: Vec<u32> = (0..ERRORS_MAX)
        .map_while(|_| error_of(parts).filter(|error| *error != GL_NO_ERROR))
        .collect();
    if pending.is_empty() {
        return;
    }
    let scopes = parts.names.scopes(command.process, command.context);
    let framebuffer = match parts.facts(scopes).has((3, 0), (3, 0)) {
        true => GL_DRAW_FRAMEBUFFER,
        false => GL_FRAMEBUFFER,
    };
    let causes = |error: u32, way: Way| {
        let tried = cause(parts, way, framebuffer, Reach::Driver);
        error_of(parts) == Some(error) && tried.is_ok()
    };
    let ways: Vec<_> = pending
        .iter()
        .map(|error| WAYS.iter().find(|(of, way)| of == error && causes(*error, *way)))
        .collect();
    for (error, way) in pending.iter().zip(ways) {
        let caused = way.map(|(_, way)| {
            parts.driver.in_setup(|| cause(parts, *way, framebuffer, Reach::Recorder))
        });
        if !matches!(caused, Some(Ok(()))) {
            parts.tally.note(format!(
                "the error {error:#x}, which is pending where the part begins, is not in the part: nothing causes it without a \
                 change"
            ));
        }
    }
}

/// Which function a call reaches.
#[derive(Clone, Copy)]
enum Reach {
    /// The recorder's, and through it the driver's.
    Recorder,
    Driver,
}

/// Calls a function of OpenGL. Leaves the calling function if the driver lacks it.
macro_rules! call {
    ($parts:ident, $reach:expr, $id:ident($($value:expr => $type:ty),*) -> $result:ty) => {{
        type Function = unsafe extern "C" fn($($type),*) -> $result;
        let driver = &$parts.driver;
        // SAFETY: the type of this function.
        let function = match $reach {
            Reach::Recorder => unsafe { driver.get::<Function>(ids::$id) },
            Reach::Driver => unsafe { driver.own::<Function>(ids::$id) },
        };
        let function = function?;
        // SAFETY: pointers are null where nothing is read or written, or lead to room for one number.
        unsafe { function($($value),*) }
    }};
}

fn error_of(parts: &Parts) -> Option<u32> {
    let ask = || -> Result<u32, Skip> { Ok(call!(parts, Reach::Driver, GL_GET_ERROR() -> u32)) };
    ask().ok()
}

fn cause(parts: &Parts, way: Way, framebuffer: u32, reach: Reach) -> Result<(), Skip> {
    match way {
        Way::AskForNoCapability => {
            call!(parts, reach, GL_IS_ENABLED(0 => u32) -> u8);
        }
        Way::ClearUnknownBuffers => call!(parts, reach, GL_CLEAR(u32::MAX => u32) -> ()),
        Way::ReadMixedFormat => call!(parts, reach, GL_READ_PIXELS(
            0 => i32, 0 => i32, 0 => i32, 0 => i32,
            GL_RGBA => u32, GL_UNSIGNED_SHORT_5_6_5 => u32, ptr::null_mut() => *mut u8
        ) -> ()),
        Way::AskForNoQuery => {
            let mut out = 0;
            call!(parts, reach, GL_GET_QUERY_OBJECTUIV(
                0 => u32, GL_QUERY_RESULT_AVAILABLE => u32, &raw mut out => *mut u32
            ) -> ())
        }
        Way::ClearNothing => call!(parts, reach, GL_CLEAR(0 => u32) -> ()),
        Way::ClearNothingOfNewFramebuffer => {
            let bound = parts.integer(GL_FRAMEBUFFER_BINDING);
            let mut name = 0;
            call!(parts, reach, GL_GEN_FRAMEBUFFERS(1 => i32, &raw mut name => *mut u32) -> ());
            call!(parts, reach, GL_BIND_FRAMEBUFFER(framebuffer => u32, name => u32) -> ());
            call!(parts, reach, GL_CLEAR(0 => u32) -> ());
            call!(parts, reach, GL_BIND_FRAMEBUFFER(framebuffer => u32, bound => u32) -> ());
            call!(parts, reach, GL_DELETE_FRAMEBUFFERS(1 => i32, &raw const name => *const u32) -> ())
        }
    }
    Ok(())
}

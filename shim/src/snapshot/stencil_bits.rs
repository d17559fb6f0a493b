//! A framebuffer with as many bits of stencil as there can be, for questions about references: drivers report these
//! clamped to the bits of the framebuffer for drawing (OpenGL ES 3.2, 15.1.4).

use gapii_commands::constants::{self, GL_STENCIL_BITS};
use gapii_state::{Context, ContextApi, Process};

use super::bound_framebuffers::BoundFramebuffers;
use super::gl;
use super::own_framebuffer::OwnFramebuffer;
use super::sibling::Sibling;
use crate::driver_functions as driver;

const MAX: i32 = 8;
const EGL_DRAW: i32 = constants::EGL_DRAW as i32;

/// Returns what `ask` returns while a framebuffer with eight bits is bound. Without framebuffers of the program's own that is
/// the surface, if there is one, however many bits it has; the core profile has no query for them, and no context of OpenGL
/// asks about the surface. If the driver makes no other framebuffer, it is the program's.
pub fn with_all<R>(process: &Process, context: &Context, ask: impl FnOnce() -> R) -> R {
    if context.api == ContextApi::Es {
        let _on_surface = BoundFramebuffers::replace(0);
        let has_others = context.framebuffers.named().next().is_some();
        let has_surface = driver::egl_get_current_surface(EGL_DRAW) != 0;
        if !has_others && has_surface || gl::integer(GL_STENCIL_BITS) >= MAX {
            return ask();
        }
    }
    let sibling = Sibling::begin(process, context.handle);
    let own = sibling.as_ref().and_then(|it| OwnFramebuffer::with_stencil(context, it));
    let _on_own = own.as_ref().map(OwnFramebuffer::bind);
    ask()
}

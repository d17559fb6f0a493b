//! Pixels in the back buffers of the surfaces of a context: a program may go on from them. Missing if they
//! take more than `BYTES_MAX` (256 MiB) or a setting cannot be put aside. Blitted in a replay; drawn in OpenGL ES 1 and
//! 2 and to multisampled surfaces. Depth and stencil need OpenGL ES 3 and no samples; else they are listed as missing,
//! except for windows, where a swap makes them undefined.
//!
//! A context that draws to one surface and reads from another one shows the latter only, without its depth and stencil. The rest
//! is listed as missing, because to read it the context would have to be made current with other surfaces.

use gapii_abi::spare_names;
use gapii_commands::constants::{
    GL_COLOR_ATTACHMENT0, GL_COLOR_BUFFER_BIT, GL_RGBA8, GL_SAMPLE_BUFFERS, GL_TEXTURE_2D,
    GL_UNPACK_ALIGNMENT,
};
use gapii_state::read_back::Aside;
use gapii_state::{Context, Process};

use super::bound_framebuffers::BoundFramebuffers;
use super::current::{Drawn, ReadApart};
use super::emit::Emitter;
use super::picture::Picture;
use super::surface_contents::Contents;
use super::{gl, spare, surface_depth, surface_draw};
use crate::driver_calls::Gl;
use crate::generated::ids::*;

/// Maximum size of a surface's pixels in a snapshot, in bytes.
const BYTES_MAX: usize = 256 << 20;

/// Describes pixels, depth and stencil of the surface to which the current context draws.
pub fn describe(emitter: &mut Emitter, process: &Process, context: &Context, drawn: &Drawn) {
    let (width, height) = (drawn.width, drawn.height);
    if width <= 0 || height <= 0 {
        return;
    }
    if drawn.is_unread {
        emitter.leave_out("what was drawn to a surface whose context reads from another one");
        return;
    }
    let Some(pixels) = read(width, height) else {
        emitter.leave_out("what was drawn to a surface");
        return;
    };
    let picture = Picture { width, height, pixels: &pixels };
    emitter.command(GL_PIXEL_STOREI).arg(GL_UNPACK_ALIGNMENT).arg(4_i32).done();
    emitter.make(GL_GEN_TEXTURES, spare_names::FIRST);
    emitter.command(GL_BIND_TEXTURE).arg(GL_TEXTURE_2D).arg(spare_names::FIRST).done();
    let has_samples = samples(context) > 0;
    match () {
        () if !context.has((2, 0), (2, 0)) => surface_draw::with_fixed_functions(emitter, &picture),
        // A blit cannot have a multisampled target.
        () if has_samples || !context.has((3, 0), (3, 0)) => {
            surface_draw::with_a_program(emitter, &picture, context);
        }
        () => blit(emitter, &picture),
    }
    spare::delete(emitter, GL_DELETE_TEXTURES, &[spare_names::FIRST]);
    if context.has((3, 0), (3, 0)) && !has_samples {
        surface_depth::describe(emitter, process, context, (width, height));
    } else if !drawn.is_window {
        emitter.leave_out("depth and stencil of a surface");
    }
}

/// Describes the pixels of the surface from which the current context reads, and to which it does not draw. In the replay no
/// context is current afterwards.
pub fn describe_apart(emitter: &mut Emitter, surface: &ReadApart) {
    let &ReadApart { handle, ref like, width, height } = surface;
    emitter
        .leave_out("what else a surface has to which its context does not draw: depth and stencil");
    match read(width, height) {
        Some(pixels) => {
            Contents { width, height, pixels, depth: None }.describe(emitter, handle, like);
        }
        None => emitter.leave_out("the pixels of a surface to which its context does not draw"),
    }
}

/// Number of sample buffers of the surface; 0 in OpenGL ES 2, which does not tell.
fn samples(context: &Context) -> i32 {
    if !context.has((3, 0), (3, 0)) {
        return 0;
    }
    let _bound = BoundFramebuffers::replace(0);
    gl::integer(GL_SAMPLE_BUFFERS)
}

fn blit(emitter: &mut Emitter, picture: &Picture<'_>) {
    picture.upload(emitter, GL_RGBA8);
    spare::read_from_texture(emitter, GL_COLOR_ATTACHMENT0);
    spare::blit(emitter, (picture.width, picture.height), GL_COLOR_BUFFER_BIT);
    spare::delete(emitter, GL_DELETE_FRAMEBUFFERS, &[spare_names::FIRST]);
}

/// Bytes of RGBA pixels with one byte per component. `None` if a snapshot has no room for them.
pub fn bytes_of(width: i32, height: i32) -> Option<usize> {
    let pixels = usize::try_from(width).ok()?.checked_mul(usize::try_from(height).ok()?)?;
    pixels.checked_mul(4).filter(|bytes| *bytes <= BYTES_MAX)
}

/// Pixels of the back buffer.
fn read(width: i32, height: i32) -> Option<Vec<u8>> {
    let bytes = bytes_of(width, height)?;
    let driver = Gl::current()?;
    let aside = Aside::put(&driver)?;
    let mut pixels = vec![0; bytes];
    driver.read_pixels(&aside, width as u32, height as u32, pixels.as_mut_ptr());
    Some(pixels)
}

//! Depth and stencil of the surface that a context of OpenGL ES 3 draws to: copied to a texture, which
//! is read, and blitted back in a replay.

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_DEPTH, GL_DEPTH_ATTACHMENT, GL_DEPTH_BUFFER_BIT, GL_DEPTH_COMPONENT16, GL_DEPTH_COMPONENT24,
    GL_DEPTH_STENCIL_ATTACHMENT, GL_DEPTH24_STENCIL8, GL_DRAW_FRAMEBUFFER,
    GL_DRAW_FRAMEBUFFER_BINDING, GL_NEAREST, GL_READ_FRAMEBUFFER, GL_READ_FRAMEBUFFER_BINDING,
    GL_SCISSOR_TEST, GL_STENCIL, GL_STENCIL_BUFFER_BIT, GL_TEXTURE_2D, GL_TEXTURE_BINDING_2D,
};
use gapii_state::{Context, Process};

use super::emit::Emitter;
use super::formats::Layout;
use super::gl;
use super::image_layer::{Image, Of};
use super::sibling::Sibling;
use super::spare;
use crate::generated::ids::*;

const OBJECT_TYPE: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE;
const DEPTH_SIZE: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE;
const STENCIL_SIZE: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_STENCIL_SIZE;

/// How a surface has depth and stencil, as a texture has it.
#[derive(Clone, Copy)]
struct Format {
    internal: u32,
    point: u32,
    mask: u32,
}

/// The surface has no samples.
pub fn describe(emitter: &mut Emitter, process: &Process, context: &Context, size: (i32, i32)) {
    let [drawn, read] = [GL_DRAW_FRAMEBUFFER_BINDING, GL_READ_FRAMEBUFFER_BINDING].map(gl::integer);
    gl::bind_framebuffer(GL_READ_FRAMEBUFFER, 0);
    let bits =
        [(GL_DEPTH, DEPTH_SIZE), (GL_STENCIL, STENCIL_SIZE)].map(|(of, name)| bits(of, name));
    let is_held = match bits {
        [0, 0] => true,
        bits => Format::of(bits)
            .and_then(|format| copy(emitter, process, context, size, format))
            .is_some(),
    };
    gl::bind_framebuffer(GL_DRAW_FRAMEBUFFER, drawn as u32);
    gl::bind_framebuffer(GL_READ_FRAMEBUFFER, read as u32);
    if !is_held {
        emitter.leave_out("depth and stencil of a surface");
    }
}

/// Of the surface that is bound for reading.
fn bits(of: u32, name: u32) -> i32 {
    let ask = |name| {
        let mut value = 0;
        // SAFETY: the name has one number.
        unsafe { gl::get_attachment(GL_READ_FRAMEBUFFER, of, name, &raw mut value) };
        value
    };
    if ask(OBJECT_TYPE) == 0 { 0 } else { ask(name) }
}

impl Format {
    /// `None`: no format of textures has as many bits of depth and stencil.
    fn of(bits: [i32; 2]) -> Option<Self> {
        let depth =
            |internal| Self { internal, point: GL_DEPTH_ATTACHMENT, mask: GL_DEPTH_BUFFER_BIT };
        Some(match bits {
            [16, 0] => depth(GL_DEPTH_COMPONENT16),
            [24, 0] => depth(GL_DEPTH_COMPONENT24),
            [24, 8] => Self {
                internal: GL_DEPTH24_STENCIL8,
                point: GL_DEPTH_STENCIL_ATTACHMENT,
                mask: GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT,
            },
            _ => return None,
        })
    }
}

/// `None`: it can't be read.
fn copy(
    emitter: &mut Emitter,
    process: &Process,
    context: &Context,
    (width, height): (i32, i32),
    format: Format,
) -> Option<()> {
    let layout = Layout::of(format.internal, 0)?;
    let taken = Copy::take((width, height), format);
    let target = GL_TEXTURE_2D;
    let of = Of::Flat { texture: taken.texture, target, face: target, level: 0 };
    let sibling = Sibling::begin(process, context)?;
    sibling.with_pixels(Image { of, width, height }, layout, |pixels| {
        emitter.make(GL_GEN_TEXTURES, spare::NAME);
        emitter.command(GL_BIND_TEXTURE).arg(target).arg(spare::NAME).done();
        let command = emitter.command(GL_TEX_STORAGE2D).arg(target).arg(1_i32);
        command.arg(format.internal).arg(width).arg(height).done();
        let command = emitter.command(GL_TEX_SUB_IMAGE2D).arg(target).arg(0_i32).arg(0_i32);
        let command = command.arg(0_i32).arg(width).arg(height).arg(layout.format);
        command.arg(layout.kind).arg(pixels.as_ptr()).range(8, pixels).done();
        spare::read_from_texture(emitter, format.point);
        spare::blit(emitter, (width, height), format.mask);
        for id in [GL_DELETE_FRAMEBUFFERS, GL_DELETE_TEXTURES] {
            spare::delete(emitter, id, &[spare::NAME]);
        }
    })
}

/// A texture of the program's context that has what the surface has.
struct Copy {
    texture: u32,
    framebuffer: u32,
}

impl Copy {
    /// The surface is bound for reading; what is bound for drawing is the copy's afterwards.
    fn take((width, height): (i32, i32), format: Format) -> Self {
        let bound = gl::integer(GL_TEXTURE_BINDING_2D) as u32;
        let is_cut = gl::is_enabled(GL_SCISSOR_TEST) != 0;
        let texture = gl::new_texture(GL_TEXTURE_2D);
        gl::tex_storage_2d(GL_TEXTURE_2D, 1, format.internal, width, height);
        let framebuffer = gl::new_framebuffer(GL_DRAW_FRAMEBUFFER);
        gl::framebuffer_texture_2d(GL_DRAW_FRAMEBUFFER, format.point, GL_TEXTURE_2D, texture, 0);
        gl::disable(GL_SCISSOR_TEST);
        gl::blit_framebuffer(0, 0, width, height, 0, 0, width, height, format.mask, GL_NEAREST);
        if is_cut {
            gl::enable(GL_SCISSOR_TEST);
        }
        gl::bind_texture(GL_TEXTURE_2D, bound);
        Self { texture, framebuffer }
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        gl::delete_framebuffer(self.framebuffer);
        gl::delete_texture(self.texture);
    }
}

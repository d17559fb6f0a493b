//! Depth and stencil of the surface to which a context of OpenGL ES 3 draws. They are blitted back in a replay. Only 16
//! or 24 bits of depth, and 24 with 8 of stencil, can be held; others are listed as missing.

use gapii_abi::spare_names;
use gapii_commands::constants;
use gapii_commands::constants::{
    GL_DEPTH, GL_DEPTH_COMPONENT16, GL_DEPTH_COMPONENT24, GL_DEPTH24_STENCIL8, GL_DRAW_FRAMEBUFFER,
    GL_DRAW_FRAMEBUFFER_BINDING, GL_NEAREST, GL_READ_FRAMEBUFFER, GL_READ_FRAMEBUFFER_BINDING,
    GL_STENCIL, GL_TEXTURE_2D,
};
use gapii_state::{Context, Process};

use super::copied::{Source, point_and_mask};
use super::emit::Emitter;
use super::formats::Layout;
use super::image_layer::{Image, Of};
use super::sibling::Sibling;
use super::{gl, spare};
use crate::generated::ids::*;

const OBJECT_TYPE: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE;
const DEPTH_SIZE: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE;
const STENCIL_SIZE: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_STENCIL_SIZE;

/// Depth and stencil of a surface.
pub enum Depth {
    Nothing,
    /// As a texture of this internal format has them.
    Like(u32),
    /// As no texture has them.
    Other,
}

/// Describes depth and stencil of the current surface, which has no samples.
pub fn describe(emitter: &mut Emitter, process: &Process, context: &Context, size: (i32, i32)) {
    let [drawn, read] = [GL_DRAW_FRAMEBUFFER_BINDING, GL_READ_FRAMEBUFFER_BINDING].map(gl::integer);
    gl::bind_framebuffer(GL_READ_FRAMEBUFFER, 0);
    let is_held = match Depth::of_bound() {
        Depth::Nothing => true,
        Depth::Like(format) => copy(emitter, process, context, size, format).is_some(),
        Depth::Other => false,
    };
    gl::bind_framebuffer(GL_DRAW_FRAMEBUFFER, drawn as u32);
    gl::bind_framebuffer(GL_READ_FRAMEBUFFER, read as u32);
    if !is_held {
        emitter.leave_out("depth and stencil of a surface");
    }
}

impl Depth {
    /// Of the surface, which is bound for reading.
    pub fn of_bound() -> Self {
        let bits = [(GL_DEPTH, DEPTH_SIZE), (GL_STENCIL, STENCIL_SIZE)];
        match bits.map(|(of, name)| bits_of_bound(of, name)) {
            [0, 0] => Self::Nothing,
            [16, 0] => Self::Like(GL_DEPTH_COMPONENT16),
            [24, 0] => Self::Like(GL_DEPTH_COMPONENT24),
            [24, 8] => Self::Like(GL_DEPTH24_STENCIL8),
            _ => Self::Other,
        }
    }
}

fn bits_of_bound(of: u32, name: u32) -> i32 {
    let ask = |name| {
        let mut value = 0;
        // SAFETY: the name has one number.
        unsafe { gl::get_attachment(GL_READ_FRAMEBUFFER, of, name, &raw mut value) };
        value
    };
    if ask(OBJECT_TYPE) == 0 { 0 } else { ask(name) }
}

/// Copies depth and stencil of the surface, which is bound for reading in a context of the shim's own, to a new texture of
/// this internal format. `None` if the driver refuses.
pub fn copy_bound(format: u32, layout: Layout, (width, height): (i32, i32)) -> Option<Image> {
    let (point, mask) = point_and_mask(layout);
    let target = GL_TEXTURE_2D;
    gl::clear_errors();
    let texture = gl::new_texture(target);
    gl::tex_storage_2d(target, 1, format, width, height);
    gl::bind_texture(target, 0);
    let framebuffer = gl::new_framebuffer(GL_DRAW_FRAMEBUFFER);
    gl::framebuffer_texture_2d(GL_DRAW_FRAMEBUFFER, point, target, texture, 0);
    gl::blit_framebuffer(0, 0, width, height, 0, 0, width, height, mask, GL_NEAREST);
    gl::bind_framebuffer(GL_DRAW_FRAMEBUFFER, 0);
    gl::delete_framebuffer(framebuffer);
    let of = Of::Flat { texture, target, face: target, level: 0 };
    (gl::get_error() == 0).then_some(Image { of, width, height, is_shared: false })
}

/// Blits depth and stencil to the surface in a replay. `None` if they cannot be read.
fn copy(
    emitter: &mut Emitter,
    process: &Process,
    context: &Context,
    (width, height): (i32, i32),
    format: u32,
) -> Option<()> {
    let layout = Layout::of(format, 0)?;
    let (point, _) = point_and_mask(layout);
    let sibling = Sibling::begin(process, context.handle)?;
    let source = Source { framebuffer: 0, point, format, layout, width, height };
    source.blit(context, &sibling, |texels| put(emitter, format, layout, (width, height), texels))
}

/// Blits texels of depth and stencil to the surface that is current in a replay.
pub fn put(
    emitter: &mut Emitter,
    format: u32,
    layout: Layout,
    (width, height): (i32, i32),
    texels: &[u8],
) {
    let (target, (point, mask)) = (GL_TEXTURE_2D, point_and_mask(layout));
    emitter.make(GL_GEN_TEXTURES, spare_names::FIRST);
    emitter.command(GL_BIND_TEXTURE).arg(target).arg(spare_names::FIRST).done();
    let command = emitter.command(GL_TEX_STORAGE2D).arg(target).arg(1_i32);
    command.arg(format).arg(width).arg(height).done();
    let command = emitter.command(GL_TEX_SUB_IMAGE2D).arg(target).arg(0_i32).arg(0_i32);
    let command = command.arg(0_i32).arg(width).arg(height).arg(layout.format);
    command.arg(layout.kind).arg(texels.as_ptr()).range(8, texels).done();
    spare::read_from_texture(emitter, point);
    spare::blit(emitter, (width, height), mask);
    for id in [GL_DELETE_FRAMEBUFFERS, GL_DELETE_TEXTURES] {
        spare::delete(emitter, id, &[spare_names::FIRST]);
    }
}

//! Renderbuffers, and what was drawn to them: nothing uploads it, so a texture of the same format
//! is blitted into each.

use gapii_commands::constants::{
    GL_COLOR_ATTACHMENT0, GL_COLOR_BUFFER_BIT, GL_DEPTH_ATTACHMENT, GL_DEPTH_BUFFER_BIT,
    GL_DEPTH_STENCIL_ATTACHMENT, GL_DRAW_FRAMEBUFFER, GL_RENDERBUFFER, GL_RENDERBUFFER_BINDING,
    GL_RENDERBUFFER_HEIGHT, GL_RENDERBUFFER_INTERNAL_FORMAT, GL_RENDERBUFFER_SAMPLES,
    GL_RENDERBUFFER_WIDTH, GL_STENCIL_ATTACHMENT, GL_STENCIL_BUFFER_BIT, GL_TEXTURE_2D,
};
use gapii_state::Context;

use super::emit::Emitter;
use super::formats::{Layout, Part, Read};
use super::gl;
use super::image_layer::{Image, Of};
use super::images::Images;
use super::samples::{Multisampled, Whose};
use super::sibling::Sibling;
use super::spare;
use crate::generated::ids::*;

const WIDTH_HEIGHT_FORMAT: [u32; 3] =
    [GL_RENDERBUFFER_WIDTH, GL_RENDERBUFFER_HEIGHT, GL_RENDERBUFFER_INTERNAL_FORMAT];
/// Name of the renderbuffer's framebuffer meanwhile.
const TO: u32 = spare::NAME + 1;

/// All but those that have the pixels of another object: of these the names.
pub fn describe(
    emitter: &mut Emitter,
    context: &Context,
    sibling: Option<&Sibling>,
    images: &Images,
) {
    let names = context.group.lock().renderbuffers.names();
    let is_es3 = context.version.0 >= 3;
    for name in names {
        if context.version.0 < 2 {
            emitter.leave_out_of("of an OpenGL ES 1 context, renderbuffer", name);
            continue;
        }
        emitter.make(GL_GEN_RENDERBUFFERS, name);
        if gl::is_renderbuffer(name) != 0 && !images.has_renderbuffer(name) {
            let known = Known::ask(name, is_es3);
            known.describe(emitter);
            if known.width <= 0 || known.height <= 0 {
                continue;
            }
            let is_held = is_es3 && sibling.is_some_and(|it| known.describe_pixels(emitter, it));
            if !is_held {
                emitter.leave_out_of("the pixels of renderbuffer", name);
            }
        }
    }
}

struct Known {
    name: u32,
    width: i32,
    height: i32,
    format: u32,
    samples: i32,
}

impl Known {
    fn ask(name: u32, is_es3: bool) -> Self {
        let bound = gl::integer(GL_RENDERBUFFER_BINDING) as u32;
        gl::bind_renderbuffer(GL_RENDERBUFFER, name);
        let ask = |name| {
            let mut value = 0;
            // SAFETY: the name has one number.
            unsafe { gl::get_renderbuffer(GL_RENDERBUFFER, name, &raw mut value) };
            value
        };
        let [width, height, format] = WIDTH_HEIGHT_FORMAT.map(ask);
        let samples = if is_es3 { ask(GL_RENDERBUFFER_SAMPLES) } else { 0 };
        gl::bind_renderbuffer(GL_RENDERBUFFER, bound);
        Self { name, width, height, format: format as u32, samples }
    }

    fn describe(&self, emitter: &mut Emitter) {
        let target = GL_RENDERBUFFER;
        emitter.command(GL_BIND_RENDERBUFFER).arg(target).arg(self.name).done();
        if self.width <= 0 || self.height <= 0 {
            return;
        }
        let command = match self.samples {
            0 => emitter.command(GL_RENDERBUFFER_STORAGE).arg(target),
            samples => {
                emitter.command(GL_RENDERBUFFER_STORAGE_MULTISAMPLE).arg(target).arg(samples)
            }
        };
        command.arg(self.format).arg(self.width).arg(self.height).done();
    }

    /// False: they can't be read.
    fn describe_pixels(&self, emitter: &mut Emitter, sibling: &Sibling) -> bool {
        let (width, height, format, samples) = (self.width, self.height, self.format, self.samples);
        if samples > 0 {
            let whose = Whose::Renderbuffer(self.name);
            let image = Multisampled { whose, format, samples, width, height };
            return image.describe(emitter, Some(sibling));
        }
        let Some(layout) = Layout::of(format, 0) else { return false };
        let image = Image { of: Of::Renderbuffer { name: self.name, format }, width, height };
        sibling.with_pixels(image, layout, |pixels| self.blit(emitter, layout, pixels)).is_some()
    }

    fn blit(&self, emitter: &mut Emitter, layout: Layout, pixels: &[u8]) {
        let (width, height) = (self.width, self.height);
        let (point, bits) = match layout.read {
            Read::AsTheyAre(Part::Depth, _) => (GL_DEPTH_ATTACHMENT, GL_DEPTH_BUFFER_BIT),
            Read::AsTheyAre(Part::Stencil, _) => (GL_STENCIL_ATTACHMENT, GL_STENCIL_BUFFER_BIT),
            Read::AsTheyAre(Part::DepthStencil, _) => {
                (GL_DEPTH_STENCIL_ATTACHMENT, GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT)
            }
            _ => (GL_COLOR_ATTACHMENT0, GL_COLOR_BUFFER_BIT),
        };
        emitter.make(GL_GEN_TEXTURES, spare::NAME);
        emitter.command(GL_BIND_TEXTURE).arg(GL_TEXTURE_2D).arg(spare::NAME).done();
        let command = emitter.command(GL_TEX_IMAGE2D).arg(GL_TEXTURE_2D).arg(0_i32);
        let command = command.arg(self.format).arg(width).arg(height).arg(0_i32);
        let command = command.arg(layout.format).arg(layout.kind).arg(pixels.as_ptr());
        command.range(8, pixels).done();
        spare::read_from_texture(emitter, point);
        emitter.make(GL_GEN_FRAMEBUFFERS, TO);
        emitter.command(GL_BIND_FRAMEBUFFER).arg(GL_DRAW_FRAMEBUFFER).arg(TO).done();
        let command = emitter.command(GL_FRAMEBUFFER_RENDERBUFFER).arg(GL_DRAW_FRAMEBUFFER);
        command.arg(point).arg(GL_RENDERBUFFER).arg(self.name).done();
        spare::blit(emitter, (width, height), bits);
        spare::delete(emitter, GL_DELETE_FRAMEBUFFERS, &[spare::NAME, TO]);
        spare::delete(emitter, GL_DELETE_TEXTURES, &[spare::NAME]);
    }
}

//! Renderbuffers, and what was drawn to them. No command uploads pixels to a renderbuffer, so a texture of the same
//! format, or of a more precise one, is blitted to each. Missing are the pixels in contexts below OpenGL ES 3, and in formats that are not read; of
//! OpenGL ES 1 whole renderbuffers.
//!
//! A deleted renderbuffer that is only bound is made without its pixels. No command reads them: attaching it to a
//! framebuffer needs its name.
//!
//! Renderbuffers that share storage with EGL images are described in `images.rs`.

use gapii_abi::spare_names;
use gapii_commands::constants::{
    GL_DRAW_FRAMEBUFFER, GL_RENDERBUFFER, GL_RENDERBUFFER_BINDING, GL_RENDERBUFFER_HEIGHT,
    GL_RENDERBUFFER_INTERNAL_FORMAT, GL_RENDERBUFFER_SAMPLES, GL_RENDERBUFFER_WIDTH, GL_RGB5_A1,
    GL_RGB565, GL_RGBA4, GL_RGBA8, GL_TEXTURE_2D,
};
use gapii_state::{Context, Process, Ref, Renderbuffer};

use super::copied::point_and_mask;
use super::emit::Emitter;
use super::formats::Layout;
use super::held::Held;
use super::image_layer::{Image, Of};
use super::image_storages::{self, Holder, Object};
use super::owed::Uploaded;
use super::samples::{Multisampled, Whose};
use super::sibling::Sibling;
use super::{gl, identity, refusals, spare};
use crate::generated::ids::*;

/// Spare name of the framebuffer to which a renderbuffer is attached for a blit.
const TO: u32 = spare_names::FIRST + 1;

/// Describes the renderbuffers of a share group.
pub fn describe(emitter: &mut Emitter, context: &Context, sibling: Option<&Sibling>) {
    let known: Vec<Known> = {
        let group = context.group.lock();
        let all = group.renderbuffers.named().filter(|(_, it)| it.shared == 0);
        all.map(|(object, it)| Known::of(object.name() as u32, it)).collect()
    };
    let is_es3 = context.has((3, 0), (3, 0));
    for mut known in known {
        if !context.has((2, 0), (1, 0)) {
            emitter.leave_out_of("of an OpenGL ES 1 context, renderbuffer", known.name);
            continue;
        }
        emitter.make(GL_GEN_RENDERBUFFERS, known.name);
        if gl::is_renderbuffer(known.name) == 0 {
            continue;
        }
        if let Some(sibling) = sibling {
            known.ask(sibling);
        }
        known.describe(emitter, if is_es3 { sibling } else { None });
    }
}

/// Makes a nameless renderbuffer under its spare name, unless the stream has it already. Returns it, and whether it was made
/// without its pixels. `None` if the state does not know it.
pub fn make_nameless(
    emitter: &mut Emitter,
    process: &Process,
    context: &Context,
    object: Ref<Renderbuffer>,
) -> Option<(Known, bool)> {
    refusals::unbind_if_refused(process, context, Object::Renderbuffer(object));
    let (known, shared) = {
        let group = context.group.lock();
        let it = group.renderbuffers.get(object)?;
        (Known::of(identity::spare_name(object), it), it.shared)
    };
    if !identity::is_first(context, identity::Kind::Renderbuffer, object) {
        return Some((known, false));
    }
    emitter.make(GL_GEN_RENDERBUFFERS, known.name);
    let holder = Holder::find(process, context, shared, Object::Renderbuffer(object));
    match &holder {
        Some(holder) => holder.with_image(emitter, |emitter, image| {
            image_storages::bind_to_renderbuffer(emitter, known.name, image);
        }),
        None => known.make(emitter),
    }
    Some((known, holder.is_none()))
}

/// Describes the renderbuffer that is bound.
pub fn describe_binding(emitter: &mut Emitter, process: &Process, context: &Context) {
    let mut bound = gl::integer(GL_RENDERBUFFER_BINDING) as u32;
    if bound != 0 {
        let held = Held::find(&context.group.lock().renderbuffers, bound, context.renderbuffer);
        match held {
            Held::Named(_) => {}
            Held::Nameless(object) => {
                if context.has((2, 0), (1, 0)) {
                    follow_driver(context, object);
                }
                // A framebuffer of this context that holds it has been described with its pixels.
                let made = make_nameless(emitter, process, context, object);
                if made.is_some_and(|(_, lacks_pixels)| lacks_pixels) {
                    // A framebuffer of another context may hold it.
                    identity::note_part(context, identity::Kind::Renderbuffer, object);
                }
                bound = identity::spare_name(object);
            }
            Held::Unknown => {
                emitter.leave_out_of("the binding of deleted renderbuffer", bound);
                bound = 0;
            }
        }
    }
    emitter.command(GL_BIND_RENDERBUFFER).arg(GL_RENDERBUFFER).arg(bound).done();
}

/// Corrects the state of the nameless renderbuffer that is bound: the driver may have refused the command that the state has
/// followed.
fn follow_driver(context: &Context, object: Ref<Renderbuffer>) {
    let [width, height, format, samples] = numbers_of_bound();
    let storage = refusals::Storage { width, height, format: format as u32, samples };
    refusals::mend_renderbuffer(&context.group, object, storage);
}

/// The format of the texture from which pixels are blitted to a renderbuffer of this format. NVIDIA's driver keeps eight
/// bits of components for which the program asked for four or five.
fn staging_format(format: u32) -> u32 {
    match format {
        GL_RGB565 | GL_RGBA4 | GL_RGB5_A1 => GL_RGBA8,
        _ => format,
    }
}

/// Width, height, format and number of samples of the renderbuffer that is bound.
fn numbers_of_bound() -> [i32; 4] {
    let names = [
        GL_RENDERBUFFER_WIDTH,
        GL_RENDERBUFFER_HEIGHT,
        GL_RENDERBUFFER_INTERNAL_FORMAT,
        GL_RENDERBUFFER_SAMPLES,
    ];
    names.map(|name| {
        let mut value = 0;
        // SAFETY: the parameter has one number.
        unsafe { gl::get_renderbuffer(GL_RENDERBUFFER, name, &raw mut value) };
        value
    })
}

/// Size and format of a renderbuffer.
#[derive(Clone, Copy)]
pub struct Known {
    /// In the stream.
    name: u32,
    pub width: i32,
    pub height: i32,
    pub format: u32,
    pub samples: i32,
}

impl Known {
    /// As the program asked for it.
    pub fn of(name: u32, it: &Renderbuffer) -> Self {
        let Renderbuffer { width, height, format, samples, .. } = *it;
        Self { name, width, height, format, samples }
    }

    /// Asks the driver, which knows whether the program's command failed.
    pub fn ask(&mut self, sibling: &Sibling) {
        let name = self.name;
        let asked = sibling.ask(move |_| {
            gl::bind_renderbuffer(GL_RENDERBUFFER, name);
            let numbers = numbers_of_bound();
            gl::bind_renderbuffer(GL_RENDERBUFFER, 0);
            Some(numbers)
        });
        if let Some([width, height, format, samples]) = asked {
            *self = Self { width, height, format: format as u32, samples, ..*self };
        }
    }

    /// Its storage, which the driver was asked for.
    pub fn storage(&self) -> refusals::Storage {
        let Self { width, height, format, samples, .. } = *self;
        refusals::Storage { width, height, format, samples }
    }

    /// Describes a renderbuffer whose name the stream has. `sibling` is `None` where no command of the context could give it
    /// pixels.
    pub fn describe(&self, emitter: &mut Emitter, sibling: Option<&Sibling>) {
        self.make(emitter);
        if self.width <= 0 || self.height <= 0 {
            return;
        }
        if !sibling.is_some_and(|it| self.describe_pixels(emitter, it)) {
            emitter.leave_out_of("the pixels of renderbuffer", self.name);
        }
    }

    /// Describes the pixels of a renderbuffer that the stream has, again. The context has OpenGL ES 3.
    pub fn describe_again(&self, emitter: &mut Emitter, sibling: &Sibling) {
        if self.width > 0 && self.height > 0 {
            // What cannot be read is listed already.
            self.describe_pixels(emitter, sibling);
        }
    }

    fn make(&self, emitter: &mut Emitter) {
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

    /// Returns false if the pixels cannot be read.
    fn describe_pixels(&self, emitter: &mut Emitter, sibling: &Sibling) -> bool {
        let (width, height, format, samples) = (self.width, self.height, self.format, self.samples);
        if samples > 0 {
            let whose = Whose::Renderbuffer(self.name);
            let image = Multisampled { whose, format, samples, width, height };
            return image.describe(emitter, Some(sibling));
        }
        let Some((_, layout)) = self.staging() else { return false };
        let of = Of::Renderbuffer { name: self.name, format };
        let image = Image { of, width, height, is_shared: false };
        let blit = |emitter: &mut Emitter, pixels| self.blit(emitter, layout, pixels);
        sibling.send_pixels(emitter, image, layout, blit).is_some()
    }

    /// Format of the texture from which [`Self::blit`] takes the pixels, and how they are read for it. `None`: they are
    /// not.
    pub fn staging(&self) -> Option<(u32, Layout)> {
        let format = staging_format(self.format);
        Some((format, Layout::of(format, 0)?))
    }

    /// Blits pixels to the renderbuffer.
    pub fn blit(&self, emitter: &mut Emitter, layout: Layout, pixels: Uploaded) {
        let (width, height) = (self.width, self.height);
        let (point, bits) = point_and_mask(layout);
        emitter.make(GL_GEN_TEXTURES, spare_names::FIRST);
        emitter.command(GL_BIND_TEXTURE).arg(GL_TEXTURE_2D).arg(spare_names::FIRST).done();
        let command = emitter.command(GL_TEX_IMAGE2D).arg(GL_TEXTURE_2D).arg(0_i32);
        let format = staging_format(self.format);
        let command = command.arg(format).arg(width).arg(height).arg(0_i32);
        let command = command.arg(layout.format).arg(layout.kind).arg(pixels.address);
        command.uploaded(8, pixels).done();
        spare::read_from_texture(emitter, point);
        emitter.make(GL_GEN_FRAMEBUFFERS, TO);
        emitter.command(GL_BIND_FRAMEBUFFER).arg(GL_DRAW_FRAMEBUFFER).arg(TO).done();
        let command = emitter.command(GL_FRAMEBUFFER_RENDERBUFFER).arg(GL_DRAW_FRAMEBUFFER);
        command.arg(point).arg(GL_RENDERBUFFER).arg(self.name).done();
        spare::blit(emitter, (width, height), bits);
        spare::delete(emitter, GL_DELETE_FRAMEBUFFERS, &[spare_names::FIRST, TO]);
        spare::delete(emitter, GL_DELETE_TEXTURES, &[spare_names::FIRST]);
    }
}

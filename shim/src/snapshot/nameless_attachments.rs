//! Attachments of framebuffers that have lost their names. Each is made under a spare name, with its pixels, which are read through the
//! framebuffer. Missing are pixels of an object that has several views or samples or a format which is not read, or that is in an
//! OpenGL ES 1 context.

use std::collections::BTreeSet;

use gapii_commands::constants::{GL_DEPTH_ATTACHMENT, GL_STENCIL_ATTACHMENT, GL_UNPACK_ALIGNMENT};
use gapii_state::{Context, Process, Ref, Renderbuffer, Texture};

use super::attachments::{Attached, Part};
use super::copied::Source;
use super::emit::Emitter;
use super::formats::{self, Layout, Read};
use super::image_layer::has_layers;
use super::image_storages::Object;
use super::owed::Uploaded;
use super::sibling::OnDemand;
use super::texture_parameters::Has;
use super::textures::At;
use super::{identity, renderbuffers, textures};
use crate::driver_calls::Gl;
use crate::generated::ids::*;

/// Makes the nameless attachments of a context's framebuffers.
pub struct NamelessAttachments<'a> {
    process: &'a Process,
    context: &'a Context,
    has: Has,
    reader: Option<&'a OnDemand<'a>>,
    /// Textures whose pixels the stream has, and their places.
    done: BTreeSet<(Ref<Texture>, At)>,
    renderbuffers_done: BTreeSet<Ref<Renderbuffer>>,
    pub unread: Unread,
}

/// Nameless attachments of which no framebuffer has shown all pixels yet.
#[derive(Default)]
pub struct Unread {
    textures: BTreeSet<(Ref<Texture>, At)>,
    renderbuffers: BTreeSet<Ref<Renderbuffer>>,
}

impl Unread {
    /// Lists as missing what nothing else of the context has shown since, either.
    pub fn leave_out(&self, emitter: &mut Emitter, context: &Context) {
        let textures: BTreeSet<Ref<Texture>> = self.textures.iter().map(|(it, _)| *it).collect();
        for object in textures {
            if identity::lacks_part(context, identity::Kind::Texture, object) {
                emitter.leave_out_of("the pixels of deleted texture", object.name() as u32);
            }
        }
        for object in &self.renderbuffers {
            emitter.leave_out_of("the pixels of deleted renderbuffer", object.name() as u32);
        }
    }
}

impl<'a> NamelessAttachments<'a> {
    /// Nothing is made yet.
    pub fn new(
        process: &'a Process,
        context: &'a Context,
        driver: &Gl,
        reader: Option<&'a OnDemand<'a>>,
    ) -> Self {
        let has = Has::of(driver);
        Self {
            process,
            context,
            has,
            reader,
            done: BTreeSet::new(),
            renderbuffers_done: BTreeSet::new(),
            unread: Unread::default(),
        }
    }

    /// Makes an attachment of the bound framebuffer, which shows so much of its images, unless the attachment has its name.
    pub fn make(
        &mut self,
        emitter: &mut Emitter,
        framebuffer: u32,
        shown: [i32; 2],
        it: &Attached,
    ) {
        // Nothing is read through a framebuffer that does not show all.
        let framebuffer = it.fits(shown).then_some(framebuffer);
        match it.nameless {
            None => {}
            Some(Object::Texture(object)) => self.texture(emitter, framebuffer, it, object),
            Some(Object::Renderbuffer(object)) => {
                self.renderbuffer(emitter, framebuffer, it.point, object);
            }
        }
    }

    fn texture(
        &mut self,
        emitter: &mut Emitter,
        framebuffer: Option<u32>,
        it: &Attached,
        object: Ref<Texture>,
    ) {
        let whose = (self.process, self.context);
        let lacks_pixels = textures::make_nameless(emitter, whose, self.has, object, None);
        let known = textures::Known::of(&self.context.group.lock().textures, object);
        let Some(known) = known.filter(|it| !it.is_view_of_named(self.context)) else { return };
        let framebuffer = framebuffer.filter(|_| !known.is_inner_view());
        let kind = identity::Kind::Texture;
        if lacks_pixels && known.has_several_layers() {
            // A texture unit may hold it, too, and lead to the other ones.
            identity::note_part(self.context, kind, object);
        }
        let at = match it.part {
            Part::Flat { face, level, .. } => At { face, level, layer: 0 },
            Part::Layer { target, level, layer } => At { face: target, level, layer },
            // Commands read the first layer (OpenGL ES 3.2, 16.1.1 and 16.2.1). What the others have only another holder shows.
            Part::Layered { level } => At { face: known.first_face(), level, layer: 0 },
            Part::Views { level, first, .. } => At { face: known.target, level, layer: first },
            Part::Renderbuffer => return,
        };
        // No command reads several views.
        let framebuffer = framebuffer.filter(|_| !matches!(it.part, Part::Views { .. }));
        if self.done.contains(&(object, at)) {
            return;
        }
        // A program can attach a level that it has not defined.
        let Some(image) = known.image(at.face, at.level) else { return };
        let has_layer = !has_layers(known.target) || at.layer < image.depth;
        if !has_layer || !can_show(it.point, image.format, image.pixel_type) {
            // A texture unit may.
            if lacks_pixels {
                identity::note_part(self.context, kind, object);
            }
            return;
        }
        let layout = Layout::of(image.format, image.pixel_type).filter(|_| image.samples == 0);
        let pixels = layout.and_then(|layout| {
            let size = (image.width, image.height);
            let source = source(framebuffer?, it.point, (image.format, layout), size);
            self.read(&source).map(|pixels| (layout, pixels))
        });
        let Some((layout, pixels)) = pixels else {
            identity::note_part(self.context, kind, object);
            self.unread.textures.insert((object, at));
            return;
        };
        self.done.insert((object, at));
        self.unread.textures.remove(&(object, at));
        if !known.has_several_layers() {
            identity::take_part(self.context, kind, object);
        }
        emitter.command(GL_BIND_TEXTURE).arg(known.target).arg(known.name).done();
        emitter.command(GL_PIXEL_STOREI).arg(GL_UNPACK_ALIGNMENT).arg(1_i32).done();
        textures::upload(emitter, known.target, at, &image, (layout, Uploaded::of(&pixels)));
    }

    fn renderbuffer(
        &mut self,
        emitter: &mut Emitter,
        framebuffer: Option<u32>,
        point: u32,
        object: Ref<Renderbuffer>,
    ) {
        if self.renderbuffers_done.contains(&object) {
            return;
        }
        let made = renderbuffers::make_nameless(emitter, self.process, self.context, object);
        let Some((known, lacks_all)) = made else { return };
        // Another context may have it bound, which shows nothing of it.
        let lacks_pixels =
            identity::take_part(self.context, identity::Kind::Renderbuffer, object) || lacks_all;
        if known.width <= 0 || known.height <= 0 {
            return;
        }
        if !can_show(point, known.format, 0) {
            // Another framebuffer may show it.
            if lacks_pixels {
                identity::note_part(self.context, identity::Kind::Renderbuffer, object);
            }
            return;
        }
        let pixels = known.staging().filter(|_| known.samples == 0).and_then(|(format, layout)| {
            let size = (known.width, known.height);
            let source = source(framebuffer?, point, (format, layout), size);
            self.read(&source).map(|pixels| (layout, pixels))
        });
        match pixels {
            Some((layout, pixels)) if self.context.has((3, 0), (3, 0)) => {
                emitter.command(GL_PIXEL_STOREI).arg(GL_UNPACK_ALIGNMENT).arg(1_i32).done();
                known.blit(emitter, layout, Uploaded::of(&pixels));
                self.renderbuffers_done.insert(object);
                self.unread.renderbuffers.remove(&object);
            }
            _ if lacks_pixels => _ = self.unread.renderbuffers.insert(object),
            _ => {}
        }
    }

    fn read(&self, source: &Source) -> Option<Vec<u8>> {
        let mut all = Vec::new();
        let take = |pixels: &[u8]| all.extend_from_slice(pixels);
        let reader = self.reader?;
        match self.context.has((3, 0), (3, 0)) {
            false => source.read(take),
            true => source.blit(self.context, reader.get()?, take),
        }?;
        Some(all)
    }
}

/// Whether a framebuffer with an image of this format at this point can be complete. No command reads the image through
/// another one.
fn can_show(point: u32, format: u32, pixel_type: u32) -> bool {
    let is_depth_or_stencil = [GL_DEPTH_ATTACHMENT, GL_STENCIL_ATTACHMENT].contains(&point);
    let Some(layout) = Layout::of(format, pixel_type) else { return true };
    match layout.read {
        Read::AsTheyAre(formats::Part::Depth, _) => point == GL_DEPTH_ATTACHMENT,
        Read::AsTheyAre(formats::Part::Stencil, _) => point == GL_STENCIL_ATTACHMENT,
        Read::AsTheyAre(formats::Part::DepthStencil, _) => is_depth_or_stencil,
        _ => !is_depth_or_stencil,
    }
}

fn source(
    framebuffer: u32,
    point: u32,
    (format, layout): (u32, Layout),
    (width, height): (i32, i32),
) -> Source {
    Source { framebuffer, point, format, layout, width, height }
}

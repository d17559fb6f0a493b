//! Pixels that a context had drawn when another thread described them: what is attached to the context's framebuffers
//! is described again with the context, and what was attached to them before. Other contexts see what a context has drawn
//! once its commands are complete (OpenGL ES 3.2, 5.3), and no other thread can wait for that. Nothing else that a context
//! writes is described again.
//!
//! A context that is current nowhere has no such pixels, because eglMakeCurrent flushes the context that it releases.

use std::collections::BTreeSet;

use gapii_commands::constants::GL_UNPACK_ALIGNMENT;
use gapii_state::{Context, Process, Ref, Renderbuffer, Texture};

use super::emit::Emitter;
use super::identity;
use super::renderbuffers;
use super::sibling::Sibling;
use super::texture_parameters::Has;
use super::textures::{Attached, Describing, Known};
use crate::driver_calls::Gl;
use crate::generated::ids::*;

/// What another thread has described while the context was current.
#[derive(Clone, Copy)]
pub struct Stale {
    /// Objects that share storage with EGL images.
    pub images: bool,
    /// The other objects of the share group.
    pub others: bool,
}

impl Stale {
    fn has(self, is_shared: bool) -> bool {
        if is_shared { self.images } else { self.others }
    }
}

/// What is attached to framebuffers.
#[derive(Default)]
struct AllAttached {
    textures: BTreeSet<(Ref<Texture>, Attached)>,
    renderbuffers: BTreeSet<Ref<Renderbuffer>>,
}

/// Describes again what is or was attached to the framebuffers of the current context, and stale.
pub fn describe(emitter: &mut Emitter, process: &Process, context: &Context, stale: Stale) {
    let AllAttached { textures, renderbuffers } = attached(context, stale);
    if textures.is_empty() && renderbuffers.is_empty() {
        return;
    }
    // The sibling waits for the context. Without one, all pixels are listed as missing.
    let Some(sibling) = Sibling::begin(process, context.handle) else { return };
    let Some(driver) = Gl::current() else { return };
    emitter.command(GL_PIXEL_STOREI).arg(GL_UNPACK_ALIGNMENT).arg(1_i32).done();
    for (object, part) in textures {
        let known = Known::of(&context.group.lock().textures, object);
        let Some(known) = known else { continue };
        let has = Has::of(&driver);
        let (sibling, context) = (Some(&sibling), Some(context));
        Describing { emitter, has, sibling, context }.pixels_again(&known, part);
    }
    for object in renderbuffers {
        let known = {
            let group = context.group.lock();
            let it = group.renderbuffers.get(object);
            it.map(|it| renderbuffers::Known::of(object.name() as u32, it))
        };
        if let Some(mut known) = known {
            known.ask(&sibling);
            known.describe_again(emitter, &sibling);
        }
    }
}

/// Named objects that are or were attached to the context's framebuffers, and stale.
fn attached(context: &Context, stale: Stale) -> AllAttached {
    let mut all = AllAttached::default();
    let group = context.group.lock();
    let (named, deleted) = (context.framebuffers.named(), context.framebuffers.deleted());
    let of_framebuffers = named.chain(deleted).flat_map(|(_, it)| it.attachments.values());
    for it in of_framebuffers.chain(context.former_attachments.iter()) {
        if let Some(texture) = group.textures.get(it.texture)
            && identity::has_name(&group.textures, it.texture)
        {
            let images = || texture.images.values().flat_map(|levels| levels.values());
            if stale.has(images().any(|image| image.shared != 0)) && texture.surface.is_none() {
                let face = (it.target != 0).then_some(it.target);
                let layer = (!it.is_layered).then_some(it.layer);
                all.textures.insert((it.texture, Attached { face, level: it.level, layer }));
            }
        }
        // No command of earlier versions gives a renderbuffer pixels.
        if let Some(renderbuffer) = group.renderbuffers.get(it.renderbuffer)
            && context.has((3, 0), (3, 0))
            && identity::has_name(&group.renderbuffers, it.renderbuffer)
            && stale.has(renderbuffer.shared != 0)
        {
            all.renderbuffers.insert(it.renderbuffer);
        }
    }
    all
}

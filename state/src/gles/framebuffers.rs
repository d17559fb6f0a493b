//! Attachments of framebuffers. `GL_DEPTH_STENCIL_ATTACHMENT` sets both points, an object that is none removes the
//! attachment, and an object that is deleted leaves the framebuffers that are bound for drawing and reading, but no
//! others (OpenGL ES 3.2, 9.2.7).
//!
//! The shim tracks them because the driver reports a name alone: it does not tell whether the name's first object is
//! attached or the object that got the name later.

use gapii_commands::constants::*;

use crate::{Attachment, Context, Framebuffer, Memory, Ref, Renderbuffer, Scope, Texture, Thread};

/// Attaches a level of a texture to a framebuffer.
pub fn attach_texture<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    target: u32,
    attachment: u32,
    textarget: u32,
    texture: Ref<Texture>,
    level: i32,
    layer: i32,
    layered: bool,
    samples: i32,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    // The shim does not need the target, and takes no lock for it.
    let target_of_image = match textarget {
        0 if S::WHOLE => {
            context.group.lock().textures.get(texture).map_or(0, |texture| texture.target)
        }
        target => target,
    };
    let attached = texture.is_some().then_some(Attachment {
        texture,
        renderbuffer: Ref::NONE,
        target: target_of_image,
        level,
        layer,
        is_layered: layered,
        samples,
    });
    attach(context, target, attachment, attached.as_ref());
}

/// Attaches a renderbuffer to a framebuffer.
pub fn attach_renderbuffer<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    target: u32,
    attachment: u32,
    renderbuffer: Ref<Renderbuffer>,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    let attached = renderbuffer.is_some().then(|| Attachment {
        renderbuffer,
        target: GL_RENDERBUFFER,
        ..Attachment::default()
    });
    attach(context, target, attachment, attached.as_ref());
}

/// Removes a renderbuffer that is about to be deleted from the bound framebuffers (OpenGL ES 3.2, 9.2.7).
pub fn detach_renderbuffer<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    renderbuffer: Ref<Renderbuffer>,
) {
    let Some(context) = thread.context.as_deref_mut().filter(|_| renderbuffer.is_some()) else {
        return;
    };
    detach(context, |attached| attached.renderbuffer == renderbuffer);
}

/// Removes the attachments of the bound framebuffers for which `is_gone` returns true.
pub(super) fn detach<S: Scope>(context: &mut Context<S>, is_gone: impl Fn(&Attachment) -> bool) {
    for framebuffer in [context.draw_framebuffer, context.read_framebuffer] {
        let attached = context.framebuffers.get(framebuffer);
        let changes = attached.is_some_and(|it| it.attachments.values().any(&is_gone));
        if changes && let Some(framebuffer) = context.framebuffers.get_mut(framebuffer) {
            framebuffer.attachments.retain(|_, attached| !is_gone(attached));
        }
    }
}

fn attach<S: Scope>(
    context: &mut Context<S>,
    target: u32,
    attachment: u32,
    attached: Option<&Attachment>,
) {
    let points: &[u32] = match attachment {
        GL_DEPTH_STENCIL_ATTACHMENT => &[GL_DEPTH_ATTACHMENT, GL_STENCIL_ATTACHMENT],
        _ => &[attachment],
    };
    let bound = bound(context, target);
    let Some(framebuffer) = context.framebuffers.get_mut(bound) else { return };
    for point in points {
        let former = match attached {
            Some(attached) => framebuffer.attachments.insert(*point, *attached),
            None => framebuffer.attachments.remove(point),
        };
        // Readers have what was drawn by then.
        if let Some(former) = former.filter(|it| !S::WHOLE && attached != Some(it)) {
            context.former_attachments.note(former);
        }
    }
}

fn bound<S: Scope>(context: &Context<S>, target: u32) -> Ref<Framebuffer> {
    match target {
        GL_READ_FRAMEBUFFER => context.read_framebuffer,
        GL_FRAMEBUFFER | GL_DRAW_FRAMEBUFFER => context.draw_framebuffer,
        _ => Ref::NONE,
    }
}

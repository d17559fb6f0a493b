//! Framebuffers as the tools show them: their attachments.

use gapii_commands::constants::*;

use crate::{Attachment, Context, Framebuffer, Memory, Ref, Thread, Whole};

/// Attaches a level of a texture to a framebuffer.
pub fn attach_texture<M: Memory + ?Sized>(
    thread: &mut Thread<Whole>,
    _memory: &M,
    target: u32,
    attachment: u32,
    textarget: u32,
    texture: u32,
    level: i32,
    layer: i32,
    layered: bool,
    samples: i32,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    let (texture, own_target) = {
        let group = context.group.lock();
        let found = group.textures.find(u64::from(texture));
        (found, group.textures.get(found).map_or(0, |texture| texture.target))
    };
    let target_of_image = if textarget == 0 { own_target } else { textarget };
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
pub fn attach_renderbuffer<M: Memory + ?Sized>(
    thread: &mut Thread<Whole>,
    _memory: &M,
    target: u32,
    attachment: u32,
    renderbuffer: u32,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    let renderbuffer = context.group.lock().renderbuffers.find(u64::from(renderbuffer));
    let attached = renderbuffer.is_some().then(|| Attachment {
        renderbuffer,
        target: GL_RENDERBUFFER,
        ..Attachment::default()
    });
    attach(context, target, attachment, attached.as_ref());
}

fn attach(
    context: &mut Context<Whole>,
    target: u32,
    attachment: u32,
    attached: Option<&Attachment>,
) {
    let points: &[u32] = match attachment {
        GL_DEPTH_STENCIL_ATTACHMENT => &[GL_DEPTH_ATTACHMENT, GL_STENCIL_ATTACHMENT],
        _ => &[attachment],
    };
    let Some(framebuffer) = bound(context, target) else { return };
    for point in points {
        match attached {
            Some(attached) => framebuffer.attachments.insert(*point, *attached),
            None => framebuffer.attachments.remove(point),
        };
    }
}

fn bound(context: &mut Context<Whole>, target: u32) -> Option<&mut Framebuffer<Whole>> {
    let bound = match target {
        GL_READ_FRAMEBUFFER => context.read_framebuffer,
        _ => context.draw_framebuffer,
    };
    context.framebuffers.get_mut(bound)
}

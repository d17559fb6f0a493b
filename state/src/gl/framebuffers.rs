//! Attachments of framebuffers. `GL_DEPTH_STENCIL_ATTACHMENT` sets both points, an object that is none removes the
//! attachment, and an object that is deleted leaves the framebuffers that are bound for drawing and reading, but no
//! others (OpenGL ES 3.2, 9.2.7).
//!
//! The shim tracks them because the driver reports a name alone: it does not tell whether the name's first object is
//! attached or the object that got the name later.

use gapii_commands::constants::*;

use crate::{Attachment, Context, Framebuffer, Memory, Ref, Renderbuffer, Scope, Texture, Thread};

/// Attaches a level of a texture to a framebuffer.
pub fn attach_texture_to<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    framebuffer: Ref<Framebuffer>,
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
    attach(context, framebuffer, attachment, attached.as_ref());
}

/// Attaches a renderbuffer to a framebuffer.
pub fn attach_renderbuffer_to<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    framebuffer: Ref<Framebuffer>,
    attachment: u32,
    renderbuffer: Ref<Renderbuffer>,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    let attached = renderbuffer.is_some().then(|| Attachment {
        renderbuffer,
        target: GL_RENDERBUFFER,
        ..Attachment::default()
    });
    attach(context, framebuffer, attachment, attached.as_ref());
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

/// Forgets what the program has heard of the framebuffers to which this image is attached.
pub fn forget_status<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    texture: Ref<Texture>,
    target: u32,
    level: i32,
) {
    let Some(context) = thread.context.as_deref_mut().filter(|_| texture.is_some()) else {
        return;
    };
    // The shim knows not every target.
    let is_it = |it: &Attachment| {
        it.texture == texture && it.level == level && [0, target].contains(&it.target)
    };
    let framebuffers = context.framebuffers.named();
    let heard_of = framebuffers.filter(|(_, it)| it.status != 0);
    let shown = heard_of.filter(|(_, it)| it.attachments.values().any(is_it));
    let shown: Vec<_> = shown.map(|(framebuffer, _)| framebuffer).collect();
    for framebuffer in shown {
        if let Some(framebuffer) = context.framebuffers.get_mut(framebuffer) {
            framebuffer.status = 0;
        }
    }
}

/// Removes the attachments of the bound framebuffers for which `is_gone` returns true.
pub(super) fn detach<S: Scope>(context: &mut Context<S>, is_gone: impl Fn(&Attachment) -> bool) {
    for framebuffer in [context.draw_framebuffer, context.read_framebuffer] {
        let attached = context.framebuffers.get(framebuffer);
        let changes = attached.is_some_and(|it| it.attachments.values().any(&is_gone));
        if changes && let Some(framebuffer) = context.framebuffers.get_mut(framebuffer) {
            framebuffer.attachments.retain(|_, attached| !is_gone(attached));
            framebuffer.status = 0;
        }
    }
}

/// Width and height in pixels of the framebuffer object that is bound for reading: those that all attached images have
/// (OpenGL ES 3.2, 9.2.8). `None` for the default framebuffer, and if the size of an attached image is not known.
pub fn read_size<S: Scope>(context: &Context<S>) -> Option<(u32, u32)> {
    let framebuffer = context.framebuffers.get(context.read_framebuffer)?;
    let group = context.group.lock();
    let size = |attached: &Attachment| match group.renderbuffers.get(attached.renderbuffer) {
        Some(renderbuffer) => Some((renderbuffer.width, renderbuffer.height)),
        None => {
            let levels = group.textures.get(attached.texture)?.images.get(&attached.target)?;
            let image = levels.get(&attached.level)?;
            Some((image.width, image.height))
        }
    };
    let mut sizes = framebuffer.attachments.values().map(size);
    let first = sizes.next()??;
    let (width, height) = sizes.try_fold(first, |(width, height), next| {
        let next = next?;
        Some((width.min(next.0), height.min(next.1)))
    })?;
    Some((u32::try_from(width).ok()?, u32::try_from(height).ok()?))
}

fn attach<S: Scope>(
    context: &mut Context<S>,
    framebuffer: Ref<Framebuffer>,
    attachment: u32,
    attached: Option<&Attachment>,
) {
    let points: &[u32] = match attachment {
        GL_DEPTH_STENCIL_ATTACHMENT => &[GL_DEPTH_ATTACHMENT, GL_STENCIL_ATTACHMENT],
        _ => &[attachment],
    };
    let Some(framebuffer) = context.framebuffers.get_mut(framebuffer) else { return };
    framebuffer.status = 0;
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

#[cfg(test)]
mod tests {
    use super::super::testing::{context, thread};
    use super::*;
    use crate::TextureImage;

    #[test]
    fn framebuffer_is_as_large_as_all_of_its_images_are() {
        let mut thread = thread((3, 0));
        let context = context(&mut thread);
        let framebuffer = context.framebuffers.create(1);
        context.read_framebuffer = framebuffer;
        assert_eq!(read_size(context), None);
        let (texture, renderbuffer) = {
            let mut group = context.group.lock();
            (group.textures.create(2), group.renderbuffers.create(3))
        };
        let of_texture =
            Attachment { texture, target: GL_TEXTURE_2D, level: 1, ..Attachment::default() };
        let of_renderbuffer = Attachment { renderbuffer, ..Attachment::default() };
        let attachments = &mut context.framebuffers.get_mut(framebuffer).unwrap().attachments;
        attachments.insert(GL_COLOR_ATTACHMENT0, of_texture);
        attachments.insert(GL_DEPTH_ATTACHMENT, of_renderbuffer);
        assert_eq!(read_size(context), None);
        {
            let mut group = context.group.lock();
            let image = TextureImage { width: 16, height: 32, ..TextureImage::default() };
            let texture = group.textures.get_mut(texture).unwrap();
            texture.images.entry(GL_TEXTURE_2D).or_default().insert(1, image);
            let renderbuffer = group.renderbuffers.get_mut(renderbuffer).unwrap();
            (renderbuffer.width, renderbuffer.height) = (64, 8);
        }
        assert_eq!(read_size(context), Some((16, 8)));
    }
}

//! Corrects the state of objects that the driver refused to bind to an EGL image: the state has followed the command. Mesa
//! binds no renderbuffer to an image of depth or stencil. Passes over refusals after which an object has an image of the EGL
//! image's size and kind, which no query tells.

use gapii_commands::constants::{
    GL_FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE, GL_FRAMEBUFFER_ATTACHMENT_BLUE_SIZE,
    GL_FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE, GL_FRAMEBUFFER_ATTACHMENT_GREEN_SIZE,
    GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE, GL_FRAMEBUFFER_ATTACHMENT_STENCIL_SIZE,
};
use gapii_state::{Group, Ref, Renderbuffer, Texture};

use super::copied::point_and_mask;
use super::formats::Layout;
use super::renderbuffers::Known;

/// Sizes of the components of an attached image.
pub const SIZES: [u32; 6] = [
    GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE,
    GL_FRAMEBUFFER_ATTACHMENT_GREEN_SIZE,
    GL_FRAMEBUFFER_ATTACHMENT_BLUE_SIZE,
    GL_FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE,
    GL_FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE,
    GL_FRAMEBUFFER_ATTACHMENT_STENCIL_SIZE,
];

/// Attachment point and buffer bits of a format; `None` for a format that is not read.
fn kind_of(format: u32) -> Option<(u32, u32)> {
    Layout::of(format, 0).map(point_and_mask)
}

/// Gives a renderbuffer the storage that the driver has, `asked`, unless that can be the one that the state has. Returns
/// whether it was another one.
pub fn mend_renderbuffer(group: &Group, object: Ref<Renderbuffer>, asked: &Known) -> bool {
    let mut group = group.lock();
    let Some(it) = group.renderbuffers.get_mut(object) else { return false };
    let is_same = (it.width, it.height) == (asked.width, asked.height)
        && (asked.width <= 0 || kind_of(it.format) == kind_of(asked.format));
    if is_same || it.shared == 0 {
        return false;
    }
    let Known { width, height, format, samples, .. } = *asked;
    (it.width, it.height, it.format, it.samples) = (width, height, format, samples);
    (it.image, it.shared) = (Ref::NONE, 0);
    true
}

/// Takes its storage from a renderbuffer, because the driver has none.
pub fn empty_renderbuffer(group: &Group, object: Ref<Renderbuffer>) {
    if let Some(it) = group.lock().renderbuffers.get_mut(object) {
        (it.width, it.height, it.image, it.shared) = (0, 0, Ref::NONE, 0);
    }
}

/// Takes its images from a texture that shares storage, because the driver has none.
pub fn empty_texture(group: &Group, object: Ref<Texture>) {
    if let Some(it) = group.lock().textures.get_mut(object) {
        it.images.clear();
        (it.image, it.immutable_levels) = (Ref::NONE, 0);
    }
}

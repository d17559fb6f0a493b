//! Corrects the state of objects that the driver refused to bind to an EGL image: the state has followed the command. Mesa
//! binds no renderbuffer to an image of depth or stencil. A refusal after which an object has an image of the EGL image's size and kind
//! shows by an object of the shim's own, which the driver refuses, too. A texture that had more levels then has only the first.

use gapii_commands::constants::{
    EGL_GL_RENDERBUFFER, GL_COLOR_BUFFER_BIT, GL_FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE,
    GL_FRAMEBUFFER_ATTACHMENT_BLUE_SIZE, GL_FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE,
    GL_FRAMEBUFFER_ATTACHMENT_GREEN_SIZE, GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE,
    GL_FRAMEBUFFER_ATTACHMENT_STENCIL_SIZE, GL_RENDERBUFFER,
};
use gapii_state::{Context, Group, Process, Ref, Renderbuffer, Texture};

use super::copied::point_and_mask;
use super::formats::{self, Layout};
use super::gl;
use super::image_storages::Object;
use super::sibling::Sibling;

/// Sizes of the components of an attached image.
pub const SIZES: [u32; 6] = [
    GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE,
    GL_FRAMEBUFFER_ATTACHMENT_GREEN_SIZE,
    GL_FRAMEBUFFER_ATTACHMENT_BLUE_SIZE,
    GL_FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE,
    GL_FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE,
    GL_FRAMEBUFFER_ATTACHMENT_STENCIL_SIZE,
];

/// Size in pixels and format of a renderbuffer in the driver.
pub struct Storage {
    pub width: i32,
    pub height: i32,
    pub format: u32,
    pub samples: i32,
}

/// Buffer bits of a format. A format that is not read counts as one of colors: Mesa 22.3 has an unsized one for a renderbuffer
/// of an EGL image.
fn bits_of(format: u32) -> u32 {
    Layout::of(format, 0).map_or(GL_COLOR_BUFFER_BIT, |layout| point_and_mask(layout).1)
}

/// Gives a renderbuffer the storage that the driver has, unless that can be the one that it shares by the state. Returns whether
/// it was another one.
pub fn mend_renderbuffer(group: &Group, object: Ref<Renderbuffer>, driver: Storage) -> bool {
    let mut group = group.lock();
    let Some(it) = group.renderbuffers.get_mut(object) else { return false };
    let Storage { width, height, format, samples } = driver;
    let is_same = (it.width, it.height) == (width, height) && bits_of(it.format) == bits_of(format);
    if is_same || it.shared == 0 {
        return false;
    }
    (it.width, it.height, it.format, it.samples) = (width, height, format, samples);
    (it.image, it.is_bound, it.shared) = (Ref::NONE, false, 0);
    true
}

/// Whether the driver binds no texture of this target, or no renderbuffer, to an image of depth or stencil in this sized format,
/// asked in a context of the shim. `None` if it makes no such image, and for colors.
pub fn refuses_image(display: u64, format: u32, target: u32) -> Option<bool> {
    if bits_of(format) == GL_COLOR_BUFFER_BIT {
        return None;
    }
    gl::clear_errors();
    let source = gl::new_renderbuffer();
    gl::renderbuffer_storage(GL_RENDERBUFFER, format, 1, 1);
    let (context, kind, buffer) =
        (gl::egl_get_current_context(), EGL_GL_RENDERBUFFER, u64::from(source));
    // SAFETY: without a list of attributes.
    let image = unsafe { gl::egl_create_image(display, context, kind, buffer, std::ptr::null()) };
    let is_made = gl::get_error() == 0 && image != 0;
    if target == GL_RENDERBUFFER {
        let bound = gl::new_renderbuffer();
        gl::image_target_renderbuffer_storage(target, image);
        gl::delete_renderbuffer(bound);
    } else {
        let bound = gl::new_texture(target);
        gl::image_target_texture_2d(target, image);
        gl::delete_texture(bound);
    }
    let is_refused = gl::get_error() != 0;
    gl::delete_renderbuffer(source);
    if image != 0 {
        gl::egl_destroy_image(display, image);
    }
    is_made.then_some(is_refused)
}

/// Corrects the state of a nameless object that the driver has refused to bind to an EGL image of depth or stencil.
pub fn unbind_if_refused(process: &Process, context: &Context, object: Object) {
    let bound = {
        let group = context.group.lock();
        match object {
            Object::Texture(it) => {
                let texture = group.textures.get(it).filter(|it| it.is_bound);
                texture.and_then(|it| {
                    let image = it.images.values().flat_map(|levels| levels.values()).next()?;
                    Some((formats::of_storage(image.format, image.pixel_type), it.target))
                })
            }
            Object::Renderbuffer(it) => {
                let renderbuffer = group.renderbuffers.get(it).filter(|it| it.is_bound);
                renderbuffer.map(|it| (it.format, GL_RENDERBUFFER))
            }
        }
    };
    let is_refusable = |&(format, _): &(u32, u32)| bits_of(format) != GL_COLOR_BUFFER_BIT;
    let Some((format, target)) = bound.filter(is_refusable) else { return };
    let display = {
        let state = process.lock();
        state.egl_contexts.get(state.egl_contexts.find(context.handle)).map(|it| it.display)
    };
    let Some((display, sibling)) = display.zip(Sibling::begin(process, context.handle)) else {
        return;
    };
    if sibling.ask(move |_| refuses_image(display, format, target)) == Some(true) {
        match object {
            Object::Texture(it) => unbind_texture(&context.group, it),
            Object::Renderbuffer(it) => unbind_renderbuffer(&context.group, it),
        }
    }
}

/// Notes that a renderbuffer has a storage of its own, because the driver has refused to bind it to an image.
pub fn unbind_renderbuffer(group: &Group, object: Ref<Renderbuffer>) {
    if let Some(it) = group.lock().renderbuffers.get_mut(object) {
        (it.image, it.is_bound, it.shared) = (Ref::NONE, false, 0);
    }
}

/// [`unbind_renderbuffer`] for a texture, which was not immutable before.
pub fn unbind_texture(group: &Group, object: Ref<Texture>) {
    if let Some(it) = group.lock().textures.get_mut(object) {
        (it.image, it.is_bound, it.immutable_levels) = (Ref::NONE, false, 0);
        it.images.values_mut().flat_map(|levels| levels.values_mut()).for_each(|it| it.shared = 0);
    }
}

/// Takes its storage from a renderbuffer, because the driver has none.
pub fn empty_renderbuffer(group: &Group, object: Ref<Renderbuffer>) {
    if let Some(it) = group.lock().renderbuffers.get_mut(object) {
        (it.width, it.height, it.shared) = (0, 0, 0);
        (it.image, it.is_bound) = (Ref::NONE, false);
    }
}

/// Takes its images from a texture that shares storage, because the driver has none.
pub fn empty_texture(group: &Group, object: Ref<Texture>) {
    if let Some(it) = group.lock().textures.get_mut(object) {
        it.images.clear();
        (it.image, it.is_bound, it.immutable_levels) = (Ref::NONE, false, 0);
    }
}

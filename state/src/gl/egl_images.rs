//! EGL images: their sources, and the objects that share their pixels. An image that is imported from memory has a storage of
//! its own. One of a texture or renderbuffer that is not known shares with nothing.

use std::sync::Arc;

use gapii_commands::constants::{
    EGL_GL_RENDERBUFFER, EGL_GL_TEXTURE_2D, EGL_GL_TEXTURE_3D, EGL_GL_TEXTURE_CUBE_MAP_NEGATIVE_Z,
    EGL_GL_TEXTURE_CUBE_MAP_POSITIVE_X, EGL_GL_TEXTURE_LEVEL, EGL_GL_TEXTURE_ZOFFSET,
};

use super::storage::change_texture;
use gapii_commands::constants::*;

use crate::{
    At, BoundRenderbuffer, Group, Image, Memory, Ref, Renderbuffer, Scope, Surface, Texture,
    TextureImage, Thread,
};

/// Finds the source of an image, and notes that both share their storage.
pub fn note_source_of_image<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    image: u64,
) {
    let Some(made) = Source::find(thread, image) else { return };
    if made.target == EGL_LINUX_DMA_BUF_EXT {
        return note_import(thread, made.image);
    }
    let Some(group) = group_of(thread, made.context) else { return };
    let shared = match made.target {
        EGL_GL_RENDERBUFFER => made.share_renderbuffer(&group),
        _ => made.share_texture(&group),
    };
    let Some(Shared { mut pixels, storage: source_storage, is_bound }) = shared else { return };
    let mut process = thread.process.lock();
    if source_storage == made.number {
        process.shared_storages = made.number;
    }
    pixels.shared = source_storage;
    if made.target == EGL_GL_TEXTURE_3D {
        let same = |it: &Image<S>| {
            it.source_storage == source_storage
                && layer_of(it) == made.layer
                && it.pixels.shared != 0
        };
        let known = process.images.named().map(|(_, it)| it).find(|it| same(it));
        pixels.shared = known.map_or(0, |it| it.pixels.shared);
        if pixels.shared == 0 {
            process.shared_storages = process.shared_storages.wrapping_add(1);
            pixels.shared = process.shared_storages;
        }
    }
    if let Some(image) = process.images.get_mut(made.image) {
        image.pixels = pixels;
        image.source_storage = source_storage;
        image.is_of_bound = is_bound;
    }
}

/// Notes size and storage of an image that is imported from memory.
fn note_import<S: Scope>(thread: &Thread<S>, image: Ref<Image>) {
    let mut process = thread.process.lock();
    let number = process.shared_storages.wrapping_add(1);
    let Some(image) = process.images.get_mut(image) else { return };
    let side = |name: u32| image.attributes.get(&name).and_then(|side| i32::try_from(*side).ok());
    let (width, height) = (side(EGL_WIDTH).unwrap_or(0), side(EGL_HEIGHT).unwrap_or(0));
    image.pixels =
        TextureImage { width, height, format: GL_RGBA, shared: number, ..TextureImage::default() };
    image.source_storage = number;
    process.shared_storages = number;
}

/// What a source shares with its image.
struct Shared {
    /// Size and format of the source.
    pixels: TextureImage,
    /// The number of its storage.
    storage: u32,
    /// Whether it is a renderbuffer that is bound to another image.
    is_bound: bool,
}

/// The texture or renderbuffer that is the source of an image.
struct Source {
    image: Ref<Image>,
    context: u64,
    target: u32,
    /// Name of the texture or renderbuffer.
    buffer: u64,
    level: i64,
    layer: i64,
    /// Number for the source's storage, if it has none yet.
    number: u32,
}

fn layer_of<S: Scope>(image: &Image<S>) -> i64 {
    image.attributes.get(&EGL_GL_TEXTURE_ZOFFSET).copied().unwrap_or(0)
}

impl Source {
    fn find<S: Scope>(thread: &Thread<S>, image: u64) -> Option<Self> {
        let process = thread.process.lock();
        let found = process.images.find(image);
        let image = process.images.get(found)?;
        Some(Self {
            image: found,
            context: image.context,
            target: image.target,
            buffer: image.buffer,
            level: image.attributes.get(&EGL_GL_TEXTURE_LEVEL).copied().unwrap_or(0),
            layer: layer_of(image),
            number: process.shared_storages.wrapping_add(1),
        })
    }

    /// Notes the image as the renderbuffer's.
    fn share_renderbuffer<S: Scope>(&self, group: &Group<S>) -> Option<Shared> {
        let mut group = group.lock();
        let renderbuffer = group.renderbuffers.find(self.buffer);
        let renderbuffer = group.renderbuffers.get_mut(renderbuffer)?;
        renderbuffer.image = self.image;
        if renderbuffer.shared == 0 {
            renderbuffer.shared = self.number;
        }
        let pixels = TextureImage {
            width: renderbuffer.width,
            height: renderbuffer.height,
            format: renderbuffer.format,
            samples: renderbuffer.samples,
            ..TextureImage::default()
        };
        let (storage, is_bound) = (renderbuffer.shared, renderbuffer.is_bound);
        Some(Shared { pixels, storage, is_bound })
    }

    /// [`Source::share_renderbuffer`] for a texture.
    fn share_texture<S: Scope>(&self, group: &Group<S>) -> Option<Shared> {
        let level = i32::try_from(self.level).ok()?;
        let face = match self.target {
            EGL_GL_TEXTURE_2D => GL_TEXTURE_2D,
            EGL_GL_TEXTURE_3D => GL_TEXTURE_3D,
            EGL_GL_TEXTURE_CUBE_MAP_POSITIVE_X..=EGL_GL_TEXTURE_CUBE_MAP_NEGATIVE_Z => {
                GL_TEXTURE_CUBE_MAP_POSITIVE_X + (self.target - EGL_GL_TEXTURE_CUBE_MAP_POSITIVE_X)
            }
            _ => return None,
        };
        let mut group = group.lock();
        let texture = group.textures.find(self.buffer);
        let texture = group.textures.get_mut(texture)?;
        // If the texture has several images, the EGL image is one of them.
        if self.target == EGL_GL_TEXTURE_2D && level == 0 {
            texture.image = self.image;
        }
        let source = texture.images.get_mut(&face)?.get_mut(&level)?;
        if source.shared == 0 {
            source.shared = self.number;
        }
        let pixels = TextureImage { depth: 1, ..*source };
        Some(Shared { pixels, storage: source.shared, is_bound: false })
    }
}

fn group_of<S: Scope>(thread: &Thread<S>, context: u64) -> Option<Arc<Group<S>>> {
    match thread.context.as_deref() {
        Some(current) if current.handle == context => Some(current.group.clone()),
        _ => thread.process.contexts().group(context),
    }
}

/// Replaces the texture's images by the EGL image, unless it is unknown or the texture is immutable: then drivers refuse that.
pub fn become_image<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    texture: Ref<Texture>,
    target: u32,
    image: u64,
    immutable_levels: i64,
) {
    let Some((image, pixels)) = found(thread, image) else { return };
    let pixels = TextureImage { is_defined: true, ..pixels };
    change_texture(thread, memory, texture, |texture| {
        if texture.immutable_levels > 0 {
            return;
        }
        texture.image = image;
        texture.is_bound = true;
        texture.surface = Ref::NONE;
        texture.images = [(target, [(0, pixels)].into())].into();
        texture.immutable_levels = immutable_levels as i32;
    });
}

/// Replaces the renderbuffer's storage by the EGL image, unless the driver has refused that: Mesa binds no renderbuffer to an
/// image of depth or stencil. A refusal after which the renderbuffer still has the image's size and kind does not show.
pub fn become_image_for_rendering<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    renderbuffer: Ref<Renderbuffer>,
    image: u64,
) {
    let Some((image, pixels)) = found(thread, image) else { return };
    let of_image = |driver: BoundRenderbuffer| {
        (driver.width, driver.height) == (pixels.width, pixels.height)
            && (driver.has_depth, driver.has_stencil) == depth_and_stencil(pixels.format)
    };
    let Some(context) = thread.context.as_deref() else { return };
    if context.has((2, 0), (3, 0)) && !memory.bound_renderbuffer().is_none_or(of_image) {
        return;
    }
    if let Some(renderbuffer) = context.group.lock().renderbuffers.get_mut(renderbuffer) {
        renderbuffer.image = image;
        renderbuffer.is_bound = true;
        renderbuffer.width = pixels.width;
        renderbuffer.height = pixels.height;
        renderbuffer.format = pixels.format;
        renderbuffer.samples = pixels.samples;
        renderbuffer.shared = pixels.shared;
    }
}

/// Whether a format has depth, and whether it has stencil (OpenGL ES 3.2, tables 8.13 and 9.3).
fn depth_and_stencil(format: u32) -> (bool, bool) {
    let has_both = matches!(format, GL_DEPTH_STENCIL | GL_DEPTH24_STENCIL8 | GL_DEPTH32F_STENCIL8);
    let has_depth = matches!(
        format,
        GL_DEPTH_COMPONENT
            | GL_DEPTH_COMPONENT16
            | GL_DEPTH_COMPONENT24
            | GL_DEPTH_COMPONENT32_OES
            | GL_DEPTH_COMPONENT32F
    );
    let has_stencil =
        matches!(format, GL_STENCIL_INDEX1_OES | GL_STENCIL_INDEX4_OES | GL_STENCIL_INDEX8);
    (has_both || has_depth, has_both || has_stencil)
}

/// eglBindTexImage: makes the color buffer of a pbuffer the image of the texture that is bound to `GL_TEXTURE_2D`.
pub fn bind_color_buffer<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    surface: Ref<Surface>,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    let unit = context.texture_units.get(context.active_texture as usize);
    let bound = unit.and_then(|unit| unit.bindings.at(GL_TEXTURE_2D)).copied().unwrap_or_default();
    context.has_default_images |= bound.is_none();
    change_texture(thread, memory, bound, |texture| {
        let image = TextureImage { is_defined: true, ..TextureImage::default() };
        texture.surface = surface;
        texture.image = Ref::NONE;
        texture.is_bound = false;
        texture.images.entry(GL_TEXTURE_2D).or_default().insert(0, image);
    });
}

/// eglReleaseTexImage: removes the color buffer of a pbuffer from the textures of the current share group.
pub fn release_color_buffer<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    surface: Ref<Surface>,
) {
    let Some(context) = thread.context.as_deref() else { return };
    let all: Vec<Ref<Texture>> = {
        let group = context.group.lock();
        let bound = group.textures.named().filter(|(_, it)| it.surface == surface);
        bound.map(|(object, _)| object).collect()
    };
    for texture in all {
        change_texture(thread, memory, texture, |texture| {
            texture.surface = Ref::NONE;
            if let Some(levels) = texture.images.get_mut(&GL_TEXTURE_2D) {
                levels.remove(&0);
            }
        });
    }
}

/// Returns the image of that handle, and size, format and storage of its pixels. `None` if there is no such image: the driver
/// binds nothing to it.
fn found<S: Scope>(thread: &Thread<S>, image: u64) -> Option<(Ref<Image>, TextureImage)> {
    let process = thread.process.lock();
    let image = process.images.find(image);
    process.images.get(image).map(|found| (image, found.pixels))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{context, thread};
    use super::*;
    use crate::Nothing;
    use crate::Whole;

    /// Returns a thread with texture 5, of 4 x 2 pixels, and image 9, whose source is the texture.
    fn with_image() -> Thread<Whole> {
        let mut thread = thread((2, 0));
        let group = context(&mut thread).group.clone();
        let texture = group.lock().textures.create(5);
        change_texture(&mut thread, &Nothing, texture, |texture| {
            let pixels =
                TextureImage { width: 4, height: 2, format: GL_RGBA, ..TextureImage::default() };
            texture.images.entry(GL_TEXTURE_2D).or_default().insert(0, pixels);
        });
        let mut process = thread.process.lock();
        let image = process.images.create(9);
        let made = process.images.get_mut(image).unwrap();
        (made.context, made.target, made.buffer) = (1, EGL_GL_TEXTURE_2D, 5);
        drop(process);
        note_source_of_image(&mut thread, &Nothing, 9);
        thread
    }

    #[test]
    fn image_and_its_source_texture_refer_to_each_other() {
        let mut thread = with_image();
        let (image, pixels) = {
            let process = thread.process.lock();
            let image = process.images.find(9);
            (image, process.images.get(image).unwrap().pixels)
        };
        assert_eq!((pixels.width, pixels.height, pixels.format), (4, 2, GL_RGBA));
        let group = context(&mut thread).group.lock();
        let source = group.textures.get(group.textures.find(5)).unwrap();
        assert_eq!(source.image, image);
        assert_eq!((pixels.shared, source.images[&GL_TEXTURE_2D][&0].shared), (1, 1));
    }

    #[test]
    fn imported_image_has_a_storage_of_its_own_that_textures_share() {
        let mut thread = with_image();
        let group = context(&mut thread).group.clone();
        let mut process = thread.process.lock();
        let image = process.images.create(10);
        let made = process.images.get_mut(image).unwrap();
        made.target = EGL_LINUX_DMA_BUF_EXT;
        made.attributes = [(EGL_WIDTH, 6), (EGL_HEIGHT, 3)].into();
        drop(process);
        note_source_of_image(&mut thread, &Nothing, 10);
        let texture = group.lock().textures.create(6);
        become_image(&mut thread, &Nothing, texture, GL_TEXTURE_EXTERNAL_OES, 10, 0);
        let group = group.lock();
        let texture = group.textures.get(texture).unwrap();
        let pixels = texture.images[&GL_TEXTURE_EXTERNAL_OES][&0];
        assert_eq!((pixels.width, pixels.height, pixels.shared), (6, 3, 2));
        assert_eq!(texture.image, image);
    }

    #[test]
    fn second_image_of_a_texture_has_the_same_storage_and_a_redefined_texture_another_one() {
        let mut thread = with_image();
        let mut again = |handle, redefines: bool| {
            let group = context(&mut thread).group.clone();
            let texture = group.lock().textures.find(5);
            change_texture(&mut thread, &Nothing, texture, |texture| {
                let level = texture.images.get_mut(&GL_TEXTURE_2D).unwrap().get_mut(&0).unwrap();
                level.shared = if redefines { 0 } else { level.shared };
            });
            let mut process = thread.process.lock();
            let image = process.images.create(handle);
            let made = process.images.get_mut(image).unwrap();
            (made.context, made.target, made.buffer) = (1, EGL_GL_TEXTURE_2D, 5);
            drop(process);
            note_source_of_image(&mut thread, &Nothing, handle);
            thread.process.lock().images.get(image).unwrap().pixels.shared
        };
        assert_eq!([again(10, false), again(11, true), again(12, false)], [1, 2, 2]);
    }

    #[test]
    fn texture_that_becomes_an_image_has_its_size_and_no_other_levels() {
        let mut thread = with_image();
        let group = context(&mut thread).group.clone();
        let texture = group.lock().textures.create(6);
        change_texture(&mut thread, &Nothing, texture, |texture| {
            texture.images.entry(GL_TEXTURE_2D).or_default().insert(3, TextureImage::default());
        });
        become_image(&mut thread, &Nothing, texture, GL_TEXTURE_2D, 9, 0);
        let group = group.lock();
        let levels = &group.textures.get(texture).unwrap().images[&GL_TEXTURE_2D];
        let levels: Vec<_> = levels.iter().map(|(level, it)| (*level, it.width)).collect();
        assert_eq!(levels, [(0, 4)]);
    }

    #[test]
    fn image_of_a_renderbuffer_knows_whether_that_is_bound_to_another_image() {
        let mut thread = thread((2, 0));
        let group = context(&mut thread).group.clone();
        let [source, other] = [5, 6].map(|name| group.lock().renderbuffers.create(name));
        let mut make = |handle: u64, source: u64| {
            let mut process = thread.process.lock();
            let image = process.images.create(handle);
            let made = process.images.get_mut(image).unwrap();
            (made.context, made.target, made.buffer) = (1, EGL_GL_RENDERBUFFER, source);
            drop(process);
            note_source_of_image(&mut thread, &Nothing, handle);
            become_image_for_rendering(&mut thread, &Nothing, other, handle);
            thread.process.lock().images.get(image).unwrap().is_of_bound
        };
        assert_eq!([make(9, 5), make(10, 5), make(11, 6)], [false, false, true]);
        assert_eq!(group.lock().renderbuffers.get(source).map(|it| it.is_bound), Some(false));
    }

    #[test]
    fn image_that_does_not_exist_or_an_immutable_texture_changes_nothing() {
        let mut thread = with_image();
        let group = context(&mut thread).group.clone();
        let (texture, levels) = (group.lock().textures.create(6), 3);
        let mut width_with = |immutable_levels, image| {
            change_texture(&mut thread, &Nothing, texture, |texture| {
                let pixels = TextureImage { width: 7, ..TextureImage::default() };
                texture.images = [(GL_TEXTURE_2D, [(0, pixels)].into())].into();
                texture.immutable_levels = immutable_levels;
            });
            become_image(&mut thread, &Nothing, texture, GL_TEXTURE_2D, image, 0);
            group.lock().textures.get(texture).unwrap().images[&GL_TEXTURE_2D][&0].width
        };
        assert_eq!([width_with(0, 9), width_with(0, 10), width_with(levels, 9)], [4, 7, 7]);
    }
}

//! EGL images: their sources, and the objects that share their pixels.

use std::sync::Arc;

use gapii_commands::constants::{
    EGL_GL_RENDERBUFFER, EGL_GL_TEXTURE_2D, EGL_GL_TEXTURE_CUBE_MAP_NEGATIVE_Z,
    EGL_GL_TEXTURE_CUBE_MAP_POSITIVE_X, EGL_GL_TEXTURE_LEVEL,
};

use super::storage::change_texture;
use gapii_commands::constants::*;

use crate::{Group, Image, Memory, Ref, Scope, Texture, TextureImage, Thread};

/// Finds the source of an image, and notes that both share their pixels.
pub fn note_source_of_image<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    image: u64,
) {
    let (image, made) = {
        let process = thread.process.lock();
        let image = process.images.find(image);
        (image, process.images.get(image).map(Source::of))
    };
    let Some(made) = made else { return };
    let Some(group) = group_of(thread, made.context) else { return };
    let pixels = match made.target {
        EGL_GL_RENDERBUFFER => {
            let mut group = group.lock();
            let renderbuffer = group.renderbuffers.find(made.buffer);
            group.renderbuffers.get_mut(renderbuffer).map(|renderbuffer| {
                renderbuffer.image = image;
                TextureImage {
                    width: renderbuffer.width,
                    height: renderbuffer.height,
                    format: renderbuffer.format,
                    ..TextureImage::default()
                }
            })
        }
        _ => pixels_of_texture(&group, image, &made),
    };
    if let Some(pixels) = pixels
        && let Some(image) = thread.process.lock().images.get_mut(image)
    {
        image.pixels = pixels;
    }
}

/// The texture or renderbuffer that is the source of an image.
struct Source {
    context: u64,
    target: u32,
    /// Name of the texture or renderbuffer.
    buffer: u64,
    level: i64,
}

impl Source {
    fn of<S: Scope>(image: &Image<S>) -> Self {
        Self {
            context: image.context,
            target: image.target,
            buffer: image.buffer,
            level: image.attributes.get(&EGL_GL_TEXTURE_LEVEL).copied().unwrap_or(0),
        }
    }
}

fn group_of<S: Scope>(thread: &Thread<S>, context: u64) -> Option<Arc<Group<S>>> {
    match thread.context.as_deref() {
        Some(current) if current.handle == context => Some(current.group.clone()),
        _ => thread.process.contexts().group(context),
    }
}

fn pixels_of_texture<S: Scope>(
    group: &Group<S>,
    image: Ref<Image>,
    made: &Source,
) -> Option<TextureImage> {
    let level = i32::try_from(made.level).ok()?;
    let target = made.target;
    let face = match target {
        EGL_GL_TEXTURE_2D => GL_TEXTURE_2D,
        EGL_GL_TEXTURE_CUBE_MAP_POSITIVE_X..=EGL_GL_TEXTURE_CUBE_MAP_NEGATIVE_Z => {
            GL_TEXTURE_CUBE_MAP_POSITIVE_X + (target - EGL_GL_TEXTURE_CUBE_MAP_POSITIVE_X)
        }
        _ => return None,
    };
    let mut group = group.lock();
    let texture = group.textures.find(made.buffer);
    let texture = group.textures.get_mut(texture)?;
    // If the texture has several images, the EGL image is one of them.
    if target == EGL_GL_TEXTURE_2D && level == 0 {
        texture.image = image;
    }
    texture.images.get(&face)?.get(&level).copied()
}

/// Replaces the texture's images by the EGL image.
pub fn become_image<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    texture: Ref<Texture>,
    target: u32,
    image: u64,
) {
    let (image, pixels) = {
        let process = thread.process.lock();
        let image = process.images.find(image);
        (image, process.images.get(image).map(|image| image.pixels))
    };
    let pixels = TextureImage { is_defined: true, ..pixels.unwrap_or_default() };
    change_texture(thread, memory, texture, |texture| {
        texture.image = image;
        texture.images = [(target, [(0, pixels)].into())].into();
    });
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
        assert_eq!(group.textures.get(group.textures.find(5)).unwrap().image, image);
    }

    #[test]
    fn texture_that_becomes_an_image_has_its_size_and_no_other_levels() {
        let mut thread = with_image();
        let group = context(&mut thread).group.clone();
        let texture = group.lock().textures.create(6);
        change_texture(&mut thread, &Nothing, texture, |texture| {
            texture.images.entry(GL_TEXTURE_2D).or_default().insert(3, TextureImage::default());
        });
        become_image(&mut thread, &Nothing, texture, GL_TEXTURE_2D, 9);
        let group = group.lock();
        let levels = &group.textures.get(texture).unwrap().images[&GL_TEXTURE_2D];
        let levels: Vec<_> = levels.iter().map(|(level, it)| (*level, it.width)).collect();
        assert_eq!(levels, [(0, 4)]);
    }
}

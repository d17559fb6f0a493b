//! Textures: their storage, what is in it, and their parameters.

use std::collections::BTreeMap;

use gapii_commands::constants::{
    GL_RGBA, GL_TEXTURE_2D, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_2D_MULTISAMPLE,
    GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_3D, GL_TEXTURE_BINDING_2D,
    GL_TEXTURE_BINDING_2D_ARRAY, GL_TEXTURE_BINDING_2D_MULTISAMPLE,
    GL_TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_BINDING_3D, GL_TEXTURE_BINDING_BUFFER,
    GL_TEXTURE_BINDING_CUBE_MAP, GL_TEXTURE_BINDING_CUBE_MAP_ARRAY, GL_TEXTURE_BUFFER,
    GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP_ARRAY, GL_UNPACK_ALIGNMENT, GL_UNSIGNED_BYTE,
};
use gapii_state::{Context, TextureImage};

use super::emit::Emitter;
use super::formats::{self, Layout};
use super::gl;
use super::image_layer::{Image, Of};
use super::images::Images;
use super::samples::{self, Multisampled};
use super::sibling::Sibling;
use super::texture_parameters as parameters;
use crate::driver_calls::Gl;
use crate::generated::ids::*;

/// Who describes textures, and with what.
struct Describing<'a, 'r> {
    emitter: &'a mut Emitter<'r>,
    version: (u8, u8),
    driver: &'a Gl,
    sibling: Option<&'a Sibling>,
}

struct Known {
    name: u32,
    target: u32,
    immutable_levels: i32,
    /// By target and level.
    images: Vec<(u32, i32, TextureImage)>,
    /// Of a buffer texture: the buffer, the range of it, and the format.
    buffer: (u32, i64, i64, u32),
}

/// All but those that have the pixels of another object: of these the names.
pub fn describe(
    emitter: &mut Emitter,
    context: &Context,
    driver: &Gl,
    sibling: Option<&Sibling>,
    images: &Images,
) {
    let group = context.group.lock();
    let known: Vec<Known> = group
        .textures
        .named()
        .map(|(object, texture)| {
            let buffer = &texture.buffer;
            let name = buffer.buffer.name() as u32;
            Known {
                name: object.name() as u32,
                target: texture.target,
                immutable_levels: texture.immutable_levels,
                images: images_of(&texture.images),
                buffer: (name, buffer.offset, buffer.size, texture.buffer_format),
            }
        })
        .collect();
    drop(group);
    // Pixels are given without gaps; the context's own way of unpacking is set when that is described.
    emitter.command(GL_PIXEL_STOREI).arg(GL_UNPACK_ALIGNMENT).arg(1_i32).done();
    let mut describing = Describing { emitter, version: context.version, driver, sibling };
    for texture in &known {
        describing.emitter.make(GL_GEN_TEXTURES, texture.name);
        if texture.target == 0 || images.has_texture(texture.name) {
            continue;
        }
        let Some(binding) = binding_of(texture.target) else {
            describing.emitter.leave_out_of("of a target that is not read, texture", texture.name);
            continue;
        };
        let bound = gl::integer(binding) as u32;
        gl::bind_texture(texture.target, texture.name);
        describing.texture(texture);
        gl::bind_texture(texture.target, bound);
    }
}

fn images_of(images: &BTreeMap<u32, BTreeMap<i32, TextureImage>>) -> Vec<(u32, i32, TextureImage)> {
    let of_target = |(target, levels): (&u32, &BTreeMap<i32, TextureImage>)| {
        let target = *target;
        levels.iter().map(move |(level, image)| (target, *level, *image)).collect::<Vec<_>>()
    };
    images.iter().flat_map(of_target).collect()
}

/// What is asked for the texture that is bound to a target; `None`: such are not described.
fn binding_of(target: u32) -> Option<u32> {
    Some(match target {
        GL_TEXTURE_2D => GL_TEXTURE_BINDING_2D,
        GL_TEXTURE_3D => GL_TEXTURE_BINDING_3D,
        GL_TEXTURE_2D_ARRAY => GL_TEXTURE_BINDING_2D_ARRAY,
        GL_TEXTURE_CUBE_MAP => GL_TEXTURE_BINDING_CUBE_MAP,
        GL_TEXTURE_CUBE_MAP_ARRAY => GL_TEXTURE_BINDING_CUBE_MAP_ARRAY,
        GL_TEXTURE_BUFFER => GL_TEXTURE_BINDING_BUFFER,
        GL_TEXTURE_2D_MULTISAMPLE => GL_TEXTURE_BINDING_2D_MULTISAMPLE,
        GL_TEXTURE_2D_MULTISAMPLE_ARRAY => GL_TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY,
        _ => return None,
    })
}

fn has_layers(target: u32) -> bool {
    matches!(target, GL_TEXTURE_3D | GL_TEXTURE_2D_ARRAY | GL_TEXTURE_CUBE_MAP_ARRAY)
}

impl Describing<'_, '_> {
    /// A texture that is bound.
    fn texture(&mut self, texture: &Known) {
        let target = texture.target;
        self.emitter.command(GL_BIND_TEXTURE).arg(target).arg(texture.name).done();
        match target {
            GL_TEXTURE_BUFFER => return self.buffer(texture),
            GL_TEXTURE_2D_MULTISAMPLE | GL_TEXTURE_2D_MULTISAMPLE_ARRAY => {
                return self.samples(texture);
            }
            _ => {}
        }
        // A driver may look at them when it is given images.
        parameters::describe(self.emitter, target, self.version, self.driver);
        if texture.immutable_levels > 0 {
            self.storage(texture);
        }
        for (face, level, image) in &texture.images {
            let whose = Whose { texture, face: *face, level: *level, image };
            match formats::block(image.format) {
                None if image.compressed_bytes > 0 => self.leave_out(&whose),
                None => self.image(&whose),
                Some(block) => self.blocks(&whose, block),
            }
        }
    }

    fn buffer(&mut self, texture: &Known) {
        let (buffer, offset, size, format) = texture.buffer;
        if format == 0 {
            return;
        }
        let target = GL_TEXTURE_BUFFER;
        let is_part = size != 0;
        let id = match (self.version >= (3, 2), is_part) {
            (true, false) => GL_TEX_BUFFER,
            (true, true) => GL_TEX_BUFFER_RANGE,
            (false, false) => GL_TEX_BUFFER_EXT,
            (false, true) => GL_TEX_BUFFER_RANGE_EXT,
        };
        let command = self.emitter.command(id).arg(target).arg(format).arg(buffer);
        if is_part { command.arg(offset).arg(size).done() } else { command.done() }
    }

    fn samples(&mut self, texture: &Known) {
        parameters::describe_of_samples(self.emitter, texture.target);
        let Some((_, _, image)) = texture.images.first() else { return };
        let is_array = texture.target == GL_TEXTURE_2D_MULTISAMPLE_ARRAY;
        let id = match is_array {
            false => GL_TEX_STORAGE2D_MULTISAMPLE,
            true if self.version >= (3, 2) => GL_TEX_STORAGE3D_MULTISAMPLE,
            true => GL_TEX_STORAGE3D_MULTISAMPLE_OES,
        };
        let command = self.emitter.command(id).arg(texture.target).arg(image.samples);
        let command = command.arg(image.format).arg(image.width).arg(image.height);
        let command = if is_array { command.arg(image.depth) } else { command };
        command.arg(1_u8).done();
        let (name, target) = (texture.name, texture.target);
        let layers = if is_array { image.depth } else { 1 };
        for layer in 0..layers {
            let whose = match is_array {
                true => samples::Whose::Layer(name, target, layer),
                false => samples::Whose::Texture(name, target),
            };
            let (width, height) = (image.width, image.height);
            let (format, samples) = (image.format, image.samples);
            let image = Multisampled { whose, format, samples, width, height };
            if !image.describe(self.emitter, self.sibling) {
                self.emitter.leave_out_of("the samples of texture", name);
                return;
            }
        }
    }

    fn storage(&mut self, texture: &Known) {
        let Some((_, _, image)) = texture.images.iter().find(|(_, level, _)| *level == 0) else {
            return;
        };
        let has_layers = has_layers(texture.target);
        let command = self
            .emitter
            .command(if has_layers { GL_TEX_STORAGE3D } else { GL_TEX_STORAGE2D })
            .arg(texture.target)
            .arg(texture.immutable_levels)
            .arg(image.format)
            .arg(image.width)
            .arg(image.height);
        if has_layers { command.arg(image.depth).done() } else { command.done() }
    }

    fn image(&mut self, whose: &Whose<'_>) {
        let Whose { texture, face, level, image } = *whose;
        let layout = Layout::of(image.format, image.pixel_type);
        let (format, kind) =
            layout.map_or((GL_RGBA, GL_UNSIGNED_BYTE), |layout| (layout.format, layout.kind));
        let has_layers = has_layers(texture.target);
        if texture.immutable_levels == 0 {
            let id = if has_layers { GL_TEX_IMAGE3D } else { GL_TEX_IMAGE2D };
            let command = self.emitter.command(id).arg(face).arg(level).arg(image.format as i32);
            let command = command.arg(image.width).arg(image.height);
            let command = if has_layers { command.arg(image.depth) } else { command };
            command.arg(0_i32).arg(format).arg(kind).arg(0_u64).done();
        }
        let (Some(layout), Some(sibling)) = (layout, self.sibling) else {
            self.leave_out(whose);
            return;
        };
        for layer in 0..whose.layers() {
            let emitter = &mut *self.emitter;
            let done = sibling.with_pixels(whose.layer(layer), layout, |pixels| {
                let id = if has_layers { GL_TEX_SUB_IMAGE3D } else { GL_TEX_SUB_IMAGE2D };
                let command = emitter.command(id).arg(face).arg(level).arg(0_i32).arg(0_i32);
                let (command, param) = match has_layers {
                    true => (command.arg(layer).arg(image.width).arg(image.height).arg(1_i32), 10),
                    false => (command.arg(image.width).arg(image.height), 8),
                };
                command.arg(format).arg(kind).arg(pixels.as_ptr()).range(param, pixels).done();
            });
            if done.is_none() {
                self.leave_out(whose);
                return;
            }
        }
    }

    /// An image in a compressed format.
    fn blocks(&mut self, whose: &Whose<'_>, block: (i32, i32, usize)) {
        let Whose { texture, face, level, image } = *whose;
        let has_layers = has_layers(texture.target);
        let is_immutable = texture.immutable_levels > 0;
        let mut all = Vec::new();
        for layer in 0..whose.layers() {
            let emitter = &mut *self.emitter;
            let read = |sibling: &Sibling| {
                sibling.with_blocks(whose.layer(layer), block, |blocks| {
                    if !is_immutable {
                        all.extend_from_slice(blocks);
                        return;
                    }
                    let id = match has_layers {
                        true => GL_COMPRESSED_TEX_SUB_IMAGE3D,
                        false => GL_COMPRESSED_TEX_SUB_IMAGE2D,
                    };
                    let command = emitter.command(id).arg(face).arg(level).arg(0_i32).arg(0_i32);
                    let command = if has_layers { command.arg(layer) } else { command };
                    let command = command.arg(image.width).arg(image.height);
                    let command = if has_layers { command.arg(1_i32) } else { command };
                    let command = command.arg(image.format).arg(blocks.len() as i32);
                    let param = if has_layers { 10 } else { 8 };
                    command.arg(blocks.as_ptr()).range(param, blocks).done();
                })
            };
            if self.sibling.and_then(read).is_none() {
                self.leave_out(whose);
                all.clear();
                break;
            }
        }
        if is_immutable {
            return;
        }
        let id = if has_layers { GL_COMPRESSED_TEX_IMAGE3D } else { GL_COMPRESSED_TEX_IMAGE2D };
        let bytes = match all.len() {
            0 => image.compressed_bytes,
            bytes => bytes as i32,
        };
        let command = self.emitter.command(id).arg(face).arg(level).arg(image.format);
        let command = command.arg(image.width).arg(image.height);
        let command = if has_layers { command.arg(image.depth) } else { command };
        let command = command.arg(0_i32).arg(bytes);
        let param = if has_layers { 8 } else { 7 };
        match all.is_empty() {
            true => command.arg(0_u64).done(),
            false => command.arg(all.as_ptr()).range(param, &all).done(),
        }
    }

    fn leave_out(&mut self, whose: &Whose<'_>) {
        let (name, level) = (whose.texture.name, whose.level);
        self.emitter.leave_out_of(&format!("the pixels on level {level} of texture"), name);
    }
}

/// An image of a texture, and where it is.
struct Whose<'a> {
    texture: &'a Known,
    /// A face of a cube, or the texture's target.
    face: u32,
    level: i32,
    image: &'a TextureImage,
}

impl Whose<'_> {
    fn layers(&self) -> i32 {
        if has_layers(self.texture.target) { self.image.depth } else { 1 }
    }

    fn layer(&self, layer: i32) -> Image {
        let (texture, target, level) = (self.texture.name, self.texture.target, self.level);
        let of = match has_layers(target) {
            true => Of::Layer { texture, target, level, layer },
            false => Of::Flat { texture, target, face: self.face, level },
        };
        Image { of, width: self.image.width, height: self.image.height }
    }
}

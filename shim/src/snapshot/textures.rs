//! Textures, renderbuffers and samplers.

use std::collections::BTreeMap;

use gapii_state::{Context, TextureImage};

use super::emit::Emitter;
use super::gl;
use super::pixels::{Layout, Reader, Source};
use crate::driver_calls::Gl;
use crate::generated::ids::*;

const GL_TEXTURE_2D: u32 = 0x0DE1;
const GL_TEXTURE_3D: u32 = 0x806F;
const GL_TEXTURE_2D_ARRAY: u32 = 0x8C1A;
const GL_TEXTURE_CUBE_MAP: u32 = 0x8513;
const GL_TEXTURE_2D_MULTISAMPLE: u32 = 0x9100;
const GL_UNPACK_ALIGNMENT: u32 = 0x0CF5;
const GL_RENDERBUFFER: u32 = 0x8D41;
const GL_RGBA: u32 = 0x1908;
const GL_UNSIGNED_BYTE: u32 = 0x1401;

/// Parameters that are whole numbers, and the version of OpenGL ES that they begin with.
const WHOLE: [(u32, u8); 13] = [
    (0x2800, 2), // GL_TEXTURE_MAG_FILTER
    (0x2801, 2), // GL_TEXTURE_MIN_FILTER
    (0x2802, 2), // GL_TEXTURE_WRAP_S
    (0x2803, 2), // GL_TEXTURE_WRAP_T
    (0x8072, 3), // GL_TEXTURE_WRAP_R
    (0x813C, 3), // GL_TEXTURE_BASE_LEVEL
    (0x813D, 3), // GL_TEXTURE_MAX_LEVEL
    (0x884C, 3), // GL_TEXTURE_COMPARE_MODE
    (0x884D, 3), // GL_TEXTURE_COMPARE_FUNC
    (0x8E42, 3), // GL_TEXTURE_SWIZZLE_R
    (0x8E43, 3), // GL_TEXTURE_SWIZZLE_G
    (0x8E44, 3), // GL_TEXTURE_SWIZZLE_B
    (0x8E45, 3), // GL_TEXTURE_SWIZZLE_A
];
/// Parameters that are not, from OpenGL ES 3 on: the least and the greatest level of detail.
const FRACTIONS: [u32; 2] = [0x813A, 0x813B];
/// Those of them that samplers have.
const OF_SAMPLERS: [u32; 7] = [0x2800, 0x2801, 0x2802, 0x2803, 0x8072, 0x884C, 0x884D];

struct Known {
    name: u32,
    target: u32,
    immutable_levels: i32,
    /// By target and level.
    images: Vec<(u32, i32, TextureImage)>,
}

pub fn describe(emitter: &mut Emitter, context: &Context) {
    let group = context.group.lock();
    let known: Vec<Known> = group
        .textures
        .named()
        .map(|(object, texture)| Known {
            name: object.name() as u32,
            target: texture.target,
            immutable_levels: texture.immutable_levels,
            images: images_of(&texture.images),
        })
        .collect();
    let renderbuffers: Vec<u32> =
        group.renderbuffers.named().map(|(object, _)| object.name() as u32).collect();
    let samplers: Vec<u32> =
        group.samplers.named().map(|(object, _)| object.name() as u32).collect();
    drop(group);
    let is_es3 = context.version.0 >= 3;
    let driver = Gl::current();
    let reader = driver.as_ref().and_then(|driver| Reader::begin(driver, is_es3));
    // Pixels are given without gaps; the context's own way of unpacking is set when that is described.
    emitter.command(GL_PIXEL_STOREI).arg(GL_UNPACK_ALIGNMENT).arg(1_i32).done();
    for texture in &known {
        emitter.make(GL_GEN_TEXTURES, texture.name);
        if texture.target != 0 && binding_of(texture.target).is_none() {
            emitter.leave_out(&format!("texture {}, of a target that is not read", texture.name));
        }
        if let Some(binding) = binding_of(texture.target) {
            let bound = gl::integer(binding) as u32;
            gl::bind_texture(texture.target, texture.name);
            texture.describe(emitter, is_es3, reader.as_ref());
            gl::bind_texture(texture.target, bound);
        }
    }
    for name in samplers {
        describe_sampler(emitter, name);
    }
    for name in renderbuffers {
        describe_renderbuffer(emitter, name, is_es3);
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
        GL_TEXTURE_2D => 0x8069,
        GL_TEXTURE_3D => 0x806A,
        GL_TEXTURE_2D_ARRAY => 0x8C1D,
        GL_TEXTURE_CUBE_MAP => 0x8514,
        GL_TEXTURE_2D_MULTISAMPLE => 0x9104,
        _ => return None,
    })
}

impl Known {
    fn describe(&self, emitter: &mut Emitter, is_es3: bool, reader: Option<&Reader<'_>>) {
        emitter.command(GL_BIND_TEXTURE).arg(self.target).arg(self.name).done();
        if self.target == GL_TEXTURE_2D_MULTISAMPLE {
            self.describe_samples(emitter);
            return;
        }
        if self.immutable_levels > 0 {
            self.describe_storage(emitter);
        }
        for (target, level, image) in &self.images {
            self.describe_image(emitter, *target, *level, image, reader);
        }
        let version = if is_es3 { 3 } else { 2 };
        for (name, _) in WHOLE.iter().filter(|(_, since)| *since <= version) {
            let mut value = 0;
            // SAFETY: the name has one number.
            unsafe { gl::get_texture_integers(self.target, *name, &raw mut value) };
            emitter.command(GL_TEX_PARAMETERI).arg(self.target).arg(*name).arg(value).done();
        }
        if is_es3 {
            for name in FRACTIONS {
                let mut value = 0.0;
                // SAFETY: the name has one number.
                unsafe { gl::get_texture_floats(self.target, name, &raw mut value) };
                emitter.command(GL_TEX_PARAMETERF).arg(self.target).arg(name).arg(value).done();
            }
        }
    }

    fn describe_samples(&self, emitter: &mut Emitter) {
        let Some((_, _, image)) = self.images.first() else { return };
        let command = emitter.command(GL_TEX_STORAGE2D_MULTISAMPLE).arg(self.target);
        let command = command.arg(image.samples).arg(image.format).arg(image.width);
        command.arg(image.height).arg(1_u8).done();
        emitter.leave_out(&format!("the samples of texture {}", self.name));
    }

    fn has_layers(&self) -> bool {
        matches!(self.target, GL_TEXTURE_3D | GL_TEXTURE_2D_ARRAY)
    }

    fn describe_storage(&self, emitter: &mut Emitter) {
        let Some((_, _, image)) = self.images.iter().find(|(_, level, _)| *level == 0) else {
            return;
        };
        let id = if self.has_layers() { GL_TEX_STORAGE3D } else { GL_TEX_STORAGE2D };
        let command = emitter
            .command(id)
            .arg(self.target)
            .arg(self.immutable_levels)
            .arg(image.format)
            .arg(image.width)
            .arg(image.height);
        if self.has_layers() { command.arg(image.depth).done() } else { command.done() }
    }

    fn describe_image(
        &self,
        emitter: &mut Emitter,
        target: u32,
        level: i32,
        image: &TextureImage,
        reader: Option<&Reader<'_>>,
    ) {
        let layout = Layout::of(image.format);
        let (format, kind) =
            layout.map_or((GL_RGBA, GL_UNSIGNED_BYTE), |layout| (layout.format, layout.kind));
        let has_layers = self.has_layers();
        if self.immutable_levels == 0 {
            let id = if has_layers { GL_TEX_IMAGE3D } else { GL_TEX_IMAGE2D };
            let mut command = emitter
                .command(id)
                .arg(target)
                .arg(level)
                .arg(image.format as i32)
                .arg(image.width)
                .arg(image.height);
            if has_layers {
                command = command.arg(image.depth);
            }
            command.arg(0_i32).arg(format).arg(kind).arg(0_u64).done();
        }
        if !image.is_defined {
            return;
        }
        let (Some(layout), Some(reader)) = (layout, reader) else {
            emitter.leave_out(&format!("the pixels of texture {}, level {level}", self.name));
            return;
        };
        let size = [image.width, image.height];
        for layer in 0..if has_layers { image.depth } else { 1 } {
            let source = match has_layers {
                true => Source::Layer(self.name, level, layer),
                false => Source::Texture(self.name, target, level),
            };
            let Some(pixels) = reader.read(source, size, layout) else {
                emitter.leave_out(&format!("the pixels of texture {}, level {level}", self.name));
                return;
            };
            let id = if has_layers { GL_TEX_SUB_IMAGE3D } else { GL_TEX_SUB_IMAGE2D };
            let command = emitter.command(id).arg(target).arg(level).arg(0_i32).arg(0_i32);
            let (command, param) = match has_layers {
                true => (command.arg(layer).arg(image.width).arg(image.height).arg(1_i32), 10),
                false => (command.arg(image.width).arg(image.height), 8),
            };
            command.arg(format).arg(kind).arg(pixels.as_ptr()).range(param, &pixels).done();
        }
    }
}

fn describe_sampler(emitter: &mut Emitter, sampler: u32) {
    emitter.make(GL_GEN_SAMPLERS, sampler);
    for name in OF_SAMPLERS {
        let mut value = 0;
        // SAFETY: the name has one number.
        unsafe { gl::get_sampler_integers(sampler, name, &raw mut value) };
        emitter.command(GL_SAMPLER_PARAMETERI).arg(sampler).arg(name).arg(value).done();
    }
    for name in FRACTIONS {
        let mut value = 0.0;
        // SAFETY: the name has one number.
        unsafe { gl::get_sampler_floats(sampler, name, &raw mut value) };
        emitter.command(GL_SAMPLER_PARAMETERF).arg(sampler).arg(name).arg(value).done();
    }
}

fn describe_renderbuffer(emitter: &mut Emitter, name: u32, is_es3: bool) {
    const GL_RENDERBUFFER_BINDING: u32 = 0x8CA7;
    const GL_RENDERBUFFER_SAMPLES: u32 = 0x8CAB;
    const WIDTH_HEIGHT_FORMAT: [u32; 3] = [0x8D42, 0x8D43, 0x8D44];
    emitter.make(GL_GEN_RENDERBUFFERS, name);
    if gl::is_renderbuffer(name) == 0 {
        return;
    }
    let bound = gl::integer(GL_RENDERBUFFER_BINDING) as u32;
    gl::bind_renderbuffer(GL_RENDERBUFFER, name);
    let ask = |name| {
        let mut value = 0;
        // SAFETY: the name has one number.
        unsafe { gl::get_renderbuffer(GL_RENDERBUFFER, name, &raw mut value) };
        value
    };
    let [width, height, format] = WIDTH_HEIGHT_FORMAT.map(ask);
    let samples = if is_es3 { ask(GL_RENDERBUFFER_SAMPLES) } else { 0 };
    gl::bind_renderbuffer(GL_RENDERBUFFER, bound);
    emitter.command(GL_BIND_RENDERBUFFER).arg(GL_RENDERBUFFER).arg(name).done();
    let command = match samples {
        0 => emitter.command(GL_RENDERBUFFER_STORAGE).arg(GL_RENDERBUFFER),
        samples => {
            emitter.command(GL_RENDERBUFFER_STORAGE_MULTISAMPLE).arg(GL_RENDERBUFFER).arg(samples)
        }
    };
    command.arg(format).arg(width).arg(height).done();
}

//! Textures and samplers as the tools show them: parameters, storage, what deletion unbinds.

use super::enums::*;
use crate::{
    Context, GroupState, Memory, Ref, Sampler, SamplerState, Texture, TextureImage, Thread,
};

/// Changes a parameter that both textures and samplers have; false if it is none.
fn set_sampling(sampling: &mut SamplerState, pname: u32, value: f64) -> bool {
    let number = value as u32;
    match pname {
        GL_TEXTURE_MIN_FILTER => sampling.min_filter = number,
        GL_TEXTURE_MAG_FILTER => sampling.mag_filter = number,
        GL_TEXTURE_WRAP_S => sampling.wrap_s = number,
        GL_TEXTURE_WRAP_T => sampling.wrap_t = number,
        GL_TEXTURE_WRAP_R => sampling.wrap_r = number,
        GL_TEXTURE_MIN_LOD => sampling.min_lod = value as f32,
        GL_TEXTURE_MAX_LOD => sampling.max_lod = value as f32,
        GL_TEXTURE_COMPARE_MODE => sampling.compare_mode = number,
        GL_TEXTURE_COMPARE_FUNC => sampling.compare_func = number,
        GL_TEXTURE_MAX_ANISOTROPY_EXT => sampling.max_anisotropy = value as f32,
        GL_TEXTURE_SRGB_DECODE_EXT => sampling.srgb_decode = number,
        _ => return false,
    }
    true
}

fn set_texture(texture: &mut Texture, pname: u32, value: f64) {
    if set_sampling(&mut texture.sampling, pname, value) {
        return;
    }
    let number = value as u32;
    match pname {
        GL_TEXTURE_BASE_LEVEL => texture.base_level = value as i32,
        GL_TEXTURE_MAX_LEVEL => texture.max_level = value as i32,
        GL_DEPTH_STENCIL_TEXTURE_MODE => texture.depth_stencil_mode = number,
        GL_TEXTURE_SWIZZLE_R => texture.swizzle[0] = number,
        GL_TEXTURE_SWIZZLE_G => texture.swizzle[1] = number,
        GL_TEXTURE_SWIZZLE_B => texture.swizzle[2] = number,
        GL_TEXTURE_SWIZZLE_A => texture.swizzle[3] = number,
        _ => {}
    }
}

pub fn set_texture_parameter<M: Memory + ?Sized>(
    thread: &mut Thread,
    memory: &M,
    texture: Ref<Texture>,
    pname: u32,
    value: i32,
) {
    let value = f64::from(value);
    change_texture(thread, memory, texture, |texture| set_texture(texture, pname, value));
}

pub fn set_texture_parameter_float<M: Memory + ?Sized>(
    thread: &mut Thread,
    memory: &M,
    texture: Ref<Texture>,
    pname: u32,
    value: f32,
) {
    let value = f64::from(value);
    change_texture(thread, memory, texture, |texture| set_texture(texture, pname, value));
}

fn change_texture<M: Memory + ?Sized>(
    thread: &mut Thread,
    _memory: &M,
    texture: Ref<Texture>,
    change: impl FnOnce(&mut Texture),
) {
    let Some(context) = thread.context.as_deref() else { return };
    if let Some(texture) = context.group.lock().textures.get_mut(texture) {
        change(texture);
    }
}

pub fn set_sampler_parameter<M: Memory + ?Sized>(
    thread: &mut Thread,
    memory: &M,
    sampler: Ref<Sampler>,
    pname: u32,
    value: i32,
) {
    set_sampler(thread, memory, sampler, pname, f64::from(value));
}

pub fn set_sampler_parameter_float<M: Memory + ?Sized>(
    thread: &mut Thread,
    memory: &M,
    sampler: Ref<Sampler>,
    pname: u32,
    value: f32,
) {
    set_sampler(thread, memory, sampler, pname, f64::from(value));
}

fn set_sampler<M: Memory + ?Sized>(
    thread: &mut Thread,
    _memory: &M,
    sampler: Ref<Sampler>,
    pname: u32,
    value: f64,
) {
    let Some(context) = thread.context.as_deref() else { return };
    if let Some(sampler) = context.group.lock().samplers.get_mut(sampler) {
        set_sampling(&mut sampler.sampling, pname, value);
    }
}

/// Images for all levels at once, whose sizes never change again.
pub fn define_storage<M: Memory + ?Sized>(
    thread: &mut Thread,
    memory: &M,
    texture: Ref<Texture>,
    levels: i32,
    format: u32,
    width: i32,
    height: i32,
    depth: i32,
    samples: i32,
) {
    change_texture(thread, memory, texture, |texture| {
        texture.immutable_levels = levels;
        let target = texture.target;
        let is_volume = target == GL_TEXTURE_3D;
        for face in faces(target) {
            for level in 0..levels.clamp(0, 32) {
                let half = |size: i32| (size >> level).max(1);
                let image = TextureImage {
                    width: half(width),
                    height: half(height),
                    depth: if is_volume { half(depth) } else { depth },
                    format,
                    samples,
                    compressed_bytes: 0,
                    is_defined: false,
                };
                texture.images.entry(face).or_default().insert(level, image);
            }
        }
    });
}

/// The levels below the base level come from it.
pub fn generate_levels<M: Memory + ?Sized>(thread: &mut Thread, memory: &M, texture: Ref<Texture>) {
    change_texture(thread, memory, texture, |texture| {
        let is_volume = texture.target == GL_TEXTURE_3D;
        let base = texture.base_level;
        for images in texture.images.values_mut() {
            let Some(first) = images.get(&base).copied() else { continue };
            let largest =
                first.width.max(first.height).max(if is_volume { first.depth } else { 1 });
            let below = 31 - largest.max(1).leading_zeros().cast_signed();
            for level in 1..=below {
                let half = |size: i32| (size >> level).max(1);
                let image = TextureImage {
                    width: half(first.width),
                    height: half(first.height),
                    depth: if is_volume { half(first.depth) } else { first.depth },
                    is_defined: true,
                    ..first
                };
                images.insert(base.saturating_add(level), image);
            }
        }
    });
}

/// Targets of a texture's images.
fn faces(target: u32) -> std::ops::RangeInclusive<u32> {
    match target {
        GL_TEXTURE_CUBE_MAP => GL_TEXTURE_CUBE_MAP_POSITIVE_X..=GL_TEXTURE_CUBE_MAP_NEGATIVE_Z,
        _ => target..=target,
    }
}

/// Takes a texture off the context's units, images and framebuffers.
pub fn delete_texture<M: Memory + ?Sized>(thread: &mut Thread, _memory: &M, name: u32) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    let gone = found(context, name, |group, name| group.textures.find(name));
    if gone.is_none() {
        return;
    }
    for unit in &mut context.texture_units {
        unit.bindings.retain(|_, bound| *bound != gone);
    }
    for image in context.images.iter_mut().filter(|image| image.texture == gone) {
        image.texture = Ref::NONE;
    }
    for framebuffer in [context.draw_framebuffer, context.read_framebuffer] {
        if let Some(framebuffer) = context.framebuffers.get_mut(framebuffer) {
            framebuffer.attachments.retain(|_, attached| attached.texture != gone);
        }
    }
}

/// Takes a sampler off the context's units.
pub fn delete_sampler<M: Memory + ?Sized>(thread: &mut Thread, _memory: &M, name: u32) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    let gone = found(context, name, |group, name| group.samplers.find(name));
    if gone.is_some() {
        for unit in context.texture_units.iter_mut().filter(|unit| unit.sampler == gone) {
            unit.sampler = Ref::NONE;
        }
    }
}

fn found<T>(context: &Context, name: u32, find: impl FnOnce(&GroupState, u64) -> Ref<T>) -> Ref<T> {
    find(&context.group.lock(), u64::from(name))
}

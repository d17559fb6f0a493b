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

#[cfg(test)]
mod tests {
    use super::super::testing::{context, thread};
    use super::*;
    use crate::Nothing;

    /// A thread with texture 5 of that target.
    fn with_texture(target: u32) -> (Thread, Ref<Texture>) {
        let mut thread = thread((3, 2));
        let mut group = context(&mut thread).group.lock();
        let texture = group.textures.create(5);
        group.textures.get_mut(texture).unwrap().target = target;
        drop(group);
        (thread, texture)
    }

    /// Width, height and depth of the levels of an image.
    fn sizes(thread: &mut Thread, texture: Ref<Texture>, image: u32) -> Vec<(i32, [i32; 3])> {
        let group = context(thread).group.lock();
        let images = &group.textures.get(texture).unwrap().images;
        let levels = images.get(&image).into_iter().flatten();
        levels.map(|(level, it)| (*level, [it.width, it.height, it.depth])).collect()
    }

    #[test]
    fn storage_has_levels_of_half_the_size_for_each_image() {
        let check = |target, image, size: [i32; 3], expected: &[(i32, [i32; 3])]| {
            let (mut thread, texture) = with_texture(target);
            let [width, height, depth] = size;
            define_storage(&mut thread, &Nothing, texture, 3, GL_RGBA8, width, height, depth, 0);
            assert_eq!(sizes(&mut thread, texture, image), expected, "{target:#x}");
        };
        let flat = [(0, [8, 2, 1]), (1, [4, 1, 1]), (2, [2, 1, 1])];
        check(GL_TEXTURE_2D, GL_TEXTURE_2D, [8, 2, 1], &flat);
        check(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP_NEGATIVE_Z, [8, 2, 1], &flat);
        check(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP, [8, 2, 1], &[]);
        let layers = [(0, [4, 4, 6]), (1, [2, 2, 6]), (2, [1, 1, 6])];
        check(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_2D_ARRAY, [4, 4, 6], &layers);
        let volume = [(0, [4, 4, 6]), (1, [2, 2, 3]), (2, [1, 1, 1])];
        check(GL_TEXTURE_3D, GL_TEXTURE_3D, [4, 4, 6], &volume);
    }

    #[test]
    fn generated_levels_reach_down_to_one_pixel() {
        let (mut thread, texture) = with_texture(GL_TEXTURE_2D);
        define_storage(&mut thread, &Nothing, texture, 1, GL_RGBA8, 5, 2, 1, 0);
        generate_levels(&mut thread, &Nothing, texture);
        let expected = [(0, [5, 2, 1]), (1, [2, 1, 1]), (2, [1, 1, 1])];
        assert_eq!(sizes(&mut thread, texture, GL_TEXTURE_2D), expected);
    }

    #[test]
    fn parameters_are_kept_by_name() {
        let (mut thread, texture) = with_texture(GL_TEXTURE_2D);
        let set = |thread: &mut Thread, pname, value| {
            set_texture_parameter(thread, &Nothing, texture, pname, value);
        };
        set(&mut thread, GL_TEXTURE_WRAP_S, GL_RGBA8 as i32);
        set(&mut thread, GL_TEXTURE_SWIZZLE_B, 3);
        set(&mut thread, GL_TEXTURE_MAX_LEVEL, 7);
        set(&mut thread, GL_RGBA8, 7);
        set_texture_parameter_float(&mut thread, &Nothing, texture, GL_TEXTURE_MAX_LOD, 2.5);
        let group = context(&mut thread).group.lock();
        let texture = group.textures.get(texture).unwrap();
        assert_eq!(texture.sampling.wrap_s, GL_RGBA8);
        assert_eq!(texture.swizzle, [0, 0, 3, 0]);
        assert_eq!(texture.max_level, 7);
        assert_eq!(texture.sampling.max_lod, 2.5);
    }

    #[test]
    fn deleted_texture_is_off_the_units_and_the_bound_framebuffer() {
        use super::super::framebuffers::attach_texture;
        let (mut thread, texture) = with_texture(GL_TEXTURE_2D);
        let unit = context(&mut thread);
        unit.texture_units.push(crate::TextureUnit::default());
        unit.texture_units[0].bindings.insert(GL_TEXTURE_2D, texture);
        let framebuffer = unit.framebuffers.create(1);
        unit.draw_framebuffer = framebuffer;
        let (all, point) = (GL_DRAW_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT);
        attach_texture(&mut thread, &Nothing, all, point, GL_TEXTURE_2D, 5, 0, 0, false, 0);
        let attached = |thread: &mut Thread| {
            context(thread).framebuffers.get(framebuffer).unwrap().attachments.len()
        };
        assert_eq!(attached(&mut thread), 2);
        delete_texture(&mut thread, &Nothing, 5);
        assert_eq!(attached(&mut thread), 0);
        assert!(context(&mut thread).texture_units[0].bindings.is_empty());
    }
}

//! Textures and samplers: parameters (`set_sampling`, `set_texture`; others are not kept), and the bindings that
//! deletion removes: those of the current context alone.

use super::framebuffers::detach;
use super::storage::change_texture;
use gapii_commands::constants::*;

use crate::{
    Context, ContextApi, GroupState, Memory, Ref, Sampler, SamplerState, Scope, Texture, Thread,
    Whole,
};

/// Changes a parameter that both textures and samplers have. False if `pname` is not one of them.
fn set_sampling(sampling: &mut SamplerState, is_desktop: bool, pname: u32, value: f64) -> bool {
    let number = value as u32;
    if is_refused(is_desktop, pname, number, value) {
        return true;
    }
    match pname {
        GL_TEXTURE_MIN_FILTER => sampling.min_filter = number,
        GL_TEXTURE_MAG_FILTER => sampling.mag_filter = number,
        GL_TEXTURE_WRAP_S => sampling.wrap_s = number,
        GL_TEXTURE_WRAP_T => sampling.wrap_t = number,
        GL_TEXTURE_WRAP_R => sampling.wrap_r = number,
        GL_TEXTURE_MIN_LOD => sampling.min_lod = value as f32,
        GL_TEXTURE_MAX_LOD => sampling.max_lod = value as f32,
        GL_TEXTURE_LOD_BIAS => sampling.lod_bias = value as f32,
        GL_TEXTURE_COMPARE_MODE => sampling.compare_mode = number,
        GL_TEXTURE_COMPARE_FUNC => sampling.compare_func = number,
        GL_TEXTURE_MAX_ANISOTROPY_EXT => sampling.max_anisotropy = value as f32,
        GL_TEXTURE_SRGB_DECODE_EXT => sampling.srgb_decode = number,
        _ => return false,
    }
    true
}

/// Whether the driver refuses the value of a sampling parameter (OpenGL ES 3.2, table 8.19; GL_CLAMP of desktop OpenGL; GL_EXT_texture_sRGB_decode,
/// GL_EXT_texture_filter_anisotropic, GL_EXT_texture_mirror_clamp_to_edge).
fn is_refused(is_desktop: bool, pname: u32, number: u32, value: f64) -> bool {
    match pname {
        GL_TEXTURE_MIN_FILTER => !matches!(
            number,
            GL_NEAREST
                | GL_LINEAR
                | GL_NEAREST_MIPMAP_NEAREST
                | GL_LINEAR_MIPMAP_NEAREST
                | GL_NEAREST_MIPMAP_LINEAR
                | GL_LINEAR_MIPMAP_LINEAR
        ),
        GL_TEXTURE_MAG_FILTER => !matches!(number, GL_NEAREST | GL_LINEAR),
        GL_TEXTURE_WRAP_S | GL_TEXTURE_WRAP_T | GL_TEXTURE_WRAP_R => match number {
            GL_REPEAT
            | GL_CLAMP_TO_EDGE
            | GL_CLAMP_TO_BORDER
            | GL_MIRRORED_REPEAT
            | GL_MIRROR_CLAMP_TO_EDGE_EXT => false,
            GL_CLAMP | GL_MIRROR_CLAMP_EXT | GL_MIRROR_CLAMP_TO_BORDER_EXT => !is_desktop,
            _ => true,
        },
        GL_TEXTURE_COMPARE_MODE => !matches!(number, GL_NONE | GL_COMPARE_REF_TO_TEXTURE),
        GL_TEXTURE_COMPARE_FUNC => !(GL_NEVER..=GL_ALWAYS).contains(&number),
        GL_TEXTURE_SRGB_DECODE_EXT => !matches!(number, GL_DECODE_EXT | GL_SKIP_DECODE_EXT),
        GL_TEXTURE_MAX_ANISOTROPY_EXT => value < 1.0,
        _ => false,
    }
}

fn set_texture(texture: &mut Texture<Whole>, is_desktop: bool, pname: u32, value: f64) {
    if set_sampling(&mut texture.sampling, is_desktop, pname, value) {
        return;
    }
    let number = value as u32;
    match pname {
        GL_TEXTURE_MAX_LEVEL => texture.max_level = value as i32,
        GL_DEPTH_TEXTURE_MODE => texture.depth_mode = number,
        GL_DEPTH_STENCIL_TEXTURE_MODE => texture.depth_stencil_mode = number,
        GL_TEXTURE_SWIZZLE_R => texture.swizzle[0] = number,
        GL_TEXTURE_SWIZZLE_G => texture.swizzle[1] = number,
        GL_TEXTURE_SWIZZLE_B => texture.swizzle[2] = number,
        GL_TEXTURE_SWIZZLE_A => texture.swizzle[3] = number,
        _ => {}
    }
}

fn is_desktop<S: Scope>(thread: &Thread<S>) -> bool {
    thread.context.as_deref().is_some_and(|context| context.api != ContextApi::Es)
}

/// Sets an integer parameter of the texture that is bound to a target.
pub fn set_texture_parameter<M: Memory + ?Sized>(
    thread: &mut Thread<Whole>,
    memory: &M,
    texture: Ref<Texture>,
    pname: u32,
    value: i32,
) {
    let (is_desktop, value) = (is_desktop(thread), f64::from(value));
    change_texture(thread, memory, texture, |texture| {
        set_texture(texture, is_desktop, pname, value);
    });
}

/// Sets a floating-point parameter of the texture that is bound to a target.
pub fn set_texture_parameter_float<M: Memory + ?Sized>(
    thread: &mut Thread<Whole>,
    memory: &M,
    texture: Ref<Texture>,
    pname: u32,
    value: f32,
) {
    let (is_desktop, value) = (is_desktop(thread), f64::from(value));
    change_texture(thread, memory, texture, |texture| {
        set_texture(texture, is_desktop, pname, value);
    });
}

/// Sets an integer parameter of a sampler.
pub fn set_sampler_parameter<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    sampler: Ref<Sampler>,
    pname: u32,
    value: i32,
) {
    set_sampler(thread, memory, sampler, pname, f64::from(value));
}

/// Sets a floating-point parameter of a sampler.
pub fn set_sampler_parameter_float<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    sampler: Ref<Sampler>,
    pname: u32,
    value: f32,
) {
    set_sampler(thread, memory, sampler, pname, f64::from(value));
}

fn set_sampler<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    sampler: Ref<Sampler>,
    pname: u32,
    value: f64,
) {
    let Some(context) = thread.context.as_deref() else { return };
    if let Some(sampler) = context.group.lock().samplers.get_mut(sampler) {
        set_sampling(&mut sampler.sampling, context.api != ContextApi::Es, pname, value);
    }
}

/// Deletes a texture, and removes it from the context's units, images and framebuffers.
pub fn delete_texture<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    name: u32,
) {
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
    detach(context, |attached| attached.texture == gone);
}

/// Deletes a sampler, and removes it from the context's units.
pub fn delete_sampler<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    name: u32,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    let gone = found(context, name, |group, name| group.samplers.find(name));
    if gone.is_some() {
        for unit in context.texture_units.iter_mut().filter(|unit| unit.sampler == gone) {
            unit.sampler = Ref::NONE;
        }
    }
}

fn found<S: Scope, T>(
    context: &Context<S>,
    name: u32,
    find: impl FnOnce(&GroupState<S>, u64) -> Ref<T>,
) -> Ref<T> {
    find(&context.group.lock(), u64::from(name))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{context, thread};
    use super::*;
    use crate::{At, Nothing};

    /// Returns a thread with texture 5, of this target.
    fn with_texture(target: u32) -> (Thread<Whole>, Ref<Texture>) {
        let mut thread = thread((3, 2));
        let mut group = context(&mut thread).group.lock();
        let texture = group.textures.create(5);
        group.textures.get_mut(texture).unwrap().target = target;
        drop(group);
        (thread, texture)
    }

    #[test]
    fn parameters_are_kept_by_name() {
        let (mut thread, texture) = with_texture(GL_TEXTURE_2D);
        let set = |thread: &mut Thread<Whole>, pname, value| {
            set_texture_parameter(thread, &Nothing, texture, pname, value);
        };
        set(&mut thread, GL_TEXTURE_WRAP_S, GL_MIRRORED_REPEAT as i32);
        set(&mut thread, GL_TEXTURE_SWIZZLE_B, 3);
        set(&mut thread, GL_TEXTURE_MAX_LEVEL, 7);
        set(&mut thread, GL_RGBA8, 7);
        set_texture_parameter_float(&mut thread, &Nothing, texture, GL_TEXTURE_MAX_LOD, 2.5);
        let group = context(&mut thread).group.lock();
        let texture = group.textures.get(texture).unwrap();
        assert_eq!(texture.sampling.wrap_s, GL_MIRRORED_REPEAT);
        assert_eq!(texture.swizzle, [GL_RED, GL_GREEN, 3, GL_ALPHA]);
        assert_eq!(texture.max_level, 7);
        assert_eq!(texture.sampling.max_lod, 2.5);
    }

    #[test]
    fn values_that_the_driver_refuses_are_not_kept() {
        let mut sampling = SamplerState::default();
        for pname in [
            GL_TEXTURE_MIN_FILTER,
            GL_TEXTURE_MAG_FILTER,
            GL_TEXTURE_WRAP_S,
            GL_TEXTURE_WRAP_T,
            GL_TEXTURE_WRAP_R,
            GL_TEXTURE_COMPARE_MODE,
            GL_TEXTURE_COMPARE_FUNC,
            GL_TEXTURE_SRGB_DECODE_EXT,
        ] {
            assert!(set_sampling(&mut sampling, false, pname, f64::from(GL_RGBA8)));
        }
        assert!(set_sampling(&mut sampling, false, GL_TEXTURE_MAX_ANISOTROPY_EXT, 0.5));
        assert_eq!(sampling, SamplerState::default());
        set_sampling(&mut sampling, false, GL_TEXTURE_COMPARE_FUNC, f64::from(GL_ALWAYS));
        assert_eq!(sampling.compare_func, GL_ALWAYS);
    }

    #[test]
    fn deleted_texture_is_removed_from_units_and_the_bound_framebuffer() {
        use super::super::framebuffers::attach_texture_to;
        let (mut thread, texture) = with_texture(GL_TEXTURE_2D);
        let unit = context(&mut thread);
        unit.texture_units.push(crate::TextureUnit::default());
        *unit.texture_units[0].bindings.at_mut(GL_TEXTURE_2D).unwrap() = texture;
        let framebuffer = unit.framebuffers.create(1);
        unit.draw_framebuffer = framebuffer;
        let (target, point) = (GL_TEXTURE_2D, GL_DEPTH_STENCIL_ATTACHMENT);
        attach_texture_to(
            &mut thread,
            &Nothing,
            framebuffer,
            point,
            target,
            texture,
            0,
            0,
            false,
            0,
        );
        let attached = |thread: &mut Thread<Whole>| {
            context(thread).framebuffers.get(framebuffer).unwrap().attachments.len()
        };
        assert_eq!(attached(&mut thread), 2);
        delete_texture(&mut thread, &Nothing, 5);
        assert_eq!(attached(&mut thread), 0);
        assert!(context(&mut thread).texture_units[0].bindings.is_empty());
    }
}

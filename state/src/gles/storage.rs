//! Immutable texture storage, texture targets, and generated levels.

use gapii_commands::constants::*;

use crate::{Context, Memory, Ref, Scope, Texture, TextureImage, Thread};

/// Defines the images of all levels at once; their sizes never change again.
pub fn define_storage<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
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
                    pixel_type: 0,
                    samples,
                    compressed_bytes: 0,
                    is_defined: false,
                };
                texture.images.entry(face).or_default().insert(level, image);
            }
        }
    });
}

/// Notes the target to which a texture is first bound.
#[inline]
pub fn note_target<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    texture: Ref<Texture>,
    target: u32,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    let place = texture.name() as usize % context.targeted_textures.len();
    if context.targeted_textures.get(place) != Some(&texture) {
        set_target(context, texture, target);
    }
}

/// Notes the target of a texture. Cold path, kept out of line: most bindings find a target that is noted already.
#[cold]
#[inline(never)]
fn set_target<S: Scope>(context: &mut Context<S>, texture: Ref<Texture>, target: u32) {
    let place = texture.name() as usize % context.targeted_textures.len();
    if let Some(noted) = context.targeted_textures.get_mut(place) {
        *noted = texture;
    }
    let mut group = context.group.lock();
    if let Some(texture) = group.textures.get_mut(texture).filter(|it| it.target == 0) {
        texture.target = target;
    }
}

/// glGenerateMipmap: defines the levels above the base level.
pub fn generate_levels<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    texture: Ref<Texture>,
) {
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

/// Returns the targets of a texture's images.
fn faces(target: u32) -> std::ops::RangeInclusive<u32> {
    match target {
        GL_TEXTURE_CUBE_MAP => GL_TEXTURE_CUBE_MAP_POSITIVE_X..=GL_TEXTURE_CUBE_MAP_NEGATIVE_Z,
        _ => target..=target,
    }
}

pub(super) fn change_texture<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    texture: Ref<Texture>,
    change: impl FnOnce(&mut Texture<S>),
) {
    let Some(context) = thread.context.as_deref() else { return };
    if let Some(texture) = context.group.lock().textures.get_mut(texture) {
        change(texture);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{context, thread};
    use super::*;
    use crate::Nothing;
    use crate::Whole;

    /// Returns a thread with texture 5, of this target.
    fn with_texture(target: u32) -> (Thread<Whole>, Ref<Texture>) {
        let mut thread = thread((3, 2));
        let mut group = context(&mut thread).group.lock();
        let texture = group.textures.create(5);
        group.textures.get_mut(texture).unwrap().target = target;
        drop(group);
        (thread, texture)
    }

    /// Returns width, height and depth of the levels of an image.
    fn sizes(
        thread: &mut Thread<Whole>,
        texture: Ref<Texture>,
        image: u32,
    ) -> Vec<(i32, [i32; 3])> {
        let group = context(thread).group.lock();
        let images = &group.textures.get(texture).unwrap().images;
        let levels = images.get(&image).into_iter().flatten();
        levels.map(|(level, it)| (*level, [it.width, it.height, it.depth])).collect()
    }

    #[test]
    fn storage_halves_the_size_at_each_level_of_each_image() {
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
}

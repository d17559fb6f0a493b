//! Immutable texture storage (at most 32 levels), views, texture targets, and generated levels. A view of a view is one
//! of the original.

use gapii_commands::constants::*;

use crate::generated::functions::{is_unsized_format, takes_image_format};
use crate::{Context, Memory, Ref, Scope, Texture, TextureImage, TextureView, Thread};

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
    // The driver refuses empty images, formats without sizes, too many levels, faces that are not square, and a texture that
    // has such storage already (OpenGL ES 3.2, 8.18).
    let is_empty = [levels, width, height, depth].into_iter().any(|size| size < 1);
    let is_taken =
        thread.context.as_deref().is_some_and(|context| takes_image_format(context, format));
    if is_empty || !is_taken || is_unsized_format(format) {
        return;
    }
    change_texture(thread, memory, texture, |texture| {
        let is_cube = [GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP_ARRAY].contains(&texture.target);
        let deepest = if texture.target == GL_TEXTURE_3D { depth } else { 1 };
        let is_row = target_is_row(texture.target);
        let tallest = if is_row { 1 } else { height };
        let levels_max = width.max(tallest).max(deepest).ilog2().cast_signed() + 1;
        let is_refused = levels > levels_max || is_cube && width != height;
        if texture.immutable_levels > 0 || is_refused {
            return;
        }
        texture.immutable_levels = levels;
        texture.image = Ref::NONE;
        texture.is_bound = false;
        texture.surface = Ref::NONE;
        texture.view = TextureView::default();
        // Images that were defined one by one before are gone.
        texture.images.clear();
        let target = texture.target;
        let is_volume = target == GL_TEXTURE_3D;
        for face in faces(target) {
            for level in 0..levels.clamp(0, 32) {
                let half = |size: i32| (size >> level).max(1);
                let image = TextureImage {
                    width: half(width),
                    height: if is_row { height } else { half(height) },
                    depth: if is_volume { half(depth) } else { depth },
                    format,
                    samples,
                    ..TextureImage::default()
                };
                texture.images.entry(face).or_default().insert(level, image);
            }
        }
    });
}

/// glTextureView: gives a texture of no target yet some levels and layers of another one's storage.
///
/// The original is the texture that was given the storage, also for a view of a view.
pub fn define_view<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    texture: Ref<Texture>,
    target: u32,
    viewed: Ref<Texture>,
    format: u32,
    level: u32,
    levels: u32,
    layer: u32,
    layers: u32,
) {
    let Some(context) = thread.context.as_deref() else { return };
    let mut group = context.group.lock();
    let Some(from) = group.textures.get(viewed) else { return };
    let int = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    let (level, layer) = (int(level), int(layer));
    let levels = int(levels).min(from.immutable_levels.saturating_sub(level));
    let layers = int(layers).min(layers_of(from).saturating_sub(layer));
    if levels <= 0 || layers <= 0 {
        return;
    }
    let view = match from.view.original.is_some() {
        false => TextureView { original: viewed, level, layer, levels, layers },
        true => TextureView {
            original: from.view.original,
            level: from.view.level.saturating_add(level),
            layer: from.view.layer.saturating_add(layer),
            levels,
            layers,
        },
    };
    let height = |image: &TextureImage| match target {
        GL_TEXTURE_1D_ARRAY => layers,
        GL_TEXTURE_1D => 1,
        _ => image.height,
    };
    let depth = |image: &TextureImage| match target {
        GL_TEXTURE_3D => image.depth,
        GL_TEXTURE_2D_ARRAY | GL_TEXTURE_CUBE_MAP_ARRAY | GL_TEXTURE_2D_MULTISAMPLE_ARRAY => layers,
        _ => 1,
    };
    let images: Vec<TextureImage> = from
        .images
        .values()
        .next()
        .into_iter()
        .flat_map(|of_levels| of_levels.range(level..level.saturating_add(levels)))
        .map(|(_, image)| {
            let (height, depth) = (height(image), depth(image));
            TextureImage { height, depth, format, shared: 0, ..*image }
        })
        .collect();
    let Some(texture) = group.textures.get_mut(texture).filter(|it| it.target == 0) else { return };
    texture.target = target;
    texture.immutable_levels = levels;
    texture.view = view;
    for face in faces(target) {
        texture.images.insert(face, (0..).zip(images.iter().copied()).collect());
    }
}

/// Returns the number of layers of an immutable texture that views can have; a face of a cube map is a layer.
fn layers_of<S: Scope>(texture: &Texture<S>) -> i32 {
    if texture.view.original.is_some() {
        return texture.view.layers;
    }
    match texture.target {
        GL_TEXTURE_CUBE_MAP => 6,
        GL_TEXTURE_1D_ARRAY => {
            let first = texture.images.values().find_map(|levels| levels.get(&0));
            first.map_or(1, |it| it.height)
        }
        GL_TEXTURE_2D_ARRAY | GL_TEXTURE_CUBE_MAP_ARRAY | GL_TEXTURE_2D_MULTISAMPLE_ARRAY => {
            texture
                .images
                .values()
                .flat_map(|levels| levels.get(&0))
                .map(|it| it.depth)
                .max()
                .unwrap_or(1)
        }
        _ => 1,
    }
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
    // No two textures of a group have the same serial number until 2^32 were made.
    let place = texture.serial() as usize % context.targeted_textures.len();
    if context.targeted_textures.get(place) != Some(&texture.serial()) {
        set_target(context, texture, target);
    }
}

/// Notes the target of a texture. Cold path, kept out of line: most bindings find a target that is noted already.
#[cold]
#[inline(never)]
fn set_target<S: Scope>(context: &mut Context<S>, texture: Ref<Texture>, target: u32) {
    let place = texture.serial() as usize % context.targeted_textures.len();
    if let Some(noted) = context.targeted_textures.get_mut(place) {
        *noted = texture.serial();
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
        let (is_volume, is_row) = (texture.target == GL_TEXTURE_3D, target_is_row(texture.target));
        // Immutable storage has no other levels than its own (OpenGL ES 3.2, 8.14.4 and 8.18).
        let (base, last) = match texture.immutable_levels {
            0 => (texture.base_level, texture.max_level),
            levels => {
                let top = levels - 1;
                (texture.base_level.clamp(0, top), texture.max_level.min(top))
            }
        };
        for images in texture.images.values_mut() {
            let Some(first) = images.get(&base).copied() else { continue };
            let tallest = if is_row { 1 } else { first.height };
            let largest = first.width.max(tallest).max(if is_volume { first.depth } else { 1 });
            let below = 31 - largest.max(1).leading_zeros().cast_signed();
            for level in 1..=below {
                let half = |size: i32| (size >> level).max(1);
                let image = TextureImage {
                    width: half(first.width),
                    height: if is_row { first.height } else { half(first.height) },
                    depth: if is_volume { half(first.depth) } else { first.depth },
                    is_defined: true,
                    shared: 0,
                    ..first
                };
                let level = base.saturating_add(level);
                if level > last {
                    break;
                }
                // A level that has this size and format keeps its storage.
                let is_kept = |old: &&TextureImage| {
                    (old.width, old.height, old.depth, old.format)
                        == (image.width, image.height, image.depth, image.format)
                };
                let shared = images.get(&level).filter(is_kept).map_or(0, |old| old.shared);
                images.insert(level, TextureImage { shared, ..image });
            }
        }
    });
}

/// Whether the height of a level is its number of layers.
fn target_is_row(target: u32) -> bool {
    target == GL_TEXTURE_1D_ARRAY
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
        let square = [(0, [8, 8, 1]), (1, [4, 4, 1]), (2, [2, 2, 1])];
        check(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP_NEGATIVE_Z, [8, 8, 1], &square);
        check(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP, [8, 8, 1], &[]);
        check(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP_NEGATIVE_Z, [8, 2, 1], &[]);
        check(GL_TEXTURE_2D, GL_TEXTURE_2D, [3, 3, 1], &[]);
        let layers = [(0, [4, 4, 6]), (1, [2, 2, 6]), (2, [1, 1, 6])];
        check(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_2D_ARRAY, [4, 4, 6], &layers);
        let volume = [(0, [4, 4, 6]), (1, [2, 2, 3]), (2, [1, 1, 1])];
        check(GL_TEXTURE_3D, GL_TEXTURE_3D, [4, 4, 6], &volume);
    }

    #[test]
    fn mipmaps_end_with_the_storage_and_with_the_greatest_level() {
        let check = |levels, max_level, expected: &[i32]| {
            let (mut thread, texture) = with_texture(GL_TEXTURE_2D);
            if levels > 0 {
                define_storage(&mut thread, &Nothing, texture, levels, GL_RGBA8, 8, 8, 1, 0);
            } else {
                let image = TextureImage { width: 8, height: 8, depth: 1, ..Default::default() };
                change_texture(&mut thread, &Nothing, texture, |texture| {
                    texture.images.entry(GL_TEXTURE_2D).or_default().insert(0, image);
                });
            }
            change_texture(&mut thread, &Nothing, texture, |it| it.max_level = max_level);
            generate_levels(&mut thread, &Nothing, texture);
            let found: Vec<i32> = sizes(&mut thread, texture, GL_TEXTURE_2D)
                .iter()
                .map(|(level, _)| *level)
                .collect();
            assert_eq!(found, expected, "{levels} levels, up to {max_level}");
        };
        check(0, 1000, &[0, 1, 2, 3]);
        check(0, 1, &[0, 1]);
        check(2, 1000, &[0, 1]);
        check(4, 1, &[0, 1, 2, 3]);
    }

    #[test]
    fn storage_replaces_images_of_other_levels() {
        let (mut thread, texture) = with_texture(GL_TEXTURE_2D);
        change_texture(&mut thread, &Nothing, texture, |texture| {
            let levels = (0..4).map(|level| (level, TextureImage::default())).collect();
            texture.images.insert(GL_TEXTURE_2D, levels);
        });
        define_storage(&mut thread, &Nothing, texture, 1, GL_RGBA8, 2, 2, 1, 0);
        assert_eq!(sizes(&mut thread, texture, GL_TEXTURE_2D), [(0, [2, 2, 1])]);
    }

    #[test]
    fn immutable_storage_is_not_replaced() {
        let (mut thread, texture) = with_texture(GL_TEXTURE_2D);
        define_storage(&mut thread, &Nothing, texture, 0, GL_RGBA8, 8, 8, 1, 0);
        assert_eq!(sizes(&mut thread, texture, GL_TEXTURE_2D), []);
        define_storage(&mut thread, &Nothing, texture, 1, GL_RGBA8, 8, 8, 1, 0);
        define_storage(&mut thread, &Nothing, texture, 1, GL_RGBA8, 2, 2, 1, 0);
        assert_eq!(sizes(&mut thread, texture, GL_TEXTURE_2D), [(0, [8, 8, 1])]);
    }

    #[test]
    fn view_of_a_view_is_a_part_of_the_original() {
        let (mut thread, original) = with_texture(GL_TEXTURE_2D_ARRAY);
        define_storage(&mut thread, &Nothing, original, 4, GL_RGBA8, 16, 8, 6, 0);
        let mut view = |name, target, viewed, format, level, levels, layer, layers| {
            let made = context(&mut thread).group.lock().textures.create(name);
            define_view(
                &mut thread,
                &Nothing,
                made,
                target,
                viewed,
                format,
                level,
                levels,
                layer,
                layers,
            );
            let view = context(&mut thread).group.lock().textures.get(made).unwrap().view;
            (made, view, sizes(&mut thread, made, target))
        };
        let (array, first, levels) =
            view(6, GL_TEXTURE_2D_ARRAY, original, GL_RGBA8UI, 1, 99, 2, 99);
        assert_eq!((first.level, first.layer, first.levels, first.layers), (1, 2, 3, 4));
        assert_eq!(levels, [(0, [8, 4, 4]), (1, [4, 2, 4]), (2, [2, 1, 4])]);
        let (_, second, levels) = view(7, GL_TEXTURE_2D, array, GL_RGBA8, 1, 1, 3, 1);
        assert_eq!((second.original, second.level, second.layer), (original, 2, 5));
        assert_eq!(levels, [(0, [4, 2, 1])]);
        let (_, third, _) = view(8, GL_TEXTURE_2D, original, GL_RGBA8, 4, 1, 0, 1);
        assert_eq!(third, TextureView::default());
    }

    #[test]
    fn generated_levels_reach_down_to_one_pixel() {
        let (mut thread, texture) = with_texture(GL_TEXTURE_2D);
        define_storage(&mut thread, &Nothing, texture, 1, GL_RGBA8, 5, 2, 1, 0);
        // The image is one of glTexImage2D: immutable storage gets no further levels.
        change_texture(&mut thread, &Nothing, texture, |it| it.immutable_levels = 0);
        generate_levels(&mut thread, &Nothing, texture);
        let expected = [(0, [5, 2, 1]), (1, [2, 1, 1]), (2, [1, 1, 1])];
        assert_eq!(sizes(&mut thread, texture, GL_TEXTURE_2D), expected);
    }
}

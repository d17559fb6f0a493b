//! Whether a shader of the shim may sample a texture of the program, judged by sizes and formats of the texture's levels.
//!
//! The levels of a texture that was given no storage at once can have any sizes and formats. Mesa 22.3 gives the texture
//! one piece of memory for all levels, and keeps a level elsewhere that does not fit. What has the memory decides what an
//! EGL image of the texture shows, whether a framebuffer can have a level, and what glGenerateMipmap begins with. When a
//! texture is sampled, Mesa moves levels into the memory, and takes other memory if the first level is not in it. So the
//! shim samples no texture of the program of which something could be moved.

use std::collections::BTreeMap;

use gapii_commands::constants::{
    GL_MAX_3D_TEXTURE_SIZE, GL_MAX_CUBE_MAP_TEXTURE_SIZE, GL_MAX_TEXTURE_SIZE, GL_TEXTURE_3D,
    GL_TEXTURE_BASE_LEVEL, GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP_ARRAY,
    GL_TEXTURE_CUBE_MAP_NEGATIVE_Z, GL_TEXTURE_CUBE_MAP_POSITIVE_X, GL_TEXTURE_DEPTH,
    GL_TEXTURE_DEPTH_SIZE, GL_TEXTURE_HEIGHT, GL_TEXTURE_IMMUTABLE_LEVELS,
    GL_TEXTURE_INTERNAL_FORMAT, GL_TEXTURE_RECTANGLE, GL_TEXTURE_STENCIL_SIZE, GL_TEXTURE_WIDTH,
};
use gapii_state::read_back::Driver as _;
use gapii_state::{Texture, TextureImage};

use super::gl;
use super::image_layer::{Image, Of};
use crate::driver_calls::Gl;

/// The levels of a texture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Levels {
    /// There is level 0 alone, or the storage is immutable: sampling the texture moves nothing.
    First,
    /// They can be mipmaps of one image. A copy reads each of them. Also what a driver without OpenGL ES 3.1 has, which
    /// tells nothing about levels.
    Chain,
    /// Some have other sizes or formats than mipmaps of the first one. Mesa copies the right level only of level 0.
    Apart,
}

/// Size and format of a level: `[width, height, depth, internal format]`.
type Level = [i32; 4];
/// The levels of a texture, or of a face of a cube map, that there are, with their numbers, in order.
type Face = Vec<(i32, Level)>;

impl Levels {
    /// The levels of the texture that an image is of. In a context of the shim's own.
    pub fn of(image: Image) -> Self {
        let Some((texture, target, _)) = place_of(image) else { return Self::First };
        gl::bind_texture(target, texture);
        let levels = Self::of_bound(target);
        gl::bind_texture(target, 0);
        levels
    }

    /// The levels of the texture that is bound to `target`. Causes no error.
    pub fn of_bound(target: u32) -> Self {
        if texture_integer(target, GL_TEXTURE_IMMUTABLE_LEVELS) > 0 {
            return Self::First;
        }
        if is_before_31() {
            return Self::Chain;
        }
        let faces = match target {
            GL_TEXTURE_CUBE_MAP => GL_TEXTURE_CUBE_MAP_POSITIVE_X..=GL_TEXTURE_CUBE_MAP_NEGATIVE_Z,
            _ => target..=target,
        };
        let last = last_level(target);
        let of_face = |face| (0..=last).filter_map(|at| Some((at, asked(face, at)?))).collect();
        let faces: Vec<Face> = faces.map(of_face).collect();
        judge(target, &faces)
    }
}

/// Whether the state has levels of a texture that are [`Levels::Apart`].
pub fn are_apart(texture: &Texture) -> bool {
    let of_face = |levels: &BTreeMap<i32, TextureImage>| {
        // The driver may have refused the command of an image without a format.
        let there = levels.iter().filter(|(_, it)| it.width > 0 && it.format != 0);
        let level = |it: &TextureImage| [it.width, it.height, it.depth, it.format as i32];
        there.map(|(at, image)| (*at, level(image))).collect()
    };
    let faces: Vec<Face> = texture.images.values().map(of_face).collect();
    texture.immutable_levels == 0 && judge(texture.target, &faces) == Levels::Apart
}

/// Whether a level of the texture that is bound to `target` may be made the base level for a read.
///
/// Mesa 22.3 samples a depth image of a sized format as red, until the texture's base level is set, even to the value that
/// it has again afterwards: then it samples the image on the base level as luminance. So another base level is set only
/// if no image with depth or stencil is on the level that is the base level otherwise, whatever the read is of.
pub fn can_be_base(target: u32, level: i32) -> bool {
    let base = base_level(target);
    base == level || is_before_31() || base > last_level(target) || !has_depth(target, base)
}

/// The base level of the texture that is bound to `target`.
pub fn base_level(target: u32) -> i32 {
    texture_integer(target, GL_TEXTURE_BASE_LEVEL)
}

/// Whether the first face of the bound texture has an image with depth or stencil on this level.
fn has_depth(target: u32, level: i32) -> bool {
    let face = if target == GL_TEXTURE_CUBE_MAP { GL_TEXTURE_CUBE_MAP_POSITIVE_X } else { target };
    let sizes = [GL_TEXTURE_DEPTH_SIZE, GL_TEXTURE_STENCIL_SIZE];
    sizes.into_iter().any(|name| level_integer(face, level, name) > 0)
}

/// The texture's target, or the face of a cube map, that commands about an image's level name.
pub fn face_of(image: Image) -> Option<u32> {
    match image.of {
        Of::Flat { face, .. } => Some(face),
        Of::Layer { target, .. } => Some(target),
        _ => None,
    }
}

/// Name, target and level of a texture's image. `None` for images of objects that have no levels.
pub fn place_of(image: Image) -> Option<(u32, u32, i32)> {
    match image.of {
        Of::Flat { texture, target, level, .. } | Of::Layer { texture, target, level, .. } => {
            Some((texture, target, level))
        }
        _ => None,
    }
}

/// Judges the levels of each face.
fn judge(target: u32, faces: &[Face]) -> Levels {
    let first = faces.first().and_then(|face| face.first()).copied();
    if faces.iter().any(|face| face.first().copied() != first) {
        return Levels::Apart;
    }
    let Some((first, image)) = first else { return Levels::First };
    let mut later = faces.iter().flat_map(|face| face.iter().skip(1)).peekable();
    if first == 0 && later.peek().is_none() {
        return Levels::First;
    }
    match later.all(|(at, level)| *level == mipmap(target, image, at - first)) {
        true => Levels::Chain,
        false => Levels::Apart,
    }
}

/// Size and format of the mipmap of an image, so many levels on.
fn mipmap(target: u32, [width, height, depth, format]: Level, levels: i32) -> Level {
    let half = |side: i32| side.checked_shr(levels.cast_unsigned()).unwrap_or(0).max(1);
    let depth = if target == GL_TEXTURE_3D { half(depth) } else { depth };
    [half(width), half(height), depth, format]
}

/// `None`: the driver does not have the level.
fn asked(face: u32, level: i32) -> Option<Level> {
    let ask = |name| level_integer(face, level, name);
    let width = ask(GL_TEXTURE_WIDTH);
    (width > 0).then(|| {
        let [height, depth, format] =
            [GL_TEXTURE_HEIGHT, GL_TEXTURE_DEPTH, GL_TEXTURE_INTERNAL_FORMAT].map(ask);
        [width, height, depth, format]
    })
}

/// The last level that a texture of this target can have. The driver refuses to tell about others.
fn last_level(target: u32) -> i32 {
    let longest = match target {
        GL_TEXTURE_RECTANGLE => return 0,
        GL_TEXTURE_3D => GL_MAX_3D_TEXTURE_SIZE,
        GL_TEXTURE_CUBE_MAP | GL_TEXTURE_CUBE_MAP_ARRAY => GL_MAX_CUBE_MAP_TEXTURE_SIZE,
        _ => GL_MAX_TEXTURE_SIZE,
    };
    gl::integer(longest).max(1).ilog2() as i32
}

/// Whether the current context cannot be asked about levels.
fn is_before_31() -> bool {
    Gl::of_thread().is_none_or(|driver| !driver.is_at_least((3, 1), (1, 0)))
}

/// A number of a level of the bound texture.
pub fn level_integer(face: u32, level: i32, name: u32) -> i32 {
    let mut value = 0;
    // SAFETY: the parameter has one number.
    unsafe { gl::get_texture_level(face, level, name, &raw mut value) };
    value
}

/// A number of the bound texture.
fn texture_integer(target: u32, name: u32) -> i32 {
    let mut value = 0;
    // SAFETY: the name has one number.
    unsafe { gl::get_texture_integers(target, name, &raw mut value) };
    value
}

#[cfg(test)]
mod tests {
    use gapii_commands::constants::{GL_TEXTURE_2D, GL_TEXTURE_2D_ARRAY};

    use super::*;

    #[test]
    fn levels_are_a_chain_if_they_can_be_mipmaps() {
        let check = |target, sizes: &[(i32, [i32; 3])], expected| {
            let level = |(at, [w, h, d]): &(i32, [i32; 3])| (*at, [*w, *h, *d, 1]);
            let face: Face = sizes.iter().map(level).collect();
            assert_eq!(judge(target, &[face]), expected, "{sizes:?}");
        };
        let (flat, array, solid) = (GL_TEXTURE_2D, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_3D);
        check(flat, &[(0, [16, 8, 1])], Levels::First);
        check(flat, &[], Levels::First);
        check(flat, &[(0, [16, 8, 1]), (1, [8, 4, 1]), (2, [4, 2, 1])], Levels::Chain);
        check(flat, &[(0, [5, 1, 1]), (1, [2, 1, 1]), (3, [1, 1, 1])], Levels::Chain);
        check(flat, &[(1, [8, 4, 1])], Levels::Chain);
        check(flat, &[(0, [32, 8, 1]), (1, [8, 4, 1])], Levels::Apart);
        check(flat, &[(0, [1, 1, 1]), (i32::MAX, [1, 1, 1])], Levels::Chain);
        check(array, &[(0, [4, 4, 3]), (1, [2, 2, 3])], Levels::Chain);
        check(array, &[(0, [4, 4, 3]), (1, [2, 2, 1])], Levels::Apart);
        check(solid, &[(0, [4, 4, 4]), (1, [2, 2, 2])], Levels::Chain);
        check(solid, &[(0, [4, 4, 4]), (1, [2, 2, 4])], Levels::Apart);
    }

    #[test]
    fn levels_of_two_formats_are_apart() {
        let levels = vec![(0, [4, 4, 1, 1]), (1, [2, 2, 1, 2])];
        assert_eq!(judge(GL_TEXTURE_2D, &[levels]), Levels::Apart);
    }

    #[test]
    fn faces_of_two_sizes_are_apart() {
        let (four, two) = (vec![(0, [4, 4, 1, 1])], vec![(0, [2, 2, 1, 1])]);
        let check = |faces: &[Face], expected| {
            assert_eq!(judge(GL_TEXTURE_CUBE_MAP, faces), expected);
        };
        check(&[four.clone(), four.clone()], Levels::First);
        check(&[four.clone(), two], Levels::Apart);
        check(&[four, Vec::new()], Levels::Apart);
    }
}

//! Images of the textures with the name 0 in a context of OpenGL, which returns them by glGetTexImage. Those that are compressed,
//! multisampled, of a buffer, or have borders or a format that `formats.rs` does not have are listed as missing.

use gapii_commands::constants::{
    GL_DEPTH_COMPONENT, GL_DEPTH_STENCIL, GL_FLOAT, GL_MAX_3D_TEXTURE_SIZE,
    GL_MAX_CUBE_MAP_TEXTURE_SIZE, GL_MAX_TEXTURE_SIZE, GL_PIXEL_UNPACK_BUFFER, GL_TEXTURE_1D,
    GL_TEXTURE_1D_ARRAY, GL_TEXTURE_2D, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_2D_MULTISAMPLE,
    GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_3D, GL_TEXTURE_ALPHA_SIZE, GL_TEXTURE_BLUE_SIZE,
    GL_TEXTURE_BORDER, GL_TEXTURE_BUFFER, GL_TEXTURE_BUFFER_DATA_STORE_BINDING,
    GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_CUBE_MAP_POSITIVE_X,
    GL_TEXTURE_DEPTH, GL_TEXTURE_DEPTH_SIZE, GL_TEXTURE_DEPTH_TYPE, GL_TEXTURE_GREEN_SIZE,
    GL_TEXTURE_HEIGHT, GL_TEXTURE_INTENSITY_SIZE, GL_TEXTURE_INTERNAL_FORMAT,
    GL_TEXTURE_LUMINANCE_SIZE, GL_TEXTURE_RECTANGLE, GL_TEXTURE_RED_SIZE, GL_TEXTURE_WIDTH,
    GL_UNPACK_ALIGNMENT, GL_UNSIGNED_BYTE, GL_UNSIGNED_INT, GL_UNSIGNED_INT_2_10_10_10_REV,
    GL_UNSIGNED_INT_24_8, GL_UNSIGNED_SHORT, GL_UNSIGNED_SHORT_4_4_4_4, GL_UNSIGNED_SHORT_5_5_5_1,
    GL_UNSIGNED_SHORT_5_6_5,
};
use gapii_state::read_back::{Driver as _, NEVER};
use gapii_state::{Context, ContextApi, TextureImage};

use super::emit::Emitter;
use super::formats::Layout;
use super::gl;
use super::image_layer::resize;
use super::levels::level_integer;
use super::plain_pixels::Plain;
use super::textures::{DEFAULT_IMAGES, Sides, rebindable};
use crate::driver_calls::Gl;
use crate::generated::ids::*;
use crate::lists::{INITIAL, UNPACK};

/// A target of textures.
struct Target {
    target: u32,
    /// The target of its first image, and the number of those targets.
    faces: (u32, u32),
    /// The query for the longest side that an image with several levels can have.
    longest: Option<u32>,
    /// The version of OpenGL that adds it.
    since: (u8, u8),
}

const fn flat(target: u32, longest: Option<u32>, since: (u8, u8)) -> Target {
    Target { target, faces: (target, 1), longest, since }
}

const TARGETS: [Target; 8] = [
    flat(GL_TEXTURE_1D, Some(GL_MAX_TEXTURE_SIZE), (1, 0)),
    flat(GL_TEXTURE_2D, Some(GL_MAX_TEXTURE_SIZE), (1, 0)),
    flat(GL_TEXTURE_3D, Some(GL_MAX_3D_TEXTURE_SIZE), (1, 2)),
    Target {
        target: GL_TEXTURE_CUBE_MAP,
        faces: (GL_TEXTURE_CUBE_MAP_POSITIVE_X, 6),
        longest: Some(GL_MAX_CUBE_MAP_TEXTURE_SIZE),
        since: (1, 3),
    },
    flat(GL_TEXTURE_1D_ARRAY, Some(GL_MAX_TEXTURE_SIZE), (3, 0)),
    flat(GL_TEXTURE_2D_ARRAY, Some(GL_MAX_TEXTURE_SIZE), (3, 0)),
    flat(GL_TEXTURE_RECTANGLE, None, (3, 1)),
    flat(GL_TEXTURE_CUBE_MAP_ARRAY, Some(GL_MAX_CUBE_MAP_TEXTURE_SIZE), (4, 0)),
];
/// Targets of textures that are not read, the value of a level that such a texture has, and the version of OpenGL.
const OTHERS: [(u32, u32, (u8, u8)); 3] = [
    (GL_TEXTURE_BUFFER, GL_TEXTURE_BUFFER_DATA_STORE_BINDING, (3, 1)),
    (GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_WIDTH, (3, 2)),
    (GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_WIDTH, (3, 2)),
];

/// Describes the images in a context of OpenGL, before anything is set that the replay's driver would use for the uploads.
pub fn describe(emitter: &mut Emitter, context: &Context) {
    let Some(driver) = Gl::current().filter(|driver| driver.api() != ContextApi::Es) else {
        return;
    };
    let has = |version| driver.is_at_least(NEVER, version);
    let is_compatible = context.api.has_fixed_function(context.version);
    let mut is_first = true;
    for it in TARGETS.iter().filter(|it| {
        has(it.since) || it.longest.is_none() && driver.has("GL_ARB_texture_rectangle")
    }) {
        let read = with_default(context, it.target, || it.read(is_compatible, &driver));
        let images = read.unwrap_or_else(|| vec![None]);
        if images.iter().any(Option::is_none) {
            emitter.leave_out(DEFAULT_IMAGES);
        }
        let mut images = images.into_iter().flatten().peekable();
        if images.peek().is_some() {
            if core::mem::take(&mut is_first) {
                settle_unpacking(emitter, &driver);
            }
            emitter.command(GL_BIND_TEXTURE).arg(it.target).arg(0_u32).done();
        }
        images.for_each(|mut image| image.describe(emitter, it.target));
    }
    for (target, what, _) in OTHERS.iter().filter(|(.., since)| has(*since)) {
        let asked = with_default(context, *target, || level_integer(*target, 0, *what));
        if asked != Some(0) {
            emitter.leave_out(DEFAULT_IMAGES);
        }
    }
}

/// Has pixels without gaps, and in memory, uploaded by the commands of a context of OpenGL.
pub fn settle_unpacking(emitter: &mut Emitter, driver: &Gl) {
    for (name, value) in UNPACK.into_iter().zip(INITIAL) {
        let value = if name == GL_UNPACK_ALIGNMENT { 1 } else { value };
        emitter.command(GL_PIXEL_STOREI).arg(name).arg(value).done();
    }
    if driver.is_at_least(NEVER, (2, 1)) {
        emitter.command(GL_BIND_BUFFER).arg(GL_PIXEL_UNPACK_BUFFER).arg(0_u32).done();
    }
}

/// Calls `ask` with the texture with the name 0 bound to a target. `None` if the texture that is bound could not be bound again.
fn with_default<T>(context: &Context, target: u32, ask: impl FnOnce() -> T) -> Option<T> {
    let bound = rebindable(context, target)?;
    gl::bind_texture(target, 0);
    let asked = ask();
    gl::bind_texture(target, bound);
    Some(asked)
}

/// An image, and its pixels.
struct Read {
    face: u32,
    level: i32,
    image: TextureImage,
    layout: Layout,
    pixels: Vec<u8>,
}

impl Target {
    /// Reads the images of the bound texture, the last level first; `None` for an image that is not read.
    fn read(&self, is_compatible: bool, driver: &Gl) -> Vec<Option<Read>> {
        let longest = self.longest.map_or(1, gl::integer).max(1);
        let levels = (0..=longest.ilog2() as i32).rev();
        let (first, count) = self.faces;
        let places =
            levels.flat_map(|level| (first..).take(count as usize).map(move |it| (it, level)));
        let places: Vec<_> = places
            .filter(|(face, level)| level_integer(*face, *level, GL_TEXTURE_WIDTH) > 0)
            .collect();
        if places.is_empty() {
            return Vec::new();
        }
        let Some(plain) = Plain::in_program(driver) else { return vec![None] };
        places.iter().map(|it| Read::of(*it, is_compatible, &plain)).collect()
    }
}

impl Read {
    /// Reads an image of the bound texture without gaps between its rows.
    fn of((face, level): (u32, i32), is_compatible: bool, plain: &Plain) -> Option<Self> {
        let ask = |name| level_integer(face, level, name);
        if is_compatible && ask(GL_TEXTURE_BORDER) != 0 {
            return None;
        }
        let [width, height, depth] =
            [GL_TEXTURE_WIDTH, GL_TEXTURE_HEIGHT, GL_TEXTURE_DEPTH].map(|name| ask(name).max(1));
        let format = ask(GL_TEXTURE_INTERNAL_FORMAT).cast_unsigned();
        let pixel_type = pixel_type(is_compatible, ask);
        let layout = Layout::of(format, pixel_type)?;
        let mut sides = [width, height, depth].into_iter();
        let bytes = sides.try_fold(layout.pixel_bytes(), |all, it| all.checked_mul(it as usize))?;
        let mut pixels = Vec::new();
        resize(&mut pixels, bytes)?;
        let at = pixels.as_mut_ptr();
        // SAFETY: the image has as many pixels, of as many bytes.
        unsafe { plain.texture_image((face, level), (layout.format, layout.kind), at) };
        let image = TextureImage { width, height, depth, format, pixel_type, ..<_>::default() };
        Some(Self { face, level, image, layout, pixels })
    }

    /// Defines the image in the texture that is bound to `target` in the replay.
    fn describe(&mut self, emitter: &mut Emitter, target: u32) {
        let Self { face, level, image, layout, pixels } = self;
        let sides = Sides::of(target);
        let id = sides.choose([GL_TEX_IMAGE1D, GL_TEX_IMAGE2D, GL_TEX_IMAGE3D]);
        let pixels = emitter.uploaded(pixels);
        let command = emitter.command(id).arg(*face).arg(*level).arg(image.format as i32);
        let command = sides.size(command, image).arg(0_i32).arg(layout.format).arg(layout.kind);
        let param = match sides {
            Sides::One => 7,
            Sides::Two => 8,
            Sides::Three => 9,
        };
        command.arg(pixels.address).uploaded(param, pixels).done();
    }
}

/// Returns a type with which a driver gives an image of an unsized format components of the sizes that they have; a type that no
/// such format has if none is known.
fn pixel_type(is_compatible: bool, ask: impl Fn(u32) -> i32) -> u32 {
    const UNKNOWN: u32 = 1;
    const OF_COLORS: [u32; 6] = [
        GL_TEXTURE_RED_SIZE,
        GL_TEXTURE_GREEN_SIZE,
        GL_TEXTURE_BLUE_SIZE,
        GL_TEXTURE_ALPHA_SIZE,
        GL_TEXTURE_LUMINANCE_SIZE,
        GL_TEXTURE_INTENSITY_SIZE,
    ];
    let count = if is_compatible { OF_COLORS.len() } else { 4 };
    let bits: Vec<i32> = OF_COLORS.iter().take(count).map(|name| ask(*name)).collect();
    match bits[..4] {
        [5, 6, 5, 0] => return GL_UNSIGNED_SHORT_5_6_5,
        [4, 4, 4, 4] => return GL_UNSIGNED_SHORT_4_4_4_4,
        [5, 5, 5, 1] => return GL_UNSIGNED_SHORT_5_5_5_1,
        [10, 10, 10, 2] => return GL_UNSIGNED_INT_2_10_10_10_REV,
        _ => {}
    }
    let is_float = || ask(GL_TEXTURE_DEPTH_TYPE).cast_unsigned() == GL_FLOAT;
    match (bits.iter().copied().max(), ask(GL_TEXTURE_DEPTH_SIZE)) {
        (Some(8), _) if bits.iter().all(|it| [0, 8].contains(it)) => GL_UNSIGNED_BYTE,
        (Some(0), 16) => GL_UNSIGNED_SHORT,
        (Some(0), 24 | 32) => match ask(GL_TEXTURE_INTERNAL_FORMAT).cast_unsigned() {
            GL_DEPTH_STENCIL => GL_UNSIGNED_INT_24_8,
            GL_DEPTH_COMPONENT if is_float() => GL_FLOAT,
            _ => GL_UNSIGNED_INT,
        },
        _ => UNKNOWN,
    }
}

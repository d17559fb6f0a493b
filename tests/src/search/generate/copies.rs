//! Copies between images, from the framebuffer or from a texture.

use crate::search::generate::framebuffers::settle_read_buffer;
use crate::search::generate::textures::{FORMATS, new_texture};
use crate::search::world::{Api, Texture, World};

/// Sides of the rectangles that are copied, which all images hold.
const SIDE: usize = 4;

/// A plain texture of the active unit, unless the framebuffer for reading has the same memory attached.
fn target(world: &mut World) -> Option<usize> {
    let unit = world.here().unit;
    let texture = *world.here().textures[unit].get("GL_TEXTURE_2D")?;
    let it = &world.textures[texture];
    let storage = it.storage;
    let is_plain = FORMATS.get(it.format).is_some_and(|format| format.is_filtered) && it.levels > 0;
    let is_source = world.here().framebuffer.is_some_and(|framebuffer| {
        let mut held = world.framebuffers[framebuffer].attachments.values();
        held.any(|held| world.storage(*held) == storage)
    });
    (is_plain && !is_source).then_some(texture)
}

/// Whether textures get all that is copied from the framebuffer. While glPixelTransfer changes pixels, Mesa 22.3 copies one row of a
/// surface and leaves the others undefined.
fn gets_all(world: &World) -> bool {
    let is_surface = world.here().framebuffer.is_none();
    !(is_surface && world.transfers_pixels && world.api() == Api::Compatibility)
}

/// Copies from the framebuffer to a texture.
pub fn from_framebuffer(world: &mut World) -> bool {
    if target(world).is_none() || world.draws_integers() || !gets_all(world) {
        return false;
    }
    settle_read_buffer(world);
    let (x, y) = (world.below(SIDE), world.below(SIDE));
    world.step(format!("glCopyTexSubImage2D GL_TEXTURE_2D 0 {x} {y} 0 0 {SIDE} {SIDE}"));
    let unit = world.here().unit;
    let array = world.here().textures[unit].get("GL_TEXTURE_2D_ARRAY").copied();
    if array.is_some_and(|array| world.textures[array].format == 0)
        && world.here().framebuffer.is_none()
    {
        world
            .step(format!("glCopyTexSubImage3D GL_TEXTURE_2D_ARRAY 0 {x} {y} 1 0 0 {SIDE} {SIDE}"));
    }
    world.step("? glGetError");
    true
}

/// Makes a texture's only level of what the surface shows.
pub fn define(world: &mut World) -> bool {
    let unit = world.here().unit;
    let texture = world.here().textures[unit].get("GL_TEXTURE_2D").copied();
    let Some(texture) = texture.filter(|_| world.here().framebuffer.is_none()) else {
        return false;
    };
    let former = world.textures[texture].clone();
    // Without a surface there is nothing to copy from, and Mesa 22.3 may crash.
    if world.here().has_no_surface || !gets_all(world) {
        return false;
    }
    // In Mesa 22.3 a texture that is defined again with the same size and format still shares storage with EGL images of it. One
    // whose image was a pbuffer or an EGL image is still sampled in their format (surface_based), with red and blue swapped.
    let is_shared = world.images.iter().any(|image| image.source.storage == former.storage);
    if former.is_immutable || former.is_of_image || is_shared {
        return false;
    }
    world.step("glCopyTexImage2D GL_TEXTURE_2D 0 GL_RGBA 4 4 16 16 0");
    world.step("? glGetError");
    let storage = world.count('#');
    world.textures[texture] = Texture {
        format: 0,
        size: (16, 16, 1),
        levels: 1,
        has_mipmaps: former.has_mipmaps,
        has_unfit_levels: former.has_mipmaps,
        base_level: former.base_level,
        first_attached: former.base_level,
        ..new_texture("GL_TEXTURE_2D", storage)
    };
    true
}

/// Copies from one texture to another of the same format.
pub fn between_textures(world: &mut World) -> bool {
    if world.version() < (3, 2) {
        return false;
    }
    let Some(to) = target(world) else { return false };
    let (format, storage) = (world.textures[to].format, world.textures[to].storage);
    let fits = |texture: &&usize| {
        let it = &world.textures[**texture];
        it.target == "GL_TEXTURE_2D"
            && it.format == format
            && it.storage != storage
            && it.levels > 0
    };
    let all: Vec<usize> = world.names().textures.iter().filter(fits).copied().collect();
    let Some(from) = world.some_of(&all) else { return false };
    let (x, y) = (world.below(SIDE), world.below(SIDE));
    world.step(format!(
        "glCopyImageSubData t{from} GL_TEXTURE_2D 0 {y} {x} 0 t{to} GL_TEXTURE_2D 0 {x} {y} 0 {SIDE} {SIDE} 1"
    ));
    world.step("? glGetError");
    true
}

/// Copies from the surface to the bound framebuffer, or the other way round.
pub fn blit(world: &mut World) -> bool {
    let Some(framebuffer) = world.here().framebuffer else { return false };
    if world.version() < (3, 0) || world.draws_integers() {
        return false;
    }
    let end = match world.chance(50) {
        true => "READ",
        false => {
            settle_read_buffer(world);
            "DRAW"
        }
    };
    world.step(format!("glBindFramebuffer GL_{end}_FRAMEBUFFER 0"));
    let (from, to) = (world.below(SIDE), world.below(SIDE));
    let [from_end, to_end] = [from + SIDE, to + SIDE];
    let mask = world.one_of(&["GL_COLOR_BUFFER_BIT", "GL_COLOR_BUFFER_BIT", "GL_DEPTH_BUFFER_BIT"]);
    world.step(format!(
        "glBlitFramebuffer {from} {from} {from_end} {from_end} {to} {to} {to_end} {to_end} {mask} GL_NEAREST"
    ));
    world.step("? glGetError");
    world.step(format!("glBindFramebuffer GL_FRAMEBUFFER f{framebuffer}"));
    true
}

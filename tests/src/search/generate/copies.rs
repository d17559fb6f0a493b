//! Copies between images, from the framebuffer or from a texture.

use crate::search::generate::framebuffers::settle_read_buffer;
use crate::search::generate::textures::FORMATS;
use crate::search::world::World;

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

/// Copies from the framebuffer to a texture.
pub fn from_framebuffer(world: &mut World) -> bool {
    if target(world).is_none() || world.draws_integers() {
        return false;
    }
    settle_read_buffer(world);
    let (x, y) = (world.below(SIDE), world.below(SIDE));
    world.step(format!("glCopyTexSubImage2D GL_TEXTURE_2D 0 {x} {y} 0 0 {SIDE} {SIDE}"));
    world.step("? glGetError");
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

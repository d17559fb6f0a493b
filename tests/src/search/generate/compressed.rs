//! Textures whose texels are uploaded compressed. They show when they are drawn.

use crate::search::generate::textures::new_bound;
use crate::search::world::World;

/// Formats of blocks of 4 by 4 texels, and the bytes of a block.
const FORMATS: &[(&str, usize)] = &[
    ("GL_COMPRESSED_RGBA8_ETC2_EAC", 16),
    ("GL_COMPRESSED_RGB8_ETC2", 8),
    ("GL_COMPRESSED_SRGB8_ETC2", 8),
    ("GL_COMPRESSED_R11_EAC", 8),
    ("GL_COMPRESSED_RGBA_S3TC_DXT1_EXT", 8),
];
const SIDE: usize = 8;

fn bytes(side: usize, block: usize) -> usize {
    side.div_ceil(4).pow(2) * block
}

/// Makes a texture, with storage or level by level, and changes a block of it.
pub fn make(world: &mut World) -> bool {
    if world.version() < (3, 0) {
        return false;
    }
    let (format, block) = world.one_of(FORMATS);
    let (levels, is_immutable) = (1 + world.below(2), world.chance(50));
    let texture = new_bound(world, "GL_TEXTURE_2D");
    if is_immutable {
        world.step(format!("glTexStorage2D GL_TEXTURE_2D {levels} {format} {SIDE} {SIDE}"));
    }
    for level in 0..levels {
        let (side, seed) = (SIDE >> level, world.seed());
        let size = bytes(side, block);
        world.step(match is_immutable {
            true => format!(
                "glCompressedTexSubImage2D GL_TEXTURE_2D {level} 0 0 {side} {side} {format} {size} bytes:{size}:{seed}"
            ),
            false => format!(
                "glCompressedTexImage2D GL_TEXTURE_2D {level} {format} {side} {side} 0 {size} bytes:{size}:{seed}"
            ),
        });
    }
    if world.chance(50) {
        let seed = world.seed();
        world.step(format!(
            "glCompressedTexSubImage2D GL_TEXTURE_2D 0 4 0 4 4 {format} {block} bytes:{block}:{seed}"
        ));
    }
    world.step("? glGetError");
    let known = &mut world.textures[texture];
    (known.is_immutable, known.is_compressed, known.levels) = (is_immutable, true, levels as u32);
    known.has_mipmaps = levels > 1;
    true
}

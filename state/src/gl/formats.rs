//! Sizes in bytes of pixels, vertices and indices in the program's memory; 0 for an invalid or unknown format or type,
//! whose memory is then not recorded. A new format or type is added here.

use gapii_commands::constants::*;

/// Returns the size of a pixel in bits; 0 for an invalid combination of format and type.
pub fn texel_bits(format: u32, ty: u32) -> u64 {
    let is_bit = ty == GL_BITMAP && [GL_COLOR_INDEX, GL_STENCIL_INDEX].contains(&format);
    if is_bit { 1 } else { 8 * texel_bytes(format, ty) }
}

/// Returns the size of a pixel in bytes; 0 for an invalid combination of format and type, and for pixels of one bit.
pub fn texel_bytes(format: u32, ty: u32) -> u64 {
    let components = components(format);
    match packed(ty) {
        Some((bytes, of)) if of.contains(&components) && !is_depth_stencil(format) => bytes,
        Some(_) => depth_stencil_bytes(format, ty),
        None if is_depth_stencil(format) => 0,
        None => components * component_bytes(ty),
    }
}

/// Returns the number of components of a pixel; 0 for an unknown format.
fn components(format: u32) -> u64 {
    match format {
        GL_RED
        | GL_GREEN
        | GL_BLUE
        | GL_ALPHA
        | GL_LUMINANCE
        | GL_DEPTH_COMPONENT
        | GL_STENCIL_INDEX
        | GL_COLOR_INDEX
        | GL_RED_INTEGER
        | GL_GREEN_INTEGER
        | GL_BLUE_INTEGER
        | GL_ALPHA_INTEGER
        | GL_LUMINANCE_INTEGER_EXT => 1,
        GL_RG
        | GL_RG_INTEGER
        | GL_LUMINANCE_ALPHA
        | GL_LUMINANCE_ALPHA_INTEGER_EXT
        | GL_DEPTH_STENCIL => 2,
        GL_RGB | GL_RGB_INTEGER | GL_BGR | GL_BGR_INTEGER | GL_SRGB_EXT => 3,
        GL_RGBA | GL_RGBA_INTEGER | GL_BGRA | GL_BGRA_INTEGER | GL_ABGR_EXT | GL_SRGB_ALPHA_EXT => {
            4
        }
        _ => 0,
    }
}

fn component_bytes(ty: u32) -> u64 {
    match ty {
        GL_BYTE | GL_UNSIGNED_BYTE => 1,
        GL_SHORT | GL_UNSIGNED_SHORT | GL_HALF_FLOAT | GL_HALF_FLOAT_OES => 2,
        GL_INT | GL_UNSIGNED_INT | GL_FLOAT => 4,
        _ => 0,
    }
}

/// For a packed type: its size in bytes, and the valid numbers of components.
fn packed(ty: u32) -> Option<(u64, &'static [u64])> {
    Some(match ty {
        GL_UNSIGNED_BYTE_3_3_2 | GL_UNSIGNED_BYTE_2_3_3_REV => (1, &[3]),
        GL_UNSIGNED_SHORT_5_6_5 | GL_UNSIGNED_SHORT_5_6_5_REV => (2, &[3]),
        GL_UNSIGNED_SHORT_4_4_4_4
        | GL_UNSIGNED_SHORT_5_5_5_1
        | GL_UNSIGNED_SHORT_4_4_4_4_REV_EXT
        | GL_UNSIGNED_SHORT_1_5_5_5_REV_EXT => (2, &[4]),
        GL_UNSIGNED_INT_10F_11F_11F_REV | GL_UNSIGNED_INT_5_9_9_9_REV => (4, &[3]),
        GL_UNSIGNED_INT_8_8_8_8 | GL_UNSIGNED_INT_8_8_8_8_REV | GL_UNSIGNED_INT_10_10_10_2 => {
            (4, &[4])
        }
        // EXT_texture_type_2_10_10_10_REV allows three components, too.
        GL_UNSIGNED_INT_2_10_10_10_REV => (4, &[3, 4]),
        GL_UNSIGNED_INT_24_8 | GL_FLOAT_32_UNSIGNED_INT_24_8_REV => (0, &[]),
        _ => return None,
    })
}

fn is_depth_stencil(format: u32) -> bool {
    format == GL_DEPTH_STENCIL
}

fn depth_stencil_bytes(format: u32, ty: u32) -> u64 {
    match ty {
        GL_UNSIGNED_INT_24_8 if is_depth_stencil(format) => 4,
        GL_FLOAT_32_UNSIGNED_INT_24_8_REV if is_depth_stencil(format) => 8,
        _ => 0,
    }
}

/// Returns the size in bytes of compressed pixels of this width, height and depth, whose last blocks may be cut off; 0 for a
/// format without blocks of fixed size.
pub fn blocks_bytes(format: u32, size: [u64; 3]) -> u64 {
    let Some(([across, down], bytes)) = block(format) else { return 0 };
    let [width, height, depth] = size;
    let blocks = width.div_ceil(across).saturating_mul(height.div_ceil(down));
    blocks.saturating_mul(depth).saturating_mul(bytes)
}

/// Width and height of a block of pixels, and its size in bytes.
fn block(format: u32) -> Option<([u64; 2], u64)> {
    const ASTC: [[u64; 2]; 14] = [
        [4, 4],
        [5, 4],
        [5, 5],
        [6, 5],
        [6, 6],
        [8, 5],
        [8, 6],
        [8, 8],
        [10, 5],
        [10, 6],
        [10, 8],
        [10, 10],
        [12, 10],
        [12, 12],
    ];
    let astc = |first: u32| ASTC.get((format - first) as usize).map(|size| (*size, 16));
    Some(match format {
        GL_COMPRESSED_RGB_S3TC_DXT1_EXT
        | GL_COMPRESSED_RGBA_S3TC_DXT1_EXT
        | GL_COMPRESSED_SRGB_S3TC_DXT1_EXT
        | GL_COMPRESSED_SRGB_ALPHA_S3TC_DXT1_EXT
        | GL_COMPRESSED_RED_RGTC1_EXT
        | GL_COMPRESSED_SIGNED_RED_RGTC1_EXT
        | GL_COMPRESSED_LUMINANCE_LATC1_EXT
        | GL_COMPRESSED_SIGNED_LUMINANCE_LATC1_EXT
        | GL_COMPRESSED_R11_EAC
        | GL_COMPRESSED_SIGNED_R11_EAC
        | GL_COMPRESSED_RGB8_ETC2
        | GL_COMPRESSED_SRGB8_ETC2
        | GL_COMPRESSED_RGB8_PUNCHTHROUGH_ALPHA1_ETC2
        | GL_COMPRESSED_SRGB8_PUNCHTHROUGH_ALPHA1_ETC2
        | GL_ETC1_RGB8_OES => ([4, 4], 8),
        GL_COMPRESSED_RGBA_S3TC_DXT3_EXT
        | GL_COMPRESSED_RGBA_S3TC_DXT5_EXT
        | GL_COMPRESSED_SRGB_ALPHA_S3TC_DXT3_EXT
        | GL_COMPRESSED_SRGB_ALPHA_S3TC_DXT5_EXT
        | GL_COMPRESSED_RED_GREEN_RGTC2_EXT
        | GL_COMPRESSED_SIGNED_RED_GREEN_RGTC2_EXT
        | GL_COMPRESSED_LUMINANCE_ALPHA_LATC2_EXT
        | GL_COMPRESSED_SIGNED_LUMINANCE_ALPHA_LATC2_EXT
        | GL_COMPRESSED_RG11_EAC
        | GL_COMPRESSED_SIGNED_RG11_EAC
        | GL_COMPRESSED_RGBA8_ETC2_EAC
        | GL_COMPRESSED_SRGB8_ALPHA8_ETC2_EAC
        | GL_COMPRESSED_RGBA_BPTC_UNORM_EXT
        | GL_COMPRESSED_SRGB_ALPHA_BPTC_UNORM_EXT
        | GL_COMPRESSED_RGB_BPTC_SIGNED_FLOAT_EXT
        | GL_COMPRESSED_RGB_BPTC_UNSIGNED_FLOAT_EXT => ([4, 4], 16),
        GL_COMPRESSED_RGB_FXT1_3DFX | GL_COMPRESSED_RGBA_FXT1_3DFX => ([8, 4], 16),
        GL_COMPRESSED_RGBA_ASTC_4x4..=GL_COMPRESSED_RGBA_ASTC_12x12 => {
            return astc(GL_COMPRESSED_RGBA_ASTC_4x4);
        }
        GL_COMPRESSED_SRGB8_ALPHA8_ASTC_4x4..=GL_COMPRESSED_SRGB8_ALPHA8_ASTC_12x12 => {
            return astc(GL_COMPRESSED_SRGB8_ALPHA8_ASTC_4x4);
        }
        _ => return None,
    })
}

/// Returns the size in bytes of one attribute of a vertex; 0 for an unknown type.
#[inline]
pub fn vertex_bytes(size: i32, ty: u32) -> u64 {
    let numbers = u64::from(size.max(0).cast_unsigned());
    let numbers = if numbers == u64::from(GL_BGRA) { 4 } else { numbers };
    match NUMBER_BYTES.get(ty.wrapping_sub(GL_BYTE) as usize) {
        Some(bytes) => numbers * u64::from(*bytes),
        None => rare_vertex_bytes(numbers, ty),
    }
}

/// Sizes in bytes of the types from GL_BYTE to GL_FIXED; 0 for a type that is invalid for vertices.
const NUMBER_BYTES: [u8; 13] = [1, 1, 2, 2, 4, 4, 4, 0, 0, 0, 8, 2, 4];
const _: () = assert!(GL_FIXED - GL_BYTE + 1 == NUMBER_BYTES.len() as u32);

#[cold]
fn rare_vertex_bytes(numbers: u64, ty: u32) -> u64 {
    match ty {
        GL_INT_2_10_10_10_REV
        | GL_UNSIGNED_INT_2_10_10_10_REV
        | GL_INT_10_10_10_2_OES
        | GL_UNSIGNED_INT_10_10_10_2_OES
        | GL_UNSIGNED_INT_10F_11F_11F_REV => 4,
        GL_HALF_FLOAT_OES => numbers * 2,
        _ => 0,
    }
}

/// Returns the size of an index in bytes; 0 for an unknown type.
pub fn index_bytes(ty: u32) -> u64 {
    match ty {
        GL_UNSIGNED_BYTE => 1,
        GL_UNSIGNED_SHORT => 2,
        GL_UNSIGNED_INT => 4,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texel_size_depends_on_format_and_type() {
        let cases = [
            (GL_RED, GL_UNSIGNED_BYTE, 1),
            (GL_RED, GL_BYTE, 1),
            (GL_RED, GL_HALF_FLOAT, 2),
            (GL_RED, GL_FLOAT, 4),
            (GL_RED_INTEGER, GL_UNSIGNED_INT, 4),
            (GL_RG, GL_UNSIGNED_BYTE, 2),
            (GL_RG, GL_FLOAT, 8),
            (GL_RG_INTEGER, GL_SHORT, 4),
            (GL_RGB, GL_UNSIGNED_BYTE, 3),
            (GL_RGB, GL_UNSIGNED_SHORT_5_6_5, 2),
            (GL_RGB, GL_UNSIGNED_INT_10F_11F_11F_REV, 4),
            (GL_RGB, GL_UNSIGNED_INT_5_9_9_9_REV, 4),
            (GL_RGB, GL_UNSIGNED_INT_2_10_10_10_REV, 4),
            (GL_RGB, GL_HALF_FLOAT, 6),
            (GL_RGB, GL_HALF_FLOAT_OES, 6),
            (GL_RGB, GL_FLOAT, 12),
            (GL_RGB_INTEGER, GL_BYTE, 3),
            (GL_SRGB_EXT, GL_UNSIGNED_BYTE, 3),
            (GL_RGBA, GL_UNSIGNED_BYTE, 4),
            (GL_RGBA, GL_BYTE, 4),
            (GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4, 2),
            (GL_RGBA, GL_UNSIGNED_SHORT_5_5_5_1, 2),
            (GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV, 4),
            (GL_RGBA_INTEGER, GL_UNSIGNED_INT_2_10_10_10_REV, 4),
            (GL_RGBA, GL_HALF_FLOAT, 8),
            (GL_RGBA, GL_FLOAT, 16),
            (GL_RGBA_INTEGER, GL_UNSIGNED_SHORT, 8),
            (GL_RGBA_INTEGER, GL_INT, 16),
            (GL_SRGB_ALPHA_EXT, GL_UNSIGNED_BYTE, 4),
            (GL_BGRA_EXT, GL_UNSIGNED_BYTE, 4),
            (GL_BGRA_EXT, GL_UNSIGNED_SHORT_4_4_4_4_REV_EXT, 2),
            (GL_BGRA_EXT, GL_UNSIGNED_SHORT_1_5_5_5_REV_EXT, 2),
            (GL_ALPHA, GL_UNSIGNED_BYTE, 1),
            (GL_ALPHA, GL_HALF_FLOAT_OES, 2),
            (GL_LUMINANCE, GL_UNSIGNED_BYTE, 1),
            (GL_LUMINANCE, GL_FLOAT, 4),
            (GL_LUMINANCE_ALPHA, GL_UNSIGNED_BYTE, 2),
            (GL_LUMINANCE_ALPHA, GL_HALF_FLOAT_OES, 4),
            (GL_DEPTH_COMPONENT, GL_UNSIGNED_SHORT, 2),
            (GL_DEPTH_COMPONENT, GL_UNSIGNED_INT, 4),
            (GL_DEPTH_COMPONENT, GL_FLOAT, 4),
            (GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8, 4),
            (GL_DEPTH_STENCIL, GL_FLOAT_32_UNSIGNED_INT_24_8_REV, 8),
            (GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, 1),
            (GL_COLOR_INDEX, GL_UNSIGNED_SHORT, 2),
            (GL_GREEN, GL_FLOAT, 4),
            (GL_BLUE_INTEGER, GL_INT, 4),
            (GL_BGR, GL_UNSIGNED_BYTE, 3),
            (GL_BGR_INTEGER, GL_SHORT, 6),
            (GL_BGRA_INTEGER, GL_UNSIGNED_INT, 16),
            (GL_ABGR_EXT, GL_UNSIGNED_BYTE, 4),
            (GL_RGB, GL_UNSIGNED_BYTE_3_3_2, 1),
            (GL_RGB, GL_UNSIGNED_BYTE_2_3_3_REV, 1),
            (GL_BGR, GL_UNSIGNED_SHORT_5_6_5_REV, 2),
            (GL_BGRA, GL_UNSIGNED_INT_8_8_8_8, 4),
            (GL_BGRA, GL_UNSIGNED_INT_8_8_8_8_REV, 4),
            (GL_RGBA, GL_UNSIGNED_INT_10_10_10_2, 4),
        ];
        for (format, ty, bytes) in cases {
            assert_eq!(texel_bytes(format, ty), bytes, "{format:#x} {ty:#x}");
        }
    }

    #[test]
    fn invalid_combination_of_format_and_type_has_no_size() {
        let cases = [
            (GL_RGBA, GL_UNSIGNED_SHORT_5_6_5),
            (GL_RGB, GL_UNSIGNED_SHORT_4_4_4_4),
            (GL_RGB, GL_UNSIGNED_SHORT_5_5_5_1),
            (GL_RGBA, GL_UNSIGNED_INT_10F_11F_11F_REV),
            (GL_RGBA, GL_UNSIGNED_INT_24_8),
            (GL_DEPTH_COMPONENT, GL_UNSIGNED_INT_24_8),
            (GL_DEPTH_STENCIL, GL_UNSIGNED_INT),
            (GL_DEPTH_STENCIL, GL_UNSIGNED_SHORT_5_6_5),
            (GL_RG, GL_UNSIGNED_INT_24_8),
            (GL_RGBA, 0),
            (GL_RGBA, GL_FIXED),
            (0, GL_UNSIGNED_BYTE),
            (GL_RGBA8, GL_UNSIGNED_BYTE),
            (GL_RGBA, GL_UNSIGNED_BYTE_3_3_2),
            (GL_RGB, GL_UNSIGNED_INT_8_8_8_8),
            (GL_COLOR_INDEX, GL_BITMAP),
            (GL_RGBA, GL_DOUBLE),
        ];
        for (format, ty) in cases {
            assert_eq!(texel_bytes(format, ty), 0, "{format:#x} {ty:#x}");
        }
    }

    #[test]
    fn compressed_pixels_are_whole_blocks() {
        let cases = [
            (GL_COMPRESSED_RGB_S3TC_DXT1_EXT, [8, 8, 1], 32),
            (GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, [5, 1, 1], 32),
            (GL_COMPRESSED_RGBA8_ETC2_EAC, [4, 4, 3], 48),
            (GL_COMPRESSED_RGBA_ASTC_4x4, [5, 5, 1], 64),
            (GL_COMPRESSED_SRGB8_ALPHA8_ASTC_12x12, [24, 12, 1], 32),
            (GL_COMPRESSED_RGB_FXT1_3DFX, [8, 4, 1], 16),
            (GL_COMPRESSED_RGBA, [8, 8, 1], 0),
            (GL_RGBA8, [8, 8, 1], 0),
            (GL_COMPRESSED_RGB_S3TC_DXT1_EXT, [u64::MAX, u64::MAX, 9], u64::MAX),
        ];
        for (format, size, bytes) in cases {
            assert_eq!(blocks_bytes(format, size), bytes, "{format:#x} {size:?}");
        }
    }

    #[test]
    fn pixels_of_bitmaps_have_one_bit() {
        assert_eq!(texel_bits(GL_COLOR_INDEX, GL_BITMAP), 1);
        assert_eq!(texel_bits(GL_STENCIL_INDEX, GL_BITMAP), 1);
        assert_eq!(texel_bits(GL_RGBA, GL_BITMAP), 0);
        assert_eq!(texel_bits(GL_BGR, GL_UNSIGNED_BYTE), 24);
    }

    #[test]
    fn vertex_size_is_that_of_its_components_or_of_the_packed_type() {
        let cases = [
            (1, GL_BYTE, 1),
            (3, GL_UNSIGNED_BYTE, 3),
            (2, GL_SHORT, 4),
            (3, GL_HALF_FLOAT, 6),
            (3, GL_HALF_FLOAT_OES, 6),
            (4, GL_FLOAT, 16),
            (2, GL_FIXED, 8),
            (4, GL_UNSIGNED_INT, 16),
            (4, GL_INT_2_10_10_10_REV, 4),
            (4, GL_UNSIGNED_INT_2_10_10_10_REV, 4),
            (3, GL_UNSIGNED_INT_10_10_10_2_OES, 4),
            (4, GL_UNSIGNED_SHORT_5_6_5, 0),
            (-1, GL_FLOAT, 0),
            (3, GL_DOUBLE, 24),
            (GL_BGRA as i32, GL_UNSIGNED_BYTE, 4),
            (3, GL_UNSIGNED_INT_10F_11F_11F_REV, 4),
        ];
        for (size, ty, bytes) in cases {
            assert_eq!(vertex_bytes(size, ty), bytes, "{size} {ty:#x}");
        }
    }
}

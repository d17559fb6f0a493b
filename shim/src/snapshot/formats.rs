//! For each internal format: how its pixels are read from a framebuffer or a shader, and uploaded again, without loss.
//! A new format is a row of `sized` or `unsized_of`, a compressed one of `block`. The pixels of images in other formats
//! are listed as missing.

use std::sync::OnceLock;

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_ALPHA, GL_ALPHA4, GL_ALPHA8_OES, GL_ALPHA12, GL_ALPHA16, GL_ALPHA16F_ARB, GL_ALPHA32F_ARB,
    GL_BGRA8_EXT, GL_BYTE, GL_COMPRESSED_R11_EAC, GL_COMPRESSED_RED,
    GL_COMPRESSED_RED_GREEN_RGTC2_EXT, GL_COMPRESSED_RED_RGTC1_EXT, GL_COMPRESSED_RG,
    GL_COMPRESSED_RG11_EAC, GL_COMPRESSED_RGB, GL_COMPRESSED_RGB_BPTC_UNSIGNED_FLOAT_EXT,
    GL_COMPRESSED_RGB_S3TC_DXT1_EXT, GL_COMPRESSED_RGB8_ETC2, GL_COMPRESSED_RGBA,
    GL_COMPRESSED_RGBA_ASTC_4x4, GL_COMPRESSED_RGBA_ASTC_12x12, GL_COMPRESSED_RGBA_BPTC_UNORM_EXT,
    GL_COMPRESSED_RGBA_S3TC_DXT1_EXT, GL_COMPRESSED_RGBA_S3TC_DXT3_EXT,
    GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, GL_COMPRESSED_RGBA8_ETC2_EAC, GL_COMPRESSED_SIGNED_R11_EAC,
    GL_COMPRESSED_SIGNED_RED_GREEN_RGTC2_EXT, GL_COMPRESSED_SIGNED_RED_RGTC1_EXT,
    GL_COMPRESSED_SIGNED_RG11_EAC, GL_COMPRESSED_SRGB, GL_COMPRESSED_SRGB_ALPHA,
    GL_COMPRESSED_SRGB_ALPHA_S3TC_DXT1_EXT, GL_COMPRESSED_SRGB_ALPHA_S3TC_DXT3_EXT,
    GL_COMPRESSED_SRGB_ALPHA_S3TC_DXT5_EXT, GL_COMPRESSED_SRGB_S3TC_DXT1_EXT,
    GL_COMPRESSED_SRGB8_ALPHA8_ASTC_4x4, GL_COMPRESSED_SRGB8_ALPHA8_ASTC_12x12,
    GL_COMPRESSED_SRGB8_ALPHA8_ETC2_EAC, GL_COMPRESSED_SRGB8_PUNCHTHROUGH_ALPHA1_ETC2,
    GL_DEPTH_COMPONENT, GL_DEPTH_COMPONENT16, GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT32_OES,
    GL_DEPTH_COMPONENT32F, GL_DEPTH_STENCIL, GL_DEPTH24_STENCIL8, GL_DEPTH32F_STENCIL8,
    GL_ETC1_RGB8_OES, GL_FLOAT, GL_FLOAT_32_UNSIGNED_INT_24_8_REV, GL_HALF_FLOAT,
    GL_HALF_FLOAT_OES, GL_INT, GL_INTENSITY, GL_INTENSITY4, GL_INTENSITY8, GL_INTENSITY12,
    GL_INTENSITY16, GL_INTENSITY16F_ARB, GL_INTENSITY32F_ARB, GL_LUMINANCE, GL_LUMINANCE_ALPHA,
    GL_LUMINANCE_ALPHA16F_ARB, GL_LUMINANCE_ALPHA32F_ARB, GL_LUMINANCE4, GL_LUMINANCE4_ALPHA4,
    GL_LUMINANCE6_ALPHA2, GL_LUMINANCE8_ALPHA8_OES, GL_LUMINANCE8_OES, GL_LUMINANCE12,
    GL_LUMINANCE12_ALPHA4, GL_LUMINANCE12_ALPHA12, GL_LUMINANCE16, GL_LUMINANCE16_ALPHA16,
    GL_LUMINANCE16F_ARB, GL_LUMINANCE32F_ARB, GL_R3_G3_B2, GL_R8, GL_R8_SNORM, GL_R8I, GL_R8UI,
    GL_R11F_G11F_B10F, GL_R16_EXT, GL_R16_SNORM_EXT, GL_R16F, GL_R16I, GL_R16UI, GL_R32F, GL_R32I,
    GL_R32UI, GL_RED, GL_RED_INTEGER, GL_RG, GL_RG_INTEGER, GL_RG8, GL_RG8_SNORM, GL_RG8I,
    GL_RG8UI, GL_RG16_EXT, GL_RG16_SNORM_EXT, GL_RG16F, GL_RG16I, GL_RG16UI, GL_RG32F, GL_RG32I,
    GL_RG32UI, GL_RGB, GL_RGB_INTEGER, GL_RGB4, GL_RGB5, GL_RGB5_A1, GL_RGB8, GL_RGB8_SNORM,
    GL_RGB8I, GL_RGB8UI, GL_RGB9_E5, GL_RGB10, GL_RGB10_A2, GL_RGB10_A2UI, GL_RGB12, GL_RGB16_EXT,
    GL_RGB16_SNORM_EXT, GL_RGB16F, GL_RGB16I, GL_RGB16UI, GL_RGB32F, GL_RGB32I, GL_RGB32UI,
    GL_RGB565, GL_RGBA, GL_RGBA_INTEGER, GL_RGBA2, GL_RGBA4, GL_RGBA8, GL_RGBA8_SNORM, GL_RGBA8I,
    GL_RGBA8UI, GL_RGBA12, GL_RGBA16_EXT, GL_RGBA16_SNORM_EXT, GL_RGBA16F, GL_RGBA16I, GL_RGBA16UI,
    GL_RGBA32F, GL_RGBA32I, GL_RGBA32UI, GL_SHORT, GL_SLUMINANCE, GL_SLUMINANCE_ALPHA,
    GL_SLUMINANCE8, GL_SLUMINANCE8_ALPHA8, GL_SR8_EXT, GL_SRG8_EXT, GL_SRGB, GL_SRGB8,
    GL_SRGB8_ALPHA8, GL_STENCIL_INDEX, GL_STENCIL_INDEX8, GL_UNSIGNED_BYTE,
    GL_UNSIGNED_BYTE_2_3_3_REV, GL_UNSIGNED_BYTE_3_3_2, GL_UNSIGNED_INT,
    GL_UNSIGNED_INT_2_10_10_10_REV, GL_UNSIGNED_INT_5_9_9_9_REV, GL_UNSIGNED_INT_8_8_8_8,
    GL_UNSIGNED_INT_8_8_8_8_REV, GL_UNSIGNED_INT_10F_11F_11F_REV, GL_UNSIGNED_INT_24_8,
    GL_UNSIGNED_SHORT, GL_UNSIGNED_SHORT_1_5_5_5_REV, GL_UNSIGNED_SHORT_4_4_4_4,
    GL_UNSIGNED_SHORT_4_4_4_4_REV, GL_UNSIGNED_SHORT_5_5_5_1, GL_UNSIGNED_SHORT_5_6_5,
    GL_UNSIGNED_SHORT_5_6_5_REV,
};

const GL_BGRA: u32 = constants::GL_BGRA_EXT;
const GL_SRGB_ALPHA: u32 = constants::GL_SRGB_ALPHA_EXT;

/// Type of the four components in which pixels of a format are read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Values {
    /// Fixed-point numbers of up to eight bits.
    Bytes,
    Floats,
    Ints,
    Uints,
}

/// The attachment of a framebuffer that can hold pixels of a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    Color,
    Depth,
    Stencil,
    DepthStencil,
}

/// Encoding of a component, or of a whole pixel, in an upload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encode {
    Unorm8,
    /// Alpha is linear.
    Srgb8,
    Snorm8,
    Unorm16,
    Snorm16,
    Half,
    /// This number of the lowest bytes of the word.
    Whole(usize),
    /// Two bytes per pixel, with this number of bits per component; the first component has the highest bits.
    Packed([u32; 4]),
    /// Three components of ten bits and one of two, the first one lowest: fixed-point numbers, or integers.
    Unorm1010102,
    Uint1010102,
    /// Unsigned floats of eleven, eleven and ten bits, the first one lowest.
    SmallFloats,
    /// Three mantissas of nine bits, the first one lowest, and a shared exponent.
    SharedExponent,
}

/// How pixels are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Read {
    /// In the format and type of the upload, with this number of bytes per pixel.
    AsTheyAre(Part, usize),
    /// As four components, of which those with these indices are encoded.
    Components(Values, &'static [usize], Encode),
}

/// A format whose pixels have the same bits as those of another format, and are read without conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SameBits {
    pub of: u32,
    pub format: u32,
}

/// How pixels of an internal format are read and uploaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Format and type of the upload.
    pub format: u32,
    pub kind: u32,
    pub read: Read,
    pub same_bits: Option<SameBits>,
}

impl Layout {
    /// `given` is the type with which the program defined the image; 0 for none. `None` for formats that are not read.
    pub fn of(internal: u32, given: u32) -> Option<Self> {
        let layout = sized(internal, given).or_else(|| unsized_of(internal, given))?;
        let same_bits = same_bits(internal).map(|format| SameBits { of: internal, format });
        Some(Self { same_bits, ..layout })
    }

    /// Bytes of a pixel in the upload.
    pub fn pixel_bytes(&self) -> usize {
        match self.read {
            Read::AsTheyAre(_, bytes) => bytes,
            Read::Components(_, take, how) => how.pixel_bytes(take.len()),
        }
    }
}

/// The format to read in place of one that no framebuffer can have, or that drivers convert.
fn same_bits(internal: u32) -> Option<u32> {
    Some(match internal {
        // sRGB
        GL_SR8_EXT => GL_R8,
        GL_SRG8_EXT => GL_RG8,
        GL_SRGB8 => GL_RGB8,
        // Signed fixed-point numbers
        GL_R8_SNORM => GL_R8,
        GL_RG8_SNORM => GL_RG8,
        GL_RGB8_SNORM => GL_RGB8,
        GL_RGBA8_SNORM => GL_RGBA8,
        GL_R16_SNORM_EXT => GL_R16UI,
        GL_RG16_SNORM_EXT => GL_RG16UI,
        GL_RGBA16_SNORM_EXT => GL_RGBA16UI,
        // Floats in a word
        GL_R11F_G11F_B10F | GL_RGB9_E5 => GL_RGBA8,
        _ => return None,
    })
}

const R: &[usize] = &[0];
const A: &[usize] = &[3];
const RG: &[usize] = &[0, 1];
const RA: &[usize] = &[0, 3];
const RGB: &[usize] = &[0, 1, 2];
const RGBA: &[usize] = &[0, 1, 2, 3];
const BGRA: &[usize] = &[2, 1, 0, 3];

fn sized(internal: u32, given: u32) -> Option<Layout> {
    use Encode::*;
    use Read::AsTheyAre;
    use Values::*;
    let of = |format, kind, read| Layout { format, kind, read, same_bits: None };
    let components = |format, kind, values, take, encode| {
        of(format, kind, Read::Components(values, take, encode))
    };
    let unorm8 = |format, take| components(format, GL_UNSIGNED_BYTE, Bytes, take, Unorm8);
    let srgb8 = |format, take| components(format, GL_UNSIGNED_BYTE, Bytes, take, Srgb8);
    let snorm8 = |format, take| components(format, GL_BYTE, Floats, take, Snorm8);
    let unorm16 = |format, take| components(format, GL_UNSIGNED_SHORT, Floats, take, Unorm16);
    let snorm16 = |format, take| components(format, GL_SHORT, Floats, take, Snorm16);
    let half = |format, take| components(format, GL_HALF_FLOAT, Floats, take, Half);
    let float = |format, take| components(format, GL_FLOAT, Floats, take, Whole(4));
    let packed = |format, kind, take, bits| components(format, kind, Bytes, take, Packed(bits));
    let ints = |kind, take: &'static [usize]| {
        let format = [GL_RED_INTEGER, GL_RG_INTEGER, GL_RGB_INTEGER, GL_RGBA_INTEGER];
        let format = format.get(take.len() - 1).copied().unwrap_or(GL_RGBA_INTEGER);
        let (values, bytes) = match kind {
            GL_BYTE => (Ints, 1),
            GL_SHORT => (Ints, 2),
            GL_INT => (Ints, 4),
            GL_UNSIGNED_BYTE => (Uints, 1),
            GL_UNSIGNED_SHORT => (Uints, 2),
            _ => (Uints, 4),
        };
        components(format, kind, values, take, Whole(bytes))
    };
    let depth = |kind, bytes| of(GL_DEPTH_COMPONENT, kind, AsTheyAre(Part::Depth, bytes));
    let both = |kind, bytes| of(GL_DEPTH_STENCIL, kind, AsTheyAre(Part::DepthStencil, bytes));
    Some(match internal {
        GL_R8 => unorm8(GL_RED, R),
        GL_RG8 => unorm8(GL_RG, RG),
        GL_RGB8 => unorm8(GL_RGB, RGB),
        GL_RGBA8 => unorm8(GL_RGBA, RGBA),
        GL_BGRA8_EXT => unorm8(GL_BGRA, BGRA),
        GL_LUMINANCE8_OES => unorm8(GL_LUMINANCE, R),
        GL_ALPHA8_OES => unorm8(GL_ALPHA, A),
        GL_LUMINANCE8_ALPHA8_OES => unorm8(GL_LUMINANCE_ALPHA, RA),
        GL_SR8_EXT => srgb8(GL_RED, R),
        GL_SRG8_EXT => srgb8(GL_RG, RG),
        GL_SRGB8 => srgb8(GL_RGB, RGB),
        GL_SRGB8_ALPHA8 => srgb8(GL_RGBA, RGBA),
        // NVIDIA's driver keeps eight bits a component of a texture that was defined with them.
        GL_RGB565 if given == GL_UNSIGNED_BYTE => unorm8(GL_RGB, RGB),
        GL_RGBA4 | GL_RGB5_A1 if given == GL_UNSIGNED_BYTE => unorm8(GL_RGBA, RGBA),
        GL_RGB565 => packed(GL_RGB, GL_UNSIGNED_SHORT_5_6_5, RGB, [5, 6, 5, 0]),
        GL_RGBA4 => packed(GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4, RGBA, [4, 4, 4, 4]),
        GL_RGB5_A1 => packed(GL_RGBA, GL_UNSIGNED_SHORT_5_5_5_1, RGBA, [5, 5, 5, 1]),
        // Formats of OpenGL; drivers keep at least as many bits.
        GL_R3_G3_B2 | GL_RGB4 | GL_RGB5 => unorm8(GL_RGB, RGB),
        GL_RGBA2 => unorm8(GL_RGBA, RGBA),
        GL_RGB10 | GL_RGB12 => unorm16(GL_RGB, RGB),
        GL_RGBA12 => unorm16(GL_RGBA, RGBA),
        // Formats of the compatibility profile. A shader sees intensity in all components.
        GL_ALPHA4 => unorm8(GL_ALPHA, A),
        GL_ALPHA12 | GL_ALPHA16 => unorm16(GL_ALPHA, A),
        GL_ALPHA16F_ARB => half(GL_ALPHA, A),
        GL_ALPHA32F_ARB => float(GL_ALPHA, A),
        GL_LUMINANCE4 | GL_INTENSITY4 | GL_INTENSITY8 => unorm8(GL_LUMINANCE, R),
        GL_LUMINANCE12 | GL_LUMINANCE16 | GL_INTENSITY12 | GL_INTENSITY16 => {
            unorm16(GL_LUMINANCE, R)
        }
        GL_LUMINANCE16F_ARB | GL_INTENSITY16F_ARB => half(GL_LUMINANCE, R),
        GL_LUMINANCE32F_ARB | GL_INTENSITY32F_ARB => float(GL_LUMINANCE, R),
        GL_LUMINANCE4_ALPHA4 | GL_LUMINANCE6_ALPHA2 => unorm8(GL_LUMINANCE_ALPHA, RA),
        GL_LUMINANCE12_ALPHA4 | GL_LUMINANCE12_ALPHA12 | GL_LUMINANCE16_ALPHA16 => {
            unorm16(GL_LUMINANCE_ALPHA, RA)
        }
        GL_LUMINANCE_ALPHA16F_ARB => half(GL_LUMINANCE_ALPHA, RA),
        GL_LUMINANCE_ALPHA32F_ARB => float(GL_LUMINANCE_ALPHA, RA),
        GL_SLUMINANCE | GL_SLUMINANCE8 => srgb8(GL_LUMINANCE, R),
        GL_SLUMINANCE_ALPHA | GL_SLUMINANCE8_ALPHA8 => srgb8(GL_LUMINANCE_ALPHA, RA),
        GL_R8_SNORM => snorm8(GL_RED, R),
        GL_RG8_SNORM => snorm8(GL_RG, RG),
        GL_RGB8_SNORM => snorm8(GL_RGB, RGB),
        GL_RGBA8_SNORM => snorm8(GL_RGBA, RGBA),
        GL_R16_EXT => unorm16(GL_RED, R),
        GL_RG16_EXT => unorm16(GL_RG, RG),
        GL_RGB16_EXT => unorm16(GL_RGB, RGB),
        GL_RGBA16_EXT => unorm16(GL_RGBA, RGBA),
        GL_R16_SNORM_EXT => snorm16(GL_RED, R),
        GL_RG16_SNORM_EXT => snorm16(GL_RG, RG),
        GL_RGB16_SNORM_EXT => snorm16(GL_RGB, RGB),
        GL_RGBA16_SNORM_EXT => snorm16(GL_RGBA, RGBA),
        GL_R16F => half(GL_RED, R),
        GL_RG16F => half(GL_RG, RG),
        GL_RGB16F => half(GL_RGB, RGB),
        GL_RGBA16F => half(GL_RGBA, RGBA),
        GL_R32F => float(GL_RED, R),
        GL_RG32F => float(GL_RG, RG),
        GL_RGB32F => float(GL_RGB, RGB),
        GL_R11F_G11F_B10F => {
            components(GL_RGB, GL_UNSIGNED_INT_10F_11F_11F_REV, Floats, RGB, SmallFloats)
        }
        GL_RGB9_E5 => components(GL_RGB, GL_UNSIGNED_INT_5_9_9_9_REV, Floats, RGB, SharedExponent),
        GL_RGBA32F => float(GL_RGBA, RGBA),
        GL_RGB10_A2 => of(GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV, AsTheyAre(Part::Color, 4)),
        GL_RGB10_A2UI => {
            let kind = GL_UNSIGNED_INT_2_10_10_10_REV;
            components(GL_RGBA_INTEGER, kind, Uints, RGBA, Uint1010102)
        }
        GL_R8I => ints(GL_BYTE, R),
        GL_R8UI => ints(GL_UNSIGNED_BYTE, R),
        GL_R16I => ints(GL_SHORT, R),
        GL_R16UI => ints(GL_UNSIGNED_SHORT, R),
        GL_R32I => ints(GL_INT, R),
        GL_R32UI => ints(GL_UNSIGNED_INT, R),
        GL_RG8I => ints(GL_BYTE, RG),
        GL_RG8UI => ints(GL_UNSIGNED_BYTE, RG),
        GL_RG16I => ints(GL_SHORT, RG),
        GL_RG16UI => ints(GL_UNSIGNED_SHORT, RG),
        GL_RG32I => ints(GL_INT, RG),
        GL_RG32UI => ints(GL_UNSIGNED_INT, RG),
        GL_RGB8I => ints(GL_BYTE, RGB),
        GL_RGB8UI => ints(GL_UNSIGNED_BYTE, RGB),
        GL_RGB16I => ints(GL_SHORT, RGB),
        GL_RGB16UI => ints(GL_UNSIGNED_SHORT, RGB),
        GL_RGB32I => ints(GL_INT, RGB),
        GL_RGB32UI => ints(GL_UNSIGNED_INT, RGB),
        GL_RGBA8I => ints(GL_BYTE, RGBA),
        GL_RGBA8UI => ints(GL_UNSIGNED_BYTE, RGBA),
        GL_RGBA16I => ints(GL_SHORT, RGBA),
        GL_RGBA16UI => ints(GL_UNSIGNED_SHORT, RGBA),
        GL_RGBA32I => ints(GL_INT, RGBA),
        GL_RGBA32UI => ints(GL_UNSIGNED_INT, RGBA),
        // What a shader sees of it may depend on the type too.
        GL_DEPTH_COMPONENT16 if given == GL_UNSIGNED_INT => depth(GL_UNSIGNED_INT, 4),
        GL_DEPTH_COMPONENT16 => depth(GL_UNSIGNED_SHORT, 2),
        GL_DEPTH_COMPONENT24 | GL_DEPTH_COMPONENT32_OES => depth(GL_UNSIGNED_INT, 4),
        GL_DEPTH_COMPONENT32F => depth(GL_FLOAT, 4),
        GL_DEPTH24_STENCIL8 => both(GL_UNSIGNED_INT_24_8, 4),
        GL_DEPTH32F_STENCIL8 => both(GL_FLOAT_32_UNSIGNED_INT_24_8_REV, 8),
        GL_STENCIL_INDEX8 => of(GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, AsTheyAre(Part::Stencil, 1)),
        _ => return None,
    })
}

/// The layout of an unsized internal format: the type determines the size of its components.
fn unsized_of(internal: u32, given: u32) -> Option<Layout> {
    use Encode::*;
    let (format, take) = match internal {
        GL_RED => (GL_RED, R),
        GL_RG => (GL_RG, RG),
        // OpenGL takes numbers of components, too (OpenGL 4.6, compatibility profile, 8.5).
        3 => (GL_RGB, RGB),
        4 => (GL_RGBA, RGBA),
        GL_RGB | GL_SRGB => (internal, RGB),
        GL_RGBA | GL_SRGB_ALPHA => (internal, RGBA),
        GL_BGRA => (GL_BGRA, BGRA),
        GL_ALPHA => (GL_ALPHA, A),
        GL_LUMINANCE | GL_INTENSITY | 1 => (GL_LUMINANCE, R),
        GL_LUMINANCE_ALPHA | 2 => (GL_LUMINANCE_ALPHA, RA),
        GL_DEPTH_COMPONENT | GL_DEPTH_STENCIL => return unsized_depth(internal, given),
        _ => return None,
    };
    let is_srgb = matches!(internal, GL_SRGB | GL_SRGB_ALPHA);
    let (values, encode) = match given {
        // Of an image that was copied from a framebuffer.
        0 | GL_UNSIGNED_BYTE | GL_UNSIGNED_INT_8_8_8_8 | GL_UNSIGNED_INT_8_8_8_8_REV if is_srgb => {
            (Values::Bytes, Srgb8)
        }
        0 | GL_UNSIGNED_BYTE | GL_UNSIGNED_INT_8_8_8_8 | GL_UNSIGNED_INT_8_8_8_8_REV => {
            (Values::Bytes, Unorm8)
        }
        _ if is_small(given) => (Values::Bytes, Unorm8),
        GL_UNSIGNED_SHORT_5_6_5 => (Values::Bytes, Packed([5, 6, 5, 0])),
        GL_UNSIGNED_SHORT_4_4_4_4 => (Values::Bytes, Packed([4, 4, 4, 4])),
        GL_UNSIGNED_SHORT_5_5_5_1 => (Values::Bytes, Packed([5, 5, 5, 1])),
        GL_UNSIGNED_INT_2_10_10_10_REV => (Values::Floats, Unorm1010102),
        GL_UNSIGNED_SHORT => (Values::Floats, Unorm16),
        GL_HALF_FLOAT | GL_HALF_FLOAT_OES => (Values::Floats, Half),
        GL_FLOAT => (Values::Floats, Whole(4)),
        _ => return None,
    };
    let take = if encode == Unorm1010102 { RGBA } else { take };
    // The components have eight bits, in whatever order the program had them.
    let kind = match given {
        0 | GL_UNSIGNED_INT_8_8_8_8 | GL_UNSIGNED_INT_8_8_8_8_REV => GL_UNSIGNED_BYTE,
        given if is_small(given) => GL_UNSIGNED_BYTE,
        given => given,
    };
    Some(Layout { format, kind, read: Read::Components(values, take, encode), same_bits: None })
}

/// Types of OpenGL whose components have fewer than eight bits, in an order that no format of OpenGL ES has.
fn is_small(given: u32) -> bool {
    matches!(
        given,
        GL_UNSIGNED_BYTE_3_3_2
            | GL_UNSIGNED_BYTE_2_3_3_REV
            | GL_UNSIGNED_SHORT_5_6_5_REV
            | GL_UNSIGNED_SHORT_4_4_4_4_REV
            | GL_UNSIGNED_SHORT_1_5_5_5_REV
    )
}

fn unsized_depth(internal: u32, given: u32) -> Option<Layout> {
    let (part, bytes) = match (internal, given) {
        (GL_DEPTH_COMPONENT, GL_UNSIGNED_SHORT) => (Part::Depth, 2),
        (GL_DEPTH_COMPONENT, GL_UNSIGNED_INT | GL_FLOAT) => (Part::Depth, 4),
        (GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8) => (Part::DepthStencil, 4),
        _ => return None,
    };
    let read = Read::AsTheyAre(part, bytes);
    Some(Layout { format: internal, kind: given, read, same_bits: None })
}

/// The format that immutable storage has in place of one that glTexStorage2D refuses: an EGL image of an unsized format
/// becomes storage, too (GL_EXT_EGL_image_storage). `given` is the type with which the image was defined; 0 for none.
pub fn of_storage(internal: u32, given: u32) -> u32 {
    match (internal, given) {
        (GL_RED, 0 | GL_UNSIGNED_BYTE) => GL_R8,
        (GL_RG, 0 | GL_UNSIGNED_BYTE) => GL_RG8,
        (GL_RGB, 0 | GL_UNSIGNED_BYTE) => GL_RGB8,
        (GL_RGBA, 0 | GL_UNSIGNED_BYTE) => GL_RGBA8,
        (GL_BGRA, 0 | GL_UNSIGNED_BYTE) => GL_BGRA8_EXT,
        (GL_SRGB, 0 | GL_UNSIGNED_BYTE) => GL_SRGB8,
        (GL_SRGB_ALPHA, 0 | GL_UNSIGNED_BYTE) => GL_SRGB8_ALPHA8,
        (GL_ALPHA, 0 | GL_UNSIGNED_BYTE) => GL_ALPHA8_OES,
        (GL_LUMINANCE, 0 | GL_UNSIGNED_BYTE) => GL_LUMINANCE8_OES,
        (GL_LUMINANCE_ALPHA, 0 | GL_UNSIGNED_BYTE) => GL_LUMINANCE8_ALPHA8_OES,
        (GL_RGB, GL_UNSIGNED_SHORT_5_6_5) => GL_RGB565,
        (GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4) => GL_RGBA4,
        (GL_RGBA, GL_UNSIGNED_SHORT_5_5_5_1) => GL_RGB5_A1,
        (GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV) => GL_RGB10_A2,
        (GL_RGB, GL_HALF_FLOAT | GL_HALF_FLOAT_OES) => GL_RGB16F,
        (GL_RGBA, GL_HALF_FLOAT | GL_HALF_FLOAT_OES) => GL_RGBA16F,
        (GL_RGB, GL_FLOAT) => GL_RGB32F,
        (GL_RGBA, GL_FLOAT) => GL_RGBA32F,
        _ => internal,
    }
}

/// Width and height of a block of a compressed format in pixels, and its size in bytes; `None` for other formats.
pub fn block(internal: u32) -> Option<(i32, i32, usize)> {
    const ASTC: [(i32, i32); 14] = [
        (4, 4),
        (5, 4),
        (5, 5),
        (6, 5),
        (6, 6),
        (8, 5),
        (8, 6),
        (8, 8),
        (10, 5),
        (10, 6),
        (10, 8),
        (10, 10),
        (12, 10),
        (12, 12),
    ];
    let bytes = match internal {
        // ETC1; ETC2 and EAC; S3TC and its sRGB; RGTC: one word a block.
        GL_ETC1_RGB8_OES
        | GL_COMPRESSED_R11_EAC
        | GL_COMPRESSED_SIGNED_R11_EAC
        | GL_COMPRESSED_RGB8_ETC2..=GL_COMPRESSED_SRGB8_PUNCHTHROUGH_ALPHA1_ETC2 => 8,
        GL_COMPRESSED_RGB_S3TC_DXT1_EXT
        | GL_COMPRESSED_RGBA_S3TC_DXT1_EXT
        | GL_COMPRESSED_SRGB_S3TC_DXT1_EXT
        | GL_COMPRESSED_SRGB_ALPHA_S3TC_DXT1_EXT
        | GL_COMPRESSED_RED_RGTC1_EXT
        | GL_COMPRESSED_SIGNED_RED_RGTC1_EXT => 8,
        // The same, two words a block; BPTC.
        GL_COMPRESSED_RG11_EAC
        | GL_COMPRESSED_SIGNED_RG11_EAC
        | GL_COMPRESSED_RGBA8_ETC2_EAC
        | GL_COMPRESSED_SRGB8_ALPHA8_ETC2_EAC => 16,
        GL_COMPRESSED_RGBA_S3TC_DXT3_EXT
        | GL_COMPRESSED_RGBA_S3TC_DXT5_EXT
        | GL_COMPRESSED_SRGB_ALPHA_S3TC_DXT3_EXT
        | GL_COMPRESSED_SRGB_ALPHA_S3TC_DXT5_EXT
        | GL_COMPRESSED_RED_GREEN_RGTC2_EXT
        | GL_COMPRESSED_SIGNED_RED_GREEN_RGTC2_EXT => 16,
        GL_COMPRESSED_RGBA_BPTC_UNORM_EXT..=GL_COMPRESSED_RGB_BPTC_UNSIGNED_FLOAT_EXT => 16,
        GL_COMPRESSED_RGBA_ASTC_4x4..=GL_COMPRESSED_RGBA_ASTC_12x12
        | GL_COMPRESSED_SRGB8_ALPHA8_ASTC_4x4..=GL_COMPRESSED_SRGB8_ALPHA8_ASTC_12x12 => {
            let (width, height) = *ASTC.get((internal & 0xF) as usize)?;
            return Some((width, height, 16));
        }
        _ => return None,
    };
    Some((4, 4, bytes))
}

/// Whether a driver chooses a compressed format for this one of OpenGL.
pub fn is_generic(internal: u32) -> bool {
    matches!(
        internal,
        GL_COMPRESSED_RED
            | GL_COMPRESSED_RG
            | GL_COMPRESSED_RGB
            | GL_COMPRESSED_RGBA
            | GL_COMPRESSED_SRGB
            | GL_COMPRESSED_SRGB_ALPHA
    )
}

/// Whether pixels that a framebuffer returned need no encoding.
pub fn is_plain(values: Values, take: &[usize], encode: Encode) -> bool {
    take == RGBA
        && match values {
            Values::Bytes => matches!(encode, Encode::Unorm8 | Encode::Srgb8),
            _ => encode == Encode::Whole(4),
        }
}

impl Encode {
    /// Bytes per pixel with this number of components.
    pub fn pixel_bytes(self, components: usize) -> usize {
        match self {
            Self::Unorm8 | Self::Srgb8 | Self::Snorm8 => components,
            Self::Unorm16 | Self::Snorm16 | Self::Half => 2 * components,
            Self::Whole(bytes) => bytes * components,
            Self::Packed(_) => 2,
            Self::Unorm1010102 | Self::Uint1010102 | Self::SmallFloats | Self::SharedExponent => 4,
        }
    }
}

/// Packs pixels of depth, in four bytes each, and of stencil, in one: as `GL_UNSIGNED_INT_24_8` if `is_fixed`, else as
/// `GL_FLOAT_32_UNSIGNED_INT_24_8_REV`. `None` if there is no memory.
pub fn pack_depth_and_stencil(pixels: &mut Vec<u8>, stencil: &[u8], is_fixed: bool) -> Option<()> {
    if is_fixed {
        // The 24 bits of depth were expanded to 32.
        for (pixel, stencil) in pixels.as_chunks_mut::<4>().0.iter_mut().zip(stencil) {
            pixel[0] = *stencil;
        }
        return Some(());
    }
    let mut packed = Vec::new();
    packed.try_reserve_exact(pixels.len() * 2).ok()?;
    for (depth, stencil) in pixels.as_chunks::<4>().0.iter().zip(stencil) {
        packed.extend_from_slice(depth);
        packed.extend_from_slice(&u32::from(*stencil).to_le_bytes());
    }
    *pixels = packed;
    Some(())
}

/// Appends pixels in the layout of an upload to `out`. `read` has four components per pixel: bytes or words, depending on
/// `values`.
pub fn encode(read: &[u8], values: Values, take: &[usize], encode: Encode, out: &mut Vec<u8>) {
    match (values, encode) {
        (Values::Bytes, Encode::Unorm8 | Encode::Srgb8) => encode_bytes(read, take, out),
        (Values::Bytes, Encode::Packed(bits)) => encode_packed(read, bits, out),
        (Values::Bytes, _) => {
            for pixel in read.as_chunks::<4>().0 {
                encode_pixel(pixel.map(|byte| f32::from(byte) / 255.0), take, encode, out);
            }
        }
        (_, Encode::Whole(bytes)) => {
            for pixel in read.as_chunks::<16>().0 {
                let words = pixel.as_chunks::<4>().0;
                for word in take.iter().filter_map(|at| words.get(*at)) {
                    out.extend_from_slice(word.get(..bytes).unwrap_or(word));
                }
            }
        }
        (Values::Floats, _) => {
            for pixel in words(read) {
                encode_pixel(pixel.map(f32::from_bits), take, encode, out);
            }
        }
        (Values::Ints | Values::Uints, _) => {
            for pixel in words(read) {
                out.extend_from_slice(&pack_1010102(pixel).to_le_bytes());
            }
        }
    }
}

fn encode_bytes(read: &[u8], take: &[usize], out: &mut Vec<u8>) {
    let pixels = read.as_chunks::<4>().0;
    match *take {
        [0, 1, 2, 3] => out.extend_from_slice(read),
        [0, 1, 2] => {
            for [red, green, blue, _] in pixels {
                out.extend_from_slice(&[*red, *green, *blue]);
            }
        }
        [at] => out.extend(pixels.iter().filter_map(|pixel| pixel.get(at))),
        _ => {
            for pixel in pixels {
                out.extend(take.iter().filter_map(|at| pixel.get(*at)));
            }
        }
    }
}

/// Encodes pixels of two bytes, with a table for the bytes of each component.
fn encode_packed(read: &[u8], bits: [u32; 4], out: &mut Vec<u8>) {
    let mut shift = bits.iter().sum::<u32>();
    let tables = bits.map(|bits| {
        shift -= bits;
        let mut byte = 0_u8;
        [0_u16; 256].map(|_| {
            let value = unorm(f32::from(byte) / 255.0, bits) as u16;
            byte = byte.wrapping_add(1);
            value << shift
        })
    });
    for pixel in read.as_chunks::<4>().0 {
        let parts = tables.iter().zip(pixel);
        let parts = parts.map(|(table, byte)| table.get(usize::from(*byte)).copied().unwrap_or(0));
        out.extend_from_slice(&parts.fold(0, |packed, part| packed | part).to_le_bytes());
    }
}

fn words(read: &[u8]) -> impl Iterator<Item = [u32; 4]> {
    let pixels = read.as_chunks::<16>().0.iter();
    pixels.map(|pixel| {
        let mut words = pixel.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
        [0; 4].map(|_: u32| words.next().unwrap_or(0))
    })
}

fn encode_pixel(pixel: [f32; 4], take: &[usize], encode: Encode, out: &mut Vec<u8>) {
    match encode {
        Encode::Packed(bits) => {
            let values = pixel.iter().zip(bits);
            let packed =
                values.fold(0, |packed, (value, bits)| packed << bits | unorm(*value, bits));
            out.extend_from_slice(&(packed as u16).to_le_bytes());
            return;
        }
        Encode::Unorm1010102 | Encode::Uint1010102 => {
            let [red, green, blue, alpha] = pixel;
            let color = [red, green, blue].map(|value| unorm(value, 10));
            let [red, green, blue] = color;
            let packed = pack_1010102([red, green, blue, unorm(alpha, 2)]);
            out.extend_from_slice(&packed.to_le_bytes());
            return;
        }
        Encode::SmallFloats => {
            let [red, green, blue, _] = pixel.map(|value| u32::from(half(value)));
            let packed = red >> 4 | green >> 4 << 11 | blue >> 5 << 22;
            out.extend_from_slice(&packed.to_le_bytes());
            return;
        }
        Encode::SharedExponent => {
            out.extend_from_slice(&shared_exponent(pixel).to_le_bytes());
            return;
        }
        _ => {}
    }
    for at in take {
        let value = pixel.get(*at).copied().unwrap_or(0.0);
        match encode {
            Encode::Srgb8 if *at < 3 => out.push(srgb8(value)),
            Encode::Unorm8 | Encode::Srgb8 => out.push(unorm(value, 8) as u8),
            Encode::Snorm8 => out.extend_from_slice(&(snorm(value, 7) as i8).to_le_bytes()),
            Encode::Unorm16 => out.extend_from_slice(&(unorm(value, 16) as u16).to_le_bytes()),
            Encode::Snorm16 => out.extend_from_slice(&(snorm(value, 15) as i16).to_le_bytes()),
            Encode::Half => out.extend_from_slice(&half(value).to_le_bytes()),
            _ => out.extend_from_slice(&value.to_le_bytes()),
        }
    }
}

fn pack_1010102([red, green, blue, alpha]: [u32; 4]) -> u32 {
    red & 0x3FF | (green & 0x3FF) << 10 | (blue & 0x3FF) << 20 | (alpha & 3) << 30
}

fn unorm(value: f32, bits: u32) -> u32 {
    (value.clamp(0.0, 1.0) * ((1_u32 << bits) - 1) as f32).round() as u32
}

fn snorm(value: f32, bits: u32) -> i32 {
    (value.clamp(-1.0, 1.0) * ((1_u32 << bits) - 1) as f32).round() as i32
}

/// Entries of the table over the numbers from 0 to 1; so many that no two sRGB bytes share an entry.
const SRGB_ENTRIES: usize = 1 << 14;

/// Returns the sRGB byte that decodes to a number.
fn srgb8(linear: f32) -> u8 {
    static TABLE: OnceLock<Vec<u8>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let middle = |entry: usize| (entry as f32 + 0.5) / SRGB_ENTRIES as f32;
        (0..SRGB_ENTRIES).map(|entry| unorm(to_srgb(middle(entry)), 8) as u8).collect()
    });
    let entry = (linear.clamp(0.0, 1.0) * SRGB_ENTRIES as f32) as usize;
    table.get(entry.min(SRGB_ENTRIES - 1)).copied().unwrap_or(0)
}

fn to_srgb(linear: f32) -> f32 {
    match linear <= 0.003_130_8 {
        true => linear * 12.92,
        false => 1.055 * linear.powf(1.0 / 2.4) - 0.055,
    }
}

/// Returns the half-precision float that has a number's value.
pub fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let exponent = (bits >> 23 & 0xFF) as i32 - 127;
    let fraction = bits & 0x7F_FFFF;
    match exponent {
        128 if fraction != 0 => sign | 0x7C00 | (fraction >> 13).max(1) as u16,
        16.. => sign | 0x7C00,
        -14.. => sign | ((exponent + 15) as u16) << 10 | (fraction >> 13) as u16,
        // Below the least normal number the fraction counts units of 2 to the power of -24.
        -24.. => sign | ((fraction | 0x80_0000) >> (-1 - exponent)) as u16,
        _ => sign,
    }
}

/// Encodes three numbers with the least exponent that fits all. They were decoded from such a word, perhaps one with a
/// greater exponent, which has the same value.
fn shared_exponent([red, green, blue, _]: [f32; 4]) -> u32 {
    let most = red.max(green).max(blue);
    let exponent = (most.to_bits() >> 23) as i32 - 127 + 1 + 15;
    let exponent = exponent.clamp(0, 31);
    let unit = 2_f32.powi(exponent - 15 - 9);
    let [red, green, blue] = [red, green, blue].map(|value| (value / unit).round() as u32 & 0x1FF);
    red | green << 9 | blue << 18 | (exponent as u32) << 27
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(read: &[u8], layout: Layout) -> Vec<u8> {
        let Read::Components(values, take, how) = layout.read else { panic!("{layout:?}") };
        let mut out = Vec::new();
        encode(read, values, take, how, &mut out);
        out
    }

    #[test]
    fn depth_and_stencil_are_packed() {
        let pack = |depth: u32, stencil: u8, is_fixed| {
            let mut pixels = depth.to_le_bytes().to_vec();
            assert_eq!(pack_depth_and_stencil(&mut pixels, &[stencil], is_fixed), Some(()));
            pixels
        };
        assert_eq!(pack(0x4CCC_CD4C, 0x77, true), 0x4CCC_CD77_u32.to_le_bytes());
        let both = [0.3_f32.to_le_bytes(), 0x77_u32.to_le_bytes()].concat();
        assert_eq!(pack(0.3_f32.to_bits(), 0x77, false), both);
    }

    #[test]
    fn numbers_of_few_bits_survive_the_way_through_bytes_and_floats() {
        for bits in 1..=8 {
            for value in 0..1_u32 << bits {
                let max = ((1_u32 << bits) - 1) as f32;
                let byte = (value as f32 / max * 255.0).round();
                assert_eq!(unorm(byte / 255.0, bits), value, "{bits} bits");
            }
        }
        for value in 0..=u32::from(u16::MAX) {
            assert_eq!(unorm(value as f32 / 65535.0, 16), value);
            assert_eq!(half(from_half(value as u16)), value as u16, "{value:#x}");
        }
        for value in -127..=127 {
            assert_eq!(snorm(value as f32 / 127.0, 7), value);
        }
    }

    fn from_half(half: u16) -> f32 {
        let sign = if half & 0x8000 != 0 { -1.0 } else { 1.0 };
        let (exponent, fraction) = (i32::from(half >> 10 & 0x1F), f32::from(half & 0x3FF));
        match exponent {
            0 => sign * fraction * 2_f32.powi(-24),
            31 if fraction == 0.0 => sign * f32::INFINITY,
            31 => f32::from_bits(
                u32::from(half & 0x8000) << 16 | 0x7F80_0000 | u32::from(half & 0x3FF) << 13,
            ),
            _ => sign * (1.0 + fraction / 1024.0) * 2_f32.powi(exponent - 15),
        }
    }

    #[test]
    fn bytes_of_srgb_survive_being_decoded() {
        for byte in 0..=255_u8 {
            let value = f32::from(byte) / 255.0;
            let linear = match value <= 0.04045 {
                true => value / 12.92,
                false => ((value + 0.055) / 1.055).powf(2.4),
            };
            // A driver need not decode as exactly as this.
            for off in [-1e-6, 0.0, 1e-6] {
                assert_eq!(srgb8(linear + off), byte);
            }
        }
    }

    #[test]
    fn pixels_are_packed_as_they_are_uploaded() {
        let check = |internal, given, read: &[u8], expected: &[u8]| {
            let layout = Layout::of(internal, given).expect("a known format");
            assert_eq!(encoded(read, layout), expected, "{internal:#x} {given:#x}");
        };
        check(0x8058, 0, &[1, 2, 3, 4, 5, 6, 7, 8], &[1, 2, 3, 4, 5, 6, 7, 8]);
        check(GL_RGB, GL_UNSIGNED_BYTE, &[1, 2, 3, 4, 5, 6, 7, 8], &[1, 2, 3, 5, 6, 7]);
        check(GL_BGRA, GL_UNSIGNED_BYTE, &[1, 2, 3, 4], &[3, 2, 1, 4]);
        check(GL_LUMINANCE_ALPHA, GL_UNSIGNED_BYTE, &[9, 9, 9, 4], &[9, 4]);
        check(GL_RGB, GL_UNSIGNED_SHORT_5_6_5, &[255, 0, 255, 255], &[0x1F, 0xF8]);
        check(GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4, &[17, 34, 51, 68], &[0x34, 0x12]);
        check(GL_RGBA, GL_UNSIGNED_SHORT_5_5_5_1, &[0, 0, 0, 255], &[1, 0]);
        let words: Vec<u8> = [1_u32, 2, 3, 3].iter().flat_map(|word| word.to_le_bytes()).collect();
        check(0x906F, 0, &words, &(1 | 2 << 10 | 3 << 20 | 3_u32 << 30).to_le_bytes());
        check(0x8D7D, 0, &words, &[1, 2, 3]);
        let ones: Vec<u8> = [1_f32; 4].iter().flat_map(|value| value.to_le_bytes()).collect();
        check(GL_ALPHA, GL_HALF_FLOAT_OES, &ones, &[0, 0x3C]);
        check(0x8F95, 0, &ones, &[127, 127]);
        check(GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV, &ones, &[255; 4]);
        check(0x8C3A, 0, &ones, &(0x3C0 | 0x3C0 << 11 | 0x1E0_u32 << 22).to_le_bytes());
        check(0x8C3D, 0, &ones, &(256 | 256 << 9 | 256 << 18 | 16_u32 << 27).to_le_bytes());
    }

    #[test]
    fn blocks_of_compressed_formats_are_known() {
        assert_eq!(block(0x9274), Some((4, 4, 8)));
        assert_eq!(block(0x93B0), Some((4, 4, 16)));
        assert_eq!(block(0x93DD), Some((12, 12, 16)));
        assert_eq!(block(0x8058), None);
    }
}

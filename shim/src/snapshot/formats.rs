//! How pixels of each internal format are read from a framebuffer or a shader, and uploaded again,
//! without a difference.

use std::sync::OnceLock;

const GL_UNSIGNED_BYTE: u32 = 0x1401;
const GL_BYTE: u32 = 0x1400;
const GL_UNSIGNED_SHORT: u32 = 0x1403;
const GL_SHORT: u32 = 0x1402;
const GL_UNSIGNED_INT: u32 = 0x1405;
const GL_INT: u32 = 0x1404;
const GL_FLOAT: u32 = 0x1406;
const GL_HALF_FLOAT: u32 = 0x140B;
const GL_HALF_FLOAT_OES: u32 = 0x8D61;
const GL_UNSIGNED_SHORT_4_4_4_4: u32 = 0x8033;
const GL_UNSIGNED_SHORT_5_5_5_1: u32 = 0x8034;
const GL_UNSIGNED_SHORT_5_6_5: u32 = 0x8363;
const GL_UNSIGNED_INT_2_10_10_10_REV: u32 = 0x8368;
const GL_UNSIGNED_INT_24_8: u32 = 0x84FA;
const GL_UNSIGNED_INT_10F_11F_11F_REV: u32 = 0x8C3B;
const GL_UNSIGNED_INT_5_9_9_9_REV: u32 = 0x8C3E;
const GL_FLOAT_32_UNSIGNED_INT_24_8_REV: u32 = 0x8DAD;
const GL_STENCIL_INDEX: u32 = 0x1901;
const GL_DEPTH_COMPONENT: u32 = 0x1902;
const GL_RED: u32 = 0x1903;
const GL_ALPHA: u32 = 0x1906;
const GL_RGB: u32 = 0x1907;
const GL_RGBA: u32 = 0x1908;
const GL_LUMINANCE: u32 = 0x1909;
const GL_LUMINANCE_ALPHA: u32 = 0x190A;
const GL_BGRA: u32 = 0x80E1;
const GL_RG: u32 = 0x8227;
const GL_RG_INTEGER: u32 = 0x8228;
const GL_DEPTH_STENCIL: u32 = 0x84F9;
const GL_SRGB: u32 = 0x8C40;
const GL_SRGB_ALPHA: u32 = 0x8C42;
const GL_RED_INTEGER: u32 = 0x8D94;
const GL_RGB_INTEGER: u32 = 0x8D98;
const GL_RGBA_INTEGER: u32 = 0x8D99;

/// What a format's components are read as: four of them a pixel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Values {
    /// Fixed-point numbers of up to eight bits.
    Bytes,
    Floats,
    Ints,
    Uints,
}

/// What of a framebuffer holds such pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    Color,
    Depth,
    Stencil,
    DepthStencil,
}

/// What a component, or a whole pixel, becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encode {
    Unorm8,
    /// Alpha is as it is.
    Srgb8,
    Snorm8,
    Unorm16,
    Snorm16,
    Half,
    /// The lowest bytes of the word.
    Whole(usize),
    /// Bits of the components, the first one highest, in two bytes.
    Packed([u32; 4]),
    /// Ten bits each and two, the first one lowest: fixed-point numbers, or whole ones.
    Unorm1010102,
    Uint1010102,
    /// Two numbers of eleven bits and one of ten, the first one lowest, without a sign.
    SmallFloats,
    /// Nine bits each, the first one lowest, and their exponent.
    SharedExponent,
}

/// How pixels are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Read {
    /// In the format that they are uploaded in: that many bytes each.
    AsTheyAre(Part, usize),
    /// The components, of which those of these indices are taken.
    Components(Values, &'static [usize], Encode),
}

/// A format whose pixels have the same bits as another's, and are read without a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SameBits {
    pub of: u32,
    pub format: u32,
}

/// How pixels of an internal format are read and given again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Format and type that they are uploaded in.
    pub format: u32,
    pub kind: u32,
    pub read: Read,
    pub same_bits: Option<SameBits>,
}

impl Layout {
    /// Of an internal format, and the type that it was given with: 0 for none.
    pub fn of(internal: u32, given: u32) -> Option<Self> {
        let layout = sized(internal, given).or_else(|| unsized_of(internal, given))?;
        let same_bits = same_bits(internal).map(|format| SameBits { of: internal, format });
        Some(Self { same_bits, ..layout })
    }
}

/// Of formats that no framebuffer has, or that drivers read with a change.
fn same_bits(internal: u32) -> Option<u32> {
    const GL_R8: u32 = 0x8229;
    const GL_RG8: u32 = 0x822B;
    const GL_RGB8: u32 = 0x8051;
    const GL_RGBA8: u32 = 0x8058;
    const GL_R16UI: u32 = 0x8234;
    const GL_RG16UI: u32 = 0x823A;
    const GL_RGBA16UI: u32 = 0x8D76;
    Some(match internal {
        // sRGB
        0x8FBD => GL_R8,
        0x8FBE => GL_RG8,
        0x8C41 => GL_RGB8,
        // Signed fixed-point numbers
        0x8F94 => GL_R8,
        0x8F95 => GL_RG8,
        0x8F96 => GL_RGB8,
        0x8F97 => GL_RGBA8,
        0x8F98 => GL_R16UI,
        0x8F99 => GL_RG16UI,
        0x8F9B => GL_RGBA16UI,
        // Floats in a word
        0x8C3A | 0x8C3D => GL_RGBA8,
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
        0x8229 => unorm8(GL_RED, R),
        0x822B => unorm8(GL_RG, RG),
        0x8051 => unorm8(GL_RGB, RGB),
        0x8058 => unorm8(GL_RGBA, RGBA),
        0x93A1 => unorm8(GL_BGRA, BGRA),
        0x8040 => unorm8(GL_LUMINANCE, R),
        0x803C => unorm8(GL_ALPHA, A),
        0x8045 => unorm8(GL_LUMINANCE_ALPHA, RA),
        0x8FBD => srgb8(GL_RED, R),
        0x8FBE => srgb8(GL_RG, RG),
        0x8C41 => srgb8(GL_RGB, RGB),
        0x8C43 => srgb8(GL_RGBA, RGBA),
        0x8D62 => packed(GL_RGB, GL_UNSIGNED_SHORT_5_6_5, RGB, [5, 6, 5, 0]),
        0x8056 => packed(GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4, RGBA, [4, 4, 4, 4]),
        0x8057 => packed(GL_RGBA, GL_UNSIGNED_SHORT_5_5_5_1, RGBA, [5, 5, 5, 1]),
        0x8F94 => snorm8(GL_RED, R),
        0x8F95 => snorm8(GL_RG, RG),
        0x8F96 => snorm8(GL_RGB, RGB),
        0x8F97 => snorm8(GL_RGBA, RGBA),
        0x822A => unorm16(GL_RED, R),
        0x822C => unorm16(GL_RG, RG),
        0x8054 => unorm16(GL_RGB, RGB),
        0x805B => unorm16(GL_RGBA, RGBA),
        0x8F98 => snorm16(GL_RED, R),
        0x8F99 => snorm16(GL_RG, RG),
        0x8F9A => snorm16(GL_RGB, RGB),
        0x8F9B => snorm16(GL_RGBA, RGBA),
        0x822D => half(GL_RED, R),
        0x822F => half(GL_RG, RG),
        0x881B => half(GL_RGB, RGB),
        0x881A => half(GL_RGBA, RGBA),
        0x822E => float(GL_RED, R),
        0x8230 => float(GL_RG, RG),
        0x8815 => float(GL_RGB, RGB),
        0x8C3A => components(GL_RGB, GL_UNSIGNED_INT_10F_11F_11F_REV, Floats, RGB, SmallFloats),
        0x8C3D => components(GL_RGB, GL_UNSIGNED_INT_5_9_9_9_REV, Floats, RGB, SharedExponent),
        0x8814 => float(GL_RGBA, RGBA),
        0x8059 => of(GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV, AsTheyAre(Part::Color, 4)),
        0x906F => {
            let kind = GL_UNSIGNED_INT_2_10_10_10_REV;
            components(GL_RGBA_INTEGER, kind, Uints, RGBA, Uint1010102)
        }
        0x8231 => ints(GL_BYTE, R),
        0x8232 => ints(GL_UNSIGNED_BYTE, R),
        0x8233 => ints(GL_SHORT, R),
        0x8234 => ints(GL_UNSIGNED_SHORT, R),
        0x8235 => ints(GL_INT, R),
        0x8236 => ints(GL_UNSIGNED_INT, R),
        0x8237 => ints(GL_BYTE, RG),
        0x8238 => ints(GL_UNSIGNED_BYTE, RG),
        0x8239 => ints(GL_SHORT, RG),
        0x823A => ints(GL_UNSIGNED_SHORT, RG),
        0x823B => ints(GL_INT, RG),
        0x823C => ints(GL_UNSIGNED_INT, RG),
        0x8D8F => ints(GL_BYTE, RGB),
        0x8D7D => ints(GL_UNSIGNED_BYTE, RGB),
        0x8D89 => ints(GL_SHORT, RGB),
        0x8D77 => ints(GL_UNSIGNED_SHORT, RGB),
        0x8D83 => ints(GL_INT, RGB),
        0x8D71 => ints(GL_UNSIGNED_INT, RGB),
        0x8D8E => ints(GL_BYTE, RGBA),
        0x8D7C => ints(GL_UNSIGNED_BYTE, RGBA),
        0x8D88 => ints(GL_SHORT, RGBA),
        0x8D76 => ints(GL_UNSIGNED_SHORT, RGBA),
        0x8D82 => ints(GL_INT, RGBA),
        0x8D70 => ints(GL_UNSIGNED_INT, RGBA),
        // What a shader sees of it may depend on the type too.
        0x81A5 if given == GL_UNSIGNED_INT => depth(GL_UNSIGNED_INT, 4),
        0x81A5 => depth(GL_UNSIGNED_SHORT, 2),
        0x81A6 | 0x81A7 => depth(GL_UNSIGNED_INT, 4),
        0x8CAC => depth(GL_FLOAT, 4),
        0x88F0 => both(GL_UNSIGNED_INT_24_8, 4),
        0x8CAD => both(GL_FLOAT_32_UNSIGNED_INT_24_8_REV, 8),
        0x8D48 => of(GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, AsTheyAre(Part::Stencil, 1)),
        _ => return None,
    })
}

/// Of a format without a size: the type says how wide its components are.
fn unsized_of(internal: u32, given: u32) -> Option<Layout> {
    use Encode::*;
    let (format, take) = match internal {
        GL_RED => (GL_RED, R),
        GL_RG => (GL_RG, RG),
        GL_RGB | GL_SRGB => (internal, RGB),
        GL_RGBA | GL_SRGB_ALPHA => (internal, RGBA),
        GL_BGRA => (GL_BGRA, BGRA),
        GL_ALPHA => (GL_ALPHA, A),
        GL_LUMINANCE => (GL_LUMINANCE, R),
        GL_LUMINANCE_ALPHA => (GL_LUMINANCE_ALPHA, RA),
        GL_DEPTH_COMPONENT | GL_DEPTH_STENCIL => return unsized_depth(internal, given),
        _ => return None,
    };
    let is_srgb = matches!(internal, GL_SRGB | GL_SRGB_ALPHA);
    let (values, encode) = match given {
        // Of an image that was copied from a framebuffer.
        0 | GL_UNSIGNED_BYTE if is_srgb => (Values::Bytes, Srgb8),
        0 | GL_UNSIGNED_BYTE => (Values::Bytes, Unorm8),
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
    let kind = if given == 0 { GL_UNSIGNED_BYTE } else { given };
    Some(Layout { format, kind, read: Read::Components(values, take, encode), same_bits: None })
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

/// Width, height and bytes of a block of a compressed format.
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
        0x8D64 | 0x9270 | 0x9271 | 0x9274..=0x9277 => 8,
        0x83F0 | 0x83F1 | 0x8C4C | 0x8C4D | 0x8DBB | 0x8DBC => 8,
        // The same, two words a block; BPTC.
        0x9272 | 0x9273 | 0x9278 | 0x9279 => 16,
        0x83F2 | 0x83F3 | 0x8C4E | 0x8C4F | 0x8DBD | 0x8DBE => 16,
        0x8E8C..=0x8E8F => 16,
        0x93B0..=0x93BD | 0x93D0..=0x93DD => {
            let (width, height) = *ASTC.get((internal & 0xF) as usize)?;
            return Some((width, height, 16));
        }
        _ => return None,
    };
    Some((4, 4, bytes))
}

/// Whether pixels are uploaded as they are read through a framebuffer.
pub fn is_plain(values: Values, take: &[usize], encode: Encode) -> bool {
    take == RGBA
        && match values {
            Values::Bytes => matches!(encode, Encode::Unorm8 | Encode::Srgb8),
            _ => encode == Encode::Whole(4),
        }
}

impl Encode {
    /// Bytes of a pixel that so many components are taken of.
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

/// Appends pixels as they are uploaded; `read` has four components a pixel, bytes or words as the
/// values say.
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

/// Two bytes a pixel; what each byte of a component becomes is looked up.
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

/// Entries over the numbers from 0 to 1: no two bytes of sRGB come to lie in one.
const SRGB_ENTRIES: usize = 1 << 14;

/// The byte that a number was decoded from.
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

/// The half-precision number that a number came from.
fn half(value: f32) -> u16 {
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

/// The least exponent that all three numbers fit with; they came from such a word, perhaps with a
/// greater one, which means the same.
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

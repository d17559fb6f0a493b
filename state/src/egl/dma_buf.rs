//! `DmaBuf`: the layout of memory that an EGL image is imported from (EGL_EXT_image_dma_buf_import and
//! EGL_EXT_image_dma_buf_import_modifiers), by the attributes of eglCreateImage: planes, format and hints for colours. Knows
//! the formats of [`FORMATS`] in rows one behind the other (the modifier LINEAR, or none). Refused are other formats and
//! modifiers, sizes above `SIDE_MAX` (16,384), and planes above `BYTES_MAX` (64 MiB) together. Reads no pixels.

use std::fmt;

use gapii_commands::constants::*;

/// Largest width and height in pixels.
pub const SIDE_MAX: u32 = 1 << 14;
/// Most bytes of all planes of an image.
pub const BYTES_MAX: u64 = 64 << 20;
/// `DRM_FORMAT_MOD_LINEAR`: rows one behind the other.
const LINEAR: u64 = 0;
/// Attributes of each plane: descriptor, offset, pitch, and both halves of the modifier.
const PLANES: [[u32; 5]; 4] = [
    [
        EGL_DMA_BUF_PLANE0_FD_EXT,
        EGL_DMA_BUF_PLANE0_OFFSET_EXT,
        EGL_DMA_BUF_PLANE0_PITCH_EXT,
        EGL_DMA_BUF_PLANE0_MODIFIER_LO_EXT,
        EGL_DMA_BUF_PLANE0_MODIFIER_HI_EXT,
    ],
    [
        EGL_DMA_BUF_PLANE1_FD_EXT,
        EGL_DMA_BUF_PLANE1_OFFSET_EXT,
        EGL_DMA_BUF_PLANE1_PITCH_EXT,
        EGL_DMA_BUF_PLANE1_MODIFIER_LO_EXT,
        EGL_DMA_BUF_PLANE1_MODIFIER_HI_EXT,
    ],
    [
        EGL_DMA_BUF_PLANE2_FD_EXT,
        EGL_DMA_BUF_PLANE2_OFFSET_EXT,
        EGL_DMA_BUF_PLANE2_PITCH_EXT,
        EGL_DMA_BUF_PLANE2_MODIFIER_LO_EXT,
        EGL_DMA_BUF_PLANE2_MODIFIER_HI_EXT,
    ],
    [
        EGL_DMA_BUF_PLANE3_FD_EXT,
        EGL_DMA_BUF_PLANE3_OFFSET_EXT,
        EGL_DMA_BUF_PLANE3_PITCH_EXT,
        EGL_DMA_BUF_PLANE3_MODIFIER_LO_EXT,
        EGL_DMA_BUF_PLANE3_MODIFIER_HI_EXT,
    ],
];

/// How a format keeps the components of a pixel. Formats of DRM are little-endian numbers: the first letter of a name is the
/// highest bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Samples {
    /// Bytes of a pixel: for red, green, blue and alpha the index of the byte; `None` for a component that the format lacks.
    Bytes([Option<u8>; 4]),
    /// 16 bits: 5, 6 and 5 for red, green and blue from the highest bit on, or from the lowest one.
    Packed565 {
        /// Red is in the lowest bits.
        is_reversed: bool,
    },
    /// 32 bits: two of alpha, then ten each for red, green and blue, or for blue, green and red.
    Packed2101010 {
        /// Red is in the lowest bits.
        is_reversed: bool,
        /// The two bits are alpha; otherwise they have no meaning.
        has_alpha: bool,
    },
    /// Four numbers of 16 bits (IEEE 754 binary16): red, green, blue, and alpha if there is one.
    Halves {
        /// The fourth number is alpha; otherwise it has no meaning.
        has_alpha: bool,
    },
    /// Y in the first plane; Cb and Cr, one for 2 by 2 pixels, in one plane together or in a plane each.
    Yuv {
        /// Cr precedes Cb.
        is_reversed: bool,
        /// A sample has 16 bits, of which the upper ten count; otherwise 8.
        is_wide: bool,
    },
}

/// A format of DRM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// The four letters of its code.
    pub fourcc: [u8; 4],
    /// How it keeps components.
    pub samples: Samples,
    /// Of each plane: bytes of a pixel or a pair of chroma samples, and the number of image columns and rows that one covers.
    planes: &'static [(u64, u32)],
}

const fn bytes(fourcc: [u8; 4], planes: &'static [(u64, u32)], order: [Option<u8>; 4]) -> Format {
    Format { fourcc, samples: Samples::Bytes(order), planes }
}

const fn yuv(
    fourcc: [u8; 4],
    planes: &'static [(u64, u32)],
    is_reversed: bool,
    is_wide: bool,
) -> Format {
    Format { fourcc, samples: Samples::Yuv { is_reversed, is_wide }, planes }
}

const fn packed(fourcc: [u8; 4], planes: &'static [(u64, u32)], samples: Samples) -> Format {
    Format { fourcc, samples, planes }
}

const RGBA: [Option<u8>; 4] = [Some(0), Some(1), Some(2), Some(3)];
const RGBX: [Option<u8>; 4] = [Some(0), Some(1), Some(2), None];
const BGRA: [Option<u8>; 4] = [Some(2), Some(1), Some(0), Some(3)];
const BGRX: [Option<u8>; 4] = [Some(2), Some(1), Some(0), None];

/// The formats whose pixels are recorded.
pub static FORMATS: &[Format] = &[
    bytes(*b"XR24", &[(4, 1)], BGRX),
    bytes(*b"AR24", &[(4, 1)], BGRA),
    bytes(*b"XB24", &[(4, 1)], RGBX),
    bytes(*b"AB24", &[(4, 1)], RGBA),
    bytes(*b"RX24", &[(4, 1)], [Some(3), Some(2), Some(1), None]),
    bytes(*b"RA24", &[(4, 1)], [Some(3), Some(2), Some(1), Some(0)]),
    bytes(*b"BX24", &[(4, 1)], [Some(1), Some(2), Some(3), None]),
    bytes(*b"BA24", &[(4, 1)], [Some(1), Some(2), Some(3), Some(0)]),
    bytes(*b"RG24", &[(3, 1)], BGRX),
    bytes(*b"BG24", &[(3, 1)], RGBX),
    bytes(*b"R8  ", &[(1, 1)], [Some(0), None, None, None]),
    bytes(*b"GR88", &[(2, 1)], [Some(0), Some(1), None, None]),
    packed(*b"RG16", &[(2, 1)], Samples::Packed565 { is_reversed: false }),
    packed(*b"BG16", &[(2, 1)], Samples::Packed565 { is_reversed: true }),
    packed(*b"XR30", &[(4, 1)], Samples::Packed2101010 { is_reversed: false, has_alpha: false }),
    packed(*b"AR30", &[(4, 1)], Samples::Packed2101010 { is_reversed: false, has_alpha: true }),
    packed(*b"XB30", &[(4, 1)], Samples::Packed2101010 { is_reversed: true, has_alpha: false }),
    packed(*b"AB30", &[(4, 1)], Samples::Packed2101010 { is_reversed: true, has_alpha: true }),
    packed(*b"XB4H", &[(8, 1)], Samples::Halves { has_alpha: false }),
    packed(*b"AB4H", &[(8, 1)], Samples::Halves { has_alpha: true }),
    yuv(*b"NV12", &[(1, 1), (2, 2)], false, false),
    yuv(*b"NV21", &[(1, 1), (2, 2)], true, false),
    yuv(*b"YU12", &[(1, 1), (1, 2), (1, 2)], false, false),
    yuv(*b"YV12", &[(1, 1), (1, 2), (1, 2)], true, false),
    yuv(*b"P010", &[(2, 1), (4, 2)], false, true),
];

/// A plane of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plane {
    /// The program's descriptor of its memory.
    pub descriptor: i32,
    /// Where the plane begins in that memory, in bytes.
    pub offset: u64,
    /// From the begin of a row to the next, in bytes.
    pub pitch: u64,
    /// Bytes of a row that have pixels.
    pub row_bytes: u64,
    /// Number of rows.
    pub rows: u32,
    /// Bytes from the first pixel to the last.
    pub bytes: u64,
}

/// Layout of imported memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DmaBuf {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The format.
    pub format: Format,
    /// The planes, as many as the format has.
    pub planes: Vec<Plane>,
    /// `EGL_ITU_REC601_EXT`, `EGL_ITU_REC709_EXT` or `EGL_ITU_REC2020_EXT`: the matrix of YUV. BT.601 without a hint.
    pub matrix: u32,
    /// YUV has the full range of values; without a hint the narrow one.
    pub has_full_range: bool,
}

/// Why the memory of an image is not recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unknown {
    /// An attribute that every import has is missing or negative.
    Attributes,
    /// The size, in pixels, is 0 or too large.
    Size(i64, i64),
    /// The format has another layout than those of [`FORMATS`].
    Format([u8; 4]),
    /// The modifier is not LINEAR: pixels lie in tiles, or are compressed.
    Modifier([u8; 4], u64),
    /// Rows overlap, or lie beyond any memory.
    Rows,
    /// Bytes of all planes, above [`BYTES_MAX`].
    Bytes(u64),
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Attributes => f.write_str("attributes are missing"),
            Self::Size(width, height) => write!(f, "its size is {width} x {height}"),
            Self::Format(code) => write!(f, "its format {} is not recorded", letters(code)),
            Self::Modifier(code, modifier) => {
                write!(f, "its layout ({}, modifier {modifier:#x}) is not linear", letters(code))
            }
            Self::Rows => f.write_str("its rows overlap or are too long"),
            Self::Bytes(bytes) => {
                write!(f, "it has {} MiB, and {} are recorded", bytes >> 20, BYTES_MAX >> 20)
            }
        }
    }
}

impl DmaBuf {
    /// The layout by the attributes of eglCreateImage; the function returns the value of one.
    ///
    /// # Errors
    /// The first reason why such memory is not recorded.
    pub fn of(attribute: impl Fn(u32) -> Option<i64>) -> Result<Self, Unknown> {
        let code = attribute(EGL_LINUX_DRM_FOURCC_EXT).ok_or(Unknown::Attributes)?;
        let code = (code as u32).to_le_bytes();
        let sides = [EGL_WIDTH, EGL_HEIGHT].map(|name| attribute(name).unwrap_or(0));
        let [width, height] = sides.map(|side| {
            u32::try_from(side).ok().filter(|side| (1..=SIDE_MAX).contains(side)).unwrap_or(0)
        });
        if width == 0 || height == 0 {
            return Err(Unknown::Size(sides[0], sides[1]));
        }
        if let Some(modifier) = modifier(&attribute).filter(|modifier| *modifier != LINEAR) {
            return Err(Unknown::Modifier(code, modifier));
        }
        let format = FORMATS.iter().find(|format| format.fourcc == code);
        let format = *format.ok_or(Unknown::Format(code))?;
        let planes = PLANES.iter().zip(format.planes);
        let planes = planes.map(|(names, (pixel_bytes, covered))| {
            let value = |at: usize| attribute(names[at]);
            let number = |at: usize| u64::try_from(value(at)?).ok();
            let descriptor = value(0).and_then(|it| i32::try_from(it).ok());
            let descriptor = descriptor.filter(|it| *it >= 0).ok_or(Unknown::Attributes)?;
            let offset = value(1).map_or(Some(0), |_| number(1)).ok_or(Unknown::Attributes)?;
            let pitch = number(2).ok_or(Unknown::Attributes)?;
            let rows = height.div_ceil(*covered);
            let row_bytes = u64::from(width.div_ceil(*covered)) * pixel_bytes;
            // EGL takes numbers of 32 bits.
            if pitch < row_bytes || pitch.max(offset) > u64::from(u32::MAX) {
                return Err(Unknown::Rows);
            }
            let bytes = pitch * u64::from(rows - 1) + row_bytes;
            Ok(Plane { descriptor, offset, pitch, row_bytes, rows, bytes })
        });
        let planes = planes.collect::<Result<Vec<_>, _>>()?;
        let bytes: u64 = planes.iter().map(|plane| plane.bytes).sum();
        if bytes > BYTES_MAX {
            return Err(Unknown::Bytes(bytes));
        }
        let matrix = attribute(EGL_YUV_COLOR_SPACE_HINT_EXT).and_then(|it| u32::try_from(it).ok());
        let known = [EGL_ITU_REC709_EXT, EGL_ITU_REC2020_EXT];
        let matrix = matrix.filter(|it| known.contains(it)).unwrap_or(EGL_ITU_REC601_EXT);
        let range = attribute(EGL_SAMPLE_RANGE_HINT_EXT);
        let has_full_range = range == Some(i64::from(EGL_YUV_FULL_RANGE_EXT));
        Ok(Self { width, height, format, planes, matrix, has_full_range })
    }

    /// The letters of the format.
    pub fn format_name(&self) -> String {
        letters(self.format.fourcc)
    }
}

/// The modifier of the first plane, which all planes have; `None` without one.
fn modifier(attribute: &impl Fn(u32) -> Option<i64>) -> Option<u64> {
    let [_, _, _, low, high] = PLANES[0];
    let [low, high] = [low, high].map(|name| attribute(name).map(|half| half as u32));
    Some(u64::from(low?) | u64::from(high.unwrap_or(0)) << 32)
}

/// The letters of a code; bytes that are none are question marks.
fn letters(code: [u8; 4]) -> String {
    let letter = |byte: &u8| match byte {
        b' '..=b'~' => char::from(*byte),
        _ => '?',
    };
    code.iter().map(letter).collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(u32, i64)]) -> Result<DmaBuf, Unknown> {
        DmaBuf::of(|name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| *value))
    }

    fn code(letters: &[u8; 4]) -> i64 {
        u32::from_le_bytes(*letters).into()
    }

    /// Attributes of an image of one plane, with others in front.
    fn flat(format: &[u8; 4], others: &[(u32, i64)]) -> Vec<(u32, i64)> {
        let plain = [
            (EGL_WIDTH, 6),
            (EGL_HEIGHT, 4),
            (EGL_LINUX_DRM_FOURCC_EXT, code(format)),
            (EGL_DMA_BUF_PLANE0_FD_EXT, 3),
            (EGL_DMA_BUF_PLANE0_OFFSET_EXT, 16),
            (EGL_DMA_BUF_PLANE0_PITCH_EXT, 32),
        ];
        others.iter().chain(&plain).copied().collect()
    }

    #[test]
    fn plane_of_rgb_ends_at_its_last_pixel() {
        let layout = of(&flat(b"XR24", &[])).unwrap();
        let plane =
            Plane { descriptor: 3, offset: 16, pitch: 32, row_bytes: 24, rows: 4, bytes: 120 };
        assert_eq!((layout.width, layout.height, &layout.planes[..]), (6, 4, &[plane][..]));
        assert_eq!((layout.matrix, layout.has_full_range), (EGL_ITU_REC601_EXT, false));
        assert_eq!(layout.format_name(), "XR24");
        assert_eq!(of(&flat(b"R8  ", &[])).unwrap().format_name(), "R8");
    }

    #[test]
    fn chroma_of_an_odd_size_is_rounded_up() {
        let others = [
            (EGL_WIDTH, 5),
            (EGL_HEIGHT, 3),
            (EGL_DMA_BUF_PLANE1_FD_EXT, 4),
            (EGL_DMA_BUF_PLANE1_PITCH_EXT, 8),
            (EGL_YUV_COLOR_SPACE_HINT_EXT, EGL_ITU_REC709_EXT.into()),
            (EGL_SAMPLE_RANGE_HINT_EXT, EGL_YUV_FULL_RANGE_EXT.into()),
        ];
        let layout = of(&flat(b"NV12", &others)).unwrap();
        let sizes: Vec<_> =
            layout.planes.iter().map(|it| (it.row_bytes, it.rows, it.bytes)).collect();
        assert_eq!(sizes, [(5, 3, 69), (6, 2, 14)]);
        assert_eq!((layout.matrix, layout.has_full_range), (EGL_ITU_REC709_EXT, true));
        // The second plane of Cr is missing.
        assert_eq!(of(&flat(b"YU12", &others)), Err(Unknown::Attributes));
    }

    #[test]
    fn memory_that_is_not_recorded_has_a_reason() {
        let check = |others: &[(u32, i64)], expected: Unknown, text: &str| {
            let why = of(&flat(b"AR24", others)).unwrap_err();
            assert_eq!((why, &*why.to_string()), (expected, text));
        };
        let tiled = [
            (EGL_DMA_BUF_PLANE0_MODIFIER_HI_EXT, 0x0100_0000),
            (EGL_DMA_BUF_PLANE0_MODIFIER_LO_EXT, 2),
        ];
        let modifier = Unknown::Modifier(*b"AR24", 0x0100_0000_0000_0002);
        let text = "its layout (AR24, modifier 0x100000000000002) is not linear";
        check(&tiled, modifier, text);
        let other = [(EGL_LINUX_DRM_FOURCC_EXT, code(b"Q\x01\xFFZ"))];
        check(&other, Unknown::Format(*b"Q\x01\xFFZ"), "its format Q??Z is not recorded");
        check(&[(EGL_WIDTH, 0)], Unknown::Size(0, 4), "its size is 0 x 4");
        check(&[(EGL_WIDTH, 20_000)], Unknown::Size(20_000, 4), "its size is 20000 x 4");
        let overlap = [(EGL_DMA_BUF_PLANE0_PITCH_EXT, 23)];
        check(&overlap, Unknown::Rows, "its rows overlap or are too long");
        let closed = [(EGL_DMA_BUF_PLANE0_FD_EXT, -1)];
        check(&closed, Unknown::Attributes, "attributes are missing");
        let large =
            [(EGL_WIDTH, 16_384), (EGL_HEIGHT, 1025), (EGL_DMA_BUF_PLANE0_PITCH_EXT, 65_536)];
        let bytes = 65_536 * 1025;
        check(&large, Unknown::Bytes(bytes), "it has 64 MiB, and 64 are recorded");
        let linear =
            [(EGL_DMA_BUF_PLANE0_MODIFIER_HI_EXT, 0), (EGL_DMA_BUF_PLANE0_MODIFIER_LO_EXT, 0)];
        assert!(of(&flat(b"AR24", &linear)).is_ok());
    }
}

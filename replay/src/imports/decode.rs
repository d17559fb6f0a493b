//! Decodes imported memory into texels for an upload: the formats of `gapii_state::egl::FORMATS`. YUV becomes RGB with the
//! matrix and the range of the layout; each chroma sample holds for its 2 by 2 pixels, without interpolation. A component that
//! a format lacks is as the texture's format has it. Calls no driver.

use gapii_commands::constants::{
    EGL_ITU_REC709_EXT, EGL_ITU_REC2020_EXT, GL_HALF_FLOAT, GL_R8, GL_RED, GL_RG, GL_RG8, GL_RGB,
    GL_RGB8, GL_RGB10_A2, GL_RGB565, GL_RGBA, GL_RGBA8, GL_RGBA16F, GL_UNSIGNED_BYTE,
    GL_UNSIGNED_INT_2_10_10_10_REV, GL_UNSIGNED_SHORT_5_6_5,
};
use gapii_state::egl::{DmaBuf, Samples};

/// The number 1 as binary16.
const ONE_HALF: [u8; 2] = 0x3C00_u16.to_le_bytes();

/// How a texture keeps decoded texels, and how they are uploaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Texel {
    /// Sized internal format.
    pub internal: u32,
    /// Format of uploads.
    pub format: u32,
    /// Type of uploads.
    pub kind: u32,
}

/// Texels of bytes: red, green, blue and alpha.
pub const RGBA8: Texel = Texel { internal: GL_RGBA8, format: GL_RGBA, kind: GL_UNSIGNED_BYTE };

impl Texel {
    /// The texels that hold all that the samples of a format have.
    pub fn of(samples: Samples) -> Self {
        let bytes = |internal, format| Self { internal, format, kind: GL_UNSIGNED_BYTE };
        let tens =
            Self { internal: GL_RGB10_A2, format: GL_RGBA, kind: GL_UNSIGNED_INT_2_10_10_10_REV };
        match samples {
            Samples::Bytes([_, None, ..]) => bytes(GL_R8, GL_RED),
            Samples::Bytes([_, _, None, _]) => bytes(GL_RG8, GL_RG),
            Samples::Bytes([.., None]) | Samples::Yuv { is_wide: false, .. } => {
                bytes(GL_RGB8, GL_RGB)
            }
            Samples::Bytes(_) => RGBA8,
            Samples::Packed565 { .. } => {
                Self { internal: GL_RGB565, format: GL_RGB, kind: GL_UNSIGNED_SHORT_5_6_5 }
            }
            Samples::Packed2101010 { .. } | Samples::Yuv { is_wide: true, .. } => tens,
            Samples::Halves { .. } => {
                Self { internal: GL_RGBA16F, format: GL_RGBA, kind: GL_HALF_FLOAT }
            }
        }
    }
}

impl Texel {
    /// Texels of this kind as [`RGBA8`], for a driver that makes no image of a texture of this kind.
    pub fn widened(self, texels: &[u8]) -> Vec<u8> {
        let word = |it: &[u8]| u32::from(it[0]) | u32::from(it[1]) << 8;
        let part = |it: u32, most: u32| ((it & most) * 255 / most) as u8;
        match self.internal {
            GL_R8 => texels.iter().flat_map(|it| [*it, 0, 0, 255]).collect(),
            GL_RG8 => texels.chunks_exact(2).flat_map(|it| [it[0], it[1], 0, 255]).collect(),
            GL_RGB8 => texels.chunks_exact(3).flat_map(|it| [it[0], it[1], it[2], 255]).collect(),
            GL_RGB565 => {
                let wide = |it: u32| [part(it >> 11, 31), part(it >> 5, 63), part(it, 31), 255];
                texels.chunks_exact(2).flat_map(|it| wide(word(it))).collect()
            }
            GL_RGB10_A2 => {
                let wide = |it: u32| {
                    let tens = [it, it >> 10, it >> 20].map(|it| part(it, 1023));
                    [tens[0], tens[1], tens[2], part(it >> 30, 3)]
                };
                let words = texels.chunks_exact(4).map(|it| word(it) | word(&it[2..]) << 16);
                words.flat_map(wide).collect()
            }
            GL_RGBA16F => texels.chunks_exact(2).map(|it| unit_of_half(word(it) as u16)).collect(),
            _ => texels.to_vec(),
        }
    }
}

/// A binary16 from 0 to 1 as a byte; numbers beyond are clamped.
fn unit_of_half(half: u16) -> u8 {
    let (exponent, fraction) = (i32::from(half >> 10 & 31), f32::from(half & 1023));
    let value = match exponent {
        0 => fraction / 1024.0 * (-14_f32).exp2(),
        _ => (1.0 + fraction / 1024.0) * ((exponent - 15) as f32).exp2(),
    };
    let is_negative = half >> 15 != 0;
    if is_negative { 0 } else { (value.clamp(0.0, 1.0) * 255.0).round() as u8 }
}

/// Returns the texels of an image, rows without padding, as [`Texel::of`] says. `planes` are as long as the layout says.
pub fn decode(layout: &DmaBuf, planes: &[&[u8]]) -> Vec<u8> {
    let mut texels = Vec::new();
    for y in 0..layout.height {
        match layout.format.samples {
            Samples::Yuv { is_reversed, is_wide } => {
                yuv_row(layout, planes, y, (is_reversed, is_wide), &mut texels);
            }
            samples => {
                let pixel_bytes = match samples {
                    Samples::Packed565 { .. } => 2,
                    Samples::Packed2101010 { .. } => 4,
                    Samples::Halves { .. } => 8,
                    _ => layout.planes[0].row_bytes as usize / layout.width as usize,
                };
                let pixels = row(layout, planes, 0, y).chunks_exact(pixel_bytes);
                pixels.for_each(|pixel| rgb(samples, pixel, &mut texels));
            }
        }
    }
    texels
}

/// A row of a plane.
fn row<'p>(layout: &DmaBuf, planes: &[&'p [u8]], plane: usize, y: u32) -> &'p [u8] {
    let of = layout.planes[plane];
    let from = of.pitch as usize * y as usize;
    &planes[plane][from..from + of.row_bytes as usize]
}

/// Appends a pixel of RGB.
fn rgb(samples: Samples, pixel: &[u8], texels: &mut Vec<u8>) {
    match samples {
        Samples::Bytes(order) => {
            texels.extend(order.into_iter().flatten().map(|at| pixel[usize::from(at)]));
        }
        Samples::Packed565 { is_reversed } => {
            let it = u16::from_le_bytes([pixel[0], pixel[1]]);
            let swapped = it & 0x07E0 | it >> 11 | it << 11;
            texels.extend(if is_reversed { swapped } else { it }.to_le_bytes());
        }
        Samples::Packed2101010 { is_reversed, has_alpha } => {
            let it = u32::from_le_bytes([pixel[0], pixel[1], pixel[2], pixel[3]]);
            let swapped = it & 0xC00F_FC00 | it >> 20 & 0x3FF | (it & 0x3FF) << 20;
            let alpha = if has_alpha { 0 } else { 3 << 30 };
            texels.extend((if is_reversed { it } else { swapped } | alpha).to_le_bytes());
        }
        Samples::Halves { has_alpha } => {
            texels.extend_from_slice(&pixel[..6]);
            texels.extend_from_slice(if has_alpha { &pixel[6..8] } else { &ONE_HALF });
        }
        Samples::Yuv { .. } => {}
    }
}

/// Appends a row of YUV.
fn yuv_row(
    layout: &DmaBuf,
    planes: &[&[u8]],
    y: u32,
    (is_reversed, is_wide): (bool, bool),
    texels: &mut Vec<u8>,
) {
    let bytes = if is_wide { 2 } else { 1 };
    let sample = |row: &[u8], at: usize| match is_wide {
        true => u16::from_le_bytes([row[2 * at], row[2 * at + 1]]) >> 6,
        false => row[at].into(),
    };
    let luma = row(layout, planes, 0, y);
    let first = row(layout, planes, 1, y / 2);
    let second = (planes.len() > 2).then(|| row(layout, planes, 2, y / 2));
    debug_assert_eq!(luma.len(), layout.width as usize * bytes);
    let convert = Conversion::of(layout, is_wide);
    for x in 0..layout.width as usize {
        let (one, other) = match second {
            Some(second) => (sample(first, x / 2), sample(second, x / 2)),
            None => (sample(first, x / 2 * 2), sample(first, x / 2 * 2 + 1)),
        };
        let (cb, cr) = if is_reversed { (other, one) } else { (one, other) };
        let rgb = convert.rgb(sample(luma, x), cb, cr);
        if is_wide {
            let [r, g, b] = rgb.map(|it| (it * 1023.0).round() as u32);
            texels.extend((3 << 30 | b << 20 | g << 10 | r).to_le_bytes());
        } else {
            texels.extend(rgb.map(|it| (it * 255.0).round() as u8));
        }
    }
}

/// Conversion of Y, Cb and Cr to red, green and blue from 0 to 1.
struct Conversion {
    /// Weights of red and blue in Y.
    weights: (f32, f32),
    /// Y of black, and the range of Y; Cb and Cr of grey, and their range.
    luma: (f32, f32),
    chroma: (f32, f32),
}

impl Conversion {
    fn of(layout: &DmaBuf, is_wide: bool) -> Self {
        let weights = match layout.matrix {
            EGL_ITU_REC709_EXT => (0.2126, 0.0722),
            EGL_ITU_REC2020_EXT => (0.2627, 0.0593),
            _ => (0.299, 0.114),
        };
        let unit = if is_wide { 4.0 } else { 1.0 };
        let most = if is_wide { 1023.0 } else { 255.0 };
        let (luma, chroma) = match layout.has_full_range {
            true => ((0.0, most), (128.0 * unit, most)),
            false => ((16.0 * unit, 219.0 * unit), (128.0 * unit, 224.0 * unit)),
        };
        Self { weights, luma, chroma }
    }

    fn rgb(&self, y: u16, cb: u16, cr: u16) -> [f32; 3] {
        let (red, blue) = self.weights;
        let scaled = |it: u16, (zero, range): (f32, f32)| (f32::from(it) - zero) / range;
        let y = scaled(y, self.luma);
        let (cb, cr) = (scaled(cb, self.chroma), scaled(cr, self.chroma));
        let r = y + 2.0 * (1.0 - red) * cr;
        let b = y + 2.0 * (1.0 - blue) * cb;
        let g = (y - red * r - blue * b) / (1.0 - red - blue);
        [r, g, b].map(|it| it.clamp(0.0, 1.0))
    }
}

/// Texels of [`RGBA8`] that stand for memory which a trace lacks: squares of 8 pixels in magenta and black.
pub fn pattern(width: u32, height: u32) -> Vec<u8> {
    let square = |x: u32, y: u32| match (x / 8 + y / 8).is_multiple_of(2) {
        true => [255, 0, 255, 255],
        false => [0, 0, 0, 255],
    };
    (0..height).flat_map(|y| (0..width).flat_map(move |x| square(x, y))).collect()
}

#[cfg(test)]
mod tests {
    use gapii_commands::constants::*;

    use super::*;

    /// An image of one plane, 2 by 2 pixels, without padding.
    fn flat(fourcc: &[u8; 4], pixel_bytes: i64, others: &[(u32, i64)]) -> DmaBuf {
        let plain = [
            (EGL_WIDTH, 2),
            (EGL_HEIGHT, 2),
            (EGL_LINUX_DRM_FOURCC_EXT, i64::from(u32::from_le_bytes(*fourcc))),
            (EGL_DMA_BUF_PLANE0_FD_EXT, 0),
            (EGL_DMA_BUF_PLANE0_PITCH_EXT, 2 * pixel_bytes),
            (EGL_DMA_BUF_PLANE1_FD_EXT, 0),
            (EGL_DMA_BUF_PLANE1_PITCH_EXT, 2 * pixel_bytes),
            (EGL_DMA_BUF_PLANE2_FD_EXT, 0),
            (EGL_DMA_BUF_PLANE2_PITCH_EXT, pixel_bytes),
        ];
        let find = |name| {
            let mut all = others.iter().chain(&plain);
            all.find(|(known, _)| *known == name).map(|(_, value)| *value)
        };
        DmaBuf::of(find).unwrap()
    }

    #[track_caller]
    fn check(fourcc: &[u8; 4], pixel: &[u8], expected: &[u8]) {
        let layout = flat(fourcc, pixel.len() as i64, &[]);
        let texels = decode(&layout, &[&pixel.repeat(4)]);
        assert_eq!(texels, expected.repeat(4), "{}", layout.format_name());
    }

    #[test]
    fn components_of_rgb_are_put_in_order() {
        check(b"XR24", &[1, 2, 3, 9], &[3, 2, 1]);
        check(b"AR24", &[1, 2, 3, 9], &[3, 2, 1, 9]);
        check(b"XB24", &[1, 2, 3, 9], &[1, 2, 3]);
        check(b"AB24", &[1, 2, 3, 9], &[1, 2, 3, 9]);
        check(b"RA24", &[9, 1, 2, 3], &[3, 2, 1, 9]);
        check(b"BX24", &[9, 1, 2, 3], &[1, 2, 3]);
        check(b"RG24", &[1, 2, 3], &[3, 2, 1]);
        check(b"R8  ", &[7], &[7]);
        check(b"GR88", &[7, 8], &[7, 8]);
        check(b"RG16", &0xF81E_u16.to_le_bytes(), &0xF81E_u16.to_le_bytes());
        check(b"BG16", &0xF801_u16.to_le_bytes(), &0x081F_u16.to_le_bytes());
        let tens = |a: u32, b: u32, g: u32, r: u32| (a << 30 | b << 20 | g << 10 | r).to_le_bytes();
        check(b"AB30", &tens(1, 1000, 500, 3), &tens(1, 1000, 500, 3));
        check(b"XR30", &tens(1, 3, 500, 1000), &tens(3, 1000, 500, 3));
        let halves = [1, 2, 3, 4, 5, 6, 7, 8];
        check(b"AB4H", &halves, &halves);
        check(b"XB4H", &halves, &[1, 2, 3, 4, 5, 6, 0, 0x3C]);
    }

    /// Checks the colour of an image of one Y, Cb and Cr.
    #[track_caller]
    fn check_yuv(others: &[(u32, i64)], [y, cb, cr]: [u8; 3], expected: [u8; 3]) {
        let layout = flat(b"NV12", 1, others);
        let texels = decode(&layout, &[&[y; 4], &[cb, cr]]);
        assert_eq!(texels, expected.repeat(4), "NV12 {others:?}");
        let layout = flat(b"YV12", 1, others);
        let texels = decode(&layout, &[&[y; 4], &[cr], &[cb]]);
        assert_eq!(texels, expected.repeat(4), "YV12 {others:?}");
    }

    #[test]
    fn yuv_has_the_matrix_and_the_range_of_its_hints() {
        let full = (EGL_SAMPLE_RANGE_HINT_EXT, i64::from(EGL_YUV_FULL_RANGE_EXT));
        let of_709 = (EGL_YUV_COLOR_SPACE_HINT_EXT, i64::from(EGL_ITU_REC709_EXT));
        let of_2020 = (EGL_YUV_COLOR_SPACE_HINT_EXT, i64::from(EGL_ITU_REC2020_EXT));
        check_yuv(&[], [16, 128, 128], [0, 0, 0]);
        check_yuv(&[], [235, 128, 128], [255, 255, 255]);
        check_yuv(&[full], [100, 128, 128], [100, 100, 100]);
        // Red of 255, as each matrix encodes it (ITU-R BT.601, BT.709, BT.2020).
        check_yuv(&[], [81, 90, 240], [254, 0, 0]);
        check_yuv(&[of_709], [63, 102, 240], [255, 1, 0]);
        check_yuv(&[of_2020], [74, 97, 240], [255, 0, 1]);
        check_yuv(&[full], [76, 85, 255], [254, 0, 0]);
    }

    #[test]
    fn samples_of_ten_bits_stay_ten_bits() {
        let layout = flat(b"P010", 2, &[]);
        let wide = |it: u16| (it << 6).to_le_bytes();
        let luma = [wide(64), wide(940), wide(502), wide(502)].concat();
        let chroma = [wide(512), wide(512)].concat();
        let grey = |it: u32| (3 << 30 | it << 20 | it << 10 | it).to_le_bytes();
        let expected = [grey(0), grey(1023), grey(512), grey(512)].concat();
        // (502 - 64) / 876 is one half; 511.5 is rounded up.
        assert_eq!(decode(&layout, &[&luma, &chroma]), expected);
    }

    #[test]
    fn texels_of_every_kind_can_be_widened() {
        let check = |fourcc: &[u8; 4], texel: &[u8], expected: [u8; 4]| {
            let found = gapii_state::egl::FORMATS.iter().find(|it| it.fourcc == *fourcc);
            let kind = Texel::of(found.unwrap().samples);
            assert_eq!(kind.widened(texel), expected, "{fourcc:?}");
        };
        check(b"R8  ", &[9], [9, 0, 0, 255]);
        check(b"GR88", &[9, 8], [9, 8, 0, 255]);
        check(b"XR24", &[9, 8, 7], [9, 8, 7, 255]);
        check(b"AR24", &[9, 8, 7, 6], [9, 8, 7, 6]);
        check(b"RG16", &0xF81F_u16.to_le_bytes(), [255, 0, 255, 255]);
        check(b"XB30", &(3_u32 << 30 | 1023 << 10).to_le_bytes(), [0, 255, 0, 255]);
        let halves: Vec<u8> =
            [0x3C00_u16, 0x3800, 0x0000, 0xBC00].into_iter().flat_map(u16::to_le_bytes).collect();
        check(b"AB4H", &halves, [255, 128, 0, 0]);
    }

    #[test]
    fn rows_begin_at_the_pitch() {
        let layout = flat(b"R8  ", 1, &[(EGL_DMA_BUF_PLANE0_PITCH_EXT, 5)]);
        assert_eq!(decode(&layout, &[&[1, 2, 0, 0, 0, 3, 4]]), [1, 2, 3, 4]);
    }
}

//! A contact sheet: small pictures of frames side by side, each with its number, and with the number of its process if
//! the trace has several. 1 to 64 pictures per row, each 16 to 1,024 pixels wide; other values are clamped. `spread`
//! chooses the frames: the first, the last, and evenly between.

use super::FrameOf;
use super::picture::Picture;

/// Pixels between pictures and around them.
const GAP: u32 = 8;
/// Height in pixels of the line with the number, below a picture.
const LINE: u32 = 2 * DIGIT_HEIGHT + 4;
const DIGIT_WIDTH: u32 = 5;
const DIGIT_HEIGHT: u32 = 7;
const PAPER: [u8; 4] = [24, 24, 28, 255];
const INK: [u8; 4] = [220, 220, 225, 255];

/// Bitmap of the letter P: rows from the top, five bits each.
const P: [u8; 7] = [0x1E, 0x11, 0x11, 0x1E, 0x10, 0x10, 0x10];
/// Bitmaps of the digits, likewise.
const DIGITS: [[u8; 7]; 10] = [
    [0x0E, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0E],
    [0x04, 0x0C, 0x04, 0x04, 0x04, 0x04, 0x0E],
    [0x0E, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1F],
    [0x1F, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0E],
    [0x02, 0x06, 0x0A, 0x12, 0x1F, 0x02, 0x02],
    [0x1F, 0x10, 0x1E, 0x01, 0x01, 0x11, 0x0E],
    [0x06, 0x08, 0x10, 0x1E, 0x11, 0x11, 0x0E],
    [0x1F, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08],
    [0x0E, 0x11, 0x11, 0x0E, 0x11, 0x11, 0x0E],
    [0x0E, 0x11, 0x11, 0x0F, 0x01, 0x02, 0x0C],
];

/// Small pictures of frames.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// Width of a small picture, and its largest height, in pixels.
    tile: [u32; 2],
    columns: u32,
    tiles: Vec<(FrameOf, Picture)>,
}

impl Sheet {
    /// An empty sheet with `columns` pictures per row (1 to 64), each `width` pixels wide (16 to
    /// 1024).
    pub fn new(columns: u32, width: u32) -> Self {
        let width = width.clamp(16, 1024);
        Self { tile: [width, width], columns: columns.clamp(1, 64), tiles: Vec::new() }
    }

    /// Whether no frame was added.
    pub fn is_empty(&self) -> bool {
        self.tiles.is_empty()
    }

    /// Number of frames.
    pub fn len(&self) -> usize {
        self.tiles.len()
    }

    /// The small pictures, each with its frame, in the order in which they were added.
    pub fn pictures(&self) -> impl Iterator<Item = (FrameOf, &Picture)> {
        self.tiles.iter().map(|(frame, picture)| (*frame, picture))
    }

    /// Adds a frame's picture, scaled down.
    pub fn add(&mut self, frame: FrameOf, picture: &Picture) {
        self.tiles.push((frame, scaled(picture, self.tile)));
    }

    /// The whole sheet as one picture, ordered by process and frame.
    pub fn picture(&self) -> Picture {
        let columns = self.columns.min(self.tiles.len() as u32).max(1);
        let rows = (self.tiles.len() as u32).div_ceil(columns).max(1);
        let tallest = self.tiles.iter().map(|(_, tile)| tile.height).max().unwrap_or(1);
        let step = [self.tile[0] + GAP, tallest + LINE + GAP];
        let (width, height) = (GAP + columns * step[0], GAP + rows * step[1]);
        let mut canvas = Canvas::new(width, height);
        let mut tiles: Vec<_> = self.tiles.iter().collect();
        tiles.sort_by_key(|(frame, _)| *frame);
        let of_processes = tiles.iter().any(|((process, _), _)| *process != 0);
        for (index, ((process, frame), tile)) in tiles.into_iter().enumerate() {
            let index = index as u32;
            let left = GAP + index % columns * step[0] + (self.tile[0] - tile.width) / 2;
            let top = GAP + index / columns * step[1];
            canvas.place(left, top, tile);
            let label = match of_processes {
                true => format!("P{process} {frame}"),
                false => frame.to_string(),
            };
            canvas.text(GAP + index % columns * step[0], top + tallest + 3, &label);
        }
        canvas.into_picture()
    }
}

/// The picture scaled down to fit. Each pixel is the mean of those it covers; alpha is 255.
fn scaled(picture: &Picture, [width_max, height_max]: [u32; 2]) -> Picture {
    let (width, height) = (picture.width.max(1), picture.height.max(1));
    let fits =
        |number: u32, of: u32, to: u32| (u64::from(number) * u64::from(to) / u64::from(of)) as u32;
    let size = match u64::from(width) * u64::from(height_max)
        >= u64::from(height) * u64::from(width_max)
    {
        true => [width_max.min(width), fits(height, width, width_max.min(width)).max(1)],
        false => [fits(width, height, height_max.min(height)).max(1), height_max.min(height)],
    };
    let mut rgba = Vec::with_capacity(4 * size[0] as usize * size[1] as usize);
    let span = |at: u32, of: u32, from: u32| {
        let edge = |at: u32| (u64::from(at) * u64::from(from) / u64::from(of)) as usize;
        edge(at)..edge(at + 1).max(edge(at) + 1).min(from as usize)
    };
    for y in 0..size[1] {
        let rows = span(y, size[1], height);
        for x in 0..size[0] {
            rgba.extend_from_slice(&mean(picture, span(x, size[0], width), rows.clone()));
        }
    }
    Picture { width: size[0], height: size[1], rgba }
}

fn mean(
    picture: &Picture,
    columns: std::ops::Range<usize>,
    rows: std::ops::Range<usize>,
) -> [u8; 4] {
    let mut sums = [0u64; 3];
    let mut count = 0;
    for row in rows {
        let row = row * picture.width as usize;
        let pixels = picture.rgba.get(4 * (row + columns.start)..4 * (row + columns.end));
        for pixel in pixels.unwrap_or_default().chunks_exact(4) {
            count += 1;
            sums.iter_mut().zip(pixel).for_each(|(sum, part)| *sum += u64::from(*part));
        }
    }
    let mean = |sum: u64| sum.checked_div(count).unwrap_or(0) as u8;
    [mean(sums[0]), mean(sums[1]), mean(sums[2]), u8::MAX]
}

/// Pixels with rows from the top down.
struct Canvas {
    width: u32,
    height: u32,
    pixels: Vec<[u8; 4]>,
}

impl Canvas {
    fn new(width: u32, height: u32) -> Self {
        Self { width, height, pixels: vec![PAPER; width as usize * height as usize] }
    }

    fn set(&mut self, x: u32, y: u32, pixel: [u8; 4]) {
        if x < self.width && y < self.height {
            let at = y as usize * self.width as usize + x as usize;
            if let Some(it) = self.pixels.get_mut(at) {
                *it = pixel;
            }
        }
    }

    fn place(&mut self, left: u32, top: u32, picture: &Picture) {
        for (y, row) in picture.rows().enumerate() {
            for (x, pixel) in row.chunks_exact(4).enumerate() {
                self.set(left + x as u32, top + y as u32, [pixel[0], pixel[1], pixel[2], pixel[3]]);
            }
        }
    }

    /// Draws digits and Ps, two by two pixels per dot; other characters are blank.
    fn text(&mut self, left: u32, top: u32, text: &str) {
        for (place, letter) in text.bytes().enumerate() {
            let rows = match letter {
                b'P' => P,
                b'0'..=b'9' => DIGITS[usize::from(letter - b'0')],
                _ => [0; 7],
            };
            let left = left + 2 * (DIGIT_WIDTH + 1) * place as u32;
            for (y, row) in rows.into_iter().enumerate() {
                for x in (0..DIGIT_WIDTH).filter(|x| row >> (DIGIT_WIDTH - 1 - x) & 1 == 1) {
                    for dot in 0..4 {
                        self.set(left + 2 * x + dot % 2, top + 2 * y as u32 + dot / 2, INK);
                    }
                }
            }
        }
    }

    fn into_picture(self) -> Picture {
        let rows = self.pixels.chunks_exact(self.width.max(1) as usize).rev();
        let rgba = rows.flatten().flatten().copied().collect();
        Picture { width: self.width, height: self.height, rgba }
    }
}

/// Frames of `frames` that a sheet of `most` pictures shows: the first, the last, and evenly spread
/// between.
pub fn spread(frames: std::ops::Range<u64>, most: u64) -> Vec<u64> {
    let count = frames.end.saturating_sub(frames.start);
    let shown = count.min(most);
    let at = |index: u64| match shown {
        0 | 1 => 0,
        _ => (u128::from(index) * u128::from(count - 1) / u128::from(shown - 1)) as u64,
    };
    (0..shown).map(|index| frames.start + at(index)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(width: u32, height: u32, pixel: [u8; 4]) -> Picture {
        let rgba = pixel.repeat((width * height) as usize);
        Picture { width, height, rgba }
    }

    #[test]
    fn picture_is_made_small_by_its_means() {
        let rgba = [[0, 0, 0, 0], [100, 20, 40, 0], [0, 0, 0, 0], [100, 20, 40, 0]].concat();
        let small = scaled(&Picture { width: 2, height: 2, rgba }, [1, 1]);
        assert_eq!(small, plain(1, 1, [50, 10, 20, 255]));
        let check = |size: [u32; 2], expected: [u32; 2]| {
            let small = scaled(&plain(size[0], size[1], [9, 8, 7, 6]), [100, 100]);
            assert_eq!(small, plain(expected[0], expected[1], [9, 8, 7, 255]), "{size:?}");
        };
        check([200, 100], [100, 50]);
        check([100, 200], [50, 100]);
        check([30, 20], [30, 20]);
        check([5000, 1], [100, 1]);
        check([101, 99], [100, 98]);
    }

    #[test]
    fn sheet_has_every_frame_and_its_number() {
        let mut sheet = Sheet::new(2, 32);
        for frame in 0..3 {
            sheet.add((0, frame), &plain(64, 32, [200, 0, frame as u8, 255]));
        }
        let picture = sheet.picture();
        assert_eq!(picture.rgba.len(), 4 * (picture.width * picture.height) as usize);
        assert_eq!(picture.width, GAP + 2 * (32 + GAP));
        assert_eq!(picture.height, GAP + 2 * (16 + LINE + GAP));
        let count =
            |pixel: [u8; 4]| picture.rgba.chunks_exact(4).filter(|it| **it == pixel).count();
        for frame in 0..3 {
            assert_eq!(count([200, 0, frame, 255]), 32 * 16, "frame {frame}");
        }
        assert!(count(INK) > 0);
    }

    #[test]
    fn frames_of_several_processes_say_whose_they_are() {
        let sheet = |processes: [u32; 2]| {
            let mut sheet = Sheet::new(2, 64);
            for process in processes {
                sheet.add((process, 0), &plain(64, 8, [process as u8, 0, 0, 255]));
            }
            sheet.picture()
        };
        let one_after_the_other = sheet([0, 1]);
        assert_eq!(one_after_the_other, sheet([1, 0]));
        let ink =
            |picture: &Picture| picture.rgba.chunks_exact(4).filter(|pixel| **pixel == INK).count();
        assert!(ink(&one_after_the_other) > ink(&sheet([0, 0])));
    }

    #[test]
    fn frames_of_a_sheet_are_spread_over_all() {
        assert_eq!(spread(0..3, 10), [0, 1, 2]);
        assert_eq!(spread(0..100, 4), [0, 33, 66, 99]);
        assert_eq!(spread(5..6, 4), [5]);
        assert_eq!(spread(5..50, 1), [5]);
        assert!(spread(5..5, 4).is_empty());
        assert_eq!(spread(0..u64::MAX, 2), [0, u64::MAX - 1]);
    }
}

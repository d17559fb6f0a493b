//! Two pictures beside each other, for people who look for a difference: the first, the second, and where they differ. The
//! third part has differing pixels in red on a dark copy of the first picture; pictures of different sizes have none.

use super::picture::Picture;

/// Pixels between the parts.
const GAP: u32 = 8;
const PAPER: [u8; 4] = [24, 24, 28, 255];
const MARK: [u8; 4] = [255, 40, 40, 255];

/// Returns both pictures and their difference in one picture, without alpha.
pub fn beside(a: &Picture, b: &Picture) -> Picture {
    let mask = ((a.width, a.height) == (b.width, b.height)).then(|| marked(a, b));
    let parts: Vec<&Picture> = [Some(a), Some(b), mask.as_ref()].into_iter().flatten().collect();
    let gaps = GAP * (parts.len() as u32 - 1);
    let width = parts.iter().map(|part| part.width).sum::<u32>() + gaps;
    let height = a.height.max(b.height);
    let mut rgba = PAPER.repeat(width as usize * height as usize);
    let mut left = 0;
    for part in parts {
        // Pictures begin at the bottom, and are aligned at the top.
        let below = (height - part.height) as usize;
        let row_bytes = 4 * part.width as usize;
        for (row, pixels) in part.rgba.chunks_exact(row_bytes.max(1)).enumerate() {
            let at = 4 * ((below + row) * width as usize + left as usize);
            if let Some(to) = rgba.get_mut(at..at + row_bytes) {
                to.copy_from_slice(pixels);
            }
        }
        left += part.width + GAP;
    }
    Picture { width, height, rgba }.opaque()
}

/// Marks the pixels in which pictures of one size differ.
fn marked(a: &Picture, b: &Picture) -> Picture {
    let pixels = a.rgba.chunks_exact(4).zip(b.rgba.chunks_exact(4));
    let shown = |(a, b): (&[u8], &[u8])| match a == b {
        true => [a[0] / 4, a[1] / 4, a[2] / 4, 255],
        false => MARK,
    };
    Picture { rgba: pixels.flat_map(shown).collect(), ..*a }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(width: u32, height: u32, pixel: [u8; 4]) -> Picture {
        Picture { width, height, rgba: pixel.repeat((width * height) as usize) }
    }

    fn count(picture: &Picture, pixel: [u8; 4]) -> usize {
        picture.rgba.chunks_exact(4).filter(|it| **it == pixel).count()
    }

    #[test]
    fn pictures_stand_beside_their_difference() {
        let a = plain(4, 2, [100, 0, 0, 255]);
        let mut b = a.clone();
        b.rgba[5] = 9;
        let both = beside(&a, &b);
        assert_eq!((both.width, both.height), (3 * 4 + 2 * GAP, 2));
        assert_eq!((count(&both, [100, 0, 0, 255]), count(&both, [100, 9, 0, 255])), (15, 1));
        assert_eq!((count(&both, [25, 0, 0, 255]), count(&both, MARK)), (7, 1));
    }

    #[test]
    fn pictures_of_different_sizes_have_no_difference() {
        let both = beside(&plain(4, 2, [1, 2, 3, 255]), &plain(3, 5, [4, 5, 6, 0]));
        assert_eq!((both.width, both.height), (4 + GAP + 3, 5));
        assert_eq!((count(&both, [1, 2, 3, 255]), count(&both, [4, 5, 6, 255])), (8, 15));
        // The smaller one is at the top.
        assert_eq!(both.rows().next().map(|row| row[..3].to_vec()), Some(vec![1, 2, 3]));
    }
}

//! Pictures that a program showed, and pictures that `eglretrace` shows when it plays a recording of the program.
//!
//! Compares colours, not alpha: a window has no alpha.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::process::Finished;

/// Rows of RGB from the top.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    pub width: usize,
    pub height: usize,
    pub rgb: Vec<u8>,
}

impl Picture {
    /// The picture in a PNG file, without its alpha.
    pub fn of_png(path: &Path) -> Self {
        let file = std::fs::File::open(path).expect("a file that was listed");
        let mut reader =
            png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("a PNG");
        let mut samples = vec![0; reader.output_buffer_size().expect("it is small")];
        let info = reader.next_frame(&mut samples).expect("it is whole");
        let size = info.color_type.samples();
        let rgb = samples.chunks_exact(size).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]);
        let (width, height) = (info.width as usize, info.height as usize);
        Self { width, height, rgb: rgb.collect() }
    }

    /// The top left part of the given size.
    pub fn cropped(&self, width: usize, height: usize) -> Self {
        assert!(width <= self.width && height <= self.height, "{self:?}");
        let rows = self.rgb.chunks_exact(3 * self.width).take(height);
        Self { width, height, rgb: rows.flat_map(|row| &row[..3 * width]).copied().collect() }
    }

    /// Number of pixels that differ from `other`; all pixels if the sizes differ.
    pub fn differing(&self, other: &Self) -> usize {
        if (self.width, self.height) != (other.width, other.height) {
            return self.width * self.height;
        }
        let pixels = self.rgb.chunks_exact(3).zip(other.rgb.chunks_exact(3));
        pixels.filter(|(one, two)| one != two).count()
    }

    /// Returns true if the picture has more than one colour.
    pub fn shows_something(&self) -> bool {
        self.rgb.chunks_exact(3).any(|pixel| pixel != &self.rgb[..3])
    }
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} x {}", self.width, self.height)
    }
}

/// Programs of `tests/apps/` that `eglretrace` shows wrongly with any recorder, and the reason.
pub const NOT_PLAYED: &[(&str, &str)] = &[
    ("bad_enums", "eglretrace makes room for counts that the driver refuses"),
    ("bad_nulls", "eglretrace takes swaps that failed for frames"),
    ("egl_image", "eglretrace leaves glEGLImageTargetTexture2DOES out"),
    ("kept_images", "eglretrace leaves glEGLImageTargetTexture2DOES out"),
    ("fixed_function", "eglretrace leaves glPointSizePointerOES out"),
];

/// Plays an apitrace recording with `eglretrace`; returns the frames and the finished process.
pub fn played(trace: &Path) -> (Vec<Picture>, Finished) {
    let mut command = Command::new("timeout");
    // A recording that eglretrace cannot play may corrupt its memory; then it ignores SIGTERM.
    command.args(["--kill-after=5", "100", "eglretrace", "--snapshot-force-backbuffer", "-s", "-"]);
    command.arg(trace).env("WAFFLE_PLATFORM", "surfaceless_egl").stdin(Stdio::null());
    let described = format!("{command:?}");
    let output = command.output().unwrap_or_else(|error| {
        panic!("{described}: {error}; install it: apt-get install apitrace coreutils")
    });
    let finished = Finished {
        command: described,
        status: output.status,
        stdout: String::new(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    (pnm(&output.stdout), finished)
}

/// The pictures that `programs/presented.c` wrote to `file`.
pub fn presented(file: &Path) -> Vec<Picture> {
    let bytes = std::fs::read(file).expect("the preloaded library wrote it");
    let mut rest = &bytes[..];
    let mut pictures = Vec::new();
    while let Some((size, after)) = rest.split_first_chunk::<8>() {
        let number = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| size[at + i])) as usize;
        let (width, height) = (number(0), number(4));
        let (pixels, after) = after.split_at(4 * width * height);
        let rgb = pixels.chunks_exact(4).flat_map(|bgrx| [bgrx[2], bgrx[1], bgrx[0]]).collect();
        pictures.push(Picture { width, height, rgb });
        rest = after;
    }
    pictures
}

/// The pictures that a program of `tests/apps/` read back itself and wrote into `folder`, one per frame.
pub fn read_back(folder: &Path) -> Vec<Picture> {
    let entries = std::fs::read_dir(folder).expect("a folder that was made").flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort_unstable();
    let read = |path: &std::path::PathBuf| {
        let bytes = std::fs::read(path).expect("a file that was listed");
        let number =
            |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i])) as usize;
        let (width, height) = (number(0), number(4));
        let from_the_top = bytes[8..].chunks_exact(4 * width).rev().flatten();
        let rgb = from_the_top.enumerate().filter(|(at, _)| at % 4 != 3).map(|(_, byte)| *byte);
        Picture { width, height, rgb: rgb.collect() }
    };
    paths.iter().map(read).collect()
}

/// The PNM pictures in a program's output, which also has text.
fn pnm(mut printed: &[u8]) -> Vec<Picture> {
    let mut pictures = Vec::new();
    while !printed.is_empty() {
        if let Some((picture, rest)) = picture(printed) {
            pictures.push(picture);
            printed = rest;
            continue;
        }
        let line = printed.iter().position(|byte| *byte == b'\n');
        printed = &printed[line.map_or(printed.len(), |end| end + 1)..];
    }
    pictures
}

/// `P6`, a comment, width and height, 255, pixels.
fn picture(bytes: &[u8]) -> Option<(Picture, &[u8])> {
    let mut rest = bytes.strip_prefix(b"P6\n")?;
    let mut line = || {
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let line = std::str::from_utf8(&rest[..end]).ok()?;
        rest = &rest[end + 1..];
        Some(line)
    };
    let size = loop {
        let line = line()?;
        if !line.starts_with('#') {
            break line;
        }
    };
    line().filter(|most| *most == "255")?;
    let (width, height) = size.split_once(' ')?;
    let (width, height): (usize, usize) = (width.parse().ok()?, height.parse().ok()?);
    let (rgb, rest) = rest.split_at_checked(3 * width * height)?;
    Some((Picture { width, height, rgb: rgb.to_vec() }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_found_among_words() {
        let printed = b"1 @0 glClear()\nP6\n#5\n2 1\n255\n\n\nP6\nxP6\n1 1\n255\nabcrest\n";
        let pictures = pnm(printed);
        assert_eq!(pictures.len(), 2);
        assert_eq!((pictures[0].width, pictures[0].height), (2, 1));
        assert_eq!(pictures[0].rgb, b"\n\nP6\nx");
        assert_eq!(pnm(b"P6\n9 9\n255\nshort").len(), 0);
        assert_eq!(pnm(b"P6\n1 1\n255\nabcP6\n1 1\n255\nabd")[1].rgb, b"abd");
    }

    #[test]
    fn what_was_read_back_is_turned_over_and_has_no_alpha() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = [1, 0, 0, 0, 2, 0, 0, 0, 5, 6, 7, 255, 1, 2, 3, 0];
        std::fs::write(folder.path().join("frame-000000.rgba"), bytes).unwrap();
        let read = read_back(folder.path());
        assert_eq!((read.len(), read[0].width, read[0].height), (1, 1, 2));
        assert_eq!(read[0].rgb, [1, 2, 3, 5, 6, 7]);
    }

    #[test]
    fn pixels_that_differ_are_counted() {
        let one = Picture { width: 2, height: 2, rgb: (0..12).collect() };
        let mut two = one.clone();
        assert_eq!(one.differing(&two), 0);
        two.rgb[4] = 99;
        assert_eq!(one.differing(&two), 1);
        assert_eq!(one.differing(&one.cropped(2, 1)), 4);
        assert_eq!(one.cropped(1, 2).rgb, [0, 1, 2, 6, 7, 8]);
        assert!(one.shows_something() && !one.cropped(1, 1).shows_something());
    }
}

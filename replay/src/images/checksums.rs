//! Checksums of frames, and the picture of the last frame. The digest of a picture is BLAKE3 (256 bits) of its width and
//! its height, four bytes each, the lowest byte first, and of its pixels: rows from the top down, each pixel red, green,
//! blue and alpha, one byte each. So equal pixels have equal digests on every machine, whatever wrote their file.
//!
//! Compares nothing.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use super::picture::{FrameOf, Picture};
use crate::parts::GlDriver;

/// The frames that get a checksum.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Which {
    #[default]
    None,
    All,
    /// The last frame of the trace that is played, of any process.
    Last,
}

/// Checksums to compute, and those that are computed.
#[derive(Clone, Debug, Default)]
pub struct Checksums {
    which: Which,
    /// Frames of each process that `Which::All` means.
    wanted: Range<u64>,
    keeps_last: bool,
    is_opaque: bool,
    round: u64,
    /// The last frame that is played.
    last: Option<FrameOf>,
    results: Results,
}

/// Checksums that are computed, in the order in which the frames ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Results {
    pub checksums: Vec<FrameChecksum>,
    /// Frames that could not be read back.
    pub missed: u64,
    pub last_picture: Option<Picture>,
    /// The driver that drew the frames.
    pub driver: Option<GlDriver>,
}

/// The digest of a frame's pixels.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct FrameChecksum {
    /// Number of the round, from 0: how often the trace, or its last frame, had been played before.
    pub round: u64,
    /// Index of the process in the trace.
    pub process: u32,
    /// Number of the frame within its process, from 0.
    pub frame: u64,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// BLAKE3 of width, height and pixels, as 64 hexadecimal digits.
    pub blake3: String,
}

impl Checksums {
    /// Computes checksums of `which` frames; with `Which::All`, of the frames `wanted` of each process.
    pub fn of(which: Which, wanted: Range<u64>) -> Self {
        Self { which, wanted, ..Self::default() }
    }

    /// Keeps the picture of the last frame, too.
    pub fn keep_last_picture(self, keeps_last: bool) -> Self {
        Self { keeps_last, ..self }
    }

    /// Takes every pixel as opaque, as a window shows it.
    pub fn opaque(self, is_opaque: bool) -> Self {
        Self { is_opaque, ..self }
    }

    /// Gives the checksums the number of a round.
    pub fn in_round(self, round: u64) -> Self {
        Self { round, ..self }
    }

    /// Gives the checksums from here on the number of the next round.
    pub(crate) fn next_round(&mut self) {
        self.round += 1;
    }

    /// Learns which frame is the last one that is played.
    pub(crate) fn set_last(&mut self, last: Option<FrameOf>) {
        self.last = last;
    }

    /// The checksums, and the picture of the last frame.
    pub(crate) fn finish(self) -> Results {
        self.results
    }

    /// Notes the driver that draws the frames, once.
    pub(super) fn note_driver(&mut self, ask: impl FnOnce() -> Option<GlDriver>) {
        self.results.driver = self.results.driver.take().or_else(ask);
    }

    pub(super) fn wants(&self, frame: FrameOf) -> bool {
        self.wants_checksum(frame) || self.keeps_last && self.last == Some(frame)
    }

    fn wants_checksum(&self, frame: FrameOf) -> bool {
        match self.which {
            Which::None => false,
            Which::All => self.wanted.contains(&frame.1),
            Which::Last => self.last == Some(frame),
        }
    }

    /// Takes a frame's picture; `None` if it could not be read back.
    pub(super) fn take(&mut self, frame: FrameOf, picture: Option<&Picture>) {
        let Some(picture) = picture else {
            self.results.missed += u64::from(self.wants_checksum(frame));
            return;
        };
        let opaque = self.is_opaque.then(|| picture.clone().opaque());
        let picture = opaque.as_ref().unwrap_or(picture);
        if self.wants_checksum(frame) {
            let (process, frame) = frame;
            let (width, height, blake3) = (picture.width, picture.height, picture.checksum());
            let round = self.round;
            let checksum = FrameChecksum { round, process, frame, width, height, blake3 };
            self.results.checksums.push(checksum);
        }
        if self.keeps_last && self.last == Some(frame) {
            self.results.last_picture = Some(picture.clone());
        }
    }
}

impl Picture {
    /// The digest of the pixels as 64 hexadecimal digits: see the module.
    pub fn checksum(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.width.to_le_bytes());
        hasher.update(&self.height.to_le_bytes());
        for row in self.rows() {
            hasher.update(row);
        }
        hasher.finalize().to_hex().to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// Two pixels above two others, as a driver returns them.
    fn picture() -> Picture {
        let (below, above) = ([7, 8, 9, 255, 1, 2, 3, 255], [4, 5, 6, 255, 0, 0, 0, 255]);
        Picture { width: 2, height: 2, rgba: [below, above].concat() }
    }

    #[test]
    fn digest_is_of_size_and_rows_from_the_top() {
        let bytes =
            [[2, 0, 0, 0, 2, 0, 0, 0], [4, 5, 6, 255, 0, 0, 0, 255], [7, 8, 9, 255, 1, 2, 3, 255]];
        let expected = blake3::hash(bytes.as_flattened()).to_string();
        assert_eq!(picture().checksum(), expected);
        // The same on every machine.
        assert!(expected.starts_with("3bf02c6678cb3682"), "{expected}");
    }

    #[test]
    fn digest_depends_on_the_form_of_equal_bytes() {
        let wide = Picture { width: 4, height: 1, rgba: vec![5; 16] };
        let tall = Picture { width: 1, height: 4, ..wide.clone() };
        assert_ne!(wide.checksum(), tall.checksum());
    }

    #[test]
    fn digest_of_a_file_is_that_of_its_pixels() {
        let mut file = Vec::new();
        picture().write_png(&mut file).unwrap();
        let read = Picture::read_png(Cursor::new(file)).unwrap();
        assert_eq!(read.checksum(), picture().checksum());
    }

    #[test]
    fn last_frame_alone_is_taken_and_kept() {
        let mut checksums = Checksums::of(Which::Last, 0..u64::MAX).keep_last_picture(true);
        checksums.set_last(Some((1, 4)));
        for frame in [(0, 4), (1, 3), (1, 4)] {
            if checksums.wants(frame) {
                checksums.take(frame, Some(&picture()));
            }
        }
        let Results { checksums, last_picture, .. } = checksums.finish();
        let [only] = &checksums[..] else { panic!("{checksums:?}") };
        assert_eq!((only.process, only.frame, only.width, only.height), (1, 4, 2, 2));
        assert_eq!(last_picture, Some(picture()));
    }

    #[test]
    fn opaque_frames_have_the_digest_of_what_a_window_shows_and_missed_ones_are_counted() {
        let clear =
            Picture { rgba: picture().rgba.iter().map(|it| it & 127).collect(), ..picture() };
        let mut checksums = Checksums::of(Which::All, 2..3).opaque(true);
        assert!(!checksums.wants((0, 1)));
        checksums.take((0, 2), Some(&clear));
        checksums.take((0, 2), None);
        let results = checksums.finish();
        assert_eq!(results.checksums[0].blake3, clear.opaque().checksum());
        assert_eq!(results.missed, 1);
    }
}

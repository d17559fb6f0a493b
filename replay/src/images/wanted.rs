//! Pictures to take, and where they go: files, a contact sheet, or a callback. A failure to write a file, or a callback
//! that wants no more, ends the replay. Frames are numbered per process, from 0, also in the names of files.

use schemars::JsonSchema;
use std::collections::BTreeSet;
use std::ops::Range;

use super::at::At;
use super::folder::Folder;
use super::picture::{FrameOf, Picture};
use super::pixel::{Seen, Watched};
use super::sheet::Sheet;

/// Pictures to take, and where they go.
#[derive(Default)]
pub struct Images {
    frames: Option<Frames>,
    /// Pictures to take after a command; `None` once they are taken.
    pub(super) at: Option<At>,
    /// A pixel to read.
    pub(super) pixel: Option<Watched>,
    /// Number of files written for `at`.
    pub(super) files: u64,
    /// Failure to write a file; it ends the replay.
    pub(super) failure: Option<String>,
    /// The taker wants no further pictures.
    is_enough: bool,
}

/// Frames to take pictures of.
struct Frames {
    wanted: Wanted,
    is_opaque: bool,
    to: Target,
}

enum Wanted {
    /// These frames of each process.
    Range(Range<u64>),
    These(BTreeSet<FrameOf>),
}

enum Target {
    Folder(Folder),
    Sheet(Sheet),
    Taker(Taker),
}

/// Receives pictures as they are taken. Returns false if it wants no more, which ends the replay.
pub type Taker = Box<dyn FnMut(FrameOf, Picture) -> bool + Send>;

/// Result of taking pictures.
#[derive(Clone, Debug, Default, serde::Serialize, JsonSchema)]
pub struct Taken {
    /// Number of files written.
    pub files: u64,
    /// Small pictures of the frames, if a sheet was asked for.
    #[serde(skip)]
    pub sheet: Option<Sheet>,
    /// Number of the command at which pictures were wanted, if it was not played.
    pub missed: Option<u64>,
    /// The pixel that was watched, before and after the commands that were played.
    #[serde(skip)]
    pub pixels: Vec<Seen>,
}

impl Images {
    /// Writes a PNG into `folder` for each frame in `wanted`, of each process. Opaque pictures have
    /// no alpha, as a window shows them.
    pub fn of_frames(folder: Folder, wanted: Range<u64>, is_opaque: bool) -> Self {
        Self::of(Wanted::Range(wanted), is_opaque, Target::Folder(folder))
    }

    /// Makes a contact sheet of these frames.
    pub fn of_sheet(sheet: Sheet, frames: impl IntoIterator<Item = FrameOf>) -> Self {
        Self::of(Wanted::These(frames.into_iter().collect()), true, Target::Sheet(sheet))
    }

    /// Passes every frame to `taker`, without alpha.
    pub fn for_taker(taker: Taker) -> Self {
        Self::of(Wanted::Range(0..u64::MAX), true, Target::Taker(taker))
    }

    fn of(wanted: Wanted, is_opaque: bool, to: Target) -> Self {
        Self { frames: Some(Frames { wanted, is_opaque, to }), ..Self::default() }
    }

    /// Takes pictures after one command, or before it. Nothing is played after that.
    pub fn of_command(at: At) -> Self {
        Self { at: Some(at), ..Self::default() }
    }

    /// Reads one pixel before and after some commands.
    pub fn of_pixel(watched: Watched) -> Self {
        Self { pixel: Some(watched), ..Self::default() }
    }

    /// Whether the replay may end, because of a failure or because no further picture is wanted.
    pub fn is_over(&self) -> bool {
        self.failure.is_some() || self.is_enough
    }

    /// Waits until all files are written. The error names a file that can't be written.
    pub fn finish(self) -> Result<Taken, String> {
        let mut taken =
            Taken { files: self.files, missed: self.at.map(|at| at.seq), ..Taken::default() };
        taken.pixels = self.pixel.map(|watched| watched.seen).unwrap_or_default();
        match self.frames.map(|frames| frames.to) {
            None | Some(Target::Taker(_)) => {}
            Some(Target::Folder(folder)) => taken.files += folder.finish()?,
            Some(Target::Sheet(sheet)) => taken.sheet = Some(sheet),
        }
        self.failure.map_or(Ok(taken), Err)
    }

    pub(super) fn wants(&self, process: u32, frame: u64) -> bool {
        !self.is_over()
            && self.frames.as_ref().is_some_and(|frames| match &frames.wanted {
                Wanted::Range(range) => range.contains(&frame),
                Wanted::These(these) => these.contains(&(process, frame)),
            })
    }

    pub(super) fn take(&mut self, process: u32, frame: u64, picture: Picture) {
        let Some(frames) = &mut self.frames else { return };
        let picture = if frames.is_opaque { picture.opaque() } else { picture };
        match &mut frames.to {
            Target::Sheet(sheet) => sheet.add((process, frame), &picture),
            Target::Taker(take) => self.is_enough |= !take((process, frame), picture),
            Target::Folder(folder) => {
                let write = move |out: &mut dyn std::io::Write| picture.write_png(out);
                if let Err(failure) =
                    folder.write(format!("{}.png", name_of(process, frame)), write)
                {
                    self.failure = Some(failure);
                }
            }
        }
    }
}

/// File name of a frame's picture, without extension. It has the frame's number, from 0.
pub fn name_of(process: u32, frame: u64) -> String {
    match process {
        0 => format!("frame-{frame:06}"),
        process => format!("process-{process}-frame-{frame:06}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_named_by_the_number_of_its_frame() {
        assert_eq!(name_of(0, 0), "frame-000000");
        assert_eq!(name_of(2, 1_234_567), "process-2-frame-1234567");
    }
}

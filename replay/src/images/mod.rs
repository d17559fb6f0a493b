//! Pictures of what is played: of frames as they are shown, and of what a command has left behind.
//!
//! Takes them with the driver, between its commands, and leaves no trace there. Encoding and writing
//! goes on beside the playing.

mod at;
mod back_buffer;
mod depth;
mod fetch;
mod folder;
mod framebuffer;
mod gl;
mod picture;
mod resources;
mod sheet;

use std::collections::BTreeSet;
use std::ops::Range;

pub use at::At;
pub use folder::Folder;
pub use picture::{Picture, PixelDifference};
pub use sheet::{Sheet, spread};

use gapii_protocol::trace::BlobName;

use crate::call::{Call, Skip};
use crate::verify::FramePixels;

/// What is to be made pictures of, and what came of it.
#[derive(Default)]
pub struct Images {
    frames: Option<Frames>,
    /// Until it is taken.
    at: Option<At>,
    /// Files that were written for it.
    files: u64,
    /// What went wrong with writing; nothing more is played then.
    failure: Option<String>,
}

/// Frames that are shown.
struct Frames {
    wanted: Range<u64>,
    /// Of those wanted; all without.
    only: Option<BTreeSet<u64>>,
    is_opaque: bool,
    to: Target,
}

enum Target {
    Folder(Folder),
    Sheet(Sheet),
}

/// What came of the pictures.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Taken {
    /// Files that were written.
    pub files: u64,
    /// Small pictures of frames, where a sheet was asked for.
    #[serde(skip)]
    pub sheet: Option<Sheet>,
}

impl Images {
    /// One PNG in `folder` for each frame that is wanted, named by its ordinal; opaque ones are
    /// without alpha, as a window shows them.
    pub fn of_frames(folder: Folder, wanted: Range<u64>, is_opaque: bool) -> Self {
        let frames = Frames { wanted, only: None, is_opaque, to: Target::Folder(folder) };
        Self { frames: Some(frames), ..Self::default() }
    }

    /// A contact sheet of these frames.
    pub fn of_sheet(sheet: Sheet, frames: impl IntoIterator<Item = u64>) -> Self {
        let only: BTreeSet<u64> = frames.into_iter().collect();
        let end = only.last().map_or(0, |last| last.saturating_add(1));
        let to = Target::Sheet(sheet);
        let frames = Frames { wanted: 0..end, only: Some(only), is_opaque: true, to };
        Self { frames: Some(frames), ..Self::default() }
    }

    /// What one command has left behind, and nothing played after it.
    pub fn of_command(at: At) -> Self {
        Self { at: Some(at), ..Self::default() }
    }

    /// Whether there is no use in playing on.
    pub fn is_over(&self) -> bool {
        self.failure.is_some()
    }

    /// Playing ends before its time; what there is of pictures is whole.
    pub fn cancel(&mut self) {
        self.at = None;
    }

    /// Waits until all is written.
    pub fn finish(self) -> Result<Taken, String> {
        let taken = match self.frames.map(|frames| frames.to) {
            None => Ok(Taken::default()),
            Some(Target::Folder(folder)) => {
                folder.finish().map(|files| Taken { files, sheet: None })
            }
            Some(Target::Sheet(sheet)) => Ok(Taken { files: 0, sheet: Some(sheet) }),
        };
        match (self.failure, self.at) {
            (Some(failure), _) => Err(failure),
            (None, Some(at)) => {
                Err(format!("command {} was not played, so there is nothing of it", at.seq))
            }
            (None, None) => taken.map(|taken| Taken { files: taken.files + self.files, ..taken }),
        }
    }

    fn wants(&self, frame: u64) -> bool {
        self.failure.is_none()
            && self.frames.as_ref().is_some_and(|frames| {
                frames.wanted.contains(&frame)
                    && frames.only.as_ref().is_none_or(|only| only.contains(&frame))
            })
    }

    fn take(&mut self, process: u32, frame: u64, picture: Picture) {
        let Some(frames) = &mut self.frames else { return };
        let picture = if frames.is_opaque { picture.opaque() } else { picture };
        match &mut frames.to {
            Target::Sheet(sheet) => sheet.add(frame, &picture),
            Target::Folder(folder) => {
                let write = move |out: &mut dyn std::io::Write| picture.write_png(out);
                if let Err(failure) = folder.write(name_of(process, frame), write) {
                    self.failure = Some(failure);
                }
            }
        }
    }
}

/// File name of a frame's picture: the first frame, number 0 of the trace, is picture 1.
fn name_of(process: u32, frame: u64) -> String {
    let ordinal = frame.saturating_add(1);
    match process {
        0 => format!("frame-{ordinal:06}.png"),
        process => format!("process-{process}-frame-{ordinal:06}.png"),
    }
}

/// What the surface shows that is current for drawing. The state of its context is as before.
pub fn back_buffer(call: &mut Call<'_, '_>) -> Result<Picture, Skip> {
    back_buffer::read(&call.parts.driver)
}

/// The back buffer is whole: the driver's swap comes next. The surface is the one that is current
/// for drawing.
pub fn before_swap(call: &mut Call<'_, '_>) {
    let (process, frame) = (call.command.process, call.command.frame);
    // A swap that failed when it was recorded ended no frame.
    if call.recorded_result() == Some(0) {
        return;
    }
    let observed = call.command.observed_frame.filter(|_| call.parts.verify.is_on());
    let is_wanted = call.parts.images.wants(frame);
    if !is_wanted && observed.is_none() {
        return;
    }
    let picture = back_buffer(call);
    if let Some(observed) = observed {
        let (width, height) = (observed.width, observed.height);
        let expected = FramePixels { width, height, name: observed.name.0 };
        let seen = picture.as_ref().ok().map(|picture| {
            let name = BlobName::of(&picture.rgba).0;
            FramePixels { width: picture.width, height: picture.height, name }
        });
        call.parts.verify.frame(call.command.seq, expected, seen);
    }
    match picture {
        Ok(picture) if is_wanted => call.parts.images.take(process, frame, picture),
        Ok(_) => {}
        Err(why) => call.parts.report.note(format!("no picture of frame {frame}: {why}")),
    }
}

/// A command has been played.
pub fn after(call: &mut Call<'_, '_>) {
    let images = &mut call.parts.images;
    if images.at.as_ref().is_none_or(|at| call.command.seq != Some(at.seq)) {
        return;
    }
    let Some(at) = images.at.take() else { return };
    let taken = at.take(call).and_then(|()| at.folder.finish());
    match taken {
        Ok(files) => call.parts.images.files = files,
        Err(failure) => call.parts.images.failure = Some(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_named_by_the_ordinal_of_its_frame() {
        assert_eq!(name_of(0, 0), "frame-000001.png");
        assert_eq!(name_of(2, 1_234_567), "process-2-frame-1234568.png");
    }
}

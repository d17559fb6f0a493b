//! The moments at which pictures are taken: before a swap, at another command that ended a frame, and after a command. A
//! swap that failed in the recording gives none. A picture that cannot be taken is noted in the report, and playing goes on.

use gapii_trace::BlobName;

use super::back_buffer;
use super::checksums::Checksums;
use super::picture::Picture;
use super::target;
use super::wanted::Images;
use crate::call::Call;
use crate::skip::Skip;
use crate::verify::{FramePixels, Verifier};

/// Picture of the surface that is current for drawing. Restores the context's state.
pub fn back_buffer(call: &mut Call<'_, '_>) -> Result<Picture, Skip> {
    back_buffer::read(&call.parts.driver)
}

/// Called just before the driver's swap: takes the frame's picture if it is wanted, gets a checksum or has to be
/// verified. The surface that swaps is the one that is current for drawing.
pub fn before_swap(
    images: &mut Images,
    checksums: &mut Checksums,
    verifier: &mut Verifier,
    call: &mut Call<'_, '_>,
) {
    let (process, frame) = (call.command.process, call.command.frame);
    // A swap that failed in the recording ended no frame, nor did one in a capture whose frames end at other commands.
    if call.recorded_result() == Some(0) || !call.command.ends_frame {
        return;
    }
    let observed = call.command.observed_frame.filter(|_| verifier.is_on());
    let is_wanted = images.wants(process, frame);
    let has_checksum = checksums.wants((process, frame));
    if !is_wanted && !has_checksum && observed.is_none() {
        return;
    }
    let picture = back_buffer(call);
    if let Some(observed) = observed {
        let (width, height) = (observed.width, observed.height);
        let expected = FramePixels { width, height, name: observed.name };
        let seen = picture.as_ref().ok().map(|picture| {
            let name = BlobName::of(&picture.rgba).0;
            FramePixels { width: picture.width, height: picture.height, name }
        });
        verifier.frame(call.command.seq, expected, seen);
    }
    take_frame(images, checksums, call, picture);
}

/// Called at a command, other than a swap, that ended a frame in the recording: takes the frame's picture if it is wanted or
/// gets a checksum.
pub fn frame_end(images: &mut Images, checksums: &mut Checksums, call: &mut Call<'_, '_>) {
    let (process, frame) = (call.command.process, call.command.frame);
    if images.wants(process, frame) || checksums.wants((process, frame)) {
        let picture = target::picture(&call.parts.driver);
        take_frame(images, checksums, call, picture);
    }
}

/// Passes the picture of the frame that ends on, or notes why there is none.
fn take_frame(
    images: &mut Images,
    checksums: &mut Checksums,
    call: &mut Call<'_, '_>,
    picture: Result<Picture, Skip>,
) {
    let (process, frame) = (call.command.process, call.command.frame);
    if checksums.wants((process, frame)) {
        checksums.note_driver(|| call.parts.gl_driver());
        checksums.take((process, frame), picture.as_ref().ok());
    }
    match picture {
        Ok(picture) if images.wants(process, frame) => images.take(process, frame, picture),
        Ok(_) => {}
        Err(why) => {
            let of = if process == 0 { String::new() } else { format!(" of process {process}") };
            call.parts.tally.note(format!("no picture of frame {frame}{of}: {why}"));
        }
    }
}

/// Called before each command is played: takes pictures if they are wanted before this command. Returns whether they were;
/// then the command cannot be played any more.
pub fn before(images: &mut Images, call: &mut Call<'_, '_>) -> bool {
    if let Some(pixel) = &mut images.pixel {
        pixel.before(call);
    }
    let is_wanted = images.at.as_ref().is_some_and(|at| at.is_before);
    is_wanted && take_at(images, call)
}

/// Called after each played command: takes pictures if they are wanted after this command.
pub fn after(images: &mut Images, call: &mut Call<'_, '_>) {
    if let Some(pixel) = &mut images.pixel {
        pixel.after(call);
    }
    take_at(images, call);
}

fn take_at(images: &mut Images, call: &mut Call<'_, '_>) -> bool {
    if images.at.as_ref().is_none_or(|at| call.command.seq != Some(at.seq)) {
        return false;
    }
    let Some(at) = images.at.take() else { return false };
    let taken = at.take(call).and_then(|()| at.folder.finish());
    match taken {
        Ok(files) => images.files = files,
        Err(failure) => images.failure = Some(failure),
    }
    true
}

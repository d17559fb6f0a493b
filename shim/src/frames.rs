//! Observed frames: pixels that are read back from the driver just before a swap, and hashed or kept, in captures that
//! ask for it. The read-back leaves no GL error and no changed state behind. A frame is not observed if its surface is
//! not current for drawing and reading, has floating-point components, changes its size meanwhile, or takes more than
//! `FRAME_BYTES_MAX` (1 GiB at 4 bytes per pixel), or if a setting cannot be put aside. Pixels that find no room in the
//! ring leave only their hash.
//!
//! The EGL calls may set the thread's EGL error, but `eglGetError` reports the latest EGL call, which is the swap that
//! follows.

use core::ffi::c_void;

use gapii_abi::atom::{BLOB_NAME_LEN, FRAME, Frame, FrameKind};
use gapii_recorder::blob::{Kept, Own};
use gapii_recorder::{ErrnoGuard, Recorder};
use gapii_state::read_back::Aside;

use crate::capture;
use crate::driver_calls::{Draw, Gl, Of};
use crate::tls::words;

/// The most bytes of a frame: a reader takes no larger blob.
const FRAME_BYTES_MAX: u64 = 1 << 30;

/// Observes the frame that a recorded swap is about to show, if it is one of those to observe.
pub fn observe(recorder: &mut Recorder, of: Of, display: *mut c_void, surface: *mut c_void) {
    let Some((frame, keeps_pixels)) = capture::frame_to_observe() else { return };
    let _errno = ErrnoGuard::save();
    let Some(draw) = Draw::current(of, display as u64, surface as u64) else { return };
    let Some(frames) = words().thread().map(|thread| &thread.frames) else { return };
    let known = frames.size_of(surface as u64);
    let Some([width, height]) = known.or_else(|| draw.size()) else { return };
    let bytes = 4 * u64::from(width) * u64::from(height);
    if bytes == 0 || bytes > FRAME_BYTES_MAX {
        return;
    }
    let Some(at) = frames.room(bytes) else { return };
    if !read(at, width, height) {
        return;
    }
    // While a window is being resized, the size of the buffer that was drawn to is unknown.
    if draw.size() != Some([width, height]) {
        return;
    }
    // SAFETY: as many bytes of the shim's own, which no other thread writes.
    let pixels = unsafe { core::slice::from_raw_parts(at, bytes as usize) };
    let kept = match keeps_pixels {
        // SAFETY: the shim's own pixels are readable.
        true => unsafe { recorder.keep(&Own(pixels)) },
        false => Kept::Inline,
    };
    let kind = match kept {
        Kept::Blob(_) => FrameKind::Blob,
        Kept::Inline | Kept::Unrecorded => FrameKind::Hash,
    };
    let name = name_of(pixels);
    let record = Frame { surface: surface as u64, frame, width, height, kind, name };
    recorder.write_meta(FRAME, &record.encode());
}

/// Notes the size of a surface after a successful swap, when the query can do no harm. Before a swap, a driver may
/// take the query as a reason to allocate new buffers.
pub fn note_size(of: Of, display: *mut c_void, surface: *mut c_void) {
    if !capture::observes_frames() {
        return;
    }
    let _errno = ErrnoGuard::save();
    let Some(thread) = words().thread() else { return };
    let size = Draw::current(of, display as u64, surface as u64).and_then(|draw| draw.size());
    thread.frames.note_size(surface as u64, size);
}

/// Forgets the size of the last surface: a surface that becomes current may be a new one with the same handle.
pub fn forget_size() {
    if let Some(thread) = words().thread() {
        thread.frames.note_size(0, None);
    }
}

/// Has the driver write the back buffer of the draw surface to `at`. False if it cannot be read without a trace.
fn read(at: *mut u8, width: u32, height: u32) -> bool {
    let Some(gl) = Gl::of_thread() else { return false };
    let Some(aside) = Aside::put(&gl) else { return false };
    gl.read_pixels(&aside, width, height, at);
    true
}

/// Returns the name of a blob of these bytes.
fn name_of(bytes: &[u8]) -> [u8; BLOB_NAME_LEN] {
    blake3::hash(bytes).as_bytes().first_chunk().copied().unwrap_or_default()
}

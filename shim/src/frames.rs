//! Frames as the program shows them: read back from the driver just before a swap, hashed or kept.
//!
//! Only while a capture asks for it. Leaves no GL error and no state behind; where that can't be had,
//! a frame is not observed. The errors of its EGL calls are gone with the swap, which is one too.

use core::ffi::c_void;
use core::ptr;

use gapii_abi::atom::{FRAME, Frame, FrameKind};
use gapii_state::read_back::Aside;

use crate::blobs::{Kept, Source, name_bytes, name_words};
use crate::capture;
use crate::driver_calls::{Draw, Gl};
use crate::errno::ErrnoGuard;
use crate::known::Name;
use crate::mapping;
use crate::thread::{self, Thread};

/// Most bytes of a frame: as many as a reader takes of a blob.
const FRAME_BYTES_MAX: u64 = 1 << 30;

/// What a thread has for reading frames back. All zero: nothing yet.
#[repr(C)]
pub struct Frames {
    /// The surface that was swapped last, and how large it was right after.
    surface: u64,
    size: [u32; 2],
    pixels: *mut u8,
    pixels_bytes: u64,
}

/// Pixels in memory of the shim's own.
struct Pixels {
    at: *const u8,
    bytes: u64,
}

impl Source for Pixels {
    fn size(&self) -> u64 {
        self.bytes
    }

    unsafe fn copy(&self, from: u64, len: u64, out: *mut u8) -> bool {
        // SAFETY: the caller stays within the size.
        let at = unsafe { self.at.add(from as usize) };
        #[expect(clippy::disallowed_methods, reason = "both ranges are the shim's own")]
        // SAFETY: as above; `out` is the caller's own.
        unsafe {
            ptr::copy_nonoverlapping(at, out, len as usize)
        };
        true
    }
}

/// Before a swap that is recorded: observes the frame, if it is one of those to observe.
pub fn observe(thread: &mut Thread, display: *mut c_void, surface: *mut c_void) {
    let Some((frame, keeps_pixels)) = capture::frame_to_observe() else { return };
    let _errno = ErrnoGuard::new();
    let Some(draw) = Draw::current(display as u64, surface as u64) else { return };
    let known = (thread.frames.surface == surface as u64).then_some(thread.frames.size);
    let Some([width, height]) = known.or_else(|| draw.size()) else { return };
    let bytes = 4 * u64::from(width) * u64::from(height);
    if bytes == 0 || bytes > FRAME_BYTES_MAX {
        return;
    }
    let Some(at) = thread.frames.pixels(bytes) else { return };
    if !read(at, width, height) {
        return;
    }
    // While its window changes nobody says how large the buffer is that was drawn to.
    if draw.size() != Some([width, height]) {
        return;
    }
    let pixels = Pixels { at, bytes };
    let kept = match keeps_pixels {
        // SAFETY: the thread is inside the shim, and its own pixels are readable.
        true => unsafe { thread.keep(&pixels) },
        false => Ok(Kept::Inline),
    };
    let (kind, name) = match kept {
        Ok(Kept::Blob(name)) => (FrameKind::Blob, name),
        _ => (FrameKind::Hash, pixels.name()),
    };
    let name = name_bytes(name);
    let record = Frame { surface: surface as u64, frame, width, height, kind, name };
    thread::write_meta(thread, FRAME, &record.encode());
}

/// After a swap that succeeded: how large the surface is now, when nothing of it can be lost by
/// asking. A driver that is asked before a swap may take the answer as a reason for new buffers.
pub fn note_size(display: *mut c_void, surface: *mut c_void) {
    if !capture::observes_frames() {
        return;
    }
    let _errno = ErrnoGuard::new();
    // SAFETY: in a hooked command of this thread, which is over.
    let Some(thread) = (unsafe { thread::own() }) else { return };
    let size = Draw::current(display as u64, surface as u64).and_then(|draw| draw.size());
    thread.frames.surface = if size.is_some() { surface as u64 } else { 0 };
    thread.frames.size = size.unwrap_or_default();
}

/// A surface that becomes current may be another of the same handle.
pub fn forget_size() {
    // SAFETY: in a hooked command of this thread, which is over.
    if let Some(thread) = unsafe { thread::own() } {
        thread.frames.surface = 0;
    }
}

/// Has the driver write the back buffer of the draw surface to `at`; false: it can't be had.
fn read(at: *mut u8, width: u32, height: u32) -> bool {
    let Some(gl) = Gl::current() else { return false };
    let Some(_aside) = Aside::put(&gl) else { return false };
    gl.read_pixels(width, height, at);
    true
}

impl Pixels {
    /// The name of a blob of these bytes.
    fn name(&self) -> Name {
        // SAFETY: as many bytes are readable, and nobody writes them meanwhile.
        let bytes = unsafe { core::slice::from_raw_parts(self.at, self.bytes as usize) };
        name_words(&blake3::hash(bytes))
    }
}

impl Frames {
    /// Room for a frame, all zeros: a driver leaves alone what is outside of its buffer.
    fn pixels(&mut self, bytes: u64) -> Option<*mut u8> {
        if self.pixels_bytes < bytes {
            self.unmap();
            self.pixels = mapping::map(bytes as usize)?.as_ptr();
            self.pixels_bytes = bytes;
        } else {
            // SAFETY: as many bytes are mapped, and this thread's own.
            unsafe { self.pixels.write_bytes(0, bytes as usize) };
        }
        Some(self.pixels)
    }

    /// Gives the memory back.
    pub fn unmap(&mut self) {
        if !self.pixels.is_null() {
            // SAFETY: a mapping of that size, that nobody uses any more.
            unsafe { mapping::unmap(self.pixels, self.pixels_bytes as usize) };
        }
        (self.pixels, self.pixels_bytes) = (ptr::null_mut(), 0);
    }
}

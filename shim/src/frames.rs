//! Observed frames: pixels that are read back from the driver just before a swap, and hashed or kept.
//!
//! This happens only in captures that ask for it. The read-back leaves no GL error and no changed state behind; where
//! that is impossible, the frame is not observed. Its EGL calls may set the thread's EGL error, but `eglGetError`
//! reports the latest EGL call, which is the swap that follows.

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

/// The most bytes of a frame: a reader takes no larger blob.
const FRAME_BYTES_MAX: u64 = 1 << 30;

/// A thread's memory for reading frames back. All zeros: none yet.
#[repr(C)]
pub struct Frames {
    /// The surface that was swapped last, and its size right after the swap.
    surface: u64,
    size: [u32; 2],
    pixels: *mut u8,
    pixels_bytes: u64,
}

/// Pixels in the shim's own memory.
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

/// Observes the frame that a recorded swap is about to show, if it is one of those to observe.
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
    // While a window is being resized, the size of the buffer that was drawn to is unknown.
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

/// Notes the size of a surface after a successful swap, when the query can do no harm. Before a swap, a driver may
/// take the query as a reason to allocate new buffers.
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

/// Forgets the size of the last surface: a surface that becomes current may be a new one with the same handle.
pub fn forget_size() {
    // SAFETY: in a hooked command of this thread, which is over.
    if let Some(thread) = unsafe { thread::own() } {
        thread.frames.surface = 0;
    }
}

/// Has the driver write the back buffer of the draw surface to `at`. False if it cannot be read without a trace.
fn read(at: *mut u8, width: u32, height: u32) -> bool {
    let Some(gl) = Gl::current() else { return false };
    let Some(_aside) = Aside::put(&gl) else { return false };
    gl.read_pixels(width, height, at);
    true
}

impl Pixels {
    /// Returns the name of a blob of these bytes.
    fn name(&self) -> Name {
        // SAFETY: `bytes` bytes are readable, and no other thread writes them.
        let bytes = unsafe { core::slice::from_raw_parts(self.at, self.bytes as usize) };
        name_words(&blake3::hash(bytes))
    }
}

impl Frames {
    /// Returns room for a frame, filled with zeros, because a driver leaves pixels outside its buffer unwritten.
    fn pixels(&mut self, bytes: u64) -> Option<*mut u8> {
        if self.pixels_bytes < bytes {
            self.unmap();
            self.pixels = mapping::map(bytes as usize)?.as_ptr();
            self.pixels_bytes = bytes;
        } else {
            // SAFETY: at least `bytes` bytes are mapped, and they belong to this thread.
            unsafe { self.pixels.write_bytes(0, bytes as usize) };
        }
        Some(self.pixels)
    }

    /// Unmaps the memory.
    pub fn unmap(&mut self) {
        if !self.pixels.is_null() {
            // SAFETY: a mapping of this size that nothing uses any more.
            unsafe { mapping::unmap(self.pixels, self.pixels_bytes as usize) };
        }
        (self.pixels, self.pixels_bytes) = (ptr::null_mut(), 0);
    }
}

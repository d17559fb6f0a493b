//! `FramePixels`: a thread's memory for reading frames back, mapped at its first use and only ever enlarged until the
//! thread ends, and the size of the surface that the thread swapped last.

use core::cell::Cell;
use core::ptr;

use crate::own_memory;

/// A thread's memory for the pixels of one frame, and the size of the surface that it swapped last. All zeros: none
/// yet. Only the thread itself uses it.
#[repr(C)]
pub struct FramePixels {
    /// The surface that was swapped last, and its width and height in pixels right after the swap.
    surface: Cell<u64>,
    size: Cell<[u32; 2]>,
    at: Cell<*mut u8>,
    bytes: Cell<u64>,
}

impl FramePixels {
    /// No memory, and no surface.
    pub const fn none() -> Self {
        Self {
            surface: Cell::new(0),
            size: Cell::new([0; 2]),
            at: Cell::new(ptr::null_mut()),
            bytes: Cell::new(0),
        }
    }

    /// Returns width and height of `surface`, if it was swapped last.
    pub fn size_of(&self, surface: u64) -> Option<[u32; 2]> {
        (surface != 0 && self.surface.get() == surface).then_some(self.size.get())
    }

    /// Notes width and height of a surface after a swap. `None`: they are unknown.
    pub fn note_size(&self, surface: u64, size: Option<[u32; 2]>) {
        self.surface.set(if size.is_some() { surface } else { 0 });
        self.size.set(size.unwrap_or_default());
    }

    /// Returns room for `bytes` bytes of pixels, filled with zeros, because a driver leaves pixels outside its buffer
    /// unwritten. `None` if there is no memory. The next call reuses the room.
    pub fn room(&self, bytes: u64) -> Option<*mut u8> {
        if self.bytes.get() < bytes {
            self.unmap();
            self.at.set(own_memory::map(bytes as usize)?.as_ptr());
            self.bytes.set(bytes);
        } else {
            // SAFETY: at least `bytes` bytes are mapped, and they belong to this thread.
            unsafe { self.at.get().write_bytes(0, bytes as usize) };
        }
        Some(self.at.get())
    }

    /// Unmaps the memory.
    pub fn unmap(&self) {
        let at = self.at.replace(ptr::null_mut());
        let bytes = self.bytes.replace(0);
        if !at.is_null() {
            // SAFETY: a mapping of this size, which nothing uses any more.
            unsafe { own_memory::unmap(at, bytes as usize) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_zeros_whenever_it_is_asked_for() {
        let pixels = FramePixels::none();
        for bytes in [64, 16, 64, 9000] {
            let at = pixels.room(bytes).unwrap();
            // SAFETY: as many bytes were asked for.
            let seen = unsafe { core::slice::from_raw_parts_mut(at, bytes as usize) };
            assert!(seen.iter().all(|byte| *byte == 0), "{bytes}");
            seen.fill(7);
        }
        pixels.unmap();
    }

    #[test]
    fn size_is_known_of_the_last_surface_only() {
        let pixels = FramePixels::none();
        assert_eq!(pixels.size_of(0), None);
        pixels.note_size(5, Some([4, 3]));
        assert_eq!((pixels.size_of(5), pixels.size_of(6)), (Some([4, 3]), None));
        pixels.note_size(5, None);
        assert_eq!(pixels.size_of(5), None);
    }
}

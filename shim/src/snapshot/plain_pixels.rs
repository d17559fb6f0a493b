//! Reads of pixels as they are, row by row without gaps, whatever the program has set with glPixelStore and glPixelTransfer. The
//! snapshot's only way to the driver's functions that write pixels to memory, so that no read forgets what is set.

use gapii_state::read_back::Aside;

use super::gl::pixels;
use crate::driver_calls::Gl;

/// Shows that the context has nothing set that changes pixels which are read.
pub struct Plain<'d> {
    /// What the program has set; `None` in a context of the shim's own.
    _aside: Option<Aside<'d, Gl>>,
}

impl<'d> Plain<'d> {
    /// Puts aside what the program has set in its context, until this is dropped. `None` if the context could not be as before,
    /// because another one has deleted the buffer to which pixels are read.
    pub fn in_program(driver: &'d Gl) -> Option<Self> {
        Some(Self { _aside: Some(Aside::put_of_pixels(driver)?) })
    }

    /// For a context of the shim's own, in which rows have no gaps: an alignment of 1, or rows of four bytes a pixel.
    pub const fn in_own_context() -> Self {
        Self { _aside: None }
    }

    /// `glReadPixels` of the lower left of the framebuffer, of a width and height, in a format and type.
    ///
    /// # Safety
    /// There is room for the pixels.
    pub unsafe fn read_pixels(
        &self,
        (width, height): (i32, i32),
        (format, kind): (u32, u32),
        out: *mut u8,
    ) {
        // SAFETY: the caller's duty.
        unsafe { pixels::read_pixels(0, 0, width, height, format, kind, out) };
    }

    /// `glGetTexImage` of a level of the texture that is bound to a target, in a format and type.
    ///
    /// # Safety
    /// As for [`Self::read_pixels`].
    pub unsafe fn texture_image(
        &self,
        (target, level): (u32, i32),
        (format, kind): (u32, u32),
        out: *mut u8,
    ) {
        // SAFETY: the caller's duty.
        unsafe { pixels::get_texture_image(target, level, format, kind, out) };
    }

    /// `glGetPolygonStipple`: 32 rows of 32 bits.
    pub fn polygon_stipple(&self) -> Vec<u8> {
        let mut stipple = vec![0; 128];
        // SAFETY: there is room for the rows.
        unsafe { pixels::get_polygon_stipple(stipple.as_mut_ptr()) };
        stipple
    }

    /// `glGetPixelMapfv` of a map with so many values.
    pub fn pixel_map(&self, map: u32, size: usize) -> Vec<f32> {
        let mut values = vec![0.0; size];
        // SAFETY: there is room for the values.
        unsafe { pixels::get_pixel_map(map, values.as_mut_ptr()) };
        values
    }
}

//! Rectangles of the window that draws are cut at (GL_EXT_window_rectangles), at most 64.

use gapii_commands::constants::{
    GL_EXCLUSIVE_EXT, GL_NUM_WINDOW_RECTANGLES_EXT, GL_WINDOW_RECTANGLE_EXT,
    GL_WINDOW_RECTANGLE_MODE_EXT,
};
use gapii_state::read_back::Driver;

use super::emit::Emitter;
use super::gl;
use crate::driver_calls::Gl;
use crate::generated::ids::GL_WINDOW_RECTANGLES_EXT;

/// Draws change what is inside, or what is outside, of all rectangles.
pub struct WindowRectangles {
    mode: u32,
    /// Left, bottom, width and height of each.
    places: Vec<[i32; 4]>,
}

impl WindowRectangles {
    /// Nothing is cut.
    pub const NONE: Self = Self { mode: GL_EXCLUSIVE_EXT, places: Vec::new() };

    /// Those of the current context; `None` if it has no such extension.
    pub fn ask(driver: &Gl) -> Option<Self> {
        if !driver.has("GL_EXT_window_rectangles") {
            return None;
        }
        let place = |index| {
            let mut place = [0; 4];
            // SAFETY: a rectangle has four numbers.
            unsafe { gl::get_integers_at(GL_WINDOW_RECTANGLE_EXT, index, place.as_mut_ptr()) };
            place
        };
        let count = gl::integer(GL_NUM_WINDOW_RECTANGLES_EXT).clamp(0, 64) as u32;
        let mode = gl::integer(GL_WINDOW_RECTANGLE_MODE_EXT) as u32;
        Some(Self { mode, places: (0..count).map(place).collect() })
    }

    /// Sets them in the current context.
    pub fn set(&self) {
        let places = self.places.as_flattened();
        // SAFETY: each rectangle has four numbers.
        unsafe { gl::window_rectangles(self.mode, self.places.len() as i32, places.as_ptr()) };
    }

    /// Describes them.
    pub fn describe(&self, emitter: &mut Emitter) {
        let command = emitter.command(GL_WINDOW_RECTANGLES_EXT).arg(self.mode);
        command.arg(self.places.len() as i32).numbers(self.places.as_flattened()).done();
    }
}

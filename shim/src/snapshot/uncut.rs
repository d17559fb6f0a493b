//! Puts aside what would cut, discard or turn round a blit in the program's context: the scissor test, window rectangles
//! (GL_EXT_window_rectangles), conditional rendering (GL_NV_conditional_render), and the inverted y axis of the
//! framebuffer that is read (GL_MESA_framebuffer_flip_y).

use gapii_commands::constants::GL_READ_FRAMEBUFFER;
use gapii_state::Context;

use super::queries::Unconditional;
use super::window_rectangles::WindowRectangles;
use super::{flipped, viewports};
use crate::driver_calls::Gl;

/// All is as before once this is dropped.
pub struct Uncut {
    driver: Gl,
    is_scissored: bool,
    rectangles: Option<WindowRectangles>,
    is_flipped: bool,
    _unconditional: Unconditional,
}

impl Uncut {
    /// `framebuffer` is bound for reading. `None`, and nothing is changed, if draws depend on a query that has lost its
    /// name: no command could make them depend on it again.
    pub fn begin(context: &Context, framebuffer: u32) -> Option<Self> {
        let driver = Gl::current()?;
        let unconditional = Unconditional::begin(context)?;
        let is_scissored = viewports::is_first_scissored(&driver);
        if is_scissored {
            viewports::scissor_first(&driver, false);
        }
        let rectangles = WindowRectangles::ask(&driver);
        if rectangles.is_some() {
            WindowRectangles::NONE.set();
        }
        let is_flipped = framebuffer != 0 && flipped::is(&driver, GL_READ_FRAMEBUFFER);
        if is_flipped {
            flipped::set(&driver, GL_READ_FRAMEBUFFER, false);
        }
        Some(Self { driver, is_scissored, rectangles, is_flipped, _unconditional: unconditional })
    }
}

impl Drop for Uncut {
    fn drop(&mut self) {
        if self.is_flipped {
            flipped::set(&self.driver, GL_READ_FRAMEBUFFER, true);
        }
        if let Some(rectangles) = &self.rectangles {
            rectangles.set();
        }
        if self.is_scissored {
            viewports::scissor_first(&self.driver, true);
        }
    }
}

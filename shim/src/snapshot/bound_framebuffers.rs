//! The framebuffers that the program has bound, set aside for commands that make a driver look at them.
//!
//! Draws, reads and some queries make Mesa 22.3 look at the framebuffers that are bound. It keeps the answer that one is
//! complete until an image is attached or replaced, and how many bits of stencil it has: the program would get other
//! answers afterwards.

use gapii_state::read_back::{self, Driver};

use crate::driver_calls::Gl;

/// The names of the framebuffers; dropping this binds them again.
pub struct BoundFramebuffers {
    driver: Option<Gl>,
    /// The targets whose bindings were replaced, and the names that were bound there.
    replaced: Vec<(u32, u32)>,
}

impl BoundFramebuffers {
    /// Binds `framebuffer` in their place, for drawing and for reading; 0 is the surface. Does nothing in a context that has no
    /// framebuffers.
    pub fn replace(framebuffer: u32) -> Self {
        let driver = Gl::current();
        let mut replaced = Vec::new();
        if let Some(driver) = &driver {
            for (binding, target) in read_back::framebuffer_bindings(driver) {
                let bound = driver.integer(binding);
                if bound != framebuffer {
                    driver.bind_framebuffer(target, framebuffer);
                    replaced.push((target, bound));
                }
            }
        }
        Self { driver, replaced }
    }
}

impl Drop for BoundFramebuffers {
    fn drop(&mut self) {
        let Some(driver) = &self.driver else { return };
        for (target, bound) in self.replaced.drain(..) {
            driver.bind_framebuffer(target, bound);
        }
    }
}

//! The program's memory, as the tracked state reads it: the names, numbers and strings that commands take, and the
//! indices that draws use; and what only the driver knows of a context. Unreadable memory is an answer, not a fault.

use gapii_commands::constants::{
    GL_RENDERBUFFER, GL_RENDERBUFFER_BINDING, GL_RENDERBUFFER_DEPTH_SIZE, GL_RENDERBUFFER_HEIGHT,
    GL_RENDERBUFFER_STENCIL_SIZE, GL_RENDERBUFFER_WIDTH, GL_TEXTURE_COMPRESSED,
    GL_TEXTURE_COMPRESSED_IMAGE_SIZE, GL_TRANSFORM_FEEDBACK_ACTIVE,
};
use gapii_recorder::ErrnoGuard;
use gapii_recorder::program::{guarded, pages};
use gapii_state::{BoundRenderbuffer, ElementBuffer, Memory};

use crate::{driver_functions, element_buffer};

/// Reads the memory of this process. Unreadable memory is an answer, not a fault.
pub struct ProgramMemory;

impl Memory for ProgramMemory {
    #[inline]
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        // SAFETY: `into` is the shim's own; where the kernel does not copy, the driver would read the memory too.
        unsafe { guarded::read(address, into.as_mut_ptr(), into.len()) }
    }

    fn text_len(&self, address: u64, most: u64) -> u64 {
        pages::text_len(address, most).unwrap_or_else(|readable| readable)
    }

    fn element_buffer(&self, buffer: ElementBuffer, offset: u64, into: &mut [u8]) -> bool {
        element_buffer::read(buffer, offset, into)
    }

    #[cold]
    fn is_feeding_back(&self) -> Option<bool> {
        let _errno = ErrnoGuard::save();
        let mut is_active = 0;
        // SAFETY: the variable has one value.
        unsafe { driver_functions::get_integers(GL_TRANSFORM_FEEDBACK_ACTIVE, &raw mut is_active) };
        Some(is_active != 0)
    }

    #[cold]
    fn bound_renderbuffer(&self) -> Option<BoundRenderbuffer> {
        let _errno = ErrnoGuard::save();
        let mut bound = 0;
        // SAFETY: the variable has one value.
        unsafe { driver_functions::get_integers(GL_RENDERBUFFER_BINDING, &raw mut bound) };
        if bound == 0 {
            return None;
        }
        let number = |name| {
            let mut value = 0;
            // SAFETY: the parameter has one value, and a renderbuffer is bound.
            unsafe { driver_functions::get_renderbuffer(GL_RENDERBUFFER, name, &raw mut value) };
            value
        };
        Some(BoundRenderbuffer {
            width: number(GL_RENDERBUFFER_WIDTH),
            height: number(GL_RENDERBUFFER_HEIGHT),
            has_depth: number(GL_RENDERBUFFER_DEPTH_SIZE) > 0,
            has_stencil: number(GL_RENDERBUFFER_STENCIL_SIZE) > 0,
        })
    }

    #[cold]
    fn texture_level(&self, target: u32, level: i32, name: u32) -> Option<i32> {
        let _errno = ErrnoGuard::save();
        let number = |name| {
            let mut value = 0;
            // SAFETY: the parameter has one value, and the target has the level.
            unsafe { driver_functions::get_texture_level(target, level, name, &raw mut value) };
            value
        };
        // The driver refuses the size of an image that is not compressed.
        let is_there =
            name != GL_TEXTURE_COMPRESSED_IMAGE_SIZE || number(GL_TEXTURE_COMPRESSED) != 0;
        is_there.then(|| number(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_and_what_cannot_be_is_said() {
        let numbers: Vec<u8> = (0..=255).cycle().take(5000).collect();
        let check = |address: u64, len: usize, expected: Option<&[u8]>| {
            let mut into = vec![0xEE; len];
            assert_eq!(ProgramMemory.read(address, &mut into), expected.is_some());
            assert_eq!(into, expected.unwrap_or(&vec![0xEE; len]));
        };
        let at = numbers.as_ptr() as u64;
        check(at, 5, numbers.get(..5));
        check(at, 5000, numbers.get(..5000));
        check(0, 4, None);
        check(8, 4, None);
        check(0xDEAD_0000_0000, 5000, None);
    }

    #[test]
    fn text_ends_at_its_zero_byte_or_at_the_limit() {
        let text = c"name".as_ptr() as u64;
        assert_eq!(ProgramMemory.text_len(text, 100), 4);
        assert_eq!(ProgramMemory.text_len(text, 2), 2);
        assert_eq!(ProgramMemory.text_len(0, 2), 0);
    }
}

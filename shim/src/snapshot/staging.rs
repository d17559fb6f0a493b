//! Contents of buffers, copied by the driver into a buffer that the shim maps in its sibling context, at most
//! `BYTES_AT_ONCE` (16 MiB) at a time. Never maps a buffer of the program: a mapping can be refused with an error, and
//! other threads would meet a mapped buffer. Fails if the program has mapped the buffer.

use core::ffi::c_void;
use core::slice;

use gapii_commands::constants::{
    GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, GL_DYNAMIC_READ, GL_MAP_READ_BIT,
};

use super::gl;

/// Maximum number of bytes of a program's buffer that are copied and mapped at once.
const BYTES_AT_ONCE: usize = 16 << 20;

/// A buffer in the sibling context, bound to GL_COPY_WRITE_BUFFER there and deleted when this is dropped.
struct Staging {
    name: u32,
}

impl Staging {
    /// `None` if the driver has no memory for it. Errors are those of the shim's own context.
    fn new(size: usize) -> Option<Self> {
        gl::clear_errors();
        let mut name = 0;
        // SAFETY: there is room for one name.
        unsafe { gl::gen_buffers(1, &raw mut name) };
        let staging = Self { name };
        gl::bind_buffer(GL_COPY_WRITE_BUFFER, name);
        let size = isize::try_from(size).ok()?;
        // SAFETY: without data nothing is read.
        unsafe { gl::buffer_data(GL_COPY_WRITE_BUFFER, size, core::ptr::null(), GL_DYNAMIC_READ) };
        (gl::get_error() == 0).then_some(staging)
    }

    /// Appends the first `size` bytes to `out`.
    fn append(&self, size: usize, out: &mut Vec<u8>) -> Option<()> {
        out.try_reserve_exact(size).ok()?;
        let len = isize::try_from(size).ok()?;
        let at = gl::map_buffer_range(GL_COPY_WRITE_BUFFER, 0, len, GL_MAP_READ_BIT);
        if at == 0 {
            return None;
        }
        let at: *const c_void = core::ptr::with_exposed_provenance(at);
        // SAFETY: the driver has mapped as many bytes for reading.
        out.extend_from_slice(unsafe { slice::from_raw_parts(at.cast::<u8>(), size) });
        gl::unmap_buffer(GL_COPY_WRITE_BUFFER);
        Some(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // SAFETY: one name.
        unsafe { gl::delete_buffers(1, &raw const self.name) };
    }
}

/// Returns a parameter of a buffer of the program, in the sibling context.
pub fn parameter(buffer: u32, name: u32) -> u32 {
    let mut value = 0;
    gl::bind_buffer(GL_COPY_READ_BUFFER, buffer);
    // SAFETY: the parameter has one value.
    unsafe { gl::get_buffer_parameter(GL_COPY_READ_BUFFER, name, &raw mut value) };
    gl::bind_buffer(GL_COPY_READ_BUFFER, 0);
    value as u32
}

/// Puts the first `size` bytes of a buffer of the program into `out`, in the sibling context. `None` if the driver
/// refuses the copy, because the buffer is mapped, or if there is no memory.
pub fn read(buffer: u32, size: usize, out: &mut Vec<u8>) -> Option<()> {
    out.clear();
    let staging = Staging::new(size.min(BYTES_AT_ONCE))?;
    gl::bind_buffer(GL_COPY_READ_BUFFER, buffer);
    let mut read = || {
        while out.len() < size {
            let here = BYTES_AT_ONCE.min(size - out.len());
            let (from, len) = (isize::try_from(out.len()).ok()?, isize::try_from(here).ok()?);
            gl::copy_buffer_sub_data(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, from, 0, len);
            if gl::get_error() != 0 {
                return None;
            }
            staging.append(here, out)?;
        }
        Some(())
    };
    let done = read();
    gl::bind_buffer(GL_COPY_READ_BUFFER, 0);
    done
}

/// Makes a buffer of `size` bytes in the sibling context, for the program's context to write to. Returns its name.
pub fn make(size: usize) -> Option<u32> {
    let staging = Staging::new(size)?;
    let name = staging.name;
    core::mem::forget(staging);
    // The other context sees the buffer's data store from here on.
    gl::finish();
    Some(name)
}

/// Appends the first `size` bytes of a buffer of [`make`] to `out`, in the sibling context.
pub fn append(name: u32, size: usize, out: &mut Vec<u8>) -> Option<()> {
    let staging = Staging { name };
    // Binding it again shows what the other context has written (OpenGL ES 3.2, 5.3.3).
    gl::bind_buffer(GL_COPY_WRITE_BUFFER, name);
    let done = staging.append(size, out);
    core::mem::forget(staging);
    done
}

/// Deletes a buffer of [`make`], in the sibling context.
pub fn delete(name: u32) {
    drop(Staging { name });
}

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
pub const BYTES_AT_ONCE: usize = 16 << 20;

/// A buffer in the sibling context, bound to GL_COPY_WRITE_BUFFER there and deleted when this is dropped.
struct Staging {
    name: u32,
    size: usize,
}

impl Staging {
    /// `None` if the driver has no memory for it. Errors are those of the shim's own context.
    fn new(size: usize) -> Option<Self> {
        gl::clear_errors();
        let mut name = 0;
        // SAFETY: there is room for one name.
        unsafe { gl::gen_buffers(1, &raw mut name) };
        let staging = Self { name, size };
        staging.bind();
        let size = isize::try_from(size).ok()?;
        // SAFETY: without data nothing is read.
        unsafe { gl::buffer_data(GL_COPY_WRITE_BUFFER, size, core::ptr::null(), GL_DYNAMIC_READ) };
        (gl::get_error() == 0).then_some(staging)
    }

    /// Binding it again also shows what another context has written (OpenGL ES 3.2, 5.3.3).
    fn bind(&self) {
        gl::bind_buffer(GL_COPY_WRITE_BUFFER, self.name);
    }

    /// Copies `size` bytes of a buffer of the program, from byte `offset` on, to its beginning. `None` if the driver
    /// refuses the copy, because the program's buffer is mapped.
    fn copy(&self, buffer: u32, offset: usize, size: usize) -> Option<()> {
        let (from, len) = (isize::try_from(offset).ok()?, isize::try_from(size).ok()?);
        gl::bind_buffer(GL_COPY_READ_BUFFER, buffer);
        gl::clear_errors();
        gl::copy_buffer_sub_data(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, from, 0, len);
        let is_refused = gl::get_error() != 0;
        gl::bind_buffer(GL_COPY_READ_BUFFER, 0);
        (!is_refused).then_some(())
    }

    /// Maps the first `size` bytes for reading, until GL_COPY_WRITE_BUFFER is unmapped. Returns their address.
    fn map(&self, size: usize) -> Option<usize> {
        let len = isize::try_from(size).ok()?;
        let at = gl::map_buffer_range(GL_COPY_WRITE_BUFFER, 0, len, GL_MAP_READ_BIT);
        (at != 0).then_some(at)
    }

    /// Appends the first `size` bytes to `out`.
    fn append(&self, size: usize, out: &mut Vec<u8>) -> Option<()> {
        out.try_reserve_exact(size).ok()?;
        let at: *const c_void = core::ptr::with_exposed_provenance(self.map(size)?);
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

/// Reads the program's buffers in the sibling context, all through one buffer of the shim's own.
#[derive(Default)]
pub struct BufferReader {
    staging: Option<Staging>,
}

impl BufferReader {
    /// Copies and maps the first `size` bytes of a buffer of the program, at most [`BYTES_AT_ONCE`]. Returns the
    /// address of the copy, which can be read until [`unmap`](Self::unmap) is called. `None` if the driver refuses the
    /// copy, because the buffer is mapped, or if there is no memory.
    pub fn map(&mut self, buffer: u32, size: usize) -> Option<usize> {
        let staging = self.staging(size)?;
        staging.copy(buffer, 0, size)?;
        staging.map(size)
    }

    /// Ends the mapping of [`map`](Self::map).
    pub fn unmap(&mut self) {
        if let Some(staging) = &self.staging {
            staging.bind();
            gl::unmap_buffer(GL_COPY_WRITE_BUFFER);
        }
    }

    /// Puts the first `size` bytes of a buffer of the program into `out`. `None` as in [`map`](Self::map).
    pub fn read(&mut self, buffer: u32, size: usize, out: &mut Vec<u8>) -> Option<()> {
        out.clear();
        let staging = self.staging(size.min(BYTES_AT_ONCE))?;
        while out.len() < size {
            let here = BYTES_AT_ONCE.min(size - out.len());
            staging.copy(buffer, out.len(), here)?;
            staging.append(here, out)?;
        }
        Some(())
    }

    /// Returns a buffer of at least `size` bytes, bound. It is used again, since the pages of new memory cost as much as
    /// a copy.
    fn staging(&mut self, size: usize) -> Option<&Staging> {
        if self.staging.as_ref().is_none_or(|staging| staging.size < size) {
            self.staging = None;
            self.staging = Some(Staging::new(size)?);
        }
        let staging = self.staging.as_ref()?;
        staging.bind();
        Some(staging)
    }
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
    let staging = Staging { name, size };
    staging.bind();
    let done = staging.append(size, out);
    core::mem::forget(staging);
    done
}

/// Deletes a buffer of [`make`], in the sibling context.
pub fn delete(name: u32) {
    drop(Staging { name, size: 0 });
}

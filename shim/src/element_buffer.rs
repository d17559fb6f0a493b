//! Reads the bound element buffer back from the driver, for a draw whose vertices are in client memory and whose
//! indices the shim does not know. Maps the buffer for reading and waits for the driver as a mapping does. Immutable
//! storage that cannot be mapped for reading is copied to a buffer of the shim's own, at a binding point that is free. Reads
//! nothing where that could be an error: without buffer mapping (OpenGL ES 3, or GL_EXT_map_buffer_range with
//! GL_OES_mapbuffer), while transform feedback is active, if the buffer is mapped or too short, or if no binding point is
//! free. `GL_DEBUG_OUTPUT` is off meanwhile.

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_BUFFER_MAPPED, GL_BUFFER_SIZE, GL_COPY_READ_BUFFER, GL_COPY_READ_BUFFER_BINDING,
    GL_COPY_WRITE_BUFFER, GL_COPY_WRITE_BUFFER_BINDING, GL_DEBUG_OUTPUT, GL_ELEMENT_ARRAY_BUFFER,
    GL_ELEMENT_ARRAY_BUFFER_BINDING, GL_MAP_READ_BIT, GL_PIXEL_PACK_BUFFER,
    GL_PIXEL_PACK_BUFFER_BINDING, GL_PIXEL_UNPACK_BUFFER, GL_PIXEL_UNPACK_BUFFER_BINDING,
    GL_STREAM_READ, GL_TRANSFORM_FEEDBACK_ACTIVE,
};
use gapii_recorder::ErrnoGuard;
use gapii_recorder::program::guarded;
use gapii_state::ElementBuffer;

use crate::driver_functions as driver;
use crate::gl_identity::Identity;

const TARGET: u32 = GL_ELEMENT_ARRAY_BUFFER;
/// Binding points for a copy, and the queries of what is bound. Contexts of OpenGL ES 3.0 have them.
const COPY_TARGETS: [(u32, u32); 4] = [
    (GL_COPY_WRITE_BUFFER, GL_COPY_WRITE_BUFFER_BINDING),
    (GL_COPY_READ_BUFFER, GL_COPY_READ_BUFFER_BINDING),
    (GL_PIXEL_PACK_BUFFER, GL_PIXEL_PACK_BUFFER_BINDING),
    (GL_PIXEL_UNPACK_BUFFER, GL_PIXEL_UNPACK_BUFFER_BINDING),
];
const STORAGE_FLAGS: u32 = constants::GL_BUFFER_STORAGE_FLAGS_EXT;

/// Copies `into.len()` bytes from `offset` on of the element buffer of the thread's current context. Returns false if
/// the driver could answer with an error.
#[cold]
pub fn read(buffer: ElementBuffer, offset: u64, into: &mut [u8]) -> bool {
    let _errno = ErrnoGuard::save();
    if !can_be_mapped(buffer, offset, into.len() as u64) {
        return false;
    }
    // A driver may report the wait to the program's debug callback.
    let has_messages = buffer.has((3, 2), (4, 3)) || has_extension("GL_KHR_debug");
    let is_silenced = has_messages && driver::is_enabled(GL_DEBUG_OUTPUT) != 0;
    if is_silenced {
        driver::disable(GL_DEBUG_OUTPUT);
    }
    let is_read = match is_readable(buffer) {
        true => read_mapping(TARGET, buffer, offset as isize, into),
        false => read_copy(buffer, offset as isize, into),
    };
    if is_silenced {
        driver::enable(GL_DEBUG_OUTPUT);
    }
    is_read
}

/// Whether glMapBufferRange succeeds (OpenGL ES 3.2, 6.3; GL_EXT_map_buffer_range), if the storage can be read.
fn can_be_mapped(buffer: ElementBuffer, offset: u64, len: u64) -> bool {
    let is_es3 = buffer.has((3, 0), (3, 0));
    let maps_ranges =
        is_es3 || has_extension("GL_EXT_map_buffer_range") && has_extension("GL_OES_mapbuffer");
    if !maps_ranges {
        return false;
    }
    // Transform feedback may be writing the buffer.
    if buffer.has((3, 0), (4, 0)) && integer(GL_TRANSFORM_FEEDBACK_ACTIVE) != 0 {
        return false;
    }
    let size = || u64::try_from(parameter(GL_BUFFER_SIZE)).unwrap_or(0);
    len > 0
        && integer(GL_ELEMENT_ARRAY_BUFFER_BINDING) != 0
        && parameter(GL_BUFFER_MAPPED) == 0
        && offset.checked_add(len).is_some_and(|end| end <= size())
}

/// Whether the storage can be mapped for reading (GL_EXT_buffer_storage).
fn is_readable(buffer: ElementBuffer) -> bool {
    !buffer.is_immutable || parameter(STORAGE_FLAGS) as u32 & GL_MAP_READ_BIT != 0
}

/// Reads a copy in a buffer of the shim's own. A binding point that has a buffer stays as it is: the buffer may have lost
/// its name, so that it could not be bound again.
fn read_copy(buffer: ElementBuffer, offset: isize, into: &mut [u8]) -> bool {
    if !buffer.has((3, 0), (3, 1)) {
        return false;
    }
    let free = COPY_TARGETS.iter().find(|(_, binding)| integer(*binding) == 0);
    let Some((target, _)) = free else { return false };
    let (mut name, len) = (0, into.len() as isize);
    // SAFETY: there is room for one name.
    unsafe { driver::gen_buffers(1, &raw mut name) };
    driver::bind_buffer(*target, name);
    // SAFETY: without data nothing is read.
    unsafe { driver::buffer_data(*target, len, core::ptr::null(), GL_STREAM_READ) };
    driver::copy_buffer_sub_data(TARGET, *target, offset, 0, len);
    let is_read = read_mapping(*target, buffer, 0, into);
    // SAFETY: one name. Deletion unbinds the buffer.
    unsafe { driver::delete_buffers(1, &raw const name) };
    is_read
}

fn read_mapping(target: u32, buffer: ElementBuffer, offset: isize, into: &mut [u8]) -> bool {
    let is_es3 = buffer.has((3, 0), (3, 0));
    let len = into.len() as isize;
    let at = match is_es3 {
        true => driver::map_buffer_range(target, offset, len, GL_MAP_READ_BIT),
        false => driver::map_buffer_range_ext(target, offset, len, GL_MAP_READ_BIT),
    };
    if at == 0 {
        return false;
    }
    // SAFETY: `into` is the shim's own; the driver has just mapped as many bytes here.
    let is_read = unsafe { guarded::read(at as u64, into.as_mut_ptr(), into.len()) };
    let is_whole = match is_es3 {
        true => driver::unmap_buffer(target),
        false => driver::unmap_buffer_oes(target),
    };
    is_read && is_whole != 0
}

/// Whether the current context has an extension.
fn has_extension(name: &str) -> bool {
    Identity::ask().is_some_and(|context| context.has(name))
}

/// A state variable of the current context with one value.
fn integer(name: u32) -> i32 {
    let mut value = 0;
    // SAFETY: the variable has one value.
    unsafe { driver::get_integers(name, &raw mut value) };
    value
}

/// A number that the bound buffer has.
fn parameter(name: u32) -> i32 {
    let mut value = 0;
    // SAFETY: the name has one number.
    unsafe { driver::get_buffer_parameter(TARGET, name, &raw mut value) };
    value
}

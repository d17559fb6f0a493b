//! The data store of a buffer of the program, as the driver has it; asked in the sibling context, or where the buffer is
//! bound. The state may have another one: it follows the commands, and a driver may have unbound the buffer that a
//! command is meant for.

use gapii_commands::constants::{
    GL_BUFFER_IMMUTABLE_STORAGE_EXT, GL_BUFFER_MAP_POINTER, GL_BUFFER_SIZE,
    GL_BUFFER_STORAGE_FLAGS_EXT, GL_BUFFER_USAGE, GL_COPY_READ_BUFFER,
};

use super::gl;
use super::sibling::Sibling;

/// What the driver says of a data store.
pub struct DataStore {
    /// Bytes; 0 if there is none.
    pub size: i64,
    pub is_immutable: bool,
    /// Storage flags if it is immutable, else the usage.
    pub usage: u32,
}

impl DataStore {
    /// `None` if the driver does not answer.
    pub fn of(buffer: u32, sibling: &Sibling) -> Option<Self> {
        sibling.ask(move |_| {
            gl::bind_buffer(GL_COPY_READ_BUFFER, buffer);
            let parameter = |name| parameter(GL_COPY_READ_BUFFER, name);
            let size = wide_parameter(GL_COPY_READ_BUFFER, GL_BUFFER_SIZE);
            // An error, and then 0, if the driver has no immutable data stores.
            let is_immutable = parameter(GL_BUFFER_IMMUTABLE_STORAGE_EXT) != 0;
            let usage = if is_immutable { GL_BUFFER_STORAGE_FLAGS_EXT } else { GL_BUFFER_USAGE };
            let store = Self { size, is_immutable, usage: parameter(usage) };
            gl::bind_buffer(GL_COPY_READ_BUFFER, 0);
            Some(store)
        })
    }
}

/// Returns a parameter of the buffer that is bound to `target`.
pub fn parameter(target: u32, name: u32) -> u32 {
    let mut value = 0;
    // SAFETY: the parameter has one value.
    unsafe { gl::get_buffer_parameter(target, name, &raw mut value) };
    value as u32
}

/// As [`parameter`], with 64 bits.
pub fn wide_parameter(target: u32, name: u32) -> i64 {
    let mut value = 0;
    // SAFETY: the parameter has one value.
    unsafe { gl::get_buffer_parameter_64(target, name, &raw mut value) };
    value
}

/// Returns the address at which the buffer that is bound to `target` is mapped.
pub fn map_pointer(target: u32) -> u64 {
    let mut address = 0;
    // SAFETY: there is one pointer.
    unsafe { gl::get_buffer_pointer(target, GL_BUFFER_MAP_POINTER, &raw mut address) };
    address
}

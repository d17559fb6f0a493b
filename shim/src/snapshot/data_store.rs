//! The data store of a buffer of the program and its mapping, as the driver has them; asked in the sibling context, or
//! where the buffer is bound. The state may have others: it follows the commands, and a driver may have unbound the buffer
//! that a command is meant for.

use gapii_commands::constants::{
    GL_BUFFER_ACCESS_FLAGS, GL_BUFFER_IMMUTABLE_STORAGE_EXT, GL_BUFFER_MAP_LENGTH,
    GL_BUFFER_MAP_OFFSET, GL_BUFFER_MAP_POINTER, GL_BUFFER_MAPPED, GL_BUFFER_SIZE,
    GL_BUFFER_STORAGE_FLAGS_EXT, GL_BUFFER_USAGE, GL_COPY_READ_BUFFER,
};
use gapii_state::read_back::Driver as _;
use gapii_state::read_back::NEVER;
use gapii_state::{Buffer, Context, Mapping, Ref};

use super::gl;
use super::sibling::Sibling;
use crate::driver_calls::Gl;
use crate::program_memory::ProgramMemory;

/// What the driver says of a data store.
pub struct DataStore {
    /// Bytes; 0 if there is none.
    pub size: i64,
    pub is_immutable: bool,
    /// Storage flags if it is immutable, else the usage.
    pub usage: u32,
    pub mapping: Option<Mapped>,
}

/// The program's mapping of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mapped {
    pub address: u64,
    /// Of the mapped range in the buffer, in bytes.
    pub offset: i64,
    pub length: i64,
    pub access: u32,
}

impl Mapped {
    /// As the state has it; `None` for a buffer that is not mapped.
    pub fn of(mapping: &Mapping) -> Option<Self> {
        let Mapping { pointer: address, offset, length, access, .. } = *mapping;
        (address != 0).then_some(Self { address, offset, length, access })
    }

    /// Gives the state this mapping, which the driver has, so that what the program writes there from now on is observed.
    pub fn note(self, context: &Context, buffer: Ref<Buffer>) {
        let Self { address: pointer, offset, length, access } = self;
        let mapping = Mapping { pointer, offset, length, access, ..Mapping::default() };
        context.set_mapping(&ProgramMemory, buffer, mapping);
    }

    /// Of the buffer that is bound to `target`, in a context of OpenGL ES 3.
    pub fn of_bound(target: u32) -> Option<Self> {
        if parameter(target, GL_BUFFER_MAPPED) == 0 {
            return None;
        }
        let mut address = 0_u64;
        // SAFETY: the parameter has one address.
        unsafe { gl::get_buffer_pointer(target, GL_BUFFER_MAP_POINTER, &raw mut address) };
        (address != 0).then(|| Self {
            address,
            offset: wide_parameter(target, GL_BUFFER_MAP_OFFSET),
            length: wide_parameter(target, GL_BUFFER_MAP_LENGTH),
            access: parameter(target, GL_BUFFER_ACCESS_FLAGS),
        })
    }
}

impl DataStore {
    /// `None` if the driver does not answer.
    pub fn of(buffer: u32, sibling: &Sibling) -> Option<Self> {
        sibling.ask(move |_| {
            gl::bind_buffer(GL_COPY_READ_BUFFER, buffer);
            let store = Self::of_bound(GL_COPY_READ_BUFFER, &Gl::of_thread()?);
            gl::bind_buffer(GL_COPY_READ_BUFFER, 0);
            Some(store)
        })
    }

    /// Of the buffer that is bound to `target`, in a context of OpenGL ES 3 or of OpenGL 3.2. Causes no error.
    pub fn of_bound(target: u32, driver: &Gl) -> Self {
        let parameter = |name| parameter(target, name);
        let size = wide_parameter(target, GL_BUFFER_SIZE);
        let has_immutable = driver.is_at_least(NEVER, (4, 4))
            || ["GL_EXT_buffer_storage", "GL_ARB_buffer_storage"].iter().any(|it| driver.has(it));
        let is_immutable = has_immutable && parameter(GL_BUFFER_IMMUTABLE_STORAGE_EXT) != 0;
        let usage = if is_immutable { GL_BUFFER_STORAGE_FLAGS_EXT } else { GL_BUFFER_USAGE };
        Self { size, is_immutable, usage: parameter(usage), mapping: Mapped::of_bound(target) }
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

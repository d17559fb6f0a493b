//! `SetAside`: state of the program's context that is set aside while the context is described.

use gapii_commands::constants::{GL_CURRENT_INDEX, GL_MAX_ATTRIB_STACK_DEPTH};
use gapii_state::ContextApi;

use super::attribute_stacks;
use super::gl;
use super::unclamped::Unclamped;
use crate::driver_calls::Gl;

/// Until this is dropped, colors are not clamped, and an entry that saves nothing is on the stack of attributes.
///
/// Mesa 22.3 restores only the groups that have changed since the entry above the popped one was pushed, as far as it remembers.
/// With an entry of its own the shim changes none that the program's entries would restore.
pub struct SetAside {
    pub unclamped: Unclamped,
    /// How many entries of the program the stacks have.
    pub depths: [u32; 2],
    _entry: Option<Entry>,
}

/// The entry.
struct Entry;

impl SetAside {
    /// In the program's context, if one is current.
    pub fn begin() -> Self {
        let is_compatible = |driver: &Gl| driver.api() == ContextApi::Compatibility;
        let has_stacks = Gl::current().as_ref().is_some_and(is_compatible);
        let depths = if has_stacks { attribute_stacks::depths() } else { [0; 2] };
        let has_room = || depths[0] < gl::integer(GL_MAX_ATTRIB_STACK_DEPTH).cast_unsigned();
        let entry = (has_stacks && has_room()).then(|| {
            // Mesa 22.3 notices that the program has changed a current value or a material when it is asked for one. It
            // must not notice that within the entry.
            gl::integer(GL_CURRENT_INDEX);
            gl::push_attributes(0);
            Entry
        });
        Self { unclamped: Unclamped::begin(), depths, _entry: entry }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        gl::pop_attributes();
    }
}

//! Memory objects (GL_EXT_memory_object). Memory that a program has imported into one is listed as missing: it belongs to
//! another API.

use gapii_commands::constants::{GL_DEDICATED_MEMORY_OBJECT_EXT, GL_PROTECTED_MEMORY_OBJECT_EXT};
use gapii_state::Context;

use super::emit::Emitter;
use crate::generated::ids::*;

/// Describes the memory objects of the context's share group.
pub fn describe(emitter: &mut Emitter, context: &Context) {
    let all: Vec<_> = {
        let group = context.group.lock();
        let named = group.memory_objects.named();
        let known = named.map(|(object, it)| {
            let parameters = [
                (GL_DEDICATED_MEMORY_OBJECT_EXT, it.is_dedicated),
                (GL_PROTECTED_MEMORY_OBJECT_EXT, it.is_protected),
            ];
            (object.name() as u32, parameters, it.handle_type != 0)
        });
        known.collect()
    };
    for (name, parameters, is_imported) in all {
        emitter.make(GL_CREATE_MEMORY_OBJECTS_EXT, name);
        for (parameter, _) in parameters.into_iter().filter(|(_, is_set)| *is_set) {
            let command = emitter.command(GL_MEMORY_OBJECT_PARAMETERIV_EXT).arg(name);
            command.arg(parameter).numbers(&[1_i32]).done();
        }
        if is_imported {
            emitter.leave_out_of("the memory of memory object", name);
        }
    }
}

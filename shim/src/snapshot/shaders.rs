//! Shaders of a share group: their sources, and the source that each was compiled from. A deleted shader is made if the
//! driver still has it, attached to a program. The binary of a shader that was never compiled is missing.

use std::collections::BTreeMap;

use gapii_commands::constants::{GL_COMPILE_STATUS, GL_SHADER_SOURCE_LENGTH};
use gapii_recorder::observe;
use gapii_state::{Compilation, Context, Ref, Shader as State};

use super::emit::Emitter;
use super::gl;
use crate::generated::ids::*;

/// A shader that the driver still has.
pub struct Shader {
    pub name: u32,
    /// Whether the shader was deleted, but is attached to a program.
    pub is_deleted: bool,
    state: State,
}

/// Returns the shaders that the driver has, in the order of their names. A deleted shader keeps its name while a program has it
/// attached.
pub fn of_group(context: &Context) -> Vec<Shader> {
    let last: BTreeMap<u64, Ref<State>> = {
        let group = context.group.lock();
        let deleted = group.shaders.deleted();
        let all = deleted.chain(group.shaders.named()).map(|(object, _)| object);
        all.map(|object| (object.name(), object)).collect()
    };
    last.into_values().filter_map(|object| Shader::of(context, object)).collect()
}

/// Returns the shader that has the name, or had it last. `None` if the driver has no such shader.
pub fn of_name(context: &Context, name: u32) -> Option<Shader> {
    let object = {
        let group = context.group.lock();
        let named = group.shaders.find(u64::from(name));
        let had_name = group.shaders.deleted().filter(|(it, _)| it.name() == u64::from(name));
        let last = had_name.last().map(|(object, _)| object);
        if named.is_some() { named } else { last? }
    };
    Shader::of(context, object)
}

impl Shader {
    fn of(context: &Context, object: Ref<State>) -> Option<Self> {
        let name = object.name() as u32;
        if gl::is_shader(name) == 0 {
            return None;
        }
        let group = context.group.lock();
        let state = group.shaders.get(object)?.clone();
        let is_deleted = state.is_deleted || group.shaders.find(object.name()) != object;
        Some(Self { name, is_deleted, state })
    }

    /// Makes the shader, compiles it from the source that it was compiled from, and gives it its source.
    pub fn describe(&self, emitter: &mut Emitter) {
        let State { kind, compilation, source, compiled_source, .. } = &self.state;
        emitter.command(GL_CREATE_SHADER).arg(*kind).returns(self.name, []);
        if *compilation == Compilation::OfEarlierSource {
            set_source(emitter, self.name, compiled_source);
            emitter.command(GL_COMPILE_SHADER).arg(self.name).done();
        }
        // An empty source is not the same as none: it has a length of 1.
        if self.number(GL_SHADER_SOURCE_LENGTH) > 0 {
            set_source(emitter, self.name, source);
        }
        if *compilation == Compilation::OfSource {
            emitter.command(GL_COMPILE_SHADER).arg(self.name).done();
        }
        if *compilation == Compilation::Never && self.number(GL_COMPILE_STATUS) != 0 {
            emitter.leave_out_of("the binary of shader", self.name);
        }
    }

    fn number(&self, name: u32) -> i32 {
        let mut value = 0;
        // SAFETY: the parameter has one value.
        unsafe { gl::get_shader(self.name, name, &raw mut value) };
        value
    }
}

/// Makes a shader with a source, which is not compiled yet.
pub fn make_shader(emitter: &mut Emitter, name: u32, kind: u32, source: &str) {
    emitter.command(GL_CREATE_SHADER).arg(kind).returns(name, []);
    set_source(emitter, name, source);
}

fn set_source(emitter: &mut Emitter, name: u32, source: &str) {
    // The pointer of an empty Rust string leads nowhere.
    let text = if source.is_empty() { c"".as_ptr().cast() } else { source.as_ptr() };
    let (text, len) = ([text], [source.len() as i32]);
    let command = emitter.command(GL_SHADER_SOURCE).arg(name).arg(1_i32);
    let command = command.arg(text.as_ptr()).arg(len.as_ptr());
    let command = command.reads(observe::strings(1, text.as_ptr(), len.as_ptr()));
    command.reads(observe::array(len.as_ptr(), 1, 4)).done();
}

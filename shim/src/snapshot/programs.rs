//! Shaders and programs: sources, what a program was linked from, and what linking decided.

use std::ffi::CString;

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_ACTIVE_ATTRIBUTES, GL_COMPILE_STATUS, GL_LINK_STATUS, GL_PROGRAM_SEPARABLE,
    GL_TRANSFORM_FEEDBACK_BUFFER_MODE,
};
use gapii_state::Context;

use super::emit::Emitter;
use super::shaders::make_shader;
use super::{gl, spare, uniforms};
use crate::generated::ids::*;
use gapii_recorder::observe;

const VARYINGS: u32 = constants::GL_TRANSFORM_FEEDBACK_VARYINGS;

struct Shader {
    name: u32,
    kind: u32,
    source: String,
    is_deleted: bool,
}

struct Program {
    name: u32,
    shaders: Vec<u32>,
    stages: Vec<(u32, String)>,
    links: u32,
    is_deleted: bool,
    uniform_names: Vec<(i32, String)>,
}

pub fn describe(emitter: &mut Emitter, context: &Context) {
    let group = context.group.lock();
    let shaders: Vec<Shader> = group
        .shaders
        .named()
        .map(|(object, shader)| Shader {
            name: object.name() as u32,
            kind: shader.kind,
            source: shader.source.clone(),
            is_deleted: shader.is_deleted,
        })
        .collect();
    let programs: Vec<Program> = group
        .programs
        .named()
        .map(|(object, program)| Program {
            name: object.name() as u32,
            shaders: program.shaders.iter().map(|shader| shader.name() as u32).collect(),
            stages: program.stages.iter().map(|it| (it.kind, it.source.clone())).collect(),
            links: program.links,
            is_deleted: program.is_deleted,
            uniform_names: program.uniform_names.iter().map(|(at, it)| (*at, it.clone())).collect(),
        })
        .collect();
    drop(group);
    for program in &programs {
        program.describe(emitter, context);
    }
    for shader in &shaders {
        shader.describe(emitter);
    }
    for program in &programs {
        for shader in &program.shaders {
            emitter.command(GL_ATTACH_SHADER).arg(program.name).arg(*shader).done();
        }
    }
    for shader in shaders.iter().filter(|shader| shader.is_deleted) {
        emitter.command(GL_DELETE_SHADER).arg(shader.name).done();
    }
    // The one that is in use goes when it no longer is.
    let current = context.program.name() as u32;
    for program in programs.iter().filter(|program| program.is_deleted) {
        if program.name == current {
            emitter.command(GL_USE_PROGRAM).arg(current).done();
        }
        emitter.command(GL_DELETE_PROGRAM).arg(program.name).done();
    }
}

impl Shader {
    fn describe(&self, emitter: &mut Emitter) {
        make_shader(emitter, self.name, self.kind, &self.source);
        let mut compiled = 0;
        // SAFETY: the name has one number.
        unsafe { gl::get_shader(self.name, GL_COMPILE_STATUS, &raw mut compiled) };
        if compiled != 0 {
            emitter.command(GL_COMPILE_SHADER).arg(self.name).done();
        }
    }
}

impl Program {
    fn describe(&self, emitter: &mut Emitter, context: &Context) {
        emitter.command(GL_CREATE_PROGRAM).returns(self.name, []);
        if self.links == 0 || self.number(GL_LINK_STATUS) == 0 {
            return;
        }
        // Shaders may have another source now, or be gone.
        for (at, (kind, source)) in (spare::NAME..).zip(&self.stages) {
            make_shader(emitter, at, *kind, source);
            emitter.command(GL_COMPILE_SHADER).arg(at).done();
            emitter.command(GL_ATTACH_SHADER).arg(self.name).arg(at).done();
        }
        let has_stages = context.version >= (3, 1);
        if has_stages && self.number(GL_PROGRAM_SEPARABLE) != 0 {
            let command = emitter.command(GL_PROGRAM_PARAMETERI).arg(self.name);
            command.arg(GL_PROGRAM_SEPARABLE).arg(1_i32).done();
        }
        self.describe_attributes(emitter);
        if context.version.0 >= 3 {
            self.describe_varyings(emitter);
        }
        emitter.command(GL_LINK_PROGRAM).arg(self.name).done();
        for (at, _) in (spare::NAME..).zip(&self.stages) {
            emitter.command(GL_DETACH_SHADER).arg(self.name).arg(at).done();
            emitter.command(GL_DELETE_SHADER).arg(at).done();
        }
        uniforms::describe(emitter, context, self.name, &self.uniform_names);
    }

    fn number(&self, name: u32) -> i32 {
        let mut value = 0;
        // SAFETY: the name has one number.
        unsafe { gl::get_program(self.name, name, &raw mut value) };
        value
    }

    /// Attributes have the places that they got, whoever chose them.
    fn describe_attributes(&self, emitter: &mut Emitter) {
        for index in 0..self.number(GL_ACTIVE_ATTRIBUTES) {
            let Some(attrib) = gl::active(gl::get_active_attrib, self.name, index as u32) else {
                continue;
            };
            let text = attrib.name;
            // SAFETY: a text with its end.
            let location = unsafe { gl::get_attrib_location(self.name, text.as_ptr()) };
            if location < 0 {
                continue;
            }
            emitter
                .command(GL_BIND_ATTRIB_LOCATION)
                .arg(self.name)
                .arg(location)
                .arg(text.as_ptr())
                .reads(observe::c_string(text.as_ptr()))
                .done();
        }
    }

    fn describe_varyings(&self, emitter: &mut Emitter) {
        let count = self.number(VARYINGS);
        let varyings =
            (0..count).filter_map(|at| gl::active(gl::get_varying, self.name, at as u32));
        let names: Vec<CString> = varyings.map(|varying| varying.name).collect();
        if names.is_empty() {
            return;
        }
        let texts: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
        emitter
            .command(GL_TRANSFORM_FEEDBACK_VARYINGS)
            .arg(self.name)
            .arg(texts.len() as i32)
            .arg(texts.as_ptr())
            .arg(self.number(GL_TRANSFORM_FEEDBACK_BUFFER_MODE))
            .reads(observe::strings(texts.len() as i64, texts.as_ptr(), core::ptr::null()))
            .done();
    }
}

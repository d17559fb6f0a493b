//! Temporary objects of a replay, for contents that no command uploads. Their names begin at
//! [`spare_names::FIRST`](gapii_abi::spare_names::FIRST).

use gapii_abi::spare_names::FIRST;
use gapii_commands::constants::{GL_NEAREST, GL_READ_FRAMEBUFFER, GL_TEXTURE_2D};

use super::emit::Emitter;
use super::shaders::make_shader;
use crate::generated::ids::*;

/// Binds a framebuffer with the spare name for reading, to which the texture with the spare name is attached.
pub fn read_from_texture(emitter: &mut Emitter, point: u32) {
    emitter.make(GL_GEN_FRAMEBUFFERS, FIRST);
    emitter.command(GL_BIND_FRAMEBUFFER).arg(GL_READ_FRAMEBUFFER).arg(FIRST).done();
    let command = emitter.command(GL_FRAMEBUFFER_TEXTURE2D).arg(GL_READ_FRAMEBUFFER).arg(point);
    command.arg(GL_TEXTURE_2D).arg(FIRST).arg(0_i32).done();
}

/// Copies the whole framebuffer that is bound for reading to the one that is bound for drawing.
pub fn blit(emitter: &mut Emitter, (width, height): (i32, i32), mask: u32) {
    let corners = [0, 0, width, height, 0, 0, width, height];
    let command = emitter.command(GL_BLIT_FRAMEBUFFER);
    let command = corners.into_iter().fold(command, |command, corner| command.arg(corner));
    command.arg(mask).arg(GL_NEAREST).done();
}

/// Makes a program from shaders, and does not link it. The shaders have the names from `shaders` on.
pub fn make_program(emitter: &mut Emitter, program: u32, shaders: u32, stages: &[(u32, &str)]) {
    emitter.command(GL_CREATE_PROGRAM).returns(program, []);
    for (name, (kind, source)) in (shaders..).zip(stages) {
        make_shader(emitter, name, *kind, source);
        emitter.command(GL_COMPILE_SHADER).arg(name).done();
        emitter.command(GL_ATTACH_SHADER).arg(program).arg(name).done();
        emitter.command(GL_DELETE_SHADER).arg(name).done();
    }
}

/// Writes a command like `glDeleteBuffers`.
pub fn delete(emitter: &mut Emitter, id: u16, names: &[u32]) {
    emitter.command(id).arg(names.len() as i32).numbers(names).done();
}

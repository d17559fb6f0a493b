//! The subroutines that the stages in use have chosen (OpenGL 4.6, 7.10): the stages of the current program, or of the program
//! pipeline that is bound while no program is current. glUseProgram, glBindProgramPipeline and glUseProgramStages reset them.

use std::collections::BTreeSet;

use gapii_commands::constants::{
    GL_ACTIVE_SUBROUTINE_UNIFORM_LOCATIONS, GL_CURRENT_PROGRAM, GL_LINK_STATUS,
};
use gapii_state::Context;
use gapii_state::read_back::NEVER;

use super::emit::Emitter;
use super::{gl, pipelines};
use crate::generated::ids::*;

/// Describes them. The replay has the same program current, or the same pipeline bound.
pub fn describe(emitter: &mut Emitter, context: &Context) {
    if !context.has(NEVER, (4, 0)) {
        return;
    }
    let stages: BTreeSet<(u32, u32)> = match gl::integer(GL_CURRENT_PROGRAM) as u32 {
        0 => pipelines::bound_stages(context).into_iter().collect(),
        program => stages_of(context, program).into_iter().map(|it| (it, program)).collect(),
    };
    for (stage, program) in stages {
        // The driver is asked about stages that the program has: others are an error.
        let is_linked = gl::program_integer(program, GL_LINK_STATUS) != 0;
        if !is_linked || !stages_of(context, program).contains(&stage) {
            continue;
        }
        let mut count = 0;
        let what = GL_ACTIVE_SUBROUTINE_UNIFORM_LOCATIONS;
        // SAFETY: the parameter has one number.
        unsafe { gl::get_program_stage(program, stage, what, &raw mut count) };
        let chosen: Vec<u32> = (0..count).map(|location| chosen(stage, location)).collect();
        if !chosen.is_empty() {
            let command = emitter.command(GL_UNIFORM_SUBROUTINESUIV).arg(stage).arg(count);
            command.numbers(&chosen).done();
        }
    }
}

/// Returns the stages for which a program was linked.
fn stages_of(context: &Context, program: u32) -> Vec<u32> {
    let group = context.group.lock();
    let known = group.programs.get(group.programs.find(u64::from(program)));
    let stages = known.map(|program| program.last_link.stages.as_slice());
    stages.unwrap_or_default().iter().map(|stage| stage.kind).collect()
}

fn chosen(stage: u32, location: i32) -> u32 {
    let mut index = 0;
    // SAFETY: there is one number.
    unsafe { gl::get_subroutine(stage, location, &raw mut index) };
    index
}

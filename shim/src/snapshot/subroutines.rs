//! The subroutines that a program in use has chosen for its stages (OpenGL 4.0, 7.9): glUseProgram resets them. Those of
//! stages in program pipelines are those that the link chose.

use gapii_commands::constants::{
    GL_ACTIVE_SUBROUTINE_UNIFORM_LOCATIONS, GL_CURRENT_PROGRAM, GL_LINK_STATUS,
};
use gapii_state::Context;
use gapii_state::read_back::NEVER;

use super::emit::Emitter;
use super::gl;
use crate::generated::ids::*;

/// Describes those of the current program, which the replay has in use. The driver is asked about stages that the program
/// has: others are an error.
pub fn describe(emitter: &mut Emitter, context: &Context) {
    let program = gl::integer(GL_CURRENT_PROGRAM) as u32;
    if program == 0
        || !context.has(NEVER, (4, 0))
        || gl::program_integer(program, GL_LINK_STATUS) == 0
    {
        return;
    }
    let mut stages: Vec<u32> = {
        let group = context.group.lock();
        let known = group.programs.get(group.programs.find(u64::from(program)));
        let stages = known.map(|program| program.last_link.stages.as_slice());
        stages.unwrap_or_default().iter().map(|stage| stage.kind).collect()
    };
    stages.sort_unstable();
    stages.dedup();
    for stage in stages {
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

fn chosen(stage: u32, location: i32) -> u32 {
    let mut index = 0;
    // SAFETY: there is one number.
    unsafe { gl::get_subroutine(stage, location, &raw mut index) };
    index
}

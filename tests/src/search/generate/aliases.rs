//! Other names of commands, from extensions that became part of OpenGL ES. The shim has a handler for each name, and so has
//! the player.

use crate::random::Random;

/// How the commands begin of which all have the suffix `EXT`, too.
const UNIFORMS: &str = "glProgramUniform";

/// Commands, and the suffixes with which Mesa has them, too.
const SUFFIXES: &[(&str, &[&str])] = &[
    ("glActiveShaderProgram", &["EXT"]),
    ("glBeginQuery", &["EXT"]),
    ("glBindProgramPipeline", &["EXT"]),
    ("glBindVertexArray", &["OES"]),
    ("glBlendEquationSeparatei", &["EXT", "OES"]),
    ("glBlendEquationi", &["EXT", "OES"]),
    ("glBlendFuncSeparatei", &["EXT", "OES"]),
    ("glBlendFunci", &["EXT", "OES"]),
    ("glColorMaski", &["EXT", "OES"]),
    ("glCopyImageSubData", &["EXT", "OES"]),
    ("glCreateShaderProgramv", &["EXT"]),
    ("glDeleteProgramPipelines", &["EXT"]),
    ("glDeleteQueries", &["EXT"]),
    ("glDeleteVertexArrays", &["OES"]),
    ("glDisablei", &["EXT", "OES"]),
    ("glDrawArraysInstanced", &["EXT"]),
    ("glDrawBuffers", &["EXT", "NV"]),
    ("glDrawElementsBaseVertex", &["EXT", "OES"]),
    ("glDrawElementsInstanced", &["EXT"]),
    ("glEnablei", &["EXT", "OES"]),
    ("glEndQuery", &["EXT"]),
    ("glFlushMappedBufferRange", &["EXT"]),
    ("glFramebufferTexture", &["EXT", "OES"]),
    ("glGenProgramPipelines", &["EXT"]),
    ("glGenQueries", &["EXT"]),
    ("glGenVertexArrays", &["OES"]),
    ("glMapBufferRange", &["EXT"]),
    ("glMinSampleShading", &["OES"]),
    ("glObjectLabel", &["KHR"]),
    ("glPatchParameteri", &["EXT", "OES"]),
    ("glPopDebugGroup", &["KHR"]),
    ("glPrimitiveBoundingBox", &["EXT", "OES"]),
    ("glProgramParameteri", &["EXT"]),
    ("glPushDebugGroup", &["KHR"]),
    ("glReadBuffer", &["NV"]),
    ("glSamplerParameterIiv", &["EXT", "OES"]),
    ("glTexBuffer", &["EXT", "OES"]),
    ("glTexBufferRange", &["EXT", "OES"]),
    ("glTexImage3D", &["OES"]),
    ("glTexParameterIiv", &["EXT", "OES"]),
    ("glTexParameterIuiv", &["EXT", "OES"]),
    ("glTexStorage3DMultisample", &["OES"]),
    ("glTexSubImage3D", &["OES"]),
    ("glUnmapBuffer", &["OES"]),
    ("glUseProgramStages", &["EXT"]),
];

/// The first name of a command.
pub fn first(command: &str) -> &str {
    let is_of = |name: &str, suffixes: &[&str]| {
        command.strip_prefix(name).is_some_and(|rest| suffixes.contains(&rest))
    };
    if command.starts_with(UNIFORMS) {
        return command.strip_suffix("EXT").unwrap_or(command);
    }
    let known = SUFFIXES.iter().find(|(name, suffixes)| is_of(name, suffixes));
    known.map_or(command, |(name, _)| name)
}

/// Gives the command of a step, now and then, another of its names.
pub fn vary(random: &mut Random, step: String) -> String {
    let words = || step.split(' ').enumerate();
    let command = words().find(|(_, word)| word.starts_with("gl"));
    let Some((at, command)) = command else { return step };
    let known = SUFFIXES.iter().find(|(name, _)| *name == command);
    let suffixes = match known {
        Some((_, suffixes)) => *suffixes,
        None if command.starts_with(UNIFORMS) => &["EXT"],
        None => return step,
    };
    if random.below(100) >= 12 {
        return step;
    }
    let suffix = suffixes[random.below(suffixes.len() as u64) as usize];
    let varied = words().map(|(number, word)| match number == at {
        true => format!("{word}{suffix}"),
        false => word.to_owned(),
    });
    varied.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_command_have_one_first_name() {
        for name in ["glCopyImageSubData", "glCopyImageSubDataEXT", "glCopyImageSubDataOES"] {
            assert_eq!(first(name), "glCopyImageSubData");
        }
        assert_eq!(first("glProgramUniform4fvEXT"), "glProgramUniform4fv");
        assert_eq!(first("glBufferStorageEXT"), "glBufferStorageEXT");
    }
}

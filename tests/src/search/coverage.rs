//! Every command of the headers that changes something is in the generated programs, or stands here with the reason why
//! not. A new header, or an action that is taken out, is noticed.

use std::collections::BTreeSet;
use std::path::Path;

use crate::search::generate;
use crate::search::program::command_of;

/// Programs that are searched for each command, at most.
const PROGRAMS: u64 = 3000;

/// Commands that no generated program has.
const NOT_SEARCHED: &[(&str, &[&str])] = &[
    ("its answer goes to a callback", &["glDebugMessageCallback"]),
    (
        "no query tells what it has set, so the snapshot says that it is missing",
        &["glDebugMessageControl", "glDebugMessageInsert"],
    ),
    (
        "afterwards the contents are undefined",
        &["glInvalidateFramebuffer", "glInvalidateSubFramebuffer"],
    ),
    (
        "its input is what another command has answered, which programs cannot keep",
        &["glProgramBinary"],
    ),
    ("llvmpipe has no format for it", &["glShaderBinary"]),
    ("no draw shows the texels", &["glCompressedTexImage3D", "glCompressedTexSubImage3D"]),
    (
        "texels would be sampled with a border of integers, which is undefined",
        &["glSamplerParameterIiv", "glSamplerParameterIuiv"],
    ),
    ("it says whether a pipeline fits the state at that moment", &["glValidateProgramPipeline"]),
];

/// Functions that a header declares.
fn declared(header: &str) -> BTreeSet<String> {
    let path = Path::new("/usr/include").join(header);
    let text = std::fs::read_to_string(&path).expect("libgles-dev is installed");
    let names = text.lines().filter_map(|line| {
        let (_, rest) = line.strip_prefix("GL_APICALL")?.split_once("GL_APIENTRY ")?;
        Some(rest.split_once(' ')?.0.to_owned())
    });
    names.collect()
}

/// Whether a command only asks.
fn asks(name: &str) -> bool {
    name.starts_with("glGet") || name.starts_with("glIs")
}

#[test]
fn generated_programs_have_every_command_of_opengl_es_that_changes_something() {
    let left_out: BTreeSet<&str> =
        NOT_SEARCHED.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let mut missing = declared("GLES3/gl32.h");
    missing.retain(|name| !asks(name) && !left_out.contains(name.as_str()));
    for seed in 0..PROGRAMS {
        for step in generate::program(seed).program.steps {
            let command = command_of(&step);
            assert!(!left_out.contains(command), "seed {seed} has {command}");
            missing.remove(command);
        }
        if missing.is_empty() {
            return;
        }
    }
    panic!("no program has {missing:?}");
}

//! Every command of the headers that changes something is in the generated programs, or stands here with the reason why
//! not. A new header, or an action that is taken out, is noticed.

use std::collections::BTreeSet;

use crate::headers;
use crate::search::generate;
use crate::search::generate::aliases::first;
use crate::search::world::Kind;

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
        &["glInvalidateFramebuffer", "glInvalidateSubFramebuffer", "glDiscardFramebufferEXT"],
    ),
    (
        "its input is what another command has answered, which programs cannot keep",
        &["glProgramBinary"],
    ),
    ("llvmpipe has no format for it", &["glShaderBinary"]),
    (
        "memory objects get their memory from another API",
        &[
            "glBufferStorageMemEXT",
            "glImportMemoryFdEXT",
            "glNamedBufferStorageMemEXT",
            "glTexStorageMem2DEXT",
            "glTexStorageMem2DMultisampleEXT",
            "glTexStorageMem3DEXT",
            "glTexStorageMem3DMultisampleEXT",
            "glTextureStorageMem2DEXT",
            "glTextureStorageMem2DMultisampleEXT",
            "glTextureStorageMem3DEXT",
            "glTextureStorageMem3DMultisampleEXT",
        ],
    ),
    ("OpenGL ES names no textures without binding them", &["glEGLImageTargetTextureStorageEXT"]),
    ("no draw shows the texels", &["glCompressedTexImage3D", "glCompressedTexSubImage3D"]),
    (
        "texels would be sampled with a border of integers, which is undefined",
        &["glSamplerParameterIiv", "glSamplerParameterIuiv"],
    ),
    ("it says whether a pipeline fits the state at that moment", &["glValidateProgramPipeline"]),
];

/// Whether a command only asks.
fn asks(name: &str) -> bool {
    name.starts_with("glGet") || name.starts_with("glIs")
}

#[test]
fn generated_programs_have_every_command_of_opengl_es_that_changes_something() {
    let left_out: BTreeSet<&str> =
        NOT_SEARCHED.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let declared = [headers::es1(), headers::core(), headers::exposed()];
    // A command comes by each of its names.
    let all = declared.into_iter().flatten().map(|name| first(name));
    let mut missing: BTreeSet<&str> =
        all.filter(|name| !asks(name) && !left_out.contains(name)).collect();
    for seed in 0..PROGRAMS {
        for step in generate::program(Kind::Es, seed).program.steps {
            let Some(command) = step.split(' ').find(|word| word.starts_with("gl")) else {
                continue;
            };
            assert!(!left_out.contains(first(command)), "seed {seed} has {command}");
            missing.remove(first(command));
        }
        if missing.is_empty() {
            return;
        }
    }
    panic!("no program has {missing:?}");
}

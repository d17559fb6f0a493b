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

/// Programs of OpenGL that are searched for each command, at most.
const PROGRAMS_OF_OPENGL: u64 = 800;

/// Commands of OpenGL that no generated program has, by beginnings of their names.
const NOT_SEARCHED_OF_OPENGL: &[(&str, &[&str])] = &[
    ("its answer goes to a callback, or no query tells what it has set", &["glDebugMessage"]),
    ("afterwards the contents are undefined", &["glInvalidate"]),
    ("its input is what another command has answered", &["glProgramBinary"]),
    ("llvmpipe has no format for it", &["glShaderBinary"]),
    ("the snapshot says that it is missing", &["glAccum"]),
    ("the model follows pixel parameters and arrays", &["glPushClientAttrib", "glPopClientAttrib"]),
    ("Mesa has no GL_ARB_imaging", &["glColorSubTable", "glColorTable", "glConvolution"]),
    ("as above", &["glCopyColor", "glCopyConvolution", "glHistogram", "glMinmax"]),
    ("as above", &["glResetHistogram", "glResetMinmax", "glSeparableFilter2D"]),
    (
        "one of the forms of an attribute, of which a seed has some",
        &[
            "glColor",
            "glEvalCoord",
            "glFogCoord",
            "glIndex",
            "glMultiTexCoord",
            "glNormal",
            "glRasterPos",
            "glRect",
            "glSecondaryColor",
            "glTexCoord",
            "glVertex",
            "glWindowPos",
        ],
    ),
    ("no query tells a priority", &["glPrioritizeTextures"]),
    ("the names of debug groups are missing", &["glPopDebugGroup", "glPushDebugGroup"]),
    (
        "not generated yet: client arrays of the fixed functions",
        &[
            "glArrayElement",
            "glDisableClientState",
            "glEdgeFlag",
            "glEnableClientState",
            "glInterleavedArrays",
        ],
    ),
    (
        "not generated yet: selection and feedback",
        &[
            "glFeedbackBuffer",
            "glInitNames",
            "glLoadName",
            "glPassThrough",
            "glPopName",
            "glPushName",
            "glRenderMode",
            "glSelectBuffer",
        ],
    ),
    ("not generated yet: evaluators that draw", &["glEvalMesh", "glEvalPoint"]),
    (
        "not generated yet: binding of several objects",
        &[
            "glBindBuffersBase",
            "glBindBuffersRange",
            "glBindImageTextures",
            "glBindSamplers",
            "glBindTextures",
            "glBindVertexBuffers",
        ],
    ),
    ("not generated yet: doubles, subroutines", &["glProgramUniform", "glUniform"]),
    (
        "not generated yet: queries and feedbacks with streams",
        &[
            "glBeginQueryIndexed",
            "glDrawTransformFeedback",
            "glEndQueryIndexed",
            "glTransformFeedbackBuffer",
        ],
    ),
    (
        "not generated yet: other commands of direct state access",
        &[
            "glBindTextureUnit",
            "glBlitNamedFramebuffer",
            "glClearNamed",
            "glCompressedTextureSubImage",
            "glCopyNamedBufferSubData",
            "glCopyTextureSubImage",
            "glCreateQueries",
            "glCreateTextures",
            "glFlushMappedNamedBufferRange",
            "glMapNamedBuffer",
            "glNamedFramebuffer",
            "glTextureParameterI",
            "glTextureStorage",
            "glTextureSubImage",
        ],
    ),
    (
        "not generated yet: images that only OpenGL has",
        &[
            "glCompressedTexImage",
            "glCompressedTexSubImage",
            "glCopyTexImage1D",
            "glCopyTexSubImage1D",
            "glFramebufferTexture1D",
            "glTexImage2DMultisample",
            "glTexImage3DMultisample",
            "glTexStorage1D",
        ],
    ),
    (
        "not generated yet: other forms of commands that programs have",
        &[
            "glAreTexturesResident",
            "glFramebufferTexture3D",
            "glMapBuffer",
            "glClearBuffer",
            "glDrawBuffer",
            "glDrawElements",
            "glDrawRangeElements",
            "glFogiv",
            "glLightModeliv",
            "glLighti",
            "glListBase",
            "glLoadTransposeMatrixd",
            "glMap1",
            "glMap2",
            "glMapGrid",
            "glMateriali",
            "glMultTransposeMatrix",
            "glMultiDraw",
            "glPixelStoref",
            "glPointParameteriv",
            "glSamplerParameterI",
            "glScaled",
            "glShaderStorageBlockBinding",
            "glTexGen",
            "glTextureBarrier",
            "glTranslated",
            "glDeleteTransformFeedbacks",
            "glValidateProgramPipeline",
            "glBlendEquationSeparate",
        ],
    ),
];

#[test]
fn generated_programs_of_opengl_have_every_command_that_has_no_reason_to_be_left_out() {
    let left_out = NOT_SEARCHED_OF_OPENGL.iter().flat_map(|(_, names)| names.iter().copied());
    let is_left_out = |name: &str| left_out.clone().any(|beginning| name.starts_with(beginning));
    // A command may come by a name of an extension.
    let plain = |name: &'static str| {
        let suffixes = ["ARB", "ATI", "EXT", "KHR", "NV", "OES"];
        suffixes.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name)
    };
    let all = headers::desktop().iter().map(|name| plain(name));
    let mut missing: BTreeSet<&str> =
        all.filter(|name| !asks(name) && !is_left_out(name)).collect();
    for seed in 0..PROGRAMS_OF_OPENGL {
        for step in generate::program(Kind::Desktop, seed).program.steps {
            let command = step.split(' ').find(|word| word.starts_with("gl")).unwrap_or_default();
            missing.retain(|name| {
                let rest = command.strip_prefix(name);
                rest.is_none_or(|rest| rest.chars().any(|letter| !letter.is_ascii_uppercase()))
            });
        }
        if missing.is_empty() {
            return;
        }
    }
    panic!("no program has {missing:?}");
}

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

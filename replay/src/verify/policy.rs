//! What a program may be told otherwise in a replay than it was told in the recording, and what
//! must be the same: one table, and the reasons that docs/replay.md lists.
//!
//! Knows names of functions and values only. What no line speaks of is exact.

use std::sync::OnceLock;

use gapii_trace::Description;

use Rule::{Driver, Exact, Locations, Names, Polled, Presence, QueryResult, Varies, Waited};

use super::why::Why;
use crate::names::Kind;

/// How an answer is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// As recorded, bit by bit.
    Exact,
    /// Names of objects: those that the recorded ones have here.
    Names(Kind),
    /// Handles, addresses, and names whose kind the answer does not tell: nothing where nothing
    /// was, something where something was.
    Presence,
    /// Locations and indices: all bits set, which is none, where none was recorded.
    Locations,
    /// What a driver says of itself: exact if it is the driver of the recording.
    Driver,
    /// What was counted: exact, unless it is time or the driver's own way to count.
    QueryResult,
    /// How a wait ended: a failure is one; which way it succeeded is a matter of time.
    Waited,
    /// Whether something is done: what was done when it was recorded is, and else it is a matter of time.
    Polled,
    /// May be anything.
    Varies(Why),
}

/// A line of the table: function, value asked for or `@` and a parameter, rule. A `*` stands for any
/// letters at the end or at the beginning. The first line that fits holds.
type Line = (&'static str, &'static str, Rule);

const ANY: &str = "*";

#[rustfmt::skip]
const LINES: &[Line] = &[
    // Objects. What was made is there or not; which name it has is the driver's business.
    ("glGen*", ANY, Presence),
    ("glCreate*", ANY, Presence),
    ("glFenceSync*", ANY, Presence),
    ("glMapBuffer*", "@result", Presence),
    ("glGetTextureHandle*", ANY, Presence),
    ("glGetTextureSamplerHandle*", ANY, Presence),
    ("glGetImageHandle*", ANY, Presence),
    ("glGetVkProcAddrNV", ANY, Presence),
    ("glExtGet*", "@num*", Exact),
    ("glExtGetTexLevelParameter*", ANY, Driver),
    ("glExtGetProgramBinarySource*", ANY, Varies(Why::OwnForm)),
    ("glExtGet*", ANY, Presence),

    // Programs: what the compiler leaves of them, and where.
    ("glGetUniformLocation", ANY, Locations),
    ("glGetAttribLocation", ANY, Locations),
    ("glGetFragDataLocation", ANY, Locations),
    ("glGetFragDataIndex*", ANY, Locations),
    ("glGetUniformBlockIndex", ANY, Locations),
    ("glGetUniformIndices", ANY, Locations),
    ("glGetProgramResourceIndex", ANY, Locations),
    ("glGetProgramResourceLocation*", ANY, Locations),
    ("glGetActive*", ANY, Driver),
    ("glGetProgramResource*", ANY, Driver),
    ("glGetProgramInterface*", ANY, Driver),
    ("glGetTransformFeedbackVarying", ANY, Driver),
    ("glGetShaderPrecisionFormat", ANY, Driver),
    ("glGet*InfoLog*", ANY, Driver),
    ("glGetTranslatedShaderSource*", ANY, Driver),
    ("glGetProgramBinary*", ANY, Varies(Why::OwnForm)),
    ("glGetAttachedShaders", "@count", Exact),
    ("glGetAttachedShaders", ANY, Names(Kind::Program)),
    ("glGetShaderiv", "GL_INFO_LOG_LENGTH", Driver),
    ("glGetShaderiv", "GL_TRANSLATED_SHADER_SOURCE_LENGTH_ANGLE", Driver),
    ("glGetShaderiv", "GL_COMPLETION_STATUS_KHR", Varies(Why::Time)),
    ("glGetProgramiv", "GL_PROGRAM_BINARY_LENGTH", Varies(Why::OwnForm)),
    ("glGetProgramiv", "GL_COMPLETION_STATUS_KHR", Varies(Why::Time)),
    ("glGetProgramiv", "GL_INFO_LOG_LENGTH", Driver),
    ("glGetProgramiv", "GL_ACTIVE_*", Driver),
    ("glGetProgramPipelineiv*", "GL_INFO_LOG_LENGTH", Driver),
    ("glGetProgramPipelineiv*", "GL_VALIDATE_STATUS", Exact),
    ("glGetProgramPipelineiv*", ANY, Names(Kind::Program)),

    // Time.
    ("glClientWaitSync*", ANY, Waited),
    ("eglClientWaitSync*", ANY, Waited),
    ("glGetSynciv*", "GL_SYNC_STATUS", Varies(Why::Time)),
    ("eglGetSyncAttrib*", ANY, Varies(Why::Time)),
    ("glTestFenceNV", ANY, Varies(Why::Time)),
    ("glGetFenceivNV", ANY, Varies(Why::Time)),
    ("glGetQueryObject*", "GL_QUERY_RESULT_AVAILABLE", Varies(Why::Time)),
    ("glGetQueryObject*", "GL_QUERY_RESULT", QueryResult),
    ("glGetQueryiv*", "GL_CURRENT_QUERY", Names(Kind::Query)),
    ("glGetQueryiv*", ANY, Driver),
    ("glGetPerf*", ANY, Varies(Why::Counter)),
    ("glGetFirstPerf*", ANY, Varies(Why::Counter)),
    ("glGetNextPerf*", ANY, Varies(Why::Counter)),
    ("glGet*", "GL_TIMESTAMP", Varies(Why::Time)),
    ("glGet*", "GL_GPU_DISJOINT_EXT", Varies(Why::Time)),

    // The driver's own words.
    ("glGetString*", ANY, Driver),
    ("glGetInternalformat*", ANY, Driver),
    ("glGetMultisamplefv", ANY, Driver),
    ("glGetDriverControl*", ANY, Driver),
    ("glGetFramebufferPixelLocalStorageSize*", ANY, Driver),
    ("glGetFragmentShadingRates*", ANY, Driver),
    ("glGetShadingRateSampleLocation*", ANY, Driver),
    ("glGetDebugMessageLog*", "@ids", Varies(Why::OwnForm)),
    ("glGetDebugMessageLog*", ANY, Driver),
    ("glGet*", "GL_DEBUG_LOGGED_MESSAGES", Driver),
    ("glGet*", "GL_DEBUG_NEXT_LOGGED_MESSAGE_LENGTH", Driver),
    ("eglInitialize", "@major", Driver),
    ("eglInitialize", "@minor", Driver),

    // Addresses.
    ("glGetBufferPointerv*", ANY, Presence),
    ("glGetPointerv*", "GL_DEBUG_CALLBACK_*", Varies(Why::Callback)),
    ("glGetPointerv*", ANY, Presence),
    ("glGetVertexAttribPointerv", ANY, Presence),

    // State that names objects.
    ("glGetVertexAttrib*", "GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING", Names(Kind::Buffer)),
    ("glGetFramebufferAttachmentParameteriv*", "GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME", Presence),
    ("glGetFramebufferAttachmentParameteriv*", "GL_FRAMEBUFFER_ATTACHMENT_*_SIZE", Driver),
    ("glGetFramebufferParameter*", "GL_SAMPLE*", Driver),
    ("glGetTexLevelParameter*", "GL_TEXTURE_BUFFER_DATA_STORE_BINDING", Names(Kind::Buffer)),
    ("glGetTexLevelParameter*", "*_SIZE", Driver),
    ("glGetTexLevelParameter*", "*_TYPE", Driver),
    ("glGetRenderbufferParameter*", "*_SIZE", Driver),
    ("glGetRenderbufferParameter*", "GL_RENDERBUFFER_SAMPLES", Driver),
    ("glGet*", "GL_TEXTURE_BINDING_BUFFER", Names(Kind::Texture)),
    ("glGet*", "GL_TEXTURE_BUFFER_DATA_STORE_BINDING", Names(Kind::Buffer)),
    ("glGet*", "GL_TEXTURE_BINDING_*", Names(Kind::Texture)),
    ("glGet*", "GL_IMAGE_BINDING_NAME", Names(Kind::Texture)),
    ("glGet*", "GL_VERTEX_ARRAY_BINDING*", Names(Kind::VertexArray)),
    ("glGet*", "GL_VERTEX_BINDING_BUFFER", Names(Kind::Buffer)),
    ("glGet*", "GL_SAMPLER_BINDING", Names(Kind::Sampler)),
    ("glGet*", "GL_TRANSFORM_FEEDBACK_BINDING", Names(Kind::TransformFeedback)),
    ("glGet*", "GL_PROGRAM_PIPELINE_BINDING", Names(Kind::ProgramPipeline)),
    ("glGet*", "GL_CURRENT_PROGRAM", Names(Kind::Program)),
    ("glGet*", "GL_RENDERBUFFER_BINDING", Names(Kind::Renderbuffer)),
    ("glGet*", "GL_DRAW_FRAMEBUFFER_BINDING", Names(Kind::Framebuffer)),
    ("glGet*", "GL_READ_FRAMEBUFFER_BINDING", Names(Kind::Framebuffer)),
    ("glGet*", "*_BUFFER_BINDING", Names(Kind::Buffer)),
    ("glGet*", "*_BUFFER_BINDING_OES", Names(Kind::Buffer)),
    ("glGet*", "GL_TEXTURE_BUFFER", Names(Kind::Buffer)),

    // Limits, and how a driver is built. What begins so and is state stands first.
    ("glGet*", "GL_MIN_SAMPLE_SHADING_VALUE", Exact),
    ("glGet*", "GL_NUM_WINDOW_RECTANGLES_EXT", Exact),
    ("glGet*", "GL_DEPTH_RANGE", Exact),
    ("glGet*", "GL_PACK_ALIGNMENT", Exact),
    ("glGet*", "GL_UNPACK_ALIGNMENT", Exact),
    ("glGet*", "GL_IMPLEMENTATION_COLOR_READ_*", Varies(Why::WindowFormat)),
    ("glGet*", "GL_MAX_*", Driver),
    ("glGet*", "GL_MIN_*", Driver),
    ("glGet*", "GL_NUM_*", Driver),
    ("glGet*", "*_RANGE", Driver),
    ("glGet*", "*_ALIGNMENT", Driver),
    ("glGet*", "*_ALIGNMENT_NV", Driver),
    ("glGet*", "*_FORMATS", Driver),
    ("glGet*", "*_GRANULARITY", Driver),
    ("glGet*", "*_GRANULARITY_NV", Driver),
    ("glGet*", "*_SUPPORTED", Driver),
    ("glGet*", "*_SUPPORTED_EXT", Driver),
    ("glGet*", "GL_SUBPIXEL_BITS", Driver),
    ("glGet*", "GL_FRAGMENT_INTERPOLATION_OFFSET_BITS", Driver),
    ("glGet*", "GL_MAJOR_VERSION", Driver),
    ("glGet*", "GL_MINOR_VERSION", Driver),
    ("glGet*", "GL_CONTEXT_FLAGS", Driver),
    ("glGet*", "GL_SHADER_COMPILER", Driver),
    ("glGet*", "GL_LAYER_PROVOKING_VERTEX", Driver),
    ("glGet*", "GL_VIEWPORT_INDEX_PROVOKING_VERTEX*", Driver),
    ("glGet*", "GL_SHADER_CORE_*", Driver),
    ("glGet*", "GL_SHADER_BINARY_FORMATS*", Driver),
    ("glGet*", "GL_DEVICE_*", Driver),
    ("glGet*", "GL_DRIVER_UUID_EXT", Driver),
    ("glGet*", "GL_MOTION_ESTIMATION_*", Driver),
    ("glGet*", "GL_PERFMON_*", Varies(Why::Counter)),

    // Level Zero.
    ("ze*Synchronize", "@result", Polled),
    ("ze*QueryStatus", "@result", Polled),
    ("ze*", "@result", Exact),
    ("zeDeviceGetGlobalTimestamps", ANY, Varies(Why::Time)),
    ("zeCommandListAppendWriteGlobalTimestamp", ANY, Varies(Why::Time)),
    ("zeEventQuery*", ANY, Varies(Why::Time)),
    ("ze*IpcHandle", ANY, Varies(Why::OwnForm)),
    ("zeMemGetIpcHandle*", ANY, Varies(Why::OwnForm)),
    ("zeCommandListGetNextCommandId*", ANY, Varies(Why::OwnForm)),
    ("zeModuleGetNativeBinary", ANY, Varies(Why::OwnForm)),
    ("zeKernelGetBinaryExp", ANY, Varies(Why::OwnForm)),
    ("zeMemGetAllocProperties", "@*.id", Varies(Why::OwnForm)),
    ("zeMemGetAllocProperties", "@*.pageSize", Driver),
    ("zeMemGetAddressRange", ANY, Driver),
    ("zeMemGetPitchFor2dImage", ANY, Driver),
    ("zeVirtualMemQueryPageSize", ANY, Driver),
    ("zeModuleBuildLogGetString", ANY, Driver),
    ("zeModuleGetProperties", ANY, Driver),
    ("zeKernelGetProperties", ANY, Driver),
    ("zeKernelGetAllocationProperties*", ANY, Driver),
    ("zeKernelSuggest*", ANY, Driver),
    ("zeInitDrivers", ANY, Driver),
    ("zeDriver*", ANY, Driver),
    ("zeDevice*", ANY, Driver),
    ("zeFabric*", ANY, Driver),
    ("zeImage*", ANY, Driver),
    ("zeRTAS*", ANY, Driver),
];

/// The rule for one answer of a function: `part` is the output's parameter or `result`, `asked` the
/// value that the command asks for, by its number.
pub fn rule(function: &str, part: &str, asked: Option<u64>) -> Rule {
    let asked = asked.map(names_of).unwrap_or_default();
    let fits = |pattern: &str| match pattern.strip_prefix('@') {
        Some(pattern) => matches(pattern, part),
        None => pattern == ANY || asked.iter().any(|name| matches(pattern, name)),
    };
    let line = LINES.iter().find(|(of, what, _)| matches(of, function) && fits(what));
    line.map_or(Exact, |(.., rule)| *rule)
}

/// Whether what stands around the one `*` of `pattern` is at the ends of `text`.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((begins, ends)) => {
            text.len() >= begins.len() + ends.trim_end_matches('*').len()
                && text.starts_with(begins)
                && text.ends_with(ends.trim_end_matches('*'))
        }
    }
}

/// The names that values of glGet* have, by the registry: the descriptions of a trace are its
/// writer's.
fn names_of(value: u64) -> Vec<&'static str> {
    static NAMES: OnceLock<Vec<(u64, &'static str)>> = OnceLock::new();
    let all = NAMES.get_or_init(|| {
        let groups = Description::built_in().groups().iter();
        let values = groups.flat_map(|group| &group.values);
        let mut all: Vec<_> = values.map(|(value, name)| (*value, &**name)).collect();
        all.sort_unstable();
        all.dedup();
        all
    });
    let start = all.partition_point(|(other, _)| *other < value);
    all[start..].iter().take_while(|(other, _)| *other == value).map(|(_, name)| *name).collect()
}

#[cfg(test)]
mod tests {
    use gapii_commands::descriptions;

    use super::*;

    fn asked(name: &str) -> u64 {
        let groups = Description::built_in().groups().iter();
        let mut values = groups.flat_map(|group| &group.values);
        let found = values.find(|(_, known)| known == name);
        found.unwrap_or_else(|| panic!("the registry has no {name}")).0
    }

    fn check(function: &str, name: &str, expected: Rule) {
        assert_eq!(rule(function, "data", Some(asked(name))), expected, "{function} {name}");
    }

    #[test]
    fn state_is_exact_and_limits_are_the_driver_s() {
        check("glGetIntegerv", "GL_VIEWPORT", Exact);
        check("glGetIntegerv", "GL_UNPACK_ALIGNMENT", Exact);
        check("glGetIntegerv", "GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT", Driver);
        check("glGetFloatv", "GL_DEPTH_RANGE", Exact);
        check("glGetFloatv", "GL_ALIASED_LINE_WIDTH_RANGE", Driver);
        check("glGetInteger64v", "GL_MAX_ELEMENT_INDEX", Driver);
        check("glGetInteger64v", "GL_TIMESTAMP", Varies(Why::Time));
        check("glGetTexParameteriv", "GL_TEXTURE_MAX_LEVEL", Exact);
        check("glGetProgramiv", "GL_LINK_STATUS", Exact);
        check("glGetProgramiv", "GL_ACTIVE_UNIFORMS", Driver);
    }

    #[test]
    fn bindings_are_names_of_their_kind() {
        check("glGetIntegerv", "GL_ARRAY_BUFFER_BINDING", Names(Kind::Buffer));
        check("glGetIntegeri_v", "GL_UNIFORM_BUFFER_BINDING", Names(Kind::Buffer));
        check("glGetFloatv", "GL_TEXTURE_BINDING_2D", Names(Kind::Texture));
        check("glGetIntegerv", "GL_VERTEX_ARRAY_BINDING", Names(Kind::VertexArray));
        check("glGetQueryiv", "GL_CURRENT_QUERY", Names(Kind::Query));
        check("glGetTexLevelParameteriv", "GL_TEXTURE_DEPTH_TYPE", Driver);
    }

    #[test]
    fn pixels_errors_and_statuses_have_no_tolerance() {
        for function in ["glReadPixels", "glReadnPixels", "glReadnPixelsEXT"] {
            assert_eq!(rule(function, "pixels", None), Exact);
            assert_eq!(rule(function, "data", None), Exact);
        }
        assert_eq!(rule("glGetError", "result", None), Exact);
        assert_eq!(rule("glCheckFramebufferStatus", "result", Some(0x8D40)), Exact);
        assert_eq!(rule("glMapBufferRange", "result", Some(0x8892)), Presence);
        assert_eq!(rule("glIsTexture", "result", None), Exact);
    }

    #[test]
    fn every_name_in_the_table_is_one_of_the_registry() {
        let built_in = Description::built_in();
        let functions: Vec<&str> = built_in.functions().iter().map(|f| &*f.name).collect();
        let groups = built_in.groups().iter();
        let values: Vec<&str> =
            groups.flat_map(|group| &group.values).map(|(_, name)| &**name).collect();
        for (function, what, _) in LINES {
            let of: Vec<_> = functions.iter().filter(|name| matches(function, name)).collect();
            assert!(!of.is_empty(), "no function is {function}");
            let known = match what.strip_prefix('@') {
                Some("result") => true,
                Some(field) if field.starts_with("*.") => {
                    let mut fields =
                        descriptions().layouts.iter().flat_map(|layout| &layout.fields);
                    fields.any(|known| field.ends_with(known.name))
                }
                Some(param) => built_in.functions().iter().any(|f| {
                    matches(function, &f.name) && f.params.iter().any(|p| matches(param, &p.name))
                }),
                None => *what == ANY || values.iter().any(|name| matches(what, name)),
            };
            assert!(known, "{function} has no {what}");
        }
    }

    #[test]
    fn pattern_is_what_stands_around_the_star() {
        let check = |pattern, text, fits| assert_eq!(matches(pattern, text), fits, "{pattern}");
        check("a", "a", true);
        check("a", "ab", false);
        check("a*", "ab", true);
        check("*b", "ab", true);
        check("a*b", "ab", true);
        check("ab*bc", "abc", false);
    }
}

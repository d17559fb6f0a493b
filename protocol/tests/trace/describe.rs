//! A small description with one command of each shape, so that tests do not change with the
//! generated tables.

use gapii_abi::atom::{
    OBSERVED_BLOB, OBSERVED_INLINE, OBSERVED_NONE, observation_word, range_word,
};
use gapii_protocol::desc::{
    Api, Effect, EnumGroup, FunctionDesc, Kind, Observed, ParamDesc, Repr, TypeRef,
};
use gapii_protocol::trace::{BlobName, Description};

pub const SWAP: u16 = 0;
pub const UNIFORM: u16 = 1;
pub const DRAW: u16 = 2;
pub const CLEAR: u16 = 3;
pub const GEN: u16 = 4;
pub const SOURCE: u16 = 5;
pub const GET_STRING: u16 = 6;
pub const DATA: u16 = 7;
pub const CHOOSE: u16 = 8;
pub const FINISH: u16 = 9;
pub const DEPTH_MASK: u16 = 10;

/// A number that the description does not have.
pub const UNDESCRIBED: u16 = 999;

const PRIMITIVES: u16 = 0;
const BUFFERS: u16 = 1;
const ALL: u16 = 2;
const EGL: u16 = 3;

static GROUPS: [EnumGroup; 4] = [
    EnumGroup {
        name: "PrimitiveType",
        values: &[(0, "GL_POINTS"), (4, "GL_TRIANGLES")],
        fallback: Some(ALL),
    },
    EnumGroup {
        name: "ClearBufferMask",
        values: &[
            (0x100, "GL_DEPTH_BUFFER_BIT"),
            (0x400, "GL_STENCIL_BUFFER_BIT"),
            (0x4000, "GL_COLOR_BUFFER_BIT"),
        ],
        fallback: None,
    },
    EnumGroup {
        name: "gles",
        values: &[(0x1F01, "GL_RENDERER"), (0x8892, "GL_ARRAY_BUFFER"), (0x88E4, "GL_STATIC_DRAW")],
        fallback: None,
    },
    EnumGroup {
        name: "egl",
        values: &[(0x3021, "EGL_ALPHA_SIZE"), (0x3024, "EGL_RED_SIZE"), (0x3038, "EGL_NONE")],
        fallback: None,
    },
];

const fn ty(repr: Repr, kind: Kind) -> TypeRef {
    TypeRef { repr, kind }
}

const VOID: TypeRef = ty(Repr::Void, Kind::Number);
const INT: TypeRef = ty(Repr::I32, Kind::Number);
const FLOAT: TypeRef = ty(Repr::F32, Kind::Number);
const NAME: TypeRef = ty(Repr::U32, Kind::Handle);
const HANDLE: TypeRef = ty(Repr::Pointer, Kind::Handle);

const fn plain(name: &'static str, ty: TypeRef, offset: u16) -> ParamDesc {
    ParamDesc { name, ty, offset, observed: Observed::No, element: None }
}

const fn memory(
    name: &'static str,
    kind: Kind,
    offset: u16,
    observed: Observed,
    element: Option<TypeRef>,
) -> ParamDesc {
    ParamDesc { name, ty: ty(Repr::Pointer, kind), offset, observed, element }
}

const fn function(
    id: u16,
    name: &'static str,
    params: &'static [ParamDesc],
    fixed_len: u16,
) -> FunctionDesc {
    let (api, effect, leaves) = (Api::Gles, Effect::Enter, false);
    FunctionDesc { id, name, api, params, result: VOID, fixed_len, effect, leaves }
}

static FUNCTIONS: [FunctionDesc; 11] = [
    FunctionDesc {
        api: Api::Egl,
        result: ty(Repr::U32, Kind::Bool),
        leaves: true,
        ..function(
            SWAP,
            "eglSwapBuffers",
            &[plain("dpy", HANDLE, 0), plain("surface", HANDLE, 8)],
            16,
        )
    },
    function(
        UNIFORM,
        "glUniform4f",
        &[
            plain("location", INT, 0),
            plain("v0", FLOAT, 4),
            plain("v1", FLOAT, 8),
            plain("v2", FLOAT, 12),
            plain("v3", FLOAT, 16),
        ],
        20,
    ),
    function(
        DRAW,
        "glDrawArrays",
        &[
            plain("mode", ty(Repr::U32, Kind::Enum(PRIMITIVES)), 0),
            plain("first", INT, 4),
            plain("count", INT, 8),
        ],
        12,
    ),
    function(CLEAR, "glClear", &[plain("mask", ty(Repr::U32, Kind::Bitfield(BUFFERS)), 0)], 4),
    FunctionDesc {
        effect: Effect::Leave,
        leaves: true,
        ..function(
            GEN,
            "glGenTextures",
            &[plain("n", INT, 0), memory("textures", Kind::Array, 8, Observed::Out, Some(NAME))],
            16,
        )
    },
    function(
        SOURCE,
        "glShaderSource",
        &[
            plain("shader", NAME, 0),
            plain("count", INT, 4),
            memory("string", Kind::Strings, 8, Observed::In, None),
            plain("length", ty(Repr::Pointer, Kind::Pointer), 16),
        ],
        24,
    ),
    FunctionDesc {
        result: ty(Repr::Pointer, Kind::String),
        leaves: true,
        ..function(
            GET_STRING,
            "glGetString",
            &[plain("name", ty(Repr::U32, Kind::Enum(ALL)), 0)],
            4,
        )
    },
    function(
        DATA,
        "glBufferData",
        &[
            plain("target", ty(Repr::U32, Kind::Enum(ALL)), 0),
            plain("size", ty(Repr::I64, Kind::Number), 8),
            memory("data", Kind::Array, 16, Observed::In, Some(ty(Repr::U8, Kind::Number))),
            plain("usage", ty(Repr::U32, Kind::Enum(ALL)), 24),
        ],
        28,
    ),
    FunctionDesc {
        api: Api::Egl,
        result: ty(Repr::U32, Kind::Bool),
        leaves: true,
        ..function(
            CHOOSE,
            "eglChooseConfig",
            &[
                plain("dpy", HANDLE, 0),
                memory("attrib_list", Kind::Attributes(EGL), 8, Observed::In, Some(INT)),
                memory("configs", Kind::Array, 16, Observed::Out, Some(HANDLE)),
                plain("config_size", INT, 24),
                memory("num_config", Kind::Array, 32, Observed::Out, Some(INT)),
            ],
            40,
        )
    },
    FunctionDesc { effect: Effect::Leave, leaves: true, ..function(FINISH, "glFinish", &[], 0) },
    function(DEPTH_MASK, "glDepthMask", &[plain("flag", ty(Repr::U8, Kind::Bool), 0)], 1),
];

pub fn description() -> Description {
    Description::from_tables(&FUNCTIONS, &GROUPS, &[])
}

/// The bytes of a payload, under construction.
#[derive(Clone, Default)]
pub struct Payload(pub Vec<u8>);

impl Payload {
    pub fn new() -> Self {
        Self::default()
    }

    /// A scalar, aligned to its size.
    pub fn put<const N: usize>(mut self, bytes: [u8; N]) -> Self {
        self.0.resize(self.0.len().next_multiple_of(N), 0);
        self.0.extend_from_slice(&bytes);
        self
    }

    pub fn u32(self, value: u32) -> Self {
        self.put(value.to_le_bytes())
    }

    pub fn i32(self, value: i32) -> Self {
        self.put(value.to_le_bytes())
    }

    pub fn u64(self, value: u64) -> Self {
        self.put(value.to_le_bytes())
    }

    pub fn f32(self, value: f32) -> Self {
        self.put(value.to_le_bytes())
    }

    pub fn inline(mut self, bytes: &[u8]) -> Self {
        self = self.u64(observation_word(OBSERVED_INLINE, bytes.len() as u64));
        self.0.extend_from_slice(bytes);
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        self
    }

    pub fn blob(self, bytes: &[u8]) -> Self {
        self.u64(observation_word(OBSERVED_BLOB, bytes.len() as u64)).name(bytes)
    }

    /// The name of a blob of these bytes.
    pub fn name(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(&BlobName::of(bytes).0);
        self
    }

    /// A range whose bytes stand behind it.
    pub fn range(mut self, param: u8, address: u64, bytes: &[u8]) -> Self {
        let word = range_word(OBSERVED_INLINE, param, bytes.len() as u64);
        self = self.u64(address).u64(word);
        self.0.extend_from_slice(bytes);
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        self
    }

    /// A range of a blob of these bytes.
    pub fn blob_range(self, param: u8, address: u64, bytes: &[u8]) -> Self {
        let word = range_word(OBSERVED_BLOB, param, bytes.len() as u64);
        self.u64(address).u64(word).name(bytes)
    }

    /// A range that is not in the trace.
    pub fn unrecorded_range(self, param: u8, address: u64, size: u64) -> Self {
        self.u64(address).u64(range_word(OBSERVED_NONE, param, size))
    }

    pub fn unobserved(self) -> Self {
        self.u64(observation_word(OBSERVED_NONE, 0))
    }
}

pub fn draw(mode: u32, first: i32, count: i32) -> Payload {
    Payload::new().u32(mode).i32(first).i32(count)
}

pub fn uniform(location: i32) -> Payload {
    Payload::new().i32(location).f32(0.5).f32(-1.0).f32(f32::NAN).f32(1e10)
}

pub fn swap_args() -> Payload {
    Payload::new().u64(0x1000).u64(0x2000)
}

pub fn int_bytes(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

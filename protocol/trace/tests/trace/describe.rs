//! A small description with one command of each shape, so that tests do not depend on the generated
//! tables.

use gapii_abi::atom::{
    OBSERVED_BLOB, OBSERVED_INLINE, OBSERVED_NONE, OBSERVED_NUMBER, observation_word, range_word,
};
use gapii_commands::Descriptions;
use gapii_trace::{BlobName, Description};

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

const TEXT: &str = "\
enum gl
 0x1f01 GL_RENDERER
 0x8892 GL_ARRAY_BUFFER
 0x88e4 GL_STATIC_DRAW
enum egl
 0x3021 EGL_ALPHA_SIZE
 0x3024 EGL_RED_SIZE
 0x3038 EGL_NONE
names
 0 GL_POINTS
 4 GL_TRIANGLES
 0x100 GL_DEPTH_BUFFER_BIT
 0x400 GL_STENCIL_BUFFER_BIT
 0x4000 GL_COLOR_BUFFER_BIT
group PrimitiveType gl
 GL_POINTS GL_TRIANGLES
group ClearBufferMask -
 GL_DEPTH_BUFFER_BIT GL_STENCIL_BUFFER_BIT GL_COLOR_BUFFER_BIT
api egl
eglSwapBuffers(dpy pointer:handle, surface pointer:handle) u32:bool enter leaves
api gl
glUniform4f(location i32, v0 f32, v1 f32, v2 f32, v3 f32) void enter
glDrawArrays(mode u32:enum:PrimitiveType, first i32, count i32) void enter
glClear(mask u32:bitfield:ClearBufferMask) void enter
glGenTextures(n i32, textures out pointer:array of u32:handle) void leave leaves
glShaderSource(shader u32:handle, count i32, string in pointer:strings, length pointer:pointer) void enter
glGetString(name u32:enum:gl) pointer:string enter leaves
glBufferData(target u32:enum:gl, size i64, data in pointer:array of u8, usage u32:enum:gl) void enter
api egl
eglChooseConfig(dpy pointer:handle, attrib_list in pointer:attributes:egl of i32, configs out pointer:array of pointer:handle, config_size i32, num_config out pointer:array of i32) u32:bool enter leaves
api gl
glFinish() void leave leaves
glDepthMask(flag u8:bool) void enter
";

pub fn description() -> Description {
    let decoded = Descriptions::decode(TEXT).expect("the text is well-formed");
    Description::from(&decoded)
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
        self.u64(observation_word(OBSERVED_NUMBER, bytes.len() as u64)).u64(number_of(bytes))
    }

    /// A blob by its name, as format versions up to 4 have it.
    pub fn blob_by_name(self, bytes: &[u8]) -> Self {
        self.u64(observation_word(OBSERVED_BLOB, bytes.len() as u64)).name(bytes)
    }

    /// The name of a blob of these bytes.
    pub fn name(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(&BlobName::of(bytes).0);
        self
    }

    /// A range whose bytes follow it.
    pub fn range(mut self, param: u8, address: u64, bytes: &[u8]) -> Self {
        let word = range_word(OBSERVED_INLINE, param, bytes.len() as u64);
        self = self.u64(address).u64(word);
        self.0.extend_from_slice(bytes);
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        self
    }

    /// A range of a blob of these bytes.
    pub fn blob_range(self, param: u8, address: u64, bytes: &[u8]) -> Self {
        let word = range_word(OBSERVED_NUMBER, param, bytes.len() as u64);
        self.u64(address).u64(word).u64(number_of(bytes))
    }

    /// A range that is not in the trace.
    pub fn unrecorded_range(self, param: u8, address: u64, size: u64) -> Self {
        self.u64(address).u64(range_word(OBSERVED_NONE, param, size))
    }

    pub fn unobserved(self) -> Self {
        self.u64(observation_word(OBSERVED_NONE, 0))
    }
}

/// The number that processes give to a blob of these bytes.
pub fn number_of(bytes: &[u8]) -> u64 {
    BlobName::of(bytes).0.first_chunk().copied().map_or(0, u64::from_le_bytes)
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

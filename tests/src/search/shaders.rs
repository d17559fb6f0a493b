//! Sources of the search's shaders, by name.
//!
//! Positions come from attribute `place`, scaled from 0..1 to the whole viewport, so that any normalized data is visible.

const VERTEX_100: &str = "attribute vec4 place; attribute vec4 tint; uniform vec4 shift; varying vec4 v_tint;
void main() { gl_Position = vec4(place.xy * 2.0 - 1.0, 0.0, 1.0); gl_PointSize = 3.0; v_tint = tint + shift; }
";
const FRAGMENT_100: &str =
    "precision highp float; varying vec4 v_tint; uniform vec4 mix_in; uniform sampler2D image;
void main() { gl_FragColor = v_tint * 0.5 + mix_in + texture2D(image, v_tint.xy) * 0.25; }
";
const VERTEX_300: &str = "#version 300 es
in vec4 place; in vec4 tint; in vec4 extra; uniform vec4 shift; uniform mat2 turn[2]; out vec4 v_tint; out vec4 v_more;
void main() { gl_Position = vec4(turn[1] * (place.xy * 2.0 - 1.0), 0.0, 1.0) + shift; gl_PointSize = 2.0;
v_tint = tint; v_more = extra + place; }
";
/// The same interface with another computation: what a program has that was linked before the source changed.
const VERTEX_300_OTHER: &str = "#version 300 es
in vec4 place; in vec4 tint; in vec4 extra; uniform vec4 shift; uniform mat2 turn[2]; out vec4 v_tint; out vec4 v_more;
void main() { gl_Position = vec4(turn[0] * (place.yx * 2.0 - 1.0), 0.0, 1.0) - shift; gl_PointSize = 5.0;
v_tint = tint.zwxy; v_more = extra * place; }
";
const FRAGMENT_300: &str = "#version 300 es
precision highp float; in vec4 v_tint; in vec4 v_more; uniform sampler2D image; uniform ivec2 pick; uniform float level;
layout(std140) uniform Block { vec4 first; vec4 second; }; out vec4 colour;
void main() { colour = v_tint * 0.5 + v_more * 0.25 + texture(image, v_tint.xy) * level + float(pick.x) * first + second; }
";
/// Uniforms of every kind.
const FRAGMENT_300_KINDS: &str = "#version 300 es
precision highp float; precision highp int; in vec4 v_tint; in vec4 v_more; uniform sampler2D image;
struct Inner { float a; ivec3 b; mat3 c; };
uniform vec2 f2[3]; uniform vec3 f3; uniform int i1; uniform ivec3 i3; uniform ivec4 i4[2];
uniform uint u1; uniform uvec2 u2; uniform uvec3 u3; uniform uvec4 u4;
uniform bool b1; uniform bvec2 b2; uniform bvec3 b3; uniform bvec4 b4;
uniform mat3 m3[2]; uniform mat4 m4; uniform mat2x3 m23; uniform mat2x4 m24; uniform mat3x2 m32; uniform mat3x4 m34;
uniform mat4x2 m42; uniform mat4x3 m43; uniform Inner inner[2]; out vec4 colour;
void main() { float it = f2[0].x + f2[2].y + f3.x + float(i1 + i3.y + i4[0].x + i4[1].z) + float(u1 + u2.x + u3.x + u4.w)
+ (b1 ? 1.0 : 0.0) + (b2.x ? 1.0 : 0.0) + (b3.y ? 1.0 : 0.0) + (b4.w ? 1.0 : 0.0) + m3[1][2][0] + m4[3][3] + m23[1][2]
+ m24[1][3] + m32[2][1] + m34[2][3] + m42[3][1] + m43[3][2] + inner[1].a + float(inner[0].b.z) + inner[1].c[2][1];
colour = vec4(fract(it * 0.1), fract(it * 0.01), fract(it), 1.0) + v_tint * 0.25 + v_more * 0.25
+ texture(image, v_tint.xy) * 0.25; }
";
const VERTEX_310: &str = "#version 310 es
layout(location = 0) in vec4 place; layout(location = 1) in vec4 tint; layout(location = 0) uniform vec4 shift;
layout(location = 0) out vec4 v_tint;
void main() { gl_Position = vec4(place.xy * 2.0 - 1.0, 0.0, 1.0) + shift; gl_PointSize = 2.0; v_tint = tint; }
";
const FRAGMENT_310: &str = "#version 310 es
precision highp float; layout(location = 0) in vec4 v_tint; layout(location = 3) uniform vec4 mix_in;
layout(binding = 1) uniform highp sampler2D image; layout(location = 0) out vec4 colour;
void main() { colour = v_tint * 0.5 + mix_in + texture(image, v_tint.xy) * 0.25; }
";
const COMPUTE_310: &str = "#version 310 es
layout(local_size_x = 4) in; uniform uint factor; layout(std430, binding = 1) buffer Numbers { uint numbers[16]; };
layout(binding = 0) uniform atomic_uint count; layout(rgba8, binding = 1) writeonly uniform highp image2D image;
void main() { numbers[gl_GlobalInvocationID.x & 15u] = factor * gl_GlobalInvocationID.x; atomicCounterIncrement(count);
imageStore(image, ivec2(gl_GlobalInvocationID.xy), vec4(0.5, float(factor) / 8.0, 1.0, float(gl_GlobalInvocationID.x) / 16.0)); }
";
const VERTEX_320: &str = "#version 320 es
in vec4 place; in vec4 tint; in vec4 extra; uniform vec4 shift; uniform mat2 turn[2]; out vec4 v_tint; out vec4 v_more;
void main() { gl_Position = vec4(turn[1] * (place.xy * 2.0 - 1.0), 0.0, 1.0) + shift; gl_PointSize = 2.0;
v_tint = tint; v_more = extra + place; }
";
const FRAGMENT_320_BUFFER: &str = "#version 320 es
precision highp float; in vec4 v_tint; in vec4 v_more; uniform highp samplerBuffer texels; out vec4 colour;
void main() { colour = v_tint * 0.25 + v_more * 0.25 + texelFetch(texels, int(gl_FragCoord.x) & 3); }
";
/// A second, smaller triangle for each triangle.
const GEOMETRY_320: &str = "#version 320 es
layout(triangles) in; layout(triangle_strip, max_vertices = 6) out;
in vec4 v_tint[]; in vec4 v_more[]; uniform vec4 apart; out vec4 g_tint; out vec4 g_more;
void main() { for (int copy = 0; copy < 2; copy++) { for (int at = 0; at < 3; at++) {
gl_Position = gl_in[at].gl_Position * vec4(vec2(1.0 - 0.5 * float(copy)), 1.0, 1.0) + apart * float(copy);
g_tint = v_tint[at] * (1.0 - 0.5 * float(copy)); g_more = v_more[at]; EmitVertex(); } EndPrimitive(); } }
";
/// Patches of three vertices, whatever the number of vertices is that a patch is given.
const CONTROL_320: &str = "#version 320 es
layout(vertices = 3) out; in vec4 v_tint[]; in vec4 v_more[]; uniform float fineness; out vec4 c_tint[]; out vec4 c_more[];
void main() { int from = min(gl_InvocationID, gl_PatchVerticesIn - 1);
gl_out[gl_InvocationID].gl_Position = gl_in[from].gl_Position; c_tint[gl_InvocationID] = v_tint[from];
c_more[gl_InvocationID] = v_more[from]; gl_TessLevelInner[0] = 1.0 + fineness;
gl_TessLevelOuter[0] = 2.0; gl_TessLevelOuter[1] = 1.0; gl_TessLevelOuter[2] = 1.0 + fineness; }
";
const EVALUATION_320: &str = "#version 320 es
layout(triangles, equal_spacing, ccw) in; in vec4 c_tint[]; in vec4 c_more[]; uniform vec4 apart; out vec4 g_tint; out vec4 g_more;
void main() { vec3 at = gl_TessCoord;
gl_Position = gl_in[0].gl_Position * at.x + gl_in[1].gl_Position * at.y + gl_in[2].gl_Position * at.z + apart * at.x;
g_tint = c_tint[0] * at.x + c_tint[1] * at.y + c_tint[2] * at.z; g_more = c_more[0]; }
";
const FRAGMENT_320_LATER: &str = "#version 320 es
precision highp float; in vec4 g_tint; in vec4 g_more; uniform sampler2D image; uniform vec4 mix_in; out vec4 colour;
void main() { colour = g_tint * 0.5 + g_more * 0.25 + texture(image, g_tint.xy) * 0.25 + mix_in; }
";
/// Stages of a pipeline between those of [`SEPARABLE`].
const GEOMETRY_320_SEPARABLE: &str = "#version 320 es
layout(triangles) in; layout(triangle_strip, max_vertices = 3) out; layout(location = 0) uniform vec4 shift;
in gl_PerVertex { vec4 gl_Position; } gl_in[]; out gl_PerVertex { vec4 gl_Position; };
layout(location = 0) in vec4 v_tint[]; layout(location = 0) out vec4 g_tint;
void main() { for (int at = 0; at < 3; at++) { gl_Position = gl_in[at].gl_Position * 0.75 + shift; g_tint = v_tint[at].zyxw;
EmitVertex(); } EndPrimitive(); }
";
const CONTROL_320_SEPARABLE: &str = "#version 320 es
layout(vertices = 3) out; in gl_PerVertex { vec4 gl_Position; } gl_in[]; out gl_PerVertex { vec4 gl_Position; } gl_out[];
layout(location = 0) in vec4 v_tint[]; layout(location = 0) out vec4 c_tint[];
void main() { int from = min(gl_InvocationID, gl_PatchVerticesIn - 1);
gl_out[gl_InvocationID].gl_Position = gl_in[from].gl_Position; c_tint[gl_InvocationID] = v_tint[from].yxzw;
gl_TessLevelInner[0] = 1.0; gl_TessLevelOuter[0] = 2.0; gl_TessLevelOuter[1] = 1.0; gl_TessLevelOuter[2] = 2.0; }
";
const EVALUATION_320_SEPARABLE: &str = "#version 320 es
layout(triangles, equal_spacing, ccw) in; layout(location = 0) uniform vec4 shift;
in gl_PerVertex { vec4 gl_Position; } gl_in[]; out gl_PerVertex { vec4 gl_Position; };
layout(location = 0) in vec4 c_tint[]; layout(location = 0) out vec4 e_tint;
void main() { vec3 at = gl_TessCoord; e_tint = c_tint[0];
gl_Position = gl_in[0].gl_Position * at.x + gl_in[1].gl_Position * at.y + gl_in[2].gl_Position * at.z + shift; }
";
/// A triangle over everything, without attributes.
const COVER_300: &str = "#version 300 es
uniform float depth;
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, depth, 1.0); }
";
const COVER_320: &str = "#version 320 es
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }
";
const WHITE_300: &str = "#version 300 es
precision highp float; out vec4 colour; void main() { colour = vec4(1.0); }
";
/// Shows the texels of a texture, depth with 16 bits.
const TEXELS_300: &str = "#version 300 es
precision highp float; uniform highp sampler2D image; out vec4 colour;
void main() { vec4 it = textureLod(image, (floor(gl_FragCoord.xy) + 0.5) / vec2(textureSize(image, 0)), 0.0);
colour = vec4(it.r, it.g + fract(it.r * 255.0), it.ba); }
";
/// Shows the texels of a buffer texture, row by row.
const TEXEL_BYTES_320: &str = "#version 320 es
precision highp float; uniform highp samplerBuffer texels; out vec4 colour;
void main() { colour = texelFetch(texels, int(gl_FragCoord.y) * 32 + int(gl_FragCoord.x)); }
";
const BROKEN: &str = "#version 300 es
void main() { nothing = 1; }
";

const SOURCES: &[(&str, &str)] = &[
    ("vertex100", VERTEX_100),
    ("fragment100", FRAGMENT_100),
    ("vertex300", VERTEX_300),
    ("vertex300other", VERTEX_300_OTHER),
    ("fragment300", FRAGMENT_300),
    ("vertex310", VERTEX_310),
    ("fragment310", FRAGMENT_310),
    ("fragment300kinds", FRAGMENT_300_KINDS),
    ("compute310", COMPUTE_310),
    ("vertex320", VERTEX_320),
    ("fragment320buffer", FRAGMENT_320_BUFFER),
    ("geometry320", GEOMETRY_320),
    ("control320", CONTROL_320),
    ("evaluation320", EVALUATION_320),
    ("fragment320later", FRAGMENT_320_LATER),
    ("geometry320separable", GEOMETRY_320_SEPARABLE),
    ("control320separable", CONTROL_320_SEPARABLE),
    ("evaluation320separable", EVALUATION_320_SEPARABLE),
    ("cover300", COVER_300),
    ("cover320", COVER_320),
    ("white300", WHITE_300),
    ("texels300", TEXELS_300),
    ("texel_bytes320", TEXEL_BYTES_320),
    ("broken", BROKEN),
];

/// The kind of shader that a source is for: the first word of its name.
///
/// # Panics
/// If it is for none of the kinds.
pub fn kind(name: &str) -> &'static Kind {
    let kind = KINDS.iter().find(|kind| name.starts_with(kind.word));
    kind.unwrap_or_else(|| panic!("the name of {name} begins with no stage"))
}

/// A kind of shader.
pub struct Kind {
    /// First word of the names of its sources.
    word: &'static str,
    pub shader: &'static str,
    /// Its stage in `glUseProgramStages`.
    pub stage: &'static str,
}

const KINDS: &[Kind] = &[
    Kind { word: "vertex", shader: "GL_VERTEX_SHADER", stage: "GL_VERTEX_SHADER_BIT" },
    Kind { word: "fragment", shader: "GL_FRAGMENT_SHADER", stage: "GL_FRAGMENT_SHADER_BIT" },
    Kind { word: "geometry", shader: "GL_GEOMETRY_SHADER", stage: "GL_GEOMETRY_SHADER_BIT" },
    Kind { word: "control", shader: "GL_TESS_CONTROL_SHADER", stage: "GL_TESS_CONTROL_SHADER_BIT" },
    Kind {
        word: "evaluation",
        shader: "GL_TESS_EVALUATION_SHADER",
        stage: "GL_TESS_EVALUATION_SHADER_BIT",
    },
];

/// What a program of these shaders has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// A source for each stage, from vertices to fragments.
    pub sources: &'static [&'static str],
    /// Least version of the context.
    pub since: (u8, u8),
    pub attributes: &'static [&'static str],
    /// Uniforms and their kinds, as [`uniforms`](super::generate::uniforms) names them.
    pub uniforms: &'static [(&'static str, &'static str)],
    pub varyings: &'static [&'static str],
    pub has_block: bool,
    /// It samples a buffer texture.
    pub reads_texels: bool,
}

impl Recipe {
    /// Its draws are of patches.
    pub fn has_patches(&self) -> bool {
        self.sources.iter().any(|source| source.starts_with("evaluation"))
    }
}

/// For contexts of OpenGL ES 2.
pub const SIMPLEST: Recipe = Recipe {
    sources: &["vertex100", "fragment100"],
    since: (2, 0),
    attributes: &["place", "tint"],
    uniforms: &[("shift", "4f"), ("mix_in", "4f"), ("image", "image")],
    varyings: &["v_tint"],
    has_block: false,
    reads_texels: false,
};

/// For contexts of OpenGL ES 3.
pub const WITH_BLOCK: Recipe = Recipe {
    sources: &["vertex300", "fragment300"],
    since: (3, 0),
    attributes: &["place", "tint", "extra"],
    uniforms: &[
        ("shift", "4f"),
        ("turn[0]", "m2"),
        ("turn[1]", "m2"),
        ("image", "image"),
        ("pick", "2i"),
        ("level", "1f"),
    ],
    varyings: &["v_tint", "v_more"],
    has_block: true,
    ..SIMPLEST
};

/// Its shaders also work in programs of one stage each.
pub const SEPARABLE: Recipe = Recipe {
    sources: &["vertex310", "fragment310"],
    since: (3, 1),
    uniforms: &[("shift", "4f"), ("mix_in", "4f")],
    ..SIMPLEST
};

/// Sources for separable programs of a pipeline, and the least version of the context.
pub const PARTS: &[(&[&str], (u8, u8))] = &[
    (&["vertex310"], (3, 1)),
    (&["vertex310"], (3, 1)),
    (&["fragment310"], (3, 1)),
    (&["fragment310"], (3, 1)),
    (&["geometry320separable"], (3, 2)),
    (&["control320separable", "evaluation320separable"], (3, 2)),
];

pub const RECIPES: &[Recipe] = &[
    SIMPLEST,
    WITH_BLOCK,
    Recipe {
        sources: &["vertex300", "fragment300kinds"],
        uniforms: &[
            ("shift", "4f"),
            ("turn[0]", "m2"),
            ("turn[1]", "m2"),
            ("image", "image"),
            ("f2[0]", "2f"),
            ("f2[2]", "2f"),
            ("f3", "3f"),
            ("i1", "1i"),
            ("i3", "3i"),
            ("i4[0]", "4i"),
            ("i4[1]", "4i"),
            ("u1", "1ui"),
            ("u2", "2ui"),
            ("u3", "3ui"),
            ("u4", "4ui"),
            ("b1", "1b"),
            ("b2", "2b"),
            ("b3", "3b"),
            ("b4", "4b"),
            ("m3[1]", "m3"),
            ("m4", "m4"),
            ("m23", "m2x3"),
            ("m24", "m2x4"),
            ("m32", "m3x2"),
            ("m34", "m3x4"),
            ("m42", "m4x2"),
            ("m43", "m4x3"),
            ("inner[1].a", "1f"),
            ("inner[0].b", "3i"),
            ("inner[1].c", "m3"),
        ],
        has_block: false,
        ..WITH_BLOCK
    },
    SEPARABLE,
    Recipe {
        sources: &["vertex320", "fragment320buffer"],
        since: (3, 2),
        uniforms: &[("shift", "4f"), ("turn[0]", "m2"), ("turn[1]", "m2"), ("texels", "image")],
        has_block: false,
        reads_texels: true,
        ..WITH_BLOCK
    },
    WITH_GEOMETRY,
    Recipe {
        sources: &["vertex320", "control320", "evaluation320", "fragment320later"],
        uniforms: &[
            ("shift", "4f"),
            ("turn[0]", "m2"),
            ("turn[1]", "m2"),
            ("fineness", "1f"),
            ("apart", "4f"),
            ("mix_in", "4f"),
        ],
        ..WITH_GEOMETRY
    },
];

const WITH_GEOMETRY: Recipe = Recipe {
    sources: &["vertex320", "geometry320", "fragment320later"],
    since: (3, 2),
    uniforms: &[
        ("shift", "4f"),
        ("turn[0]", "m2"),
        ("turn[1]", "m2"),
        ("apart", "4f"),
        ("image", "image"),
        ("mix_in", "4f"),
    ],
    varyings: &["g_tint", "g_more"],
    has_block: false,
    ..WITH_BLOCK
};

/// The source of this name.
pub fn source(name: &str) -> Option<&'static str> {
    SOURCES.iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
}

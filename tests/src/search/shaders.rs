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
const FRAGMENT_320_BUFFER: &str = "#version 300 es
#extension GL_EXT_texture_buffer : require
precision highp float; in vec4 v_tint; in vec4 v_more; uniform highp samplerBuffer texels; out vec4 colour;
void main() { colour = v_tint * 0.25 + v_more * 0.25 + texelFetch(texels, int(gl_FragCoord.x) & 3); }
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
    ("fragment320buffer", FRAGMENT_320_BUFFER),
    ("cover300", COVER_300),
    ("cover320", COVER_320),
    ("white300", WHITE_300),
    ("texels300", TEXELS_300),
    ("texel_bytes320", TEXEL_BYTES_320),
    ("broken", BROKEN),
];

/// What a program of these shaders has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    pub vertex: &'static str,
    pub fragment: &'static str,
    /// Least version of the context.
    pub since: (u8, u8),
    pub attributes: &'static [&'static str],
    /// Uniforms and the suffix of the commands that set them.
    pub uniforms: &'static [(&'static str, &'static str)],
    pub varyings: &'static [&'static str],
    pub has_block: bool,
}

pub const RECIPES: &[Recipe] = &[
    Recipe {
        vertex: "vertex100",
        fragment: "fragment100",
        since: (2, 0),
        attributes: &["place", "tint"],
        uniforms: &[("shift", "4f"), ("mix_in", "4f"), ("image", "1i")],
        varyings: &["v_tint"],
        has_block: false,
    },
    Recipe {
        vertex: "vertex300",
        fragment: "fragment300",
        since: (3, 0),
        attributes: &["place", "tint", "extra"],
        uniforms: &[
            ("shift", "4f"),
            ("turn[0]", "m2"),
            ("turn[1]", "m2"),
            ("image", "1i"),
            ("pick", "2i"),
            ("level", "1f"),
        ],
        varyings: &["v_tint", "v_more"],
        has_block: true,
    },
    Recipe {
        vertex: "vertex310",
        fragment: "fragment310",
        since: (3, 1),
        attributes: &["place", "tint"],
        uniforms: &[("shift", "4f"), ("mix_in", "4f")],
        varyings: &["v_tint"],
        has_block: false,
    },
];

/// A program that samples a texture buffer, for contexts of OpenGL ES 3.2.
pub const TEXEL_RECIPE: Recipe = Recipe {
    vertex: "vertex300",
    fragment: "fragment320buffer",
    since: (3, 2),
    attributes: &["place", "tint", "extra"],
    uniforms: &[("shift", "4f"), ("turn[0]", "m2"), ("turn[1]", "m2"), ("texels", "1i")],
    varyings: &["v_tint", "v_more"],
    has_block: false,
};

/// The source of this name.
pub fn source(name: &str) -> Option<&'static str> {
    SOURCES.iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
}

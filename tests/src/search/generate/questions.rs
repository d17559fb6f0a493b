//! Questions about the state of contexts and objects, which change nothing but the bindings that they need.

use crate::search::generate::{desktop, extensions, labels, uniforms};
use crate::search::world::{ATTRIBUTES, Api, Texture, UNITS, World};

type Version = (u8, u8);

/// Those of [`NUMBERS`] that a framebuffer has.
const OF_FRAMEBUFFER: [&str; 3] = ["READ_BUFFER", "DRAW_BUFFER0", "DRAW_BUFFER1"];

/// Numbers of `glGetIntegerv`, with their bytes.
const NUMBERS: &[(&str, u32, Version)] = &[
    ("VIEWPORT", 16, (2, 0)),
    ("SCISSOR_BOX", 16, (2, 0)),
    ("COLOR_WRITEMASK", 16, (2, 0)),
    ("DEPTH_WRITEMASK", 4, (2, 0)),
    ("STENCIL_FUNC", 4, (2, 0)),
    ("STENCIL_VALUE_MASK", 4, (2, 0)),
    ("STENCIL_FAIL", 4, (2, 0)),
    ("STENCIL_PASS_DEPTH_FAIL", 4, (2, 0)),
    ("STENCIL_PASS_DEPTH_PASS", 4, (2, 0)),
    ("STENCIL_WRITEMASK", 4, (2, 0)),
    ("STENCIL_BACK_FUNC", 4, (2, 0)),
    ("STENCIL_BACK_VALUE_MASK", 4, (2, 0)),
    ("STENCIL_BACK_FAIL", 4, (2, 0)),
    ("STENCIL_BACK_PASS_DEPTH_FAIL", 4, (2, 0)),
    ("STENCIL_BACK_PASS_DEPTH_PASS", 4, (2, 0)),
    ("STENCIL_BACK_WRITEMASK", 4, (2, 0)),
    ("STENCIL_CLEAR_VALUE", 4, (2, 0)),
    ("BLEND_SRC_RGB", 4, (2, 0)),
    ("BLEND_DST_RGB", 4, (2, 0)),
    ("BLEND_SRC_ALPHA", 4, (2, 0)),
    ("BLEND_DST_ALPHA", 4, (2, 0)),
    ("BLEND_EQUATION_RGB", 4, (2, 0)),
    ("BLEND_EQUATION_ALPHA", 4, (2, 0)),
    ("CULL_FACE_MODE", 4, (2, 0)),
    ("FRONT_FACE", 4, (2, 0)),
    ("DEPTH_FUNC", 4, (2, 0)),
    ("GENERATE_MIPMAP_HINT", 4, (2, 0)),
    ("ACTIVE_TEXTURE", 4, (2, 0)),
    ("PACK_ALIGNMENT", 4, (2, 0)),
    ("UNPACK_ALIGNMENT", 4, (2, 0)),
    ("SAMPLE_COVERAGE_INVERT", 4, (2, 0)),
    ("CLIP_ORIGIN_EXT", 4, (2, 0)),
    ("CLIP_DEPTH_MODE_EXT", 4, (2, 0)),
    ("FRAGMENT_SHADER_DERIVATIVE_HINT", 4, (3, 0)),
    ("READ_BUFFER", 4, (3, 0)),
    ("DRAW_BUFFER0", 4, (3, 0)),
    ("DRAW_BUFFER1", 4, (3, 0)),
    ("TRANSFORM_FEEDBACK_ACTIVE", 4, (3, 0)),
    ("TRANSFORM_FEEDBACK_PAUSED", 4, (3, 0)),
    ("PACK_ROW_LENGTH", 4, (3, 0)),
    ("PACK_SKIP_PIXELS", 4, (3, 0)),
    ("PACK_SKIP_ROWS", 4, (3, 0)),
    ("UNPACK_ROW_LENGTH", 4, (3, 0)),
    ("UNPACK_IMAGE_HEIGHT", 4, (3, 0)),
    ("UNPACK_SKIP_PIXELS", 4, (3, 0)),
    ("UNPACK_SKIP_ROWS", 4, (3, 0)),
    ("UNPACK_SKIP_IMAGES", 4, (3, 0)),
    ("PATCH_VERTICES", 4, (3, 2)),
];

/// Numbers of `glGetFloatv`, with their bytes.
const REALS: &[(&str, u32, Version)] = &[
    ("COLOR_CLEAR_VALUE", 16, (2, 0)),
    ("DEPTH_CLEAR_VALUE", 4, (2, 0)),
    ("BLEND_COLOR", 16, (2, 0)),
    ("DEPTH_RANGE", 8, (2, 0)),
    ("LINE_WIDTH", 4, (2, 0)),
    ("POLYGON_OFFSET_FACTOR", 4, (2, 0)),
    ("POLYGON_OFFSET_UNITS", 4, (2, 0)),
    ("SAMPLE_COVERAGE_VALUE", 4, (2, 0)),
    ("POLYGON_OFFSET_CLAMP_EXT", 4, (2, 0)),
    ("MIN_SAMPLE_SHADING_VALUE", 4, (3, 2)),
    ("PRIMITIVE_BOUNDING_BOX", 32, (3, 2)),
];

/// Bindings, and the kind of object that each names.
pub const BINDINGS: &[(&str, char, Version)] = &[
    ("GL_ARRAY_BUFFER_BINDING", 'b', (2, 0)),
    ("GL_ELEMENT_ARRAY_BUFFER_BINDING", 'b', (2, 0)),
    ("GL_TEXTURE_BINDING_2D", 't', (2, 0)),
    ("GL_TEXTURE_BINDING_CUBE_MAP", 't', (2, 0)),
    ("GL_FRAMEBUFFER_BINDING", 'f', (2, 0)),
    ("GL_RENDERBUFFER_BINDING", 'r', (2, 0)),
    ("GL_CURRENT_PROGRAM", 'g', (2, 0)),
    ("GL_VERTEX_ARRAY_BINDING", 'v', (3, 0)),
    ("GL_READ_FRAMEBUFFER_BINDING", 'f', (3, 0)),
    ("GL_COPY_READ_BUFFER_BINDING", 'b', (3, 0)),
    ("GL_COPY_WRITE_BUFFER_BINDING", 'b', (3, 0)),
    ("GL_PIXEL_PACK_BUFFER_BINDING", 'b', (3, 0)),
    ("GL_PIXEL_UNPACK_BUFFER_BINDING", 'b', (3, 0)),
    ("GL_UNIFORM_BUFFER_BINDING", 'b', (3, 0)),
    ("GL_TRANSFORM_FEEDBACK_BUFFER_BINDING", 'b', (3, 0)),
    ("GL_SAMPLER_BINDING", 'm', (3, 0)),
    ("GL_TEXTURE_BINDING_2D_ARRAY", 't', (3, 0)),
    ("GL_TEXTURE_BINDING_3D", 't', (3, 0)),
    ("GL_TRANSFORM_FEEDBACK_BINDING", 'x', (3, 0)),
    ("GL_PROGRAM_PIPELINE_BINDING", 'l', (3, 1)),
    ("GL_SHADER_STORAGE_BUFFER_BINDING", 'b', (3, 1)),
    ("GL_ATOMIC_COUNTER_BUFFER_BINDING", 'b', (3, 1)),
    ("GL_DRAW_INDIRECT_BUFFER_BINDING", 'b', (3, 1)),
    ("GL_DISPATCH_INDIRECT_BUFFER_BINDING", 'b', (3, 1)),
    ("GL_TEXTURE_BINDING_BUFFER", 't', (3, 2)),
    ("GL_TEXTURE_BUFFER_BINDING", 'b', (3, 2)),
];

const INDEXED: &[(&str, Version)] = &[
    ("GL_UNIFORM_BUFFER", (3, 0)),
    ("GL_SHADER_STORAGE_BUFFER", (3, 1)),
    ("GL_ATOMIC_COUNTER_BUFFER", (3, 1)),
];

const CAPABILITIES: &[(&str, Version)] = &[
    ("BLEND", (2, 0)),
    ("CULL_FACE", (2, 0)),
    ("DEPTH_TEST", (2, 0)),
    ("DITHER", (2, 0)),
    ("POLYGON_OFFSET_FILL", (2, 0)),
    ("SCISSOR_TEST", (2, 0)),
    ("STENCIL_TEST", (2, 0)),
    ("SAMPLE_ALPHA_TO_COVERAGE", (2, 0)),
    ("SAMPLE_COVERAGE", (2, 0)),
    ("DEPTH_CLAMP_EXT", (2, 0)),
    ("FRAMEBUFFER_SRGB_EXT", (2, 0)),
    ("PRIMITIVE_RESTART_FIXED_INDEX", (3, 0)),
    ("RASTERIZER_DISCARD", (3, 0)),
    ("SAMPLE_MASK", (3, 1)),
    ("SAMPLE_SHADING", (3, 2)),
];

/// Parameters of textures, the first four of samplers, too.
const PARAMETERS: &[(&str, Version)] = &[
    ("MIN_FILTER", (2, 0)),
    ("MAG_FILTER", (2, 0)),
    ("WRAP_S", (2, 0)),
    ("WRAP_T", (2, 0)),
    ("WRAP_R", (3, 0)),
    ("COMPARE_MODE", (3, 0)),
    ("COMPARE_FUNC", (3, 0)),
    ("MIN_LOD", (3, 0)),
    ("MAX_LOD", (3, 0)),
    ("BASE_LEVEL", (3, 0)),
    ("MAX_LEVEL", (3, 0)),
    ("SWIZZLE_R", (3, 0)),
    ("SWIZZLE_G", (3, 0)),
    ("SWIZZLE_B", (3, 0)),
    ("SWIZZLE_A", (3, 0)),
    ("IMMUTABLE_FORMAT", (3, 0)),
    ("IMMUTABLE_LEVELS", (3, 0)),
];
const OF_SAMPLERS: usize = 9;

/// References of stencil tests, which the driver clamps to the bits of the framebuffer. The bits of an incomplete framebuffer are
/// undefined (OpenGL ES 3.2, 9.4.3): Mesa 22.3 has those that it saw last, and looks at the framebuffer when it is asked for the
/// bits.
fn of_stencil(world: &mut World) {
    let bound = world.here().framebuffer;
    world.step("glBindFramebuffer GL_FRAMEBUFFER 0");
    for name in ["BITS", "REF", "BACK_REF"] {
        world.step(format!("glGetIntegerv GL_STENCIL_{name} out:4"));
    }
    if let Some(framebuffer) = bound {
        world.step(format!("glBindFramebuffer GL_FRAMEBUFFER f{framebuffer}"));
    }
}

/// The current context's state, and the objects that belong to it alone.
pub fn of_context(world: &mut World) {
    let version = world.version();
    // In Mesa 22.3 all contexts without a surface share one default framebuffer, in which they set their buffers.
    let has_buffers = !world.here().has_no_surface || world.here().framebuffer.is_some();
    for (get, names) in [("glGetIntegerv", NUMBERS), ("glGetFloatv", REALS)] {
        for (name, size, _) in names.iter().filter(|(.., since)| version >= *since) {
            if has_buffers || !OF_FRAMEBUFFER.contains(name) {
                world.step(format!("{get} GL_{name} out:{size}"));
            }
        }
    }
    for (name, _) in CAPABILITIES.iter().filter(|(_, since)| version >= *since) {
        world.step(format!("?8 glIsEnabled GL_{name}"));
    }
    for (name, kind, _) in BINDINGS.iter().filter(|(.., since)| version >= *since) {
        world.step(format!("glGetIntegerv {name} name:{kind}"));
    }
    of_units(world);
    if version >= (3, 0) {
        of_indexed_buffers(world);
    }
    if version >= (3, 1) {
        world.step("glGetIntegeri_v GL_SAMPLE_MASK_VALUE 0 out:4");
        of_image_units(world);
    }
    if version >= (3, 2) {
        of_draw_buffers(world);
        of_viewports(world);
    }
    world.step("? glGetError");
    labels::ask(world);
    extensions::ask(world);
    desktop::ask(world);
    of_framebuffers(world);
    ask_arrays(world);
    of_own_objects(world);
    of_stencil(world);
    world.step("? glGetError");
}

fn of_units(world: &mut World) {
    let version = world.version();
    let unit_before = world.here().unit;
    for unit in 0..UNITS {
        world.step(format!("glActiveTexture GL_TEXTURE{unit}"));
        for (name, kind, _) in BINDINGS.iter().filter(|(.., since)| version >= *since) {
            if matches!(kind, 't' | 'm') {
                world.step(format!("glGetIntegerv {name} name:{kind}"));
            }
        }
        let held: Vec<usize> = world.here().textures[unit].values().copied().collect();
        for texture in held {
            // Those with names are asked about with their group.
            if !world.names().textures.contains(&texture) {
                let it = world.textures[texture].clone();
                of_texture(world, &it);
            }
        }
    }
    world.step(format!("glActiveTexture GL_TEXTURE{unit_before}"));
}

fn of_indexed_buffers(world: &mut World) {
    let version = world.version();
    for (target, _) in INDEXED.iter().filter(|(_, since)| version >= *since) {
        of_points(world, target, 3);
    }
}

/// Binding points of an indexed target.
fn of_points(world: &mut World, target: &str, count: usize) {
    for index in 0..count {
        world.step(format!("glGetIntegeri_v {target}_BINDING {index} name:b"));
        for name in ["START", "SIZE"] {
            world.step(format!("glGetInteger64i_v {target}_{name} {index} out:8"));
        }
    }
}

fn of_image_units(world: &mut World) {
    for unit in 0..2 {
        world.step(format!("glGetIntegeri_v GL_IMAGE_BINDING_NAME {unit} name:t"));
        for name in ["LEVEL", "LAYERED", "LAYER", "ACCESS", "FORMAT"] {
            world.step(format!("glGetIntegeri_v GL_IMAGE_BINDING_{name} {unit} out:4"));
        }
    }
}

fn of_draw_buffers(world: &mut World) {
    for index in 0..2 {
        world.step(format!("?8 glIsEnabledi GL_BLEND {index}"));
        world.step(format!("glGetBooleani_v GL_COLOR_WRITEMASK {index} out:4"));
        for name in ["SRC_RGB", "DST_RGB", "SRC_ALPHA", "EQUATION_RGB", "EQUATION_ALPHA"] {
            world.step(format!("glGetIntegeri_v GL_BLEND_{name} {index} out:4"));
        }
    }
}

/// Viewports, depth ranges and scissors by index.
fn of_viewports(world: &mut World) {
    for index in 0..4 {
        for (name, size) in [("VIEWPORT", 16), ("DEPTH_RANGE", 8)] {
            world.step(format!("glGetFloati_vOES GL_{name} {index} out:{size}"));
        }
        world.step(format!("glGetIntegeri_v GL_SCISSOR_BOX {index} out:16"));
        world.step(format!("?8 glIsEnabledi GL_SCISSOR_TEST {index}"));
    }
}

fn of_framebuffers(world: &mut World) {
    let version = world.version();
    let read_before = version >= (3, 0);
    if !read_before && world.here().named_framebuffers.is_empty() {
        return;
    }
    for framebuffer in world.here().named_framebuffers.clone() {
        world.step(format!("glBindFramebuffer GL_FRAMEBUFFER f{framebuffer}"));
        world.step("? glCheckFramebufferStatus GL_FRAMEBUFFER");
        let points =
            ["COLOR_ATTACHMENT0", "DEPTH_ATTACHMENT", "STENCIL_ATTACHMENT", "COLOR_ATTACHMENT1"];
        for point in &points[..if version >= (3, 0) { 4 } else { 3 }] {
            let names = [
                "OBJECT_TYPE",
                "TEXTURE_LEVEL",
                "TEXTURE_CUBE_MAP_FACE",
                "TEXTURE_LAYER",
                "LAYERED",
            ];
            let known = if version >= (3, 2) {
                5
            } else if version >= (3, 0) {
                4
            } else {
                3
            };
            for name in &names[..known] {
                world.step(format!(
                    "glGetFramebufferAttachmentParameteriv GL_FRAMEBUFFER GL_{point} GL_FRAMEBUFFER_ATTACHMENT_{name} out:4"
                ));
            }
            world.step("? glGetError");
        }
        if version >= (3, 0) {
            for name in OF_FRAMEBUFFER {
                world.step(format!("glGetIntegerv GL_{name} out:4"));
            }
            let command = match world.api() {
                Api::Es => "glGetFramebufferParameterivMESA",
                _ => "glGetFramebufferParameteriv",
            };
            world.step(format!("{command} GL_FRAMEBUFFER GL_FRAMEBUFFER_FLIP_Y_MESA out:4"));
        }
        if version >= (3, 1) {
            let names = ["WIDTH", "HEIGHT", "SAMPLES", "FIXED_SAMPLE_LOCATIONS", "LAYERS"];
            for name in &names[..if version >= (3, 2) { 5 } else { 4 }] {
                world.step(format!(
                    "glGetFramebufferParameteriv GL_FRAMEBUFFER GL_FRAMEBUFFER_DEFAULT_{name} out:4"
                ));
            }
        }
    }
    match world.here().framebuffer {
        Some(framebuffer) => world.step(format!("glBindFramebuffer GL_FRAMEBUFFER f{framebuffer}")),
        None => world.step("glBindFramebuffer GL_FRAMEBUFFER 0"),
    }
}

/// Vertex arrays of the context, by their indices.
pub fn arrays(world: &World) -> Vec<usize> {
    let mut arrays = vec![world.here().default_array];
    arrays.extend(world.here().named_arrays.clone());
    arrays
}

pub fn bind_array(world: &mut World, array: usize) {
    if world.version() >= (3, 0) {
        match world.array_names.get(&array) {
            Some(name) => world.step(format!("glBindVertexArray v{name}")),
            None => world.step("glBindVertexArray 0"),
        }
    }
    world.set_array(array);
}

/// Asks for the state of each vertex array.
fn ask_arrays(world: &mut World) {
    let before = world.here().array;
    for array in arrays(world) {
        bind_array(world, array);
        for index in 0..ATTRIBUTES {
            attribute_of(world, index);
        }
        world.step("glGetIntegerv GL_ELEMENT_ARRAY_BUFFER_BINDING name:b");
    }
    bind_array(world, before);
}

/// Transform feedbacks, pipelines and queries.
fn of_own_objects(world: &mut World) {
    let version = world.version();
    for feedback in world.here().feedbacks.clone() {
        world.step(format!("glBindTransformFeedback GL_TRANSFORM_FEEDBACK x{feedback}"));
        of_points(world, "GL_TRANSFORM_FEEDBACK_BUFFER", 2);
    }
    if version >= (3, 0) {
        world.step("glBindTransformFeedback GL_TRANSFORM_FEEDBACK 0");
        of_points(world, "GL_TRANSFORM_FEEDBACK_BUFFER", 2);
    }
    for pipeline in world.here().pipelines.clone() {
        world.step(format!("?8 glIsProgramPipeline l{pipeline}"));
        for name in ["GL_VERTEX_SHADER", "GL_FRAGMENT_SHADER", "GL_ACTIVE_PROGRAM"] {
            world.step(format!("glGetProgramPipelineiv l{pipeline} {name} name:g"));
        }
    }
    for (query, _) in world.here().queries.clone() {
        world.step(format!("?8 glIsQuery q{query}"));
    }
}

/// The texture that is bound to its target of the active unit.
pub fn of_texture(world: &mut World, it: &Texture) {
    let version = world.version();
    let target = it.target;
    if target == "GL_TEXTURE_BUFFER" {
        if version >= (3, 2) {
            world.step(format!(
                "glGetTexLevelParameteriv {target} 0 GL_TEXTURE_BUFFER_DATA_STORE_BINDING name:b"
            ));
            for name in ["BUFFER_OFFSET", "BUFFER_SIZE", "INTERNAL_FORMAT"] {
                world.step(format!("glGetTexLevelParameteriv {target} 0 GL_TEXTURE_{name} out:4"));
            }
        }
        return;
    }
    for (name, _) in PARAMETERS.iter().filter(|(_, since)| version >= *since) {
        world.step(format!("glGetTexParameteriv {target} GL_TEXTURE_{name} out:4"));
    }
    if version >= (3, 2) {
        world.step(format!("glGetTexParameterfv {target} GL_TEXTURE_BORDER_COLOR out:16"));
    }
    if version < (3, 1) {
        return;
    }
    world.step(format!("glGetTexParameteriv {target} GL_DEPTH_STENCIL_TEXTURE_MODE out:4"));
    for face in super::textures::faces(target) {
        // Mesa keeps the levels that glTexStorage* takes away: OpenGL ES 3.2, 8.18.
        let levels = if it.is_immutable { it.levels.min(3) } else { 3 };
        for level in 0..levels {
            for name in ["WIDTH", "HEIGHT", "DEPTH", "INTERNAL_FORMAT"] {
                world.step(format!(
                    "glGetTexLevelParameteriv {face} {level} GL_TEXTURE_{name} out:4"
                ));
            }
        }
    }
    world.step("? glGetError");
}

/// The state of an attribute of the bound vertex array.
pub fn attribute_of(world: &mut World, index: usize) {
    for name in ["ENABLED", "SIZE", "STRIDE", "TYPE", "NORMALIZED"] {
        world.step(format!("glGetVertexAttribiv {index} GL_VERTEX_ATTRIB_ARRAY_{name} out:4"));
    }
    world.step(format!("glGetVertexAttribiv {index} GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING name:b"));
    if world.version() >= (3, 0) {
        world.step(format!("glGetVertexAttribiv {index} GL_VERTEX_ATTRIB_ARRAY_DIVISOR out:4"));
    }
    if world.version() >= (3, 1) {
        world.step(format!("glGetVertexAttribiv {index} GL_VERTEX_ATTRIB_BINDING out:4"));
        world.step(format!("glGetVertexAttribiv {index} GL_VERTEX_ATTRIB_RELATIVE_OFFSET out:4"));
        // The offset of a client array is an address, which differs from run to run.
        let is_default = world.here().array == world.here().default_array;
        let names = ["STRIDE", "DIVISOR", "OFFSET"];
        for name in &names[..if is_default { 2 } else { 3 }] {
            world.step(format!("glGetIntegeri_v GL_VERTEX_BINDING_{name} {index} out:4"));
        }
        world.step(format!("glGetIntegeri_v GL_VERTEX_BINDING_BUFFER {index} name:b"));
    }
}

/// Samplers, shaders and programs of the group, and what the next link makes of the programs.
pub fn of_programs(world: &mut World) {
    let version = world.version();
    for sampler in world.names().samplers.clone() {
        world.step(format!("?8 glIsSampler m{sampler}"));
        if version >= (3, 0) {
            for (name, _) in &PARAMETERS[..OF_SAMPLERS] {
                world.step(format!("glGetSamplerParameteriv m{sampler} GL_TEXTURE_{name} out:4"));
            }
            if version >= (3, 2) {
                world.step(format!(
                    "glGetSamplerParameterfv m{sampler} GL_TEXTURE_BORDER_COLOR out:16"
                ));
            }
        }
    }
    for (shader, _) in world.names().shaders.clone() {
        for name in ["SHADER_TYPE", "COMPILE_STATUS", "SHADER_SOURCE_LENGTH", "DELETE_STATUS"] {
            world.step(format!("glGetShaderiv h{shader} GL_{name} out:4"));
        }
        world.step(format!("glGetShaderSource h{shader} 4096 out:4 out:4096"));
    }
    for program in world.names().programs.clone() {
        of_program(world, program);
    }
}

fn of_program(world: &mut World, program: usize) {
    let version = world.version();
    let recipe = world.programs[program].recipe;
    for (name, kind) in recipe.uniforms {
        let number = world.count('u');
        world.step(format!("u{number}= glGetUniformLocation g{program} text:{name}"));
        let (command, bytes) = uniforms::question(kind);
        world.step(format!("{command} g{program} u{number} out:{bytes}"));
    }
    let of_link = |world: &mut World| {
        for name in recipe.attributes {
            world.step(format!("? glGetAttribLocation g{program} text:{name}"));
        }
        let names = [
            ("LINK_STATUS", (2, 0)),
            ("VALIDATE_STATUS", (2, 0)),
            ("DELETE_STATUS", (2, 0)),
            ("ATTACHED_SHADERS", (2, 0)),
            ("ACTIVE_ATTRIBUTES", (2, 0)),
            ("ACTIVE_UNIFORMS", (2, 0)),
            ("ACTIVE_UNIFORM_BLOCKS", (3, 0)),
            ("TRANSFORM_FEEDBACK_BUFFER_MODE", (3, 0)),
            ("PROGRAM_BINARY_RETRIEVABLE_HINT", (3, 0)),
            ("PROGRAM_SEPARABLE", (3, 1)),
        ];
        for (name, _) in names.iter().filter(|(_, since)| version >= *since) {
            world.step(format!("glGetProgramiv g{program} GL_{name} out:4"));
        }
        if version >= (3, 1) {
            // glGetProgramiv has the same number, but Mesa 22.3 reads freed memory there after a link that failed.
            world.step(format!(
                "glGetProgramInterfaceiv g{program} GL_TRANSFORM_FEEDBACK_VARYING GL_ACTIVE_RESOURCES out:4"
            ));
        }
        if version >= (3, 0) {
            world.step(format!(
                "glGetTransformFeedbackVarying g{program} 0 64 out:4 out:4 out:4 out:64"
            ));
            world.step(format!(
                "glGetActiveUniformBlockiv g{program} 0 GL_UNIFORM_BLOCK_BINDING out:4"
            ));
        }
        world.step("? glGetError");
    };
    of_link(world);
    // What the next link makes of it.
    if world.may_link_again(program) {
        world.link(program);
        of_link(world);
    }
}

//! State of the fixed parts of the pipeline.

use crate::search::world::World;

const CAPABILITIES: &[(&str, (u8, u8))] = &[
    ("GL_BLEND", (2, 0)),
    ("GL_CULL_FACE", (2, 0)),
    ("GL_DEPTH_TEST", (2, 0)),
    ("GL_POLYGON_OFFSET_FILL", (2, 0)),
    ("GL_SCISSOR_TEST", (2, 0)),
    ("GL_STENCIL_TEST", (2, 0)),
    ("GL_SAMPLE_ALPHA_TO_COVERAGE", (2, 0)),
    ("GL_SAMPLE_COVERAGE", (2, 0)),
    ("GL_DEPTH_CLAMP_EXT", (2, 0)),
    ("GL_FRAMEBUFFER_SRGB_EXT", (2, 0)),
    ("GL_PRIMITIVE_RESTART_FIXED_INDEX", (3, 0)),
    ("GL_RASTERIZER_DISCARD", (3, 0)),
    ("GL_SAMPLE_MASK", (3, 1)),
    ("GL_SAMPLE_SHADING", (3, 2)),
];

const VALUES: &[(&str, (u8, u8))] = &[
    ("glBlendFunc GL_SRC_ALPHA GL_ONE_MINUS_SRC_ALPHA", (2, 0)),
    ("glBlendFuncSeparate GL_ONE GL_ONE GL_ZERO GL_DST_ALPHA", (2, 0)),
    ("glBlendEquationSeparate GL_FUNC_SUBTRACT GL_FUNC_ADD", (2, 0)),
    ("glBlendEquation GL_MIN", (3, 0)),
    ("glBlendColor 0.25f 0.5f 0.75f 1f", (2, 0)),
    ("glColorMask 1 0 1 1", (2, 0)),
    ("glColorMask 1 1 1 1", (2, 0)),
    ("glColorMaski 0 0 1 1 0", (3, 2)),
    ("glColorMaski 1 1 0 0 1", (3, 2)),
    ("glEnablei GL_BLEND 1", (3, 2)),
    ("glDisablei GL_BLEND 0", (3, 2)),
    ("glBlendFunci 1 GL_ONE GL_DST_COLOR", (3, 2)),
    ("glBlendEquationi 0 GL_MAX", (3, 2)),
    ("glBlendFuncSeparatei 0 GL_ONE GL_ZERO GL_ONE GL_ONE", (3, 2)),
    ("glBlendEquationSeparatei 1 GL_FUNC_SUBTRACT GL_MIN", (3, 2)),
    ("glBlendBarrier", (3, 2)),
    ("glMemoryBarrierByRegion GL_FRAMEBUFFER_BARRIER_BIT", (3, 1)),
    ("glFlush", (2, 0)),
    ("glReleaseShaderCompiler", (2, 0)),
    ("glCullFace GL_FRONT", (2, 0)),
    ("glFrontFace GL_CW", (2, 0)),
    ("glDepthFunc GL_LEQUAL", (2, 0)),
    ("glDepthFunc GL_ALWAYS", (2, 0)),
    ("glDepthMask 0", (2, 0)),
    ("glDepthRangef 0.25f 0.75f", (2, 0)),
    ("glClearDepthf 0.5f", (2, 0)),
    ("glClearStencil 5", (2, 0)),
    ("glLineWidth 1f", (2, 0)),
    ("glPolygonOffset 1f 2f", (2, 0)),
    ("glSampleCoverage 0.5f 1", (2, 0)),
    ("glSampleMaski 0 0x55", (3, 1)),
    ("glMinSampleShading 0.5f", (3, 2)),
    ("glScissor 2 3 20 21", (2, 0)),
    ("glScissor 0 0 32 32", (2, 0)),
    ("glViewport 0 0 16 16", (2, 0)),
    ("glViewport 0 0 32 32", (2, 0)),
    ("glViewport 3 1 9 12", (2, 0)),
    ("glStencilFunc GL_EQUAL 1 0xff", (2, 0)),
    ("glStencilFuncSeparate GL_BACK GL_NOTEQUAL 3 0x0e", (2, 0)),
    ("glStencilFunc GL_ALWAYS 7 0xff", (2, 0)),
    ("glStencilMask 0x0e", (2, 0)),
    ("glStencilMaskSeparate GL_FRONT 0x3c", (2, 0)),
    ("glStencilOp GL_KEEP GL_INCR GL_REPLACE", (2, 0)),
    ("glStencilOpSeparate GL_BACK GL_INVERT GL_DECR_WRAP GL_ZERO", (2, 0)),
    ("glHint GL_GENERATE_MIPMAP_HINT GL_NICEST", (2, 0)),
    ("glHint GL_FRAGMENT_SHADER_DERIVATIVE_HINT GL_FASTEST", (3, 0)),
    ("glPatchParameteri GL_PATCH_VERTICES 4", (3, 2)),
    ("glClipControlEXT GL_UPPER_LEFT_EXT GL_ZERO_TO_ONE_EXT", (2, 0)),
    ("glClipControlEXT GL_LOWER_LEFT_EXT GL_NEGATIVE_ONE_TO_ONE_EXT", (2, 0)),
    ("glPolygonOffsetClampEXT 1f 2f 0.5f", (2, 0)),
    ("glViewportIndexedfOES 0 3f 2f 20f 24f", (3, 2)),
    ("glViewportIndexedfOES 1 1f 2f 3.5f 4f", (3, 2)),
    ("glScissorIndexedOES 0 1 2 13 14", (3, 2)),
    ("glScissorIndexedOES 2 1 2 3 4", (3, 2)),
    ("glDepthRangeIndexedfOES 0 0.125f 0.5f", (3, 2)),
    ("glDepthRangeIndexedfOES 3 0.25f 0.5f", (3, 2)),
    ("glViewportArrayvOES 1 2 floats:1,2,13,14,0.5,0.5,9,8", (3, 2)),
    ("glViewportIndexedfvOES 0 floats:2,1,25,26", (3, 2)),
    ("glScissorArrayvOES 0 2 ints:1,1,30,29,2,3,4,5", (3, 2)),
    ("glScissorIndexedvOES 1 ints:3,2,9,8", (3, 2)),
    ("glDepthRangeArrayfvOES 0 1 floats:0.125,0.75", (3, 2)),
    ("glEnableiOES GL_SCISSOR_TEST 3", (3, 2)),
    ("glEnableiOES GL_SCISSOR_TEST 0", (3, 2)),
    ("glDisableiOES GL_SCISSOR_TEST 0", (3, 2)),
    ("glPrimitiveBoundingBox -0.5f -0.5f -1f 1f 0.5f 0.5f 1f 1f", (3, 2)),
];

const PIXEL_STORES: &[(&str, (u8, u8))] = &[
    ("glPixelStorei GL_UNPACK_ALIGNMENT 1", (2, 0)),
    ("glPixelStorei GL_UNPACK_ALIGNMENT 4", (2, 0)),
    ("glPixelStorei GL_PACK_ALIGNMENT 1", (2, 0)),
    ("glPixelStorei GL_PACK_ALIGNMENT 8", (2, 0)),
    ("glPixelStorei GL_UNPACK_ROW_LENGTH 17", (3, 0)),
    ("glPixelStorei GL_UNPACK_ROW_LENGTH 0", (3, 0)),
    ("glPixelStorei GL_UNPACK_SKIP_PIXELS 1", (3, 0)),
    ("glPixelStorei GL_UNPACK_SKIP_ROWS 1", (3, 0)),
    ("glPixelStorei GL_UNPACK_SKIP_ROWS 0", (3, 0)),
    ("glPixelStorei GL_UNPACK_IMAGE_HEIGHT 9", (3, 0)),
    ("glPixelStorei GL_UNPACK_IMAGE_HEIGHT 0", (3, 0)),
    ("glPixelStorei GL_UNPACK_SKIP_IMAGES 1", (3, 0)),
    ("glPixelStorei GL_UNPACK_SKIP_IMAGES 0", (3, 0)),
    ("glPixelStorei GL_PACK_ROW_LENGTH 9", (3, 0)),
    ("glPixelStorei GL_PACK_ROW_LENGTH 0", (3, 0)),
    ("glPixelStorei GL_PACK_SKIP_ROWS 1", (3, 0)),
    ("glPixelStorei GL_PACK_SKIP_ROWS 0", (3, 0)),
    ("glPixelStorei GL_PACK_SKIP_PIXELS 2", (3, 0)),
    ("glPixelStorei GL_PACK_SKIP_PIXELS 0", (3, 0)),
];

fn of(world: &mut World, all: &[(&'static str, (u8, u8))]) -> &'static str {
    let version = world.version();
    let known: Vec<_> =
        all.iter().filter(|(_, since)| version >= *since).map(|(text, _)| *text).collect();
    world.one_of(&known)
}

pub fn capability(world: &mut World) -> bool {
    let name = of(world, CAPABILITIES);
    // Nothing is visible while primitives are discarded.
    let command = if world.chance(if name == "GL_RASTERIZER_DISCARD" { 20 } else { 55 }) {
        "glEnable"
    } else {
        "glDisable"
    };
    world.step(format!("{command} {name}"));
    true
}

pub fn value(world: &mut World) -> bool {
    let text = of(world, VALUES);
    world.step(text);
    true
}

pub fn pixel_store(world: &mut World) -> bool {
    let text = of(world, PIXEL_STORES);
    if world.transfers_pixels && text.contains("UNPACK_SKIP") {
        return false;
    }
    world.step(text);
    true
}

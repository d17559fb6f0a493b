//! OpenGL ES 1: matrices, lights, fog, texture environments, client arrays, and draws with them.

use crate::search::generate::buffers::with_storage;
use crate::search::world::{CLIENT_BYTES, ClientArray, Source, World};

/// Units with coordinates and an environment.
const UNITS: usize = 2;

/// An array: its name, the command, sizes, types.
type Array = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);

const ARRAYS: &[Array] = &[
    ("VERTEX_ARRAY", "glVertexPointer", &["2", "3", "4"], &["GL_BYTE", "GL_SHORT"]),
    ("VERTEX_ARRAY", "glVertexPointer", &["2", "3", "4"], &["GL_BYTE", "GL_SHORT"]),
    ("COLOR_ARRAY", "glColorPointer", &["4"], &["GL_UNSIGNED_BYTE"]),
    ("NORMAL_ARRAY", "glNormalPointer", &[""], &["GL_BYTE", "GL_SHORT"]),
    ("TEXTURE_COORD_ARRAY", "glTexCoordPointer", &["2", "3", "4"], &["GL_BYTE", "GL_SHORT"]),
    ("POINT_SIZE_ARRAY_OES", "glPointSizePointerOES", &[""], &["GL_FIXED"]),
];

const CAPABILITIES: &[&str] = &[
    "ALPHA_TEST",
    "BLEND",
    "CLIP_PLANE0",
    "CLIP_PLANE3",
    "COLOR_LOGIC_OP",
    "COLOR_MATERIAL",
    "CULL_FACE",
    "DEPTH_TEST",
    "FOG",
    "LIGHT0",
    "LIGHT1",
    "LIGHT7",
    "LIGHTING",
    "LINE_SMOOTH",
    "MULTISAMPLE",
    "NORMALIZE",
    "POINT_SMOOTH",
    "POINT_SPRITE_OES",
    "POLYGON_OFFSET_FILL",
    "RESCALE_NORMAL",
    "SAMPLE_ALPHA_TO_COVERAGE",
    "SAMPLE_ALPHA_TO_ONE",
    "SAMPLE_COVERAGE",
    "SCISSOR_TEST",
    "STENCIL_TEST",
    "TEXTURE_2D",
];

/// Textures make their mipmaps. Mesa gives no memory to those of a texture that is bound to an EGL image.
pub const MAKES_MIPMAPS: &str = "glTexParameteri GL_TEXTURE_2D GL_GENERATE_MIPMAP 1";

const VALUES: &[&str] = &[
    "glActiveTexture GL_TEXTURE0",
    "glActiveTexture GL_TEXTURE1",
    "glAlphaFunc GL_GREATER 0.25f",
    "glAlphaFuncx GL_LEQUAL 0xc000",
    "glBlendFunc GL_SRC_ALPHA GL_ONE_MINUS_SRC_ALPHA",
    "glBlendFuncSeparateOES GL_ONE GL_ZERO GL_ZERO GL_DST_ALPHA",
    "glBlendEquationOES GL_FUNC_SUBTRACT_OES",
    "glClearColorx 0x8000 0x4000 0x2000 0x10000",
    "glClearDepthx 0x8000",
    "glClearStencil 3",
    "glClientActiveTexture GL_TEXTURE0",
    "glClientActiveTexture GL_TEXTURE1",
    "glClipPlanef GL_CLIP_PLANE0 floats:1,0,0,0.5",
    "glClipPlanex GL_CLIP_PLANE3 ints:0,0x10000,0,0x8000",
    "glColor4f 0.25f 0.5f 0.75f 1f",
    "glColor4ub 255 128 64 32",
    "glColor4x 0x8000 0x4000 0x2000 0x10000",
    "glColorMask 1 0 1 1",
    "glColorMask 1 1 1 1",
    "glCullFace GL_FRONT",
    "glDepthFunc GL_ALWAYS",
    "glDepthMask 0",
    "glDepthRangex 0x4000 0xc000",
    "glFlush",
    "glFogf GL_FOG_DENSITY 0.5f",
    "glFogf GL_FOG_MODE 9729f",
    "glFogfv GL_FOG_COLOR floats:0.5,0.25,0,1",
    "glFogx GL_FOG_START 0x2000",
    "glFogxv GL_FOG_END ints:0x18000",
    "glFrontFace GL_CW",
    "glHint GL_FOG_HINT GL_NICEST",
    "glHint GL_GENERATE_MIPMAP_HINT GL_FASTEST",
    "glHint GL_LINE_SMOOTH_HINT GL_NICEST",
    "glHint GL_PERSPECTIVE_CORRECTION_HINT GL_NICEST",
    "glHint GL_POINT_SMOOTH_HINT GL_FASTEST",
    "glLightModelf GL_LIGHT_MODEL_TWO_SIDE 1f",
    "glLightModelfv GL_LIGHT_MODEL_AMBIENT floats:0.5,0.25,0.125,1",
    "glLightModelx GL_LIGHT_MODEL_TWO_SIDE 0",
    "glLightModelxv GL_LIGHT_MODEL_AMBIENT ints:0x4000,0x8000,0x1000,0x10000",
    "glLightf GL_LIGHT0 GL_SPOT_CUTOFF 45f",
    "glLightf GL_LIGHT1 GL_LINEAR_ATTENUATION 0.5f",
    "glLightfv GL_LIGHT0 GL_AMBIENT floats:0.5,0.25,0.125,1",
    "glLightfv GL_LIGHT0 GL_POSITION floats:0.5,0.25,1,1",
    "glLightfv GL_LIGHT1 GL_SPOT_DIRECTION floats:0.5,0.25,-1",
    "glLightfv GL_LIGHT7 GL_DIFFUSE floats:1,0.5,0.5,1",
    "glLightx GL_LIGHT1 GL_SPOT_EXPONENT 0x20000",
    "glLightxv GL_LIGHT0 GL_SPECULAR ints:0x8000,0x4000,0,0x10000",
    "glLineWidthx 0x10000",
    "glLoadIdentity",
    "glLoadMatrixf floats:0.0078125,0,0,0,0,0.0078125,0,0,0,0,0.0078125,0,0,0,0,1",
    "glLoadMatrixx ints:0x200,0,0,0,0,0x200,0,0,0,0,0x200,0,0x4000,0,0,0x10000",
    "glLogicOp GL_XOR",
    "glLogicOp GL_COPY_INVERTED",
    "glMaterialf GL_FRONT_AND_BACK GL_SHININESS 5f",
    "glMaterialfv GL_FRONT_AND_BACK GL_AMBIENT floats:0.5,0.25,0,1",
    "glMaterialfv GL_FRONT_AND_BACK GL_EMISSION floats:0,0.25,0.125,1",
    "glMaterialx GL_FRONT_AND_BACK GL_SHININESS 0x18000",
    "glMaterialxv GL_FRONT_AND_BACK GL_SPECULAR ints:0x8000,0x4000,0,0x10000",
    "glMatrixMode GL_MODELVIEW",
    "glMatrixMode GL_MODELVIEW",
    "glMatrixMode GL_PROJECTION",
    "glMatrixMode GL_TEXTURE",
    "glMultMatrixf floats:1,0.25,0,0,-0.25,1,0,0,0,0,1,0,0.125,0,0,1",
    "glMultMatrixx ints:0x10000,0,0,0,0,0xc000,0,0,0,0,0x10000,0,0,0x1000,0,0x10000",
    "glMultiTexCoord4f GL_TEXTURE0 0.25f 0.5f 0f 1f",
    "glMultiTexCoord4x GL_TEXTURE1 0x8000 0x4000 0 0x10000",
    "glNormal3f 0f 0.5f 1f",
    "glNormal3x 0x8000 0 0x8000",
    "glOrthof -2f 2f -1f 1f -1f 1f",
    "glOrthox -0x10000 0x10000 -0x10000 0x10000 -0x10000 0x10000",
    "glFrustumf -1f 1f -1f 1f 0.5f 4f",
    "glFrustumx -0x10000 0x10000 -0x10000 0x10000 0x8000 0x40000",
    "glPixelStorei GL_PACK_ALIGNMENT 1",
    "glPixelStorei GL_UNPACK_ALIGNMENT 1",
    "glPointParameterf GL_POINT_SIZE_MIN 2f",
    "glPointParameterfv GL_POINT_DISTANCE_ATTENUATION floats:0.5,0.25,0",
    "glPointParameterx GL_POINT_SIZE_MAX 0x80000",
    "glPointParameterxv GL_POINT_FADE_THRESHOLD_SIZE ints:0x18000",
    "glPointSize 3f",
    "glPointSizex 0x50000",
    "glPolygonOffset 1f 2f",
    "glPolygonOffsetx 0x8000 0x10000",
    "glPopMatrix",
    "glPushMatrix",
    "glRotatef 30f 0f 0f 1f",
    "glRotatex 0x1e0000 0 0 0x10000",
    "glSampleCoverage 0.5f 1",
    "glSampleCoveragex 0x8000 0",
    "glScalef 0.5f 0.75f 1f",
    "glScalex 0x18000 0x10000 0x10000",
    "glScissor 2 3 20 21",
    "glShadeModel GL_FLAT",
    "glShadeModel GL_SMOOTH",
    "glStencilFunc GL_ALWAYS 5 0xff",
    "glStencilMask 0x3c",
    "glStencilOp GL_KEEP GL_INCR GL_REPLACE",
    "glTexEnvf GL_TEXTURE_ENV GL_RGB_SCALE 2f",
    "glTexEnvfv GL_TEXTURE_ENV GL_TEXTURE_ENV_COLOR floats:0.25,0.5,0.75,1",
    "glTexEnvi GL_POINT_SPRITE_OES GL_COORD_REPLACE_OES 1",
    "glTexEnvi GL_TEXTURE_ENV GL_COMBINE_ALPHA GL_SUBTRACT",
    "glTexEnvi GL_TEXTURE_ENV GL_COMBINE_RGB GL_ADD_SIGNED",
    "glTexEnvi GL_TEXTURE_ENV GL_OPERAND1_RGB GL_SRC_ALPHA",
    "glTexEnvi GL_TEXTURE_ENV GL_SRC0_ALPHA GL_PRIMARY_COLOR",
    "glTexEnvi GL_TEXTURE_ENV GL_SRC2_RGB GL_CONSTANT",
    "glTexEnvi GL_TEXTURE_ENV GL_TEXTURE_ENV_MODE GL_COMBINE",
    "glTexEnvi GL_TEXTURE_ENV GL_TEXTURE_ENV_MODE GL_DECAL",
    "glTexEnvi GL_TEXTURE_ENV GL_TEXTURE_ENV_MODE GL_MODULATE",
    "glTexEnviv GL_TEXTURE_ENV GL_TEXTURE_ENV_MODE ints:GL_ADD",
    "glTexEnvx GL_TEXTURE_ENV GL_ALPHA_SCALE 0x40000",
    "glTexEnvxv GL_TEXTURE_ENV GL_TEXTURE_ENV_COLOR ints:0x4000,0x8000,0,0x10000",
    "glTexParameterf GL_TEXTURE_2D GL_TEXTURE_MAG_FILTER 9728f",
    MAKES_MIPMAPS,
    "glTexParameteri GL_TEXTURE_2D GL_TEXTURE_MIN_FILTER GL_LINEAR",
    "glTexParameteri GL_TEXTURE_2D GL_TEXTURE_WRAP_S GL_CLAMP_TO_EDGE",
    "glTexParameteriv GL_TEXTURE_2D GL_TEXTURE_CROP_RECT_OES ints:1,2,8,9",
    "glTexParameterx GL_TEXTURE_2D GL_TEXTURE_WRAP_T GL_REPEAT",
    "glTexParameterxv GL_TEXTURE_2D GL_TEXTURE_MIN_FILTER ints:GL_NEAREST",
    "glTranslatef 0.125f 0.25f 0f",
    "glTranslatex 0x1000 0x2000 0",
    "glViewport 0 0 32 32",
    "glViewport 3 1 20 24",
];

/// Questions with their answers' bytes.
const QUESTIONS: &[(&str, u32)] = &[
    ("ACTIVE_TEXTURE", 4),
    ("ALPHA_TEST_FUNC", 4),
    ("ALPHA_TEST_REF", 4),
    ("BLEND_DST", 4),
    ("BLEND_SRC", 4),
    ("CLIENT_ACTIVE_TEXTURE", 4),
    ("COLOR_CLEAR_VALUE", 16),
    ("COLOR_WRITEMASK", 16),
    ("CULL_FACE_MODE", 4),
    ("CURRENT_COLOR", 16),
    ("CURRENT_NORMAL", 12),
    ("CURRENT_TEXTURE_COORDS", 16),
    ("DEPTH_CLEAR_VALUE", 4),
    ("DEPTH_FUNC", 4),
    ("DEPTH_RANGE", 8),
    ("DEPTH_WRITEMASK", 4),
    ("FOG_COLOR", 16),
    ("FOG_DENSITY", 4),
    ("FOG_END", 4),
    ("FOG_HINT", 4),
    ("FOG_MODE", 4),
    ("FOG_START", 4),
    ("FRONT_FACE", 4),
    ("GENERATE_MIPMAP_HINT", 4),
    ("LIGHT_MODEL_AMBIENT", 16),
    ("LIGHT_MODEL_TWO_SIDE", 4),
    ("LINE_SMOOTH_HINT", 4),
    ("LINE_WIDTH", 4),
    ("LOGIC_OP_MODE", 4),
    ("MATRIX_MODE", 4),
    ("MODELVIEW_MATRIX", 64),
    ("MODELVIEW_STACK_DEPTH", 4),
    ("PACK_ALIGNMENT", 4),
    ("PERSPECTIVE_CORRECTION_HINT", 4),
    ("POINT_DISTANCE_ATTENUATION", 12),
    ("POINT_FADE_THRESHOLD_SIZE", 4),
    ("POINT_SIZE", 4),
    ("POINT_SIZE_MAX", 4),
    ("POINT_SIZE_MIN", 4),
    ("POINT_SMOOTH_HINT", 4),
    ("POLYGON_OFFSET_FACTOR", 4),
    ("POLYGON_OFFSET_UNITS", 4),
    ("PROJECTION_MATRIX", 64),
    ("PROJECTION_STACK_DEPTH", 4),
    ("SAMPLE_COVERAGE_INVERT", 4),
    ("SAMPLE_COVERAGE_VALUE", 4),
    ("SCISSOR_BOX", 16),
    ("SHADE_MODEL", 4),
    ("STENCIL_CLEAR_VALUE", 4),
    ("STENCIL_FAIL", 4),
    ("STENCIL_FUNC", 4),
    ("STENCIL_PASS_DEPTH_FAIL", 4),
    ("STENCIL_PASS_DEPTH_PASS", 4),
    ("STENCIL_REF", 4),
    ("STENCIL_VALUE_MASK", 4),
    ("STENCIL_WRITEMASK", 4),
    ("TEXTURE_MATRIX", 64),
    ("TEXTURE_STACK_DEPTH", 4),
    ("UNPACK_ALIGNMENT", 4),
    ("VIEWPORT", 16),
];

/// Questions about each unit's environment.
const OF_UNITS: &[(&str, u32)] = &[
    ("ALPHA_SCALE", 4),
    ("COMBINE_ALPHA", 4),
    ("COMBINE_RGB", 4),
    ("OPERAND0_ALPHA", 4),
    ("OPERAND0_RGB", 4),
    ("OPERAND1_RGB", 4),
    ("OPERAND2_RGB", 4),
    ("RGB_SCALE", 4),
    ("SRC0_ALPHA", 4),
    ("SRC0_RGB", 4),
    ("SRC1_RGB", 4),
    ("SRC2_RGB", 4),
    ("TEXTURE_ENV_COLOR", 16),
    ("TEXTURE_ENV_MODE", 4),
];

const OF_LIGHTS: &[(&str, u32)] = &[
    ("AMBIENT", 16),
    ("CONSTANT_ATTENUATION", 4),
    ("DIFFUSE", 16),
    ("LINEAR_ATTENUATION", 4),
    ("POSITION", 16),
    ("QUADRATIC_ATTENUATION", 4),
    ("SPECULAR", 16),
    ("SPOT_CUTOFF", 4),
    ("SPOT_DIRECTION", 12),
    ("SPOT_EXPONENT", 4),
];

pub fn value(world: &mut World) -> bool {
    value_that(world, |_| true)
}

/// Sets one of the values whose step fits.
pub fn value_that(world: &mut World, fits: impl Fn(&str) -> bool) -> bool {
    let is_defined = |step: &str| world.images.is_empty() || step != MAKES_MIPMAPS;
    let known = VALUES.iter().copied().filter(|step| fits(step) && is_defined(step));
    let all: Vec<&'static str> = known.collect();
    let step = world.one_of(&all);
    world.step(step);
    if let Some(unit) = step.strip_prefix("glActiveTexture GL_TEXTURE") {
        world.context().unit = usize::from(unit == "1");
    }
    if let Some(unit) = step.strip_prefix("glClientActiveTexture GL_TEXTURE") {
        world.context().client_unit = usize::from(unit == "1");
    }
    true
}

pub fn capability(world: &mut World) -> bool {
    capability_that(world, |_| true)
}

/// Enables or disables one of the capabilities whose name fits.
pub fn capability_that(world: &mut World, fits: impl Fn(&str) -> bool) -> bool {
    let all: Vec<&'static str> = CAPABILITIES.iter().filter(|name| fits(name)).copied().collect();
    let name = world.one_of(&all);
    let command = if world.chance(55) { "glEnable" } else { "glDisable" };
    if name == "COLOR_MATERIAL" {
        ask_for_material(world);
    }
    world.step(format!("{command} GL_{name}"));
    true
}

/// Before `GL_COLOR_MATERIAL` may change: Mesa 22.3 sets materials again, after the color, that nobody has asked for. A snapshot asks.
pub fn ask_for_material(world: &mut World) {
    world.step("glGetMaterialfv GL_FRONT GL_SHININESS out:4");
}

/// The array of this name, of the active client unit if it has coordinates.
fn array<'w>(world: &'w mut World, name: &str) -> &'w mut ClientArray {
    let unit = if name == "TEXTURE_COORD_ARRAY" { world.here().client_unit } else { 0 };
    world.context().client_arrays.entry(format!("{name}{unit}")).or_default()
}

pub fn pointer(world: &mut World) -> bool {
    let (name, command, sizes, types) = world.one_of(ARRAYS);
    let (size, kind) = (world.one_of(sizes), world.one_of(types));
    let stride = world.one_of(&[0, 8, 16]);
    let shape = format!("{size} {kind} {stride}");
    let (command, shape) = (command, shape.trim_start());
    let source = if world.chance(40) {
        let seed = world.seed();
        world.step("glBindBuffer GL_ARRAY_BUFFER 0");
        world.context().buffers.remove("GL_ARRAY_BUFFER");
        world.step(format!("{command} {shape} bytes:{CLIENT_BYTES}:{seed}"));
        Source::Client
    } else {
        let buffer = with_storage(world, 256);
        world.step(format!("glBindBuffer GL_ARRAY_BUFFER b{buffer}"));
        world.context().buffers.insert("GL_ARRAY_BUFFER", buffer);
        let offset = world.below(4) * 4;
        world.step(format!("{command} {shape} {offset}"));
        Source::Buffer(buffer)
    };
    array(world, name).source = source;
    if world.chance(75) {
        world.step(format!("glEnableClientState GL_{name}"));
        array(world, name).is_enabled = true;
    }
    true
}

pub fn enable(world: &mut World) -> bool {
    let (name, ..) = world.one_of(ARRAYS);
    let it = array(world, name);
    it.is_enabled = !it.is_enabled;
    let command = if it.is_enabled { "glEnableClientState" } else { "glDisableClientState" };
    world.step(format!("{command} GL_{name}"));
    true
}

/// Whether every enabled array has memory that is not mapped. The specification lets no command read a mapped buffer
/// (GL_OES_mapbuffer).
fn may_draw(world: &World) -> bool {
    let arrays = &world.here().client_arrays;
    let mut enabled = arrays.values().filter(|it| it.is_enabled);
    enabled.all(|it| match it.source {
        Source::None => false,
        Source::Client => true,
        Source::Buffer(buffer) => world.buffers[buffer].mapping.is_none(),
    })
}

pub fn draw(world: &mut World) -> bool {
    if !may_draw(world) {
        return false;
    }
    let mode = world.one_of(&["GL_TRIANGLES", "GL_TRIANGLE_FAN", "GL_POINTS", "GL_LINE_STRIP"]);
    let (first, count) = (world.below(3), 3 + world.below(6));
    let array = world.here().array;
    let elements = world.vertex_arrays[array].elements.map(|buffer| &world.buffers[buffer]);
    let has_indices = elements.is_some_and(|it| it.size >= 64 && it.mapping.is_none());
    match has_indices && world.chance(30) {
        // A vertex of 255 lies beyond the memory of arrays in buffers, where Mesa reads nothing.
        true => world.step(format!("glDrawElements {mode} {count} GL_UNSIGNED_BYTE 4")),
        false => world.step(format!("glDrawArrays {mode} {first} {count}")),
    }
    world.step("? glGetError");
    read(world);
    true
}

/// Draws a texture onto the screen (GL_OES_draw_texture).
pub fn draw_texture(world: &mut World) -> bool {
    let step = world.one_of(&[
        "glDrawTexiOES 1 2 0 8 9",
        "glDrawTexfOES 1f 2f 0.5f 8f 9f",
        "glDrawTexsvOES bytes:10:4",
        "glDrawTexxOES 0x10000 0x20000 0x8000 0x80000 0x90000",
    ]);
    // Mesa draws with the colour of before until something makes it look, as any query of the colour does.
    world.step("glGetFloatv GL_CURRENT_COLOR out:16");
    world.step(step);
    world.step("? glGetError");
    read(world);
    true
}

fn read(world: &mut World) {
    world.step("glReadPixels 0 0 8 8 GL_RGBA GL_UNSIGNED_BYTE out:256");
}

/// Asks for all state of the context.
pub fn ask(world: &mut World) {
    for (name, bytes) in QUESTIONS {
        world.step(format!("glGetFloatv GL_{name} out:{bytes}"));
    }
    for name in CAPABILITIES {
        world.step(format!("?8 glIsEnabled GL_{name}"));
    }
    for light in [0, 1, 7] {
        for (name, bytes) in OF_LIGHTS {
            world.step(format!("glGetLightfv GL_LIGHT{light} GL_{name} out:{bytes}"));
        }
    }
    for name in ["AMBIENT", "DIFFUSE", "SPECULAR", "EMISSION"] {
        world.step(format!("glGetMaterialfv GL_FRONT GL_{name} out:16"));
    }
    world.step("glGetMaterialfv GL_FRONT GL_SHININESS out:4");
    for plane in [0, 3] {
        world.step(format!("glGetClipPlanef GL_CLIP_PLANE{plane} out:16"));
    }
    for name in ["ARRAY_BUFFER_BINDING", "ELEMENT_ARRAY_BUFFER_BINDING"] {
        world.step(format!("glGetIntegerv GL_{name} name:b"));
    }
    of_arrays(world);
    for unit in 0..UNITS {
        world.step(format!("glActiveTexture GL_TEXTURE{unit}"));
        world.step(format!("glClientActiveTexture GL_TEXTURE{unit}"));
        for (name, bytes) in OF_UNITS {
            world.step(format!("glGetTexEnvfv GL_TEXTURE_ENV GL_{name} out:{bytes}"));
        }
        world.step("glGetTexEnviv GL_POINT_SPRITE_OES GL_COORD_REPLACE_OES out:4");
        world.step("glGetIntegerv GL_TEXTURE_BINDING_2D name:t");
        for name in ["MIN_FILTER", "MAG_FILTER", "WRAP_S", "WRAP_T"] {
            world.step(format!("glGetTexParameteriv GL_TEXTURE_2D GL_TEXTURE_{name} out:4"));
        }
        world.step("glGetTexParameteriv GL_TEXTURE_2D GL_GENERATE_MIPMAP out:4");
        world.step("glGetTexParameteriv GL_TEXTURE_2D GL_TEXTURE_CROP_RECT_OES out:16");
        world.step("glGetFloatv GL_CURRENT_TEXTURE_COORDS out:16");
        world.step("?8 glIsEnabled GL_TEXTURE_2D");
        world.step("?8 glIsEnabled GL_TEXTURE_COORD_ARRAY");
        world.step("glGetIntegerv GL_TEXTURE_COORD_ARRAY_BUFFER_BINDING name:b");
    }
    (world.context().unit, world.context().client_unit) = (UNITS - 1, UNITS - 1);
    world.step("? glGetError");
    of_stacks(world);
}

/// Asks for the state that OpenGL has, too: what `fits`.
pub fn ask_in_opengl(world: &mut World, fits: impl Fn(&str) -> bool) {
    for (name, bytes) in QUESTIONS.iter().filter(|(name, _)| fits(name)) {
        world.step(format!("glGetFloatv GL_{name} out:{bytes}"));
    }
    for name in CAPABILITIES.iter().filter(|name| fits(name)) {
        world.step(format!("?8 glIsEnabled GL_{name}"));
    }
    for light in [0, 1, 7] {
        for (name, bytes) in OF_LIGHTS {
            world.step(format!("glGetLightfv GL_LIGHT{light} GL_{name} out:{bytes}"));
        }
    }
    let unit = world.here().unit;
    for unit in 0..UNITS {
        world.step(format!("glActiveTexture GL_TEXTURE{unit}"));
        for (name, bytes) in OF_UNITS {
            world.step(format!("glGetTexEnvfv GL_TEXTURE_ENV GL_{name} out:{bytes}"));
        }
    }
    world.step(format!("glActiveTexture GL_TEXTURE{unit}"));
    world.step("? glGetError");
}

fn of_arrays(world: &mut World) {
    for name in ["VERTEX", "COLOR", "NORMAL", "TEXTURE_COORD", "POINT_SIZE"] {
        let suffix = if name == "POINT_SIZE" { "_OES" } else { "" };
        world.step(format!("?8 glIsEnabled GL_{name}_ARRAY{suffix}"));
        for what in ["TYPE", "STRIDE"] {
            world.step(format!("glGetIntegerv GL_{name}_ARRAY_{what}{suffix} out:4"));
        }
        world.step(format!("glGetIntegerv GL_{name}_ARRAY_BUFFER_BINDING{suffix} name:b"));
    }
    for name in ["VERTEX", "COLOR", "TEXTURE_COORD"] {
        world.step(format!("glGetIntegerv GL_{name}_ARRAY_SIZE out:4"));
    }
}

/// Asks for each matrix of the stacks, from the top to the bottom.
fn of_stacks(world: &mut World) {
    for name in ["MODELVIEW", "PROJECTION", "TEXTURE"] {
        world.step(format!("glMatrixMode GL_{name}"));
        for _ in 0..4 {
            world.step("glPopMatrix");
            world.step("? glGetError");
            world.step(format!("glGetFloatv GL_{name}_MATRIX out:64"));
        }
    }
}

/// Shows the state by draws with the context's arrays, and with one of the ending's own.
pub fn show(world: &mut World) {
    if may_draw(world) {
        world.step("glDrawArrays GL_TRIANGLES 0 9");
        world.step("? glGetError");
    }
    read(world);
    world.step("glBindBuffer GL_ARRAY_BUFFER 0");
    for (name, ..) in ARRAYS {
        world.step(format!("glDisableClientState GL_{name}"));
    }
    world.step("glVertexPointer 3 GL_SHORT 0 bytes:64:7");
    world.step("glEnableClientState GL_VERTEX_ARRAY");
    for mode in ["GL_TRIANGLES", "GL_POINTS"] {
        world.step(format!("glDrawArrays {mode} 0 9"));
        world.step("? glGetError");
        read(world);
    }
    for texture in world.names().textures.clone() {
        world.step(format!("glBindTexture GL_TEXTURE_2D t{texture}"));
        world.step("glTexParameteriv GL_TEXTURE_2D GL_TEXTURE_CROP_RECT_OES ints:0,0,16,16");
        world.step("glEnable GL_TEXTURE_2D");
        world.step("glDrawTexiOES 0 0 0 16 16");
        world.step("? glGetError");
        world.step("glReadPixels 0 0 16 16 GL_RGBA GL_UNSIGNED_BYTE out:1024");
    }
}

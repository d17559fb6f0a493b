//! What only OpenGL has: state of every profile and of the compatibility profile, immediate mode, display lists, pixels at
//! the raster position, and textures of one dimension and of rectangles.

use std::collections::BTreeMap;

use crate::search::generate::es1;
use crate::search::world::{Api, World};

const CAPABILITIES: &[&str] = &[
    "COLOR_LOGIC_OP",
    "DEPTH_CLAMP",
    "FRAMEBUFFER_SRGB",
    "LINE_SMOOTH",
    "MULTISAMPLE",
    "POLYGON_OFFSET_LINE",
    "POLYGON_OFFSET_POINT",
    "POLYGON_SMOOTH",
    "PRIMITIVE_RESTART",
    "PROGRAM_POINT_SIZE",
    "SAMPLE_ALPHA_TO_ONE",
    "TEXTURE_CUBE_MAP_SEAMLESS",
];

const VALUES: &[&str] = &[
    "glClampColor GL_CLAMP_READ_COLOR 0",
    "glClampColor GL_CLAMP_READ_COLOR 1",
    "glClearDepth 0.5d",
    "glClipControl GL_LOWER_LEFT GL_NEGATIVE_ONE_TO_ONE",
    "glClipControl GL_UPPER_LEFT GL_ZERO_TO_ONE",
    "glDepthRange 0.25d 0.75d",
    "glDepthRangeArrayv 0 2 doubles:0.125,0.75,0.25,0.5",
    "glDepthRangeIndexed 1 0.25d 0.5d",
    "glHint GL_LINE_SMOOTH_HINT GL_NICEST",
    "glHint GL_POLYGON_SMOOTH_HINT GL_FASTEST",
    "glHint GL_TEXTURE_COMPRESSION_HINT GL_NICEST",
    "glLogicOp GL_COPY_INVERTED",
    "glLogicOp GL_XOR",
    "glPatchParameterfv GL_PATCH_DEFAULT_INNER_LEVEL floats:2,3",
    "glPatchParameterfv GL_PATCH_DEFAULT_OUTER_LEVEL floats:1,2,3,4",
    "glPointParameterf GL_POINT_FADE_THRESHOLD_SIZE 2f",
    "glPointParameteri GL_POINT_SPRITE_COORD_ORIGIN GL_LOWER_LEFT",
    "glPointSize 3f",
    "glPolygonMode GL_FRONT_AND_BACK GL_FILL",
    "glPolygonMode GL_FRONT_AND_BACK GL_LINE",
    "glPolygonMode GL_FRONT_AND_BACK GL_POINT",
    "glPrimitiveRestartIndex 255",
    "glPrimitiveRestartIndex 7",
    "glProvokingVertex GL_FIRST_VERTEX_CONVENTION",
    "glProvokingVertex GL_LAST_VERTEX_CONVENTION",
];

/// Numbers, with their bytes.
const QUESTIONS: &[(&str, u32)] = &[
    ("CLAMP_READ_COLOR", 4),
    ("CLIP_DEPTH_MODE", 4),
    ("CLIP_ORIGIN", 4),
    ("LINE_SMOOTH_HINT", 4),
    ("LOGIC_OP_MODE", 4),
    ("PATCH_DEFAULT_INNER_LEVEL", 8),
    ("PATCH_DEFAULT_OUTER_LEVEL", 16),
    ("POINT_FADE_THRESHOLD_SIZE", 4),
    ("POINT_SIZE", 4),
    ("POINT_SPRITE_COORD_ORIGIN", 4),
    ("POLYGON_SMOOTH_HINT", 4),
    ("PRIMITIVE_RESTART_INDEX", 4),
    ("PROVOKING_VERTEX", 4),
    ("TEXTURE_COMPRESSION_HINT", 4),
];

/// What the fixed functions of OpenGL have beside those of OpenGL ES 1.
const FIXED_VALUES: &[&str] = &[
    "glClearAccum 0.25f 0.5f 0.75f 1f",
    "glClearIndex 3f",
    "glClipPlane GL_CLIP_PLANE0 doubles:1,0,0,0.5",
    "glClipPlane GL_CLIP_PLANE3 doubles:0,1,0,0.5",
    "glColor3d 0.25d 0.5d 0.75d",
    "glColorMaterial GL_FRONT GL_DIFFUSE",
    "glColorMaterial GL_BACK GL_AMBIENT",
    "glEdgeFlag 0",
    "glEdgeFlag 1",
    "glFogCoordf 0.5f",
    "glFogi GL_FOG_COORDINATE_SOURCE GL_FOG_COORDINATE",
    "glFogi GL_FOG_COORDINATE_SOURCE GL_FRAGMENT_DEPTH",
    "glFrustum -1d 1d -1d 1d 0.5d 4d",
    "glIndexf 5f",
    "glLightModeli GL_LIGHT_MODEL_COLOR_CONTROL GL_SEPARATE_SPECULAR_COLOR",
    "glLightModeli GL_LIGHT_MODEL_LOCAL_VIEWER 1",
    "glLineStipple 3 0x5a5a",
    "glLoadMatrixd doubles:0.5,0,0,0,0,0.5,0,0,0,0,0.5,0,0.25,0,0,1",
    "glLoadTransposeMatrixf floats:0.5,0,0,0.125,0,0.5,0,0,0,0,0.5,0,0,0,0,1",
    "glMap1f GL_MAP1_COLOR_4 0f 1f 4 2 floats:0,0.25,0.5,1,1,0.5,0.25,1",
    "glMap1d GL_MAP1_VERTEX_3 0d 2d 3 2 doubles:-0.5,-0.5,0,0.5,0.5,0",
    "glMap2f GL_MAP2_VERTEX_3 0f 1f 3 2 0f 1f 6 2 floats:-0.5,-0.5,0,0.5,-0.5,0,-0.5,0.5,0,0.5,0.5,0",
    "glMapGrid1f 4 0f 1f",
    "glMapGrid2d 3 0d 1d 2 0d 2d",
    "glMaterialfv GL_BACK GL_DIFFUSE floats:0.25,0.75,0,1",
    "glMaterialf GL_FRONT GL_SHININESS 7f",
    "glMaterialiv GL_FRONT GL_COLOR_INDEXES ints:1,2,3",
    "glMultMatrixd doubles:1,0.25,0,0,-0.25,1,0,0,0,0,1,0,0.125,0,0,1",
    "glMultiTexCoord2d GL_TEXTURE0 0.25d 0.75d",
    "glOrtho -1d 1d -1d 1d -1d 1d",
    "glPixelMapfv GL_PIXEL_MAP_R_TO_R 4 floats:1,0.5,0.25,0",
    "glPixelMapfv GL_PIXEL_MAP_B_TO_B 2 floats:0.25,1",
    "glPixelMapuiv GL_PIXEL_MAP_I_TO_G 2 ints:0,0x7fffffff",
    "glPixelMapusv GL_PIXEL_MAP_A_TO_A 2 bytes:4:5",
    "glPixelTransferf GL_ALPHA_BIAS -0.125f",
    "glPixelTransferf GL_DEPTH_SCALE 0.5f",
    "glPixelTransferf GL_GREEN_BIAS 0.25f",
    "glPixelTransferf GL_RED_SCALE 0.5f",
    "glPixelTransferi GL_INDEX_OFFSET 2",
    "glPixelTransferi GL_INDEX_SHIFT 1",
    "glPixelTransferi GL_MAP_COLOR 0",
    "glPixelTransferi GL_MAP_COLOR 1",
    "glPixelTransferi GL_MAP_STENCIL 1",
    "glPixelZoom 2f -1.5f",
    "glPixelZoom 1f 1f",
    "glPolygonMode GL_FRONT GL_LINE",
    "glPolygonMode GL_BACK GL_POINT",
    "glPolygonStipple bytes:1024:9",
    "glRasterPos2f 0.25f -0.5f",
    "glRotated 30d 0d 0d 1d",
    "glSecondaryColor3f 0.25f 0.5f 0.75f",
    "glTexCoord3f 0.25f 0.5f 0.75f",
    "glTexEnvi GL_POINT_SPRITE GL_COORD_REPLACE 1",
    "glTexEnvf GL_TEXTURE_FILTER_CONTROL GL_TEXTURE_LOD_BIAS 0.5f",
    "glTexGeni GL_S GL_TEXTURE_GEN_MODE GL_OBJECT_LINEAR",
    "glTexGeni GL_T GL_TEXTURE_GEN_MODE GL_EYE_LINEAR",
    "glTexGenfv GL_S GL_OBJECT_PLANE floats:0.5,0.25,0,0.125",
    "glTexGendv GL_T GL_EYE_PLANE doubles:0,0.5,0.25,0",
    "glWindowPos2i 5 6",
    "glWindowPos3d 1d 2d 0.5d",
];

const FIXED_CAPABILITIES: &[&str] = &[
    "AUTO_NORMAL",
    "COLOR_SUM",
    "INDEX_LOGIC_OP",
    "LINE_STIPPLE",
    "MAP1_COLOR_4",
    "MAP1_VERTEX_3",
    "MAP2_VERTEX_3",
    "POINT_SPRITE",
    "POLYGON_STIPPLE",
    "TEXTURE_1D",
    "TEXTURE_CUBE_MAP",
    "TEXTURE_3D",
    "TEXTURE_GEN_S",
    "TEXTURE_GEN_T",
    "VERTEX_PROGRAM_POINT_SIZE",
    "VERTEX_PROGRAM_TWO_SIDE",
];

/// Groups of attributes whose state the model does not follow.
const GROUPS: &[&str] = &[
    "ACCUM_BUFFER",
    "CURRENT",
    "DEPTH_BUFFER",
    "ENABLE",
    "EVAL",
    "FOG",
    "HINT",
    "LIGHTING",
    "LINE",
    "LIST",
    "MULTISAMPLE",
    "POINT",
    "POLYGON",
    "POLYGON_STIPPLE",
    "SCISSOR",
    "STENCIL_BUFFER",
    "TRANSFORM",
    "VIEWPORT",
];
/// Entries of the stack of attributes at most.
const SAVED_MAX: usize = 6;

/// Numbers of the fixed functions, with their bytes.
const FIXED_QUESTIONS: &[(&str, u32)] = &[
    ("ATTRIB_STACK_DEPTH", 4),
    ("ACCUM_CLEAR_VALUE", 16),
    ("ALPHA_BIAS", 4),
    ("COLOR_MATERIAL_FACE", 4),
    ("COLOR_MATERIAL_PARAMETER", 4),
    ("CURRENT_FOG_COORDINATE", 4),
    ("CURRENT_INDEX", 4),
    ("CURRENT_RASTER_COLOR", 16),
    ("CURRENT_RASTER_POSITION", 16),
    ("CURRENT_RASTER_POSITION_VALID", 4),
    ("CURRENT_RASTER_TEXTURE_COORDS", 16),
    ("CURRENT_SECONDARY_COLOR", 16),
    ("DEPTH_SCALE", 4),
    ("EDGE_FLAG", 4),
    ("FOG_COORDINATE_SOURCE", 4),
    ("GREEN_BIAS", 4),
    ("INDEX_CLEAR_VALUE", 4),
    ("INDEX_OFFSET", 4),
    ("INDEX_SHIFT", 4),
    ("LIGHT_MODEL_COLOR_CONTROL", 4),
    ("LIGHT_MODEL_LOCAL_VIEWER", 4),
    ("LINE_STIPPLE_PATTERN", 4),
    ("LINE_STIPPLE_REPEAT", 4),
    ("LIST_BASE", 4),
    ("MAP1_GRID_DOMAIN", 8),
    ("MAP1_GRID_SEGMENTS", 4),
    ("MAP2_GRID_DOMAIN", 16),
    ("MAP2_GRID_SEGMENTS", 8),
    ("MAP_COLOR", 4),
    ("MAP_STENCIL", 4),
    ("POLYGON_MODE", 8),
    ("RED_SCALE", 4),
    ("ZOOM_X", 4),
    ("ZOOM_Y", 4),
];

fn is_desktop(world: &World) -> bool {
    world.api() != Api::Es
}

fn has_fixed(world: &World) -> bool {
    world.api() == Api::Compatibility
}

/// Sets a value that every profile has.
pub fn value(world: &mut World) -> bool {
    if !is_desktop(world) {
        return false;
    }
    let step = world.one_of(VALUES);
    world.step(step);
    true
}

pub fn capability(world: &mut World) -> bool {
    if !is_desktop(world) {
        return false;
    }
    let name = match has_fixed(world) && world.chance(60) {
        true => world.one_of(FIXED_CAPABILITIES),
        false => world.one_of(CAPABILITIES),
    };
    let command = if world.chance(50) { "glEnable" } else { "glDisable" };
    world.step(format!("{command} GL_{name}"));
    true
}

/// Steps of OpenGL ES 1 that OpenGL has.
fn is_in_opengl(step: &str) -> bool {
    let command = step.split(' ').next().unwrap_or_default();
    let is_fixed_point =
        command.ends_with("xv") || command.ends_with('x') && !command.ends_with("Matrix");
    let others = ["glClipPlanef", "glOrthof", "glFrustumf"];
    !is_fixed_point && !step.contains("OES") && !others.contains(&command)
}

/// Sets a value of the fixed functions.
pub fn fixed_value(world: &mut World) -> bool {
    if !has_fixed(world) {
        return false;
    }
    if world.chance(50) {
        return own_fixed_value(world);
    }
    es1::value_that(world, is_in_opengl)
}

/// Sets a value that OpenGL ES 1 does not have.
fn own_fixed_value(world: &mut World) -> bool {
    let step = world.one_of(FIXED_VALUES);
    if step.starts_with("glPixelTransfer") && !world.transfers_pixels {
        return false;
    }
    world.step(step);
    true
}

/// Enables or disables one of the fixed functions.
pub fn fixed_capability(world: &mut World) -> bool {
    has_fixed(world) && es1::capability_that(world, is_in_opengl)
}

/// Saves or restores groups of attributes.
pub fn save(world: &mut World) -> bool {
    let saved = world.here().saved;
    if !has_fixed(world) || saved == SAVED_MAX {
        return false;
    }
    if saved > 0 && world.chance(45) {
        restore(world);
        return true;
    }
    let groups: Vec<String> =
        (0..1 + world.below(4)).map(|_| format!("GL_{}_BIT", world.one_of(GROUPS))).collect();
    world.step(format!("glPushAttrib {}", groups.join("|")));
    world.context().saved += 1;
    true
}

fn restore(world: &mut World) {
    es1::ask_for_material(world);
    world.step("glPopAttrib");
    world.context().saved -= 1;
}

/// Draws between glBegin and glEnd, if draws have a defined result.
pub fn immediate(world: &mut World) -> bool {
    if has_fixed(world) && !world.is_feeding_back() && world.chance(50) {
        world.step("glUseProgram 0");
        world.context().program = None;
    }
    if !may_begin(world) {
        return false;
    }
    vertices(world, false);
    world.drawn();
    world.step("? glGetError");
    world.step("glReadPixels 0 0 8 8 GL_RGBA GL_UNSIGNED_BYTE out:4096");
    true
}

/// Whether glBegin is accepted, in the default framebuffer: what vertices do after a refused one is undefined.
fn may_begin(world: &World) -> bool {
    let context = world.here();
    let program = context.program.and_then(|program| world.programs.get(program));
    has_fixed(world)
        && context.framebuffer.is_none()
        && !context.has_no_surface
        && context.pipeline.is_none()
        && program.is_none_or(|program| program.links == 1)
        && !world.is_feeding_back()
        && !world.may_use_freed_shaders()
        && world.may_draw_immediately()
}

/// The commands from glBegin to glEnd.
///
/// In a list, all attributes that change are set before the first vertex, and get no more values later: Mesa 22.3 gives vertices
/// before the change what was set when a list was compiled last, or garbage.
fn vertices(world: &mut World, is_compiled: bool) {
    let mode =
        world.one_of(&["TRIANGLES", "QUADS", "POLYGON", "LINE_LOOP", "POINTS", "QUAD_STRIP"]);
    world.step(format!("glBegin GL_{mode}"));
    let mut set = BTreeMap::new();
    for _ in 0..if is_compiled { world.below(5) } else { 0 } {
        let step = any_attribute(world);
        let (family, values) = family(&step);
        let most = set.entry(family.to_owned()).or_insert(values);
        *most = values.max(*most);
        world.step(step);
    }
    for _ in 0..3 + world.below(4) {
        let step = any_attribute(world);
        let (family, values) = family(&step);
        if !is_compiled || set.get(family).is_some_and(|most| values <= *most) {
            world.step(step);
        }
        let [x, y] = [(); 2].map(|()| world.one_of(&["-0.5f", "0f", "0.25f", "0.75f"]));
        if world.chance(75) {
            world.step(format!("glVertex2f {x} {y}"));
        } else {
            let step = of_family(world, "glVertex", (2, 4), &["s", "i", "f", "d"]);
            world.step(step);
        }
    }
    world.step("glEnd");
}

/// The commands of an attribute without the number and the type of its values, and the number; 0 if the name has none.
fn family(step: &str) -> (&str, u32) {
    let end = step.find(|letter: char| letter.is_ascii_digit() || letter == ' ');
    let (family, rest) = step.split_at(end.expect("arguments"));
    (family, rest.chars().next().and_then(|number| number.to_digit(10)).unwrap_or(0))
}

fn any_attribute(world: &mut World) -> String {
    if world.chance(50) {
        return attribute(world);
    }
    let step = world.one_of(&[
        "glColor4f 0.25f 0.75f 0.5f 1f",
        "glColor3ub 255 64 128",
        "glNormal3f 0f 0.5f 0.75f",
        "glTexCoord2f 0.25f 0.5f",
        "glMultiTexCoord3f GL_TEXTURE1 0.5f 0.25f 0.75f",
        "glEdgeFlag 0",
        "glFogCoordf 0.25f",
        "glMaterialfv GL_FRONT_AND_BACK GL_DIFFUSE floats:0.5,0.25,1,1",
        "glSecondaryColor3f 0.5f 0.25f 0f",
        "glVertexAttrib4f 2 0.25f 0.5f 0.75f 1f",
    ]);
    step.to_owned()
}

/// A command of an attribute of vertices, in one of its forms.
fn attribute(world: &mut World) -> String {
    let signed = ["s", "i", "f", "d"];
    match world.below(6) {
        0 => {
            let types = ["b", "s", "i", "f", "d", "ub", "us", "ui"];
            of_family(world, "glColor", (3, 4), &types)
        }
        1 => of_family(world, "glSecondaryColor", (3, 3), &["b", "s", "i", "f", "d", "ub", "us"]),
        2 => of_family(world, "glTexCoord", (1, 4), &signed),
        3 => of_family(world, "glMultiTexCoord", (1, 4), &signed),
        4 => of_family(world, "glNormal", (3, 3), &["b", "s", "i", "f", "d"]),
        _ => of_family(world, "glVertexAttrib", (1, 4), &["s", "f", "d"]),
    }
}

/// A command of a family: a number of values from `least` to `most`, their type, and whether an array has them.
fn of_family(
    world: &mut World,
    family: &str,
    (least, most): (usize, usize),
    types: &[&'static str],
) -> String {
    let (count, kind) = (least + world.below(most - least + 1), world.one_of(types));
    let first = match family {
        "glMultiTexCoord" => "GL_TEXTURE1 ",
        "glVertexAttrib" => "2 ",
        _ => "",
    };
    let values: Vec<&str> = (0..count).map(|_| world.one_of(&["0", "1", "0.5", "0.25"])).collect();
    let is_real = matches!(kind, "f" | "d");
    if !world.chance(50) {
        let suffix = if is_real { kind } else { "" };
        let whole =
            |value: &&str| if is_real { (*value).to_owned() } else { value[..1].to_owned() };
        let values: Vec<String> =
            values.iter().map(|it| format!("{}{suffix}", whole(it))).collect();
        return format!("{family}{count}{kind} {first}{}", values.join(" "));
    }
    let array = match kind {
        "f" => format!("floats:{}", values.join(",")),
        "d" => format!("doubles:{}", values.join(",")),
        _ => format!("bytes:{}:{}", 4 * count, world.seed()),
    };
    format!("{family}{count}{kind}v {first}{array}")
}

/// Compiles, calls or deletes a display list.
pub fn list(world: &mut World) -> bool {
    if !has_fixed(world) {
        return false;
    }
    let all = world.names().lists.clone();
    match world.some_of(&all) {
        Some(list) if world.chance(12) => {
            world.step(format!("glDeleteLists d{list} 1"));
            world.group().lists.retain(|named| *named != list);
            true
        }
        Some(list) if world.chance(50) => {
            if !may_begin(world) {
                return false;
            }
            call(world, list);
            world.drawn();
            world.step("? glGetError");
            world.step("glReadPixels 0 0 8 8 GL_RGBA GL_UNSIGNED_BYTE out:4096");
            true
        }
        other => {
            let list = other.filter(|_| world.chance(30)).unwrap_or_else(|| {
                let list = world.count('d');
                world.step(format!("d{list}= glGenLists 1"));
                world.group().lists.push(list);
                list
            });
            compile(world, list, &all)
        }
    }
}

fn call(world: &mut World, list: usize) {
    let way = world.below(4);
    world.step(match way {
        0 => format!("glCallLists 1 GL_UNSIGNED_INT ints:d{list}"),
        _ => format!("glCallList d{list}"),
    });
}

/// Compiles a list, which may call others.
fn compile(world: &mut World, list: usize, others: &[usize]) -> bool {
    let executes = world.chance(30) && may_begin(world);
    let mode = if executes { "GL_COMPILE_AND_EXECUTE" } else { "GL_COMPILE" };
    world.step(format!("glNewList d{list} {mode}"));
    for _ in 0..1 + world.below(5) {
        match world.below(6) {
            0 => vertices(world, true),
            1 if world.chance(50) => match world.some_of(others).filter(|other| *other < list) {
                // Lists of lower numbers do not call those of higher ones.
                Some(other) => world.step(format!("glCallList d{other}")),
                None => world.step("glShadeModel GL_FLAT"),
            },
            2 => {
                let step = world.one_of(VALUES);
                world.step(step);
            }
            3 => _ = es1::value_that(world, |step| is_in_opengl(step) && is_compiled(step)),
            _ => _ = own_fixed_value(world),
        }
    }
    world.step("glEndList");
    world.step("? glGetError");
    true
}

/// Whether a list has the command, and it changes nothing that the model knows.
fn is_compiled(step: &str) -> bool {
    let others = ["Active", "PixelStore", "glFlush", "glTexParameter"];
    !others.iter().any(|other| step.contains(other))
}

/// Draws pixels at the raster position.
pub fn pixels(world: &mut World) -> bool {
    if !may_begin(world) || world.here().buffers.contains_key("GL_PIXEL_UNPACK_BUFFER") {
        return false;
    }
    let seed = world.seed();
    let step = match world.below(3) {
        0 => format!("glBitmap 8 7 1f 0f 3f 2f bytes:4096:{seed}"),
        1 => format!("glDrawPixels 5 4 GL_RGBA GL_UNSIGNED_BYTE bytes:16384:{seed}"),
        _ => "glCopyPixels 1 2 6 5 GL_COLOR".to_owned(),
    };
    world.step(step);
    world.drawn();
    world.step("? glGetError");
    world.step("glReadPixels 0 0 8 8 GL_RGBA GL_UNSIGNED_BYTE out:4096");
    true
}

/// Textures that only OpenGL has: the target, the commands that define them, and the pixels.
const LINES: &[(&str, &str, u32)] = &[
    ("GL_TEXTURE_1D", "glTexImage1D GL_TEXTURE_1D 0 FORMAT 16 0", 16),
    ("GL_TEXTURE_1D_ARRAY", "glTexImage2D GL_TEXTURE_1D_ARRAY 0 FORMAT 16 3 0", 48),
    ("GL_TEXTURE_RECTANGLE", "glTexImage2D GL_TEXTURE_RECTANGLE 0 FORMAT 9 7 0", 63),
];

/// Makes or deletes a texture of one dimension or of a rectangle.
pub fn lines(world: &mut World) -> bool {
    if !is_desktop(world) || world.here().buffers.contains_key("GL_PIXEL_UNPACK_BUFFER") {
        return false;
    }
    let all = world.names().lines.clone();
    if let Some((texture, _, _)) = world.some_of(&all).filter(|_| world.chance(25)) {
        world.step(format!("glDeleteTextures 1 ints:t{texture}"));
        world.group().lines.retain(|(named, ..)| *named != texture);
        return true;
    }
    let (target, define, pixels) = world.one_of(LINES);
    let (texture, seed) = (world.count('t'), world.seed());
    world.step(format!("glGenTextures 1 new:t{texture}"));
    world.step(format!("glBindTexture {target} t{texture}"));
    let format = world.one_of(&["GL_RGBA8", "GL_R8", "GL_RGBA16F", "GL_SRGB8_ALPHA8"]);
    let define = define.replace("FORMAT", format);
    // The parameters of unpacking may skip much.
    world.step(format!("{define} GL_RGBA GL_UNSIGNED_BYTE bytes:16384:{seed}"));
    if target == "GL_TEXTURE_1D" && world.chance(40) {
        world.step(format!(
            "glTexSubImage1D GL_TEXTURE_1D 0 3 5 GL_RGBA GL_UNSIGNED_BYTE bytes:4096:{seed}"
        ));
    }
    if world.chance(50) {
        world.step(format!("glTexParameteri {target} GL_TEXTURE_MAG_FILTER GL_NEAREST"));
    }
    if world.chance(30) {
        world.step(format!("glTexParameteri {target} GL_TEXTURE_SWIZZLE_R GL_GREEN"));
    }
    world.group().lines.push((texture, target, pixels));
    true
}

/// Asks for what this has set in the context.
pub fn ask(world: &mut World) {
    if !is_desktop(world) {
        return;
    }
    for (name, bytes) in QUESTIONS {
        world.step(format!("glGetFloatv GL_{name} out:{bytes}"));
    }
    for name in CAPABILITIES {
        world.step(format!("?8 glIsEnabled GL_{name}"));
    }
    world.step("? glGetError");
    if !has_fixed(world) {
        return;
    }
    ask_for_fixed(world);
    if world.here().saved > 0 {
        while world.here().saved > 0 {
            restore(world);
        }
        ask_for_fixed(world);
    }
}

fn ask_for_fixed(world: &mut World) {
    for (name, bytes) in FIXED_QUESTIONS {
        world.step(format!("glGetFloatv GL_{name} out:{bytes}"));
    }
    for name in FIXED_CAPABILITIES {
        world.step(format!("?8 glIsEnabled GL_{name}"));
    }
    for face in ["FRONT", "BACK"] {
        for (name, bytes) in [("DIFFUSE", 16), ("AMBIENT", 16), ("SHININESS", 4)] {
            world.step(format!("glGetMaterialfv GL_{face} GL_{name} out:{bytes}"));
        }
    }
    for (target, bytes) in [("MAP1_COLOR_4", 32), ("MAP1_VERTEX_3", 24), ("MAP2_VERTEX_3", 48)] {
        world.step(format!("glGetMapfv GL_{target} GL_COEFF out:{bytes}"));
    }
    for (coordinate, plane) in [("S", "OBJECT"), ("T", "EYE")] {
        world.step(format!("glGetTexGeniv GL_{coordinate} GL_TEXTURE_GEN_MODE out:4"));
        world.step(format!("glGetTexGenfv GL_{coordinate} GL_{plane}_PLANE out:16"));
    }
    for (map, bytes) in [("R_TO_R", 16), ("B_TO_B", 8), ("A_TO_A", 8)] {
        world.step(format!("glGetPixelMapfv GL_PIXEL_MAP_{map} out:{bytes}"));
    }
    world.step("? glGetError");
    es1::ask_in_opengl(world, is_in_opengl);
}

/// Reads pixels as they are.
pub fn transfer_plainly(world: &mut World) {
    if !has_fixed(world) {
        return;
    }
    for name in ["MAP_COLOR", "MAP_STENCIL", "INDEX_SHIFT", "INDEX_OFFSET"] {
        world.step(format!("glPixelTransferi GL_{name} 0"));
    }
    for (name, value) in
        [("RED_SCALE", 1), ("GREEN_BIAS", 0), ("ALPHA_BIAS", 0), ("DEPTH_SCALE", 1)]
    {
        world.step(format!("glPixelTransferf GL_{name} {value}f"));
    }
}

/// State that would keep a draw from being seen.
pub fn draw_plainly(world: &mut World) {
    if is_desktop(world) {
        for name in ["COLOR_LOGIC_OP", "FRAMEBUFFER_SRGB", "PRIMITIVE_RESTART"] {
            world.step(format!("glDisable GL_{name}"));
        }
        world.step("glPolygonMode GL_FRONT_AND_BACK GL_FILL");
    }
    if has_fixed(world) {
        for name in ["ALPHA_TEST", "CLIP_PLANE0", "CLIP_PLANE3", "FOG", "POLYGON_STIPPLE"] {
            world.step(format!("glDisable GL_{name}"));
        }
    }
}

/// Reads the textures of a group, and calls its lists.
pub fn read_group(world: &mut World) {
    if !is_desktop(world) {
        return;
    }
    for (texture, target, pixels) in world.names().lines.clone() {
        world.step(format!("glBindTexture {target} t{texture}"));
        for name in ["MAG_FILTER", "SWIZZLE_R"] {
            world.step(format!("glGetTexParameteriv {target} GL_TEXTURE_{name} out:4"));
        }
        let bytes = 4 * pixels;
        world.step(format!("glGetTexImage {target} 0 GL_RGBA GL_UNSIGNED_BYTE out:{bytes}"));
        world.step("? glGetError");
    }
    if !has_fixed(world) {
        return;
    }
    world.step("glBindFramebuffer GL_FRAMEBUFFER 0");
    world.step("glUseProgram 0");
    world.step("glBindProgramPipeline 0");
    let context = world.context();
    (context.framebuffer, context.program, context.pipeline) = (None, None, None);
    // A replay compares the gaps between rows, too, which only other parameters of packing leave.
    world.step("glGetPolygonStipple out:128");
    for list in world.names().lists.clone() {
        world.step(format!("?8 glIsList d{list}"));
        if !may_begin(world) {
            continue;
        }
        world.step("glClear GL_COLOR_BUFFER_BIT");
        world.step(format!("glCallList d{list}"));
        world.step("? glGetError");
        world.step("glReadPixels 0 0 16 16 GL_RGBA GL_UNSIGNED_BYTE out:1024");
    }
    for name in ["CURRENT_COLOR", "FOG_DENSITY", "POINT_SIZE", "CURRENT_RASTER_POSITION"] {
        world.step(format!("glGetFloatv GL_{name} out:16"));
    }
    world.step("? glGetError");
}

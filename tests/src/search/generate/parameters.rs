//! Parameters of textures, samplers and framebuffers, and image units.
//!
//! Every parameter of a kind is set equally often, mostly to other values than its initial one.

use crate::search::generate::textures::FORMATS;
use crate::search::world::World;

/// A parameter of textures: its name without prefix, values, the version that has it, and whether samplers have it, too.
type Parameter = (&'static str, &'static [&'static str], (u8, u8), bool);

/// Values with an `f` are floating-point numbers; those with a comma are arrays of them.
const PARAMETERS: &[Parameter] = &[
    ("MIN_FILTER", &["GL_NEAREST", "GL_LINEAR", "GL_NEAREST_MIPMAP_NEAREST"], (2, 0), true),
    ("MAG_FILTER", &["GL_NEAREST", "GL_NEAREST", "GL_LINEAR"], (2, 0), true),
    ("WRAP_S", &["GL_REPEAT", "GL_CLAMP_TO_EDGE", "GL_MIRRORED_REPEAT"], (2, 0), true),
    ("WRAP_T", &["GL_REPEAT", "GL_CLAMP_TO_EDGE", "GL_MIRRORED_REPEAT"], (2, 0), true),
    ("WRAP_R", &["GL_REPEAT", "GL_CLAMP_TO_EDGE", "GL_MIRRORED_REPEAT"], (3, 0), true),
    ("WRAP_S", &["GL_CLAMP_TO_BORDER"], (3, 2), true),
    ("MIN_LOD", &["-1f", "0f", "1f"], (3, 0), true),
    ("MAX_LOD", &["0f", "1f", "7f"], (3, 0), true),
    ("COMPARE_MODE", &["GL_NONE", "GL_COMPARE_REF_TO_TEXTURE"], (3, 0), true),
    ("COMPARE_FUNC", &["GL_LEQUAL", "GL_GREATER", "GL_ALWAYS"], (3, 0), true),
    ("BORDER_COLOR", &["1,0.5,0.25,1", "0,1,0,0.5", "0,0,0,0"], (3, 2), true),
    ("BASE_LEVEL", &["0", "1"], (3, 0), false),
    ("MAX_LEVEL", &["0", "1", "1000"], (3, 0), false),
    ("SWIZZLE_R", &["GL_RED", "GL_GREEN", "GL_ONE"], (3, 0), false),
    ("SWIZZLE_G", &["GL_GREEN", "GL_BLUE", "GL_ZERO"], (3, 0), false),
    ("SWIZZLE_B", &["GL_BLUE", "GL_RED", "GL_ONE"], (3, 0), false),
    ("SWIZZLE_A", &["GL_ALPHA", "GL_RED", "GL_ONE"], (3, 0), false),
];

/// Parameters of framebuffers without attachments, with values.
const OF_FRAMEBUFFERS: &[(&str, &[&str], (u8, u8))] = &[
    ("WIDTH", &["8", "16", "0"], (3, 1)),
    ("HEIGHT", &["8", "24", "0"], (3, 1)),
    ("SAMPLES", &["4", "0"], (3, 1)),
    ("FIXED_SAMPLE_LOCATIONS", &["1", "0"], (3, 1)),
    ("LAYERS", &["2", "0"], (3, 2)),
];

/// The object whose parameter is set.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Texture,
    /// A texture whose base level stays.
    SettledTexture,
    Sampler,
}

/// Sets a parameter: of the texture that is bound to a target, or of a sampler. Returns name and value.
///
fn set(world: &mut World, of: Of, whose: &str) -> (&'static str, &'static str) {
    let (version, of_samplers) = (world.version(), of == Of::Sampler);
    let fits = |it: &&Parameter| {
        let is_left_out = of == Of::SettledTexture && it.0 == "BASE_LEVEL";
        version >= it.2 && (it.3 || !of_samplers) && !is_left_out
    };
    let known: Vec<Parameter> = PARAMETERS.iter().filter(fits).copied().collect();
    let (name, values, ..) = world.one_of(&known);
    let (value, kind) = (world.one_of(values), if of_samplers { "Sampler" } else { "Tex" });
    // The runner replaces names of constants in lists, too.
    let is_list = world.chance(15);
    world.step(match value {
        _ if value.contains(',') => {
            format!("gl{kind}Parameterfv {whose} GL_TEXTURE_{name} floats:{value}")
        }
        _ if value.ends_with('f') => {
            format!("gl{kind}Parameterf {whose} GL_TEXTURE_{name} {value}")
        }
        _ if is_list => format!("gl{kind}Parameteriv {whose} GL_TEXTURE_{name} ints:{value}"),
        _ => format!("gl{kind}Parameteri {whose} GL_TEXTURE_{name} {value}"),
    });
    (name, value)
}

pub fn texture(world: &mut World) -> bool {
    let unit = world.here().unit;
    let bound = world.here().textures[unit].keys().copied();
    let targets: Vec<&str> = bound.filter(|target| *target != "GL_TEXTURE_BUFFER").collect();
    let Some(target) = world.some_of(&targets) else { return false };
    let texture = world.here().textures[unit][target];
    let format = FORMATS.get(world.textures[texture].format);
    if world.textures[texture].is_integer && world.version() >= (3, 2) && world.chance(30) {
        let kind = world.one_of(&["Iiv", "Iuiv"]);
        world.step(format!(
            "glTexParameter{kind} {target} GL_TEXTURE_BORDER_COLOR ints:1,0x7fffffff,0,2"
        ));
        return true;
    }
    // Mesa 22.3 samples a depth texture as luminance instead of red if its base level was changed after it had got its images,
    // and no query tells.
    let is_depth = format.is_some_and(|format| format.read.is_none());
    // A level below the base level is no complete attachment (OpenGL ES 3.2, 9.4.1). In Mesa 22.3 the framebuffer stays
    // complete, but other images than that level are blitted from it.
    let is_settled = is_depth || world.is_attached(texture);
    let set = set(world, if is_settled { Of::SettledTexture } else { Of::Texture }, target);
    if let ("BASE_LEVEL", Ok(level)) = (set.0, set.1.parse()) {
        world.textures[texture].base_level = level;
    }
    true
}

/// Sets parameters of a sampler: several of one that is made for it.
pub fn sampler(world: &mut World) -> bool {
    if world.version() < (3, 0) {
        return false;
    }
    let all = world.names().samplers.clone();
    let (sampler, count) = match world.some_of(&all) {
        Some(sampler) if !world.chance(30) => (sampler, 1),
        _ => {
            let sampler = world.count('m');
            world.step(format!("glGenSamplers 1 new:m{sampler}"));
            world.group().samplers.push(sampler);
            (sampler, 1 + world.below(4))
        }
    };
    (0..count).for_each(|_| _ = set(world, Of::Sampler, &format!("m{sampler}")));
    true
}

pub fn framebuffer(world: &mut World) -> bool {
    let version = world.version();
    let known: Vec<_> =
        OF_FRAMEBUFFERS.iter().filter(|(.., since)| version >= *since).copied().collect();
    if world.here().framebuffer.is_none() {
        return false;
    }
    let Some((name, values, _)) = world.some_of(&known) else { return false };
    let value = world.one_of(values);
    world.step(format!(
        "glFramebufferParameteri GL_FRAMEBUFFER GL_FRAMEBUFFER_DEFAULT_{name} {value}"
    ));
    true
}

/// Binds a level of an immutable texture to an image unit, or unbinds the unit.
pub fn image_unit(world: &mut World) -> bool {
    if world.version() < (3, 1) {
        return false;
    }
    let fits = |texture: &&usize| {
        let it = &world.textures[**texture];
        it.is_immutable && it.format == 0
    };
    let all: Vec<usize> = world.names().textures.iter().filter(fits).copied().collect();
    let Some(texture) = world.some_of(&all) else { return false };
    let (unit, level) = (world.below(2), world.below(world.textures[texture].levels as usize));
    let whose = if world.chance(15) { "0".to_owned() } else { format!("t{texture}") };
    let (layered, layer) = (world.below(2), world.below(2));
    let access = world.one_of(&["GL_READ_ONLY", "GL_WRITE_ONLY", "GL_READ_WRITE"]);
    let format = world.one_of(&["GL_RGBA8", "GL_R32UI", "GL_RGBA8UI"]);
    world.step(format!(
        "glBindImageTexture {unit} {whose} {level} {layered} {layer} {access} {format}"
    ));
    true
}

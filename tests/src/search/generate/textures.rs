//! Textures, their views and EGL images, texture buffers, and samplers.

use crate::search::generate::buffers::with_storage;
use crate::search::generate::contexts::bind_framebuffer_again;
use crate::search::generate::es1::MAKES_MIPMAPS;
use crate::search::world::{Api, Image, Texture, UNITS, World};

/// Formats of texels: sized format, format, type, bytes.
pub struct Format {
    pub sized: &'static str,
    pub format: &'static str,
    pub kind: &'static str,
    pub bytes: u32,
    /// Format and type in which `glReadPixels` reads it; `None` for depth.
    pub read: Option<(&'static str, &'static str)>,
    /// It may be filtered, and so have its mipmaps made.
    pub is_filtered: bool,
}

impl Format {
    /// Its texels are integers, which shaders for other values neither read nor write.
    fn is_integer(&self) -> bool {
        self.format.ends_with("_INTEGER")
    }
}

const COLOUR: Option<(&str, &str)> = Some(("GL_RGBA", "GL_UNSIGNED_BYTE"));

pub const FORMATS: &[Format] = &[
    Format {
        sized: "GL_RGBA8",
        format: "GL_RGBA",
        kind: "GL_UNSIGNED_BYTE",
        bytes: 4,
        read: COLOUR,
        is_filtered: true,
    },
    Format {
        sized: "GL_R8",
        format: "GL_RED",
        kind: "GL_UNSIGNED_BYTE",
        bytes: 1,
        read: COLOUR,
        is_filtered: true,
    },
    Format {
        sized: "GL_RG8",
        format: "GL_RG",
        kind: "GL_UNSIGNED_BYTE",
        bytes: 2,
        read: COLOUR,
        is_filtered: true,
    },
    Format {
        sized: "GL_RGB565",
        format: "GL_RGB",
        kind: "GL_UNSIGNED_SHORT_5_6_5",
        bytes: 2,
        read: COLOUR,
        is_filtered: true,
    },
    Format {
        sized: "GL_RGBA4",
        format: "GL_RGBA",
        kind: "GL_UNSIGNED_SHORT_4_4_4_4",
        bytes: 2,
        read: COLOUR,
        is_filtered: true,
    },
    Format {
        sized: "GL_RGBA32UI",
        format: "GL_RGBA_INTEGER",
        kind: "GL_UNSIGNED_INT",
        bytes: 16,
        read: Some(("GL_RGBA_INTEGER", "GL_UNSIGNED_INT")),
        is_filtered: false,
    },
    Format {
        sized: "GL_SRGB8_ALPHA8",
        format: "GL_RGBA",
        kind: "GL_UNSIGNED_BYTE",
        bytes: 4,
        read: COLOUR,
        is_filtered: true,
    },
    Format {
        sized: "GL_RGB10_A2",
        format: "GL_RGBA",
        kind: "GL_UNSIGNED_INT_2_10_10_10_REV",
        bytes: 4,
        read: Some(("GL_RGBA", "GL_UNSIGNED_INT_2_10_10_10_REV")),
        is_filtered: true,
    },
    Format {
        sized: "GL_RGBA8I",
        format: "GL_RGBA_INTEGER",
        kind: "GL_BYTE",
        bytes: 4,
        read: Some(("GL_RGBA_INTEGER", "GL_INT")),
        is_filtered: false,
    },
    Format {
        sized: "GL_R32UI",
        format: "GL_RED_INTEGER",
        kind: "GL_UNSIGNED_INT",
        bytes: 4,
        read: Some(("GL_RGBA_INTEGER", "GL_UNSIGNED_INT")),
        is_filtered: false,
    },
    Format {
        sized: "GL_DEPTH_COMPONENT24",
        format: "GL_DEPTH_COMPONENT",
        kind: "GL_UNSIGNED_INT",
        bytes: 4,
        read: None,
        is_filtered: false,
    },
    Format {
        sized: "GL_DEPTH_COMPONENT16",
        format: "GL_DEPTH_COMPONENT",
        kind: "GL_UNSIGNED_SHORT",
        bytes: 2,
        read: None,
        is_filtered: false,
    },
];
/// The number of a format that is not in the list: not uploaded.
pub const UNKNOWN: usize = FORMATS.len();

pub const TARGETS: &[(&str, (u8, u8))] = &[
    ("GL_TEXTURE_2D", (1, 0)),
    ("GL_TEXTURE_2D", (1, 0)),
    ("GL_TEXTURE_2D", (1, 0)),
    ("GL_TEXTURE_CUBE_MAP", (2, 0)),
    ("GL_TEXTURE_2D_ARRAY", (3, 0)),
    ("GL_TEXTURE_3D", (3, 0)),
    ("GL_TEXTURE_CUBE_MAP_ARRAY", (3, 2)),
];

pub fn new_texture(target: &'static str, storage: usize) -> Texture {
    Texture {
        target,
        format: UNKNOWN,
        size: (0, 0, 0),
        levels: 0,
        is_immutable: false,
        storage,
        is_integer: false,
        is_of_image: false,
        has_mipmaps: false,
        has_unfit_levels: false,
        base_level: 0,
        first_attached: 0,
        is_inner_view: false,
        is_compressed: false,
    }
}

/// A texture without images that is bound to its target of the active unit.
pub fn new_bound(world: &mut World, target: &'static str) -> usize {
    let texture = add(world, target);
    world.step(format!("glGenTextures 1 new:t{texture}"));
    bind_to_unit(world, texture);
    texture
}

/// Adds a texture with a name to the group.
fn add(world: &mut World, target: &'static str) -> usize {
    let texture = world.count('t');
    world.textures.resize(texture + 1, new_texture(target, 0));
    let storage = world.count('#');
    world.textures[texture] = new_texture(target, storage);
    world.group().textures.push(texture);
    texture
}

fn bind_to_unit(world: &mut World, texture: usize) {
    let target = world.textures[texture].target;
    world.step(format!("glBindTexture {target} t{texture}"));
    let unit = world.here().unit;
    world.context().textures[unit].insert(target, texture);
}

pub fn make(world: &mut World) -> bool {
    let version = world.version();
    let known: Vec<_> =
        TARGETS.iter().filter(|(_, since)| version >= *since).map(|(name, _)| *name).collect();
    let target = world.one_of(&known);
    let texture = add(world, target);
    if world.chance(15) && world.api() != Api::Core {
        let name = {
            let group = world.group();
            group.chosen_names -= 1;
            group.chosen_names
        };
        world.step(format!("@name t{texture} {name}"));
    } else {
        world.step(format!("glGenTextures 1 new:t{texture}"));
    }
    bind_to_unit(world, texture);
    if world.chance(90) {
        define(world, texture);
    }
    if world.chance(80) {
        world.step(format!("glTexParameteri {target} GL_TEXTURE_MIN_FILTER GL_NEAREST"));
        world.step(format!("glTexParameteri {target} GL_TEXTURE_MAG_FILTER GL_NEAREST"));
    }
    true
}

pub fn bind(world: &mut World) -> bool {
    if world.chance(40) {
        let unit = world.below(UNITS);
        world.step(format!("glActiveTexture GL_TEXTURE{unit}"));
        world.context().unit = unit;
        if world.chance(40) {
            return true;
        }
    }
    let all = world.names().textures.clone();
    let Some(texture) = world.some_of(&all) else { return false };
    if world.chance(10) {
        let target = world.textures[texture].target;
        world.step(format!("glBindTexture {target} 0"));
        let unit = world.here().unit;
        world.context().textures[unit].remove(target);
        return true;
    }
    bind_to_unit(world, texture);
    true
}

/// A texture of the active unit.
fn bound(world: &mut World, fits: impl Fn(&Texture) -> bool) -> Option<usize> {
    let unit = world.here().unit;
    let all: Vec<usize> = world.here().textures[unit]
        .values()
        .copied()
        .filter(|texture| fits(&world.textures[*texture]))
        .collect();
    world.some_of(&all)
}

pub fn faces(target: &str) -> &'static [&'static str] {
    match target {
        "GL_TEXTURE_CUBE_MAP" => &[
            "GL_TEXTURE_CUBE_MAP_POSITIVE_X",
            "GL_TEXTURE_CUBE_MAP_NEGATIVE_X",
            "GL_TEXTURE_CUBE_MAP_POSITIVE_Y",
            "GL_TEXTURE_CUBE_MAP_NEGATIVE_Y",
            "GL_TEXTURE_CUBE_MAP_POSITIVE_Z",
            "GL_TEXTURE_CUBE_MAP_NEGATIVE_Z",
        ],
        "GL_TEXTURE_2D" => &["GL_TEXTURE_2D"],
        "GL_TEXTURE_3D" => &["GL_TEXTURE_3D"],
        "GL_TEXTURE_CUBE_MAP_ARRAY" => &["GL_TEXTURE_CUBE_MAP_ARRAY"],
        _ => &["GL_TEXTURE_2D_ARRAY"],
    }
}

fn is_layered(target: &str) -> bool {
    matches!(target, "GL_TEXTURE_2D_ARRAY" | "GL_TEXTURE_3D" | "GL_TEXTURE_CUBE_MAP_ARRAY")
}

/// Bytes of an upload with the default or any other unpack parameters that programs set: more than enough.
fn upload_bytes(size: (u32, u32, u32), bytes: u32) -> u32 {
    (size.0 * bytes + 64) * (size.1 + 4) * (size.2 + 2)
}

/// Gives a texture storage with data.
fn define(world: &mut World, texture: usize) {
    let target = world.textures[texture].target;
    // Contexts of OpenGL ES 2 have no sized formats of textures.
    let known = if world.version() < (3, 0) { 1 } else { FORMATS.len() };
    let mut format = if world.chance(50) { 0 } else { world.below(known) };
    if FORMATS[format].read.is_none() && target != "GL_TEXTURE_2D" {
        format = 0;
    }
    let side = world.one_of(&[16_u32, 16, 32]);
    let is_cube = target.starts_with("GL_TEXTURE_CUBE_MAP");
    let height = if is_cube { side } else { world.one_of(&[16_u32, 16, 32]) };
    let depth = match target {
        "GL_TEXTURE_CUBE_MAP_ARRAY" => 6,
        _ if is_layered(target) => 2 + world.below(3) as u32,
        _ => 1,
    };
    let size = (side, height, depth);
    let levels = world.one_of(&[1_u32, 1, 2]);
    let unpack = world.context().buffers.contains_key("GL_PIXEL_UNPACK_BUFFER");
    debug_assert!(!unpack, "no program binds an unpack buffer");
    if world.textures[texture].is_immutable {
        return upload(world, texture);
    }
    let Texture { format: former, size: former_size, storage, is_of_image, .. } =
        world.textures[texture];
    // A texture that is defined again shares nothing with EGL images of it (EGL_KHR_image_base). In Mesa 22.3 it does if it has
    // the same size and format.
    let is_same = (former, former_size) == (format, size);
    if is_same && world.images.iter().any(|image| image.source.storage == storage) {
        return upload(world, texture);
    }
    // Storage has undefined contents (OpenGL ES 3.2, 8.18), and Mesa 22.3 samples those of images that the texture had before.
    let is_new = former == UNKNOWN && !is_of_image;
    let is_named = world.names().textures.contains(&texture);
    let is_immutable = world.version() >= (3, 0) && is_new && is_named && world.chance(50);
    let it = &FORMATS[format];
    if is_immutable {
        allocate(world, it, target, size, levels);
        // Mesa 22.3 goes on to sample what it took in place of the texture without storage, until something else changes, as by
        // the beginning of a capture.
        world.step(format!("glBindTexture {target} 0"));
        world.step(format!("glBindTexture {target} t{texture}"));
    } else {
        define_images(world, it, target, size, levels);
    }
    // Defining storage leaves views and images with the old one.
    let storage = world.count('#');
    let is_integer = it.is_integer();
    let known = &mut world.textures[texture];
    *known = Texture {
        format,
        size,
        levels,
        is_immutable,
        is_integer,
        has_mipmaps: levels > 1 || known.has_mipmaps,
        has_unfit_levels: known.has_mipmaps,
        base_level: known.base_level,
        // A level below the base level is no complete attachment (OpenGL ES 3.2, 9.4.1). Mesa 22.3 takes it as one, and the order
        // in which the levels got their images decides what it shows.
        first_attached: if is_immutable { 0 } else { known.base_level },
        ..new_texture(target, storage)
    };
    if is_immutable {
        fill(world, texture);
    }
}

/// Gives the bound texture immutable storage.
fn allocate(
    world: &mut World,
    it: &Format,
    target: &str,
    (side, height, depth): (u32, u32, u32),
    levels: u32,
) {
    match is_layered(target) {
        true => world
            .step(format!("glTexStorage3D {target} {levels} {} {side} {height} {depth}", it.sized)),
        false => {
            world.step(format!("glTexStorage2D {target} {levels} {} {side} {height}", it.sized))
        }
    }
}

/// Gives the bound texture images with data, level by level.
fn define_images(
    world: &mut World,
    it: &Format,
    target: &str,
    (side, height, depth): (u32, u32, u32),
    levels: u32,
) {
    let inner = if world.version() < (3, 0) { it.format } else { it.sized };
    for level in 0..levels {
        let (w, h) = ((side >> level).max(1), (height >> level).max(1));
        let d = if target == "GL_TEXTURE_3D" { (depth >> level).max(1) } else { depth };
        for face in faces(target) {
            let seed = world.seed();
            let length = upload_bytes((w, h, d), it.bytes);
            match is_layered(target) {
                true => world.step(format!(
                    "glTexImage3D {face} {level} {inner} {w} {h} {d} 0 {} {} bytes:{length}:{seed}",
                    it.format, it.kind
                )),
                false => world.step(format!(
                    "glTexImage2D {face} {level} {inner} {w} {h} 0 {} {} bytes:{length}:{seed}",
                    it.format, it.kind
                )),
            }
        }
    }
}

/// Gives all of an immutable texture contents: new storage has undefined ones (OpenGL ES 3.2, 8.18).
fn fill(world: &mut World, texture: usize) {
    let Texture { target, format, size, levels, .. } = world.textures[texture].clone();
    let it = &FORMATS[format];
    for level in 0..levels {
        let (w, h) = ((size.0 >> level).max(1), (size.1 >> level).max(1));
        let d = if target == "GL_TEXTURE_3D" { (size.2 >> level).max(1) } else { size.2 };
        for face in faces(target) {
            let (seed, length) = (world.seed(), upload_bytes((w, h, d), it.bytes));
            let (place, extent) = match is_layered(target) {
                true => ("3D", format!("0 0 0 {w} {h} {d}")),
                false => ("2D", format!("0 0 {w} {h}")),
            };
            world.step(format!(
                "glTexSubImage{place} {face} {level} {extent} {} {} bytes:{length}:{seed}",
                it.format, it.kind
            ));
        }
    }
}

/// Changes part of a level.
fn upload(world: &mut World, texture: usize) {
    let Texture { target, format, size, levels, .. } = world.textures[texture].clone();
    let Some(it) = FORMATS.get(format) else { return };
    let level = world.below(levels as usize) as u32;
    let (w, h) = ((size.0 >> level).max(1), (size.1 >> level).max(1));
    let (width, height) = (w.min(1 + world.below(8) as u32), h.min(1 + world.below(8) as u32));
    let (x, y) = (w - width, world.below((h - height + 1) as usize) as u32);
    let (seed, length) = (world.seed(), upload_bytes((width, height, 1), it.bytes));
    let faces = faces(target);
    let face = world.one_of(faces);
    match is_layered(target) {
        true => {
            let layers = if target == "GL_TEXTURE_3D" { (size.2 >> level).max(1) } else { size.2 };
            let layer = world.below(layers as usize);
            world.step(format!(
                "glTexSubImage3D {face} {level} {x} {y} {layer} {width} {height} 1 {} {} bytes:{length}:{seed}",
                it.format, it.kind
            ));
        }
        false => world.step(format!(
            "glTexSubImage2D {face} {level} {x} {y} {width} {height} {} {} bytes:{length}:{seed}",
            it.format, it.kind
        )),
    }
}

pub fn store(world: &mut World) -> bool {
    let Some(texture) = bound(world, |texture| texture.target != "GL_TEXTURE_BUFFER") else {
        return false;
    };
    define(world, texture);
    true
}

pub fn change(world: &mut World) -> bool {
    let Some(texture) = bound(world, |texture| texture.format < UNKNOWN && texture.levels > 0)
    else {
        return false;
    };
    upload(world, texture);
    true
}

pub fn mipmaps(world: &mut World) -> bool {
    // No specification says whether a texture of an EGL image is still one afterwards. In Mesa some commands use the
    // image, and others storage of the texture's own. If an image was made of the texture while it had level 0 alone, Mesa
    // gives the texture other storage than the image has.
    let sources = world.images.iter().map(|image| &image.source);
    let small: Vec<usize> =
        sources.filter(|it| !it.has_mipmaps && !it.is_immutable).map(|it| it.storage).collect();
    // Mesa 22.3 gives a level that is one texel deep storage of its own if it is defined before level 0 (guess_base_level_size),
    // as in a replay. If the texture was found incomplete before glGenerateMipmap, because it was attached or sampled, the level
    // stays there (st_finalize_texture), and framebuffers show what it was before.
    let has_flat_level = |texture: &Texture| {
        texture.target == "GL_TEXTURE_3D" && texture.size.2 < 4 && texture.levels > 1
    };
    let fits = |texture: &Texture| {
        let is_filtered = FORMATS.get(texture.format).is_some_and(|format| format.is_filtered);
        let has_one_storage = texture.is_immutable || !has_flat_level(texture);
        is_filtered && has_one_storage && !texture.is_of_image && !small.contains(&texture.storage)
    };
    let Some(texture) = bound(world, fits) else { return false };
    world.step(format!("glGenerateMipmap {}", world.textures[texture].target));
    world.textures[texture].has_mipmaps = true;
    bind_framebuffer_again(world);
    true
}

pub fn delete(world: &mut World) -> bool {
    let all = world.names().textures.clone();
    let Some(texture) = world.some_of(&all) else { return false };
    world.step(format!("glDeleteTextures 1 ints:t{texture}"));
    world.group().textures.retain(|named| *named != texture);
    world.unbind_texture(texture);
    if world.chance(50) {
        return make(world);
    }
    true
}

pub fn buffer_texture(world: &mut World) -> bool {
    if world.version() < (3, 2) || world.is_feeding_back() {
        return false;
    }
    let buffer = with_storage(world, 256);
    let target = "GL_TEXTURE_BUFFER";
    let texture = add(world, target);
    world.step(format!("glGenTextures 1 new:t{texture}"));
    bind_to_unit(world, texture);
    match world.chance(50) {
        true => world.step(format!("glTexBuffer {target} GL_RGBA8 b{buffer}")),
        false => world.step(format!("glTexBufferRange {target} GL_RGBA8 b{buffer} 0 64")),
    }
    if world.chance(50) {
        world.step(format!("glBindBuffer {target} b{buffer}"));
        world.context().buffers.insert(target, buffer);
    }
    if world.chance(30) {
        world.step(format!("glDeleteBuffers 1 ints:b{buffer}"));
        world.group().buffers.retain(|named| *named != buffer);
        world.buffers[buffer].mapping = None;
        world.unbind_buffer(buffer);
    }
    true
}

pub fn view(world: &mut World) -> bool {
    if world.version() < (3, 2) {
        return false;
    }
    let fits = |texture: &&usize| {
        let it = &world.textures[**texture];
        it.is_immutable && it.format == 0 && it.target == "GL_TEXTURE_2D_ARRAY"
            || it.is_immutable && it.target == "GL_TEXTURE_2D"
    };
    let all: Vec<usize> = world.names().textures.iter().filter(fits).copied().collect();
    let Some(of) = world.some_of(&all) else { return false };
    let source = world.textures[of].clone();
    let Some(format) = FORMATS.get(source.format) else { return false };
    let level = world.below(source.levels as usize) as u32;
    let layer = world.below(source.size.2 as usize);
    let texture = add(world, "GL_TEXTURE_2D");
    world.step(format!("glGenTextures 1 new:t{texture}"));
    let command = world.one_of(&["glTextureViewEXT", "glTextureViewOES"]);
    world.step(format!(
        "{command} t{texture} GL_TEXTURE_2D t{of} {} {level} {} {layer} 1",
        format.sized,
        source.levels - level
    ));
    let size = ((source.size.0 >> level).max(1), (source.size.1 >> level).max(1), 1);
    let is_inner_view = source.is_inner_view || (level, layer) != (0, 0);
    world.textures[texture] = Texture {
        size,
        levels: source.levels - level,
        target: "GL_TEXTURE_2D",
        base_level: 0,
        is_inner_view,
        ..source
    };
    bind_to_unit(world, texture);
    true
}

pub fn make_image(world: &mut World) -> bool {
    if world.here().is_destroyed {
        return false;
    }
    let fits = |texture: &&usize| {
        let it = &world.textures[**texture];
        // Mesa gives levels that are defined one after the other storages of their own until a draw needs them, and an
        // image of such a texture shares nothing with it.
        let is_whole = it.levels == 1 || it.is_immutable;
        // An incomplete texture may have no level besides level 0 (EGL_KHR_gl_image: EGL_BAD_PARAMETER). Mesa does not refuse it, and
        // makes images of other memory than that of level 0.
        // Mesa 22.3 makes the image of such a view of the first image of its texture.
        let is_shown = !it.has_unfit_levels && !it.is_inner_view;
        it.target == "GL_TEXTURE_2D" && it.format == 0 && is_whole && is_shown
    };
    let all: Vec<usize> = world.names().textures.iter().filter(fits).copied().collect();
    let Some(texture) = world.some_of(&all) else { return false };
    let (image, context) = (world.count('i'), world.at() + 1);
    world.step(format!(
        "i{image}= eglCreateImageKHR display c{context} EGL_GL_TEXTURE_2D_KHR t{texture} ints:EGL_GL_TEXTURE_LEVEL_KHR,0,EGL_NONE"
    ));
    world.step("glFinish");
    let source = world.textures[texture].clone();
    world.images.push(Image { source });
    true
}

pub fn use_image(world: &mut World) -> bool {
    let makes_mipmaps = world.steps.iter().any(|step| step.ends_with(MAKES_MIPMAPS));
    if world.images.is_empty() || makes_mipmaps {
        return false;
    }
    let at = world.below(world.images.len());
    let Image { source } = world.images[at].clone();
    let texture = match with_own_image(world).filter(|_| world.chance(25)) {
        Some(texture) => texture,
        None => {
            let texture = add(world, "GL_TEXTURE_2D");
            world.step(format!("glGenTextures 1 new:t{texture}"));
            texture
        }
    };
    bind_to_unit(world, texture);
    // GL_EXT_EGL_image_storage: immutable storage.
    let is_of_texture = source.format < UNKNOWN;
    let is_immutable = world.version() >= (3, 0) && is_of_texture && world.chance(25);
    match is_immutable {
        true => world.step(format!("glEGLImageTargetTexStorageEXT GL_TEXTURE_2D i{} 0", at + 1)),
        false => world.step(format!("glEGLImageTargetTexture2DOES GL_TEXTURE_2D i{}", at + 1)),
    }
    world.step("? glGetError");
    world.step("glTexParameteri GL_TEXTURE_2D GL_TEXTURE_MIN_FILTER GL_NEAREST");
    world.textures[texture] =
        Texture { levels: 1, is_immutable, is_of_image: true, base_level: 0, ..source };
    true
}

/// A texture with an image of its own, and no other, which the image of another one can replace.
fn with_own_image(world: &mut World) -> Option<usize> {
    let fits = |texture: &&usize| {
        let it = &world.textures[**texture];
        let is_single =
            it.levels == 1 && !it.is_immutable && !it.has_mipmaps && !it.has_unfit_levels;
        it.target == "GL_TEXTURE_2D" && is_single && !it.is_of_image
    };
    let all: Vec<usize> = world.names().textures.iter().filter(fits).copied().collect();
    world.some_of(&all)
}

pub fn destroy_image(world: &mut World) -> bool {
    if world.images.is_empty() || world.chance(50) {
        return false;
    }
    // The model keeps the image: a later use is refused.
    let at = 1 + world.below(world.images.len());
    world.step(format!("?8 eglDestroyImageKHR display i{at}"));
    world.step(format!("@name i{at} 0"));
    true
}

pub fn bind_sampler(world: &mut World) -> bool {
    let all = world.names().samplers.clone();
    let Some(sampler) = world.some_of(&all) else { return false };
    if world.version() < (3, 0) {
        return false;
    }
    let unit = world.below(UNITS);
    match world.chance(30) {
        true => world.step(format!("glBindSampler {unit} 0")),
        false => world.step(format!("glBindSampler {unit} m{sampler}")),
    }
    true
}

pub fn delete_sampler(world: &mut World) -> bool {
    let all = world.names().samplers.clone();
    let Some(sampler) = world.some_of(&all) else { return false };
    if world.version() < (3, 0) {
        return false;
    }
    world.step(format!("glDeleteSamplers 1 ints:m{sampler}"));
    world.group().samplers.retain(|named| *named != sampler);
    true
}

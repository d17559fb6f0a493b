//! Framebuffers, renderbuffers, clears.

use crate::search::generate::textures::{FORMATS, UNKNOWN, new_texture};
use crate::search::world::{Api, Attached, Framebuffer, Image, Renderbuffer, Texture, World};

const COLOURS: &[&str] = &["GL_COLOR_ATTACHMENT0", "GL_COLOR_ATTACHMENT0", "GL_COLOR_ATTACHMENT1"];

fn add(world: &mut World) -> usize {
    let framebuffer = world.count('f');
    world.framebuffers.resize(framebuffer + 1, Framebuffer::default());
    world.context().named_framebuffers.push(framebuffer);
    framebuffer
}

pub fn make(world: &mut World) -> bool {
    if world.is_feeding_back() {
        return false;
    }
    let framebuffer = add(world);
    world.step(format!("glGenFramebuffers 1 new:f{framebuffer}"));
    world.step(format!("glBindFramebuffer GL_FRAMEBUFFER f{framebuffer}"));
    world.context().framebuffer = Some(framebuffer);
    match world.chance(70) {
        true => attach_texture(world),
        false => attach_renderbuffer(world),
    };
    true
}

pub fn bind(world: &mut World) -> bool {
    let all = world.here().named_framebuffers.clone();
    match world.some_of(&all) {
        Some(framebuffer) if !world.chance(30) => {
            world.step(format!("glBindFramebuffer GL_FRAMEBUFFER f{framebuffer}"));
            world.context().framebuffer = Some(framebuffer);
        }
        _ => {
            world.step("glBindFramebuffer GL_FRAMEBUFFER 0");
            world.context().framebuffer = None;
        }
    }
    true
}

fn point(world: &mut World, format: usize) -> &'static str {
    match FORMATS.get(format).is_some_and(|format| format.read.is_none()) {
        true => "GL_DEPTH_ATTACHMENT",
        false if world.version() < (3, 0) => "GL_COLOR_ATTACHMENT0",
        false => world.one_of(COLOURS),
    }
}

/// The first level that makes a framebuffer complete.
fn first_level(texture: &Texture) -> u32 {
    match texture.is_immutable {
        true => 0,
        false => texture.first_attached.max(texture.base_level),
    }
}

pub fn attach_texture(world: &mut World) -> bool {
    let Some(framebuffer) = world.here().framebuffer else { return false };
    let fits = |texture: &&usize| {
        let it = &world.textures[**texture];
        it.format < UNKNOWN && it.levels > first_level(it)
    };
    let all: Vec<usize> = world.names().textures.iter().filter(fits).copied().collect();
    let Some(texture) = world.some_of(&all) else { return false };
    let it = world.textures[texture].clone();
    let point = point(world, it.format);
    // What a draw leaves in an image that is attached twice is undefined: OpenGL ES 3.2, 9.3.
    let held = &world.framebuffers[framebuffer].attachments;
    if held.iter().any(|(at, held)| *at != point && world.storage(*held) == it.storage) {
        return false;
    }
    let first = first_level(&it) as usize;
    let level = match world.version() < (3, 0) {
        true if first > 0 => return false,
        true => 0,
        false => first + world.below(it.levels as usize - first),
    };
    match it.target {
        "GL_TEXTURE_2D" => world.step(format!(
            "glFramebufferTexture2D GL_FRAMEBUFFER {point} GL_TEXTURE_2D t{texture} {level}"
        )),
        "GL_TEXTURE_CUBE_MAP" => {
            let face =
                world.one_of(&["GL_TEXTURE_CUBE_MAP_POSITIVE_X", "GL_TEXTURE_CUBE_MAP_NEGATIVE_Z"]);
            world.step(format!(
                "glFramebufferTexture2D GL_FRAMEBUFFER {point} {face} t{texture} {level}"
            ));
        }
        _ if world.version() >= (3, 2) && world.chance(20) => {
            world.step(format!("glFramebufferTexture GL_FRAMEBUFFER {point} t{texture} {level}"));
        }
        "GL_TEXTURE_3D" if world.chance(20) => {
            let layer = world.below(2);
            world.step(format!(
                "glFramebufferTexture3DOES GL_FRAMEBUFFER {point} GL_TEXTURE_3D t{texture} {level} {layer}"
            ));
        }
        _ => {
            let layer = world.below(2);
            world.step(format!(
                "glFramebufferTextureLayer GL_FRAMEBUFFER {point} t{texture} {level} {layer}"
            ));
        }
    }
    world.framebuffers[framebuffer].attachments.insert(point, Attached::Texture(texture));
    world.step("? glCheckFramebufferStatus GL_FRAMEBUFFER");
    true
}

pub fn renderbuffer(world: &mut World) -> bool {
    let renderbuffer = world.count('r');
    let storage = world.count('#');
    world.renderbuffers.resize(renderbuffer + 1, Renderbuffer { storage: 0, shape: None });
    world.renderbuffers[renderbuffer].storage = storage;
    world.step(format!("glGenRenderbuffers 1 new:r{renderbuffer}"));
    world.step(format!("glBindRenderbuffer GL_RENDERBUFFER r{renderbuffer}"));
    world.group().renderbuffers.push(renderbuffer);
    if world.chance(92) {
        let format = world.one_of(&[
            "GL_RGBA4",
            "GL_RGBA8",
            "GL_RGBA8",
            "GL_RGB565",
            "GL_DEPTH_COMPONENT16",
            "GL_STENCIL_INDEX8",
            "GL_DEPTH24_STENCIL8",
        ]);
        let side = world.one_of(&[8, 16]);
        world.step(format!("glRenderbufferStorage GL_RENDERBUFFER {format} {side} 8"));
        world.renderbuffers[renderbuffer].shape = Some((format, side));
        clear_new(world, renderbuffer, format);
    }
    true
}

/// Makes a renderbuffer of the storage of another one, through an EGL image, or gives the storage to one that has its own.
/// Either may lose its name.
pub fn share_renderbuffer(world: &mut World) -> bool {
    let fits = |it: &&usize| world.renderbuffers[**it].shape.is_some();
    let all: Vec<usize> = world.names().renderbuffers.iter().filter(fits).copied().collect();
    let Some(source) = world.some_of(&all).filter(|_| !world.here().is_destroyed) else {
        return false;
    };
    // Mesa does not check a framebuffer again if a renderbuffer that is attached gets another storage by an image.
    let may_be_bound = |it: &usize| {
        let attached = Attached::Renderbuffer(*it);
        let holds = |framebuffer: &Framebuffer| {
            framebuffer.attachments.values().any(|held| *held == attached)
        };
        world.renderbuffers[*it].shape == world.renderbuffers[source].shape
            || !world.framebuffers.iter().any(holds)
    };
    let others: Vec<usize> =
        all.into_iter().filter(|it| *it != source && may_be_bound(it)).collect();
    let other = world.some_of(&others).filter(|_| world.chance(30));
    let image = world.count('i');
    let (context, shared) = (world.at() + 1, world.renderbuffers[source].clone());
    world.step(format!(
        "i{image}= eglCreateImageKHR display c{context} EGL_GL_RENDERBUFFER_KHR r{source} ints:EGL_NONE"
    ));
    world.step("glFinish");
    let renderbuffer = other.unwrap_or_else(|| {
        let new = world.count('r');
        world.step(format!("glGenRenderbuffers 1 new:r{new}"));
        world.renderbuffers.resize(new + 1, shared.clone());
        world.group().renderbuffers.push(new);
        new
    });
    world.step(format!("glBindRenderbuffer GL_RENDERBUFFER r{renderbuffer}"));
    world.step(format!("glEGLImageTargetRenderbufferStorageOES GL_RENDERBUFFER i{image}"));
    world.step("? glGetError");
    world.renderbuffers[renderbuffer] = shared;
    // The images of textures are numbered, too.
    world.images.push(Image { source: new_texture("GL_TEXTURE_2D", 0) });
    if world.chance(50) {
        world.step(format!("?8 eglDestroyImageKHR display i{image}"));
        world.step(format!("@name i{image} 0"));
    }
    true
}

/// Clears a renderbuffer that was given storage, which has undefined contents (OpenGL ES 3.2, 9.2.4).
fn clear_new(world: &mut World, renderbuffer: usize, format: &str) {
    world.end_condition();
    let framebuffer = world.count('f');
    world.step(format!("glGenFramebuffers 1 new:f{framebuffer}"));
    world.step(format!("glBindFramebuffer GL_FRAMEBUFFER f{framebuffer}"));
    let points: &[&str] = match format {
        "GL_DEPTH_COMPONENT16" => &["DEPTH_ATTACHMENT"],
        "GL_STENCIL_INDEX8" => &["STENCIL_ATTACHMENT"],
        "GL_DEPTH24_STENCIL8" => &["DEPTH_ATTACHMENT", "STENCIL_ATTACHMENT"],
        _ => &["COLOR_ATTACHMENT0"],
    };
    for point in points {
        world.step(format!(
            "glFramebufferRenderbuffer GL_FRAMEBUFFER GL_{point} GL_RENDERBUFFER r{renderbuffer}"
        ));
    }
    world.step("glDisable GL_SCISSOR_TEST");
    if world.version() >= (3, 0) {
        world.step("glDisable GL_RASTERIZER_DISCARD");
    }
    for mask in ["glColorMask 1 1 1 1", "glDepthMask 1", "glStencilMask 0xff"] {
        world.step(mask);
    }
    world.step("glClear GL_COLOR_BUFFER_BIT|GL_DEPTH_BUFFER_BIT|GL_STENCIL_BUFFER_BIT");
    world.step(format!("glDeleteFramebuffers 1 ints:f{framebuffer}"));
    let bound = world.here().framebuffer.map_or("0".to_owned(), |bound| format!("f{bound}"));
    world.step(format!("glBindFramebuffer GL_FRAMEBUFFER {bound}"));
}

pub fn attach_renderbuffer(world: &mut World) -> bool {
    let Some(framebuffer) = world.here().framebuffer else { return false };
    let all = world.names().renderbuffers.clone();
    if all.is_empty() || world.chance(20) {
        renderbuffer(world);
    }
    let all = world.names().renderbuffers.clone();
    let Some(renderbuffer) = world.some_of(&all) else { return false };
    let mut points = vec!["GL_COLOR_ATTACHMENT0", "GL_DEPTH_ATTACHMENT", "GL_STENCIL_ATTACHMENT"];
    if world.version() >= (3, 0) {
        points.push("GL_DEPTH_STENCIL_ATTACHMENT");
    }
    let point = world.one_of(&points);
    world.step(format!(
        "glFramebufferRenderbuffer GL_FRAMEBUFFER {point} GL_RENDERBUFFER r{renderbuffer}"
    ));
    let attached = Attached::Renderbuffer(renderbuffer);
    world.framebuffers[framebuffer].attachments.insert(point, attached);
    world.step("? glCheckFramebufferStatus GL_FRAMEBUFFER");
    true
}

pub fn delete(world: &mut World) -> bool {
    let all = world.here().named_framebuffers.clone();
    let Some(framebuffer) = world.some_of(&all) else { return false };
    world.step(format!("glDeleteFramebuffers 1 ints:f{framebuffer}"));
    let context = world.context();
    context.named_framebuffers.retain(|named| *named != framebuffer);
    if context.framebuffer == Some(framebuffer) {
        context.framebuffer = None;
    }
    true
}

pub fn delete_renderbuffer(world: &mut World) -> bool {
    let all = world.names().renderbuffers.clone();
    let Some(renderbuffer) = world.some_of(&all) else { return false };
    world.step(format!("glDeleteRenderbuffers 1 ints:r{renderbuffer}"));
    world.group().renderbuffers.retain(|named| *named != renderbuffer);
    world.detach(Attached::Renderbuffer(renderbuffer));
    true
}

pub fn buffers(world: &mut World) -> bool {
    if world.here().framebuffer.is_none() || world.version() < (3, 0) {
        return false;
    }
    let to = world.one_of(&[
        "glDrawBuffers 1 ints:GL_COLOR_ATTACHMENT0",
        "glDrawBuffers 1 ints:GL_NONE",
        "glDrawBuffers 2 ints:GL_COLOR_ATTACHMENT0,GL_COLOR_ATTACHMENT1",
        "glDrawBuffers 2 ints:GL_NONE,GL_COLOR_ATTACHMENT1",
        "glReadBuffer GL_COLOR_ATTACHMENT0",
        "glReadBuffer GL_COLOR_ATTACHMENT1",
        "glReadBuffer GL_NONE",
    ]);
    world.step(to);
    if let Some(framebuffer) = world.here().framebuffer.filter(|_| to.starts_with("glReadBuffer")) {
        world.framebuffers[framebuffer].reads_nothing = to.ends_with("GL_NONE");
    }
    if let Some(framebuffer) = world.here().framebuffer.filter(|_| to.starts_with("glDrawBuffers"))
    {
        world.framebuffers[framebuffer].has_second_buffer = to.ends_with("GL_COLOR_ATTACHMENT1");
    }
    true
}

/// Inverts the y axis of the bound framebuffer, or puts it back (GL_MESA_framebuffer_flip_y).
pub fn flip(world: &mut World) -> bool {
    if world.version() < (3, 0) || world.here().framebuffer.is_none() {
        return false;
    }
    let value = world.below(2);
    let command = match world.api() {
        Api::Es => "glFramebufferParameteriMESA",
        _ => "glFramebufferParameteri",
    };
    world.step(format!("{command} GL_FRAMEBUFFER GL_FRAMEBUFFER_FLIP_Y_MESA {value}"));
    true
}

/// Gives the bound framebuffer a read buffer if it has none: Mesa 22.3 crashes when it reads from no buffer.
pub fn settle_read_buffer(world: &mut World) {
    if let Some(framebuffer) = world.here().framebuffer
        && world.framebuffers[framebuffer].reads_nothing
    {
        world.step("glReadBuffer GL_COLOR_ATTACHMENT0");
        world.framebuffers[framebuffer].reads_nothing = false;
    }
}

/// Clears an image of integers at attachment 0, the only draw buffer, with numbers of its type.
fn clear_integers(world: &mut World) -> bool {
    let Some(framebuffer) = world.here().framebuffer.map(|at| &world.framebuffers[at]) else {
        return false;
    };
    let Some(attached) = framebuffer.attachments.get("GL_COLOR_ATTACHMENT0") else { return false };
    let storage = world.storage(*attached);
    let mut known = world.textures.iter().filter(|it| it.is_integer && it.storage == storage);
    let format = known.next().and_then(|it| FORMATS.get(it.format));
    let Some(format) = format.filter(|_| !framebuffer.has_second_buffer) else { return false };
    let kind = if format.sized.ends_with("UI") { "uiv" } else { "iv" };
    world.step(format!("glClearBuffer{kind} GL_COLOR 0 ints:1,2,3,{storage}"));
    true
}

pub fn clear(world: &mut World) -> bool {
    if world.draws_integers() {
        return clear_integers(world);
    }
    if world.version() >= (3, 0) && world.chance(20) {
        let step = world.one_of(&[
            "glClearBufferfi GL_DEPTH_STENCIL 0 0.25f 3",
            "glClearBufferfv GL_DEPTH 0 floats:0.75",
            "glClearBufferiv GL_STENCIL 0 ints:6",
        ]);
        world.step(step);
        return true;
    }
    let [r, g, b] = [(); 3].map(|()| world.one_of(&["0f", "0.25f", "0.5f", "1f"]));
    match world.below(4) {
        0 if world.version() >= (3, 0) => {
            world.step(format!("glClearBufferfv GL_COLOR 0 floats:{r},{g},{b},1"));
        }
        1 => world.step("glClear GL_DEPTH_BUFFER_BIT|GL_STENCIL_BUFFER_BIT"),
        _ => {
            world.step(format!("glClearColor {r} {g} {b} 1f"));
            world.step("glClear GL_COLOR_BUFFER_BIT|GL_DEPTH_BUFFER_BIT|GL_STENCIL_BUFFER_BIT");
        }
    }
    true
}

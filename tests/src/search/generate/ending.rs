//! Reads back everything that the program has, context by context.
//!
//! First come questions, which change nothing, then draws and reads, which need bindings of their own. What a name no
//! longer leads to is read through what holds it: a texture unit, a framebuffer, a vertex array, a binding point.

use crate::search::generate::buffers::{
    self, TARGETS as BUFFER_TARGETS, bind_blocks, unmap_command,
};
use crate::search::generate::contexts::make_current;
use crate::search::generate::desktop;
use crate::search::generate::es1;
use crate::search::generate::questions::{self, arrays, bind_array};
use crate::search::generate::samples;
use crate::search::generate::textures::{FORMATS, faces};
use crate::search::shaders::{SIMPLEST, WITH_BLOCK};
use crate::search::world::{ATTRIBUTES, Api, Texture, UNITS, World};

/// Pixels of each side of the canvas, into which draws show what nothing else reads.
const SIDE: u32 = 32;
const READ: &str = "glReadPixels 0 0 8 8 GL_RGBA GL_UNSIGNED_BYTE out:256";

pub fn read_everything(world: &mut World) {
    // The context of another thread keeps what it has done from the others until then (OpenGL ES 3.2, 5.3).
    world.step("glFinish");
    let mut groups = Vec::new();
    // A thread that has a destroyed context cannot get it again.
    let is_kept = |world: &World, at: usize| world.contexts[at].is_destroyed;
    for thread in 0..world.current.len() {
        if world.current[thread].is_some_and(|context| is_kept(world, context)) {
            world.thread = thread;
            read_context(world, &mut groups);
        }
    }
    world.thread = 0;
    for context in 0..world.contexts.len() {
        if !is_kept(world, context) {
            make_current(world, context);
            read_context(world, &mut groups);
        }
    }
}

/// Reads all that the thread's context has, and what its group has if it is not among `groups`.
fn read_context(world: &mut World, groups: &mut Vec<usize>) {
    world.step("? glGetError");
    if world.version() < (2, 0) {
        es1::ask(world);
        unmap(world);
        return es1::show(world);
    }
    finish_work(world);
    questions::of_context(world);
    put_pixels_in_order(world);
    let shown = Shown::make(world);
    read_held_buffers(world);
    unmap(world);
    if let Some(shown) = &shown {
        shown.units(world);
    }
    samples::read(world);
    read_framebuffers(world, shown.as_ref());
    read_default(world, shown.as_ref());
    draw_with_arrays(world);
    draw_with_pipelines(world);
    let group = world.here().group;
    if !groups.contains(&group) {
        groups.push(group);
        read_group(world, shown.as_ref());
    }
    world.step("? glGetError");
}

fn read(world: &mut World) {
    world.step(READ);
    world.step("? glGetError");
}

fn finish_work(world: &mut World) {
    if world.here().feedback_active {
        world.step("glEndTransformFeedback");
        world.context().feedback_active = false;
    }
    world.end_condition();
    if let Some((query, target)) = world.here().active_query {
        world.step(format!("glEndQuery {target}"));
        world.step(format!("glGetQueryObjectuiv q{query} GL_QUERY_RESULT out:4"));
    }
    if world.may_draw() && !world.may_use_freed_shaders() {
        world.step("glDrawArrays GL_TRIANGLES 0 6");
        world.drawn();
        world.step("? glGetError");
    }
}

/// Reads into client memory, row after row.
fn put_pixels_in_order(world: &mut World) {
    let names = [
        ("GL_UNPACK_ALIGNMENT", 4),
        ("GL_PACK_ALIGNMENT", 4),
        ("GL_PACK_SKIP_PIXELS", 0),
        ("GL_PACK_SKIP_ROWS", 0),
        ("GL_PACK_ROW_LENGTH", 0),
        ("GL_UNPACK_ROW_LENGTH", 0),
    ];
    let known = if world.version() >= (3, 0) { names.len() } else { 2 };
    for (name, value) in &names[..known] {
        world.step(format!("glPixelStorei {name} {value}"));
    }
    if world.version() >= (3, 0) {
        world.step("glBindBuffer GL_PIXEL_PACK_BUFFER 0");
        world.step("glBindBuffer GL_PIXEL_UNPACK_BUFFER 0");
    }
    desktop::transfer_plainly(world);
}

/// State that would keep a draw from being seen.
fn draw_plainly(world: &mut World) {
    for name in
        ["SCISSOR_TEST", "CULL_FACE", "DEPTH_TEST", "STENCIL_TEST", "BLEND", "SAMPLE_COVERAGE"]
    {
        world.step(format!("glDisable GL_{name}"));
    }
    world.step("glDisable GL_SAMPLE_ALPHA_TO_COVERAGE");
    desktop::draw_plainly(world);
    if world.version() >= (3, 0) {
        world.step("glDisable GL_RASTERIZER_DISCARD");
    }
    if world.version() >= (3, 1) {
        world.step("glDisable GL_SAMPLE_MASK");
    }
    world.step("glDepthRangef 0f 1f");
    world.step("glColorMask 1 1 1 1");
    world.step(format!("glViewport 0 0 {SIDE} {SIDE}"));
}

/// Contents of the buffers at the context's binding points, which may have lost their names.
fn read_held_buffers(world: &mut World) {
    if world.version() < (3, 0) {
        return;
    }
    let bound: Vec<(&'static str, usize)> =
        world.here().buffers.iter().map(|(target, buffer)| (*target, *buffer)).collect();
    for (target, buffer) in bound {
        let is_copied = BUFFER_TARGETS.iter().any(|(known, _)| *known == target)
            && target != "GL_COPY_WRITE_BUFFER";
        let size = world.buffers[buffer].size;
        if is_copied && size > 0 && !world.names().buffers.contains(&buffer) {
            world.step(format!("glUnmapBuffer {target}"));
            read_buffer(world, target, size);
        }
    }
}

/// Asks about the mappings of the group's buffers, and ends them: nothing else may read a buffer that is mapped.
fn unmap(world: &mut World) {
    for buffer in world.names().buffers.clone() {
        if world.buffers[buffer].mapping.is_none() {
            continue;
        }
        if world.version() < (3, 0) {
            world.step(format!("glBindBuffer GL_ARRAY_BUFFER b{buffer}"));
            world.step(format!("?8 {} GL_ARRAY_BUFFER", unmap_command(world)));
            world.buffers[buffer].mapping = None;
            continue;
        }
        world.step(format!("glBindBuffer GL_COPY_READ_BUFFER b{buffer}"));
        for name in ["MAPPED", "ACCESS_FLAGS"] {
            world
                .step(format!("glGetBufferParameteriv GL_COPY_READ_BUFFER GL_BUFFER_{name} out:4"));
        }
        for name in ["MAP_LENGTH", "MAP_OFFSET"] {
            world.step(format!(
                "glGetBufferParameteri64v GL_COPY_READ_BUFFER GL_BUFFER_{name} out:8"
            ));
        }
        world.step("glUnmapBuffer GL_COPY_READ_BUFFER");
        world.buffers[buffer].mapping = None;
    }
}

/// Reads a buffer through a copy, since its storage may not be mapped for reading.
fn read_buffer(world: &mut World, target: &str, size: usize) {
    let (copy, pointer) = (world.count('b'), world.count('p'));
    world.step(format!("glGenBuffers 1 new:b{copy}"));
    world.step(format!("glBindBuffer GL_COPY_WRITE_BUFFER b{copy}"));
    world.step(format!("glBufferData GL_COPY_WRITE_BUFFER {size} bytes:{size}:0 GL_STATIC_DRAW"));
    world.step(format!("glCopyBufferSubData {target} GL_COPY_WRITE_BUFFER 0 0 {size}"));
    world.step(format!(
        "p{pointer}= glMapBufferRange GL_COPY_WRITE_BUFFER 0 {size} GL_MAP_READ_BIT"
    ));
    world.step(format!("@read p{pointer} 0 {size}"));
    world.step("?8 glUnmapBuffer GL_COPY_WRITE_BUFFER");
    world.step("? glGetError");
}

/// The surface that the context draws to.
fn read_default(world: &mut World, shown: Option<&Shown>) {
    world.step("glBindFramebuffer GL_FRAMEBUFFER 0");
    if world.version() >= (3, 0) {
        world.step("glReadBuffer GL_BACK");
    }
    world.step(format!(
        "glReadPixels 0 0 {SIDE} {SIDE} GL_RGBA GL_UNSIGNED_BYTE out:{}",
        4 * SIDE * SIDE
    ));
    world.step("? glGetError");
    draw_plainly(world);
    if let Some(shown) = shown {
        world.step("glDrawBuffers 1 ints:GL_BACK");
        shown.depth_and_stencil(world);
    }
}

/// A program of the ending's own: shaders and locations of attributes.
fn new_program(world: &mut World, vertex: &str, fragment: &str, attributes: &[&str]) -> usize {
    let (first, second) = (world.count('h'), world.count('h'));
    let program = world.count('g');
    for (shader, kind, source) in
        [(first, "GL_VERTEX_SHADER", vertex), (second, "GL_FRAGMENT_SHADER", fragment)]
    {
        world.step(format!("h{shader}= glCreateShader {kind}"));
        world.step(format!("glShaderSource h{shader} 1 shader:{source} 0"));
        world.step(format!("glCompileShader h{shader}"));
    }
    world.step(format!("g{program}= glCreateProgram"));
    world.step(format!("glAttachShader g{program} h{first}"));
    world.step(format!("glAttachShader g{program} h{second}"));
    for (index, name) in attributes.iter().enumerate() {
        world.step(format!("glBindAttribLocation g{program} {index} text:{name}"));
    }
    world.step(format!("glLinkProgram g{program}"));
    program
}

/// Draws with each vertex array, with a program of its own.
fn draw_with_arrays(world: &mut World) {
    bind_blocks(world);
    let recipe = if world.version() >= (3, 0) { WITH_BLOCK } else { SIMPLEST };
    let [vertex, fragment] = [recipe.sources[0], recipe.sources[1]];
    let program = new_program(world, vertex, fragment, recipe.attributes);
    world.step(format!("glUseProgram g{program}"));
    let turn = world.count('u');
    if world.version() >= (3, 0) {
        world.step(format!("u{turn}= glGetUniformLocation g{program} text:turn[0]"));
        world.step(format!("glUniformMatrix2fv u{turn} 2 0 floats:1,0,0,1,1,0,0,1"));
    }
    world.context().program = Some(program);
    for array in arrays(world) {
        bind_array(world, array);
        world.context().framebuffer = None;
        if world.may_draw() {
            world.step("glClear GL_COLOR_BUFFER_BIT");
            match world.version() >= (3, 0) {
                true => world.step("glDrawArraysInstanced GL_TRIANGLES 0 9 2"),
                false => world.step("glDrawArrays GL_TRIANGLES 0 9"),
            }
            world.step("? glGetError");
            read(world);
            let elements = world.vertex_arrays[array].elements;
            if elements.is_some_and(|buffer| world.buffers[buffer].size >= 64) {
                world.step("glDrawElements GL_TRIANGLES 30 GL_UNSIGNED_BYTE 0");
                world.step("? glGetError");
                read(world);
            }
        }
    }
}

/// Draws with the stages of each pipeline, from the default vertex array's current values.
fn draw_with_pipelines(world: &mut World) {
    if world.here().pipelines.is_empty() {
        return;
    }
    world.step("glUseProgram 0");
    match world.api() {
        // Nothing is drawn with the default vertex array.
        Api::Core => {
            let array = world.count('v');
            world.step(format!("glGenVertexArrays 1 new:v{array}"));
            world.step(format!("glBindVertexArray v{array}"));
        }
        _ => world.step("glBindVertexArray 0"),
    }
    for index in 0..ATTRIBUTES {
        world.step(format!("glDisableVertexAttribArray {index}"));
    }
    let mut sampled = world.here().textures.iter().flat_map(|unit| unit.values());
    if sampled.any(|texture| world.textures[*texture].is_integer) {
        return;
    }
    for pipeline in world.here().pipelines.clone() {
        world.step(format!("glBindProgramPipeline l{pipeline}"));
        world.step("glClear GL_COLOR_BUFFER_BIT");
        world.step("glVertexAttrib4f 1 0.25f 0.5f 0.75f 1f");
        for (x, y) in [("0f", "0f"), ("0.25f", "0f"), ("0.125f", "0.25f")] {
            world.step(format!("glVertexAttrib4f 0 {x} {y} 0f 1f"));
            world.step("glDrawArrays GL_POINTS 0 1");
        }
        world.step("? glGetError");
        read(world);
        draw_primitives(world);
    }
}

/// Draws what the stages between vertices and fragments want, from memory of the program's own where it may.
fn draw_primitives(world: &mut World) {
    if world.version() < (3, 2) {
        return;
    }
    match world.api() {
        // Mesa 22.3 refuses such memory, and uses it nevertheless.
        Api::Core => {
            let numbers: Vec<u32> = (1..=16).map(|it: u32| it.wrapping_mul(0x9e37_79b9)).collect();
            buffers::with_numbers(world, "GL_ARRAY_BUFFER", &numbers);
            world.step("glVertexAttribPointer 0 4 GL_UNSIGNED_BYTE 1 0 0");
        }
        _ => {
            world.step("glBindBuffer GL_ARRAY_BUFFER 0");
            world.step("glVertexAttribPointer 0 4 GL_UNSIGNED_BYTE 1 0 bytes:64:7");
        }
    }
    world.step("glEnableVertexAttribArray 0");
    for mode in ["GL_TRIANGLES", "GL_PATCHES"] {
        world.step(format!("glDrawArrays {mode} 0 9"));
        world.step("? glGetError");
        read(world);
    }
    world.step("glDisableVertexAttribArray 0");
}

fn read_framebuffers(world: &mut World, shown: Option<&Shown>) {
    for framebuffer in world.here().named_framebuffers.clone() {
        world.step(format!("glBindFramebuffer GL_FRAMEBUFFER f{framebuffer}"));
        if world.version() < (3, 0) {
            read(world);
        } else {
            // It may be GL_NONE, from which nothing is read.
            world.step("glGetIntegerv GL_READ_BUFFER out:4");
            for buffer in 0..2 {
                world.step(format!("glReadBuffer GL_COLOR_ATTACHMENT{buffer}"));
                read(world);
            }
        }
        draw_plainly(world);
        match shown {
            Some(shown) if shows_depth(world, framebuffer) => {
                // The shaders have one output: a draw leaves undefined colors in other draw buffers (OpenGL ES 3.2, 15.2.1).
                world.step("glDrawBuffers 1 ints:GL_COLOR_ATTACHMENT0");
                shown.depth_and_stencil(world);
            }
            _ if world.has_integers(&world.framebuffers[framebuffer]) => {}
            _ => {
                world.step("glClear GL_COLOR_BUFFER_BIT");
                read(world);
            }
        }
    }
}

/// True if a framebuffer has depth or stencil, and floating-point colour to show them with.
fn shows_depth(world: &World, framebuffer: usize) -> bool {
    let attachments = &world.framebuffers[framebuffer].attachments;
    let Some(colour) = attachments.get("GL_COLOR_ATTACHMENT0") else { return false };
    let storage = world.storage(*colour);
    let mut textures = world.textures.iter().filter(|texture| texture.storage == storage);
    let is_plain =
        |texture: &Texture| FORMATS.get(texture.format).is_some_and(|format| format.is_filtered);
    attachments.len() > 1 && textures.all(is_plain)
}

/// Contents of the buffers, textures and renderbuffers of a group, and its programs.
fn read_group(world: &mut World, shown: Option<&Shown>) {
    if world.version() >= (3, 0) {
        for buffer in world.names().buffers.clone() {
            let size = world.buffers[buffer].size;
            world.step(format!("glBindBuffer GL_COPY_READ_BUFFER b{buffer}"));
            for name in ["SIZE", "USAGE"] {
                world.step(format!(
                    "glGetBufferParameteriv GL_COPY_READ_BUFFER GL_BUFFER_{name} out:4"
                ));
            }
            if size > 0 {
                read_buffer(world, "GL_COPY_READ_BUFFER", size);
            }
        }
    }
    read_textures(world, shown);
    for renderbuffer in world.names().renderbuffers.clone() {
        world.step(format!(
            "glFramebufferRenderbuffer GL_FRAMEBUFFER GL_COLOR_ATTACHMENT0 GL_RENDERBUFFER r{renderbuffer}"
        ));
        read(world);
        world.step(format!("glBindRenderbuffer GL_RENDERBUFFER r{renderbuffer}"));
        for name in ["WIDTH", "HEIGHT", "INTERNAL_FORMAT", "DEPTH_SIZE", "STENCIL_SIZE"] {
            world.step(format!(
                "glGetRenderbufferParameteriv GL_RENDERBUFFER GL_RENDERBUFFER_{name} out:4"
            ));
        }
    }
    questions::of_programs(world);
    desktop::read_group(world);
    for sync in world.names().syncs.clone() {
        world.step(format!("?8 glIsSync y{sync}"));
        world.step(format!("? glClientWaitSync y{sync} GL_SYNC_FLUSH_COMMANDS_BIT 1000000000"));
    }
}

fn read_textures(world: &mut World, shown: Option<&Shown>) {
    for texture in world.names().textures.clone() {
        let it = world.textures[texture].clone();
        world.step("glActiveTexture GL_TEXTURE0");
        world.step(format!("glBindTexture {} t{texture}", it.target));
        questions::of_texture(world, &it);
    }
    let framebuffer = world.count('f');
    world.step(format!("glGenFramebuffers 1 new:f{framebuffer}"));
    for texture in world.names().textures.clone() {
        let it = world.textures[texture].clone();
        let is_read = FORMATS.get(it.format).is_some_and(|format| format.read.is_some());
        if let (Some(shown), true) = (shown, it.target == "GL_TEXTURE_2D" && !is_read) {
            shown.texture(world, texture, &it);
        }
        let Some(known) = FORMATS.get(it.format) else { continue };
        if it.target == "GL_TEXTURE_BUFFER" {
            continue;
        }
        world.step(format!("glBindFramebuffer GL_FRAMEBUFFER f{framebuffer}"));
        if let Some((format, kind)) = known.read {
            read_levels(world, texture, &it, (format, kind));
        }
        world.step("? glGetError");
    }
    world.step(format!("glBindFramebuffer GL_FRAMEBUFFER f{framebuffer}"));
}

/// Reads each level and layer as an attachment.
fn read_levels(world: &mut World, texture: usize, it: &Texture, (format, kind): (&str, &str)) {
    let levels = if world.version() >= (3, 0) { it.levels } else { 1 };
    for level in it.first_attached..levels {
        let (w, h) = ((it.size.0 >> level).max(1), (it.size.1 >> level).max(1));
        let bytes = w * h * if format == "GL_RGBA" { 4 } else { 16 };
        let layers = match it.target {
            "GL_TEXTURE_2D_ARRAY" | "GL_TEXTURE_CUBE_MAP_ARRAY" => it.size.2,
            "GL_TEXTURE_3D" => (it.size.2 >> level).max(1),
            _ => 0,
        };
        let mut attached: Vec<String> = (0..layers)
            .map(|layer| {
                format!(
                    "glFramebufferTextureLayer GL_FRAMEBUFFER GL_COLOR_ATTACHMENT0 t{texture} {level} {layer}"
                )
            })
            .collect();
        if layers == 0 {
            attached.extend(faces(it.target).iter().map(|face| {
                format!(
                    "glFramebufferTexture2D GL_FRAMEBUFFER GL_COLOR_ATTACHMENT0 {face} t{texture} {level}"
                )
            }));
        }
        for step in attached {
            world.step(step);
            world.step(format!("glReadPixels 0 0 {w} {h} {format} {kind} out:{bytes}"));
            world.step("? glGetError");
        }
    }
}

/// Programs that show on a canvas of bytes what cannot be read.
struct Shown {
    /// Draws a plain triangle over everything, at a depth.
    plain: usize,
    depth: usize,
    /// Draws a texture's level.
    image: usize,
    unit: usize,
    canvas: usize,
    array: usize,
}

impl Shown {
    /// `None` for contexts whose shaders cannot.
    fn make(world: &mut World) -> Option<Shown> {
        if world.version() < (3, 0) {
            return None;
        }
        let plain = new_program(world, "cover300", "white300", &[]);
        let image = new_program(world, "cover300", "texels300", &[]);
        let (depth, unit) = (world.count('u'), world.count('u'));
        world.step(format!("u{depth}= glGetUniformLocation g{plain} text:depth"));
        world.step(format!("u{unit}= glGetUniformLocation g{image} text:image"));
        let (canvas, renderbuffer, array) = (world.count('f'), world.count('r'), world.count('v'));
        world.step(format!("glGenFramebuffers 1 new:f{canvas}"));
        world.step(format!("glGenRenderbuffers 1 new:r{renderbuffer}"));
        world.step(format!("glBindRenderbuffer GL_RENDERBUFFER r{renderbuffer}"));
        world.step(format!("glRenderbufferStorage GL_RENDERBUFFER GL_RGBA8 {SIDE} {SIDE}"));
        world.step(format!("glBindFramebuffer GL_FRAMEBUFFER f{canvas}"));
        world.step(format!(
            "glFramebufferRenderbuffer GL_FRAMEBUFFER GL_COLOR_ATTACHMENT0 GL_RENDERBUFFER r{renderbuffer}"
        ));
        draw_plainly(world);
        world.step("glClear GL_COLOR_BUFFER_BIT");
        world.step(format!("glGenVertexArrays 1 new:v{array}"));
        Some(Shown { plain, depth, image, unit, canvas, array })
    }

    /// Draws the first level of what the units hold, if it can be sampled.
    fn units(&self, world: &mut World) {
        for unit in 0..UNITS {
            let held = world.here().textures[unit].get("GL_TEXTURE_2D").copied();
            let Some(held) = held else { continue };
            let it = &world.textures[held];
            let is_filtered = FORMATS.get(it.format).is_some_and(|format| format.is_filtered);
            if is_filtered && !world.names().textures.contains(&held) {
                self.draw_image(world, unit);
            }
        }
    }

    /// Draws each level of a texture with a name.
    fn texture(&self, world: &mut World, texture: usize, it: &Texture) {
        world.step("glActiveTexture GL_TEXTURE0");
        world.step(format!("glBindTexture GL_TEXTURE_2D t{texture}"));
        for (name, value) in [
            ("MIN_FILTER", "GL_NEAREST_MIPMAP_NEAREST"),
            ("MAG_FILTER", "GL_NEAREST"),
            ("COMPARE_MODE", "GL_NONE"),
        ] {
            world.step(format!("glTexParameteri GL_TEXTURE_2D GL_TEXTURE_{name} {value}"));
        }
        for level in 0..it.levels {
            for name in ["BASE_LEVEL", "MAX_LEVEL"] {
                world.step(format!("glTexParameteri GL_TEXTURE_2D GL_TEXTURE_{name} {level}"));
            }
            self.draw_image(world, 0);
        }
    }

    fn draw_image(&self, world: &mut World, unit: usize) {
        let Shown { image, unit: location, canvas, array, .. } = self;
        world.step(format!("glBindFramebuffer GL_FRAMEBUFFER f{canvas}"));
        draw_plainly(world);
        world.step(format!("glBindSampler {unit} 0"));
        world.step(format!("glUseProgram g{image}"));
        world.step(format!("glUniform1i u{location} {unit}"));
        world.step(format!("glBindVertexArray v{array}"));
        world.step("glDrawArrays GL_TRIANGLES 0 3");
        world.step("? glGetError");
        world.step(format!(
            "glReadPixels 0 0 {SIDE} {SIDE} GL_RGBA GL_UNSIGNED_BYTE out:{}",
            4 * SIDE * SIDE
        ));
    }

    /// Shows depth and stencil of the bound framebuffer by drawing against them.
    fn depth_and_stencil(&self, world: &mut World) {
        let Shown { plain, depth, array, .. } = self;
        world.step("glReadBuffer GL_COLOR_ATTACHMENT0");
        world.step("glReadBuffer GL_BACK");
        world.step(format!("glBindVertexArray v{array}"));
        world.step(format!("glUseProgram g{plain}"));
        world.step("glDepthMask 0");
        world.step("glStencilMask 0");
        world.step("glClearColor 0f 0f 0f 0f");
        world.step("glEnable GL_DEPTH_TEST");
        world.step("glDepthFunc GL_LESS");
        for at in ["-0.75f", "-0.25f", "0.125f", "0.5f", "0.9375f"] {
            self.cover(world, &format!("glUniform1f u{depth} {at}"));
        }
        world.step("glDisable GL_DEPTH_TEST");
        world.step("glEnable GL_STENCIL_TEST");
        world.step("glStencilOp GL_KEEP GL_KEEP GL_KEEP");
        for bit in 0..8 {
            self.cover(world, &format!("glStencilFunc GL_EQUAL 0xff {}", 1 << bit));
        }
        world.step("glDisable GL_STENCIL_TEST");
        world.step("? glGetError");
    }

    fn cover(&self, world: &mut World, with: &str) {
        world.step("glClear GL_COLOR_BUFFER_BIT");
        world.step(with);
        world.step("glDrawArrays GL_TRIANGLES 0 3");
        world.step(READ);
    }
}

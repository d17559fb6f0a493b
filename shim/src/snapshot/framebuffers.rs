//! Framebuffers of a context and what is attached to them.

use gapii_state::Context;

use super::emit::Emitter;
use super::gl;
use crate::generated::ids::*;

const GL_FRAMEBUFFER: u32 = 0x8D40;
const GL_READ_FRAMEBUFFER: u32 = 0x8CA8;
const GL_DRAW_FRAMEBUFFER: u32 = 0x8CA9;
const GL_FRAMEBUFFER_BINDING: u32 = 0x8CA6;
const GL_READ_FRAMEBUFFER_BINDING: u32 = 0x8CAA;
const GL_COLOR_ATTACHMENT0: u32 = 0x8CE0;
const GL_DEPTH_ATTACHMENT: u32 = 0x8D00;
const GL_STENCIL_ATTACHMENT: u32 = 0x8D20;
const GL_MAX_COLOR_ATTACHMENTS: u32 = 0x8CDF;
const GL_MAX_DRAW_BUFFERS: u32 = 0x8824;
const GL_DRAW_BUFFER0: u32 = 0x8825;
const GL_READ_BUFFER_NAME: u32 = 0x0C02;
const GL_TEXTURE: i32 = 0x1702;
const GL_RENDERBUFFER: u32 = 0x8D41;
const OBJECT_TYPE: u32 = 0x8CD0;
const OBJECT_NAME: u32 = 0x8CD1;
const TEXTURE_LEVEL: u32 = 0x8CD2;
const TEXTURE_FACE: u32 = 0x8CD3;
const TEXTURE_LAYER: u32 = 0x8CD4;
const GL_TEXTURE_2D: u32 = 0x0DE1;
const GL_TEXTURE_3D: u32 = 0x806F;
const GL_TEXTURE_2D_ARRAY: u32 = 0x8C1A;

pub fn describe(emitter: &mut Emitter, context: &Context) {
    let is_es3 = context.version.0 >= 3;
    let bound = Bound::ask(is_es3);
    for (object, _) in context.framebuffers.named() {
        let name = object.name() as u32;
        emitter.make(GL_GEN_FRAMEBUFFERS, name);
        if gl::is_framebuffer(name) == 0 {
            continue;
        }
        gl::bind_framebuffer(GL_FRAMEBUFFER, name);
        emitter.command(GL_BIND_FRAMEBUFFER).arg(GL_FRAMEBUFFER).arg(name).done();
        describe_attachments(emitter, context, is_es3);
        if is_es3 {
            describe_buffers(emitter);
        }
    }
    bound.put_back();
    if is_es3 && bound.draw == 0 {
        emitter.command(GL_BIND_FRAMEBUFFER).arg(GL_FRAMEBUFFER).arg(0_u32).done();
    }
    bound.describe(emitter);
}

/// The framebuffers that are bound.
struct Bound {
    draw: u32,
    /// Another one in OpenGL ES 3.
    read: Option<u32>,
}

impl Bound {
    fn ask(is_es3: bool) -> Self {
        let draw = gl::integer(GL_FRAMEBUFFER_BINDING) as u32;
        Self { draw, read: is_es3.then(|| gl::integer(GL_READ_FRAMEBUFFER_BINDING) as u32) }
    }

    fn put_back(&self) {
        match self.read {
            None => gl::bind_framebuffer(GL_FRAMEBUFFER, self.draw),
            Some(read) => {
                gl::bind_framebuffer(GL_DRAW_FRAMEBUFFER, self.draw);
                gl::bind_framebuffer(GL_READ_FRAMEBUFFER, read);
            }
        }
    }

    fn describe(&self, emitter: &mut Emitter) {
        let draw = if self.read.is_some() { GL_DRAW_FRAMEBUFFER } else { GL_FRAMEBUFFER };
        emitter.command(GL_BIND_FRAMEBUFFER).arg(draw).arg(self.draw).done();
        if let Some(read) = self.read {
            emitter.command(GL_BIND_FRAMEBUFFER).arg(GL_READ_FRAMEBUFFER).arg(read).done();
        }
    }
}

fn describe_attachments(emitter: &mut Emitter, context: &Context, is_es3: bool) {
    let colors = if is_es3 { gl::integer(GL_MAX_COLOR_ATTACHMENTS).clamp(1, 32) as u32 } else { 1 };
    let points = (0..colors).map(|at| GL_COLOR_ATTACHMENT0 + at);
    for point in points.chain([GL_DEPTH_ATTACHMENT, GL_STENCIL_ATTACHMENT]) {
        let ask = |name| {
            let mut value = 0;
            // SAFETY: the name has one number.
            unsafe { gl::get_attachment(GL_FRAMEBUFFER, point, name, &raw mut value) };
            value
        };
        let kind = ask(OBJECT_TYPE);
        if kind == 0 {
            continue;
        }
        let name = ask(OBJECT_NAME) as u32;
        if kind != GL_TEXTURE {
            emitter
                .command(GL_FRAMEBUFFER_RENDERBUFFER)
                .arg(GL_FRAMEBUFFER)
                .arg(point)
                .arg(GL_RENDERBUFFER)
                .arg(name)
                .done();
            continue;
        }
        let level = ask(TEXTURE_LEVEL);
        let target = {
            let group = context.group.lock();
            group.textures.get(group.textures.find(u64::from(name))).map_or(0, |it| it.target)
        };
        if matches!(target, GL_TEXTURE_3D | GL_TEXTURE_2D_ARRAY) {
            emitter
                .command(GL_FRAMEBUFFER_TEXTURE_LAYER)
                .arg(GL_FRAMEBUFFER)
                .arg(point)
                .arg(name)
                .arg(level)
                .arg(ask(TEXTURE_LAYER))
                .done();
        } else {
            let face = ask(TEXTURE_FACE) as u32;
            emitter
                .command(GL_FRAMEBUFFER_TEXTURE2D)
                .arg(GL_FRAMEBUFFER)
                .arg(point)
                .arg(match (face, target) {
                    (0, 0) => GL_TEXTURE_2D,
                    (0, target) => target,
                    (face, _) => face,
                })
                .arg(name)
                .arg(level)
                .done();
        }
    }
}

fn describe_buffers(emitter: &mut Emitter) {
    let count = gl::integer(GL_MAX_DRAW_BUFFERS).clamp(1, 16) as u32;
    let mut buffers: Vec<u32> =
        (0..count).map(|at| gl::integer(GL_DRAW_BUFFER0 + at) as u32).collect();
    while buffers.len() > 1 && buffers.last() == Some(&0) {
        buffers.pop();
    }
    let bytes: Vec<u8> = buffers.iter().flat_map(|buffer| buffer.to_le_bytes()).collect();
    emitter
        .command(GL_DRAW_BUFFERS)
        .arg(buffers.len() as i32)
        .arg(bytes.as_ptr())
        .range(1, &bytes)
        .done();
    emitter.command(GL_READ_BUFFER).arg(gl::integer(GL_READ_BUFFER_NAME)).done();
}

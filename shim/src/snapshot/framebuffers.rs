//! Framebuffers of a context and what is attached to them.

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_COLOR_ATTACHMENT0, GL_DEPTH_ATTACHMENT, GL_DRAW_BUFFER0, GL_DRAW_FRAMEBUFFER,
    GL_FRAMEBUFFER, GL_FRAMEBUFFER_BINDING, GL_FRAMEBUFFER_DEFAULT_FIXED_SAMPLE_LOCATIONS,
    GL_FRAMEBUFFER_DEFAULT_HEIGHT, GL_FRAMEBUFFER_DEFAULT_LAYERS, GL_FRAMEBUFFER_DEFAULT_SAMPLES,
    GL_FRAMEBUFFER_DEFAULT_WIDTH, GL_MAX_COLOR_ATTACHMENTS, GL_MAX_DRAW_BUFFERS,
    GL_READ_FRAMEBUFFER, GL_READ_FRAMEBUFFER_BINDING, GL_RENDERBUFFER, GL_STENCIL_ATTACHMENT,
    GL_TEXTURE_2D, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_3D,
    GL_TEXTURE_CUBE_MAP_ARRAY,
};
use gapii_state::Context;
use gapii_state::read_back::Driver;

use super::emit::Emitter;
use super::gl;
use crate::driver_calls::Gl;
use crate::generated::ids::*;

const GL_READ_BUFFER_NAME: u32 = constants::GL_READ_BUFFER;
const GL_TEXTURE: i32 = constants::GL_TEXTURE as i32;
const OBJECT_TYPE: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE;
const OBJECT_NAME: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME;
const TEXTURE_LEVEL: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL;
const TEXTURE_FACE: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_CUBE_MAP_FACE;
const TEXTURE_LAYER: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LAYER;
const TEXTURE_SAMPLES: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_SAMPLES_EXT;
const LAYERED: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_LAYERED;
/// Targets of textures that have layers.
const LAYERS: [u32; 4] = [
    GL_TEXTURE_3D,
    GL_TEXTURE_2D_ARRAY,
    GL_TEXTURE_CUBE_MAP_ARRAY,
    GL_TEXTURE_2D_MULTISAMPLE_ARRAY,
];
/// What a framebuffer has without attachments, and the version that it begins with.
const DEFAULTS: [(u32, (u8, u8)); 5] = [
    (GL_FRAMEBUFFER_DEFAULT_WIDTH, (3, 1)),
    (GL_FRAMEBUFFER_DEFAULT_HEIGHT, (3, 1)),
    (GL_FRAMEBUFFER_DEFAULT_LAYERS, (3, 2)),
    (GL_FRAMEBUFFER_DEFAULT_SAMPLES, (3, 1)),
    (GL_FRAMEBUFFER_DEFAULT_FIXED_SAMPLE_LOCATIONS, (3, 1)),
];

/// The commands of OpenGL ES, or those of GL_OES_framebuffer_object.
struct Commands {
    make: u16,
    bind: u16,
    attach_texture: u16,
    attach_renderbuffer: u16,
    is_framebuffer: fn(u32) -> u8,
    set: fn(u32, u32),
    ask: unsafe fn(u32, u32, u32, *mut i32),
}

const CORE: Commands = Commands {
    make: GL_GEN_FRAMEBUFFERS,
    bind: GL_BIND_FRAMEBUFFER,
    attach_texture: GL_FRAMEBUFFER_TEXTURE2D,
    attach_renderbuffer: GL_FRAMEBUFFER_RENDERBUFFER,
    is_framebuffer: gl::is_framebuffer,
    set: gl::bind_framebuffer,
    ask: gl::get_attachment,
};
const OES: Commands = Commands {
    make: GL_GEN_FRAMEBUFFERS_OES,
    bind: GL_BIND_FRAMEBUFFER_OES,
    attach_texture: GL_FRAMEBUFFER_TEXTURE2D_OES,
    attach_renderbuffer: GL_FRAMEBUFFER_RENDERBUFFER_OES,
    is_framebuffer: gl::is_framebuffer_oes,
    set: gl::bind_framebuffer_oes,
    ask: gl::get_attachment_oes,
};

pub fn describe(emitter: &mut Emitter, context: &Context) {
    let is_es3 = context.version.0 >= 3;
    let commands = if context.version.0 == 1 { OES } else { CORE };
    let bound = Bound::ask(is_es3);
    for (object, _) in context.framebuffers.named() {
        let name = object.name() as u32;
        emitter.make(commands.make, name);
        if (commands.is_framebuffer)(name) == 0 {
            continue;
        }
        (commands.set)(GL_FRAMEBUFFER, name);
        emitter.command(commands.bind).arg(GL_FRAMEBUFFER).arg(name).done();
        commands.describe_attachments(emitter, context);
        if is_es3 {
            describe_buffers(emitter);
        }
        if context.version >= (3, 1) {
            describe_defaults(emitter, context.version);
        }
    }
    if is_es3 {
        describe_surface(emitter, &commands);
    }
    bound.put_back(&commands);
    bound.describe(emitter, &commands);
}

/// What is drawn to and read from of the surface, where that is not its back buffer.
fn describe_surface(emitter: &mut Emitter, commands: &Commands) {
    (commands.set)(GL_FRAMEBUFFER, 0);
    emitter.command(commands.bind).arg(GL_FRAMEBUFFER).arg(0_u32).done();
    let [drawn, read] = [GL_DRAW_BUFFER0, GL_READ_BUFFER_NAME].map(gl::integer);
    if drawn == 0 || read == 0 {
        describe_buffers(emitter);
    }
}

/// What a framebuffer has without attachments.
fn describe_defaults(emitter: &mut Emitter, version: (u8, u8)) {
    for (name, _) in DEFAULTS.iter().filter(|(_, since)| *since <= version) {
        let mut value = 0;
        // SAFETY: the name has one number.
        unsafe { gl::get_framebuffer_parameter(GL_FRAMEBUFFER, *name, &raw mut value) };
        if value != 0 {
            let command = emitter.command(GL_FRAMEBUFFER_PARAMETERI).arg(GL_FRAMEBUFFER);
            command.arg(*name).arg(value).done();
        }
    }
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

    fn put_back(&self, commands: &Commands) {
        match self.read {
            None => (commands.set)(GL_FRAMEBUFFER, self.draw),
            Some(read) => {
                (commands.set)(GL_DRAW_FRAMEBUFFER, self.draw);
                (commands.set)(GL_READ_FRAMEBUFFER, read);
            }
        }
    }

    fn describe(&self, emitter: &mut Emitter, commands: &Commands) {
        let draw = if self.read.is_some() { GL_DRAW_FRAMEBUFFER } else { GL_FRAMEBUFFER };
        emitter.command(commands.bind).arg(draw).arg(self.draw).done();
        if let Some(read) = self.read {
            emitter.command(commands.bind).arg(GL_READ_FRAMEBUFFER).arg(read).done();
        }
    }
}

impl Commands {
    fn describe_attachments(&self, emitter: &mut Emitter, context: &Context) {
        let is_es3 = context.version.0 >= 3;
        let colors =
            if is_es3 { gl::integer(GL_MAX_COLOR_ATTACHMENTS).clamp(1, 32) as u32 } else { 1 };
        let has_samples =
            Gl::current().is_some_and(|it| it.has("GL_EXT_multisampled_render_to_texture"));
        let points = (0..colors).map(|at| GL_COLOR_ATTACHMENT0 + at);
        for point in points.chain([GL_DEPTH_ATTACHMENT, GL_STENCIL_ATTACHMENT]) {
            let number = |name| self.number(point, name);
            let (kind, name) = match number(OBJECT_TYPE) {
                0 => continue,
                kind => (kind, number(OBJECT_NAME) as u32),
            };
            // It lives on in a framebuffer that was not bound when it was deleted.
            if !has_name(context, kind, name) {
                emitter.leave_out_of("what a framebuffer has of deleted object", name);
                continue;
            }
            if kind != GL_TEXTURE {
                let command = emitter.command(self.attach_renderbuffer).arg(GL_FRAMEBUFFER);
                command.arg(point).arg(GL_RENDERBUFFER).arg(name).done();
                continue;
            }
            let level = number(TEXTURE_LEVEL);
            let target = {
                let group = context.group.lock();
                group.textures.get(group.textures.find(u64::from(name))).map_or(0, |it| it.target)
            };
            if context.version >= (3, 2) && number(LAYERED) != 0 {
                let command = emitter.command(GL_FRAMEBUFFER_TEXTURE).arg(GL_FRAMEBUFFER);
                command.arg(point).arg(name).arg(level).done();
                continue;
            }
            if is_es3 && LAYERS.contains(&target) {
                let command = emitter.command(GL_FRAMEBUFFER_TEXTURE_LAYER).arg(GL_FRAMEBUFFER);
                command.arg(point).arg(name).arg(level).arg(number(TEXTURE_LAYER)).done();
                continue;
            }
            let of = match (number(TEXTURE_FACE) as u32, target) {
                (0, 0) => GL_TEXTURE_2D,
                (0, target) => target,
                (face, _) => face,
            };
            let samples = if has_samples { number(TEXTURE_SAMPLES) } else { 0 };
            let id = match samples {
                0 => self.attach_texture,
                _ => GL_FRAMEBUFFER_TEXTURE2D_MULTISAMPLE_EXT,
            };
            let command = emitter.command(id).arg(GL_FRAMEBUFFER).arg(point);
            let command = command.arg(of).arg(name).arg(level);
            if samples == 0 { command.done() } else { command.arg(samples).done() }
        }
    }

    /// A number that an attachment of the framebuffer has that is bound.
    fn number(&self, point: u32, name: u32) -> i32 {
        let mut value = 0;
        // SAFETY: the name has one number.
        unsafe { (self.ask)(GL_FRAMEBUFFER, point, name, &raw mut value) };
        value
    }
}

/// Whether what is attached has its name still.
fn has_name(context: &Context, kind: i32, name: u32) -> bool {
    let (group, name) = (context.group.lock(), u64::from(name));
    match kind {
        GL_TEXTURE => group.textures.find(name).is_some(),
        _ => group.renderbuffers.find(name).is_some(),
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

//! Framebuffers of a context: their attachments (`attachments.rs`), color buffers (`color_buffers.rs`) and parameters. A deleted
//! object that is still attached is made under a spare name (`nameless_attachments.rs`).

use gapii_commands::constants::{
    GL_DRAW_FRAMEBUFFER, GL_FRAMEBUFFER, GL_FRAMEBUFFER_BINDING, GL_FRAMEBUFFER_COMPLETE,
    GL_FRAMEBUFFER_DEFAULT_FIXED_SAMPLE_LOCATIONS, GL_FRAMEBUFFER_DEFAULT_HEIGHT,
    GL_FRAMEBUFFER_DEFAULT_LAYERS, GL_FRAMEBUFFER_DEFAULT_SAMPLES, GL_FRAMEBUFFER_DEFAULT_WIDTH,
    GL_READ_FRAMEBUFFER, GL_READ_FRAMEBUFFER_BINDING,
};
use gapii_state::{Context, Process};

use super::attachments::{CORE, Commands, OES};
use super::detached::Detached;
use super::emit::Emitter;
use super::nameless_attachments::{NamelessAttachments, Unread};
use super::sibling::OnDemand;
use super::{color_buffers, flipped, gl};
use crate::driver_calls::Gl;
use crate::generated::ids::*;

/// Parameters that a framebuffer without attachments uses, and the version that has them first.
const DEFAULTS: [(u32, (u8, u8)); 5] = [
    (GL_FRAMEBUFFER_DEFAULT_WIDTH, (3, 1)),
    (GL_FRAMEBUFFER_DEFAULT_HEIGHT, (3, 1)),
    (GL_FRAMEBUFFER_DEFAULT_LAYERS, (3, 2)),
    (GL_FRAMEBUFFER_DEFAULT_SAMPLES, (3, 1)),
    (GL_FRAMEBUFFER_DEFAULT_FIXED_SAMPLE_LOCATIONS, (3, 1)),
];

/// Describes the framebuffers of a context. `reader` reads the pixels of nameless attachments; a context of OpenGL ES 1 has
/// none, and such attachments are missing. Returns the attachments whose pixels no framebuffer shows: a texture unit may.
pub fn describe(
    emitter: &mut Emitter,
    process: &Process,
    context: &Context,
    reader: Option<&OnDemand>,
) -> Unread {
    let is_es3 = context.has((3, 0), (3, 0));
    let commands = if context.has((2, 0), (1, 0)) { CORE } else { OES };
    let Some(driver) = Gl::current() else { return Unread::default() };
    let bound = Bound::ask(is_es3);
    let mut nameless = NamelessAttachments::new(process, context, &driver, reader);
    for (object, framebuffer) in context.framebuffers.named() {
        let name = object.name() as u32;
        emitter.make(commands.make, name);
        if (commands.is_framebuffer)(name) == 0 {
            continue;
        }
        (commands.set)(GL_FRAMEBUFFER, name);
        let (attached, is_whole) = commands.attached(emitter, context, &driver, framebuffer);
        let detached = Detached::detach(&attached, context);
        let shown = detached.shown(&attached);
        for it in &attached {
            nameless.make(emitter, name, shown, it);
        }
        drop(detached);
        emitter.command(commands.bind).arg(GL_FRAMEBUFFER).arg(name).done();
        for it in &attached {
            commands.attach(emitter, it);
        }
        if is_es3 {
            color_buffers::describe(emitter);
        }
        if context.has((3, 1), (4, 3)) {
            describe_defaults(emitter, context);
        }
        flipped::describe(emitter, &driver);
        let was_complete = framebuffer.status == GL_FRAMEBUFFER_COMPLETE;
        if is_whole && was_complete && context.has((2, 0), (1, 0)) {
            // Mesa keeps the answer that it is complete, also when a level that is not attached is defined anew later. The
            // program has heard it already, so asking changes nothing. Any other answer Mesa does not keep.
            let status = gl::check_framebuffer(GL_FRAMEBUFFER);
            let command = emitter.command(GL_CHECK_FRAMEBUFFER_STATUS).arg(GL_FRAMEBUFFER);
            command.returns(status, []);
        }
    }
    if is_es3 {
        (commands.set)(GL_FRAMEBUFFER, 0);
        emitter.command(commands.bind).arg(GL_FRAMEBUFFER).arg(0_u32).done();
        color_buffers::describe_default(emitter);
    }
    bound.put_back(&commands);
    bound.describe(emitter, &commands);
    nameless.unread
}

/// Describes the parameters that a framebuffer without attachments uses.
fn describe_defaults(emitter: &mut Emitter, context: &Context) {
    for (name, _) in DEFAULTS.iter().filter(|(_, since)| context.has(*since, (4, 3))) {
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
    /// OpenGL ES 3 has a binding of its own for reading.
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

//! Attribute stacks of the compatibility profile. No query returns what glPushAttrib and glPushClientAttrib have saved, but the driver
//! has the values again when the program pops the entry. So a snapshot pushes entries that save nothing, and describes what an
//! entry has restored when it has been popped: before the next command of the context. Until the last of them is popped, the commands of
//! the context's thread take the slow path, on which they come by here.
//!
//! What a display list draws after it has popped an entry by itself is not exact.

use gapii_commands::constants::{
    GL_ALL_ATTRIB_BITS, GL_ATTRIB_STACK_DEPTH, GL_CLIENT_ATTRIB_STACK_DEPTH,
    GL_CLIENT_PIXEL_STORE_BIT, GL_CLIENT_VERTEX_ARRAY_BIT, GL_COLOR_BUFFER_BIT, GL_CURRENT_BIT,
    GL_PIXEL_MODE_BIT, GL_TEXTURE_BIT,
};
use gapii_state::{Context, Process};

use super::emit::Emitter;
use super::later::Later;
use super::unclamped::Unclamped;
use super::{
    color_buffers, context, default_textures, fixed_function, gl, texture_units, vertex_arrays,
};
use crate::driver_calls::Gl;
use crate::generated::ids::*;

/// Entries that a context had when it was described.
struct Older {
    /// [`Context::handle`]
    context: u64,
    /// The capture, or its keyframe.
    epoch: u64,
    /// How many there are on each stack.
    depths: [u32; 2],
}

/// A context without entries is not in the list.
static OLDER: Later<Older> = Later::new();

impl Older {
    fn is_of(&self, context: &Context) -> bool {
        (self.context, self.epoch) == (context.handle, context.described)
    }
}

/// The groups of state that popped entries have restored: of glPushAttrib, and of glPushClientAttrib.
pub struct Popped {
    server: u32,
    client: u32,
}

/// Pushes entries that save nothing, as many as the context has.
pub fn describe(emitter: &mut Emitter, context: &Context, depths: [u32; 2]) {
    for (id, depth) in [GL_PUSH_ATTRIB, GL_PUSH_CLIENT_ATTRIB].into_iter().zip(depths) {
        (0..depth).for_each(|_| emitter.command(id).arg(0_u32).done());
    }
    if depths == [0; 2] && !OLDER.is_any() {
        return;
    }
    let (handle, epoch) = (context.handle, context.described);
    OLDER.with(|older| {
        // What earlier captures and keyframes have is of no use.
        older.retain(|other| other.epoch >= epoch && !other.is_of(context));
        if depths != [0; 2] {
            older.push(Older { context: handle, epoch, depths });
        }
    });
}

/// Whether any context has entries from before it was described.
#[inline]
pub fn are_there() -> bool {
    OLDER.is_any()
}

/// Whether the context has entries from before it was described.
pub fn are_in(context: &Context) -> bool {
    are_there() && OLDER.with(|older| older.iter().any(|it| it.is_of(context))) == Some(true)
}

/// Takes out the entries that the current context has popped, and returns what they restored. `None` if it has popped none.
pub fn take_popped(context: &Context) -> Option<Popped> {
    let now = depths();
    let popped = OLDER.with(|older| {
        let it = older.iter_mut().find(|it| it.is_of(context))?;
        let before = it.depths;
        it.depths = [before[0].min(now[0]), before[1].min(now[1])];
        let [server, client] = [0, 1].map(|at| it.depths[at] as usize..before[at] as usize);
        older.retain(|it| it.depths != [0; 2]);
        // The state follows no display list that pushes or pops.
        let all = GL_ALL_ATTRIB_BITS;
        let server = server.map(|at| context.kept_attributes.get(at).map_or(all, |it| it.mask));
        let client = client.map(|at| context.client_attributes.get(at).map_or(all, |it| it.mask));
        let either = |all: u32, mask: u32| all | mask;
        Some(Popped { server: server.fold(0, either), client: client.fold(0, either) })
    });
    popped.flatten().filter(|it| it.server | it.client != 0)
}

/// How many entries the current context has, which is one of the compatibility profile.
pub fn depths() -> [u32; 2] {
    [GL_ATTRIB_STACK_DEPTH, GL_CLIENT_ATTRIB_STACK_DEPTH]
        .map(|name| gl::integer(name).max(0) as u32)
}

impl Popped {
    /// Describes the state that entries have restored, in the current context. Colors are not clamped meanwhile.
    pub fn describe(
        &self,
        emitter: &mut Emitter,
        process: &Process,
        context: &Context,
        unclamped: &Unclamped,
    ) {
        let Some(driver) = Gl::current() else { return };
        if self.server != 0 {
            if self.has(GL_TEXTURE_BIT) {
                texture_units::describe_again(emitter, context, &driver);
            }
            default_textures::settle_unpacking(emitter, &driver);
            fixed_function::describe_again(emitter, &driver, self.server);
            if self.has(GL_CURRENT_BIT) {
                vertex_arrays::describe_values_again(emitter, context);
            }
            context::describe_settings(emitter, process, context, &driver);
            if self.has(GL_COLOR_BUFFER_BIT | GL_PIXEL_MODE_BIT) {
                color_buffers::describe_again(emitter);
            }
            unclamped.describe(emitter);
        }
        if self.client & GL_CLIENT_VERTEX_ARRAY_BIT != 0 {
            vertex_arrays::describe_again(emitter, context);
        }
        if self.server != 0 || self.client & GL_CLIENT_PIXEL_STORE_BIT != 0 {
            context::describe_pixel_stores(emitter, context, &driver);
        }
    }

    fn has(&self, groups: u32) -> bool {
        self.server & groups != 0
    }
}

//! Buffers whose names were deleted, and which the context that is being described still holds at a binding point, as
//! an element buffer, or in a vertex array. The first holder that can be copied from gives all contents; what only
//! vertices or a uniform block lead to is read by a draw ([`super::vertex_reader`], [`block_reader`]). Another context that
//! holds the buffer may lead to more of it, which is described with that context. Contents need OpenGL ES 3; else, and if a read fails, they are listed as
//! missing. So is a buffer that the state has dropped: it keeps the last 4,096 deleted objects of a
//! kind.
//!
//! A transform feedback writes its buffers and shows their contents to nobody, so a buffer that nothing else holds has
//! undefined contents.

use gapii_commands::constants::{
    GL_ARRAY_BUFFER, GL_ARRAY_BUFFER_BINDING, GL_ATOMIC_COUNTER_BUFFER,
    GL_ATOMIC_COUNTER_BUFFER_BINDING, GL_COPY_READ_BUFFER, GL_COPY_READ_BUFFER_BINDING,
    GL_COPY_WRITE_BUFFER, GL_COPY_WRITE_BUFFER_BINDING, GL_DISPATCH_INDIRECT_BUFFER,
    GL_DISPATCH_INDIRECT_BUFFER_BINDING, GL_DRAW_INDIRECT_BUFFER, GL_DRAW_INDIRECT_BUFFER_BINDING,
    GL_ELEMENT_ARRAY_BUFFER, GL_ELEMENT_ARRAY_BUFFER_BINDING, GL_PARAMETER_BUFFER,
    GL_PARAMETER_BUFFER_BINDING, GL_PIXEL_PACK_BUFFER, GL_PIXEL_PACK_BUFFER_BINDING,
    GL_PIXEL_UNPACK_BUFFER, GL_PIXEL_UNPACK_BUFFER_BINDING, GL_QUERY_BUFFER,
    GL_QUERY_BUFFER_BINDING, GL_SHADER_STORAGE_BUFFER, GL_SHADER_STORAGE_BUFFER_BINDING,
    GL_TEXTURE_BUFFER, GL_TEXTURE_BUFFER_BINDING, GL_TRANSFORM_FEEDBACK_BUFFER,
    GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, GL_UNIFORM_BUFFER, GL_UNIFORM_BUFFER_BINDING,
};
use gapii_state::read_back::NEVER;
use gapii_state::{Buffer, Context, Process, Ref, Texture, VertexArray, VertexArrays};

use super::block_reader::{self, Block};
use super::buffers::{self, Known};
use super::emit::Emitter;
use super::found::Found;
use super::identity::{self, Kind};
use super::sibling::Sibling;
use super::vertex_reader::{VertexReader, Vertices};
use super::{gl, held, staging};
use crate::generated::ids::*;

/// What leads to a buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holder {
    /// A binding point of the context.
    Target(u32),
    /// The element buffer of a vertex array; none for the default one.
    Elements(Ref<VertexArray>),
    /// A binding point of a vertex array.
    Vertices(Ref<VertexArray>, u32),
    /// An indexed binding point.
    Block(Block),
}

impl Holder {
    /// Passes a target to which a buffer with this name is bound to `act`. `None` for vertices, which bind it to none, and
    /// for targets of which the driver does not tell.
    fn with_target<R>(self, context: &Context, name: u64, act: impl FnOnce(u32) -> R) -> Option<R> {
        match self {
            Self::Target(target) if !has_target(context, target) => None,
            Self::Elements(_) if !context.has((3, 0), (3, 0)) => None,
            Self::Target(target) => Some(act(target)),
            Self::Elements(array) => {
                gl::bind_vertex_array(array.name() as u32);
                // The driver may have refused a command of the program.
                let is_bound = gl::integer(GL_ELEMENT_ARRAY_BUFFER_BINDING) as u64 == name;
                let done = is_bound.then(|| act(GL_ELEMENT_ARRAY_BUFFER));
                gl::bind_vertex_array(context.vertex_array.name() as u32);
                done
            }
            Self::Vertices(..) | Self::Block(_) => None,
        }
    }
}

struct Held {
    buffer: Ref<Buffer>,
    holders: Vec<Holder>,
}

/// Makes and fills the nameless buffers that the context holds and that the stream does not have yet.
pub fn describe(emitter: &mut Emitter, process: &Process, context: &Context) {
    let held = nameless(context);
    if held.is_empty() {
        return;
    }
    let sibling = Sibling::begin(process, context.handle).filter(|_| context.has((3, 0), (3, 1)));
    let mut reader = None;
    for Held { buffer, holders } in &held {
        describe_one(emitter, context, sibling.as_ref(), (*buffer, holders), &mut reader);
    }
}

/// Makes and fills a nameless buffer that these holders have, as far as the stream does not have it yet.
fn describe_one<'a>(
    emitter: &mut Emitter,
    context: &'a Context,
    sibling: Option<&'a Sibling>,
    (buffer, holders): (Ref<Buffer>, &[Holder]),
    reader: &mut Option<VertexReader<'a>>,
) {
    let name = buffer.name() as u32;
    let known = {
        let group = context.group.lock();
        group.buffers.get(buffer).map(|it| (Known::of(it), it.mapped_at_deletion))
    };
    let Some((known, mapped_at_deletion)) = known else {
        // The state keeps a limited number of deleted objects.
        emitter.leave_out_of("a deleted buffer that is still in use, once called", name);
        return;
    };
    let ask = Known::asked_where_bound;
    let asked = holders.iter().find_map(|it| it.with_target(context, buffer.name(), ask).flatten());
    let may_be_mapped = asked.is_none() && mapped_at_deletion;
    let known = asked.unwrap_or(known);
    let is_first = identity::is_first(context, Kind::Buffer, buffer);
    // A texture or another context that holds it may have shown a part of it.
    if !is_first && !identity::take_part(context, Kind::Buffer, buffer) {
        return;
    }
    let spare = identity::spare_name(buffer);
    if is_first {
        emitter.make(GL_GEN_BUFFERS, spare);
    }
    emitter.command(GL_BIND_BUFFER).arg(GL_ARRAY_BUFFER).arg(spare).done();
    if known.size() == 0 {
        return;
    }
    if known.is_locked() {
        if !is_first || !buffers::describe_locked(emitter, context, &known) {
            let what = "the contents outside of the mapped part of a deleted buffer, once called";
            emitter.leave_out_of(what, name);
        }
        return;
    }
    let mut contents = Contents::default();
    // A draw that reads a buffer which is mapped is an error.
    if let Some(sibling) = sibling.filter(|_| !may_be_mapped) {
        let whose = (buffer.name(), holders);
        contents.read(context, sibling, whose, known.size(), reader);
    }
    let bytes = contents.found.bytes.as_slice();
    if is_first {
        let at = if bytes.is_empty() { 0 } else { bytes.as_ptr() as u64 };
        buffers::define(emitter, &known, known.at(at));
        buffers::map(emitter, context, &known);
    } else {
        contents.found.describe(emitter, known.way());
    }
    if !contents.found.is_whole() || bytes.is_empty() {
        identity::note_part(context, Kind::Buffer, buffer);
    }
    if contents.lacks_any {
        emitter.leave_out_of("the contents of a deleted buffer, once called", name);
    }
}

fn nameless(context: &Context) -> Vec<Held> {
    let mut held: Vec<Held> = Vec::new();
    let (targets, blocks) = (targets(context), block_reader::nameless(context));
    let group = context.group.lock();
    let mut add = |buffer: Ref<Buffer>, holder: Holder| {
        if buffer.is_none() || identity::has_name(&group.buffers, buffer) {
            return;
        }
        match held.iter_mut().find(|it| it.buffer == buffer) {
            Some(known) => known.holders.push(holder),
            None => held.push(Held { buffer, holders: vec![holder] }),
        }
    };
    for (target, buffer) in targets {
        add(buffer, Holder::Target(target));
    }
    for (buffer, block) in blocks {
        add(buffer, Holder::Block(block));
    }
    let mut add_arrays = |array: Ref<VertexArray>, arrays: &VertexArrays| {
        add(arrays.element_buffer, Holder::Elements(array));
        for (binding, it) in (0..).zip(&arrays.bindings) {
            add(it.buffer, Holder::Vertices(array, binding));
        }
    };
    add_arrays(Ref::NONE, &context.default_arrays);
    for (array, it) in context.vertex_arrays.named() {
        add_arrays(array, &it.arrays);
    }
    held
}

/// Binding points of the context, and their buffers. The driver says what is bound where the context has a query: Mesa
/// takes a deleted buffer from its indexed binding points, and then the buffer that is at the generic one, too.
pub fn targets(context: &Context) -> [(u32, Ref<Buffer>); 14] {
    let it = context;
    let tracked = [
        (GL_ARRAY_BUFFER, GL_ARRAY_BUFFER_BINDING, it.array_buffer),
        (GL_COPY_READ_BUFFER, GL_COPY_READ_BUFFER_BINDING, it.copy_read_buffer),
        (GL_COPY_WRITE_BUFFER, GL_COPY_WRITE_BUFFER_BINDING, it.copy_write_buffer),
        (GL_PIXEL_PACK_BUFFER, GL_PIXEL_PACK_BUFFER_BINDING, it.pixel_pack_buffer),
        (GL_PIXEL_UNPACK_BUFFER, GL_PIXEL_UNPACK_BUFFER_BINDING, it.pixel_unpack_buffer),
        (
            GL_TRANSFORM_FEEDBACK_BUFFER,
            GL_TRANSFORM_FEEDBACK_BUFFER_BINDING,
            it.transform_feedback_buffer,
        ),
        (GL_UNIFORM_BUFFER, GL_UNIFORM_BUFFER_BINDING, it.uniform_buffer),
        (GL_ATOMIC_COUNTER_BUFFER, GL_ATOMIC_COUNTER_BUFFER_BINDING, it.atomic_counter_buffer),
        (GL_SHADER_STORAGE_BUFFER, GL_SHADER_STORAGE_BUFFER_BINDING, it.shader_storage_buffer),
        (GL_DRAW_INDIRECT_BUFFER, GL_DRAW_INDIRECT_BUFFER_BINDING, it.draw_indirect_buffer),
        (
            GL_DISPATCH_INDIRECT_BUFFER,
            GL_DISPATCH_INDIRECT_BUFFER_BINDING,
            it.dispatch_indirect_buffer,
        ),
        (GL_TEXTURE_BUFFER, GL_TEXTURE_BUFFER_BINDING, it.texture_buffer),
        (GL_QUERY_BUFFER, GL_QUERY_BUFFER_BINDING, it.query_buffer),
        (GL_PARAMETER_BUFFER, GL_PARAMETER_BUFFER_BINDING, it.parameter_buffer),
    ];
    let asked = tracked.map(|(target, binding, tracked)| {
        let name = has_target(context, target).then(|| gl::integer(binding) as u32);
        (target, name, tracked)
    });
    let group = context.group.lock();
    asked.map(|(target, name, tracked)| {
        let bound = name.map(|name| held::object(&group.buffers, name, tracked));
        (target, bound.unwrap_or(tracked))
    })
}

/// Whether the versions of OpenGL ES and of OpenGL that the context has bind buffers to a target.
fn has_target(context: &Context, target: u32) -> bool {
    match target {
        GL_ARRAY_BUFFER => context.has((2, 0), (1, 5)),
        GL_PIXEL_PACK_BUFFER | GL_PIXEL_UNPACK_BUFFER => context.has((3, 0), (2, 1)),
        GL_TRANSFORM_FEEDBACK_BUFFER => context.has((3, 0), (3, 0)),
        GL_ATOMIC_COUNTER_BUFFER => context.has((3, 1), (4, 2)),
        GL_DRAW_INDIRECT_BUFFER => context.has((3, 1), (4, 0)),
        GL_DISPATCH_INDIRECT_BUFFER | GL_SHADER_STORAGE_BUFFER => context.has((3, 1), (4, 3)),
        GL_TEXTURE_BUFFER => context.has((3, 2), (3, 1)),
        GL_QUERY_BUFFER => context.has(NEVER, (4, 4)),
        GL_PARAMETER_BUFFER => context.has(NEVER, (4, 6)),
        _ => context.has((3, 0), (3, 1)),
    }
}

/// What could be read of a buffer.
struct Contents {
    found: Found,
    /// Whether something that the context leads to could not be read.
    lacks_any: bool,
}

impl Default for Contents {
    fn default() -> Self {
        Self { found: Found::default(), lacks_any: true }
    }
}

impl Contents {
    fn read<'a>(
        &mut self,
        context: &'a Context,
        sibling: &'a Sibling,
        (name, holders): (u64, &[Holder]),
        size: usize,
        reader: &mut Option<VertexReader<'a>>,
    ) {
        self.lacks_any = false;
        for holder in holders {
            let copy = |target| copy(context, sibling, target, size);
            let copied = holder.with_target(context, name, copy).flatten();
            if let Some(bytes) = copied {
                *self = Self { found: Found::all(bytes), lacks_any: false };
                return;
            }
            self.lacks_any |= !matches!(holder, Holder::Vertices(..) | Holder::Block(_));
        }
        // Draws in this context read nothing else of the buffer than what its vertices and its blocks lead to.
        self.found = Found::nothing(size);
        for holder in holders {
            let read = match *holder {
                Holder::Vertices(array, binding) => {
                    if reader.is_none() {
                        *reader = VertexReader::begin(context, sibling);
                    }
                    reader.as_ref().and_then(|reader| {
                        let vertices = Vertices::of(context, array, binding)?;
                        reader.read(&vertices, &mut self.found)
                    })
                }
                Holder::Block(block) => block.read(context, sibling, &mut self.found),
                Holder::Target(_) | Holder::Elements(_) => continue,
            };
            self.lacks_any |= read.is_none();
        }
    }
}

/// Returns the contents of the buffer that is bound to a target of the program's context.
fn copy(context: &Context, sibling: &Sibling, target: u32, size: usize) -> Option<Vec<u8>> {
    let len = isize::try_from(size).ok()?;
    let (to, bound) = target_for_copies(context, target)?;
    let staging = sibling.ask(move |_| staging::make(size))?;
    gl::bind_buffer(to, staging);
    gl::copy_buffer_sub_data(target, to, 0, 0, len);
    gl::bind_buffer(to, bound);
    gl::finish_program();
    sibling.ask(move |_| {
        let mut bytes = Vec::new();
        let done = staging::append(staging, size, &mut bytes);
        staging::delete(staging);
        done.map(|()| bytes)
    })
}

/// Whether something may hold a nameless buffer: something of the context, a texture, or another context of the share group,
/// which may be current on another thread.
pub fn may_be_held(context: &Context, buffer: Ref<Buffer>) -> bool {
    let is_held = |held: &Held| held.buffer == buffer;
    let has_it = |texture: &Texture| texture.buffer.buffer == buffer;
    identity::is_shared(context)
        || nameless(context).iter().any(is_held)
        || context.group.lock().textures.named().any(|(_, texture)| has_it(texture))
}

/// A target to copy to, and the name that is bound to it, which can be bound again. Not the target `from`.
pub fn target_for_copies(context: &Context, from: u32) -> Option<(u32, u32)> {
    let targets = targets(context);
    let group = context.group.lock();
    let is_bound_again =
        |buffer: Ref<Buffer>| buffer.is_none() || identity::has_name(&group.buffers, buffer);
    // Every context of OpenGL ES 3.0 and of OpenGL 3.1 has these targets; earlier ones have the first one.
    let usable = targets.into_iter().take(if context.has((3, 0), (3, 1)) { 7 } else { 1 });
    let mut usable = usable.filter(|(target, buffer)| *target != from && is_bound_again(*buffer));
    usable.next().map(|(target, buffer)| (target, buffer.name() as u32))
}

//! Identity of objects: the name under which a replay makes each object, and when it deletes that name. An object whose
//! name was deleted or given to another object is made under a spare name, 0xF0010000 and up, by the first context that
//! holds it. All spare names are deleted once every context of the share group has been described.
//!
//! An object whose name the program deleted can live on: a vertex array, a framebuffer, a texture, a program pipeline
//! or a binding point of another context still holds it (OpenGL ES 3.2, 5.1.3). Such an object is called *nameless*
//! here.
//!
//! Contexts are described when they become current, each by its own thread. So the first context that holds a nameless
//! object makes it, and the others attach it by the same spare name. The table of nameless objects that the stream has
//! is used only by the thread that describes shared state.
//!
//! If an object loses its name after its share group was described, the replay has it under the name that it had then, and
//! loses it with that name. A context that is described later and holds the object makes another one. Whether another
//! context or object uses the first one, too, is listed as missing.

use core::mem;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use gapii_abi::spare_names::FIRST_NAMELESS;
use gapii_state::{Context, Object, Objects, Process, Ref};

use super::current::Current;
use super::egl;
use super::emit::Emitter;
use super::spare;
use super::spare_context::SpareContext;
use crate::generated::ids::*;

/// Kinds of objects that other objects can hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Buffer,
    Texture,
    Renderbuffer,
    Sampler,
    Program,
}

/// The command that deletes names of each kind.
const DELETIONS: [(Kind, u16); 5] = [
    (Kind::Buffer, GL_DELETE_BUFFERS),
    (Kind::Texture, GL_DELETE_TEXTURES),
    (Kind::Renderbuffer, GL_DELETE_RENDERBUFFERS),
    (Kind::Sampler, GL_DELETE_SAMPLERS),
    (Kind::Program, GL_DELETE_PROGRAM),
];

/// Returns the name under which the replay has `object`: its own name while it has one, else its spare name; 0 for no
/// object.
pub fn name<T: Object>(objects: &Objects<T>, object: Ref<T::Kind>) -> u32 {
    match () {
        () if object.is_none() => 0,
        () if has_name(objects, object) => object.name() as u32,
        () => spare_name(object),
    }
}

/// Whether the program can still use the name of `object` for it.
pub fn has_name<T: Object>(objects: &Objects<T>, object: Ref<T::Kind>) -> bool {
    object.is_some() && objects.find(object.name()) == object
}

/// Returns the name under which a replay makes `object` if the object is nameless. All contexts and keyframes of a
/// capture use the same name, because the state keeps the object's slot while it keeps the object.
pub fn spare_name<T>(object: Ref<T>) -> u32 {
    FIRST_NAMELESS.wrapping_add(object.slot() as u32)
}

/// The nameless objects of one share group that the stream of a capture has.
#[derive(Default)]
struct Group {
    /// [`gapii_state::GroupOf::number`]
    number: u64,
    /// The capture, or its keyframe.
    epoch: u64,
    made: Vec<Nameless>,
    /// How many objects of `made` the described contexts hold.
    held: usize,
    /// The objects that were nameless when the group was described.
    from_before: Vec<Nameless>,
    /// Objects of `made` of which the stream has only a part of the contents.
    in_part: Vec<Nameless>,
    /// Handles of the group's contexts that are described.
    contexts: Vec<u64>,
    /// Whether the stream has what only a context of the compatibility profile can make.
    has_fixed_functions: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Nameless {
    kind: Kind,
    /// The spare name.
    name: u32,
    /// The name that it had.
    once: u32,
    serial: u32,
}

impl Nameless {
    fn of<T>(kind: Kind, object: Ref<T>) -> Self {
        let (name, once) = (spare_name(object), object.name() as u32);
        Self { kind, name, once, serial: object.serial() }
    }
}

static GROUPS: Mutex<Vec<Group>> = Mutex::new(Vec::new());

/// Never blocks: only the thread that describes shared state is here. `None` in a forked child whose parent forked
/// while another thread was here; such a child makes a nameless object once for each holder.
fn groups() -> Option<MutexGuard<'static, Vec<Group>>> {
    match GROUPS.try_lock() {
        Ok(groups) => Some(groups),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

fn with_group<R>(context: &Context, act: impl FnOnce(&mut Group) -> R) -> Option<R> {
    with_group_in(context.group.described.load(Relaxed), &context.group, act)
}

/// [`with_group`] for a share group that may not be described yet in this epoch.
fn with_group_in<R>(
    epoch: u64,
    group: &gapii_state::Group,
    act: impl FnOnce(&mut Group) -> R,
) -> Option<R> {
    let number = group.number();
    let mut groups = groups()?;
    // What earlier captures have is of no use.
    groups.retain(|group| group.epoch >= epoch);
    let at = groups.iter().position(|group| (group.number, group.epoch) == (number, epoch));
    let at = at.unwrap_or_else(|| {
        groups.push(Group { number, epoch, ..Group::default() });
        groups.len() - 1
    });
    groups.get_mut(at).map(act)
}

/// Returns the name under which the stream has `object`; 0 for no object. `None` for a nameless object that the stream
/// does not have, so that nothing can refer to it.
pub fn described_name<T: Object>(
    context: &Context,
    kind: Kind,
    objects: &Objects<T>,
    object: Ref<T::Kind>,
) -> Option<u32> {
    if object.is_none() || has_name(objects, object) {
        return Some(object.name() as u32);
    }
    let nameless = Nameless::of(kind, object);
    let is_there = with_group(context, |group| group.made.contains(&nameless));
    (is_there == Some(true)).then_some(nameless.name)
}

/// Whether the caller is the first in this capture that describes the nameless `object`, so that it has to make and to
/// fill it under its spare name.
pub fn is_first<T>(context: &Context, kind: Kind, object: Ref<T>) -> bool {
    is_first_in(context.group.described.load(Relaxed), &context.group, kind, object)
}

/// [`is_first`] for an object of a share group that may not be described yet in this epoch.
pub fn is_first_in<T>(epoch: u64, group: &gapii_state::Group, kind: Kind, object: Ref<T>) -> bool {
    let nameless = Nameless::of(kind, object);
    let note = |group: &mut Group| {
        let is_first = !group.made.contains(&nameless);
        if is_first {
            group.made.push(nameless);
        }
        is_first
    };
    with_group_in(epoch, group, note).unwrap_or(true)
}

/// Notes that the stream has only a part of the contents of a nameless object.
pub fn note_part<T>(context: &Context, kind: Kind, object: Ref<T>) {
    note_part_in(context.group.described.load(Relaxed), &context.group, kind, object);
}

/// [`note_part`] for an object of a share group that may not be described yet in this epoch.
pub fn note_part_in<T>(epoch: u64, group: &gapii_state::Group, kind: Kind, object: Ref<T>) {
    let nameless = Nameless::of(kind, object);
    with_group_in(epoch, group, |group| group.in_part.push(nameless));
}

/// Whether the stream has only a part of the contents of a nameless object.
pub fn lacks_part<T>(context: &Context, kind: Kind, object: Ref<T>) -> bool {
    let nameless = Nameless::of(kind, object);
    with_group(context, |group| group.in_part.contains(&nameless)) == Some(true)
}

/// Whether the stream has only a part of the contents of a nameless object. The caller describes all of them.
pub fn take_part<T>(context: &Context, kind: Kind, object: Ref<T>) -> bool {
    let nameless = Nameless::of(kind, object);
    let take = |group: &mut Group| {
        let before = group.in_part.len();
        group.in_part.retain(|other| *other != nameless);
        group.in_part.len() != before
    };
    with_group(context, take) == Some(true)
}

/// Whether another context of the process shares objects with this one.
pub fn is_shared(context: &Context) -> bool {
    // Each context and its entry in the table of contexts refer to the group.
    Arc::strong_count(&context.group) > 2
}

/// Notes that the context's share group is about to be described.
pub fn begin_group(context: &Context) {
    fn of<T: Object>(kind: Kind, objects: &Objects<T>) -> impl Iterator<Item = Nameless> {
        objects.deleted().map(move |(object, _)| Nameless::of(kind, object))
    }
    let from_before = {
        let group = context.group.lock();
        of(Kind::Buffer, &group.buffers)
            .chain(of(Kind::Texture, &group.textures))
            .chain(of(Kind::Renderbuffer, &group.renderbuffers))
            .chain(of(Kind::Sampler, &group.samplers))
            .collect()
    };
    with_group(context, |group| group.from_before = from_before);
}

/// Whether the stream lacks what a context of the compatibility profile, which this is, describes of its share group. It has it
/// afterwards.
pub fn is_first_of_fixed_functions(context: &Context) -> bool {
    let had = with_group(context, |group| mem::replace(&mut group.has_fixed_functions, true));
    had == Some(false)
}

/// Lists the objects that the context holds and that have lost their names since their share group was described.
pub fn leave_out_uses(emitter: &mut Emitter, context: &Context) {
    let lost = with_group(context, |group| {
        let new = group.made.get(group.held..).unwrap_or_default().iter();
        let lost = new.filter(|nameless| !group.from_before.contains(nameless)).copied();
        let lost: Vec<Nameless> = lost.collect();
        group.held = group.made.len();
        lost
    });
    for Nameless { kind, once, .. } in lost.into_iter().flatten() {
        let kind = match kind {
            Kind::Buffer => "buffer",
            Kind::Texture => "texture",
            Kind::Renderbuffer => "renderbuffer",
            Kind::Sampler => "sampler",
            // The description of programs says it by itself.
            Kind::Program => continue,
        };
        let what = format!(
            "whether other contexts or objects share the {kind} that was deleted in the capture, once called"
        );
        emitter.leave_out_of(&what, once);
    }
}

/// Notes that a context's own state is described. If it is the last one of its share group, deletes all spare names
/// but those of buffers that are mapped: a context that holds such a buffer may have mapped it after another one
/// deleted its name, and deleting the spare name would end the mapping (OpenGL ES 3.2, 6.1).
///
/// They are deleted in a spare context, in which nothing is bound: deleting a name removes the object from the binding
/// points of the current context, and from the containers that are bound there.
pub fn end_context(emitter: &mut Emitter, process: &Process, context: &Context, now: &Current) {
    let all = egl::contexts_of_group(process, &context.group);
    let due = with_group(context, |group| {
        if !group.contexts.contains(&context.handle) {
            group.contexts.push(context.handle);
        }
        if !all.iter().all(|handle| group.contexts.contains(handle)) {
            return Vec::new();
        }
        group.held = 0;
        core::mem::take(&mut group.made)
    });
    let mut due = due.unwrap_or_default();
    let mapped = mapped_nameless(context);
    due.retain(|nameless| !mapped.contains(nameless));
    if due.is_empty() {
        return;
    }
    let Some(spare) = SpareContext::make(emitter, process, context.handle, 0) else { return };
    spare.make_current(emitter);
    for nameless in due {
        match DELETIONS.iter().find(|(kind, _)| *kind == nameless.kind) {
            Some((Kind::Program, id)) => emitter.command(*id).arg(nameless.name).done(),
            Some((_, id)) => spare::delete(emitter, *id, &[nameless.name]),
            None => {}
        }
    }
    now.make_current_again(emitter);
    spare.destroy(emitter);
}

/// The nameless buffers of the context's share group that are mapped.
fn mapped_nameless(context: &Context) -> Vec<Nameless> {
    let group = context.group.lock();
    let mapped = group.buffers.deleted().filter(|(_, buffer)| buffer.mapping.pointer != 0);
    mapped.map(|(object, _)| Nameless::of(Kind::Buffer, object)).collect()
}

#[cfg(test)]
mod tests {
    use gapii_state::Buffer;

    use super::*;

    #[test]
    fn object_keeps_its_name_until_the_name_is_deleted_or_given_out_again() {
        let mut buffers: Objects<Buffer> = Objects::default();
        let first = buffers.create(7);
        assert_eq!(name(&buffers, first), 7);
        assert_eq!(name(&buffers, Ref::NONE), 0);
        buffers.delete(7);
        let spare = name(&buffers, first);
        assert!(spare >= FIRST_NAMELESS);
        let second = buffers.create(7);
        assert_eq!(name(&buffers, second), 7);
        assert_eq!(name(&buffers, first), spare);
        buffers.delete(7);
        assert_ne!(name(&buffers, second), spare);
    }
}

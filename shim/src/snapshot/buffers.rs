//! Buffers and their contents, read in the sibling context, where an error does not reach the program. A buffer whose
//! whole store is mapped is read from the program's mapping. Of a buffer mapped in part, which drivers refuse to copy,
//! the mapped part alone is described. A driver without OpenGL ES 3 has no sibling context; there a buffer is mapped in
//! the program's context, if that cannot be an error. What cannot be read is listed as missing.

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_ARRAY_BUFFER, GL_BUFFER_USAGE, GL_DYNAMIC_DRAW, GL_MAP_INVALIDATE_BUFFER_BIT,
    GL_MAP_INVALIDATE_RANGE_BIT, GL_MAP_READ_BIT,
};
use gapii_recorder::program::guarded;
use gapii_state::read_back::Driver;
use gapii_state::{Buffer, Context, ContextApi, GroupState, Mapping, Ref};

use super::buffer_writes::Way;
use super::data_store::{DataStore, Mapped};
use super::emit::Emitter;
use super::found::Found;
use super::identity::{self, Kind};
use super::owed::Uploaded;
use super::sibling::Sibling;
use super::{gl, late_buffers};
use crate::driver_calls::Gl;
use crate::generated::ids::*;
use crate::program_memory::ProgramMemory;

/// All storage flags.
const STORAGE_FLAGS: u32 = constants::GL_DYNAMIC_STORAGE_BIT_EXT
    | constants::GL_CLIENT_STORAGE_BIT_EXT
    | constants::GL_MAP_READ_BIT
    | constants::GL_MAP_WRITE_BIT
    | constants::GL_MAP_PERSISTENT_BIT_EXT
    | constants::GL_MAP_COHERENT_BIT_EXT;
/// All usages of mutable data stores (OpenGL ES 3.2, table 6.2).
const USAGES: [u32; 9] = [
    constants::GL_STREAM_DRAW,
    constants::GL_STREAM_READ,
    constants::GL_STREAM_COPY,
    constants::GL_STATIC_DRAW,
    constants::GL_STATIC_READ,
    constants::GL_STATIC_COPY,
    constants::GL_DYNAMIC_DRAW,
    constants::GL_DYNAMIC_READ,
    constants::GL_DYNAMIC_COPY,
];

/// A buffer as the state has it, with the data store and the mapping as the driver has them if that was asked.
pub struct Known {
    size: i64,
    is_immutable: bool,
    mapping: Option<Mapped>,
    /// Storage flags if it is immutable, else the usage.
    usage: u32,
}

impl Known {
    /// Takes all of it from the state.
    pub fn of(buffer: &Buffer) -> Self {
        Self {
            size: buffer.size,
            is_immutable: buffer.immutable,
            mapping: Mapped::of(&buffer.mapping),
            usage: usage_of(buffer),
        }
    }

    /// Takes the data store and the mapping from the driver, which has the last word.
    fn asked(self, name: u32, sibling: &Sibling) -> Self {
        DataStore::of(name, sibling).map_or(self, Self::from)
    }

    /// Takes the data store and the mapping from the driver. The buffer is bound to `target` in the program's context, which
    /// has OpenGL ES 3. Drivers differ in whether the deletion of its name ends a mapping. `None` if there is no driver.
    pub fn asked_where_bound(target: u32) -> Option<Self> {
        Some(DataStore::of_bound(target, &Gl::current()?).into())
    }

    /// Whether the program has the buffer mapped so that the driver refuses to copy it.
    pub fn is_locked(&self) -> bool {
        self.mapping.is_some_and(|it| it.access & constants::GL_MAP_PERSISTENT_BIT_EXT == 0)
    }

    /// How a part of the data store is described.
    pub fn way(&self) -> Way {
        Way::of(self.is_immutable, self.usage)
    }

    /// The contents of the data store, which lie at `address`. 0: there are none.
    pub fn at(&self, address: u64) -> Uploaded {
        Uploaded::at(address, if address == 0 { 0 } else { self.size as u64 })
    }

    /// Size of the data store in bytes.
    pub fn size(&self) -> usize {
        usize::try_from(self.size).unwrap_or(0)
    }
}

impl From<DataStore> for Known {
    fn from(DataStore { size, is_immutable, usage, mapping }: DataStore) -> Self {
        Self { size, is_immutable, mapping, usage }
    }
}

/// Storage flags or usage of a buffer in the state. If a command was refused because of them, returns some that forbid
/// nothing.
fn usage_of(buffer: &Buffer) -> u32 {
    match buffer.immutable {
        true if buffer.storage_flags & !STORAGE_FLAGS == 0 => buffer.storage_flags,
        true => STORAGE_FLAGS,
        false if USAGES.contains(&buffer.usage) => buffer.usage,
        false => GL_DYNAMIC_DRAW,
    }
}

/// Describes the buffers of the share group that have a name.
pub fn describe(emitter: &mut Emitter, context: &Context, sibling: Option<&Sibling>) {
    let known: Vec<(Ref<Buffer>, Known)> = {
        let group = context.group.lock();
        group.buffers.named().map(|(object, buffer)| (object, Known::of(buffer))).collect()
    };
    for (object, buffer) in known {
        let name = object.name() as u32;
        emitter.make(GL_GEN_BUFFERS, name);
        if gl::is_buffer(name) == 0 {
            continue;
        }
        emitter.command(GL_BIND_BUFFER).arg(GL_ARRAY_BUFFER).arg(name).done();
        let buffer = match sibling {
            Some(sibling) => {
                let (tracked, buffer) = (buffer.mapping, buffer.asked(name, sibling));
                match buffer.mapping {
                    mapping if mapping == tracked => {}
                    Some(mapped) => mapped.note(context, object),
                    None => context.set_mapping(&ProgramMemory, object, Mapping::default()),
                }
                buffer
            }
            None => buffer,
        };
        if buffer.size > 0 {
            match sibling {
                Some(sibling) => in_sibling(emitter, context, sibling, object, &buffer),
                None => in_program(emitter, context, name, &buffer),
            }
        }
        map(emitter, context, &buffer);
    }
}

/// Describes the data store of a buffer that the sibling context reads.
fn in_sibling(
    emitter: &mut Emitter,
    context: &Context,
    sibling: &Sibling,
    object: Ref<Buffer>,
    buffer: &Known,
) {
    let name = object.name() as u32;
    if let Some(mapped) = buffer.mapping.filter(|it| (it.offset, it.length) == (0, buffer.size)) {
        // The program may have written there what the driver does not have yet.
        define(emitter, buffer, buffer.at(mapped.address));
        return;
    }
    let size = buffer.size();
    let done = sibling.send_buffer(emitter, name, size, |emitter, contents| {
        define(emitter, buffer, contents);
    });
    if done.is_some() {
        return;
    }
    match define_mapped_part(emitter, buffer) {
        Some(mapped) => late_buffers::note(context, object, mapped),
        None => emitter.leave_out_of("the contents of buffer", name),
    }
}

/// Gives the buffer a data store with the bytes of the part that the program has mapped, and zeros elsewhere. Returns
/// begin and end of the part.
///
/// The driver copies no buffer that is mapped, unless the mapping is persistent. The mapped part is in the program's
/// memory.
fn define_mapped_part(emitter: &mut Emitter, buffer: &Known) -> Option<[usize; 2]> {
    let read = || {
        let mapped = buffer.mapping?;
        let begin = usize::try_from(mapped.offset).ok()?;
        let end = begin.checked_add(usize::try_from(mapped.length).ok()?)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(buffer.size()).ok()?;
        bytes.resize(buffer.size(), 0);
        let part = bytes.get_mut(begin..end)?;
        // SAFETY: `part` is the shim's own.
        unsafe { guarded::read(mapped.address, part.as_mut_ptr(), part.len()) };
        Some((bytes, [begin, end]))
    };
    let Some((bytes, mapped)) = read() else {
        define(emitter, buffer, buffer.at(0));
        return None;
    };
    define(emitter, buffer, buffer.at(bytes.as_ptr() as u64));
    Some(mapped)
}

/// Describes the data store of a buffer in a context whose driver has no OpenGL ES 3.
fn in_program(emitter: &mut Emitter, context: &Context, name: u32, buffer: &Known) {
    let (is_bound_again, bound) = {
        let group = context.group.lock();
        let bound = context.array_buffer;
        (bound.is_none() || group.buffers.find(bound.name()) == bound, bound.name() as u32)
    };
    let has_mappings = !context.has((3, 0), (1, 0))
        && Gl::current().is_some_and(|driver| driver.has("GL_EXT_map_buffer_range"));
    let mut usage = GL_DYNAMIC_DRAW;
    let mut mapped_by_us = 0;
    if is_bound_again {
        gl::bind_buffer(GL_ARRAY_BUFFER, name);
        // SAFETY: the parameter has one value.
        unsafe {
            gl::get_buffer_parameter(GL_ARRAY_BUFFER, GL_BUFFER_USAGE, (&raw mut usage).cast());
        }
        // An immutable buffer may not allow to be read; `map` of a mapped one is an error.
        if has_mappings && !buffer.is_immutable && buffer.mapping.is_none() {
            let size = buffer.size as isize;
            mapped_by_us = gl::map_buffer_range_ext(GL_ARRAY_BUFFER, 0, size, GL_MAP_READ_BIT);
        }
    }
    let mapped = buffer.mapping.filter(|it| (it.offset, it.length) == (0, buffer.size));
    let at = mapped.map_or(mapped_by_us as u64, |mapped| mapped.address);
    let buffer = match buffer.is_immutable {
        true => buffer,
        false => &Known { usage, ..*buffer },
    };
    if at != 0 {
        define(emitter, buffer, buffer.at(at));
    } else if define_mapped_part(emitter, buffer).is_some() {
        emitter.leave_out_of("the contents outside of the mapped part of buffer", name);
    } else {
        emitter.leave_out_of("the contents of buffer", name);
    }
    if mapped_by_us != 0 {
        gl::unmap_buffer_oes(GL_ARRAY_BUFFER);
    }
    if is_bound_again {
        gl::bind_buffer(GL_ARRAY_BUFFER, bound);
    }
}

/// Returns the buffers among `held` whose names were deleted.
pub fn nameless(
    group: &GroupState,
    held: impl Iterator<Item = Ref<Buffer>>,
) -> Vec<(Ref<Buffer>, Option<Known>)> {
    let is_nameless =
        |buffer: &Ref<Buffer>| buffer.is_some() && !identity::has_name(&group.buffers, *buffer);
    held.filter(is_nameless).map(|it| (it, group.buffers.get(it).map(Known::of))).collect()
}

/// Whether a buffer texture of the share group has a buffer whose name was deleted.
pub fn does_a_texture_hold_a_nameless_one(context: &Context) -> bool {
    let group = context.group.lock();
    !nameless(&group, group.textures.named().map(|(_, it)| it.buffer.buffer)).is_empty()
}

/// Makes nameless buffers that textures hold and that the stream does not have yet. `read` finds what textures show of a
/// buffer; `None` if it cannot be read.
///
/// A texture leads to the texels that it shows. The rest is read by the context that holds the buffer, too, if there is
/// one.
pub fn describe_nameless(
    emitter: &mut Emitter,
    context: &Context,
    held: Vec<(Ref<Buffer>, Option<Known>)>,
    mut read: impl FnMut(Ref<Buffer>, &mut Found) -> Option<()>,
) {
    for (buffer, known) in held {
        let name = buffer.name() as u32;
        let Some(known) = known else {
            emitter.leave_out_of("a deleted buffer that is still in use, once called", name);
            continue;
        };
        let is_first = identity::is_first(context, Kind::Buffer, buffer);
        // The context may have shown a part of it.
        if !is_first && !identity::take_part(context, Kind::Buffer, buffer) {
            continue;
        }
        let mut found = Found::nothing(known.size());
        if read(buffer, &mut found).is_none() && known.size > 0 {
            emitter.leave_out_of("the contents of a deleted buffer, once called", name);
        }
        let (spare, way) = (identity::spare_name(buffer), known.way());
        if is_first {
            describe_with_contents(emitter, spare, known, &found.bytes);
        } else {
            emitter.command(GL_BIND_BUFFER).arg(GL_ARRAY_BUFFER).arg(spare).done();
            found.describe(emitter, way);
        }
        identity::note_part(context, Kind::Buffer, buffer);
    }
}

/// Makes a nameless buffer under a spare name. Its contents are undefined if there are no `bytes`.
pub fn describe_with_contents(emitter: &mut Emitter, spare: u32, buffer: Known, bytes: &[u8]) {
    emitter.make(GL_GEN_BUFFERS, spare);
    emitter.command(GL_BIND_BUFFER).arg(GL_ARRAY_BUFFER).arg(spare).done();
    if buffer.size > 0 {
        let at = if bytes.is_empty() { 0 } else { bytes.as_ptr() as u64 };
        define(emitter, &buffer, buffer.at(at));
    }
}

/// Gives the buffer that is bound in the replay its data store, with these contents.
pub fn define(emitter: &mut Emitter, buffer: &Known, contents: Uploaded) {
    let is_desktop = Gl::current().is_some_and(|driver| driver.api() != ContextApi::Es);
    let id = match buffer.is_immutable {
        true if is_desktop => GL_BUFFER_STORAGE,
        true => GL_BUFFER_STORAGE_EXT,
        false => GL_BUFFER_DATA,
    };
    let command = emitter.command(id).arg(GL_ARRAY_BUFFER).arg(buffer.size);
    let command = command.arg(contents.address).arg(buffer.usage);
    command.uploaded(2, contents).done();
}

/// Gives the buffer that is bound in the replay its data store, as far as the program has mapped it, and maps it. Returns
/// whether all of it is mapped.
pub fn describe_locked(emitter: &mut Emitter, context: &Context, buffer: &Known) -> bool {
    let part = define_mapped_part(emitter, buffer);
    map(emitter, context, buffer);
    part == Some([0, buffer.size()])
}

/// Maps the buffer that is bound in the replay as the program has mapped it, if it has.
pub fn map(emitter: &mut Emitter, context: &Context, buffer: &Known) {
    let Some(mapping) = buffer.mapping else { return };
    // The contents must survive.
    let access = mapping.access & !(GL_MAP_INVALIDATE_RANGE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
    let id =
        if context.has((3, 0), (3, 0)) { GL_MAP_BUFFER_RANGE } else { GL_MAP_BUFFER_RANGE_EXT };
    let command = emitter.command(id).arg(GL_ARRAY_BUFFER).arg(mapping.offset).arg(mapping.length);
    command.arg(access).returns(mapping.address, []);
}

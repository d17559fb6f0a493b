//! Buffers: their bindings, and the contents of the buffers from which draws read indices: those bound to
//! GL_ELEMENT_ARRAY_BUFFER or filled through it, up to 64 MiB (`CONTENTS_BYTES_MAX`), and those filled through a target
//! of copies or by their names, up to 4 MiB (`COPIED_BYTES_MAX`). After a write by the driver contents are unknown. A draw that needs
//! unknown contents reads them back from the driver; where that could be an error, its vertices are missing in the
//! record.

use std::sync::atomic::Ordering::{Acquire, Release};

use super::indices::IndexBytes;
use super::maps;
use super::zeros::zeros;
use gapii_commands::constants::*;

use crate::{
    Buffer, Context, ElementBuffer, GroupState, Memory, Ref, Scope, Scoped as _, Thread,
    VertexArray, Whole,
};

/// The size in bytes of the largest index source whose contents are kept.
const CONTENTS_BYTES_MAX: usize = 64 << 20;
/// The size in bytes of the largest buffer whose contents are kept because it is filled through a target of copies.
const COPIED_BYTES_MAX: i64 = 4 << 20;

impl<S: Scope> Context<S> {
    /// Returns the buffer that is bound to a target; none for an invalid target.
    #[inline]
    pub fn buffer_at(&self, target: u32) -> Ref<Buffer> {
        match target {
            GL_ARRAY_BUFFER => self.array_buffer,
            GL_ELEMENT_ARRAY_BUFFER => self.arrays().element_buffer,
            GL_COPY_READ_BUFFER => self.copy_read_buffer,
            GL_COPY_WRITE_BUFFER => self.copy_write_buffer,
            GL_PIXEL_PACK_BUFFER => self.pixel_pack_buffer,
            GL_PIXEL_UNPACK_BUFFER => self.pixel_unpack_buffer,
            GL_TRANSFORM_FEEDBACK_BUFFER => self.transform_feedback_buffer,
            GL_UNIFORM_BUFFER => self.uniform_buffer,
            GL_ATOMIC_COUNTER_BUFFER => self.atomic_counter_buffer,
            GL_SHADER_STORAGE_BUFFER => self.shader_storage_buffer,
            GL_DRAW_INDIRECT_BUFFER => self.draw_indirect_buffer,
            GL_DISPATCH_INDIRECT_BUFFER => self.dispatch_indirect_buffer,
            GL_TEXTURE_BUFFER => self.texture_buffer,
            GL_QUERY_BUFFER => self.query_buffer,
            GL_PARAMETER_BUFFER => self.parameter_buffer,
            _ => Ref::NONE,
        }
    }

    fn unbind_buffer(&mut self, buffer: Ref<Buffer>) {
        let bindings = [
            &mut self.array_buffer,
            &mut self.copy_read_buffer,
            &mut self.copy_write_buffer,
            &mut self.pixel_pack_buffer,
            &mut self.pixel_unpack_buffer,
            &mut self.transform_feedback_buffer,
            &mut self.uniform_buffer,
            &mut self.atomic_counter_buffer,
            &mut self.shader_storage_buffer,
            &mut self.draw_indirect_buffer,
            &mut self.dispatch_indirect_buffer,
            &mut self.texture_buffer,
            &mut self.query_buffer,
            &mut self.parameter_buffer,
        ];
        for binding in bindings.into_iter().filter(|binding| **binding == buffer) {
            *binding = Ref::NONE;
        }
        self.arrays_mut().unbind(buffer);
        if S::WHOLE
            && let Some(context) = self.whole()
        {
            context.unbind_ranges(buffer);
        }
    }
}

impl Context<Whole> {
    fn unbind_ranges(&mut self, buffer: Ref<Buffer>) {
        let feedback = self.transform_feedbacks.get_mut_unnoted(self.transform_feedback);
        let ranges = self
            .uniform_buffers
            .iter_mut()
            .chain(&mut self.shader_storage_buffers)
            .chain(&mut self.atomic_counter_buffers)
            .chain(feedback.into_iter().flat_map(|it| &mut it.buffers));
        for range in ranges.filter(|range| range.buffer == buffer) {
            *range = crate::BufferRange::default();
        }
    }
}

#[inline]
/// Returns the buffer that is bound to a target.
pub fn bound_buffer<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    target: u32,
) -> Ref<Buffer> {
    thread.context.as_deref().map(|context| context.buffer_at(target)).unwrap_or_default()
}

/// Binds the element buffer of a vertex array object; none is the default one. The buffer's contents are kept from then on.
pub fn bind_element_buffer_of<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    array: Ref<VertexArray>,
    buffer: Ref<Buffer>,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    context.arrays_of(array).element_buffer = buffer;
    if buffer.is_none() {
        return;
    }
    let place = buffer.name() as usize % context.index_sources.len();
    let Some(noted) = context.index_sources.get_mut(place) else { return };
    if *noted != buffer {
        *noted = buffer;
        if let Some(buffer) = context.group.lock().buffers.get_mut_unnoted(buffer) {
            buffer.is_index_source = true;
        }
        context.group.index_sources.fetch_add(1, Release);
    }
}

/// Gives a buffer a new data store, filled from `data` unless that is null. `target` is where the program did it; 0: by
/// the buffer's name.
pub fn define_buffer<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    defined: Ref<Buffer>,
    target: u32,
    size: i64,
    data: u64,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    let keeps = may_hold_indices(target, size) || context.keeps_contents(defined);
    let contents = if keeps { contents_of(memory, size, data) } else { None };
    maps::forget(context, defined);
    let mut group = context.group.lock();
    if let Some(buffer) = group.buffers.get_mut(defined).filter(|buffer| !buffer.immutable) {
        buffer.size = size.max(0);
        let becomes_source = keeps && !buffer.is_index_source;
        buffer.is_index_source |= keeps;
        buffer.contents_changes = buffer.contents_changes.wrapping_add(1);
        buffer.contents = contents.filter(|_| !buffer.is_the_drivers);
        if becomes_source {
            context.group.index_sources.fetch_add(1, Release);
        }
    }
}

/// Whether indices may come from a buffer that is filled through this target, directly or through a copy. 0: by its name.
fn may_hold_indices(target: u32, size: i64) -> bool {
    match target {
        GL_ELEMENT_ARRAY_BUFFER => true,
        GL_COPY_READ_BUFFER | GL_COPY_WRITE_BUFFER | 0 => size <= COPIED_BYTES_MAX,
        _ => false,
    }
}

/// Returns the initial contents of a data store of `size` bytes. Without `data` they are zeros: indices from undefined
/// contents would be an error of the program. `None` if the contents are unknown.
fn contents_of<M: Memory + ?Sized>(memory: &M, size: i64, data: u64) -> Option<Vec<u8>> {
    let fits = usize::try_from(size).ok().filter(|size| *size <= CONTENTS_BYTES_MAX);
    let mut contents = zeros(fits?)?;
    (data == 0 || memory.read(data, &mut contents)).then_some(contents)
}

/// Replaces `size` bytes of a buffer's contents with those at `data`.
#[inline(always)]
pub fn change_buffer<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    buffer: Ref<Buffer>,
    offset: i64,
    size: i64,
    data: u64,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    context.write_contents(memory, buffer, offset, size, data);
}

impl<S: Scope> Context<S> {
    /// Whether the shim keeps the contents of a buffer. For a buffer without contents, only the first call locks the
    /// group.
    #[inline]
    fn keeps_contents(&mut self, buffer: Ref<Buffer>) -> bool {
        // Pairs with the releases above. If another thread made a buffer an index source before this call, this thread
        // sees the new number, because it reads the number before it locks the group.
        let sources = self.group.index_sources.load(Acquire) as i64;
        let place = buffer.name() as usize % self.other_buffers.len();
        let is_known = self.other_buffers.get(place) == Some(&buffer);
        !(is_known && self.other_buffers_of == sources) && self.ask_for_contents(buffer, sources)
    }

    #[cold]
    #[inline(never)]
    fn ask_for_contents(&mut self, buffer: Ref<Buffer>, sources: i64) -> bool {
        if self.other_buffers_of != sources {
            self.other_buffers.fill(Ref::NONE);
            self.other_buffers_of = sources;
        }
        let place = buffer.name() as usize % self.other_buffers.len();
        let Some(other) = self.other_buffers.get_mut(place) else { return false };
        let group = self.group.lock();
        let Some(it) = group.buffers.get(buffer) else { return false };
        let keeps = it.is_index_source && !it.is_the_drivers;
        if !keeps {
            *other = buffer;
        }
        keeps
    }

    /// Copies `size` bytes that the program writes, from `data`, into the contents of an index source.
    #[inline]
    pub(super) fn write_contents<M: Memory + ?Sized>(
        &mut self,
        memory: &M,
        buffer: Ref<Buffer>,
        offset: i64,
        size: i64,
        data: u64,
    ) {
        if data != 0 && self.keeps_contents(buffer) {
            self.copy_contents(memory, buffer, offset, size, data);
        }
    }

    #[cold]
    #[inline(never)]
    fn copy_contents<M: Memory + ?Sized>(
        &mut self,
        memory: &M,
        buffer: Ref<Buffer>,
        offset: i64,
        size: i64,
        data: u64,
    ) {
        let Some(bytes) = usize::try_from(size).ok().filter(|size| *size <= CONTENTS_BYTES_MAX)
        else {
            return;
        };
        let mut written = zeros(bytes).unwrap_or_default();
        let is_read = written.len() == bytes && memory.read(data, &mut written);
        let mut group = self.group.lock();
        let Some(buffer) = group.buffers.get_mut(buffer) else { return };
        buffer.contents_changes = buffer.contents_changes.wrapping_add(1);
        if !is_read {
            buffer.contents = None;
            return;
        }
        if buffer.contents.is_none() && offset == 0 && size == buffer.size {
            buffer.contents = Some(written);
            return;
        }
        if let Some(place) = part_of(&mut buffer.contents, offset, size) {
            place.copy_from_slice(&written);
        }
    }
}

impl<S: Scope> Context<S> {
    /// Reads `len` bytes at `offset` of the element buffer whose contents are not kept: from its persistent mapping, or
    /// back from the driver. Keeps the contents from then on, unless the driver may write them at any time.
    #[cold]
    #[inline(never)]
    pub(super) fn read_back_indices<M: Memory + ?Sized>(
        &mut self,
        memory: &M,
        offset: u64,
        len: u64,
    ) -> IndexBytes {
        let source = self.arrays().element_buffer;
        let Ok(len_bytes) = usize::try_from(len) else { return IndexBytes::Outside };
        let group = self.group.lock();
        let Some(buffer) = group.buffers.get(source) else { return IndexBytes::Outside };
        let Some(end) = offset.checked_add(len).filter(|end| *end <= buffer.size.cast_unsigned())
        else {
            return IndexBytes::Outside;
        };
        if buffer.mapping.pointer != 0 {
            return maps::mapped_indices(&buffer.mapping, offset, end);
        }
        let about =
            ElementBuffer { api: self.api, version: self.version, is_immutable: buffer.immutable };
        let (size, changes) = (buffer.size, buffer.contents_changes);
        let is_kept = !buffer.is_the_drivers && size <= CONTENTS_BYTES_MAX as i64;
        drop(group);
        let (from, read_bytes) = match is_kept {
            true => (0, usize::try_from(size).unwrap_or(0)),
            false => (offset, len_bytes),
        };
        let Some(mut bytes) =
            Some(read_bytes).filter(|it| *it <= CONTENTS_BYTES_MAX).and_then(zeros)
        else {
            return IndexBytes::Unknown;
        };
        if !memory.element_buffer(about, from, &mut bytes) {
            return IndexBytes::Unknown;
        }
        if !is_kept {
            return IndexBytes::Known(bytes);
        }
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let part = bytes.get(start..).and_then(|rest| rest.get(..len_bytes));
        let indices = part.map_or(IndexBytes::Outside, |part| IndexBytes::Known(part.to_vec()));
        let mut group = self.group.lock();
        if let Some(buffer) = group.buffers.get_mut_unnoted(source)
            && buffer.contents_changes == changes
            && !buffer.is_the_drivers
        {
            buffer.contents = Some(bytes);
        }
        indices
    }
}

/// Returns `size` bytes at `offset`, if the contents are known and have them.
fn part_of(contents: &mut Option<Vec<u8>>, offset: i64, size: i64) -> Option<&mut [u8]> {
    let from = usize::try_from(offset).ok()?;
    contents.as_mut()?.get_mut(from..)?.get_mut(..usize::try_from(size).ok()?)
}

/// Applies the driver's copy from one buffer to another to the kept contents.
pub fn copy_buffer<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    from: Ref<Buffer>,
    to: Ref<Buffer>,
    from_offset: i64,
    to_offset: i64,
    size: i64,
) {
    let Some(context) = thread.context.as_deref() else { return };
    let mut group = context.group.lock();
    if group.buffers.get(to).is_some_and(|it| it.is_index_source && !it.is_the_drivers) && size > 0
    {
        copy_contents(&mut group, (from, from_offset), (to, to_offset), size);
    }
}

fn copy_contents<S: Scope>(
    group: &mut GroupState<S>,
    (from, from_offset): (Ref<Buffer>, i64),
    (to, to_offset): (Ref<Buffer>, i64),
    size: i64,
) {
    let source = group.buffers.get_mut_unnoted(from);
    let copied =
        source.and_then(|it| part_of(&mut it.contents, from_offset, size)).map(|it| it.to_vec());
    let Some(buffer) = group.buffers.get_mut(to) else { return };
    buffer.contents_changes = buffer.contents_changes.wrapping_add(1);
    match copied {
        Some(copied) if buffer.contents.is_none() && to_offset == 0 && size == buffer.size => {
            buffer.contents = Some(copied);
        }
        Some(copied) => {
            if let Some(place) = part_of(&mut buffer.contents, to_offset, size) {
                place.copy_from_slice(&copied);
            }
        }
        None => buffer.contents = None,
    }
}

/// Makes the contents unknown, because the driver may write into the buffer now.
pub fn lose_contents<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    buffer: Ref<Buffer>,
) {
    let Some(context) = thread.context.as_deref() else { return };
    if buffer.is_some()
        && let Some(buffer) = context.group.lock().buffers.get_mut(buffer)
    {
        buffer.contents_changes = buffer.contents_changes.wrapping_add(1);
        buffer.contents = None;
    }
}

/// Makes the contents unknown for good, because the driver may write into the buffer at any later time.
pub fn give_to_driver<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    buffer: Ref<Buffer>,
) {
    let Some(context) = thread.context.as_deref() else { return };
    if buffer.is_some()
        && let Some(buffer) = context.group.lock().buffers.get_mut(buffer)
    {
        buffer.is_the_drivers = true;
        buffer.contents = None;
    }
}

/// Removes a buffer from the context's binding points, ends its mapping and deletes its name.
pub fn delete_buffer<S: Scope, M: Memory + ?Sized>(thread: &mut Thread<S>, _memory: &M, name: u32) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    let found = context.group.lock().buffers.find(u64::from(name));
    if found.is_none() {
        return;
    }
    context.unbind_buffer(found);
    if let Some(buffer) = context.group.lock().buffers.get_mut_unnoted(found) {
        buffer.mapped_at_deletion = buffer.mapping.pointer != 0;
    }
    maps::forget(context, found);
    context.group.lock().buffers.delete(u64::from(name));
}

#[cfg(test)]
mod tests {
    use super::super::testing::{
        bind_element_buffer, contents, context, copy_buffer, define_buffer, map_buffer, thread,
    };
    use super::*;
    use crate::Nothing;
    use crate::memory::tests::Bytes;

    const AT: u64 = 0x1000;

    /// Returns a thread with buffer 1 as index source and buffer 2 for copies.
    fn with_index_source() -> (Thread<Whole>, Ref<Buffer>) {
        let mut thread = thread((3, 2));
        let [source, other] =
            [1, 2].map(|name| context(&mut thread).group.lock().buffers.create(name));
        context(&mut thread).copy_read_buffer = other;
        context(&mut thread).array_buffer = source;
        bind_element_buffer(&mut thread, &Nothing, source);
        let memory = Bytes(AT, vec![1, 2, 3, 4]);
        define_buffer(&mut thread, &memory, GL_ARRAY_BUFFER, 4, AT);
        (thread, source)
    }

    /// Replaces `size` bytes from `offset` on in the buffer that is bound to the target.
    fn change(thread: &mut Thread<Whole>, memory: &Bytes, target: u32, (offset, size): (i64, i64)) {
        let bound = bound_buffer(thread, memory, target);
        change_buffer(thread, memory, bound, offset, size, AT);
    }

    #[test]
    fn contents_of_an_index_source_follow_whatever_target_changes_them() {
        let (mut thread, source) = with_index_source();
        assert_eq!(contents(&mut thread, source), [1, 2, 3, 4]);
        let memory = Bytes(AT, vec![8, 9]);
        change(&mut thread, &memory, GL_ARRAY_BUFFER, (1, 2));
        assert_eq!(contents(&mut thread, source), [1, 8, 9, 4]);
        // The driver rejects a change that exceeds the buffer.
        change(&mut thread, &memory, GL_ARRAY_BUFFER, (3, 2));
        change(&mut thread, &memory, GL_ARRAY_BUFFER, (-1, 2));
        assert_eq!(contents(&mut thread, source), [1, 8, 9, 4]);
    }

    #[test]
    fn contents_of_other_buffers_are_not_kept() {
        let mut thread = thread((3, 2));
        let buffer = context(&mut thread).group.lock().buffers.create(1);
        context(&mut thread).array_buffer = buffer;
        define_buffer(&mut thread, &Bytes(AT, vec![1; 64]), GL_ARRAY_BUFFER, 64, AT);
        assert!(contents(&mut thread, buffer).is_empty());
        assert_eq!(context(&mut thread).group.lock().buffers.get(buffer).unwrap().size, 64);
    }

    #[test]
    fn copy_between_known_contents_is_followed_and_from_unknown_ones_loses_them() {
        let (mut thread, source) = with_index_source();
        let (from, to) = (GL_ARRAY_BUFFER, GL_ELEMENT_ARRAY_BUFFER);
        copy_buffer(&mut thread, &Nothing, from, to, 0, 2, 2);
        assert_eq!(contents(&mut thread, source), [1, 2, 1, 2]);
        define_buffer(&mut thread, &Bytes(AT, vec![7, 8]), GL_COPY_READ_BUFFER, 2, AT);
        copy_buffer(&mut thread, &Nothing, GL_COPY_READ_BUFFER, to, 0, 1, 2);
        assert_eq!(contents(&mut thread, source), [1, 7, 8, 2]);
        let unknown = context(&mut thread).group.lock().buffers.create(3);
        context(&mut thread).copy_read_buffer = unknown;
        copy_buffer(&mut thread, &Nothing, GL_COPY_READ_BUFFER, to, 0, 0, 2);
        assert!(contents(&mut thread, source).is_empty());
        // Contents that are written all at once are known again.
        change(&mut thread, &Bytes(AT, vec![5; 4]), to, (0, 4));
        assert_eq!(contents(&mut thread, source), [5; 4]);
    }

    #[test]
    fn contents_of_a_buffer_that_the_driver_writes_stay_unknown() {
        let (mut thread, source) = with_index_source();
        give_to_driver(&mut thread, &Nothing, source);
        define_buffer(&mut thread, &Nothing, GL_ELEMENT_ARRAY_BUFFER, 4, 0);
        change(&mut thread, &Bytes(AT, vec![5; 4]), GL_ELEMENT_ARRAY_BUFFER, (0, 4));
        copy_buffer(&mut thread, &Nothing, GL_ARRAY_BUFFER, GL_ELEMENT_ARRAY_BUFFER, 0, 0, 4);
        assert!(contents(&mut thread, source).is_empty());
    }

    #[test]
    fn contents_that_cannot_be_read_or_are_too_large_are_not_known() {
        let (mut thread, source) = with_index_source();
        define_buffer(&mut thread, &Nothing, GL_ARRAY_BUFFER, 4, AT);
        assert!(contents(&mut thread, source).is_empty());
        define_buffer(&mut thread, &Nothing, GL_ARRAY_BUFFER, 1 << 40, 0);
        assert!(contents(&mut thread, source).is_empty());
        define_buffer(&mut thread, &Nothing, GL_ARRAY_BUFFER, -1, 0);
        assert!(contents(&mut thread, source).is_empty());
    }

    #[test]
    fn deleted_buffer_is_unbound_from_its_context() {
        let (mut thread, source) = with_index_source();
        delete_buffer(&mut thread, &Nothing, 1);
        let context = context(&mut thread);
        assert!(context.array_buffer.is_none());
        assert!(context.arrays().element_buffer.is_none());
        assert!(context.copy_read_buffer.is_some());
        assert!(context.group.lock().buffers.find(1).is_none());
        assert!(context.group.lock().buffers.get(source).is_some());
    }

    #[test]
    fn deleted_buffer_remembers_that_it_was_mapped() {
        let check = |is_mapped: bool| {
            let (mut thread, source) = with_index_source();
            if is_mapped {
                map_buffer(&mut thread, &Nothing, GL_ARRAY_BUFFER, 0, 4, 1, AT);
            }
            delete_buffer(&mut thread, &Nothing, 1);
            let group = context(&mut thread).group.lock();
            let deleted = group.buffers.get(source).unwrap();
            assert_eq!((deleted.mapped_at_deletion, deleted.mapping.pointer), (is_mapped, 0));
        };
        check(false);
        check(true);
    }

    #[test]
    fn immutable_buffer_keeps_its_data_store() {
        let (mut thread, source) = with_index_source();
        context(&mut thread).group.lock().buffers.get_mut(source).unwrap().immutable = true;
        define_buffer(&mut thread, &Nothing, GL_ARRAY_BUFFER, 100, 0);
        assert_eq!(contents(&mut thread, source), [1, 2, 3, 4]);
    }
}

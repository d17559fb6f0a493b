//! Mapped buffers: the bytes that programs write into them without a command. A mapping is observed when it ends, or
//! range by range if it is flushed explicitly. A persistent mapping has a shadow; before a command that makes the
//! driver read buffers, memory and shadow are compared in blocks of 4 KiB (`BLOCK_BYTES`), and the blocks that differ
//! are observed. Without memory for a shadow nothing of it is observed.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use super::indices::IndexBytes;
use super::zeros::zeros;
use gapii_commands::constants::*;

use crate::{Buffer, Context, Mapping, Memory, NO_PARAM, Observer, Ref, Scope, Thread};

/// Size in bytes of a block: if one of its bytes has changed, the block is observed.
const BLOCK_BYTES: usize = 4096;
/// Size in bytes of one read of memory; a multiple of [`BLOCK_BYTES`].
const PIECE_BYTES: usize = 16 * BLOCK_BYTES;

impl Mapping {
    fn is(&self, access: u32) -> bool {
        self.pointer != 0 && self.access & access == access
    }

    /// Whether the program may write into the mapping at any time without flushing it.
    fn is_watched(&self) -> bool {
        self.is(GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT_EXT) && !self.is(GL_MAP_FLUSH_EXPLICIT_BIT)
    }
}

/// Maps a range of a buffer at `pointer`; from `offset` to the end if `length` is -1.
pub fn map_buffer<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    buffer: Ref<Buffer>,
    offset: i64,
    length: i64,
    access: u32,
    pointer: u64,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    if pointer == 0 || buffer.is_none() || offset < 0 {
        return;
    }
    let size = context.group.lock().buffers.get(buffer).map_or(0, |buffer| buffer.size);
    let rest = size.saturating_sub(offset).max(0);
    let length = if length < 0 { rest } else { length };
    let mapping = Mapping { pointer, offset, length, access, shadow: Vec::new() };
    context.set_mapping(memory, buffer, mapping);
}

impl<S: Scope> Context<S> {
    /// Sets the mapping of a buffer of the share group; one with the pointer 0 ends a mapping. The shadow of a persistent
    /// mapping is read from `memory`.
    pub fn set_mapping<M: Memory + ?Sized>(
        &self,
        memory: &M,
        buffer: Ref<Buffer>,
        mut mapping: Mapping,
    ) {
        forget(self, buffer);
        let is_watched = mapping.is_watched();
        if is_watched {
            let size = self.group.lock().buffers.get(buffer).map_or(0, |buffer| buffer.size);
            let rest = size.saturating_sub(mapping.offset).max(0);
            let bytes = usize::try_from(mapping.length.min(rest)).unwrap_or(0);
            mapping.shadow = zeros(bytes).unwrap_or_default();
            memory.read(mapping.pointer, &mut mapping.shadow);
        }
        let mut group = self.group.lock();
        let Some(mapped) = group.buffers.get_mut(buffer) else { return };
        mapped.mapping = mapping;
        if is_watched {
            group.persistent_buffers.push(buffer);
            // Relaxed: a program that maps in one thread and draws in another synchronises these threads itself.
            self.group.persistent_maps.fetch_add(1, Relaxed);
        }
    }
}

/// Observes the memory that the program may have written through the mapping that ends.
pub fn mapped_writes<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    seen: &mut O,
    buffer: Ref<Buffer>,
) {
    let Some(context) = thread.context.as_deref() else { return };
    last_writes(context, memory, seen, buffer);
}

/// Observes the memory that the program may have written through the mapping of a buffer that is deleted, which ends the
/// mapping (OpenGL ES 3.2, 6.3.1). Another context may go on to use the buffer.
pub fn deleted_writes<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    seen: &mut O,
    name: u32,
) {
    let Some(context) = thread.context.as_deref() else { return };
    let buffer = context.group.lock().buffers.find(u64::from(name));
    last_writes(context, memory, seen, buffer);
}

/// Observes what was written into a mapping that ends.
fn last_writes<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    context: &Context<S>,
    memory: &M,
    seen: &mut O,
    bound: Ref<Buffer>,
) {
    let Some((pointer, length, access)) = context.mapped(bound) else { return };
    if access & GL_MAP_WRITE_BIT == 0 || access & GL_MAP_FLUSH_EXPLICIT_BIT != 0 {
        return;
    }
    if access & GL_MAP_PERSISTENT_BIT_EXT != 0 {
        observe_changes(context, memory, seen, bound);
    } else {
        seen.range(NO_PARAM, pointer, length.max(0).cast_unsigned());
    }
}

/// Observes a flushed range: `length` bytes at `offset` of the mapping.
pub fn flushed_writes<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    seen: &mut O,
    buffer: Ref<Buffer>,
    offset: i64,
    length: i64,
) {
    let Some(context) = thread.context.as_deref() else { return };
    if let Some((address, _)) = context.flushed(buffer, offset, length) {
        seen.range(NO_PARAM, address, length.cast_unsigned());
    }
}

/// Copies a flushed range into the kept contents of an index source.
pub fn flush_mapping<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    buffer: Ref<Buffer>,
    offset: i64,
    length: i64,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    if let Some((address, place)) = context.flushed(buffer, offset, length) {
        context.write_contents(memory, buffer, place, length, address);
    }
}

/// Removes the mapping, after copying its memory into the kept contents of an index source.
pub fn unmap_buffer<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    buffer: Ref<Buffer>,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    let Some((pointer, length, access)) = context.mapped(buffer) else { return };
    if access & GL_MAP_WRITE_BIT != 0 && access & GL_MAP_FLUSH_EXPLICIT_BIT == 0 {
        let offset = context.group.lock().buffers.get(buffer).map_or(0, |it| it.mapping.offset);
        context.write_contents(memory, buffer, offset, length, pointer);
    }
    forget(context, buffer);
}

/// Returns the bytes from `offset` to `end` of a mapped buffer, as its persistent mapping had them when it was last
/// observed. A draw from a buffer with any other mapping is an error (OpenGL ES 3.2, 6.3.1).
pub(super) fn mapped_indices(mapping: &Mapping, offset: u64, end: u64) -> IndexBytes {
    if !mapping.is(GL_MAP_PERSISTENT_BIT_EXT) {
        return IndexBytes::Outside;
    }
    let part = || {
        let begin = u64::try_from(mapping.offset).ok()?;
        let from = usize::try_from(offset.checked_sub(begin)?).ok()?;
        let to = usize::try_from(end.checked_sub(begin)?).ok()?;
        Some(mapping.shadow.get(from..to)?.to_vec())
    };
    part().map_or(IndexBytes::Unknown, IndexBytes::Known)
}

/// Removes the mapping of a buffer.
pub(super) fn forget<S: Scope>(context: &Context<S>, buffer: Ref<Buffer>) {
    let mut group = context.group.lock();
    let Some(forgotten) = group.buffers.get_mut(buffer) else { return };
    let mapping = std::mem::take(&mut forgotten.mapping);
    if mapping.is_watched() {
        group.persistent_buffers.retain(|other| *other != buffer);
        let _ = context
            .group
            .persistent_maps
            .fetch_update(Relaxed, Relaxed, |maps| maps.checked_sub(1));
    }
}

/// Observes the blocks that the program changed in persistent mappings since the last comparison, and what changed in imported
/// memory. Runs before a command that makes the driver read buffers or images.
#[inline]
pub fn changed_maps<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    seen: &mut O,
) {
    seen.reads_imports();
    let Some(context) = thread.context.as_deref() else { return };
    if context.group.persistent_maps.load(Relaxed) != 0 {
        observe_persistent_maps(context, memory, seen);
    }
}

#[cold]
fn observe_persistent_maps<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    context: &Context<S>,
    memory: &M,
    seen: &mut O,
) {
    let watched = context.group.lock().persistent_buffers.clone();
    for buffer in watched {
        observe_changes(context, memory, seen, buffer);
    }
}

impl<S: Scope> Context<S> {
    /// Returns address, length and access of a buffer's mapping, if it is mapped.
    fn mapped(&self, buffer: Ref<Buffer>) -> Option<(u64, i64, u32)> {
        let group = self.group.lock();
        let mapping = &group.buffers.get(buffer)?.mapping;
        (mapping.pointer != 0).then_some((mapping.pointer, mapping.length, mapping.access))
    }

    /// Returns the address of `length` bytes at `offset` of a mapping, and their offset in the buffer, if the program
    /// may flush them.
    fn flushed(&self, buffer: Ref<Buffer>, offset: i64, length: i64) -> Option<(u64, i64)> {
        let group = self.group.lock();
        let mapping = &group.buffers.get(buffer)?.mapping;
        let is_inside =
            offset >= 0 && length > 0 && length <= mapping.length.saturating_sub(offset);
        let is_explicit = mapping.is(GL_MAP_WRITE_BIT | GL_MAP_FLUSH_EXPLICIT_BIT);
        (is_inside && is_explicit).then(|| {
            let address = mapping.pointer.wrapping_add_signed(offset);
            (address, mapping.offset.saturating_add(offset))
        })
    }
}

/// Compares a persistent mapping with its shadow. The shadow is taken out meanwhile, so that no memory is read under
/// the group's lock. Another thread that finds no shadow leaves the changes to this one.
fn observe_changes<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    context: &Context<S>,
    memory: &M,
    seen: &mut O,
    buffer: Ref<Buffer>,
) {
    let (pointer, offset, mut shadow) = {
        let mut group = context.group.lock();
        let Some(buffer) = group.buffers.get_mut_unnoted(buffer) else { return };
        let mapping = &mut buffer.mapping;
        (mapping.pointer, mapping.offset, std::mem::take(&mut mapping.shadow))
    };
    if shadow.is_empty() {
        return;
    }
    let changes = changes(memory, pointer, &mut shadow);
    for change in &changes {
        let address = pointer.wrapping_add(change.start as u64);
        seen.range(NO_PARAM, address, change.len() as u64);
    }
    let mut group = context.group.lock();
    let found = match changes.is_empty() {
        true => group.buffers.get_mut_unnoted(buffer),
        false => group.buffers.get_mut(buffer),
    };
    let Some(buffer) = found else { return };
    if let Some(contents) = &mut buffer.contents {
        buffer.contents_changes = buffer.contents_changes.wrapping_add(1);
        for change in changes {
            copy_change(contents, offset, &shadow, change);
        }
    }
    if buffer.mapping.pointer == pointer && buffer.mapping.shadow.is_empty() {
        buffer.mapping.shadow = shadow;
    }
}

/// Copies a change into the contents of an index source.
fn copy_change(contents: &mut [u8], offset: i64, shadow: &[u8], change: Range<usize>) {
    let Ok(offset) = usize::try_from(offset) else { return };
    let place = contents.get_mut(offset..).and_then(|rest| rest.get_mut(change.clone()));
    if let (Some(place), Some(changed)) = (place, shadow.get(change)) {
        place.copy_from_slice(changed);
    }
}

/// Returns the blocks in which memory and shadow differ, with neighbours joined, and updates the shadow.
fn changes<M: Memory + ?Sized>(memory: &M, pointer: u64, shadow: &mut [u8]) -> Vec<Range<usize>> {
    let mut changes: Vec<Range<usize>> = Vec::new();
    let mut piece = vec![0; PIECE_BYTES.min(shadow.len())];
    for (number, shadow) in shadow.chunks_mut(PIECE_BYTES).enumerate() {
        let start = number * PIECE_BYTES;
        let Some(now) = piece.get_mut(..shadow.len()) else { break };
        if !memory.read(pointer.wrapping_add(start as u64), now) || now == shadow {
            continue;
        }
        let blocks = shadow.chunks_mut(BLOCK_BYTES).zip(now.chunks(BLOCK_BYTES)).enumerate();
        for (block, (shadow, now)) in blocks.filter(|(_, (shadow, now))| shadow != now) {
            shadow.copy_from_slice(now);
            let from = start + block * BLOCK_BYTES;
            match changes.last_mut().filter(|last| last.end == from) {
                Some(last) => last.end += now.len(),
                None => changes.push(from..from + now.len()),
            }
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::super::buffers::delete_buffer;
    use super::super::testing::{
        Seen, bind_element_buffer, contents, context, define_buffer, flush_mapping, flushed_writes,
        map_buffer, mapped_writes, thread, unmap_buffer,
    };
    use super::*;
    use crate::Nothing;
    use crate::Whole;
    use crate::memory::tests::Bytes;

    const AT: u64 = 0x10_0000;
    const TARGET: u32 = GL_ARRAY_BUFFER;

    /// Returns a thread with a buffer of `size` bytes that is mapped from `offset` on.
    fn mapping(size: i64, (offset, length): (i64, i64), access: u32) -> (Thread<Whole>, Bytes) {
        let mut thread = thread((3, 2));
        let buffer = context(&mut thread).group.lock().buffers.create(3);
        context(&mut thread).array_buffer = buffer;
        define_buffer(&mut thread, &Nothing, TARGET, size, 0);
        let memory = Bytes(AT, vec![0; size as usize]);
        map_buffer(&mut thread, &memory, TARGET, offset, length, access, AT);
        (thread, memory)
    }

    fn maps(thread: &mut Thread<Whole>) -> u32 {
        context(thread).group.persistent_maps.load(Relaxed)
    }

    #[test]
    fn writes_are_observed_when_the_mapping_ends() {
        let check = |access, range, expected: &[(u8, u64, u64)]| {
            let (mut thread, memory) = mapping(100, range, access);
            let mut seen = Seen::default();
            mapped_writes(&mut thread, &memory, &mut seen, TARGET);
            unmap_buffer(&mut thread, &memory, TARGET);
            assert_eq!(seen.0, expected, "{access:#x}");
            let mut seen = Seen::default();
            mapped_writes(&mut thread, &memory, &mut seen, TARGET);
            assert_eq!(seen, Seen::default());
        };
        let all = GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_RANGE_BIT | GL_MAP_UNSYNCHRONIZED_BIT;
        check(GL_MAP_WRITE_BIT, (10, 20), &[(NO_PARAM, AT, 20)]);
        check(GL_MAP_WRITE_BIT, (10, -1), &[(NO_PARAM, AT, 90)]);
        check(all, (0, 100), &[(NO_PARAM, AT, 100)]);
        check(GL_MAP_READ_BIT, (0, 100), &[]);
        check(GL_MAP_READ_BIT | GL_MAP_WRITE_BIT, (0, 100), &[(NO_PARAM, AT, 100)]);
        check(GL_MAP_WRITE_BIT | GL_MAP_FLUSH_EXPLICIT_BIT, (0, 100), &[]);
    }

    #[test]
    fn flushed_range_is_observed_where_it_lies_in_the_mapping() {
        let access = GL_MAP_WRITE_BIT | GL_MAP_FLUSH_EXPLICIT_BIT;
        let check = |access, offset, length, expected: &[(u8, u64, u64)]| {
            let (mut thread, memory) = mapping(100, (40, 20), access);
            let mut seen = Seen::default();
            flushed_writes(&mut thread, &memory, &mut seen, TARGET, offset, length);
            assert_eq!(seen.0, expected, "{access:#x} {offset} {length}");
        };
        check(access, 5, 10, &[(NO_PARAM, AT + 5, 10)]);
        check(access, 0, 20, &[(NO_PARAM, AT, 20)]);
        check(access, 5, 16, &[]);
        check(access, -1, 4, &[]);
        check(access, 4, -1, &[]);
        check(access, i64::MAX, i64::MAX, &[]);
        check(GL_MAP_WRITE_BIT, 0, 20, &[]);
    }

    const PERSISTENT: u32 = GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT_EXT | GL_MAP_COHERENT_BIT_EXT;

    #[test]
    fn changed_blocks_of_persistent_mappings_are_observed_once() {
        let (mut thread, mut memory) = mapping(40_000, (0, 40_000), PERSISTENT);
        let mut check = |memory: &Bytes, expected: &[(u64, u64)]| {
            let mut seen = Seen::default();
            changed_maps(&mut thread, memory, &mut seen);
            let expected: Vec<_> =
                expected.iter().map(|(at, len)| (NO_PARAM, AT + at, *len)).collect();
            assert_eq!(seen.0, expected);
        };
        check(&memory, &[]);
        memory.1[5000] = 1;
        check(&memory, &[(4096, 4096)]);
        check(&memory, &[]);
        memory.1[4095] = 1;
        memory.1[4096] = 2;
        memory.1[20_000] = 1;
        check(&memory, &[(0, 8192), (16_384, 4096)]);
        memory.1[39_999] = 1;
        check(&memory, &[(36_864, 40_000 - 36_864)]);
        assert_eq!(maps(&mut thread), 1);
    }

    #[test]
    fn change_across_pieces_is_one_range() {
        let bytes = 2 * PIECE_BYTES as i64;
        let (mut thread, mut memory) = mapping(bytes, (0, bytes), PERSISTENT);
        memory.1[PIECE_BYTES - 1] = 1;
        memory.1[PIECE_BYTES] = 1;
        let mut seen = Seen::default();
        changed_maps(&mut thread, &memory, &mut seen);
        let first = (PIECE_BYTES - BLOCK_BYTES) as u64;
        assert_eq!(seen.0, [(NO_PARAM, AT + first, 2 * BLOCK_BYTES as u64)]);
    }

    #[test]
    fn end_of_a_persistent_mapping_observes_the_last_changes() {
        let (mut thread, mut memory) = mapping(8192, (0, 8192), PERSISTENT);
        memory.1[1] = 1;
        let mut seen = Seen::default();
        mapped_writes(&mut thread, &memory, &mut seen, TARGET);
        unmap_buffer(&mut thread, &memory, TARGET);
        assert_eq!(seen.0, [(NO_PARAM, AT, 4096)]);
        assert_eq!(maps(&mut thread), 0);
    }

    #[test]
    fn only_persistent_write_mappings_without_explicit_flush_are_watched() {
        for access in [
            GL_MAP_READ_BIT | GL_MAP_PERSISTENT_BIT_EXT,
            PERSISTENT | GL_MAP_FLUSH_EXPLICIT_BIT,
            GL_MAP_WRITE_BIT,
        ] {
            let (mut thread, _) = mapping(100, (0, 100), access);
            assert_eq!(maps(&mut thread), 0, "{access:#x}");
        }
    }

    #[test]
    fn mapping_ends_with_its_buffer_or_its_data_store() {
        let (mut thread, memory) = mapping(100, (0, 100), PERSISTENT);
        define_buffer(&mut thread, &Nothing, TARGET, 50, 0);
        assert_eq!(maps(&mut thread), 0);
        map_buffer(&mut thread, &memory, TARGET, 0, 50, PERSISTENT, AT);
        assert_eq!(maps(&mut thread), 1);
        delete_buffer(&mut thread, &Nothing, 3);
        assert_eq!(maps(&mut thread), 0);
        let mut seen = Seen::default();
        changed_maps(&mut thread, &memory, &mut seen);
        assert_eq!(seen, Seen::default());
    }

    #[test]
    fn mapped_writes_are_in_the_contents_of_an_index_source() {
        let mut thread = thread((3, 2));
        let buffer = context(&mut thread).group.lock().buffers.create(3);
        bind_element_buffer(&mut thread, &Nothing, buffer);
        define_buffer(&mut thread, &Nothing, GL_ELEMENT_ARRAY_BUFFER, 8, 0);
        let memory = Bytes(AT, vec![7, 8, 9]);
        let target = GL_ELEMENT_ARRAY_BUFFER;
        map_buffer(&mut thread, &memory, target, 2, 3, GL_MAP_WRITE_BIT, AT);
        unmap_buffer(&mut thread, &memory, target);
        assert_eq!(contents(&mut thread, buffer), [0, 0, 7, 8, 9, 0, 0, 0]);
        let access = GL_MAP_WRITE_BIT | GL_MAP_FLUSH_EXPLICIT_BIT;
        map_buffer(&mut thread, &memory, target, 4, 3, access, AT);
        flush_mapping(&mut thread, &memory, target, 1, 2);
        unmap_buffer(&mut thread, &memory, target);
        assert_eq!(contents(&mut thread, buffer), [0, 0, 7, 8, 9, 8, 9, 0]);
    }
}

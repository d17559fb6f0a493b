//! Helpers for the tests of these modules: a thread with a context, and an observer.

use std::sync::Arc;

use crate::{Buffer, Context, Group, Memory, Observer, Process, Ref, Thread, Whole};

use super::{arrays, buffers, maps};

/// Ranges in the order in which they were reported: parameter, address, length.
#[derive(Default, PartialEq, Eq, Debug)]
pub struct Seen(pub Vec<(u8, u64, u64)>);

impl Observer for Seen {
    fn range(&mut self, param: u8, address: u64, len: u64) {
        self.0.push((param, address, len));
    }
}

/// Returns a thread whose context has this version and a current program.
pub fn thread(version: (u8, u8)) -> Thread<Whole> {
    let mut thread = Thread::new(Arc::new(Process::default()), 1);
    let mut context = Context::new(1, Arc::new(Group::default()), version);
    let program = context.group.lock().programs.create(1);
    context.program = program;
    thread.context = Some(Box::new(context));
    thread
}

/// Returns the thread's context.
pub fn context(thread: &mut Thread<Whole>) -> &mut Context<Whole> {
    thread.context.as_deref_mut().expect("the tests' thread has one")
}

/// Returns the known contents of a buffer; empty if they are unknown.
pub fn contents(thread: &mut Thread<Whole>, buffer: Ref<Buffer>) -> Vec<u8> {
    let group = context(thread).group.lock();
    group.buffers.get(buffer).expect("the buffer exists").contents.clone().unwrap_or_default()
}

// What commands do to the bound vertex array object and to bound buffers.

type Whom<'a> = &'a mut Thread<Whole>;

/// Sets the array of a slot of the bound vertex array object, in the bound buffer.
pub fn set_vertex_array<M: Memory>(
    thread: Whom<'_>,
    memory: &M,
    slot: u32,
    size: i32,
    ty: u32,
    stride: i32,
    pointer: u64,
) {
    let (array, buffer) = (context(thread).vertex_array, context(thread).array_buffer);
    arrays::set_array_of(thread, memory, array, buffer, slot, size, ty, stride, pointer);
}

/// Enables or disables a slot of the bound vertex array object.
pub fn enable_vertex_array<M: Memory>(thread: Whom<'_>, memory: &M, slot: u32, enabled: bool) {
    let array = context(thread).vertex_array;
    arrays::enable_array_of(thread, memory, array, slot, enabled);
}

/// Sets the binding point of a slot.
pub fn set_vertex_binding<M: Memory>(thread: Whom<'_>, memory: &M, slot: u32, binding: u32) {
    let array = context(thread).vertex_array;
    arrays::set_binding_of(thread, memory, array, slot, binding);
}

/// Sets the divisor of a binding point.
pub fn set_vertex_divisor<M: Memory>(thread: Whom<'_>, memory: &M, binding: u32, divisor: u32) {
    let array = context(thread).vertex_array;
    arrays::set_divisor_of(thread, memory, array, binding, divisor);
}

/// Binds a buffer to a binding point of the bound vertex array object.
pub fn bind_vertex_buffer<M: Memory>(
    thread: Whom<'_>,
    memory: &M,
    binding: u32,
    buffer: Ref<Buffer>,
    offset: i64,
    stride: i32,
) {
    let array = context(thread).vertex_array;
    arrays::bind_buffer_of(thread, memory, array, binding, buffer, offset, stride);
}

/// Binds the element buffer of the bound vertex array object.
pub fn bind_element_buffer<M: Memory>(thread: Whom<'_>, memory: &M, buffer: Ref<Buffer>) {
    let array = context(thread).vertex_array;
    buffers::bind_element_buffer_of(thread, memory, array, buffer);
}

/// Gives the buffer that is bound to a target a new data store.
pub fn define_buffer<M: Memory>(thread: Whom<'_>, memory: &M, target: u32, size: i64, data: u64) {
    let bound = context(thread).buffer_at(target);
    buffers::define_buffer(thread, memory, bound, target, size, data);
}

/// Copies between the buffers that are bound to two targets.
pub fn copy_buffer<M: Memory>(
    thread: Whom<'_>,
    memory: &M,
    from: u32,
    to: u32,
    from_offset: i64,
    to_offset: i64,
    size: i64,
) {
    let (from, to) = (context(thread).buffer_at(from), context(thread).buffer_at(to));
    buffers::copy_buffer(thread, memory, from, to, from_offset, to_offset, size);
}

/// Maps the buffer that is bound to a target.
pub fn map_buffer<M: Memory>(
    thread: Whom<'_>,
    memory: &M,
    target: u32,
    offset: i64,
    length: i64,
    access: u32,
    pointer: u64,
) {
    let bound = context(thread).buffer_at(target);
    maps::map_buffer(thread, memory, bound, offset, length, access, pointer);
}

/// Observes what was written into the mapping of the buffer that is bound to a target.
pub fn mapped_writes<M: Memory>(thread: Whom<'_>, memory: &M, seen: &mut Seen, target: u32) {
    let bound = context(thread).buffer_at(target);
    maps::mapped_writes(thread, memory, seen, bound);
}

/// Ends the mapping of the buffer that is bound to a target.
pub fn unmap_buffer<M: Memory>(thread: Whom<'_>, memory: &M, target: u32) {
    let bound = context(thread).buffer_at(target);
    maps::unmap_buffer(thread, memory, bound);
}

/// Observes a flushed range of the mapping of the buffer that is bound to a target.
pub fn flushed_writes<M: Memory>(
    thread: Whom<'_>,
    memory: &M,
    seen: &mut Seen,
    target: u32,
    offset: i64,
    length: i64,
) {
    let bound = context(thread).buffer_at(target);
    maps::flushed_writes(thread, memory, seen, bound, offset, length);
}

/// Copies a flushed range of that mapping into the kept contents.
pub fn flush_mapping<M: Memory>(
    thread: Whom<'_>,
    memory: &M,
    target: u32,
    offset: i64,
    length: i64,
) {
    let bound = context(thread).buffer_at(target);
    maps::flush_mapping(thread, memory, bound, offset, length);
}

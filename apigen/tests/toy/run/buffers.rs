//! Objects: names, lifetimes, and the contents of mapped buffers.

use std::sync::Arc;

use crate::commands::*;
use crate::generated::constants::*;
use crate::program::{Heap, Seen, context, shared, thread, thread_in};
use crate::toy::CHANGED_MAPS;
use crate::value::{Describe, Value};
use crate::whole::{Group, Thread};
use crate::{Contents, Ignore, NO_PARAM};

const VERTICES: u32 = TOY_VERTICES as u32;
const INDICES: u32 = TOY_INDICES as u32;

fn generate(thread: &mut Thread, names: &[u32]) {
    let heap = Heap::default();
    let address = heap.put_u32(names);
    toyGenBuffers::leave(thread, &heap, &mut Ignore, names.len() as i32, address);
}

fn delete(thread: &mut Thread, names: &[u32]) {
    let heap = Heap::default();
    let address = heap.put_u32(names);
    toyDeleteBuffers::enter(thread, &heap, &mut Ignore, names.len() as i32, address);
}

fn bind(thread: &mut Thread, target: u32, name: u32) {
    toyBindBuffer::enter(thread, &Heap::default(), &mut Ignore, target, name);
}

#[test]
fn generated_names_are_bound_as_the_objects_they_were_made_for() {
    let mut thread = thread();
    generate(&mut thread, &[3, 4]);
    bind(&mut thread, VERTICES, 4);
    assert_eq!(context(&thread).vertices, shared(&thread, |group| group.buffers.find(4)));
    assert_eq!(shared(&thread, |group| group.made), 2);
}

#[test]
fn unknown_name_is_created_by_binding_it() {
    let mut thread = thread();
    bind(&mut thread, INDICES, 9);
    assert_eq!(context(&thread).indices.name(), 9);
    bind(&mut thread, INDICES, 0);
    assert!(context(&thread).indices.is_none());
}

#[test]
fn deleted_buffer_is_unbound_in_its_context_and_stays_bound_in_others() {
    let group = Arc::new(Group::default());
    let (mut here, mut there) = (thread_in(&group), thread_in(&group));
    generate(&mut here, &[7]);
    bind(&mut here, VERTICES, 7);
    bind(&mut there, VERTICES, 7);
    let old = context(&there).vertices;
    assert_eq!(context(&here).vertices, old);
    delete(&mut here, &[7]);
    assert!(context(&here).vertices.is_none());
    assert_eq!(context(&there).vertices, old);

    // The name is reused at once; the old object is still bound in the other context.
    generate(&mut here, &[7]);
    bind(&mut here, VERTICES, 7);
    assert_ne!(context(&here).vertices, old);
    let heap = Heap::default();
    toyBufferData::enter(&mut here, &heap, &mut Ignore, VERTICES, 8, 0);
    toyBufferData::enter(&mut there, &heap, &mut Ignore, VERTICES, 5, 0);
    let size = |object| shared(&here, |group| group.buffers.get(object).map(|it| it.size));
    assert_eq!((size(context(&here).vertices), size(old)), (Some(8), Some(5)));

    // A context with the old object in its cache finds the new object.
    bind(&mut there, INDICES, 7);
    assert_eq!(context(&there).indices, context(&here).vertices);
}

#[test]
fn field_of_none_reads_as_default_and_ignores_assignments() {
    let mut thread = thread();
    let heap = Heap::default();
    toyBufferData::enter(&mut thread, &heap, &mut Ignore, VERTICES, 8, 0);
    assert_eq!(shared(&thread, |group| group.buffers.named().count()), 0);
}

#[test]
fn contents_are_known_if_the_program_passed_them() {
    let mut thread = thread();
    let heap = Heap::default();
    let data = heap.put(b"0123456789abcdef and more");
    bind(&mut thread, VERTICES, 1);
    let contents = |thread: &Thread| {
        let object = context(thread).vertices;
        shared(thread, |group| {
            let buffer = group.buffers.get(object).expect("it is bound");
            (buffer.contents, buffer.head.clone(), buffer.size)
        })
    };
    assert_eq!(contents(&thread), (Contents::Zero, vec![], 0));
    toyBufferData::enter(&mut thread, &heap, &mut Ignore, VERTICES, 20, data);
    assert_eq!(contents(&thread), (Contents::Program, b"0123456789abcdef".to_vec(), 20));
    toyBufferData::enter(&mut thread, &heap, &mut Ignore, VERTICES, 0, 0);
    assert_eq!(contents(&thread).0, Contents::Unknown);
    assert_eq!(contents(&thread).2, 0);
}

#[test]
fn mapped_memory_is_observed_when_the_mapping_ends() {
    let mut thread = thread();
    let heap = Heap::default();
    bind(&mut thread, VERTICES, 1);
    toyBufferData::enter(&mut thread, &heap, &mut Ignore, VERTICES, 20, 0);
    toyMapBuffer::leave(&mut thread, &heap, &mut Ignore, VERTICES, 0x7, 0x5000);
    let mut seen = Seen::default();
    toyUnmapBuffer::enter(&mut thread, &heap, &mut seen, VERTICES);
    let changed = (NO_PARAM, CHANGED_MAPS, 1);
    assert_eq!(seen.ranges, [changed, (NO_PARAM, 0x5000, 20)]);
    toyUnmapBuffer::leave(&mut thread, &heap, &mut seen, VERTICES, 0);
    toyUnmapBuffer::enter(&mut thread, &heap, &mut seen, VERTICES);
    assert_eq!(seen.ranges.len(), 4, "the driver refused, so it is still mapped");
    toyUnmapBuffer::leave(&mut thread, &heap, &mut seen, VERTICES, 1);
    toyUnmapBuffer::enter(&mut thread, &heap, &mut seen, VERTICES);
    assert_eq!(seen.ranges.len(), 5);
}

#[test]
fn alias_does_what_its_command_does() {
    let mut thread = thread();
    toyBindBufferEXT::enter(&mut thread, &Heap::default(), &mut Ignore, INDICES, 5);
    assert_eq!(context(&thread).indices.name(), 5);
}

#[test]
fn command_without_a_context_does_nothing() {
    let mut thread = thread();
    let context = thread.context.take();
    bind(&mut thread, VERTICES, 5);
    generate(&mut thread, &[6]);
    let context = context.expect("it was current");
    assert_eq!(context.group.lock().buffers.named().count(), 0);
}

#[test]
fn huge_count_of_unreadable_names_creates_none() {
    let mut thread = thread();
    toyGenBuffers::leave(&mut thread, &Heap::default(), &mut Ignore, i32::MAX, 0x1000);
    assert_eq!(shared(&thread, |group| group.buffers.named().count()), 0);
}

#[test]
fn label_is_a_text_value_of_the_state() {
    let mut thread = thread();
    let heap = Heap::default();
    let label = heap.text("crates");
    bind(&mut thread, VERTICES, 1);
    toyLabel::enter(&mut thread, &heap, &mut Ignore, 1, 3, label);
    let labels = |thread: &Thread| {
        shared(thread, |group| {
            group.buffers.named().map(|(_, buffer)| buffer.label.clone()).collect::<Vec<_>>()
        })
    };
    assert_eq!(labels(&thread), ["cra"]);
    toyLabel::enter(&mut thread, &heap, &mut Ignore, 1, -1, label);
    assert_eq!(labels(&thread), ["crates"]);
    let Value::Record(fields) = shared(&thread, Describe::describe) else { unreachable!() };
    let (_, Value::Map(buffers)) = fields.last().expect("it has fields") else { unreachable!() };
    let Value::Record(buffer) = &buffers[0].1 else { unreachable!() };
    assert!(buffer.contains(&("label", Value::Text("crates".to_owned()))));
    assert!(buffer.contains(&("access", Value::Bits { group: "ToyAccess", value: 0 })));
    assert!(buffer.contains(&("contents", Value::Named("Zero"))));
}

//! Handles, attribute lists, and structs with chains.

use crate::commands::*;
use crate::generated::constants::*;
use crate::program::{Heap, Seen, thread};
use crate::whole::Thread;
use crate::{Ignore, Nothing};

fn create(thread: &mut Thread, handle: u64) {
    toyCreateDevice::leave(thread, &Nothing, &mut Ignore, 0, handle);
}

#[test]
fn handle_of_64_bits_names_a_device_until_it_is_destroyed() {
    let handle = 0x7fff_1234_5678_9abc;
    let mut thread = thread();
    create(&mut thread, handle);
    toyUseDevice::leave(&mut thread, &Nothing, &mut Ignore, handle, 1);
    assert_eq!(thread.device.name(), handle);
    toyDestroyDevice::enter(&mut thread, &Nothing, &mut Ignore, handle);
    toyDestroyDevice::leave(&mut thread, &Nothing, &mut Ignore, handle, 1);
    let process = thread.process.lock();
    assert!(process.devices.find(handle).is_none());
    let device = process.devices.get(thread.device).expect("it is in use");
    assert_eq!((device.is_destroyed, device.queues), (true, 1));
}

#[test]
fn failed_destruction_keeps_the_name() {
    let mut thread = thread();
    create(&mut thread, 5);
    toyDestroyDevice::leave(&mut thread, &Nothing, &mut Ignore, 5, 0);
    assert!(thread.process.lock().devices.find(5).is_some());
}

#[test]
fn failed_creation_makes_no_device() {
    let mut thread = thread();
    create(&mut thread, 0);
    assert_eq!(thread.process.lock().devices.named().count(), 0);
}

const DEVICE_DESC: u64 = 0x40;
const DEVICE_QUEUES: u64 = 0x42;

/// The bytes of a `DeviceDesc` in C's layout.
fn desc(next: u64, queues: (u32, u64), name: u64, layers: (u32, u64)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut word = |word: u64| bytes.extend(word.to_le_bytes());
    word(DEVICE_DESC);
    word(next);
    word(u64::from(queues.0) << 32);
    word(queues.1);
    word(name);
    word(u64::from(layers.0));
    word(layers.1);
    word(0xdead);
    bytes
}

fn observed(heap: &Heap, desc: u64) -> Seen {
    let mut seen = Seen::default();
    toyCreateDevice::enter(&mut thread(), heap, &mut seen, desc);
    seen
}

#[test]
fn struct_is_observed_with_the_memory_behind_its_pointers() {
    let heap = Heap::default();
    let priorities = heap.put_f32(&[1.0, 0.5]);
    let mut queue = (2u64 << 32 | 7).to_le_bytes().to_vec();
    queue.extend(priorities.to_le_bytes());
    let queues = heap.put(&queue);
    let name = heap.text("gpu");
    let (first, second) = (heap.text("a"), heap.text("bc"));
    let layers = heap.put_u64(&[first, second]);
    let at = heap.put(&desc(0, (1, queues), name, (2, layers)));
    let expected = [
        (0, at, 64),
        (0, queues, 16),
        (0, priorities, 8),
        (0, name, 3),
        (0, layers, 16),
        (0, first, 1),
        (0, second, 2),
    ];
    assert_eq!(observed(&heap, at).ranges, expected);
}

#[test]
fn chain_goes_on_through_known_structs_and_ends_at_an_unknown_one() {
    let heap = Heap::default();
    let unknown = heap.put_u64(&[0x99, 0]);
    let families = heap.put_u32(&[1, 2, 3, 4, 5]);
    let (one, other) = (heap.put_u64(&[1]), heap.put_u64(&[2]));
    let weights = heap.put_u64(&[one, other]);
    let queues = heap.put_u64(&[DEVICE_QUEUES, unknown, 2, families, weights]);
    let at = heap.put(&desc(queues, (0, 0), 0, (0, 0)));
    let seen = observed(&heap, at);
    let expected = [
        (0, at, 64),
        (0, queues, 40),
        (0, families, 20),
        (0, weights, 16),
        (0, one, 8),
        (0, other, 8),
    ];
    assert_eq!(seen.ranges, expected);
    assert_eq!(seen.unknown, [0x99]);
}

#[test]
fn chain_in_a_circle_ends() {
    let heap = Heap::default();
    let at = heap.put(&desc(0x1000, (0, 0), 0, (0, 0)));
    assert_eq!(at, 0x1000);
    assert!(observed(&heap, at).ranges.len() < 100_000);
}

#[test]
fn null_struct_is_not_observed() {
    assert_eq!(observed(&Heap::default(), 0), Seen::default());
}

#[test]
fn attribute_list_gives_values_and_defaults() {
    let mut thread = thread();
    let heap = Heap::default();
    let list = heap.put_u32(&[TOY_HEIGHT as u32, 480, 0x3038]);
    toyConfigure::enter(&mut thread, &heap, &mut Ignore, list);
    let size = |thread: &Thread| {
        let process = thread.process.lock();
        (process.width, process.height)
    };
    assert_eq!(size(&thread), (64, 480));
    toyConfigure::enter(&mut thread, &heap, &mut Ignore, 0);
    assert_eq!(size(&thread), (64, 64));
}

#[test]
fn output_is_read_after_the_driver_has_returned() {
    let mut thread = thread();
    let heap = Heap::default();
    let value = heap.put_u32(&[1920]);
    toyQuery::leave(&mut thread, &heap, &mut Ignore, TOY_WIDTH as i32, value, 1);
    assert_eq!(thread.process.lock().width, 1920);
    toyQuery::leave(&mut thread, &heap, &mut Ignore, TOY_HEIGHT as i32, 0, 1);
    assert_eq!(thread.process.lock().width, 1920);
}

#[test]
fn memory_that_is_written_after_it_was_read_is_observed_again() {
    let heap = Heap::default();
    let inout = heap.put_u32(&[1]);
    let mut seen = Seen::default();
    toyExchange::leave(&mut thread(), &heap, &mut seen, inout);
    assert_eq!(seen.ranges, [(0, inout, 4)]);
}

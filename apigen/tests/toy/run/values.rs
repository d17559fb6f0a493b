//! Arithmetic, maps, lists, arrays, optionals and structs.

use crate::commands::*;
use crate::generated::constants::*;
use crate::program::{Heap, context, thread};
use crate::whole::Thread;
use crate::{Ignore, Nothing};

fn set(thread: &mut Thread, pname: i64, values: &[f32]) {
    let heap = Heap::default();
    let address = heap.put_f32(values);
    toySetValues::enter(thread, &heap, &mut Ignore, pname as u32, address);
}

#[test]
fn values_are_kept_by_key_as_lists() {
    let mut thread = thread();
    set(&mut thread, TOY_BOX, &[1.0, 2.0, 3.0, 4.0]);
    let (last, is_set) = (context(&thread).last, context(&thread).is_set);
    assert_eq!((last, is_set), (Some(TOY_BOX as u32), true));
    assert_eq!(context(&thread).values[&(TOY_BOX as u32)], [1.0, 2.0, 3.0, 4.0]);
    set(&mut thread, TOY_BOX, &[5.0, 6.0, 7.0, 8.0]);
    assert_eq!(context(&thread).values[&(TOY_BOX as u32)], [5.0, 6.0, 7.0, 8.0]);
}

#[test]
fn entry_is_removed_and_others_stay() {
    let mut thread = thread();
    set(&mut thread, TOY_BOX, &[1.0; 4]);
    set(&mut thread, TOY_MATRIX, &[2.0; 16]);
    let keys: Vec<u32> = context(&thread).values.keys().copied().collect();
    assert_eq!(keys, [TOY_MATRIX as u32]);
}

#[test]
fn structs_in_arrays_begin_as_declared_and_are_copied_whole() {
    let mut thread = thread();
    assert_eq!(context(&thread).units[3].r#box.width, 64);
    let heap = Heap::default();
    assert_eq!(context(&thread).units[5].swizzle, [1, 2, 3, 4]);
    let channels = heap.put(&[5, 6, 7, 8]);
    toySwizzle::enter(&mut thread, &heap, &mut Ignore, 5, channels);
    assert_eq!(context(&thread).units[5].swizzle, [5, 6, 7, 8]);
    assert_eq!(context(&thread).units[0].r#box, context(&thread).units[5].r#box);
    let before = context(&thread).units;
    toySwizzle::enter(&mut thread, &heap, &mut Ignore, 800, channels);
    assert_eq!(context(&thread).units[1..], before[1..]);
}

#[test]
fn numbers_are_cut_to_the_width_of_their_place() {
    let mut thread = thread();
    assert_eq!((context(&thread).steps, context(&thread).mask), (-1, 0xff));
    toyScale::enter(&mut thread, &Nothing, &mut Ignore, 100_000.0, 3);
    assert_eq!(context(&thread).scale, 100_001.5);
    // 100001 << 2 >> 1, in 16 bits.
    assert_eq!(context(&thread).steps, (100_001i64 << 1) as i16);
    assert_eq!(context(&thread).mask, (!0xff_i64 ^ (3 & 0xffff)) as u32);
}

#[test]
fn texts_are_keys_and_strings_are_one_text() {
    let mut thread = thread();
    let heap = Heap::default();
    let (first, second) = (heap.text("void main"), heap.text("() {}"));
    let strings = heap.put_u64(&[first, second]);
    let lengths = heap.put_u32(&[4, u32::MAX]);
    toySource::enter(&mut thread, &heap, &mut Ignore, 1, 2, strings, lengths);
    toyFind::leave(&mut thread, &heap, &mut Ignore, 1, heap.text("colour"), 3);
    toyFind::leave(&mut thread, &heap, &mut Ignore, 1, heap.text("nothing"), -1);
    let names: Vec<_> = context(&thread).names.iter().collect();
    assert_eq!(names, [(&"colour".to_owned(), &3), (&"source".to_owned(), &9)]);
}

//! Vertex arrays of OpenGL ES 1.1 and draws of extensions: the client memory that they read.

use crate::program::{BASE, Context, Group, Program, Seen, Thread, thread};
use gapii_state::commands::*;
use gapii_state::{Ignore, Nothing};
use std::sync::Arc;

const GL_TRIANGLES: u32 = 4;
const GL_UNSIGNED_BYTE: u32 = 0x1401;
const GL_SHORT: u32 = 0x1402;
const GL_UNSIGNED_SHORT: u32 = 0x1403;
const GL_FLOAT: u32 = 0x1406;
const GL_FIXED: u32 = 0x140C;
const GL_TEXTURE0: u32 = 0x84C0;
const GL_ARRAY_BUFFER: u32 = 0x8892;
const GL_VERTEX_ARRAY: u32 = 0x8074;
const GL_NORMAL_ARRAY: u32 = 0x8075;
const GL_COLOR_ARRAY: u32 = 0x8076;
const GL_TEXTURE_COORD_ARRAY: u32 = 0x8078;
const GL_POINT_SIZE_ARRAY_OES: u32 = 0x8B9C;

fn es1() -> Thread {
    with_version((1, 1))
}

fn with_version(version: (u8, u8)) -> Thread {
    let mut thread = thread();
    thread.context = Some(Box::new(Context::new(1, Arc::<Group>::default(), version)));
    thread
}

fn enable(thread: &mut Thread, array: u32) {
    glEnableClientState::enter(thread, &Nothing, &mut Ignore, array);
}

/// Returns the ranges that glDrawArrays reads for `count` vertices from `first` on, without parameter indices.
fn drawn(thread: &mut Thread, first: i32, count: i32) -> Vec<(u64, u64)> {
    let mut seen = Seen::default();
    glDrawArrays::enter(thread, &Nothing, &mut seen, GL_TRIANGLES, first, count);
    let mut ranges: Vec<_> = seen.ranges.iter().map(|(_, at, len)| (*at, *len)).collect();
    ranges.sort_unstable();
    ranges
}

#[test]
fn each_enabled_array_is_observed_for_the_drawn_vertices() {
    let mut thread = es1();
    let seen = &mut Ignore;
    glVertexPointer::enter(&mut thread, &Nothing, seen, 3, GL_FLOAT, 0, 0x1000);
    glNormalPointer::enter(&mut thread, &Nothing, seen, GL_SHORT, 8, 0x2000);
    glColorPointer::enter(&mut thread, &Nothing, seen, 4, GL_UNSIGNED_BYTE, 0, 0x3000);
    glPointSizePointerOES::enter(&mut thread, &Nothing, seen, GL_FIXED, 0, 0x4000);
    assert_eq!(drawn(&mut thread, 0, 3), []);
    enable(&mut thread, GL_VERTEX_ARRAY);
    assert_eq!(drawn(&mut thread, 0, 3), [(0x1000, 36)]);
    for array in [GL_NORMAL_ARRAY, GL_COLOR_ARRAY, GL_POINT_SIZE_ARRAY_OES] {
        enable(&mut thread, array);
    }
    let expected = [(0x1000 + 24, 36), (0x2000 + 16, 22), (0x3000 + 8, 12), (0x4000 + 8, 12)];
    assert_eq!(drawn(&mut thread, 2, 3), expected);
    glDisableClientState::enter(&mut thread, &Nothing, seen, GL_NORMAL_ARRAY);
    assert_eq!(drawn(&mut thread, 0, 1), [(0x1000, 12), (0x3000, 4), (0x4000, 4)]);
}

#[test]
fn texture_coordinates_belong_to_the_active_client_unit() {
    let mut thread = es1();
    let mut seen = Ignore;
    for (unit, address) in [(0, 0x1000), (1, 0x2000), (7, 0x8000)] {
        let texture = GL_TEXTURE0 + unit;
        glClientActiveTexture::enter(&mut thread, &Nothing, &mut seen, texture);
        glTexCoordPointer::enter(&mut thread, &Nothing, &mut seen, 2, GL_FLOAT, 0, address);
    }
    enable(&mut thread, GL_TEXTURE_COORD_ARRAY);
    assert_eq!(drawn(&mut thread, 0, 2), [(0x8000, 16)]);
    glClientActiveTexture::enter(&mut thread, &Nothing, &mut seen, GL_TEXTURE0 + 1);
    enable(&mut thread, GL_TEXTURE_COORD_ARRAY);
    assert_eq!(drawn(&mut thread, 0, 2), [(0x2000, 16), (0x8000, 16)]);
    glClientActiveTexture::enter(&mut thread, &Nothing, &mut seen, GL_TEXTURE0 + 8);
    glDisableClientState::enter(&mut thread, &Nothing, &mut seen, GL_TEXTURE_COORD_ARRAY);
    assert_eq!(drawn(&mut thread, 0, 2), [(0x8000, 16)], "unit 8 does not exist");
}

#[test]
fn array_in_a_buffer_is_not_observed() {
    let mut thread = es1();
    let mut seen = Ignore;
    glBindBuffer::enter(&mut thread, &Nothing, &mut seen, GL_ARRAY_BUFFER, 5);
    glVertexPointer::enter(&mut thread, &Nothing, &mut seen, 3, GL_FLOAT, 0, 0x10);
    glBindBuffer::enter(&mut thread, &Nothing, &mut seen, GL_ARRAY_BUFFER, 0);
    glColorPointer::enter(&mut thread, &Nothing, &mut seen, 4, GL_FLOAT, 0, 0x1000);
    enable(&mut thread, GL_VERTEX_ARRAY);
    enable(&mut thread, GL_COLOR_ARRAY);
    assert_eq!(drawn(&mut thread, 0, 1), [(0x1000, 16)]);
}

#[test]
fn invalid_pointer_changes_nothing() {
    let check = |version: (u8, u8), size: i32, ty: u32, stride: i32| {
        let mut thread = with_version(version);
        glVertexPointer::enter(&mut thread, &Nothing, &mut Ignore, 2, GL_FLOAT, 0, 0x1000);
        enable(&mut thread, GL_VERTEX_ARRAY);
        let before = drawn(&mut thread, 0, 1);
        glVertexPointer::enter(&mut thread, &Nothing, &mut Ignore, size, ty, stride, 0x2000);
        assert_eq!(drawn(&mut thread, 0, 1), before, "{size} {ty:#x} {stride}");
    };
    check((1, 1), 1, GL_FLOAT, 0);
    check((1, 1), 5, GL_FLOAT, 0);
    check((1, 1), 3, GL_UNSIGNED_SHORT, 0);
    check((1, 1), 3, GL_FLOAT, -4);
    check((2, 0), 3, GL_FLOAT, 0);
    check((3, 2), 3, GL_FLOAT, 0);
}

#[test]
fn each_draw_of_a_multi_draw_is_observed_by_itself() {
    let mut thread = es1();
    let mut program = Program::default();
    glVertexPointer::enter(&mut thread, &Nothing, &mut Ignore, 2, GL_FLOAT, 0, 0x1000);
    enable(&mut thread, GL_VERTEX_ARRAY);
    let (first, count) = (program.put_i32(&[0, 100, 7]), program.put_i32(&[3, 6, 0]));
    let mut seen = Seen::default();
    glMultiDrawArraysEXT::enter(&mut thread, &program, &mut seen, GL_TRIANGLES, first, count, 3);
    let ranges: Vec<_> = seen.ranges.iter().map(|(_, at, len)| (*at, *len)).collect();
    assert_eq!(ranges, [(0x1000, 24), (0x1000 + 800, 48)]);

    let indices: Vec<u8> = [5u16, 2, 3].iter().flat_map(|index| index.to_le_bytes()).collect();
    let (one, other) = (program.put(&indices), program.put(&indices[..2]));
    let (lists, count) = (program.put_u64(&[one, other]), program.put_i32(&[3, 1]));
    let mut seen = Seen::default();
    glMultiDrawElementsEXT::enter(
        &mut thread,
        &program,
        &mut seen,
        GL_TRIANGLES,
        count,
        GL_UNSIGNED_SHORT,
        lists,
        2,
    );
    let mut ranges: Vec<_> = seen.ranges.iter().map(|(_, at, len)| (*at, *len)).collect();
    ranges.sort_unstable();
    let mut expected = vec![(one, 6), (0x1000 + 16, 32), (other, 2), (0x1000 + 40, 8)];
    expected.sort_unstable();
    assert_eq!(ranges, expected);
    assert!(one > BASE);
}

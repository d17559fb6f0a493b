//! The memory that OpenGL ES commands read and write, depending on the preceding commands.
//!
//! Each test is a short program: a sequence of commands, and the ranges that the last one accesses.

use std::sync::Arc;

use gapii_state::commands::*;
use gapii_state::{ElementBuffer, Memory, NO_PARAM, Observer, Whole};

type Context = gapii_state::Context<Whole>;
type Group = gapii_state::Group<Whole>;
type Process = gapii_state::Process<Whole>;
type Thread = gapii_state::Thread<Whole>;

/// Observed ranges: parameter, address, length, which is [`UNKNOWN`] for an unknown extent.
#[derive(Default, PartialEq, Eq, Debug)]
struct Seen(Vec<(u8, u64, u64)>);

const UNKNOWN: u64 = 0;

impl Observer for Seen {
    fn range(&mut self, param: u8, address: u64, len: u64) {
        self.0.push((param, address, len));
    }

    fn unknown(&mut self, param: u8, address: u64) {
        self.0.push((param, address, UNKNOWN));
    }
}

/// 64 KiB of memory, and the contents of the element buffer if the driver tells them.
struct Space(Vec<u8>, Option<Vec<u8>>);

const SPACE: u64 = 0x10_0000;

impl Space {
    fn new() -> Self {
        Self(vec![0; 1 << 16], None)
    }

    /// Writes values at an offset, and returns their address.
    fn put<const N: usize>(&mut self, offset: usize, values: &[[u8; N]]) -> u64 {
        let bytes = values.concat();
        self.0[offset..offset + bytes.len()].copy_from_slice(&bytes);
        SPACE + offset as u64
    }

    fn text(&mut self, offset: usize, text: &str) -> u64 {
        self.0[offset..offset + text.len()].copy_from_slice(text.as_bytes());
        self.0[offset + text.len()] = 0;
        SPACE + offset as u64
    }
}

impl Memory for Space {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let from = address.checked_sub(SPACE).map(|from| from as usize);
        let found = from.and_then(|from| self.0.get(from..)?.get(..into.len()));
        found.map(|found| into.copy_from_slice(found)).is_some()
    }

    fn text_len(&self, address: u64, most: u64) -> u64 {
        let mut byte = [1];
        (0..most).take_while(|at| self.read(address + at, &mut byte) && byte[0] != 0).count() as u64
    }

    fn element_buffer(&self, _: ElementBuffer, offset: u64, into: &mut [u8]) -> bool {
        let found =
            self.1.as_ref().and_then(|bytes| bytes.get(offset as usize..)?.get(..into.len()));
        found.map(|found| into.copy_from_slice(found)).is_some()
    }
}

/// A program: a thread with a context, and its memory.
struct App {
    thread: Thread,
    space: Space,
    seen: Seen,
}

impl App {
    fn new(version: (u8, u8)) -> Self {
        let mut thread = Thread::new(Arc::new(Process::default()), 1);
        let context = Context::new(1, Arc::new(Group::default()), version);
        thread.context = Some(Box::new(context));
        Self { thread, space: Space::new(), seen: Seen::default() }
    }

    /// A program with a current GL program, which draws need.
    fn drawing(version: (u8, u8)) -> Self {
        let mut app = Self::new(version);
        app.leave(|thread, space, seen| glCreateProgram::leave(thread, space, seen, 77));
        app.enter(|thread, space, seen| glUseProgram::enter(thread, space, seen, 77));
        app
    }

    /// Runs a part of a command, and returns the ranges that it observed.
    fn run(&mut self, part: impl FnOnce(&mut Thread, &Space, &mut Seen)) -> Vec<(u8, u64, u64)> {
        part(&mut self.thread, &self.space, &mut self.seen);
        std::mem::take(&mut self.seen.0)
    }

    fn enter(&mut self, part: impl FnOnce(&mut Thread, &Space, &mut Seen)) {
        self.run(part);
    }

    fn leave(&mut self, part: impl FnOnce(&mut Thread, &Space, &mut Seen)) {
        self.run(part);
    }
}

/// Runs one part of a command in an app.
macro_rules! call {
    ($app:expr, $command:ident::$part:ident($($argument:expr),* $(,)?)) => {{
        #[allow(clippy::cast_lossless)]
        $app.run(|thread, space, seen| $command::$part(thread, space, seen, $($argument),*))
    }};
}

const GL_TRIANGLES: u32 = 4;
const GL_BYTE: u32 = 0x1400;
const GL_UNSIGNED_BYTE: u32 = 0x1401;
const GL_UNSIGNED_SHORT: u32 = 0x1403;
const GL_FLOAT: u32 = 0x1406;
const GL_RGBA: u32 = 0x1908;
const GL_TEXTURE_2D: u32 = 0x0DE1;
const GL_ARRAY_BUFFER: u32 = 0x8892;
const GL_ELEMENT_ARRAY_BUFFER: u32 = 0x8893;
const GL_PIXEL_PACK_BUFFER: u32 = 0x88EB;
const GL_PIXEL_UNPACK_BUFFER: u32 = 0x88EC;
const GL_SHADER_STORAGE_BUFFER: u32 = 0x90D2;
const GL_ANY_SAMPLES_PASSED: u32 = 0x8C2F;
const GL_STATIC_DRAW: u32 = 0x88E4;
const GL_UNPACK_ROW_LENGTH: u32 = 0x0CF2;
const GL_UNPACK_ALIGNMENT: u32 = 0x0CF5;
const GL_PRIMITIVE_RESTART_FIXED_INDEX: u32 = 0x8D69;
const GL_MAP_READ_BIT: u32 = 1;
const GL_MAP_WRITE_BIT: u32 = 2;
const GL_MAP_FLUSH_EXPLICIT_BIT: u32 = 0x10;

const ARRAY: u64 = SPACE + 0x1000;

fn float_array(app: &mut App, index: u32, size: i32, pointer: u64) {
    call!(app, glVertexAttribPointer::enter(index, size, GL_FLOAT, false as _, 0, pointer));
    call!(app, glEnableVertexAttribArray::enter(index));
}

fn draw(app: &mut App, first: i32, count: i32) -> Vec<(u8, u64, u64)> {
    call!(app, glDrawArrays::enter(GL_TRIANGLES, first, count))
}

#[test]
fn pointer_is_an_address_without_a_buffer_and_an_offset_with_one() {
    let mut app = App::drawing((3, 0));
    float_array(&mut app, 0, 3, ARRAY);
    assert_eq!(draw(&mut app, 1, 2), [(NO_PARAM, ARRAY + 12, 24)]);
    call!(app, glBindBuffer::enter(GL_ARRAY_BUFFER, 5));
    // The binding alone changes nothing.
    assert_eq!(draw(&mut app, 1, 2), [(NO_PARAM, ARRAY + 12, 24)]);
    float_array(&mut app, 0, 3, 24);
    assert_eq!(draw(&mut app, 1, 2), []);
    call!(app, glBindBuffer::enter(GL_ARRAY_BUFFER, 0));
    assert_eq!(draw(&mut app, 1, 2), []);
}

#[test]
fn invalid_attribute_pointers_change_nothing() {
    let mut app = App::drawing((2, 0));
    float_array(&mut app, 0, 3, ARRAY);
    call!(app, glVertexAttribPointer::enter(0, 5, GL_FLOAT, 0 as _, 0, 0x9999));
    call!(app, glVertexAttribPointer::enter(0, 0, GL_FLOAT, 0 as _, 0, 0x9999));
    call!(app, glVertexAttribPointer::enter(0, 3, GL_FLOAT, 0 as _, -4, 0x9999));
    call!(app, glVertexAttribPointer::enter(0, 3, 0x1405, 0 as _, 0, 0x9999));
    call!(app, glVertexAttribPointer::enter(32, 3, GL_FLOAT, 0 as _, 0, 0x9999));
    assert_eq!(draw(&mut app, 0, 1), [(NO_PARAM, ARRAY, 12)]);
}

#[test]
fn invalid_draws_read_nothing() {
    let mut app = App::drawing((3, 0));
    float_array(&mut app, 0, 3, ARRAY);
    for mode in [7, 9, 0xDEAD] {
        assert_eq!(call!(app, glDrawArrays::enter(mode, 0, 3)), []);
        assert_eq!(call!(app, glDrawElements::enter(mode, 3, GL_UNSIGNED_BYTE, ARRAY)), []);
    }
    assert_eq!(draw(&mut app, 0, -3), []);
    assert_eq!(call!(app, glDrawElements::enter(GL_TRIANGLES, 3, GL_BYTE, ARRAY)), []);
    call!(app, glUseProgram::enter(0));
    assert_eq!(draw(&mut app, 0, 3), []);
}

#[test]
fn nothing_is_read_without_a_context() {
    let mut app = App::drawing((3, 0));
    float_array(&mut app, 0, 3, ARRAY);
    app.thread.context = None;
    assert_eq!(draw(&mut app, 0, 3), []);
    assert_eq!(call!(app, glBufferData::enter(GL_ARRAY_BUFFER, 64, ARRAY, GL_STATIC_DRAW)), []);
    assert_eq!(
        call!(
            app,
            glTexSubImage2D::enter(GL_TEXTURE_2D, 0, 0, 0, 4, 4, GL_RGBA, GL_UNSIGNED_BYTE, ARRAY)
        ),
        []
    );
}

#[test]
fn each_vertex_array_object_has_its_arrays_and_its_element_buffer() {
    let mut app = App::drawing((2, 0));
    let names = app.space.put(0, &[3u32.to_le_bytes()]);
    call!(app, glGenVertexArrays::leave(1, names));
    float_array(&mut app, 0, 2, ARRAY);
    call!(app, glBindVertexArray::enter(3));
    assert_eq!(draw(&mut app, 0, 1), []);
    call!(app, glBindBuffer::enter(GL_ELEMENT_ARRAY_BUFFER, 4));
    let indices = app.space.put(64, &[[2u8], [0], [1]]);
    call!(app, glBufferData::enter(GL_ELEMENT_ARRAY_BUFFER, 3, indices, GL_STATIC_DRAW));
    float_array(&mut app, 1, 1, ARRAY + 64);
    let elements = |app: &mut App, at| {
        call!(app, glDrawElements::enter(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, at))
    };
    assert_eq!(elements(&mut app, 0), [(NO_PARAM, ARRAY + 64, 12)]);
    // The driver rejects a name that was not created.
    call!(app, glBindVertexArray::enter(99));
    assert_eq!(elements(&mut app, 0), [(NO_PARAM, ARRAY + 64, 12)]);
    call!(app, glDeleteVertexArrays::enter(1, names));
    assert_eq!(elements(&mut app, indices), [(3, indices, 3), (NO_PARAM, ARRAY, 24)]);
}

#[test]
fn vertex_array_object_has_no_client_arrays_since_es_3() {
    let mut app = App::drawing((3, 0));
    let names = app.space.put(0, &[3u32.to_le_bytes()]);
    call!(app, glGenVertexArrays::leave(1, names));
    call!(app, glBindVertexArray::enter(3));
    float_array(&mut app, 0, 2, ARRAY);
    assert_eq!(draw(&mut app, 0, 1), []);
}

#[test]
fn instances_and_base_vertices_move_the_observed_range() {
    let mut app = App::drawing((3, 2));
    float_array(&mut app, 0, 1, ARRAY);
    float_array(&mut app, 1, 1, ARRAY + 0x1000);
    call!(app, glVertexAttribDivisor::enter(1, 2));
    let instanced = call!(app, glDrawArraysInstanced::enter(GL_TRIANGLES, 2, 3, 5));
    assert_eq!(instanced, [(NO_PARAM, ARRAY + 8, 12), (NO_PARAM, ARRAY + 0x1000, 12)]);
    let at = app.space.put(0, &[5u16, 6, 7].map(u16::to_le_bytes));
    let based = call!(
        app,
        glDrawElementsInstancedBaseVertex::enter(GL_TRIANGLES, 3, GL_UNSIGNED_SHORT, at, 1, -5)
    );
    assert_eq!(based, [(3, at, 6), (NO_PARAM, ARRAY, 12), (NO_PARAM, ARRAY + 0x1000, 4)]);
}

#[test]
fn restart_index_is_not_a_vertex_while_restart_is_enabled() {
    let mut app = App::drawing((3, 0));
    float_array(&mut app, 0, 1, ARRAY);
    let at = app.space.put(0, &[[1u8], [255], [2]]);
    let elements =
        |app: &mut App| call!(app, glDrawElements::enter(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, at));
    assert_eq!(elements(&mut app)[1], (NO_PARAM, ARRAY + 4, 255 * 4));
    call!(app, glEnable::enter(GL_PRIMITIVE_RESTART_FIXED_INDEX));
    assert_eq!(elements(&mut app)[1], (NO_PARAM, ARRAY + 4, 8));
    call!(app, glDisable::enter(GL_PRIMITIVE_RESTART_FIXED_INDEX));
    assert_eq!(elements(&mut app)[1], (NO_PARAM, ARRAY + 4, 255 * 4));
}

#[test]
fn indices_are_known_for_every_way_of_filling_the_buffer() {
    let mut app = App::drawing((3, 1));
    float_array(&mut app, 0, 1, ARRAY);
    let at = app.space.put(0, &[[9u8], [8], [7]]);
    call!(app, glBindBuffer::enter(GL_ELEMENT_ARRAY_BUFFER, 4));
    call!(app, glBufferData::enter(GL_ELEMENT_ARRAY_BUFFER, 4, 0, GL_STATIC_DRAW));
    call!(app, glBindBuffer::enter(GL_ARRAY_BUFFER, 4));
    call!(app, glBufferSubData::enter(GL_ARRAY_BUFFER, 1, 3, at));
    let elements =
        |app: &mut App| call!(app, glDrawElements::enter(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, 1));
    assert_eq!(elements(&mut app), [(NO_PARAM, ARRAY + 28, 12)]);
    let map = app.space.put(64, &[[3u8], [3], [4]]);
    call!(app, glMapBufferRange::leave(GL_ARRAY_BUFFER, 1, 3, GL_MAP_WRITE_BIT, map));
    assert_eq!(call!(app, glUnmapBuffer::enter(GL_ARRAY_BUFFER)), [(NO_PARAM, map, 3)]);
    assert_eq!(elements(&mut app), [(NO_PARAM, ARRAY + 12, 8)]);
    call!(app, glBindBufferBase::enter(GL_SHADER_STORAGE_BUFFER, 0, 4));
    assert_eq!(elements(&mut app), [(NO_PARAM, ARRAY, UNKNOWN)]);
    assert_eq!(app.thread.context.as_ref().unwrap().unknown_indices, 1);
    // Without known indices, the range in the draw's arguments is used.
    let ranged = call!(app, glDrawRangeElements::enter(GL_TRIANGLES, 2, 5, 3, GL_UNSIGNED_BYTE, 1));
    assert_eq!(ranged, [(NO_PARAM, ARRAY + 8, 16)]);
}

#[test]
fn indices_that_the_driver_has_are_read_back() {
    let mut app = App::drawing((3, 1));
    float_array(&mut app, 0, 1, ARRAY);
    let at = app.space.put(0, &[[9u8], [8], [7], [6]]);
    call!(app, glBindBuffer::enter(GL_ARRAY_BUFFER, 4));
    call!(app, glBufferData::enter(GL_ARRAY_BUFFER, 4, at, GL_STATIC_DRAW));
    call!(app, glBindBuffer::enter(GL_ELEMENT_ARRAY_BUFFER, 4));
    let elements = |app: &mut App, count| {
        call!(app, glDrawElements::enter(GL_TRIANGLES, count, GL_UNSIGNED_BYTE, 1))
    };
    assert_eq!(elements(&mut app, 3), [(NO_PARAM, ARRAY, UNKNOWN)]);
    app.space.1 = Some(vec![9, 8, 7, 6]);
    assert_eq!(elements(&mut app, 3), [(NO_PARAM, ARRAY + 24, 12)]);
    // The driver draws nothing defined beyond the end of the buffer.
    assert_eq!(elements(&mut app, 4), []);
    // The contents are kept, and follow the program's changes.
    app.space.1 = None;
    let change = app.space.put(8, &[[2u8]]);
    call!(app, glBufferSubData::enter(GL_ARRAY_BUFFER, 1, 1, change));
    assert_eq!(elements(&mut app, 3), [(NO_PARAM, ARRAY + 8, 24)]);
    // The driver may change them at any time.
    call!(app, glBindBufferBase::enter(GL_SHADER_STORAGE_BUFFER, 0, 4));
    for index in [3, 5] {
        app.space.1 = Some(vec![index; 4]);
        assert_eq!(elements(&mut app, 3), [(NO_PARAM, ARRAY + 4 * u64::from(index), 4)]);
    }
    // A draw from a mapped buffer is an error.
    let map = app.space.put(64, &[[3u8]]);
    call!(app, glMapBufferRange::leave(GL_ARRAY_BUFFER, 0, 4, GL_MAP_WRITE_BIT, map));
    assert_eq!(elements(&mut app, 3), []);
    assert_eq!(app.thread.context.as_ref().unwrap().unknown_indices, 1);
}

#[test]
fn names_that_were_not_generated_begin_no_query_and_bind_no_vertex_buffer() {
    let mut app = App::new((3, 1));
    call!(app, glBeginQuery::enter(GL_ANY_SAMPLES_PASSED, 5));
    let names = app.space.put(0, &[7u32.to_le_bytes()]);
    call!(app, glGenVertexArrays::leave(1, names));
    call!(app, glBindVertexArray::enter(7));
    call!(app, glBindVertexBuffer::enter(0, 9, 0, 16));
    let context = app.thread.context.as_ref().unwrap();
    assert!(context.queries.find(5).is_none() && context.active_queries.is_empty());
    assert!(context.group.lock().buffers.find(9).is_none());
}

#[test]
fn buffer_data_is_read_if_a_buffer_is_bound() {
    let mut app = App::new((3, 0));
    let data = |app: &mut App, target, size, usage| {
        call!(app, glBufferData::enter(target, size, ARRAY, usage))
    };
    assert_eq!(data(&mut app, GL_ARRAY_BUFFER, 16, GL_STATIC_DRAW), []);
    call!(app, glBindBuffer::enter(GL_ARRAY_BUFFER, 1));
    assert_eq!(data(&mut app, GL_ARRAY_BUFFER, 16, GL_STATIC_DRAW), [(2, ARRAY, 16)]);
    assert_eq!(data(&mut app, GL_ARRAY_BUFFER, -1, GL_STATIC_DRAW), []);
    assert_eq!(data(&mut app, GL_ARRAY_BUFFER, 16, 0xDEAD), []);
    assert_eq!(data(&mut app, 0xDEAD, 16, GL_STATIC_DRAW), []);
    let huge = 1 << 32;
    assert_eq!(call!(app, glBufferData::enter(GL_ARRAY_BUFFER, huge, 0, GL_STATIC_DRAW)), []);
    assert_eq!(call!(app, glBufferSubData::enter(GL_ARRAY_BUFFER, 4, 8, ARRAY)), [(3, ARRAY, 8)]);
    assert_eq!(call!(app, glBufferSubData::enter(GL_ARRAY_BUFFER, -4, 8, ARRAY)), []);
    let names = app.space.put(0, &[1u32.to_le_bytes()]);
    call!(app, glDeleteBuffers::enter(1, names));
    assert_eq!(data(&mut app, GL_ARRAY_BUFFER, 16, GL_STATIC_DRAW), []);
}

#[test]
fn observation_of_a_mapping_depends_on_its_access() {
    let mut app = App::new((3, 0));
    call!(app, glBindBuffer::enter(GL_ARRAY_BUFFER, 1));
    call!(app, glBufferData::enter(GL_ARRAY_BUFFER, 100, 0, GL_STATIC_DRAW));
    let map = |app: &mut App, access| {
        call!(app, glMapBufferRange::leave(GL_ARRAY_BUFFER, 10, 20, access, ARRAY))
    };
    let unmap = |app: &mut App| call!(app, glUnmapBuffer::enter(GL_ARRAY_BUFFER));
    assert_eq!(map(&mut app, GL_MAP_READ_BIT), [(NO_PARAM, ARRAY, 20)]);
    assert_eq!(unmap(&mut app), []);
    assert_eq!(map(&mut app, GL_MAP_WRITE_BIT), []);
    assert_eq!(unmap(&mut app), [(NO_PARAM, ARRAY, 20)]);
    assert_eq!(unmap(&mut app), []);
    assert_eq!(map(&mut app, GL_MAP_WRITE_BIT | GL_MAP_FLUSH_EXPLICIT_BIT), []);
    let flushed = call!(app, glFlushMappedBufferRange::enter(GL_ARRAY_BUFFER, 4, 8));
    assert_eq!(flushed, [(NO_PARAM, ARRAY + 4, 8)]);
    assert_eq!(unmap(&mut app), []);
    // The driver failed: the mapping is null.
    let failed = call!(app, glMapBufferRange::leave(GL_ARRAY_BUFFER, 10, 20, GL_MAP_READ_BIT, 0));
    assert_eq!(failed, []);
    assert_eq!(unmap(&mut app), []);
}

#[test]
fn persistent_mapping_is_observed_by_commands_that_make_the_driver_read() {
    const ACCESS: u32 = GL_MAP_WRITE_BIT | 0x40 | 0x80;
    let mut app = App::drawing((3, 2));
    call!(app, glBindBuffer::enter(GL_ARRAY_BUFFER, 1));
    call!(app, glBufferStorageEXT::enter(GL_ARRAY_BUFFER, 0x3000, 0, ACCESS));
    call!(app, glMapBufferRange::leave(GL_ARRAY_BUFFER, 0, 0x3000, ACCESS, ARRAY));
    assert_eq!(draw(&mut app, 0, 3), []);
    app.space.put(0x1000, &[[1u8]]);
    assert_eq!(draw(&mut app, 0, 3), [(NO_PARAM, ARRAY, 0x1000)]);
    assert_eq!(draw(&mut app, 0, 3), []);
    app.space.put(0x2000, &[[1u8]]);
    assert_eq!(call!(app, glFinish::enter()), [(NO_PARAM, ARRAY + 0x1000, 0x1000)]);
    app.space.put(0x3FFF, &[[1u8]]);
    assert_eq!(call!(app, glDispatchCompute::enter(1, 1, 1)), [(NO_PARAM, ARRAY + 0x2000, 0x1000)]);
    app.space.put(0x1000, &[[2u8]]);
    assert_eq!(call!(app, glUnmapBuffer::enter(GL_ARRAY_BUFFER)), [(NO_PARAM, ARRAY, 0x1000)]);
    app.space.put(0x1000, &[[3u8]]);
    assert_eq!(draw(&mut app, 0, 3), []);
}

fn upload(app: &mut App, target: u32, format: u32, pixels: u64) -> Vec<(u8, u64, u64)> {
    let ty = GL_UNSIGNED_BYTE;
    call!(app, glTexImage2D::enter(target, 0, GL_RGBA as i32, 3, 2, 0, format, ty, pixels))
}

#[test]
fn upload_uses_the_unpack_parameters_of_the_contexts_version() {
    let check = |version, row_length, expected: &[(u8, u64, u64)]| {
        let mut app = App::new(version);
        call!(app, glPixelStorei::enter(GL_UNPACK_ROW_LENGTH, row_length));
        assert_eq!(upload(&mut app, GL_TEXTURE_2D, GL_RGBA, ARRAY), expected, "{version:?}");
    };
    check((3, 0), 0, &[(8, ARRAY, 24)]);
    check((3, 0), 10, &[(8, ARRAY, 52)]);
    check((3, 0), -10, &[(8, ARRAY, 24)]);
    // OpenGL ES 2.0 has no GL_UNPACK_ROW_LENGTH.
    check((2, 0), 10, &[(8, ARRAY, 24)]);
}

#[test]
fn alignment_is_one_of_four() {
    for (alignment, len) in [(1, 18), (2, 19), (4, 21), (8, 25), (3, 21), (0, 21), (16, 21)] {
        let mut app = App::new((2, 0));
        call!(app, glPixelStorei::enter(GL_UNPACK_ALIGNMENT, alignment));
        let seen = upload(&mut app, GL_TEXTURE_2D, 0x1907, ARRAY);
        assert_eq!(seen, [(8, ARRAY, len)], "{alignment}");
    }
}

#[test]
fn pixels_at_null_with_invalid_arguments_or_in_a_buffer_are_not_read() {
    let mut app = App::new((3, 0));
    assert_eq!(upload(&mut app, GL_TEXTURE_2D, GL_RGBA, 0), []);
    assert_eq!(upload(&mut app, 0xDEAD, GL_RGBA, ARRAY), []);
    assert_eq!(upload(&mut app, GL_TEXTURE_2D, 0xDEAD, ARRAY), []);
    call!(app, glBindBuffer::enter(GL_PIXEL_UNPACK_BUFFER, 1));
    assert_eq!(upload(&mut app, GL_TEXTURE_2D, GL_RGBA, ARRAY), []);
    let compressed = |app: &mut App| {
        call!(app, glCompressedTexImage2D::enter(GL_TEXTURE_2D, 0, 0x9274, 8, 8, 0, 32, ARRAY))
    };
    assert_eq!(compressed(&mut app), []);
    call!(app, glBindBuffer::enter(GL_PIXEL_UNPACK_BUFFER, 0));
    assert_eq!(compressed(&mut app), [(7, ARRAY, 32)]);
}

#[test]
fn read_back_is_observed_unless_a_buffer_is_bound() {
    let mut app = App::new((3, 2));
    let read = |app: &mut App| {
        call!(app, glReadPixels::leave(0, 0, 2, 2, GL_RGBA, GL_UNSIGNED_BYTE, ARRAY))
    };
    assert_eq!(read(&mut app), [(6, ARRAY, 16)]);
    call!(app, glBindBuffer::enter(GL_PIXEL_PACK_BUFFER, 1));
    assert_eq!(read(&mut app), []);
    call!(app, glBindBuffer::enter(GL_PIXEL_PACK_BUFFER, 0));
    let within = |app: &mut App, room| {
        call!(app, glReadnPixels::leave(0, 0, 2, 2, GL_RGBA, GL_UNSIGNED_BYTE, room, ARRAY))
    };
    assert_eq!(within(&mut app, 16), [(7, ARRAY, 16)]);
    assert_eq!(within(&mut app, 15), []);
}

#[test]
fn length_of_a_format_list_is_the_queried_limit() {
    let mut app = App::new((3, 0));
    let list = |app: &mut App| call!(app, glGetIntegerv::leave(0x86A3, ARRAY));
    assert_eq!(list(&mut app), []);
    let number = app.space.put(0, &[7i32.to_le_bytes()]);
    call!(app, glGetIntegerv::leave(0x86A2, number));
    assert_eq!(list(&mut app), [(1, ARRAY, 28)]);
}

/// Returns a program linked from one shader, with `name` at location 3.
fn with_uniform(source: &str, name: &str) -> App {
    let mut app = App::new((3, 0));
    let source = app.space.text(64, source);
    let sources = app.space.put(0, &[source.to_le_bytes()]);
    call!(app, glCreateShader::leave(0x8B31, 5));
    call!(app, glShaderSource::enter(5, 1, sources, 0));
    call!(app, glCreateProgram::leave(6));
    call!(app, glAttachShader::enter(6, 5));
    call!(app, glLinkProgram::enter(6));
    call!(app, glDetachShader::enter(6, 5));
    call!(app, glDeleteShader::enter(5));
    let name = app.space.text(4096, name);
    call!(app, glGetUniformLocation::leave(6, name, 3));
    app
}

#[test]
fn size_of_a_uniform_comes_from_its_declaration() {
    let source = "uniform mat3 turn; uniform vec2 offsets[4]; void main() {}";
    for (name, location, len) in
        [("turn", 3, 36), ("offsets[1]", 3, 8), ("offsets", 5, 8), ("x", 3, 4)]
    {
        let mut app = with_uniform(source, name);
        let value = call!(app, glGetUniformfv::leave(6, location, ARRAY));
        assert_eq!(value, [(2, ARRAY, len)], "{name} {location}");
        assert_eq!(call!(app, glGetUniformfv::leave(6, -1, ARRAY)), []);
        assert_eq!(call!(app, glGetUniformfv::leave(9, location, ARRAY)), []);
        let room = len as i32;
        assert_eq!(call!(app, glGetnUniformfv::leave(6, location, room, ARRAY)).len(), 1);
        assert_eq!(call!(app, glGetnUniformfv::leave(6, location, room - 1, ARRAY)).len(), 0);
    }
}

#[test]
fn size_of_a_uniform_comes_from_the_queried_type() {
    let mut app = with_uniform("#define T vec4\nuniform T tint;", "tint");
    let uniform = |app: &mut App| call!(app, glGetUniformiv::leave(6, 3, ARRAY))[0].2;
    assert_eq!(uniform(&mut app), 4);
    let ty = app.space.put(32, &[0x8B52u32.to_le_bytes()]);
    call!(app, glGetActiveUniform::leave(6, 0, 64, 0, 0, ty, SPACE + 4096));
    assert_eq!(uniform(&mut app), 16);
    call!(app, glLinkProgram::enter(6));
    assert_eq!(uniform(&mut app), 4);
}

#[test]
fn number_of_indices_of_a_block_is_the_queried_one() {
    let mut app = with_uniform("", "x");
    let indices = |app: &mut App| call!(app, glGetActiveUniformBlockiv::leave(6, 1, 0x8A43, ARRAY));
    assert_eq!(indices(&mut app), []);
    let count = app.space.put(32, &[5i32.to_le_bytes()]);
    call!(app, glGetActiveUniformBlockiv::leave(6, 1, 0x8A42, count));
    assert_eq!(indices(&mut app), [(3, ARRAY, 20)]);
}

#[test]
fn program_that_was_deleted_while_in_use_still_draws() {
    let mut app = App::drawing((2, 0));
    float_array(&mut app, 0, 1, ARRAY);
    call!(app, glDeleteProgram::enter(77));
    assert_eq!(draw(&mut app, 0, 1), [(NO_PARAM, ARRAY, 4)]);
    call!(app, glUseProgram::enter(77));
    assert_eq!(draw(&mut app, 0, 1), [(NO_PARAM, ARRAY, 4)]);
    call!(app, glUseProgram::enter(0));
    call!(app, glUseProgram::enter(77));
    assert_eq!(draw(&mut app, 0, 1), []);
}

#[test]
fn number_of_messages_is_the_drivers_result() {
    let mut app = App::new((3, 2));
    app.space.text(0, "first");
    app.space.text(6, "second");
    let log = call!(app, glGetDebugMessageLog::leave(8, 64, ARRAY, 0, 0, 0, 0, SPACE, 2));
    assert_eq!(log, [(2, ARRAY, 8), (7, SPACE, 13)]);
}

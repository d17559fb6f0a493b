//! Memory that commands read through addresses, and the calls that contain it.

use crate::commands::export;
use crate::reader::{Call, Value};
use crate::script::{NO_PARAM, Piece, Script};

const ARRAY_BUFFER: u64 = 0x8892;
const FLOAT: u64 = 0x1406;
const UNSIGNED_BYTE: u64 = 0x1401;
const TRIANGLES: u64 = 4;
const TEXTURE0: u64 = 0x84C0;
const VERTEX_ARRAY: u64 = 0x8074;
const TEXTURE_COORD_ARRAY: u64 = 0x8078;

/// Bytes with consecutive values, so that a test can tell their positions.
fn bytes(from: u8, len: usize) -> Vec<u8> {
    (0..len).map(|at| from.wrapping_add(at as u8)).collect()
}

fn piece(address: u64, bytes: &[u8]) -> Piece<'_> {
    Piece { param: NO_PARAM, address, bytes }
}

fn calls(script: Script) -> Vec<Call> {
    export(&script.file()).0.calls
}

/// Name of each call, whether it is fake, and its last argument.
fn last_args(calls: &[Call]) -> Vec<(&str, bool, &Value)> {
    let last = |call: &Call| call.params.last().cloned().unwrap();
    calls.iter().map(|call| (call.name.as_str(), call.fake, call.arg(&last(call)))).collect()
}

#[test]
fn client_array_is_set_before_the_draw_with_the_memory_that_it_reads() {
    let mut script = Script::new();
    let places = bytes(1, 24);
    script.call("glVertexAttribPointer", &[0, 2, FLOAT, 0, 0x1000]);
    script.call("glEnableVertexAttribArray", &[0]);
    script.reading("glDrawArrays", &[TRIANGLES, 0, 3], &[piece(0x1000, &places)]);
    let calls = calls(script);
    let expected = [
        ("glEnableVertexAttribArray", false, &Value::Unsigned(0)),
        ("glVertexAttribPointer", true, &Value::Blob(places)),
        ("glDrawArrays", false, &Value::Unsigned(3)),
    ];
    assert_eq!(last_args(&calls), expected);
    assert_eq!(*calls[1].arg("size"), Value::Unsigned(2));
}

#[test]
fn draw_that_begins_at_a_later_vertex_has_zeros_before_it() {
    let mut script = Script::new();
    let places = bytes(1, 24);
    script.call("glVertexAttribPointer", &[0, 2, FLOAT, 0, 0x1000]);
    script.call("glEnableVertexAttribArray", &[0]);
    script.reading("glDrawArrays", &[TRIANGLES, 4, 3], &[piece(0x1020, &places)]);
    let blob = Value::Blob([vec![0; 32], places].concat());
    assert_eq!(last_args(&calls(script))[1], ("glVertexAttribPointer", true, &blob));
}

#[test]
fn interleaved_arrays_each_begin_at_their_own_address() {
    let mut script = Script::new();
    // Positions and colours, from index 1 on.
    let vertices = bytes(1, 24);
    script.call("glVertexAttribPointer", &[0, 2, FLOAT, 12, 0x1000]);
    script.call("glVertexAttribPointer", &[1, 4, UNSIGNED_BYTE, 12, 0x1008]);
    script.call("glEnableVertexAttribArray", &[0]);
    script.call("glEnableVertexAttribArray", &[1]);
    let indices = Piece { param: 3, address: 0x5000, bytes: &[1, 2, 1] };
    let read = [indices, piece(0x100C, &vertices)];
    script.reading("glDrawElements", &[TRIANGLES, 3, UNSIGNED_BYTE, 0x5000], &read);
    let calls = calls(script);
    // Each array ends with its last element.
    let places = Value::Blob([&[0; 12], &vertices[..20]].concat());
    let colours = Value::Blob([vec![0; 4], vertices].concat());
    let expected = [
        ("glVertexAttribPointer", true, &places),
        ("glVertexAttribPointer", true, &colours),
        ("glDrawElements", false, &Value::Blob(vec![1, 2, 1])),
    ];
    assert_eq!(last_args(&calls)[2..], expected);
}

#[test]
fn arrays_far_apart_get_the_range_of_the_same_vertices() {
    let mut script = Script::new();
    // The memory of the second array is between the address of the first array and the bytes read of it.
    let (places, colours) = (bytes(1, 24), bytes(100, 12));
    script.call("glVertexAttribPointer", &[0, 2, FLOAT, 0, 0x1000]);
    script.call("glVertexAttribPointer", &[1, 4, UNSIGNED_BYTE, 0, 0x0F00]);
    script.call("glEnableVertexAttribArray", &[0]);
    script.call("glEnableVertexAttribArray", &[1]);
    let read = [piece(0x1100, &colours), piece(0x1400, &places)];
    script.reading("glDrawElements", &[TRIANGLES, 3, UNSIGNED_BYTE, 0], &read);
    let calls = calls(script);
    let places = Value::Blob([vec![0; 0x400], places].concat());
    let colours = Value::Blob([vec![0; 0x200], colours].concat());
    let expected =
        [("glVertexAttribPointer", true, &places), ("glVertexAttribPointer", true, &colours)];
    assert_eq!(last_args(&calls)[2..4], expected);
}

#[test]
fn instanced_array_begins_at_its_own_first_element() {
    let mut script = Script::new();
    let (places, offsets) = (bytes(1, 24), bytes(50, 8));
    script.call("glVertexAttribPointer", &[0, 2, FLOAT, 0, 0x1000]);
    script.call("glVertexAttribPointer", &[1, 2, FLOAT, 0, 0x2000]);
    script.call("glVertexAttribDivisor", &[1, 1]);
    script.call("glEnableVertexAttribArray", &[0]);
    script.call("glEnableVertexAttribArray", &[1]);
    let read = [piece(0x1010, &places), piece(0x2000, &offsets)];
    script.reading("glDrawArrays", &[TRIANGLES, 2, 3], &read);
    let calls = calls(script);
    let places = Value::Blob([vec![0; 16], places].concat());
    let offsets = Value::Blob(offsets);
    let expected =
        [("glVertexAttribPointer", true, &places), ("glVertexAttribPointer", true, &offsets)];
    assert_eq!(last_args(&calls)[3..5], expected);
}

#[test]
fn bound_buffer_is_restored_after_the_arrays() {
    let mut script = Script::new();
    script.call("glVertexAttribPointer", &[0, 2, FLOAT, 0, 0x1000]);
    script.call("glEnableVertexAttribArray", &[0]);
    script.call("glBindBuffer", &[ARRAY_BUFFER, 7]);
    script.reading("glDrawArrays", &[TRIANGLES, 0, 3], &[piece(0x1000, &[0; 24])]);
    let calls = calls(script);
    let blob = Value::Blob(vec![0; 24]);
    let expected = [
        ("glBindBuffer", false, &Value::Unsigned(7)),
        ("glBindBuffer", true, &Value::Unsigned(0)),
        ("glVertexAttribPointer", true, &blob),
        ("glBindBuffer", true, &Value::Unsigned(7)),
    ];
    assert_eq!(last_args(&calls)[1..5], expected);
}

#[test]
fn texture_coordinates_are_set_for_their_unit() {
    let mut script = Script::new();
    script.call("glVertexPointer", &[2, FLOAT, 0, 0x1000]);
    script.call("glEnableClientState", &[VERTEX_ARRAY]);
    script.call("glClientActiveTexture", &[TEXTURE0 + 1]);
    script.call("glTexCoordPointer", &[2, FLOAT, 0, 0x2000]);
    script.call("glEnableClientState", &[TEXTURE_COORD_ARRAY]);
    script.call("glClientActiveTexture", &[TEXTURE0]);
    let read = [piece(0x1000, &[1; 24]), piece(0x2000, &[2; 24])];
    script.reading("glDrawArrays", &[TRIANGLES, 0, 3], &read);
    let calls = calls(script);
    let (places, coordinates) = (Value::Blob(vec![1; 24]), Value::Blob(vec![2; 24]));
    let expected = [
        ("glClientActiveTexture", true, &Value::Unsigned(TEXTURE0 + 1)),
        ("glTexCoordPointer", true, &coordinates),
        ("glClientActiveTexture", true, &Value::Unsigned(TEXTURE0)),
        ("glVertexPointer", true, &places),
    ];
    assert_eq!(last_args(&calls)[4..8], expected);
}

#[test]
fn array_in_a_buffer_and_disabled_array_are_not_set() {
    let mut script = Script::new();
    script.call("glBindBuffer", &[ARRAY_BUFFER, 7]);
    script.call("glVertexAttribPointer", &[0, 2, FLOAT, 0, 0x10]);
    script.call("glBindBuffer", &[ARRAY_BUFFER, 0]);
    script.call("glVertexAttribPointer", &[1, 2, FLOAT, 0, 0x1000]);
    script.call("glEnableVertexAttribArray", &[0]);
    script.call("glEnableVertexAttribArray", &[1]);
    script.call("glDisableVertexAttribArray", &[1]);
    script.call("glDrawArrays", &[TRIANGLES, 0, 3]);
    let calls = calls(script);
    let pointers: Vec<_> = calls.iter().filter(|c| c.name == "glVertexAttribPointer").collect();
    assert_eq!(pointers.len(), 1);
    assert_eq!((pointers[0].fake, pointers[0].arg("pointer")), (false, &Value::Address(0x10)));
}

#[test]
fn writes_into_a_mapping_are_copied_before_they_take_effect() {
    let mut script = Script::new();
    let (early, late) = (bytes(1, 16), bytes(99, 32));
    script.call("glBindBuffer", &[ARRAY_BUFFER, 7]);
    script.map(ARRAY_BUFFER, 64, 0x9000);
    let flushed = [piece(0x9008, &early)];
    script.reading("glFlushMappedBufferRange", &[ARRAY_BUFFER, 8, 16], &flushed);
    script.reading("glUnmapBuffer", &[ARRAY_BUFFER], &[piece(0x9000, &late)]);
    let calls = calls(script);
    let names: Vec<_> = calls[2..].iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["memcpy", "glFlushMappedBufferRange", "memcpy", "glUnmapBuffer"]);
    for (call, address, bytes) in [(&calls[2], 0x9008, early), (&calls[4], 0x9000, late)] {
        assert_eq!(*call.arg("dest"), Value::Address(address));
        assert_eq!(*call.arg("n"), Value::Unsigned(bytes.len() as u64));
        assert_eq!(*call.arg("src"), Value::Blob(bytes));
    }
}

#[test]
fn memory_outside_of_mappings_is_counted_and_not_written() {
    let mut script = Script::new();
    script.call("glBindBuffer", &[ARRAY_BUFFER, 7]);
    script.map(ARRAY_BUFFER, 64, 0x9000);
    script.call("glUnmapBuffer", &[ARRAY_BUFFER]);
    script.reading("glUnmapBuffer", &[ARRAY_BUFFER], &[piece(0x9000, &[1; 8])]);
    let (file, summary) = export(&script.file());
    assert!(file.calls.iter().all(|call| call.name != "memcpy"));
    assert_eq!(summary.unexpressed, 1);
}

#[test]
fn skipped_pixels_keep_the_offsets_of_the_others() {
    let mut script = Script::new();
    let rows = [[1u8; 8], [2; 8]];
    let row = |at: usize| Piece { param: 2, address: 0x1010 + 32 * at as u64, bytes: &rows[at] };
    script.reading("glTexImage2D", &[2, 2, 0x1000], &[row(0), row(1)]);
    let blob = [&[0; 16][..], &rows[0], &[0; 24], &rows[1]].concat();
    assert_eq!(last_args(&calls(script)), [("glTexImage2D", false, &Value::Blob(blob))]);
}

#[test]
fn written_values_are_an_array_and_written_pixels_an_address() {
    let mut script = Script::new();
    let values: Vec<u8> = [0.5f32, -2.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let piece = |param, address, bytes| Piece { param, address, bytes };
    script.writing("glGetUniformfv", &[3, 0x1000], &[piece(1, 0x1000, &values)]);
    script.writing("glReadPixels", &[1, 1, 0x2000], &[piece(2, 0x2000, &[9; 4])]);
    let calls = calls(script);
    let floats = [0.5, -2.0].map(Value::Float).to_vec();
    assert_eq!(*calls[0].arg("params"), Value::Array(floats));
    assert_eq!(*calls[1].arg("pixels"), Value::Address(0x2000));
}

#[test]
fn strings_are_found_by_their_addresses() {
    let mut script = Script::new();
    let addresses: Vec<u8> =
        [0x2004u64, 0x2000, 0x3000, 0].iter().flat_map(|at| at.to_le_bytes()).collect();
    // Two adjacent strings are one piece; one has no NUL, and one is empty.
    let piece = |address, bytes| Piece { param: 2, address, bytes };
    let read = [piece(0x1000, &addresses), piece(0x2000, b"abc\0de")];
    script.reading("glShaderSource", &[1, 4, 0x1000, 0], &read);
    let text = |text: &str| Value::Text(text.to_owned());
    let texts = vec![text("de"), text("abc"), text(""), Value::Null];
    assert_eq!(*calls(script)[0].arg("string"), Value::Array(texts));
}

#[test]
fn array_without_observed_memory_is_empty() {
    let mut script = Script::new();
    script.call("glUniform1fv", &[0, 0, 0x1000]);
    script.call("glUniform1fv", &[0, 0, 0]);
    let calls = calls(script);
    assert_eq!(*calls[0].arg("value"), Value::Array(Vec::new()));
    assert_eq!(*calls[1].arg("value"), Value::Null);
}

#[test]
fn memory_below_an_array_does_not_belong_to_it() {
    let mut script = Script::new();
    let (places, offsets) = (bytes(1, 24), bytes(50, 8));
    script.call("glVertexAttribPointer", &[0, 2, FLOAT, 0, 0x1060]);
    script.call("glVertexAttribPointer", &[1, 2, FLOAT, 0, 0x1000]);
    script.call("glVertexAttribDivisor", &[1, 1]);
    script.call("glEnableVertexAttribArray", &[0]);
    script.call("glEnableVertexAttribArray", &[1]);
    let read = [piece(0x1000, &offsets), piece(0x1060, &places)];
    script.reading("glDrawElements", &[TRIANGLES, 3, UNSIGNED_BYTE, 0], &read);
    let calls = calls(script);
    let (places, offsets) = (Value::Blob(places), Value::Blob(offsets));
    let expected =
        [("glVertexAttribPointer", true, &places), ("glVertexAttribPointer", true, &offsets)];
    assert_eq!(last_args(&calls)[3..5], expected);
}

#[test]
fn adjacent_arrays_end_with_their_last_vertex() {
    let mut script = Script::new();
    let memory = bytes(1, 36);
    script.call("glVertexAttribPointer", &[0, 2, FLOAT, 0, 0x1000]);
    script.call("glVertexAttribPointer", &[1, 4, UNSIGNED_BYTE, 0, 0x1018]);
    script.call("glEnableVertexAttribArray", &[0]);
    script.call("glEnableVertexAttribArray", &[1]);
    script.reading("glDrawArrays", &[TRIANGLES, 0, 3], &[piece(0x1000, &memory)]);
    let calls = calls(script);
    let (places, colours) =
        (Value::Blob(memory[..24].to_vec()), Value::Blob(memory[24..].to_vec()));
    let expected =
        [("glVertexAttribPointer", true, &places), ("glVertexAttribPointer", true, &colours)];
    assert_eq!(last_args(&calls)[2..4], expected);
}

/// The player's driver writes there when the program leaves the mode.
#[test]
fn array_that_later_commands_write_is_an_array_of_zeros() {
    let mut script = Script::new();
    script.call("glFeedbackBuffer", &[3, 0x0600, 0x1000]);
    script.call("glSelectBuffer", &[2, 0x2000]);
    script.call("glSelectBuffer", &[0x7FFF_FFFF, 0x3000]);
    script.call("glSelectBuffer", &[2, 0]);
    let zeros = |len| Value::Array(vec![Value::Unsigned(0); len]);
    let calls = calls(script);
    let buffers: Vec<_> = calls.iter().map(|call| call.arg("buffer").clone()).collect();
    let expected = [zeros(3), zeros(2), Value::Address(0x3000), Value::Null];
    assert_eq!(buffers, expected);
}

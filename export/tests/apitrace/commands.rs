//! Calls of exported commands: names, values and memory by the trace's own description.

use std::borrow::Cow;

use gapii_abi::atom::{EFFECT, EndReason, InFlight, SETUP};
use gapii_export::apitrace::{Exporter, Program, Summary};
use gapii_trace::description::{Effect, Function, Kind, Repr, Type};
use gapii_trace::{Description, TraceHeader};

use crate::describe::*;
use crate::reader::{Call, File, Value, read};
use crate::writer::{Writer, open, small_file};

pub fn export(file: &[u8]) -> (File, Summary) {
    let mut trace = open(file);
    let program = Program { name: "/usr/bin/scene".to_owned() };
    let description = trace.header().description.clone();
    let mut exporter = Exporter::begin(Vec::new(), &program, &description).unwrap();
    let mut commands = trace.commands().unwrap();
    while let Some(command) = commands.next_command().unwrap() {
        exporter.command(&command).unwrap();
    }
    let (bytes, summary) = exporter.finish().unwrap();
    (read(&bytes), summary)
}

/// The exported calls of one thread's commands.
fn calls(commands: impl FnOnce(&mut Writer, u32)) -> Vec<Call> {
    let mut w = Writer::new();
    let process = w.process(1, "p");
    let thread = w.thread(process, 2, 1);
    commands(&mut w, thread);
    w.end(EndReason::Exit, Vec::new());
    export(&w.finish()).0.calls
}

fn named(name: &str, value: i64) -> Value {
    Value::Enum(Some(name.to_owned()), value)
}

#[test]
fn file_begins_with_versions_and_the_name_of_the_program() {
    let (file, _) = export(&small_file());
    assert_eq!(file.versions, (6, 6));
    let name = ("process.name".to_owned(), "/usr/bin/scene".to_owned());
    assert_eq!(file.properties, [name]);
}

#[test]
fn calls_are_in_the_order_of_effect_and_threads_in_that_of_their_first_call() {
    let (file, summary) = export(&small_file());
    let list: Vec<_> = file.calls.iter().map(|call| (call.thread, call.name.as_str())).collect();
    let expected = [
        (0, "glClear"),
        (0, "glUniform4f"),
        (0, "glDrawArrays"),
        (1, "glGenTextures"),
        (0, "eglSwapBuffers"),
        (1, "glShaderSource"),
        (0, "glGetString"),
        (1, "glBufferData"),
        (1, "glBufferData"),
        (0, "glDrawArrays"),
        (0, "eglSwapBuffers"),
        (0, "glDepthMask"),
        (0, "eglSwapBuffers"),
    ];
    assert_eq!(list, expected);
    assert!(file.calls.iter().all(|call| call.returned && !call.fake));
    // The second draw has two pieces of memory: one belongs to no array, the other was not readable.
    let expected = Summary { commands: 13, unexpressed: 1, missing: 1, ..Summary::default() };
    assert_eq!(summary, expected);
}

#[test]
fn every_kind_of_value_follows_the_description() {
    let (file, _) = export(&small_file());
    let calls = file.calls;
    let bits = vec!["GL_DEPTH_BUFFER_BIT".to_owned(), "GL_COLOR_BUFFER_BIT".to_owned()];
    assert_eq!(*calls[0].arg("mask"), Value::Bits(bits, 0x4100));
    assert_eq!(*calls[1].arg("location"), Value::Unsigned(7));
    assert_eq!(*calls[1].arg("v1"), Value::Float(-1.0));
    assert_eq!(*calls[2].arg("mode"), named("GL_TRIANGLES", 4));
    let names = [11, 12].map(Value::Unsigned).to_vec();
    assert_eq!(*calls[3].arg("textures"), Value::Array(names));
    assert_eq!(*calls[4].arg("dpy"), Value::Address(0x1000));
    assert_eq!(calls[4].result, Some(named("EGL_TRUE", 1)));
    let texts = ["void ", "{}"].map(|text| Value::Text(text.to_owned())).to_vec();
    assert_eq!(*calls[5].arg("string"), Value::Array(texts));
    assert_eq!(*calls[5].arg("length"), Value::Null);
    assert_eq!(*calls[6].arg("name"), named("GL_RENDERER", 0x1F01));
    assert_eq!(calls[6].result, Some(Value::Text("Mesa".to_owned())));
    assert_eq!(*calls[7].arg("size"), Value::Unsigned(20));
    for data in &calls[7..9] {
        assert_eq!(*data.arg("data"), Value::Blob([vec![1; 12], vec![2; 8]].concat()));
    }
    assert_eq!(*calls[11].arg("flag"), named("GL_TRUE", 1));
}

#[test]
fn enum_without_a_name_in_its_group_has_a_name_of_the_fallback() {
    let calls = calls(|w, thread| {
        w.command(thread, DRAW, None, &draw(0x8892, -1, 0));
        w.command(thread, DRAW, None, &draw(0x1234, i32::MIN, i32::MAX));
    });
    assert_eq!(*calls[0].arg("mode"), named("GL_ARRAY_BUFFER", 0x8892));
    assert_eq!(*calls[0].arg("first"), Value::Signed(-1));
    assert_eq!(*calls[1].arg("mode"), Value::Enum(None, 0x1234));
    assert_eq!(*calls[1].arg("first"), Value::Signed(i32::MIN.into()));
    assert_eq!(*calls[1].arg("count"), Value::Unsigned(i32::MAX as u64));
}

#[test]
fn attribute_list_is_an_array_with_its_terminator() {
    let calls = calls(|w, thread| {
        let attributes = int_bytes(&[0x3024, 8, 0x9999, -1, 0x3038]);
        let args = Payload::new().u64(1).u64(0x10).u64(0x20).i32(4).u64(0x30).inline(&attributes);
        w.enter(thread, CHOOSE, EFFECT, Some(2), &args);
        let found = Payload::new().u32(1).inline(&5u64.to_le_bytes()).inline(&int_bytes(&[1]));
        w.leave(thread, CHOOSE, 0, Some(3), &found);
        let args = Payload::new().u64(1).u64(0).u64(0).i32(0).u64(0x30).unobserved();
        w.enter(thread, CHOOSE, EFFECT, Some(4), &args);
        w.leave(thread, CHOOSE, 0, None, &Payload::new().u32(0).unobserved().unobserved());
    });
    let list = vec![
        named("EGL_RED_SIZE", 0x3024),
        Value::Unsigned(8),
        Value::Enum(None, 0x9999),
        Value::Signed(-1),
        named("EGL_NONE", 0x3038),
    ];
    assert_eq!(*calls[0].arg("attrib_list"), Value::Array(list));
    assert_eq!(*calls[0].arg("configs"), Value::Array(vec![Value::Address(5)]));
    assert_eq!(*calls[0].arg("num_config"), Value::Array(vec![Value::Unsigned(1)]));
    assert_eq!(*calls[1].arg("attrib_list"), Value::Null);
    assert_eq!(*calls[1].arg("configs"), Value::Null);
    assert_eq!(*calls[1].arg("num_config"), Value::Array(Vec::new()));
    assert_eq!(calls[1].result, Some(named("EGL_FALSE", 0)));
}

#[test]
fn command_without_return_is_a_call_without_leave_event() {
    let mut w = Writer::new();
    let process = w.process(1, "p");
    let thread = w.thread(process, 2, 1);
    w.command(thread, CLEAR, Some(2), &Payload::new().u32(0));
    w.enter(thread, FINISH, 0, Some(3), &Payload::new());
    w.end(EndReason::Crash, vec![InFlight { thread, id: FINISH, stamp: 3 }]);
    let (file, _) = export(&w.finish());
    let ended: Vec<_> = file.calls.iter().map(|c| (c.name.as_str(), c.returned)).collect();
    assert_eq!(ended, [("glClear", true), ("glFinish", false)]);
}

#[test]
fn command_without_description_is_counted_and_left_out() {
    let mut w = Writer::new();
    let process = w.process(1, "p");
    let thread = w.thread(process, 2, 1);
    w.command(thread, UNDESCRIBED, None, &Payload::new().u32(1));
    w.leave(thread, FINISH, EFFECT, None, &Payload::new());
    w.command(thread, DEPTH_MASK, None, &Payload::new().put([0]));
    w.end(EndReason::Exit, Vec::new());
    let (file, summary) = export(&w.finish());
    assert_eq!(file.calls.len(), 1);
    assert_eq!(*file.calls[0].arg("flag"), named("GL_FALSE", 0));
    assert_eq!(summary, Summary { commands: 1, skipped: 2, ..Summary::default() });
}

/// Writes a trace with one function, command 0, of EGL without parameters.
fn writer_of(function: &str, result: Repr) -> Writer {
    let functions = vec![Function {
        id: 0,
        name: function.to_owned(),
        known: None,
        api: "egl".to_owned(),
        params: Vec::new(),
        result: Type { repr: Some(result), kind: Kind::Handle },
        fixed_len: 0,
        effect: Effect::Leave,
        leaves: true,
    }];
    let header = TraceHeader {
        description: Cow::Owned(Description::new(functions, Vec::new(), Vec::new())),
        ..TraceHeader::new("test", [1; 16], 0, 0)
    };
    Writer::with_header(header.encode().unwrap())
}

#[test]
fn failed_creation_of_a_context_is_left_out() {
    for (context, expected) in [(0, 0), (0x40, 1)] {
        let mut w = writer_of("eglCreateContext", Repr::Pointer);
        let process = w.process(1, "p");
        let thread = w.thread(process, 2, 1);
        w.enter(thread, 0, 0, None, &Payload::new());
        w.leave(thread, 0, EFFECT, None, &Payload::new().u64(context));
        w.end(EndReason::Exit, Vec::new());
        let (file, summary) = export(&w.finish());
        assert_eq!(file.calls.len(), expected);
        assert_eq!(summary.replaced, 1 - expected as u64);
    }
}

#[test]
fn end_of_a_context_that_a_snapshot_creates_is_left_out() {
    for (flags, expected) in [(SETUP, 0), (0, 1)] {
        let mut w = writer_of("eglDestroyContext", Repr::U32);
        let process = w.process(1, "p");
        let thread = w.thread(process, 2, 1);
        w.enter(thread, 0, flags, None, &Payload::new());
        w.leave(thread, 0, flags | EFFECT, None, &Payload::new().u32(1));
        w.end(EndReason::Exit, Vec::new());
        let (file, summary) = export(&w.finish());
        assert_eq!(file.calls.len(), expected);
        assert_eq!(summary.replaced, 1 - expected as u64);
    }
}

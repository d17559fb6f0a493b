//! Writes traces from commands by name, with memory at addresses.

use std::borrow::Cow;

use gapii_abi::atom::{EFFECT, EndReason};
use gapii_trace::description::{Effect, Function, Kind, Observed, Param, Repr, Type};
use gapii_trace::{Description, TraceHeader};

use crate::describe::Payload;
use crate::writer::Writer;

/// A trace of one thread.
pub struct Script {
    writer: Writer,
    thread: u32,
    description: Description,
}

/// Memory that a command reads or writes.
#[derive(Clone, Copy)]
pub struct Piece<'a> {
    /// Index of the parameter, or [`NO_PARAM`].
    pub param: u8,
    pub address: u64,
    pub bytes: &'a [u8],
}

pub const NO_PARAM: u8 = 255;

const INT: Type = Type { repr: Some(Repr::I32), kind: Kind::Number };
const FLOAT: Type = Type { repr: Some(Repr::F32), kind: Kind::Number };
const POINTER: Type = Type { repr: Some(Repr::Pointer), kind: Kind::Pointer };

/// Functions and their parameters. A parameter has the type `i32`, or is an address if it has a `*`; the word behind
/// the `*` is the type of the elements, if known.
const COMMANDS: &[(&str, &[&str])] = &[
    ("glBindBuffer", &["target", "buffer"]),
    ("glBindVertexArray", &["array"]),
    ("glClientActiveTexture", &["texture"]),
    ("glDrawArrays", &["mode", "first", "count"]),
    ("glDrawElements", &["mode", "count", "type", "indices*"]),
    ("glEnableClientState", &["array"]),
    ("glEnableVertexAttribArray", &["index"]),
    ("glDisableVertexAttribArray", &["index"]),
    ("glFeedbackBuffer", &["size", "type", "buffer*"]),
    ("glFlushMappedBufferRange", &["target", "offset", "length"]),
    ("glGetUniformfv", &["location", "params*f32"]),
    ("glMapBufferRange", &["target", "offset", "length", "access"]),
    ("glReadPixels", &["width", "height", "pixels*"]),
    ("glSelectBuffer", &["size", "buffer*"]),
    ("glShaderSource", &["shader", "count", "string*address", "length*"]),
    ("glTexCoordPointer", &["size", "type", "stride", "pointer*"]),
    ("glTexImage2D", &["width", "height", "pixels*"]),
    ("glUniform1fv", &["location", "count", "value*f32"]),
    ("glUnmapBuffer", &["target"]),
    ("glVertexAttribDivisor", &["index", "divisor"]),
    ("glVertexAttribPointer", &["index", "size", "type", "stride", "pointer*"]),
    ("glVertexPointer", &["size", "type", "stride", "pointer*"]),
];

impl Script {
    pub fn new() -> Self {
        let functions = COMMANDS.iter().enumerate().map(function).collect();
        let description = Description::new(functions, Vec::new(), Vec::new());
        let header = TraceHeader {
            description: Cow::Owned(description.clone()),
            ..TraceHeader::new("test", [1; 16], 0, 0)
        };
        let mut writer = Writer::with_header(header.encode().unwrap());
        let process = writer.process(1, "p");
        let thread = writer.thread(process, 2, 1);
        Self { writer, thread, description }
    }

    pub fn call(&mut self, name: &str, args: &[u64]) -> &mut Self {
        self.reading(name, args, &[])
    }

    /// Adds a command that reads memory.
    pub fn reading(&mut self, name: &str, args: &[u64], pieces: &[Piece<'_>]) -> &mut Self {
        let (id, payload) = self.enter(name, args);
        let payload = pieces
            .iter()
            .fold(payload, |payload, piece| payload.range(piece.param, piece.address, piece.bytes));
        self.writer.command(self.thread, id, None, &payload);
        self
    }

    /// Adds a command that writes memory.
    pub fn writing(&mut self, name: &str, args: &[u64], pieces: &[Piece<'_>]) -> &mut Self {
        let (id, payload) = self.enter(name, args);
        self.writer.enter(self.thread, id, EFFECT, None, &payload);
        let written = pieces.iter().fold(Payload::new(), |payload, piece| {
            payload.range(piece.param, piece.address, piece.bytes)
        });
        self.writer.leave(self.thread, id, 0, None, &written);
        self
    }

    /// Adds a `glMapBufferRange` that returned `address`.
    pub fn map(&mut self, target: u64, length: u64, address: u64) -> &mut Self {
        let (id, payload) = self.enter("glMapBufferRange", &[target, 0, length, 2]);
        self.writer.enter(self.thread, id, 0, None, &payload);
        let result = Payload::new().u64(address);
        self.writer.leave(self.thread, id, EFFECT, None, &result);
        self
    }

    pub fn file(mut self) -> Vec<u8> {
        self.writer.end(EndReason::Exit, Vec::new());
        self.writer.finish()
    }

    fn enter(&self, name: &str, args: &[u64]) -> (u16, Payload) {
        let functions = self.description.functions();
        let function = functions.iter().find(|function| function.name == name).unwrap();
        assert_eq!(function.params.len(), args.len(), "{name}");
        let params = function.params.iter().zip(args);
        let payload = params.fold(Payload::new(), |payload, (param, arg)| match param.ty {
            POINTER => payload.u64(*arg),
            _ => payload.i32(*arg as i32),
        });
        (function.id, payload)
    }
}

fn function((id, (name, params)): (usize, &(&str, &[&str]))) -> Function {
    let mut offset = 0u32;
    let params = params.iter().map(|name| {
        let (name, element) = name.split_once('*').map_or((*name, None), |(n, e)| (n, Some(e)));
        let (ty, size) = if element.is_some() { (POINTER, 8) } else { (INT, 4) };
        let element = match element {
            Some("f32") => Some(FLOAT),
            Some("address") => Some(POINTER),
            _ => None,
        };
        let at = offset.next_multiple_of(size);
        offset = at + size;
        Param { name: name.to_owned(), ty, offset: at, observed: Observed::No, element }
    });
    let params = params.collect();
    let maps = *name == "glMapBufferRange";
    Function {
        id: id as u16,
        name: (*name).to_owned(),
        known: None,
        api: "gl".to_owned(),
        params,
        result: if maps { POINTER } else { Type::VOID },
        fixed_len: offset,
        effect: if maps { Effect::Leave } else { Effect::Enter },
        leaves: maps || name.starts_with("glGet") || name.starts_with("glRead"),
    }
}

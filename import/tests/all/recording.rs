//! Writes recordings of apitrace, and reads the traces that they become.

use std::io::Cursor;

use gapii_import::apitrace::{self, ImportError, Imported, Made};
use gapii_trace::{TraceReader, json, verify};
use serde_json::Value as Json;

/// A value of a recording.
#[derive(Clone)]
pub enum V {
    Null,
    Int(i64),
    Float(f32),
    Text(&'static str),
    Blob(Vec<u8>),
    Array(Vec<V>),
    Address(u64),
}

/// A recording under construction.
pub struct Recording {
    pub raw: Vec<u8>,
    functions: Vec<&'static str>,
    pub calls: u64,
}

impl Recording {
    /// A recording of version 6 of the program `scene`.
    pub fn new() -> Self {
        let mut recording = Self { raw: Vec::new(), functions: Vec::new(), calls: 0 };
        recording.number(6);
        recording.number(6);
        recording.text(b"process.name");
        recording.text(b"/usr/bin/scene");
        recording.text(b"");
        recording
    }

    /// A recording in which the calls of `thread` have a context of OpenGL ES, `0x77`, and a surface, `0x55`.
    pub fn with_context() -> Self {
        let mut recording = Self::new();
        recording.context(0, 0x30A0, 0x77);
        recording
    }

    /// Makes a context of an API current on a thread.
    pub fn context(&mut self, thread: u64, api: i64, context: u64) {
        self.call(thread, "eglBindAPI(api)", &[V::Int(api)], V::Int(1));
        let list = V::Array(vec![V::Int(0x3098), V::Int(3), V::Int(0x3038)]);
        let args = [V::Address(1), V::Address(2), V::Null, list];
        let create = "eglCreateContext(dpy, config, share_context, attrib_list)";
        self.call(thread, create, &args, V::Address(context));
        self.current(thread, context);
    }

    /// Makes a context current on a thread.
    pub fn current(&mut self, thread: u64, context: u64) {
        let (surface, context) = match context {
            0 => (V::Null, V::Null),
            context => (V::Address(0x55), V::Address(context)),
        };
        let args = [V::Address(1), surface.clone(), surface, context];
        self.call(thread, "eglMakeCurrent(dpy, draw, read, ctx)", &args, V::Int(1));
    }

    pub fn swap(&mut self, thread: u64) {
        let args = [V::Address(1), V::Address(0x55)];
        self.call(thread, "eglSwapBuffers(dpy, surface)", &args, V::Int(1));
    }

    /// Adds a call without outputs, with a result if it is not null.
    pub fn call(&mut self, thread: u64, function: &'static str, args: &[V], result: V) {
        let number = self.enter(thread, function, args, false);
        self.leave(number, &[], result);
    }

    /// Adds a call that apitrace added.
    pub fn fake(&mut self, function: &'static str, args: &[V]) {
        let number = self.enter(0, function, args, true);
        self.leave(number, &[], V::Null);
    }

    /// Begins a call of a function, given as `name(parameter, …)`. Returns its number.
    pub fn enter(&mut self, thread: u64, function: &'static str, args: &[V], fake: bool) -> u64 {
        self.raw.push(0);
        self.number(thread);
        let known = self.functions.iter().position(|known| *known == function);
        self.number(known.unwrap_or(self.functions.len()) as u64);
        if known.is_none() {
            self.functions.push(function);
            let (name, params) = function.trim_end_matches(')').split_once('(').expect("name(…)");
            let params: Vec<_> = params.split(", ").filter(|param| !param.is_empty()).collect();
            self.text(name.as_bytes());
            self.number(params.len() as u64);
            params.iter().for_each(|param| self.text(param.as_bytes()));
        }
        if fake {
            self.raw.push(5);
            self.number(1);
        }
        for (index, value) in args.iter().enumerate() {
            self.argument(index, value);
        }
        self.raw.push(0);
        self.calls += 1;
        self.calls - 1
    }

    /// Ends a call with outputs, each with its index, and a result if it is not null.
    pub fn leave(&mut self, call: u64, outputs: &[(usize, V)], result: V) {
        self.raw.push(1);
        self.number(call);
        for (index, value) in outputs {
            self.argument(*index, value);
        }
        if !matches!(result, V::Null) {
            self.raw.push(2);
            self.value(&result);
        }
        self.raw.push(0);
    }

    fn argument(&mut self, index: usize, value: &V) {
        self.raw.push(1);
        self.number(index as u64);
        self.value(value);
    }

    pub fn value(&mut self, value: &V) {
        match value {
            V::Null => self.raw.push(0),
            V::Int(number) => {
                self.raw.push(if *number < 0 { 3 } else { 4 });
                self.number(number.unsigned_abs());
            }
            V::Float(number) => {
                self.raw.push(5);
                self.raw.extend_from_slice(&number.to_le_bytes());
            }
            V::Text(text) => {
                self.raw.push(7);
                self.text(text.as_bytes());
            }
            V::Blob(bytes) => {
                self.raw.push(8);
                self.text(bytes);
            }
            V::Array(elements) => {
                self.raw.push(11);
                self.number(elements.len() as u64);
                elements.iter().for_each(|element| self.value(element));
            }
            V::Address(address) => {
                self.raw.push(13);
                self.number(*address);
            }
        }
    }

    pub fn number(&mut self, mut number: u64) {
        while number > 0x7F {
            self.raw.push(number as u8 & 0x7F | 0x80);
            number >>= 7;
        }
        self.raw.push(number as u8);
    }

    pub fn text(&mut self, text: &[u8]) {
        self.number(text.len() as u64);
        self.raw.extend_from_slice(text);
    }

    /// The file, in chunks of `chunk` bytes.
    pub fn file(&self, chunk: usize) -> Vec<u8> {
        let mut file = b"at".to_vec();
        for chunk in self.raw.chunks(chunk) {
            let packed = snap::raw::Encoder::new().compress_vec(chunk).expect("it is short");
            file.extend_from_slice(&(packed.len() as u32).to_le_bytes());
            file.extend_from_slice(&packed);
        }
        file
    }

    /// Imports the recording.
    pub fn import(&self) -> Trace {
        Trace::of(&self.file(1 << 20)).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// An imported trace.
pub struct Trace {
    pub imported: Imported,
    /// Blobs in it.
    pub blobs: u64,
    /// Its commands, as `gapii-ctl dump --json` has them.
    pub commands: Vec<Json>,
}

impl Trace {
    /// Imports a file. The trace must be whole.
    pub fn of(file: &[u8]) -> Result<Self, ImportError> {
        let made = Made { unix_ns: 7 };
        let (trace, imported) = apitrace::import(file, Vec::new(), made, |_| {})?;
        let mut reader = TraceReader::open(Cursor::new(trace)).expect("it is a trace");
        let verification = verify(&mut reader).expect("memory is readable");
        assert!(verification.problems.is_empty(), "{:?}", verification.problems);
        let blobs = reader.footer().expect("it is whole").totals.memory.blobs;
        let mut commands = reader.commands().expect("it is whole");
        let mut lines = Vec::new();
        while let Some(command) = commands.next_command().expect("it is whole") {
            let mut line = Vec::new();
            json::write_line(&command, &mut line).expect("memory is writable");
            lines.push(serde_json::from_slice(&line).expect("it is JSON"));
        }
        Ok(Self { imported, blobs, commands: lines })
    }

    /// The only command with this name.
    #[track_caller]
    pub fn only(&self, name: &str) -> &Json {
        let all: Vec<_> = self.commands.iter().filter(|command| command["name"] == name).collect();
        assert_eq!(all.len(), 1, "{name}: {all:?}");
        all[0]
    }

    /// Names of all commands.
    pub fn names(&self) -> Vec<&str> {
        self.commands.iter().map(|command| command["name"].as_str().expect("a name")).collect()
    }
}

//! Turns bytes into commands of a trace: functions, arguments and memory.
//!
//! Every input yields a readable trace, so that inputs differ in the commands that are played. Most
//! arguments are such as programs use, since other commands are rejected early.

use std::borrow::Cow;
use std::sync::OnceLock;

use gapii_abi::atom::{
    self, EFFECT, FRAME_END, LEAVE, LEAVES, SETUP, observation_word, range_word,
};
use gapii_commands::Effect;
use gapii_trace::description::{Function, Kind, Observed, Repr, Type};
use gapii_trace::{Description, TraceHeader, encode_block};

const DISPLAY: u64 = 0x10;
const CONFIG: u64 = 0x20;
const SURFACE: u64 = 0x30;
const CONTEXTS: [u64; 2] = [0x40, 0x41];
const STAMPED: u16 = 1;
const COMMANDS_MAX: usize = 512;

/// Functions on which others depend; half of all commands are these.
const FREQUENT: &[&str] = &[
    "glBindBuffer",
    "glBufferData",
    "glBufferSubData",
    "glGenBuffers",
    "glDeleteBuffers",
    "glMapBufferRange",
    "glUnmapBuffer",
    "glFlushMappedBufferRange",
    "glVertexAttribPointer",
    "glEnableVertexAttribArray",
    "glDrawArrays",
    "glDrawElements",
    "glDrawArraysIndirect",
    "glReadPixels",
    "glPixelStorei",
    "glTexImage2D",
    "glShaderSource",
    "glCreateShader",
    "glCreateProgram",
    "glLinkProgram",
    "glUseProgram",
    "glUniform4fv",
    "glGetIntegerv",
    "glGetError",
    "glGenVertexArrays",
    "glBindVertexArray",
    "glFenceSync",
    "glClientWaitSync",
    "eglMakeCurrent",
    "eglCreateContext",
    "eglCreatePbufferSurface",
    "eglSwapBuffers",
];

const ENUMS: &[u32] = &[
    0x8892, 0x8893, 0x88EB, 0x88EC, 0x8A11, 0x8C8E, 0x8F36, 0x8F37, 0x8F3F, 0x90EE, 0x0DE1, 0x8D40,
    0x8D41, 0x1908, 0x1907, 0x1401, 0x1403, 0x1405, 0x1406, 0x8B30, 0x8B31, 4, 0x0D05, 0x0CF5,
    0x0D02, 0x88E4, 0x8894, 0x1F01, 0x1F03, 0x8C2F, 0x88E5, 0x9117,
];
const NUMBERS: &[u64] =
    &[0, 1, 2, 3, 4, 8, 12, 16, 64, 100, 256, 4096, 65536, 0x7FFF_FFFF, u64::MAX, 1 << 31];
const ADDRESSES: &[u64] = &[
    0,
    4,
    64,
    0x1000,
    0x1010,
    0x7F00_0000_0000,
    0x7F00_0000_0100,
    0x7F00_0100_0000,
    0x5555_0000_0000,
    u64::MAX,
    u64::MAX - 64,
    1 << 63,
];

/// A trace file with the commands that `input` encodes.
pub fn trace(input: &[u8]) -> Vec<u8> {
    let mut script = Script { input, ..Script::default() };
    script.prelude();
    for _ in 0..COMMANDS_MAX {
        if script.input.is_empty() {
            break;
        }
        script.command();
    }
    let block = encode_block(&script.raw, 1).expect("records are compressed");
    [header(), &block].concat()
}

/// A command, as tests write it down.
#[derive(Default)]
pub struct Written<'a> {
    pub name: &'a str,
    pub args: &'a [u64],
    pub result: u64,
    /// Memory observed at its input parameters, in order.
    pub inputs: &'a [Vec<u8>],
    /// Memory observed at its output parameters, in order.
    pub outputs: &'a [Vec<u8>],
    /// Further memory that it wrote: parameter, address and bytes.
    pub ranges: &'a [(u8, u64, Vec<u8>)],
    /// Whether a snapshot describes state with it.
    pub is_setup: bool,
}

/// A trace file with these commands, in a context of ES 3.2 without extensions.
#[allow(dead_code, reason = "the fuzzer writes none down")]
pub fn trace_of(commands: &[Written<'_>]) -> Vec<u8> {
    trace_with("", commands)
}

/// The same with extensions of the context: names separated by spaces.
#[allow(dead_code, reason = "most tests and the fuzzer need none")]
pub fn trace_with(extensions: &str, commands: &[Written<'_>]) -> Vec<u8> {
    let mut script = Script { extensions, ..Script::default() };
    script.prelude();
    for command in commands {
        script.written(command);
    }
    let block = encode_block(&script.raw, 1).expect("records are compressed");
    [header(), &block].concat()
}

fn functions() -> &'static [Function] {
    Description::built_in().functions()
}

/// Leaves out the names of enum values, which replay does not use.
fn header() -> &'static [u8] {
    static HEADER: OnceLock<Vec<u8>> = OnceLock::new();
    HEADER.get_or_init(|| {
        let description = Description::new(functions().to_vec(), Vec::new(), Vec::new());
        let header = TraceHeader {
            description: Cow::Owned(description),
            ..TraceHeader::new("fuzz", [7; 16], 0, 0)
        };
        header.encode().expect("a header")
    })
}

#[derive(Default)]
struct Script<'a> {
    input: &'a [u8],
    /// Extensions of the contexts, separated by spaces.
    extensions: &'a str,
    raw: Vec<u8>,
    stamp: u64,
    thread: u32,
}

impl Script<'_> {
    /// Describes a process with two threads, and a context for each.
    fn prelude(&mut self) {
        self.record(atom::BLOCK, 0, &atom::Block::default().encode());
        let process = atom::Process { pid: 1, name_len: 4, ..Default::default() };
        self.record(atom::PROCESS, 0, &[&process.encode()[..], b"fuzz"].concat());
        for thread in 0..2u32 {
            let state = atom::ThreadState { thread, tid: 100 + thread, ..Default::default() };
            self.record(atom::THREAD_STATE, 0, &state.encode());
        }
        for (thread, context) in CONTEXTS.into_iter().enumerate() {
            self.switch(thread as u32);
            self.fixed("eglGetDisplay", &[0], DISPLAY, &[]);
            self.fixed("eglInitialize", &[DISPLAY, 0, 0], 1, &[]);
            self.fixed("eglBindAPI", &[0x30A0], 1, &[]);
            let configs = [CONFIG.to_le_bytes().to_vec(), vec![1, 0, 0, 0]];
            self.fixed("eglChooseConfig", &[DISPLAY, 0, 0x9000, 1, 0x9100], 1, &configs);
            let surface = SURFACE + thread as u64;
            self.fixed("eglCreatePbufferSurface", &[DISPLAY, CONFIG, 0], surface, &[]);
            let share = if thread == 0 { 0 } else { CONTEXTS[0] };
            self.fixed("eglCreateContext", &[DISPLAY, CONFIG, share, 0], context, &[]);
            self.fixed("eglMakeCurrent", &[DISPLAY, surface, surface, context], 1, &[]);
            self.context(context);
        }
        self.switch(0);
    }

    fn context(&mut self, context: u64) {
        let current = atom::Context { context, api: 0x30A0, client_version: 3 };
        self.record(atom::CONTEXT, 0, &current.encode());
        let extensions_len = self.extensions.len() as u16;
        let limits = atom::Limits { context, major: 3, minor: 2, numbers: 4, extensions_len };
        let mut limits = limits.encode().to_vec();
        for number in [4i32, 1, 0, 16] {
            limits.extend_from_slice(&number.to_le_bytes());
        }
        limits.extend_from_slice(self.extensions.as_bytes());
        self.record(atom::LIMITS, 0, &limits);
    }

    fn switch(&mut self, thread: u32) {
        self.thread = thread;
        self.record(atom::SWITCH_THREAD, 0, &atom::SwitchThread { thread }.encode());
    }

    /// Appends a command with these arguments and result; `outputs` belong to its output
    /// parameters, in order.
    fn fixed(&mut self, name: &str, args: &[u64], result: u64, outputs: &[Vec<u8>]) {
        self.written(&Written { name, args, result, outputs, ..Written::default() });
    }

    fn written(&mut self, command: &Written<'_>) {
        let Written { name, args, result, inputs, outputs, ranges, is_setup } = command;
        let function = functions().binary_search_by_key(name, |function| &function.name);
        let function = &functions()[function.expect("a function of the registry")];
        let mut enter = vec![0; function.fixed_len as usize];
        for (param, arg) in function.params.iter().zip(*args) {
            put(&mut enter, param.offset as usize, param.ty, *arg);
        }
        let slots = |observed| function.params.iter().filter(move |p| p.observed == observed);
        pad(&mut enter);
        let mut inputs = inputs.iter();
        for _ in slots(Observed::In) {
            match inputs.next() {
                Some(bytes) => observation(&mut enter, bytes),
                None => enter.extend_from_slice(&[0; 8]),
            }
        }
        let mut leave = vec![0; function.result_len()];
        put(&mut leave, 0, function.result, *result);
        pad(&mut leave);
        let mut outputs = outputs.iter();
        for _ in slots(Observed::Out) {
            match outputs.next() {
                Some(bytes) => observation(&mut leave, bytes),
                None => leave.extend_from_slice(&[0; 8]),
            }
        }
        for (param, address, bytes) in *ranges {
            range(&mut leave, *param, *address, bytes);
        }
        let setup = if *is_setup { SETUP } else { 0 };
        self.records(function, (&enter, setup), (&leave, setup));
    }

    /// Appends the next command that the input encodes.
    fn command(&mut self) {
        let choice = self.byte();
        match choice {
            0xF0..=0xF7 => return self.switch(u32::from(choice & 1)),
            0xF8..=0xFB => return self.context(CONTEXTS[usize::from(choice & 1)]),
            _ => {}
        }
        let known = functions();
        let function = match FREQUENT.get(usize::from(choice) % (2 * FREQUENT.len())) {
            Some(name) => {
                let found = known.binary_search_by_key(name, |function| &function.name);
                found.ok().and_then(|at| known.get(at))
            }
            None => known.get(usize::from(u16::from_le_bytes([choice, self.byte()])) % known.len()),
        };
        let Some(function) = function else { return };
        let mut enter = vec![0; function.fixed_len as usize];
        for param in &function.params {
            let value = self.value(param.ty);
            put(&mut enter, param.offset as usize, param.ty, value);
        }
        pad(&mut enter);
        for param in &function.params {
            if param.observed == Observed::In {
                self.slot(&mut enter, param.ty.kind == Kind::Strings);
            }
        }
        self.ranges(&mut enter);
        let mut leave = vec![0; function.result_len()];
        let result = self.value(function.result);
        put(&mut leave, 0, function.result, result);
        pad(&mut leave);
        for param in &function.params {
            if param.observed == Observed::Out {
                self.slot(&mut leave, false);
            }
        }
        self.ranges(&mut leave);
        let flags = if function.name.starts_with("eglSwap") { FRAME_END } else { 0 };
        self.records(function, (&enter, 0), (&leave, flags));
    }

    /// Appends the two records of a command, each with its payload and further flags.
    fn records(&mut self, function: &Function, enter: (&[u8], u16), leave: (&[u8], u16)) {
        let at_leave = function.leaves && function.effect == Effect::Leave;
        let enter_flags = if at_leave { LEAVES } else { EFFECT };
        let leaves = if function.leaves { LEAVES } else { 0 };
        self.record(function.id, enter_flags | leaves | enter.1, enter.0);
        if function.leaves {
            let effect = if at_leave { EFFECT } else { 0 };
            self.record(function.id, LEAVE | effect | leave.1, leave.0);
        }
    }

    fn record(&mut self, id: u16, flags: u16, payload: &[u8]) {
        let is_stamped = id < 0xFF00;
        let len = 8 + if is_stamped { 8 } else { 0 } + payload.len();
        let flags = if is_stamped { flags | STAMPED } else { flags };
        let word = len as u64 | u64::from(id) << 32 | u64::from(flags) << 48;
        self.raw.extend_from_slice(&word.to_le_bytes());
        if is_stamped {
            self.stamp += 1;
            self.raw.extend_from_slice(&self.stamp.to_le_bytes());
        }
        self.raw.extend_from_slice(payload);
        pad(&mut self.raw);
    }

    /// Encodes an argument or a result.
    fn value(&mut self, ty: Type) -> u64 {
        let choice = self.byte();
        let from = |table: &[u64]| table[usize::from(choice) % table.len()];
        if choice == 0xFF {
            return u64::from_le_bytes(std::array::from_fn(|_| self.byte()));
        }
        match (ty.kind, ty.repr) {
            (Kind::Enum(_) | Kind::Bitfield(_), _) if choice < 0xC0 => {
                u64::from(ENUMS[usize::from(choice) % ENUMS.len()])
            }
            (Kind::Enum(_) | Kind::Bitfield(_), _) => {
                u64::from(u16::from_le_bytes([choice, self.byte()]))
            }
            (Kind::Handle, Some(Repr::Pointer)) => match choice % 8 {
                0 => 0,
                1 => DISPLAY,
                2 => CONFIG,
                3 | 4 => SURFACE + u64::from(choice & 1),
                _ => CONTEXTS[usize::from(choice & 1)],
            },
            (Kind::Handle | Kind::Bool, _) => u64::from(choice % 6),
            (
                Kind::Pointer
                | Kind::String
                | Kind::Strings
                | Kind::Array
                | Kind::Attributes(_)
                | Kind::Struct(_)
                | Kind::Chain,
                _,
            ) => from(ADDRESSES),
            (Kind::Number, _) => from(NUMBERS),
        }
    }

    fn slot(&mut self, payload: &mut Vec<u8>, is_texts: bool) {
        let choice = self.byte();
        match choice {
            0xF0..=0xF7 => {
                let size = NUMBERS[usize::from(self.byte()) % NUMBERS.len()] & 0xFFFF_FFFF_FFFF;
                payload.extend_from_slice(&observation_word(0, size).to_le_bytes());
            }
            0xF8.. => {
                payload.extend_from_slice(&observation_word(3, u64::from(choice)).to_le_bytes());
                payload.extend_from_slice(&[choice; 16]);
            }
            0 => payload.extend_from_slice(&[0; 8]),
            _ if is_texts => {
                let mut texts = Vec::new();
                for _ in 0..choice % 4 {
                    let text = self.bytes(usize::from(choice / 4));
                    texts.extend_from_slice(&(text.len() as u32).to_le_bytes());
                    texts.extend_from_slice(&text);
                }
                observation(payload, &texts);
            }
            _ => {
                let bytes = self.bytes(usize::from(choice));
                observation(payload, &bytes);
            }
        }
    }

    fn ranges(&mut self, payload: &mut Vec<u8>) {
        for _ in 0..self.byte().saturating_sub(0xA0) % 4 {
            let (param, address) = (self.byte() % 8, self.byte());
            let address = ADDRESSES[usize::from(address) % ADDRESSES.len()];
            let len = usize::from(self.byte());
            let bytes = self.bytes(len);
            range(payload, if param == 7 { 0xFF } else { param }, address, &bytes);
        }
    }

    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.input.split_first() else { return 0 };
        self.input = rest;
        *first
    }

    /// The next `len` bytes of the input, and zeros after its end.
    fn bytes(&mut self, len: usize) -> Vec<u8> {
        let (taken, rest) = self.input.split_at(len.min(self.input.len()));
        self.input = rest;
        let mut bytes = taken.to_vec();
        bytes.resize(len, 0);
        bytes
    }
}

fn observation(payload: &mut Vec<u8>, bytes: &[u8]) {
    payload.extend_from_slice(&observation_word(1, bytes.len() as u64).to_le_bytes());
    payload.extend_from_slice(bytes);
    pad(payload);
}

fn range(payload: &mut Vec<u8>, param: u8, address: u64, bytes: &[u8]) {
    payload.extend_from_slice(&address.to_le_bytes());
    payload.extend_from_slice(&range_word(1, param, bytes.len() as u64).to_le_bytes());
    payload.extend_from_slice(bytes);
    pad(payload);
}

fn pad(payload: &mut Vec<u8>) {
    payload.resize(payload.len().next_multiple_of(8), 0);
}

fn put(payload: &mut [u8], at: usize, ty: Type, value: u64) {
    let size = usize::from(ty.repr.map_or(0, Repr::size));
    if let Some(place) = payload.get_mut(at..at + size) {
        place.copy_from_slice(&value.to_le_bytes()[..size]);
    }
}

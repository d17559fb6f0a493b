//! `import`: turns a recording of apitrace into a trace, call by call, and counts what it leaves out.
//!
//! Follows what the format does not say: the threads, which context is current on each, where frames end, and the memory
//! that a command reads through state. The contents of a vertex array in the program's memory stand in a fake `gl*Pointer`
//! before a draw; here the draw reads them. The program's writes to mapped buffers stand in a `memcpy`; here the thread's
//! next command reads them.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Write};

use gapii_abi::atom::{self, EFFECT, EndReason, FRAME_END, InFlight, LEAVE, LEAVES};
use gapii_commands::{CommandId, constants};
use gapii_trace::description::{Effect, Function};
use gapii_trace::footer::ProcessEntry;
use gapii_trace::{Description, TraceHeader};

use super::calls::{Call, Calls, Step};
use super::memory::{ARRAYS, Addresses};
use super::payload::{Payloads, Piece};
use super::read_error::ReadError;
use super::reader::{Details, Reader};
use super::values::Value;
use crate::trace_writer::{Record, TraceWriter};

const OPENGL_ES_API: u32 = constants::EGL_OPENGL_ES_API;
const OPENGL_API: u32 = constants::EGL_OPENGL_API;
const CLIENT_VERSION: u64 = constants::EGL_CONTEXT_CLIENT_VERSION as u64;
const EGL_NONE: u64 = constants::EGL_NONE as u64;
const GLX_MAJOR_VERSION: u64 = constants::GLX_CONTEXT_MAJOR_VERSION_ARB as u64;
const GLX_PROFILE: u64 = constants::GLX_CONTEXT_PROFILE_MASK_ARB as u64;
const GLX_ES_PROFILE: u64 = constants::GLX_CONTEXT_ES2_PROFILE_BIT_EXT as u64;
/// Id of the process, which the recording does not have.
const PID: u32 = 1;
/// Most different names that are counted one by one.
const NAMES_MAX: usize = 4096;
const PIECES_MAX: usize = 1 << 12;
const PIECES_BYTES_MAX: usize = 1 << 30;
/// Beginnings of the functions that windows of other systems have.
const OTHER_WINDOWS: [&str; 2] = ["wgl", "CGL"];

/// Result of an import.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// Name of the recorded program.
    pub program: String,
    /// Commands that are in the trace.
    pub commands: u64,
    /// Of these, the ones that apitrace added.
    pub fake: u64,
    /// Frames.
    pub frames: u64,
    /// Threads.
    pub threads: u64,
    /// Calls that are left out, because this build does not know the function, by name.
    pub unknown: BTreeMap<String, Unknown>,
    /// Calls that are left out, because their arguments have more memory than a record holds.
    pub too_long: u64,
    /// Calls that are left out, because they were made within another call of their thread.
    pub nested: u64,
    /// Calls that are left out, because they did not end though their thread went on.
    pub unended: u64,
    /// Writes to mapped memory, and vertex arrays, that no command reads.
    pub unread: u64,
    /// Whether the file ends within a call.
    pub is_cut: bool,
}

/// Calls of a function that are left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unknown {
    /// Number of calls.
    pub calls: u64,
    /// Whether the calls belong to windows of other systems.
    pub is_of_other_windows: bool,
}

/// Why an import failed.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The recording can't be read.
    #[error(transparent)]
    Reading(#[from] ReadError),
    /// The trace can't be written.
    #[error(transparent)]
    Writing(io::Error),
    /// The recording makes its contexts with WGL or CGL alone.
    #[error("it is a recording of OpenGL through WGL or CGL")]
    OtherWindows,
}

/// When the recording was made, for the header of the trace: in nanoseconds of Unix time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Made {
    /// Nanoseconds of Unix time; 0 if it is not known.
    pub unix_ns: u64,
}

/// Writes the trace of the recording `input` to `out`. Calls `progress` now and then with the number of bytes of `input` that were read.
///
/// # Errors
/// [`ImportError`]; what is written is then no whole trace. A recording that ends within a call is no error.
pub fn import<R: Read, W: Write>(
    input: R,
    out: W,
    made: Made,
    mut progress: impl FnMut(u64),
) -> Result<(W, Imported), ImportError> {
    let reader = Reader::open(input)?;
    let program = reader.property("process.name").unwrap_or_default().to_owned();
    let name = program.rsplit('/').next().unwrap_or_default().to_owned();
    let process = ProcessEntry {
        pid: PID,
        name: name.as_str().into(),
        exe: program.as_str().into(),
        apis: vec!["egl".into(), "gl".into(), "glx".into()],
        ..ProcessEntry::default()
    };
    let writer = concat!("gapii ", env!("CARGO_PKG_VERSION"), ", imported from apitrace");
    let header = TraceHeader::new(writer, [0; 16], made.unix_ns, 0);
    let mut importer = Importer {
        writer: TraceWriter::begin(out, &header, process).map_err(ImportError::Writing)?,
        functions: HashMap::new(),
        threads: HashMap::new(),
        contexts: HashMap::new(),
        begun: HashMap::new(),
        waiting: HashMap::new(),
        imported: Imported { program: name, ..Imported::default() },
    };
    let mut calls = Calls::new(reader);
    let mut steps = 0u64;
    while let Some(step) = calls.step()? {
        importer.step(step).map_err(ImportError::Writing)?;
        steps += 1;
        if steps.is_multiple_of(4096) {
            progress(calls.reader().consumed());
        }
    }
    importer.imported.is_cut = calls.is_cut();
    importer.imported.nested = calls.nested();
    importer.finish()
}

/// The function that a signature of the file names.
type Known = Option<(&'static Function, CommandId)>;

struct Importer<W> {
    writer: TraceWriter<W>,
    /// By the number of the signature in the file.
    functions: HashMap<u64, Known>,
    /// By the number of the thread in the file.
    threads: HashMap<u64, Thread>,
    contexts: HashMap<u64, atom::Context>,
    /// Calls that have begun and not ended.
    begun: HashMap<u64, Begun>,
    /// By thread: the call whose end was not found so far, and which is not in the trace.
    waiting: HashMap<u64, Call>,
    imported: Imported,
}

/// A call that has begun.
struct Begun {
    call: Call,
    function: &'static Function,
    command: CommandId,
    /// Stamp of its enter record.
    stamp: u64,
    has_effect: bool,
}

/// State of a thread.
struct Thread {
    /// Index in the trace.
    index: u32,
    context: u64,
    /// `eglBindAPI`.
    bound_api: u32,
    /// Writes to mapped memory, which the next command reads.
    written: Pieces,
    /// Vertex arrays, which the next draw reads.
    arrays: Pieces,
    array_addresses: Addresses,
}

/// Memory that a later command reads, up to `PIECES_MAX` pieces and `PIECES_BYTES_MAX` bytes.
#[derive(Default)]
struct Pieces {
    pieces: Vec<Piece>,
    bytes: usize,
}

impl Pieces {
    /// Adds a piece. Returns how many older ones it drops to make room.
    fn push(&mut self, piece: Piece) -> u64 {
        let bytes = self.bytes + piece.bytes.len();
        let is_full = self.pieces.len() >= PIECES_MAX || bytes > PIECES_BYTES_MAX;
        let dropped = if is_full { self.take().len() as u64 } else { 0 };
        self.bytes += piece.bytes.len();
        self.pieces.push(piece);
        dropped
    }

    fn take(&mut self) -> Vec<Piece> {
        self.bytes = 0;
        std::mem::take(&mut self.pieces)
    }
}

impl<W: Write> Importer<W> {
    fn step(&mut self, step: Step) -> io::Result<()> {
        match step {
            Step::Begin(call) => self.begin_or_wait(call),
            Step::End(number) => match self.begun.remove(&number) {
                Some(begun) => self.end(&begun),
                None => Ok(()),
            },
            Step::LateEnd(number, outputs) => self.end_late(number, outputs),
        }
    }

    /// Begins a call that has ended; one that has not waits. A call of the thread that waited does not end any more.
    fn begin_or_wait(&mut self, call: Call) -> io::Result<()> {
        let thread = call.thread;
        self.imported.unended += u64::from(self.waiting.remove(&thread).is_some());
        if call.outputs.is_none() {
            self.waiting.insert(thread, call);
            return Ok(());
        }
        self.begin(call)
    }

    /// Begins and ends a call that waited for its end.
    fn end_late(&mut self, number: u64, outputs: Details) -> io::Result<()> {
        let mut waiting = self.waiting.iter();
        let Some((&thread, _)) = waiting.find(|(_, call)| call.number == number) else {
            return Ok(());
        };
        if let Some(mut call) = self.waiting.remove(&thread) {
            call.outputs = Some(outputs);
            self.begin(call)?;
        }
        self.step(Step::End(number))
    }

    fn begin(&mut self, call: Call) -> io::Result<()> {
        let of_thread = self.thread(call.thread)?;
        let index = of_thread.index;
        if call.signature.name == "memcpy" {
            return self.memcpy(&call);
        }
        let Some((function, command)) = self.known(&call) else {
            self.unknown(&call);
            return Ok(());
        };
        let array = match vertex_array(command, &call) {
            Some(bytes) => Some(self.hold_array(call.thread, bytes)),
            None => None,
        };
        let thread = self.threads.get_mut(&call.thread).expect("it was made above");
        let mut pieces = thread.written.take();
        if is_draw(command) {
            pieces.append(&mut thread.arrays.take());
            thread.array_addresses = Addresses::from(ARRAYS);
        }
        let payloads = Payloads { function, call: &call };
        let payload = payloads.enter(array, &pieces, &mut self.writer, index)?;
        if !TraceWriter::<W>::fits(&payload) {
            self.imported.too_long += 1;
            return Ok(());
        }
        let takes_effect = match function.effect {
            Effect::Enter => true,
            Effect::Leave => false,
            // Releases the current context, or acquires one, its last parameter, when it returns.
            Effect::Recorded => {
                let context = call.input(function.params.len().saturating_sub(1));
                context.is_none_or(|context| bits(context) == 0)
            }
        };
        let flags = if takes_effect { EFFECT } else { 0 };
        let leaves = if function.leaves { LEAVES } else { 0 };
        let record = Record { function, flags: flags | leaves, payload: &payload };
        let stamp = self.writer.command(index, &record)?;
        self.imported.fake += u64::from(call.is_fake());
        if function.leaves {
            let begun = Begun { function, command, stamp, has_effect: takes_effect, call };
            self.begun.insert(begun.call.number, begun);
        }
        Ok(())
    }

    fn end(&mut self, begun: &Begun) -> io::Result<()> {
        let Begun { call, function, command, has_effect, .. } = begun;
        let index = self.thread(call.thread)?.index;
        let payload = Payloads { function, call }.leave(&mut self.writer, index)?;
        let effect = if *has_effect { 0 } else { EFFECT };
        let ends_frame = is_swap(*command, call.result_bits());
        let frame_end = if ends_frame { FRAME_END } else { 0 };
        let flags = LEAVE | effect | frame_end;
        self.writer.command(index, &Record { function, flags, payload: &payload })?;
        self.follow(call, *command)
    }

    /// Follows which context is current on a thread, and how contexts were made.
    fn follow(&mut self, call: &Call, command: CommandId) -> io::Result<()> {
        let result = call.result_bits().unwrap_or(0);
        let thread = self.threads.get_mut(&call.thread).expect("it has called");
        let argument = |index| call.input(index).map_or(0, bits);
        let current = match command {
            CommandId::EGL_BIND_API if result != 0 => {
                thread.bound_api = argument(0) as u32;
                return Ok(());
            }
            CommandId::EGL_CREATE_CONTEXT if result != 0 => {
                let api = thread.bound_api;
                let client_version = call.input(3).map_or(1, client_version);
                let context = atom::Context { context: result, api, client_version };
                self.contexts.insert(result, context);
                return Ok(());
            }
            CommandId::GLX_CREATE_CONTEXT
            | CommandId::GLX_CREATE_CONTEXT_ATTRIBS_ARB
            | CommandId::GLX_CREATE_CONTEXT_WITH_CONFIG_SGIX
            | CommandId::GLX_CREATE_NEW_CONTEXT
                if result != 0 =>
            {
                let list = call.input(4).filter(|_| command.name().contains("Attribs"));
                self.contexts.insert(result, context_of_glx(result, list));
                return Ok(());
            }
            CommandId::GLX_MAKE_CURRENT if result != 0 => argument(2),
            CommandId::EGL_MAKE_CURRENT
            | CommandId::GLX_MAKE_CONTEXT_CURRENT
            | CommandId::GLX_MAKE_CURRENT_READ_SGI
                if result != 0 =>
            {
                argument(3)
            }
            CommandId::EGL_RELEASE_THREAD if result != 0 => {
                thread.bound_api = OPENGL_ES_API;
                0
            }
            _ => return Ok(()),
        };
        if thread.context == current {
            return Ok(());
        }
        thread.context = current;
        let context = match self.contexts.get(&current) {
            Some(context) => *context,
            None if current == 0 => atom::Context::default(),
            // It was made by a call that is not in the recording.
            None => atom::Context { context: current, api: OPENGL_ES_API, client_version: 0 },
        };
        let index = thread.index;
        self.writer.context(index, context)
    }

    fn memcpy(&mut self, call: &Call) -> io::Result<()> {
        let address = call.input(0).map_or(0, bits);
        let thread = self.threads.get_mut(&call.thread).expect("it was made before");
        match call.input(1) {
            Some(Value::Blob(bytes)) if address != 0 => {
                let piece = Piece { address, bytes: bytes.clone() };
                self.imported.unread += thread.written.push(piece);
            }
            _ => self.imported.unread += 1,
        }
        Ok(())
    }

    /// Keeps a vertex array for the next draw, and returns its address.
    fn hold_array(&mut self, thread: u64, bytes: &[u8]) -> u64 {
        let thread = self.threads.get_mut(&thread).expect("it was made before");
        let address = thread.array_addresses.take(bytes.len());
        let piece = Piece { address, bytes: bytes.to_vec() };
        self.imported.unread += thread.arrays.push(piece);
        address
    }

    fn known(&mut self, call: &Call) -> Known {
        let signature = &call.signature;
        *self.functions.entry(signature.id).or_insert_with(|| {
            let command = CommandId::named(&signature.name)?;
            let function = Description::built_in().of(command)?;
            let is_graphics = ["egl", "gl", "glx"].contains(&&*function.api);
            (is_graphics && function.params.len() == signature.params.len())
                .then_some((function, command))
        })
    }

    fn unknown(&mut self, call: &Call) {
        let unknown = &mut self.imported.unknown;
        let name = match unknown.contains_key(&call.signature.name) || unknown.len() < NAMES_MAX {
            true => call.signature.name.as_str(),
            false => "others",
        };
        let counted = unknown.entry(name.to_owned()).or_default();
        counted.calls += 1;
        let mut begins = OTHER_WINDOWS.iter();
        counted.is_of_other_windows |= begins.any(|begin| call.signature.name.starts_with(begin));
    }

    fn thread(&mut self, number: u64) -> io::Result<&mut Thread> {
        if !self.threads.contains_key(&number) {
            let tid = u32::try_from(number).unwrap_or(u32::MAX).saturating_add(PID);
            let index = self.writer.thread(tid, &format!("thread {number}"))?;
            let thread = Thread {
                index,
                context: 0,
                bound_api: OPENGL_ES_API,
                written: Pieces::default(),
                arrays: Pieces::default(),
                array_addresses: Addresses::from(ARRAYS),
            };
            self.threads.insert(number, thread);
        }
        Ok(self.threads.get_mut(&number).expect("it is there"))
    }

    fn finish(mut self) -> Result<(W, Imported), ImportError> {
        let mut waiting: Vec<_> = std::mem::take(&mut self.waiting).into_values().collect();
        waiting.sort_by_key(|call| call.number);
        for call in waiting {
            self.begin(call).map_err(ImportError::Writing)?;
        }
        let has_others = self.imported.unknown.values().any(|it| it.is_of_other_windows);
        if has_others && self.contexts.is_empty() {
            return Err(ImportError::OtherWindows);
        }
        let unread =
            self.threads.values().map(|it| it.written.pieces.len() + it.arrays.pieces.len());
        self.imported.unread += unread.sum::<usize>() as u64;
        let in_flight = self.begun.values().map(|begun| InFlight {
            thread: self.threads.get(&begun.call.thread).map_or(0, |thread| thread.index),
            id: begun.function.id,
            stamp: begun.stamp,
        });
        let mut in_flight: Vec<_> = in_flight.collect();
        in_flight.sort_by_key(|command| command.stamp);
        let mut imported = self.imported;
        imported.commands = self.writer.commands();
        imported.frames = self.writer.frames();
        imported.threads = self.writer.threads();
        let finished = self.writer.finish(EndReason::Exit, in_flight, imported.nested);
        Ok((finished.map_err(ImportError::Writing)?, imported))
    }
}

/// Returns the bits of an integer or address; 0 of another value.
fn bits(value: &Value) -> u64 {
    match value {
        Value::Integer(bits) | Value::Address(bits) => *bits,
        _ => 0,
    }
}

/// Returns the version that an attribute list asks for; 1 if it does not say it.
fn client_version(list: &Value) -> u32 {
    attribute(list, EGL_NONE, CLIENT_VERSION).map_or(1, |version| version as u32)
}

/// Returns a context of GLX that was made with this list of attributes.
fn context_of_glx(context: u64, list: Option<&Value>) -> atom::Context {
    let value = |name| list.and_then(|list| attribute(list, 0, name));
    let api = match value(GLX_PROFILE).unwrap_or(0) & GLX_ES_PROFILE {
        0 => OPENGL_API,
        _ => OPENGL_ES_API,
    };
    let client_version = value(GLX_MAJOR_VERSION).map_or(1, |version| version as u32);
    atom::Context { context, api, client_version }
}

/// Returns the last value of an attribute in a list that `end` ends.
fn attribute(list: &Value, end: u64, name: u64) -> Option<u64> {
    let Value::Array(elements) = list else { return None };
    let pairs = elements.chunks_exact(2).take_while(|pair| bits(&pair[0]) != end);
    let values = pairs.filter(|pair| bits(&pair[0]) == name).map(|pair| bits(&pair[1]));
    values.last()
}

/// Returns the contents of a vertex array that a call sets.
fn vertex_array(command: CommandId, call: &Call) -> Option<&[u8]> {
    let pointer = match command {
        CommandId::GL_VERTEX_ATTRIB_POINTER => 5,
        CommandId::GL_VERTEX_ATTRIB_I_POINTER => 4,
        CommandId::GL_VERTEX_POINTER
        | CommandId::GL_COLOR_POINTER
        | CommandId::GL_TEX_COORD_POINTER
        | CommandId::GL_MATRIX_INDEX_POINTER_OES
        | CommandId::GL_WEIGHT_POINTER_OES => 3,
        CommandId::GL_NORMAL_POINTER | CommandId::GL_POINT_SIZE_POINTER_OES => 2,
        _ => return None,
    };
    match call.input(pointer) {
        Some(Value::Blob(bytes)) => Some(bytes),
        _ => None,
    }
}

/// Returns whether a command reads vertex arrays.
fn is_draw(command: CommandId) -> bool {
    const DRAWS: [&str; 4] =
        ["glDrawArrays", "glDrawElements", "glDrawRangeElements", "glMultiDraw"];
    DRAWS.iter().any(|begin| command.name().starts_with(begin))
}

/// Returns whether a call with this result ended a frame.
fn is_swap(command: CommandId, result: Option<u64>) -> bool {
    match command {
        CommandId::EGL_SWAP_BUFFERS
        | CommandId::EGL_SWAP_BUFFERS_WITH_DAMAGE_EXT
        | CommandId::EGL_SWAP_BUFFERS_WITH_DAMAGE_KHR => result == Some(1),
        // It has no result.
        CommandId::GLX_SWAP_BUFFERS => true,
        CommandId::GLX_SWAP_BUFFERS_MSC_OML => result.is_some_and(|swaps| swaps as i64 >= 0),
        _ => false,
    }
}

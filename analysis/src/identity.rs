//! The identity of a command: all of it but the values that differ between two runs of one program. A [`Shape`] does not
//! depend on addresses, on handles and names of objects, or on the room that the program has for an answer; objects are
//! numbered in each trace, so that a caller can tell whether two commands use the same ones.
//!
//! A location or an index that the driver chose counts by the name that the program asked for it (`locations.rs`).
//!
//! An address with memory counts by the memory's bytes; without memory, below `OFFSET_MAX`, 1 MiB, it is an offset and
//! counts by value, otherwise only as an address. Null counts as null. Structs count field by field.

use std::hash::{Hash, Hasher};

use gapii_commands::CommandId;
use gapii_commands::constants::GL_INVALID_INDEX;
use gapii_trace::Command;
use gapii_trace::blobs::BlobName;
use gapii_trace::description::{Function, Kind, Layout, Observed, Repr, Type};
use gapii_trace::value::{Observation, Value};

use crate::digest::{self, Digest, Map};
use crate::locations::{Chosen, Locations, Name, Named};
use crate::role::Role;

/// Pointers below this limit that have no memory are offsets into a buffer, and count by value.
const OFFSET_MAX: u64 = 1 << 20;

/// Structs that are nested deeper count by their bytes.
const DEPTH_MAX: u32 = 8;

/// Parameters with the room that the program has for an answer of the driver: programs ask the driver first how much they
/// need, so these numbers differ where answers do.
const ROOMS: [&str; 8] = [
    "bufSize",
    "bufsize",
    "config_size",
    "maxCount",
    "maxLength",
    "max_devices",
    "max_layers",
    "max_ports",
];

/// Parameters that point at an XID of a window or pixmap (`EGL_EXT_platform_x11`).
const NATIVES: [&str; 2] = ["native_window", "native_pixmap"];

/// Numbers the objects of one trace.
#[derive(Default)]
pub struct Identity {
    /// Numbers of objects.
    objects: Map<Handle, u64>,
    next: u64,
    locations: Locations,
    /// By function id; `None` before the function's first command.
    functions: Vec<Option<Facts>>,
    /// Memory for the digests of the next command.
    spare: Vec<Digest>,
}

/// Facts about a function, looked up once.
#[derive(Clone, Copy)]
struct Facts {
    /// Digest of the name.
    digest: u64,
    /// Whether the driver writes to a parameter.
    asks: bool,
    /// Whether the command has a result, or a parameter that the driver writes to.
    answers: bool,
}

/// A handle: index of the process, namespace, value.
type Handle = (u32, u64, u64);

/// A command without its addresses and handles.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Digest of the function and of everything that the command read, without objects.
    pub key: u64,
    /// Digest of the function.
    pub function: u64,
    /// Digest of what the command read, for each parameter; the last is memory that belongs to none.
    pub inputs: Box<[u64]>,
    /// Digest of what the driver wrote, for each parameter; the last is the result, with memory that belongs to none. Empty
    /// if the driver wrote nothing.
    pub outputs: Box<[u64]>,
    /// The objects that the command used and was given.
    pub objects: Box<[Object]>,
}

/// An object that a command used or was given.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// Position in `inputs` or `outputs`.
    pub part: usize,
    /// True if the driver gave it.
    pub is_output: bool,
    /// Number of the object in the trace; a handle that is given out again is another object.
    pub number: u64,
}

/// The parts of a command while they are computed.
struct Parts<'a> {
    command: &'a Command<'a>,
    hashers: Vec<Digest>,
    objects: Vec<Object>,
    /// The handles of `objects`; `None` for an object that the command does not name.
    handles: Vec<Option<Handle>>,
    is_output: bool,
    /// The program and the program pipeline that the command names.
    named: Named,
    /// True if a handle that the driver gives is a new object.
    makes: bool,
}

impl Identity {
    /// Returns the shape of the next command.
    pub fn of(&mut self, command: &Command<'_>) -> Shape {
        let facts = self.facts(command);
        let mut inputs = Parts::new(command, false, std::mem::take(&mut self.spare));
        self.inputs(command, &mut inputs, facts.asks);
        self.locations.learn(command, inputs.named);
        self.forget(&inputs);
        let (inputs, mut objects, spare) = inputs.finish();
        self.spare = spare;
        let outputs = match facts.answers || command.ranges_written().next().is_some() {
            true => {
                let mut outputs = Parts::new(command, true, std::mem::take(&mut self.spare));
                self.outputs(command, &mut outputs);
                let (outputs, given, spare) = outputs.finish();
                self.spare = spare;
                objects.extend(given);
                outputs
            }
            false => Box::default(),
        };
        let function = facts.digest;
        let key = digest::of((function, &inputs));
        Shape { key, function, inputs, outputs, objects: objects.into() }
    }

    fn facts(&mut self, command: &Command<'_>) -> Facts {
        let id = usize::from(command.id);
        match self.functions.get(id) {
            Some(Some(facts)) => *facts,
            _ => {
                let facts = Facts::of(command);
                if self.functions.len() <= id {
                    self.functions.resize(id + 1, None);
                }
                self.functions[id] = Some(facts);
                facts
            }
        }
    }

    /// Makes handles that a command has destroyed other objects when they are used again. The objects to destroy are the
    /// last parameter: `eglDestroyContext(dpy, ctx)`.
    fn forget(&mut self, inputs: &Parts<'_>) {
        if !Role::Deletes.is_of(inputs.command.known()) {
            return;
        }
        // The part after the parameters is for other memory.
        let last = inputs.hashers.len().saturating_sub(2);
        let handles = inputs.objects.iter().zip(&inputs.handles);
        for (object, handle) in handles.filter(|(object, _)| object.part == last) {
            self.locations.forget(object.number);
            if let Some(handle) = handle {
                self.objects.remove(handle);
            }
        }
    }

    fn inputs(&mut self, command: &Command<'_>, parts: &mut Parts<'_>, asks: bool) {
        for (part, arg) in command.args().enumerate() {
            let name = arg.param.name.as_str();
            if asks && ROOMS.contains(&name) {
                continue;
            }
            let reads = arg.param.observed == Observed::In;
            let has_memory = reads && arg.observation != Observation::None;
            let number = arg.value.bits() as u32;
            if let Some(named) = self.locations.name(command, name, number, parts.named.program) {
                parts.name(part, named);
                continue;
            }
            self.value(parts, part, arg.param.ty, arg.value, has_memory, name);
            if reads && name == "uniformIndices" {
                self.indices(parts, part, arg.observation, name);
            } else if reads {
                self.memory(parts, part, arg.param.element, arg.observation, name);
            }
            match name {
                "program" => parts.named.program = parts.last_object(part),
                "pipeline" => parts.named.pipeline = parts.last_object(part),
                _ => {}
            }
        }
        for range in command.ranges_read() {
            let (part, name) = place(command, range.param);
            let element = command.element_of(&range);
            self.memory(parts, part, element, range.observation, name);
        }
    }

    fn outputs(&mut self, command: &Command<'_>, parts: &mut Parts<'_>) {
        for (part, arg) in command.args().enumerate() {
            if arg.param.observed == Observed::Out {
                let name = arg.param.name.as_str();
                match Locations::chosen(command, name) {
                    Some(chosen) => numbers(parts, part, arg.observation, &chosen),
                    None => self.memory(parts, part, arg.param.element, arg.observation, name),
                }
            }
        }
        for range in command.ranges_written() {
            let (part, name) = place(command, range.param);
            let element = command.element_of(&range);
            self.memory(parts, part, element, range.observation, name);
        }
        if let (Some((value, text)), Some(function)) = (command.result(), command.function) {
            let part = function.params.len();
            if Locations::is_chosen(command) {
                return 1_u64.hash(&mut parts.hashers[part]);
            }
            let has_text = text != Observation::None;
            self.value(parts, part, result_type(function), value, has_text, result_name(function));
            memory(text, &mut parts.hashers[part]);
        }
    }

    /// Hashes indices that a program passes, by their names if they have any.
    fn indices(
        &self,
        parts: &mut Parts<'_>,
        part: usize,
        observation: Observation<'_>,
        name: &str,
    ) {
        let command = parts.command;
        let Some(bytes) = command.bytes_of(observation) else {
            return memory(observation, &mut parts.hashers[part]);
        };
        bytes.len().hash(&mut parts.hashers[part]);
        let (words, _) = bytes.as_chunks::<4>();
        for number in words.iter().map(|word| u32::from_le_bytes(*word)) {
            match self.locations.name(command, name, number, parts.named.program) {
                Some(named) => parts.name(part, named),
                None => number.hash(&mut parts.hashers[part]),
            }
        }
    }

    /// Hashes observed memory: handles, addresses and structs as such, and everything else byte by byte.
    fn memory(
        &mut self,
        parts: &mut Parts<'_>,
        part: usize,
        element: Option<Type>,
        observation: Observation<'_>,
        name: &str,
    ) {
        let native = Type { repr: Some(Repr::Pointer), kind: Kind::Handle };
        let element = if NATIVES.contains(&name) { Some(native) } else { element };
        let means = |ty: &Type| matches!(ty.kind, Kind::Handle | Kind::Pointer | Kind::Struct(_));
        let elements = element.filter(means).and_then(|ty| Some((ty, size_of(parts.command, ty)?)));
        let bytes = elements.and_then(|_| parts.command.bytes_of(observation));
        match (elements, bytes) {
            (Some((ty, size)), Some(bytes)) if bytes.len().is_multiple_of(size) => {
                bytes.len().hash(&mut parts.hashers[part]);
                for element in bytes.chunks_exact(size) {
                    self.element(parts, part, ty, element, name, 0);
                }
            }
            _ => memory(observation, &mut parts.hashers[part]),
        }
    }

    /// Hashes an element of memory.
    fn element(
        &mut self,
        parts: &mut Parts<'_>,
        part: usize,
        ty: Type,
        bytes: &[u8],
        name: &str,
        depth: u32,
    ) {
        let Kind::Struct(index) = ty.kind else {
            return self.value(parts, part, ty, Value::read(ty, bytes, 0), false, name);
        };
        let layout = parts.command.description().layout(index);
        let is_known = |layout: &&Layout| depth < DEPTH_MAX && !layout.fields.is_empty();
        let Some(layout) = layout.filter(is_known) else {
            return bytes.hash(&mut parts.hashers[part]);
        };
        for field in &layout.fields {
            let Some(size) = size_of(parts.command, field.ty) else { continue };
            for at in 0..field.len.max(1) as usize {
                let from = field.offset as usize + at * size;
                let piece = bytes.get(from..from + size).unwrap_or_default();
                self.element(parts, part, field.ty, piece, &field.name, depth + 1);
            }
        }
    }

    /// Hashes a value: of a handle only whether it is null, and of an address only whether it is one.
    fn value(
        &mut self,
        parts: &mut Parts<'_>,
        part: usize,
        ty: Type,
        value: Value,
        has_memory: bool,
        name: &str,
    ) {
        let bits = match value {
            Value::Pointer(address) if has_memory || address >= OFFSET_MAX => 1,
            Value::Pointer(offset) => offset << 1,
            Value::Unsigned(handle) if ty.kind == Kind::Handle && handle != 0 => {
                let handle =
                    (parts.command.process, namespace(parts.command.known(), ty, name), handle);
                let number = self.object(parts.makes, handle);
                parts.handles.push(Some(handle));
                parts.objects.push(Object { part, is_output: parts.is_output, number });
                1
            }
            value => value.bits(),
        };
        bits.hash(&mut parts.hashers[part]);
    }

    /// Returns the number of the object that this handle stands for now.
    fn object(&mut self, makes: bool, handle: Handle) -> u64 {
        match self.objects.get(&handle) {
            Some(number) if !makes => *number,
            _ => {
                self.next += 1;
                self.objects.insert(handle, self.next);
                self.next
            }
        }
    }
}

impl Facts {
    fn of(command: &Command<'_>) -> Self {
        let params = command.function.map_or(&[][..], |function| &function.params);
        let asks = params.iter().any(|param| param.observed == Observed::Out);
        let has_result = command.function.is_some_and(|function| !function.result.is_void());
        Self { digest: digest::of(command.name()), asks, answers: asks || has_result }
    }
}

impl Shape {
    /// Returns the digest in `outputs` of a part; `None` if the command has no such part.
    pub fn output(&self, part: usize) -> Option<u64> {
        match self.outputs.is_empty() {
            true => (part < self.inputs.len()).then(|| digest::begin().finish()),
            false => self.outputs.get(part).copied(),
        }
    }
}

impl<'a> Parts<'a> {
    /// Begins with no part hashed; `hashers` is memory to use.
    fn new(command: &'a Command<'a>, is_output: bool, mut hashers: Vec<Digest>) -> Self {
        let count = command.function.map_or(0, |function| function.params.len()) + 1;
        let makes = is_output && Role::Creates.is_of(command.known());
        hashers.clear();
        hashers.resize(count, digest::begin());
        Self {
            command,
            hashers,
            objects: Vec::new(),
            handles: Vec::new(),
            is_output,
            named: Named::default(),
            makes,
        }
    }

    /// Hashes a number by its name.
    fn name(&mut self, part: usize, Name { digest, program }: Name) {
        ("name", digest).hash(&mut self.hashers[part]);
        if let Some(number) = program {
            self.objects.push(Object { part, is_output: self.is_output, number });
            self.handles.push(None);
        }
    }

    /// Number of the object in this part.
    fn last_object(&self, part: usize) -> Option<u64> {
        self.objects.last().filter(|object| object.part == part).map(|object| object.number)
    }

    /// Returns the digests, the objects, and the memory of the hashers.
    fn finish(self) -> (Box<[u64]>, Vec<Object>, Vec<Digest>) {
        (self.hashers.iter().map(Hasher::finish).collect(), self.objects, self.hashers)
    }
}

/// Position and name of the parameter that a range of memory belongs to.
fn place<'a>(command: &Command<'a>, param: Option<u8>) -> (usize, &'a str) {
    let params = command.function.map_or(&[][..], |function| &function.params);
    let found = param.and_then(|at| Some((usize::from(at), params.get(usize::from(at))?)));
    found.map_or((params.len(), ""), |(at, param)| (at, param.name.as_str()))
}

/// Type of a result. The description has the names of programs and shaders, which a command returns, as numbers.
pub fn result_type(function: &Function) -> Type {
    match function.result {
        Type { repr: Some(Repr::U32), kind: Kind::Number }
            if Role::Creates.is_of(function.known) =>
        {
            Type { repr: Some(Repr::U32), kind: Kind::Handle }
        }
        ty => ty,
    }
}

/// Name of the parameter by which a result is passed to other commands.
pub fn result_name(function: &Function) -> &str {
    match function.known {
        known if Role::CreatesProgram.is_of(known) => "program",
        known if Role::CreatesShader.is_of(known) => "shader",
        _ => &function.name,
    }
}

/// Objects with equal handles in different namespaces are different ones. Handles that are addresses have one namespace; the
/// names of OpenGL ES (OpenGL ES 3.2, 2.6) have one for each kind of object, which the parameter's name tells.
pub fn namespace(command: Option<CommandId>, ty: Type, name: &str) -> u64 {
    if ty.repr == Some(Repr::Pointer) {
        return 0;
    }
    let kind = name.trim_end_matches('s');
    match kind {
        // Names of queries and of transform feedback objects are passed as `id`.
        "id" => digest::of((kind, Role::AboutQuery.is_of(command))),
        _ => digest::of(kind),
    }
}

/// Size of a value in memory, in bytes; `None` if it is not known.
fn size_of(command: &Command<'_>, ty: Type) -> Option<usize> {
    let size = match ty.kind {
        Kind::Struct(index) => command.description().layout(index)?.size as usize,
        _ => usize::from(ty.repr?.size()),
    };
    (size > 0).then_some(size)
}

/// Hashes an output with numbers that the driver has chosen: of these only whether they are valid.
fn numbers(parts: &mut Parts<'_>, part: usize, observation: Observation<'_>, chosen: &Chosen) {
    let Some(bytes) = parts.command.bytes_of(observation) else {
        return memory(observation, &mut parts.hashers[part]);
    };
    let hasher = &mut parts.hashers[part];
    bytes.len().hash(hasher);
    let (words, _) = bytes.as_chunks::<4>();
    for (at, word) in words.iter().enumerate() {
        let number = u32::from_le_bytes(*word);
        match chosen.has(at) && number != GL_INVALID_INDEX {
            true => ("chosen", 1).hash(hasher),
            false => number.hash(hasher),
        }
    }
}

/// Hashes observed memory. Bytes in a record and the same bytes in a blob have the same hash.
fn memory(observation: Observation<'_>, hasher: &mut Digest) {
    match observation {
        Observation::None => 0u64.hash(hasher),
        Observation::Bytes(bytes) => (bytes.len() as u64, BlobName::of(bytes)).hash(hasher),
        Observation::Blob { name, size } => (size, name).hash(hasher),
        Observation::Unrecorded { size }
        | Observation::Unnamed { size, .. }
        | Observation::Missing { size } => size.hash(hasher),
    }
}

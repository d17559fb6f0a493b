//! Digests of commands that do not depend on addresses, so that they are equal in two runs of a program. Handles above
//! 32 bits count by the order of their first use, smaller numbers by value, also in observed memory. An address with
//! memory counts by the memory's bytes; without memory, below `OFFSET_MAX`, 1 MiB, it is an offset and counts by value,
//! otherwise not at all.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use gapii_trace::Command;
use gapii_trace::blobs::BlobName;
use gapii_trace::description::{Kind, Observed, Type};
use gapii_trace::value::{Observation, Value};

/// Pointers below this limit that have no memory are offsets into a buffer, and count by value.
const OFFSET_MAX: u64 = 1 << 20;

/// Computes the digests of the commands of one trace.
#[derive(Default)]
pub struct Identity {
    /// Ordinals of handles, in the order of their first use.
    handles: HashMap<u64, u64>,
}

/// Digest of a command. Commands of two runs are equal if both fields are equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digest {
    /// Function, arguments, and memory that the command read.
    pub inputs: u64,
    /// Result, and memory that the command wrote.
    pub outputs: u64,
}

impl Identity {
    /// Returns the digest of the next command.
    pub fn of(&mut self, command: &Command<'_>) -> Digest {
        Digest { inputs: self.inputs(command), outputs: self.outputs(command) }
    }

    fn inputs(&mut self, command: &Command<'_>) -> u64 {
        let mut hasher = DefaultHasher::new();
        command.name().hash(&mut hasher);
        for arg in command.args() {
            let reads = arg.param.observed == Observed::In;
            let has_memory = reads && arg.observation != Observation::None;
            self.value(arg.param.ty, arg.value, has_memory).hash(&mut hasher);
            if reads {
                self.memory(arg.param.element, arg.observation, &mut hasher);
            }
        }
        for range in command.ranges_read() {
            range.param.hash(&mut hasher);
            self.memory(command.element_of(&range), range.observation, &mut hasher);
        }
        hasher.finish()
    }

    fn outputs(&mut self, command: &Command<'_>) -> u64 {
        let mut hasher = DefaultHasher::new();
        if let (Some((value, text)), Some(function)) = (command.result(), command.function) {
            self.value(function.result, value, text != Observation::None).hash(&mut hasher);
            memory(text, &mut hasher);
        }
        for arg in command.args().filter(|arg| arg.param.observed == Observed::Out) {
            self.memory(arg.param.element, arg.observation, &mut hasher);
        }
        for range in command.ranges_written() {
            range.param.hash(&mut hasher);
            self.memory(command.element_of(&range), range.observation, &mut hasher);
        }
        hasher.finish()
    }

    /// Hashes observed memory: elements that are handles or addresses as such values, and everything else byte by byte.
    fn memory(
        &mut self,
        element: Option<Type>,
        observation: Observation<'_>,
        hasher: &mut DefaultHasher,
    ) {
        let is_name = |ty: &Type| matches!(ty.kind, Kind::Handle | Kind::Pointer);
        let names = element.filter(is_name).and_then(|ty| Some((ty, usize::from(ty.repr?.size()))));
        match (names, observation) {
            (Some((ty, size @ 1..)), Observation::Bytes(bytes)) => {
                bytes.len().hash(hasher);
                for at in (0..bytes.len()).step_by(size) {
                    self.value(ty, Value::read(ty, bytes, at), false).hash(hasher);
                }
            }
            _ => memory(observation, hasher),
        }
    }

    /// Returns a value's bits; for a handle its ordinal, for an address a constant.
    fn value(&mut self, ty: Type, value: Value, has_memory: bool) -> u64 {
        match value {
            Value::Pointer(address) if has_memory || address >= OFFSET_MAX => 1,
            Value::Pointer(offset) => offset << 1,
            Value::Unsigned(handle) if ty.kind == Kind::Handle && handle > u64::from(u32::MAX) => {
                let next = self.handles.len() as u64;
                *self.handles.entry(handle).or_insert(next)
            }
            value => value.bits(),
        }
    }
}

/// Hashes observed memory. Bytes in a record and the same bytes in a blob have the same hash.
fn memory(observation: Observation<'_>, hasher: &mut DefaultHasher) {
    match observation {
        Observation::None => 0u64.hash(hasher),
        Observation::Bytes(bytes) => (bytes.len() as u64, BlobName::of(bytes)).hash(hasher),
        Observation::Blob { name, size } => (size, name).hash(hasher),
        Observation::Unrecorded { size } | Observation::Missing { size } => size.hash(hasher),
    }
}

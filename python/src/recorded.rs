//! A command that has left its reader: numbers, arguments and memory. Bytes of blobs are not copied; they are read when
//! somebody asks for them.

use std::sync::Arc;

use gapii_analysis::command_role::CommandRole;
use gapii_analysis::marks;
use gapii_analysis::object_names::ObjectNames;
use gapii_trace::description::{Observed, Type};
use gapii_trace::gpu_times::GpuSpan;
use gapii_trace::structs::Structs;
use gapii_trace::value::{Observation, Value};
use gapii_trace::{BlobName, Command};

/// A command.
pub struct Recorded {
    pub seq: Option<u64>,
    pub process: u32,
    pub pid: u32,
    pub thread: u32,
    pub tid: u32,
    pub context: u64,
    pub frame: u64,
    /// Id of the function.
    pub id: u16,
    pub begin_ns: Option<u64>,
    pub driver_ns: Option<u64>,
    /// Times on the GPU: one, or one for each execution of its list.
    pub gpu: Vec<GpuSpan>,
    pub frame_end_ns: Option<u64>,
    pub is_setup: bool,
    pub is_skipped: bool,
    pub is_tracers: bool,
    pub in_flight: bool,
    /// Arguments in the order of the parameters; none if the record with them is missing.
    pub args: Vec<Held>,
    pub result: Option<Held>,
    /// Memory that the command read and wrote.
    pub memory: Vec<Seen>,
    /// Words for objects by the names of the arguments, and by `result`.
    pub names: Vec<(String, String)>,
    pub role: Option<CommandRole>,
    /// What the program says with a command of this role.
    pub text: Option<String>,
}

/// An argument or a result.
#[derive(Clone, Debug)]
pub enum Held {
    Value(Value),
    /// C structs, as JSON.
    Structs(String),
    /// Memory at this index of [`Recorded::memory`].
    Memory(usize),
}

/// Memory that a command read or wrote.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Index of the parameter.
    pub param: Option<u8>,
    /// 0 if it is not known.
    pub address: u64,
    pub is_written: bool,
    pub contents: Contents,
    /// Type of the elements, if it is known.
    pub element: Option<Type>,
}

/// The bytes of memory.
#[derive(Clone, Debug)]
pub enum Contents {
    Bytes(Arc<[u8]>),
    Blob(BlobName, u64),
    /// The trace does not have them; `None` if it does not have their number either.
    Missing(Option<u64>),
}

impl Recorded {
    /// Takes all of a command but the bytes of its blobs. `names` has the words for objects, if they are known.
    pub fn of(command: &Command<'_>, names: Option<&ObjectNames>) -> Self {
        let mut memory = Vec::new();
        let args = command.args().enumerate().map(|(index, arg)| {
            let seen = Seen::of_argument(index, arg.value, arg.observation, arg.param.element);
            let seen =
                seen.map(|seen| Seen { is_written: arg.param.observed == Observed::Out, ..seen });
            let at = memory.len();
            let has_memory = seen.is_some();
            memory.extend(seen);
            match Structs::of(command, &arg).map(|structs| serde_json::to_string(&structs)) {
                Some(Ok(structs)) => Held::Structs(structs),
                _ if has_memory => Held::Memory(at),
                _ => Held::Value(arg.value),
            }
        });
        let args = args.collect();
        let result = command.result().map(|(value, text)| match of_observation(text) {
            None => Held::Value(value),
            Some(contents) => {
                let (is_written, address) = (true, value.bits());
                memory.push(Seen { param: None, address, is_written, contents, element: None });
                Held::Memory(memory.len() - 1)
            }
        });
        let ranges = command.ranges_read().map(|range| (range, false));
        for (range, is_written) in ranges.chain(command.ranges_written().map(|it| (it, true))) {
            let contents = of_observation(range.observation).unwrap_or(Contents::Missing(None));
            let (param, address) = (range.param, range.address);
            let element = command.element_of(&range);
            memory.push(Seen { param, address, is_written, contents, element });
        }
        let role = CommandRole::of(command);
        let text = role.filter(|role| role.has_text()).map(|_| marks::text_of(command));
        Self {
            seq: command.seq,
            process: command.process,
            pid: command.pid,
            thread: command.thread,
            tid: command.tid,
            context: command.context,
            frame: command.frame,
            id: command.id,
            begin_ns: command.begin_ns,
            driver_ns: command.driver_ns,
            gpu: command.gpu.to_vec(),
            frame_end_ns: command.frame_end_ns,
            is_setup: command.is_setup,
            is_skipped: command.traces.is_some_and(|traces| traces.is_skipped),
            is_tracers: command.traces.is_some_and(|traces| traces.is_own),
            in_flight: command.in_flight,
            args,
            result,
            memory,
            names: names.map(|names| names.words_of(command)).unwrap_or_default(),
            role,
            text: text.filter(|text| !text.is_empty()),
        }
    }
}

impl Seen {
    /// Returns the memory that an argument points at, if any was observed.
    fn of_argument(
        index: usize,
        value: Value,
        observation: Observation<'_>,
        element: Option<Type>,
    ) -> Option<Self> {
        let contents = of_observation(observation)?;
        let param = u8::try_from(index).ok();
        Some(Self { param, address: value.bits(), is_written: false, contents, element })
    }

    /// Returns the size in bytes, if it is known.
    pub fn size(&self) -> Option<u64> {
        match &self.contents {
            Contents::Bytes(bytes) => Some(bytes.len() as u64),
            Contents::Blob(_, size) => Some(*size),
            Contents::Missing(size) => *size,
        }
    }
}

fn of_observation(observation: Observation<'_>) -> Option<Contents> {
    match observation {
        Observation::None => None,
        Observation::Bytes(bytes) => Some(Contents::Bytes(bytes.into())),
        Observation::Blob { name, size } => Some(Contents::Blob(name, size)),
        Observation::Unnamed { size, .. }
        | Observation::Unrecorded { size }
        | Observation::Missing { size } => Some(Contents::Missing(Some(size))),
    }
}

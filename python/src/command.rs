//! Commands as Python sees them: an iterator, and objects that decode what is asked for.

use std::sync::{Arc, Mutex, PoisonError};
use std::vec;

use gapii_analysis::command_role::CommandRole;
use gapii_trace::description::{Function, Kind};
use gapii_trace::gpu_times;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::memory::Memory;
use crate::opened::Opened;
use crate::recorded::{Held, Recorded, Seen};
use crate::stream::{Reading, Stream};
use crate::values;

/// Commands that were read at once.
pub struct Batch {
    /// Their trace.
    pub opened: Arc<Opened>,
    /// The commands.
    pub commands: Vec<Recorded>,
}

/// Commands in the order in which they took effect.
#[pyclass(frozen, module = "gapii")]
pub struct Commands {
    stream: Stream<Batch>,
    /// What is left of a batch.
    left: Mutex<Option<(Arc<Opened>, vec::IntoIter<Recorded>)>>,
}

impl Commands {
    /// Begins to read.
    pub fn start(reading: Reading) -> PyResult<Self> {
        let (opened, names) = (Arc::clone(&reading.opened), reading.names.clone());
        let stream = Stream::in_parallel(reading, move |work| {
            let names = names.as_ref().map(|it| it.read().unwrap_or_else(PoisonError::into_inner));
            let recorded = |command| Recorded::of(&command, names.as_deref());
            let commands = work.commands().map(recorded).collect();
            Batch { opened: Arc::clone(&opened), commands }
        })?;
        Ok(Self::of(stream))
    }

    /// Returns the commands of a stream.
    pub fn of(stream: Stream<Batch>) -> Self {
        Self { stream, left: Mutex::default() }
    }

    fn next(&self) -> Option<Command> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let (opened, commands) = left.as_mut()?;
        commands.next().map(|recorded| Command { opened: Arc::clone(opened), recorded })
    }
}

#[pymethods]
impl Commands {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Command>> {
        loop {
            if let Some(command) = self.next() {
                return Ok(Some(command));
            }
            match self.stream.next(py)? {
                None => return Ok(None),
                Some(batch) => {
                    let Batch { opened, commands } = batch?;
                    let left = Some((opened, commands.into_iter()));
                    *self.left.lock().unwrap_or_else(PoisonError::into_inner) = left;
                }
            }
        }
    }
}

/// A command of a trace.
#[pyclass(frozen, module = "gapii")]
pub struct Command {
    opened: Arc<Opened>,
    recorded: Recorded,
}

impl Command {
    fn described(&self) -> Option<&Function> {
        self.opened.description().function(self.recorded.id)
    }

    fn memory_of(&self, seen: &Seen) -> Memory {
        Memory::new(Arc::clone(&self.opened), seen.clone(), self.recorded.id)
    }

    fn memories(&self, is_written: bool) -> Vec<Memory> {
        let seen = self.recorded.memory.iter().filter(|seen| seen.is_written == is_written);
        seen.map(|seen| self.memory_of(seen)).collect()
    }

    fn value<'py>(&self, py: Python<'py>, kind: Kind, held: &Held) -> PyResult<Bound<'py, PyAny>> {
        let at = match held {
            Held::Value(value) => {
                return values::scalar(py, self.opened.description(), *value);
            }
            Held::Structs(json) => return values::json(py, json),
            Held::Memory(at) => *at,
        };
        let Some(seen) = self.recorded.memory.get(at) else { return Ok(py.None().into_bound(py)) };
        let memory = self.memory_of(seen);
        let is_text = matches!(kind, Kind::String | Kind::Strings | Kind::Attributes(_));
        let bytes = if is_text { memory.bytes(py)? } else { None };
        let shown = match (kind, bytes) {
            (Kind::String, Some(bytes)) => Some(values::text(py, bytes.as_bytes()).into_any()),
            (Kind::Strings, Some(bytes)) => {
                values::texts(py, bytes.as_bytes())?.map(Bound::into_any)
            }
            (Kind::Attributes(_), Some(bytes)) => {
                let (description, element) = (self.opened.description(), seen.element);
                let list = element.map(|element| {
                    values::elements(py, description, (kind, element), bytes.as_bytes())
                });
                list.transpose()?.flatten().map(Bound::into_any)
            }
            _ => None,
        };
        match shown {
            Some(shown) => Ok(shown),
            None => Ok(Bound::new(py, memory)?.into_any()),
        }
    }
}

#[pymethods]
impl Command {
    /// Number of the command in the trace; None for a command that took no effect.
    #[getter]
    fn seq(&self) -> Option<u64> {
        self.recorded.seq
    }

    /// Frame of the process, from 0.
    #[getter]
    fn frame(&self) -> u64 {
        self.recorded.frame
    }

    /// Index of the process in the trace.
    #[getter]
    fn process(&self) -> u32 {
        self.recorded.process
    }

    /// Process id of the operating system.
    #[getter]
    fn pid(&self) -> u32 {
        self.recorded.pid
    }

    /// Index of the thread in the trace.
    #[getter]
    fn thread(&self) -> u32 {
        self.recorded.thread
    }

    /// Thread id of the operating system.
    #[getter]
    fn tid(&self) -> u32 {
        self.recorded.tid
    }

    /// Handle of the context that was current; 0 without one.
    #[getter]
    fn context(&self) -> u64 {
        self.recorded.context
    }

    /// Name of the function.
    #[getter]
    fn function(&self) -> String {
        let unknown = || format!("unknown_{}", self.recorded.id);
        self.described().map_or_else(unknown, |function| function.name.clone())
    }

    /// API of the function: "egl", "gl" or "level_zero"; None for a function that the trace does not describe.
    #[getter]
    fn api(&self) -> Option<String> {
        self.described().map(|function| function.api.clone())
    }

    /// Arguments by the names of the parameters; empty if the record with them is missing.
    #[getter]
    fn args<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.opened.caught(|| {
            let args = PyDict::new(py);
            let params = self.described().map_or(&[][..], |function| &function.params);
            for (param, held) in params.iter().zip(&self.recorded.args) {
                args.set_item(&param.name, self.value(py, param.ty.kind, held)?)?;
            }
            Ok(args)
        })
    }

    /// Result; None if the function has none, or did not return.
    #[getter]
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let kind = self.described().map_or(Kind::Number, |function| function.result.kind);
        let result = self.recorded.result.as_ref();
        self.opened.caught(|| result.map(|held| self.value(py, kind, held)).transpose())
    }

    /// Memory that the command read: what its arguments point at, and other memory.
    #[getter]
    fn reads<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.opened.caught(|| PyList::new(py, self.memories(false)))
    }

    /// Memory that the command wrote.
    #[getter]
    fn writes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.opened.caught(|| PyList::new(py, self.memories(true)))
    }

    /// Words for the objects that arguments name, such as "context 2" or a label, by the names of the arguments, and "result".
    /// Empty for commands that are not read from the first one on.
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let names = PyDict::new(py);
        for (name, word) in &self.recorded.names {
            names.set_item(name, word)?;
        }
        Ok(names)
    }

    /// What the command does in its frame: "draw", "dispatch", "group-begin", "group-end" or "mark"; None for most commands.
    #[getter]
    fn role(&self) -> Option<&'static str> {
        self.recorded.role.map(CommandRole::word)
    }

    /// What the program says with a "group-begin" or a "mark", up to 200 characters; None if it says nothing.
    #[getter]
    fn text(&self) -> Option<&str> {
        self.recorded.text.as_deref()
    }

    /// When the driver was called, in nanoseconds of CLOCK_MONOTONIC; None without recorded times.
    #[getter]
    fn begin_ns(&self) -> Option<u64> {
        self.recorded.begin_ns
    }

    /// Nanoseconds in the driver; None without recorded times.
    #[getter]
    fn duration_ns(&self) -> Option<u64> {
        self.recorded.driver_ns
    }

    /// When the GPU had executed all commands before, in nanoseconds of CLOCK_MONOTONIC; None without such times.
    #[getter]
    fn gpu_begin_ns(&self) -> Option<u64> {
        self.recorded.gpu.first().map(|span| span.begin_ns)
    }

    /// Nanoseconds until the GPU had executed the command, of all executions of a command in a list; None without such times.
    #[getter]
    fn gpu_ns(&self) -> Option<u64> {
        gpu_times::sum_ns(&self.recorded.gpu)
    }

    /// Begin and nanoseconds of each execution on the GPU: one, or several of a command in a list; empty without such times.
    #[getter]
    fn gpu_executions(&self) -> Vec<(u64, u64)> {
        self.recorded.gpu.iter().map(|span| (span.begin_ns, span.duration_ns)).collect()
    }

    /// When the frame that the command ended was over, in nanoseconds of CLOCK_MONOTONIC; None for other commands.
    #[getter]
    fn time_ns(&self) -> Option<u64> {
        self.recorded.frame_end_ns
    }

    /// True for a command of a snapshot, which the program did not call.
    #[getter]
    fn is_setup(&self) -> bool {
        self.recorded.is_setup
    }

    /// True for a command that a tool kept from the driver.
    #[getter]
    fn is_skipped(&self) -> bool {
        self.recorded.is_skipped
    }

    /// True for a command that a tool called.
    #[getter]
    fn is_tracers(&self) -> bool {
        self.recorded.is_tracers
    }

    /// True for a command that had not returned when the capture ended.
    #[getter]
    fn in_flight(&self) -> bool {
        self.recorded.in_flight
    }

    fn __repr__(&self) -> String {
        let seq = self.recorded.seq.map_or_else(|| "-".to_owned(), |seq| seq.to_string());
        format!("<gapii.Command {seq} {}>", self.function())
    }
}

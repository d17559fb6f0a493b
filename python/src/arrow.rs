//! Commands as Arrow's record batches, through its C stream interface (PyCapsule protocol): a row per command. Each
//! stream that is asked for reads the trace anew. A batch has about `ROWS` rows, or `TEXT_BYTES` of arguments.

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int32Array, RecordBatch, RecordBatchReader, StringArray,
    UInt32Array, UInt64Array,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use gapii_trace::parallel::Work;
use gapii_trace::{Command, json};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::failure::{Error, Failure};
use crate::opened::Opened;
use crate::stream::{Collect, Reading, Stream};

/// Rows of a batch, unless its text is long.
const ROWS: usize = 1 << 16;
/// Bytes of arguments at which a batch ends.
const TEXT_BYTES: usize = 32 << 20;
/// Longest text of a command's arguments, in bytes.
const ARGS_BYTES_MAX: usize = 64 << 10;

/// A table of commands, which pyarrow, polars and other libraries with Arrow's PyCapsule interface can take.
#[pyclass(frozen, module = "gapii")]
pub struct Arrow {
    reading: Reading,
    has_args: bool,
}

impl Arrow {
    /// Makes a table of the commands that `reading` selects.
    pub fn new(reading: Reading, has_args: bool) -> Self {
        Self { reading, has_args }
    }
}

#[pymethods]
impl Arrow {
    /// Returns a capsule with Arrow's C schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*schema(self.has_args));
        let schema = schema.map_err(|error| Error::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Returns a capsule with Arrow's C stream. The schema is always this table's own.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        _ = requested_schema;
        let opened = &self.reading.opened;
        let batches = opened.caught(|| Batches::start(self.reading.clone(), self.has_args))?;
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

fn schema(has_args: bool) -> SchemaRef {
    let function = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let mut fields = vec![
        Field::new("seq", DataType::UInt64, true),
        Field::new("frame", DataType::UInt64, false),
        Field::new("pid", DataType::UInt32, false),
        Field::new("tid", DataType::UInt32, false),
        Field::new("context", DataType::UInt64, false),
        Field::new("function", function, true),
        Field::new("begin_ns", DataType::UInt64, true),
        Field::new("duration_ns", DataType::UInt64, true),
    ];
    if has_args {
        fields.push(Field::new("args", DataType::Utf8, true));
    }
    Arc::new(Schema::new(fields))
}

/// Columns of some commands.
#[derive(Default)]
struct Rows {
    seq: Vec<Option<u64>>,
    frame: Vec<u64>,
    pid: Vec<u32>,
    tid: Vec<u32>,
    context: Vec<u64>,
    function: Vec<Option<i32>>,
    begin_ns: Vec<Option<u64>>,
    duration_ns: Vec<Option<u64>>,
    args: Vec<Option<String>>,
    text_bytes: usize,
    /// Index of each function among the names, by its id.
    indices: Arc<[Option<i32>]>,
}

impl Rows {
    fn empty(indices: &Arc<[Option<i32>]>) -> Self {
        Self { indices: Arc::clone(indices), ..Self::default() }
    }

    /// Adds the text of a command's arguments.
    fn add_args(&mut self, command: &Command<'_>) {
        let mut text = Vec::new();
        let written = json::append_args(command, &mut text);
        let text = String::from_utf8(text).ok();
        let text = text.filter(|text| written.is_ok() && text.len() <= ARGS_BYTES_MAX);
        self.text_bytes += text.as_ref().map_or(0, String::len);
        self.args.push(text);
    }

    fn append(&mut self, mut other: Self) {
        self.seq.append(&mut other.seq);
        self.frame.append(&mut other.frame);
        self.pid.append(&mut other.pid);
        self.tid.append(&mut other.tid);
        self.context.append(&mut other.context);
        self.function.append(&mut other.function);
        self.begin_ns.append(&mut other.begin_ns);
        self.duration_ns.append(&mut other.duration_ns);
        self.args.append(&mut other.args);
        self.text_bytes += other.text_bytes;
    }
}

impl Collect for Rows {
    fn add(&mut self, command: &Command<'_>) {
        self.seq.push(command.seq);
        self.frame.push(command.frame);
        self.pid.push(command.pid);
        self.tid.push(command.tid);
        self.context.push(command.context);
        self.function.push(self.indices.get(usize::from(command.id)).copied().flatten());
        self.begin_ns.push(command.begin_ns);
        self.duration_ns.push(command.driver_ns);
    }

    fn is_full(&self) -> bool {
        self.frame.len() >= ROWS || self.text_bytes >= TEXT_BYTES
    }
}

/// Record batches of a stream.
struct Batches {
    stream: Stream<Rows>,
    schema: SchemaRef,
    /// Names of functions, to which the keys of the column `function` refer.
    names: Arc<StringArray>,
    /// What ends the rows, behind those that were read before it.
    problem: Option<String>,
    opened: Arc<Opened>,
}

impl Batches {
    fn start(reading: Reading, has_args: bool) -> Result<Self, Failure> {
        let opened = Arc::clone(&reading.opened);
        let (names, indices) = functions(&opened);
        let stream = match has_args {
            false => Stream::in_order(reading, move || Rows::empty(&indices))?,
            // Texts cost more than reading.
            true => Stream::in_parallel(reading, move |work: Work<'_>| {
                let mut rows = Rows::empty(&indices);
                for command in work.commands() {
                    rows.add(&command);
                    rows.add_args(&command);
                }
                rows
            })?,
        };
        Ok(Self { stream, schema: schema(has_args), names, problem: None, opened })
    }

    fn batch(&self, rows: Rows) -> Result<RecordBatch, ArrowError> {
        let function = Int32Array::from(rows.function);
        let function = DictionaryArray::<Int32Type>::try_new(function, self.names.clone())?;
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from(rows.seq)),
            Arc::new(UInt64Array::from(rows.frame)),
            Arc::new(UInt32Array::from(rows.pid)),
            Arc::new(UInt32Array::from(rows.tid)),
            Arc::new(UInt64Array::from(rows.context)),
            Arc::new(function),
            Arc::new(UInt64Array::from(rows.begin_ns)),
            Arc::new(UInt64Array::from(rows.duration_ns)),
        ];
        if self.schema.fields().len() > columns.len() {
            columns.push(Arc::new(StringArray::from(rows.args)));
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }
}

impl Batches {
    /// Returns the next rows, at most those of a batch.
    fn rows(&mut self) -> Rows {
        let mut rows = Rows::default();
        while self.problem.is_none() && !rows.is_full() {
            // A library may wait for the rows with or without Python's lock.
            let next = Python::try_attach(|py| self.stream.next(py));
            match next {
                None | Some(Ok(None)) => break,
                Some(Ok(Some(Ok(more)))) if rows.frame.is_empty() => rows = more,
                Some(Ok(Some(Ok(more)))) => rows.append(more),
                Some(Ok(Some(Err(failure)))) => self.problem = Some(failure.sentence().to_owned()),
                Some(Err(interrupt)) => self.problem = Some(interrupt.to_string()),
            }
        }
        rows
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let opened = Arc::clone(&self.opened);
        let next = opened.caught::<_, Failure>(|| {
            let rows = self.rows();
            Ok((!rows.frame.is_empty()).then(|| self.batch(rows)))
        });
        let problem = match next {
            Ok(Some(batch)) => return Some(batch),
            Ok(None) => self.problem.take()?,
            Err(failure) => failure.sentence().to_owned(),
        };
        Some(Err(ArrowError::ExternalError(problem.into())))
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Returns the names of the trace's functions, and the index of each among them by its id.
fn functions(opened: &Opened) -> (Arc<StringArray>, Arc<[Option<i32>]>) {
    let functions = opened.description().functions();
    let ids = functions.iter().map(|function| usize::from(function.id) + 1);
    let mut indices = vec![None; ids.max().unwrap_or(0)];
    for (index, function) in (0..).zip(functions) {
        // Of several functions with one id the first counts.
        indices[usize::from(function.id)].get_or_insert(index);
    }
    let names = StringArray::from_iter_values(functions.iter().map(|function| &function.name));
    (Arc::new(names), indices.into())
}

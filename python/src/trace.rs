//! A trace and a capture as Python sees them, without what needs `gapii-ctl`: the class `Trace` of `gapii/trace.py` adds that. Long work
//! releases Python's lock.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use gapii_trace::Info;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use crate::arrow::Arrow;
use crate::command::Commands;
use crate::failure::{self, Error, Failure};
use crate::frames::{self, Frame};
use crate::live::Live;
use crate::object::ObjectAt;
use crate::opened::Opened;
use crate::selection::Selection;
use crate::source::Source;
use crate::stream::Reading;
use crate::values;

/// Bounds of frames or commands: the first, and the one behind the last.
type Bounds = Option<(u64, u64)>;

/// A trace.
#[pyclass(frozen, subclass, module = "gapii._native")]
pub struct Trace {
    opened: Arc<Opened>,
    summary: String,
    problem: Option<String>,
}

#[pymethods]
impl Trace {
    /// Opens the file at `path`, or an object with `read` and `seek` that messages call `name`.
    #[new]
    fn new(
        py: Python<'_>,
        path: Option<PathBuf>,
        file: Option<Bound<'_, PyAny>>,
        name: &str,
    ) -> PyResult<Self> {
        let object = match (&path, file) {
            (None, Some(file)) => Some(ObjectAt::of(&file)?),
            _ => None,
        };
        let open = || {
            let opened = match object {
                Some(object) => Opened::of(name, Source::Object(object))?,
                None => Opened::open(&path.unwrap_or_default(), name)?,
            };
            let mut reader = opened.reader()?;
            let unreadable = |error| Failure::unreadable(name, &error);
            let info = Info::of(&mut reader).map_err(unreadable)?;
            let problem = Failure::of_tail(name, reader.tail());
            let cut = info.tail.as_ref().map(|tail| format!("{name} is {tail}"));
            let problem = problem.map(|problem| problem.sentence().to_owned()).or(cut);
            let written = serde_json::to_string(&info);
            let summary = written.map_err(|error| unreadable(error.into()))?;
            Ok(Self { opened: Arc::new(opened), summary, problem })
        };
        Ok(py.detach(|| failure::caught::<_, Failure>(name, open))?)
    }

    /// Name of the trace in messages: the path that it was opened with, or what the object is called.
    #[getter]
    fn name(&self) -> &str {
        self.opened.name()
    }

    /// Sentence about where the file is cut or damaged, as far as is known before it is read; None for a complete one.
    #[getter]
    fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Copies the trace into a file.
    fn _save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let saved = py.detach(|| {
            let unsaved =
                |error| Failure::Other(format!("can't copy {}: {error}", self.opened.name()));
            let mut file = File::create(&path).map_err(unsaved)?;
            io::copy(&mut self.opened.source()?, &mut file).map_err(unsaved)
        });
        saved?;
        Ok(())
    }

    /// The summary as a dict.
    fn _summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        values::json(py, &self.summary)
    }

    /// Returns the frames, in the order in which they ended.
    fn frames(&self, py: Python<'_>) -> PyResult<Vec<Frame>> {
        let found = py.detach(|| {
            self.opened.caught::<_, Failure>(|| {
                let unreadable = |error| Failure::unreadable(self.opened.name(), &error);
                frames::of(&mut self.opened.reader()?).map_err(unreadable)
            })
        });
        Ok(found?)
    }

    /// Returns an iterator over commands.
    fn _commands(
        &self,
        frames: Bounds,
        commands: Bounds,
        functions: Vec<String>,
        threads: Vec<String>,
        strict: bool,
    ) -> PyResult<Commands> {
        let selection = Selection::new(frames, commands, functions, threads);
        let opened = Arc::clone(&self.opened);
        let names = selection.is_from_the_beginning().then(Arc::default);
        let reading = Reading { opened, selection, is_strict: strict, has_gpu_times: true, names };
        self.opened.caught(|| Commands::start(reading))
    }

    /// Returns a table of commands.
    fn _to_arrow(
        &self,
        frames: Bounds,
        commands: Bounds,
        functions: Vec<String>,
        threads: Vec<String>,
        strict: bool,
        args: bool,
    ) -> Arrow {
        let selection = Selection::new(frames, commands, functions, threads);
        let opened = Arc::clone(&self.opened);
        let reading =
            Reading { opened, selection, is_strict: strict, has_gpu_times: false, names: None };
        Arrow::new(reading, args)
    }

    /// Returns the bytes of the blob whose hash begins with `hash`, 1 to 32 hexadecimal digits.
    fn blob<'py>(&self, py: Python<'py>, hash: &str) -> PyResult<Bound<'py, PyMemoryView>> {
        let bytes = py.detach(|| self.opened.blob(self.opened.blob_named(hash)?))?;
        PyMemoryView::from(PyBytes::new(py, &bytes).as_any())
    }
}

/// Returns an iterator over the commands of a capture that writes to the pipe with this descriptor. The file with the other
/// descriptor takes what it writes.
#[pyfunction]
pub fn _follow(
    pipe: i32,
    spool: i32,
    functions: Vec<String>,
    threads: Vec<String>,
    strict: bool,
) -> PyResult<Commands> {
    let selection = Selection::new(None, None, functions, threads);
    let files = Live::open(pipe, spool);
    let (pipe, spool) = files.map_err(|error| Error::new_err(error.to_string()))?;
    Ok(Commands::of(Live { pipe, spool, selection, is_strict: strict }.start()?))
}

//! A trace as Python sees it, without what needs `gapii-ctl`: the class `Trace` of `gapii/trace.py` adds that. Long work
//! releases Python's lock.

use std::path::PathBuf;
use std::sync::Arc;

use gapii_trace::Info;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use crate::arrow::Arrow;
use crate::command::Commands;
use crate::failure::Failure;
use crate::frames::{self, Frame};
use crate::opened::{self, Opened};
use crate::selection::Selection;
use crate::stream::Reading;
use crate::values;

/// Bounds of frames or commands: the first, and the one behind the last.
type Bounds = Option<(u64, u64)>;

/// A trace file.
#[pyclass(frozen, subclass, module = "gapii._native")]
pub struct Trace {
    opened: Arc<Opened>,
    summary: String,
    problem: Option<String>,
}

#[pymethods]
impl Trace {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let open = || {
            let opened = Opened::open(&path)?;
            let mut reader = opened.reader()?;
            let unreadable = |error| Failure::unreadable(&path, &error);
            let info = Info::of(&mut reader).map_err(unreadable)?;
            let problem = Failure::of_tail(&path, reader.tail());
            let cut = info.tail.as_ref().map(|tail| format!("{} is {tail}", path.display()));
            let problem = problem.map(|problem| problem.sentence().to_owned()).or(cut);
            let written = serde_json::to_string(&info);
            let summary = written.map_err(|error| unreadable(error.into()))?;
            Ok(Self { opened: Arc::new(opened), summary, problem })
        };
        Ok(py.detach(|| opened::guarded(&path, open))?)
    }

    /// Path of the file.
    #[getter]
    fn path(&self) -> PathBuf {
        self.opened.path().to_owned()
    }

    /// Sentence about where the file is cut or damaged, as far as is known before it is read; None for a complete one.
    #[getter]
    fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// The summary as a dict.
    fn _summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        values::json(py, &self.summary)
    }

    /// Returns the frames, in the order in which they ended.
    fn frames(&self, py: Python<'_>) -> PyResult<Vec<Frame>> {
        let found = py.detach(|| {
            self.opened.guarded(|| {
                let unreadable = |error| Failure::unreadable(self.opened.path(), &error);
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
        Commands::start(Reading { opened, selection, is_strict: strict, has_gpu_times: true })
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
        let reading = Reading { opened, selection, is_strict: strict, has_gpu_times: false };
        Arrow::new(reading, args)
    }

    /// Returns the bytes of the blob whose hash begins with `hash`, 1 to 32 hexadecimal digits.
    fn blob<'py>(&self, py: Python<'py>, hash: &str) -> PyResult<Bound<'py, PyMemoryView>> {
        let bytes = py.detach(|| self.opened.blob(self.opened.blob_named(hash)?))?;
        PyMemoryView::from(PyBytes::new(py, &bytes).as_any())
    }
}

//! Memory that a command read or wrote. Its bytes are copied once, into an object of Python, when they are asked for; views
//! of them copy nothing.

use std::sync::{Arc, OnceLock};

use gapii_trace::BlobName;
use gapii_trace::description::Kind;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyList, PyMemoryView};

use crate::opened::Opened;
use crate::recorded::{Contents, Seen};
use crate::values;

/// Memory that a command read or wrote.
#[pyclass(frozen, module = "gapii")]
pub struct Memory {
    opened: Arc<Opened>,
    seen: Seen,
    /// Name and kind of the parameter.
    param: Option<String>,
    kind: Kind,
    hash: OnceLock<Option<BlobName>>,
    bytes: PyOnceLock<Option<Py<PyBytes>>>,
}

impl Memory {
    /// Returns the memory of a command of the function with this id.
    pub fn new(opened: Arc<Opened>, seen: Seen, id: u16) -> Self {
        let function = opened.description().function(id);
        let index = seen.param.map(usize::from);
        let param = function.zip(index).and_then(|(function, at)| function.params.get(at));
        let kind = param.map_or(Kind::Array, |param| param.ty.kind);
        let param = param.map(|param| param.name.clone());
        Self { opened, seen, param, kind, hash: OnceLock::new(), bytes: PyOnceLock::new() }
    }

    /// Returns the bytes; `None` if the trace does not have them.
    pub fn bytes<'py>(&self, py: Python<'py>) -> PyResult<Option<&Bound<'py, PyBytes>>> {
        let held = self.bytes.get_or_try_init(py, || match &self.seen.contents {
            Contents::Bytes(bytes) => Ok::<_, PyErr>(Some(PyBytes::new(py, bytes).unbind())),
            Contents::Blob(name, size) => {
                let blob = py.detach(|| self.opened.memory(*name, *size))?;
                Ok(blob.map(|blob| PyBytes::new(py, &blob).unbind()))
            }
            Contents::Missing(_) => Ok(None),
        })?;
        Ok(held.as_ref().map(|bytes| bytes.bind(py)))
    }
}

#[pymethods]
impl Memory {
    /// Name of the parameter that the memory belongs to, if it belongs to one.
    #[getter]
    fn param(&self) -> Option<&str> {
        self.param.as_deref()
    }

    /// Address in the program; 0 if it is not known.
    #[getter]
    fn address(&self) -> u64 {
        self.seen.address
    }

    /// Size in bytes; None if the trace does not say it.
    #[getter]
    fn size(&self) -> Option<u64> {
        self.seen.size()
    }

    /// Hash of the bytes, as 32 hexadecimal digits; None if the trace does not have them.
    #[getter]
    fn hash(&self) -> Option<String> {
        let hash = self.hash.get_or_init(|| match &self.seen.contents {
            Contents::Bytes(bytes) => Some(BlobName::of(bytes)),
            Contents::Blob(name, _) => Some(*name),
            Contents::Missing(_) => None,
        });
        hash.map(|hash| hash.to_string())
    }

    /// True if the memory is a blob, which `Trace.blob` finds by its hash. Memory below 512 bytes is none.
    #[getter]
    fn is_blob(&self) -> bool {
        matches!(self.seen.contents, Contents::Blob(..))
    }

    /// The bytes; None if the trace does not have them.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyMemoryView>>> {
        self.bytes(py)?.map(|bytes| PyMemoryView::from(bytes.as_any())).transpose()
    }

    /// Type of the elements for `numpy.dtype`, such as "<f4"; None if it is not known.
    #[getter]
    fn dtype(&self) -> Option<&'static str> {
        values::dtype(self.seen.element?)
    }

    /// The elements as a list; None if their type is not known, or the trace does not have the bytes.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let (Some(bytes), Some(element)) = (self.bytes(py)?, self.seen.element) else {
            return Ok(None);
        };
        let (description, ty) = (self.opened.description(), (self.kind, element));
        self.opened.caught(|| values::elements(py, description, ty, bytes.as_bytes()))
    }

    fn __repr__(&self) -> String {
        let size =
            self.seen.size().map_or_else(|| "? bytes".to_owned(), |it| format!("{it} bytes"));
        let hash = if self.is_blob() { self.hash() } else { None };
        let hash = hash.map(|hash| format!(", blob {hash}")).unwrap_or_default();
        format!(
            "<gapii.Memory {} {size} at {:#x}{hash}>",
            self.param().unwrap_or("-"),
            self.seen.address
        )
    }
}

//! An object of Python that a trace is read from: one with `read` and `seek`. It is asked for pages of 1 MiB, one at a time,
//! and `PAGES_MAX` of them are kept, because an object has one position and may fetch from a network.
//!
//! Threads that read need Python's lock for a page. So that none waits for it when the interpreter ends, `end` refuses further
//! pages first. A caller that holds Python's lock must release it while it waits for such a thread.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

/// Bytes of a page.
const PAGE_BYTES: u64 = 1 << 20;
/// Most pages that are kept.
const PAGES_MAX: usize = 32;

/// True once the interpreter ends. Whoever asks an object holds it for reading.
static HAS_ENDED: RwLock<bool> = RwLock::new(false);

/// Refuses further pages, and waits for those that are under way. Python calls it when it ends.
#[pyfunction]
pub fn end(py: Python<'_>) {
    py.detach(|| *HAS_ENDED.write().unwrap_or_else(PoisonError::into_inner) = true);
}

/// An object with a position.
pub struct ObjectAt {
    object: Arc<Object>,
    at: u64,
}

struct Object {
    object: Py<PyAny>,
    len: u64,
    /// The pages that were read last, with their indices.
    pages: Mutex<VecDeque<(u64, Page)>>,
    /// Held while the object is asked.
    turn: Mutex<()>,
}

type Page = Arc<Vec<u8>>;

impl ObjectAt {
    /// Takes an object, whose length is where it seeks its end.
    ///
    /// # Errors
    /// What the object raises.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        object.call_method1(intern!(object.py(), "seek"), (0, 2))?;
        let len = object.call_method0(intern!(object.py(), "tell"))?.extract()?;
        let object = object.clone().unbind();
        let (pages, turn) = (Mutex::default(), Mutex::default());
        Ok(Self { object: Arc::new(Object { object, len, pages, turn }), at: 0 })
    }

    /// Returns the same object with a further position, at the start.
    pub fn again(&self) -> Self {
        Self { object: Arc::clone(&self.object), at: 0 }
    }
}

impl Object {
    fn kept(&self, index: u64) -> Option<Page> {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.iter().find(|(at, _)| *at == index).map(|(_, page)| Arc::clone(page))
    }

    fn page(&self, index: u64) -> io::Result<Page> {
        if let Some(page) = self.kept(index) {
            return Ok(page);
        }
        let has_ended = HAS_ENDED.read().unwrap_or_else(PoisonError::into_inner);
        let ended = || io::Error::other("Python ends");
        if *has_ended {
            return Err(ended());
        }
        let read = Python::try_attach(|py| {
            let _turn = self.turn.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
            if let Some(page) = self.kept(index) {
                return Ok(page);
            }
            let page = Arc::new(self.ask(py, index * PAGE_BYTES).map_err(said)?);
            let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
            pages.truncate(PAGES_MAX - 1);
            pages.push_front((index, Arc::clone(&page)));
            Ok(page)
        });
        read.unwrap_or_else(|| Err(ended()))
    }

    /// Reads a page. It is short at the end of the object, and if the object does not have what it said.
    fn ask(&self, py: Python<'_>, begin: u64) -> PyResult<Vec<u8>> {
        let object = self.object.bind(py);
        object.call_method1(intern!(py, "seek"), (begin,))?;
        let wanted = PAGE_BYTES.min(self.len.saturating_sub(begin)) as usize;
        let mut page = Vec::with_capacity(wanted);
        while page.len() < wanted {
            let read = object.call_method1(intern!(py, "read"), (wanted - page.len(),))?;
            let part: Cow<'_, [u8]> = read.extract()?;
            if part.is_empty() {
                break;
            }
            page.extend_from_slice(&part[..part.len().min(wanted - page.len())]);
        }
        Ok(page)
    }
}

/// Returns what an object raised as an error of a file.
fn said(error: PyErr) -> io::Error {
    io::Error::other(error.to_string())
}

impl Read for ObjectAt {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() || self.at >= self.object.len {
            return Ok(0);
        }
        let page = self.object.page(self.at / PAGE_BYTES)?;
        let rest = page.get((self.at % PAGE_BYTES) as usize..).unwrap_or_default();
        let len = rest.len().min(out.len());
        out[..len].copy_from_slice(&rest[..len]);
        self.at += len as u64;
        Ok(len)
    }
}

impl Seek for ObjectAt {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (from, by) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::Current(by) => (self.at, by),
            SeekFrom::End(by) => (self.object.len, by),
        };
        let outside =
            || io::Error::new(io::ErrorKind::InvalidInput, "a place outside of the object");
        self.at = from.checked_add_signed(by).ok_or_else(outside)?;
        Ok(self.at)
    }
}

impl fmt::Debug for ObjectAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "object of {} bytes", self.object.len)
    }
}

//! What a trace is read from: a file, or an object of Python with `read` and `seek`, such as a file in an object store. Several
//! readers read it at the same time, each at its own place.

use std::io::{self, Read, Seek, SeekFrom};

use gapii_trace::FileAt;

use crate::object::ObjectAt;

/// A file or an object, with a position.
#[derive(Debug)]
pub enum Source {
    /// A file.
    File(FileAt),
    /// An object of Python.
    Object(ObjectAt),
}

impl Source {
    /// Opens the same file or object with a further position, at the start.
    ///
    /// # Errors
    /// An error of duplicating the file's descriptor.
    pub fn again(&self) -> io::Result<Self> {
        Ok(match self {
            Self::File(file) => Self::File(file.again()?),
            Self::Object(object) => Self::Object(object.again()),
        })
    }
}

impl Read for Source {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(out),
            Self::Object(object) => object.read(out),
        }
    }
}

impl Seek for Source {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Object(object) => object.seek(to),
        }
    }
}

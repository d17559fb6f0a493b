//! Failures as sentences, and as Python's exceptions: `DamagedError` for a trace whose rest can't be read, `Error` for
//! everything else. The sentences are those of `gapii-ctl`.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use gapii_trace::Tail;
use gapii_trace::reader::OpenError;
use pyo3::exceptions::PyException;
use pyo3::{PyErr, create_exception};

create_exception!(gapii, Error, PyException, "What went wrong, in one sentence.");
create_exception!(
    gapii,
    DamagedError,
    Error,
    "The trace is cut or damaged. Everything before that place was read."
);

/// Why something can't be read.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The trace is cut or damaged; its readable part is read.
    Damaged(String),
    /// Any other failure.
    Other(String),
}

impl Failure {
    /// Returns the failure for a file that can't be read.
    pub fn unreadable(name: &str, error: &io::Error) -> Self {
        Self::Other(match error.kind() {
            io::ErrorKind::NotFound => {
                format!("there is no file {name}; `gapii-ctl run -o FILE -- CMD` records one")
            }
            io::ErrorKind::PermissionDenied => {
                format!(
                    "not allowed to read {name}; its owner can allow it with `chmod a+r {name}`"
                )
            }
            io::ErrorKind::NotSeekable => format!(
                "can't read {name}: a trace is read from a file; save it first, with `cat > FILE`"
            ),
            _ => format!("can't read {name}: {error}"),
        })
    }

    /// Returns the failure for a file that is no trace, or can't be read.
    pub fn unopened(name: &str, error: OpenError) -> Self {
        match error {
            OpenError::Io(error) => Self::unreadable(name, &error),
            error => Self::Other(format!("{name}: {error}")),
        }
    }

    /// Returns the failure for a trace that is cut or damaged; `None` for a complete one.
    pub fn of_tail(name: &str, tail: &Tail) -> Option<Self> {
        match tail {
            Tail::Complete => None,
            Tail::Truncated { at } => Some(Self::Damaged(format!(
                "{name} is cut at byte {at}; everything before it is complete"
            ))),
            Tail::Damaged { at, why } => Some(Self::Damaged(format!(
                "{name} is damaged from byte {at} on, and complete before it: {why}"
            ))),
        }
    }

    /// Returns the sentence.
    pub fn sentence(&self) -> &str {
        let (Self::Damaged(sentence) | Self::Other(sentence)) = self;
        sentence
    }
}

/// Does `work` on the trace `name`. A panic becomes a failure.
///
/// # Errors
/// That of `work`.
pub fn caught<T, E: From<Failure>>(
    name: &str,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    // What panicked leaves at worst an incomplete cache behind.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let what = text.unwrap_or("it panicked");
        Err(E::from(Failure::Other(format!(
            "{name}: reading failed by a mistake in gapii, which its makers want to know of, if possible with the trace: {what}"
        ))))
    })
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        match failure {
            Failure::Damaged(sentence) => DamagedError::new_err(sentence),
            Failure::Other(sentence) => Error::new_err(sentence),
        }
    }
}

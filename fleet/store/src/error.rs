//! What can fail in a store, and whether trying again can help.

use std::error::Error as _;
use std::io;

/// Longest answer of a server that is shown, in bytes.
const SAID_MAX: usize = 300;

/// A failure in a store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The place cannot be one.
    #[error("{place} is no place for files: {why}")]
    Place {
        /// As it was given.
        place: String,
        /// What is wrong with it.
        why: String,
    },
    /// The environment lacks a variable.
    #[error("{variable} is not set, and {place} needs it; set it with `export {variable}=…`")]
    Variable {
        /// Its name.
        variable: &'static str,
        /// The place.
        place: String,
    },
    /// There is no such file or bucket.
    #[error("there is no {what}")]
    Absent {
        /// The file's place.
        what: String,
    },
    /// The store does not let these credentials do this.
    #[error("{what} is refused: {why}; check {variables}")]
    Refused {
        /// What was tried.
        what: String,
        /// What the store said.
        why: String,
        /// Variables with the credentials.
        variables: &'static str,
    },
    /// The file in the store is another one than when reading it began.
    #[error("{what} was replaced while it was read")]
    Replaced {
        /// The file's place.
        what: String,
    },
    /// The store cannot be reached, or failed.
    #[error("{what} fails: {why}")]
    Store {
        /// What was tried.
        what: String,
        /// What the store or the network said.
        why: String,
    },
    /// The file on this machine fails.
    #[error("{0}")]
    File(#[from] io::Error),
}

impl Error {
    /// Whether the same may succeed later without anybody's help: the network or the server failed.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Error::Store { .. })
    }
}

/// Returns the failure of an object store at `what`.
pub(crate) fn of(error: &object_store::Error, what: &str, variables: &'static str) -> Error {
    use object_store::Error as Cause;
    let (what, why) = (what.to_owned(), deepest(error));
    match error {
        Cause::NotFound { .. } => Error::Absent { what },
        Cause::PermissionDenied { .. } | Cause::Unauthenticated { .. } => {
            Error::Refused { what, why, variables }
        }
        Cause::Precondition { .. } => Error::Replaced { what },
        Cause::InvalidPath { .. } => Error::Place { place: what, why },
        // The address at which machines of a cloud find the credentials of their role.
        _ if why.contains("169.254.169.254") || chain(error).contains("169.254.169.254") => {
            Error::Refused { what, why: "there are no credentials".to_owned(), variables }
        }
        _ if is_rejection(&why) => Error::Refused { what, why, variables },
        _ => Error::Store { what, why },
    }
}

/// Whether the server finds fault with the request, and not with its own state or with how often it is asked.
fn is_rejection(why: &str) -> bool {
    let status = why.split_once("status code: ").map_or("", |(_, status)| status);
    status.starts_with('4') && !status.starts_with("408") && !status.starts_with("429")
}

/// Returns the first cause, on one line.
fn deepest(error: &object_store::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    let mut said = cause.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    // A server's text moves no terminal's cursor.
    said.retain(|it| !it.is_control());
    if let Some((at, _)) = said.char_indices().find(|(at, _)| *at > SAID_MAX) {
        said.truncate(at);
        said.push('…');
    }
    said
}

fn chain(error: &object_store::Error) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        said.push_str(&next.to_string());
        cause = next.source();
    }
    said
}

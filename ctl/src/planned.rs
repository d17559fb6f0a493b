//! `Planned`: a capture that is ready to begin: its request, its output, which is open, and a connection to the daemon. A new
//! output file is removed if the capture does not begin.

use gapii_control::StartRequest;

use crate::capture::Capture;
use crate::comeback::Revive;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::output_file::{OutputFile, Place};

pub struct Planned<'a> {
    pub connection: Connection,
    pub request: StartRequest,
    pub output: OutputFile,
    /// Starts a daemon in place of one that has died; `None` if another process does that.
    pub revive: Option<Revive<'a>>,
}

impl<'a> Planned<'a> {
    /// Starts the capture.
    pub fn begin(self) -> Result<Capture<'a>, Failure> {
        let mut capture = Capture::start(self.connection, self.request, self.output)?;
        if let Some(revive) = self.revive {
            capture.revive_with(revive);
        }
        Ok(capture)
    }

    /// Where the capture is to be written.
    pub fn place(&self) -> &Place {
        &self.output.place
    }

    /// Removes the output, if it is new.
    pub fn give_up(self) {
        self.output.place.discard();
    }
}

//! A first look at a trace: what playing it takes, and whether this driver has it.

use std::io::{self, Read, Seek};

use gapii_protocol::trace::TraceReader;

use crate::driver::Driver;

/// What replay must know of a trace beforehand.
#[derive(Clone, Debug, Default)]
pub struct Survey {}

impl Survey {
    /// Reads all of the trace.
    pub fn of<R: Read + Seek>(_reader: &mut TraceReader<R>) -> io::Result<Self> {
        Ok(Self::default())
    }

    /// What this driver lacks to play the trace, in a sentence.
    pub fn missing(&self, _driver: &Driver) -> Option<String> {
        None
    }
}

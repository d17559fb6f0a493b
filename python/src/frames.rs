//! The frames of a trace, in the order in which they ended. Read from the index; a trace without one, or whose index lacks
//! the numbers of commands, is read whole.

use std::collections::BTreeMap;
use std::io;

use gapii_trace::index::FrameEnd;
use pyo3::prelude::*;

use crate::opened::Reader;

/// A frame that ended.
#[pyclass(frozen, get_all, module = "gapii")]
#[derive(Clone)]
pub struct Frame {
    /// Number of the frame, from 0.
    number: u64,
    /// Index of the process in the trace.
    process: u32,
    /// Number of the first command since the frame before, of any process.
    first_seq: u64,
    /// Number of the command that ended the frame.
    seq: u64,
    /// When it ended, in nanoseconds of CLOCK_MONOTONIC; None if the trace does not have the time.
    time_ns: Option<u64>,
    /// Nanoseconds since the frame of the process before; None for the first one, and without times.
    duration_ns: Option<u64>,
}

#[pymethods]
impl Frame {
    /// Number of the frame's commands, of all processes.
    #[getter]
    fn commands(&self) -> u64 {
        self.seq.saturating_add(1).saturating_sub(self.first_seq)
    }

    fn __repr__(&self) -> String {
        format!("<gapii.Frame {} of process {}>", self.number, self.process)
    }
}

/// Returns the frames of a trace.
///
/// # Errors
/// An error of the file.
pub fn of(reader: &mut Reader) -> io::Result<Vec<Frame>> {
    let first_seq = reader.header().kept.map_or(0, |kept| kept.seq);
    let mut ends = ends(reader)?;
    ends.sort_by_key(|end| end.seq);
    let (mut begun, mut before) = (first_seq, BTreeMap::new());
    let frame = |end: &FrameEnd| {
        let FrameEnd { process, frame: number, time_ns, .. } = *end;
        let seq = end.seq?;
        let first_seq = std::mem::replace(&mut begun, seq.saturating_add(1));
        let last_ns = time_ns.and_then(|time_ns| before.insert(process, time_ns));
        let duration_ns = time_ns.zip(last_ns).map(|(end, begin)| end.saturating_sub(begin));
        Some(Frame { number, process, first_seq, seq, time_ns, duration_ns })
    };
    Ok(ends.iter().filter_map(frame).collect())
}

fn ends(reader: &mut Reader) -> io::Result<Vec<FrameEnd>> {
    if let Some(index) = reader.index()
        && index.frame_ends.iter().all(|end| end.seq.is_some())
    {
        return Ok(index.frame_ends.clone());
    }
    let mut commands = reader.commands()?;
    let mut ends = Vec::new();
    while commands.advance()? {
        let command = commands.command();
        if command.ends_frame && command.seq.is_some() {
            let (process, frame, seq) = (command.process, command.frame, command.seq);
            let time_ns = command.frame_end_ns;
            ends.push(FrameEnd { process, frame, seq, time_ns, ..FrameEnd::default() });
        }
    }
    Ok(ends)
}

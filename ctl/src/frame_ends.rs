//! Finds the ends of a trace's frames: in its index, or, where that lacks their numbers, among all commands, with a progress
//! line.

use std::path::Path;

use gapii_trace::Info;
use gapii_trace::index::FrameEnd;

use crate::failure::Failure;
use crate::reading_progress::ReadingProgress;
use crate::trace_file::{Reader, unreadable};

/// Returns the ends of all frames by their `seq`, which each has. The stream can have them in another order, if threads end
/// frames at the same time.
pub fn of(path: &Path, reader: &mut Reader, info: &Info) -> Result<Vec<FrameEnd>, Failure> {
    if let Some(index) = reader.index()
        && index.frame_ends.iter().all(|end| end.seq.is_some())
    {
        return Ok(in_order(index.frame_ends.clone()));
    }
    let mut commands = reader.commands().map_err(|error| unreadable(path, &error))?;
    let mut progress = ReadingProgress::start(info.calls);
    let mut ends = Vec::new();
    while commands.advance().map_err(|error| unreadable(path, &error))? {
        progress.step();
        let command = commands.command();
        if command.ends_frame && command.seq.is_some() {
            let (process, frame, seq) = (command.process, command.frame, command.seq);
            let time_ns = command.frame_end_ns;
            ends.push(FrameEnd { process, frame, seq, time_ns, ..FrameEnd::default() });
        }
    }
    progress.clear();
    Ok(in_order(ends))
}

fn in_order(mut ends: Vec<FrameEnd>) -> Vec<FrameEnd> {
    ends.sort_by_key(|end| end.seq);
    ends
}

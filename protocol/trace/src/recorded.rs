//! When a trace was recorded, and for how long: from the first block, which begins with the first record, to the end of
//! the capture. A trace without a footer, and a saved one, whose footer tells when it was saved, end with the begin of
//! their last block that has commands: the duration is then the least that it can be. Reads at most the first block
//! and the last ones.

use std::io::{self, Read, Seek};

use schemars::JsonSchema;
use serde::Serialize;

use super::block_file::BlockError;
use super::meta::Meta;
use super::reader::TraceReader;
use super::record::Records;

/// When a trace was recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct Recorded {
    /// Time of the first record, in nanoseconds of Unix time; `None` if unknown.
    pub began_unix_ns: Option<u64>,
    /// From the first record to the end, in nanoseconds; `None` if the trace has no record.
    pub duration_ns: Option<u64>,
    /// True if it may have lasted longer.
    pub is_least: bool,
}

impl Recorded {
    /// Returns the times of an open trace.
    ///
    /// # Errors
    /// An error of the file. A damaged block has no time.
    pub fn of<R: Read + Seek>(reader: &mut TraceReader<R>) -> io::Result<Self> {
        let (started_unix_ns, started_ns) =
            (reader.header().started_unix_ns, reader.header().started_ns);
        let Some(first_ns) = begin_of(reader, 0)? else { return Ok(Self::default()) };
        // An older writer did not state it.
        let lead_ns = if started_ns == 0 { 0 } else { first_ns.saturating_sub(started_ns) };
        let began_unix_ns = (started_unix_ns > 0).then(|| started_unix_ns.saturating_add(lead_ns));
        let whole_ns =
            reader.footer().filter(|_| reader.header().kept.is_none()).and_then(|footer| {
                let ended_unix_ns = footer.ended_unix_ns.saturating_add(footer.set_back_ns);
                ended_unix_ns.checked_sub(footer.started_unix_ns)
            });
        let duration_ns = match whole_ns {
            Some(whole_ns) => whole_ns.saturating_sub(lead_ns),
            None => begin_of_last(reader)?.unwrap_or(first_ns).saturating_sub(first_ns),
        };
        let is_least = whole_ns.is_none();
        Ok(Self { began_unix_ns, duration_ns: Some(duration_ns), is_least })
    }
}

/// Returns when the last block that has commands was begun.
fn begin_of_last<R: Read + Seek>(reader: &mut TraceReader<R>) -> io::Result<Option<u64>> {
    let with_commands = reader
        .index()
        .map(|index| index.blocks.iter().rposition(|block| block.seqs > 0).unwrap_or_default());
    let mut block = with_commands.map_or(reader.blocks().len(), |at| at + 1);
    while let Some(before) = block.checked_sub(1) {
        if let Some(begin_ns) = begin_of(reader, before)? {
            return Ok(Some(begin_ns));
        }
        block = before;
    }
    Ok(None)
}

/// Returns when a block was begun, in nanoseconds of `CLOCK_MONOTONIC`; `None` if it is damaged.
fn begin_of<R: Read + Seek>(reader: &mut TraceReader<R>, block: usize) -> io::Result<Option<u64>> {
    let mut raw = Vec::new();
    match reader.read_block(block, &mut raw) {
        Ok(()) => {}
        Err(BlockError::Io(error)) => return Err(error),
        Err(_) => return Ok(None),
    }
    let Some(Ok(record)) = Records::new(&raw).next() else { return Ok(None) };
    Ok(match Meta::decode(record.header.id(), record.payload) {
        Ok(Meta::Block(block)) => Some(block.start_ns),
        _ => None,
    })
}

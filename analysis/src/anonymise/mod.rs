//! `anonymise`: writes a trace again without what its program is, shows and says: texts, memory, numbers of floating point, and
//! what names the program, its machine and its user become noise of the same size. Commands, their order, threads, times, sizes,
//! enumerants and names of objects stay (docs/anonymise.md lists everything).
//!
//! Contents that this build does not understand become noise or 0, or are an error. The trace is read twice. Held are one block, the
//! names of the blobs, and one blob of structs or texts at a time.

mod about;
mod contents;
mod noise;
mod records;
#[cfg(test)]
mod tests;

use std::io::{self, Read, Seek, Write};

use gapii_trace::block::{BlockEncoder, DEFAULT_LEVEL, EncodeError};
use gapii_trace::footer::{LevelUse, Totals};
use gapii_trace::reader::{BlockError, TraceReader};
use gapii_trace::{BlockEntry, TraceIndex};

pub use contents::Keep;
pub use records::RecordFault;

use about::About;
use records::Records;

/// The first format version whose blobs have numbers.
const NUMBERS_VERSION: u32 = 5;

/// Why a trace can't be written without its contents.
#[derive(Debug, thiserror::Error)]
pub enum AnonymiseError {
    /// A block can't be read.
    #[error(transparent)]
    Read(#[from] BlockError),
    /// A record of a block is not understood.
    #[error("block {block}: {fault}")]
    Record {
        /// Index of the block.
        block: u64,
        /// The fault.
        fault: RecordFault,
    },
    /// A block or the header can't be compressed.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The output does not take the trace.
    #[error(transparent)]
    Write(io::Error),
}

/// A trace that was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Anonymised {
    /// Texts that became noise.
    pub texts: u64,
    /// Bytes of memory that were looked at: observations in records, and blobs.
    pub bytes: u64,
    /// Bytes of the file.
    pub file_bytes: u64,
}

/// Writes the trace to `out`, without its contents. `key` must be random and must be forgotten. Calls `progress` with the number
/// of blocks that were read so far; each is read twice.
///
/// # Errors
/// [`AnonymiseError`]. What was written then is no trace.
pub fn anonymise<R: Read + Seek, W: Write>(
    reader: &mut TraceReader<R>,
    out: W,
    (key, keep): ([u8; 32], Keep),
    mut progress: impl FnMut(u64),
) -> Result<Anonymised, AnonymiseError> {
    let (mut header, footer) = (reader.header().clone(), reader.footer().cloned());
    let description = &header.description.clone();
    let old_index = reader.index().cloned();
    let mut index = old_index
        .as_ref()
        .map(|old| TraceIndex { frame_ends: old.frame_ends.clone(), ..TraceIndex::default() });
    let mut records = Records::new(description, key, keep);
    let mut raw = Vec::new();
    for block in 0..reader.blocks().len() {
        progress(block as u64);
        rewrite(reader, block, &mut records, &mut raw)?;
    }
    records.begin_writing();
    About { noise: &mut records.replacer.noise, keep, description }.header(&mut header);
    let mut file = Output { out, position: 0 };
    file.write(&header.encode()?)?;
    let mut descriptions = header.description_writer();
    let mut encoder = BlockEncoder::for_version(DEFAULT_LEVEL, header.version)?;
    let mut compressed = Vec::new();
    let mut compressed_bytes = 0;
    for block in 0..reader.blocks().len() {
        progress((reader.blocks().len() + block) as u64);
        rewrite(reader, block, &mut records, &mut raw)?;
        compressed.clear();
        encoder.encode_into(&raw, &mut compressed)?;
        if let Some(descriptions) = &mut descriptions {
            let frame = descriptions.frame(&encoder.used(), header.version)?;
            file.write(&frame.unwrap_or_default())?;
        }
        if let (Some(index), Some(old)) = (&mut index, &old_index) {
            let compressed_len = compressed.len() as u32;
            let file_offset = file.position;
            index.push_block(BlockEntry { file_offset, compressed_len, ..old.blocks[block] });
        }
        file.write(&compressed)?;
        compressed_bytes += compressed.len() as u64;
    }
    if let Some(mut footer) = footer {
        let mut index_offset = None;
        if let Some(index) = &mut index {
            if reader.listed_blobs().is_some() {
                index.list_blobs(std::mem::take(&mut records.blobs), records.numbers.drain(..));
                index.numbers.take_if(|_| header.version < NUMBERS_VERSION);
            }
            index_offset = Some(file.position);
            file.write(&index.encode(header.version))?;
        }
        let without_gpu_times = std::mem::take(&mut records.without_gpu_times);
        let mut about = About { noise: &mut records.replacer.noise, keep, description };
        about.footer(&mut footer, &without_gpu_times);
        let Totals { blocks, raw_bytes, .. } = footer.totals;
        footer.totals.compressed_bytes = compressed_bytes;
        footer.levels = vec![LevelUse { level: DEFAULT_LEVEL, blocks, raw_bytes }];
        let footer_offset = file.position;
        file.write(&footer.encode(header.version, index_offset, footer_offset))?;
    }
    file.out.flush().map_err(AnonymiseError::Write)?;
    let Records { bytes, replacer, .. } = records;
    Ok(Anonymised { texts: replacer.texts, bytes, file_bytes: file.position })
}

/// Reads a block, and replaces its contents.
fn rewrite<R: Read + Seek>(
    reader: &mut TraceReader<R>,
    block: usize,
    records: &mut Records<'_>,
    raw: &mut Vec<u8>,
) -> Result<(), AnonymiseError> {
    reader.read_block(block, raw)?;
    let rewritten = records.block(block as u32, raw, &*reader);
    rewritten.map_err(|fault| AnonymiseError::Record { block: block as u64, fault })
}

struct Output<W> {
    out: W,
    position: u64,
}

impl<W: Write> Output<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), AnonymiseError> {
        self.position += bytes.len() as u64;
        self.out.write_all(bytes).map_err(AnonymiseError::Write)
    }
}

//! A file with the checkpoints of a trace. It belongs to one trace and to one build of the program that made it, and is
//! nothing for every other reader. A file that is cut or damaged is refused as a whole, or the damaged checkpoint is; at most
//! 65,536 checkpoints (`COUNT_MAX`) of 128 MiB (`CHECKPOINT_BYTES_MAX`) each. Opens no file.
//!
//! ```text
//!   0  [8]   "GAPIICKP"
//!   8  [32]  the trace, see TraceReader::identity
//!  40  [32]  the build of the program
//!  72        checkpoints, each a zstd frame with its content size and checksum
//!            table: 32 bytes for each checkpoint, ascending by block:
//!              u64  offset of its zstd frame from the file's start
//!              u64  length of the zstd frame in bytes
//!              u64  block, an index in the trace
//!              u64  end_seq
//! -24  u64   offset of the table
//! -16  [16]  the first half of the BLAKE3 hash of the first 72 bytes, the table and its offset
//! ```
//!
//! All numbers are little-endian.

use std::io::{self, Read, Seek, SeekFrom, Write};

use crate::checkpoint::Checkpoint;

/// Most bytes of a checkpoint, before compression.
const CHECKPOINT_BYTES_MAX: usize = 128 << 20;
/// Most checkpoints of a file.
const COUNT_MAX: usize = 1 << 16;

const MAGIC: [u8; 8] = *b"GAPIICKP";
const ENTRY_BYTES: usize = 32;
const TRAILER_BYTES: usize = 24;
/// Checkpoints are made while somebody waits.
const LEVEL: i32 = 1;

/// The trace and the program that a file belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Owner {
    /// [`gapii_trace::TraceReader::identity`].
    pub trace: [u8; 32],
    /// A hash of the program.
    pub build: [u8; 32],
}

impl Owner {
    fn head(&self) -> [u8; 72] {
        let mut head = [0; 72];
        head[..8].copy_from_slice(&MAGIC);
        head[8..40].copy_from_slice(&self.trace);
        head[40..].copy_from_slice(&self.build);
        head
    }

    /// Returns the bytes behind the table at `offset`.
    fn trailer(&self, table: &[u8], offset: u64) -> [u8; TRAILER_BYTES] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.head()).update(table).update(&offset.to_le_bytes());
        let mut trailer = [0; TRAILER_BYTES];
        trailer[..8].copy_from_slice(&offset.to_le_bytes());
        trailer[8..].copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        trailer
    }
}

/// Where a checkpoint is in the file, and of which block it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    offset: u64,
    len: u64,
    /// Index of the block.
    pub block: u64,
    /// Every command with a lower number was followed, and no other one.
    pub end_seq: u64,
}

impl Entry {
    /// Length of the compressed checkpoint in bytes.
    pub fn compressed_len(&self) -> u64 {
        self.len
    }

    fn to_bytes(self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        let numbers = [self.offset, self.len, self.block, self.end_seq];
        for (place, number) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(numbers) {
            *place = number.to_le_bytes();
        }
        bytes
    }

    fn of_bytes(bytes: &[u8; ENTRY_BYTES]) -> Self {
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        Self { offset: number(0), len: number(8), block: number(16), end_seq: number(24) }
    }
}

/// An open file of checkpoints.
pub struct CheckpointFile<R> {
    input: R,
    entries: Vec<Entry>,
}

impl<R: Read + Seek> CheckpointFile<R> {
    /// Reads the table. `None` if this is no whole file of checkpoints of `owner`.
    ///
    /// # Errors
    /// An error of the file.
    pub fn open(mut input: R, owner: &Owner) -> io::Result<Option<Self>> {
        let file_len = input.seek(SeekFrom::End(0))?;
        let head_bytes = owner.head();
        let ends = (head_bytes.len() + TRAILER_BYTES) as u64;
        let Some(room) = file_len.checked_sub(ends) else { return Ok(None) };
        let mut head = [0; 72];
        input.seek(SeekFrom::Start(0))?;
        input.read_exact(&mut head)?;
        if head != head_bytes {
            return Ok(None);
        }
        let table_end = file_len - TRAILER_BYTES as u64;
        let mut trailer = [0; TRAILER_BYTES];
        input.seek(SeekFrom::Start(table_end))?;
        input.read_exact(&mut trailer)?;
        let offset = u64::from_le_bytes(std::array::from_fn(|i| trailer[i]));
        let Some(table_len) = table_end.checked_sub(offset).filter(|len| *len <= room) else {
            return Ok(None);
        };
        if table_len > (COUNT_MAX * ENTRY_BYTES) as u64 {
            return Ok(None);
        }
        let mut table = vec![0; table_len as usize];
        input.seek(SeekFrom::Start(offset))?;
        input.read_exact(&mut table)?;
        let (entries, rest) = table.as_chunks();
        if !rest.is_empty() || trailer != owner.trailer(&table, offset) {
            return Ok(None);
        }
        let entries: Vec<_> = entries.iter().map(Entry::of_bytes).collect();
        let most = zstd::zstd_safe::compress_bound(CHECKPOINT_BYTES_MAX) as u64;
        let is_inside = |entry: &Entry| {
            let end = entry.offset.checked_add(entry.len);
            entry.offset >= head.len() as u64
                && entry.len <= most
                && end.is_some_and(|end| end <= offset)
        };
        let is_sorted =
            entries.is_sorted_by(|one, next| one.block < next.block && one.end_seq <= next.end_seq);
        Ok((is_sorted && entries.iter().all(is_inside)).then_some(Self { input, entries }))
    }

    /// Returns the checkpoints, ascending by block.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Reads a checkpoint; `None` if it is damaged.
    pub fn read(&mut self, entry: Entry) -> Option<Checkpoint> {
        let compressed = self.compressed(entry).ok()?;
        let bytes = zstd::bulk::decompress(&compressed, CHECKPOINT_BYTES_MAX).ok()?;
        Some(Checkpoint {
            block: usize::try_from(entry.block).ok()?,
            end_seq: entry.end_seq,
            bytes,
        })
    }

    fn compressed(&mut self, entry: Entry) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; entry.len as usize];
        self.input.seek(SeekFrom::Start(entry.offset))?;
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Writes a file of checkpoints.
pub struct CheckpointWriter<W> {
    out: W,
    owner: Owner,
    at: u64,
    entries: Vec<Entry>,
}

impl<W: Write> CheckpointWriter<W> {
    /// Begins a file, with the checkpoints that `known` has.
    ///
    /// # Errors
    /// An error of one of the files.
    pub fn begin<R: Read + Seek>(
        mut out: W,
        owner: Owner,
        known: Option<&mut CheckpointFile<R>>,
    ) -> io::Result<Self> {
        let head = owner.head();
        out.write_all(&head)?;
        let mut writer = Self { out, owner, at: head.len() as u64, entries: Vec::new() };
        if let Some(known) = known {
            for entry in known.entries.clone() {
                writer.put(&known.compressed(entry)?, entry.block, entry.end_seq)?;
            }
        }
        Ok(writer)
    }

    /// Appends a checkpoint, of a later block than the one before. Returns its compressed length in bytes, 0 if it is too
    /// large, or one too many, and was left out.
    ///
    /// # Errors
    /// An error of the file.
    pub fn add(&mut self, checkpoint: &Checkpoint) -> io::Result<u64> {
        if checkpoint.bytes.len() > CHECKPOINT_BYTES_MAX || self.entries.len() >= COUNT_MAX {
            return Ok(0);
        }
        let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
        compressor.include_checksum(true)?;
        let compressed = compressor.compress(&checkpoint.bytes)?;
        self.put(&compressed, checkpoint.block as u64, checkpoint.end_seq)?;
        Ok(compressed.len() as u64)
    }

    fn put(&mut self, compressed: &[u8], block: u64, end_seq: u64) -> io::Result<()> {
        self.out.write_all(compressed)?;
        let len = compressed.len() as u64;
        self.entries.push(Entry { offset: self.at, len, block, end_seq });
        self.at += len;
        Ok(())
    }

    /// Writes the table, and returns the output.
    ///
    /// # Errors
    /// An error of the file.
    pub fn finish(mut self) -> io::Result<W> {
        let table: Vec<u8> = self.entries.iter().flat_map(|entry| entry.to_bytes()).collect();
        self.out.write_all(&table)?;
        self.out.write_all(&self.owner.trailer(&table, self.at))?;
        self.out.flush()?;
        Ok(self.out)
    }
}

//! Finds the zstd frames of a trace file by walking over them, without decompressing: for files whose index is missing
//! or wrong. Stops at the first thing that is no frame of a trace: no content size, no checksum, a dictionary, or a
//! block above 8 MiB. Verifies no content: a frame that it finds may still be damaged.
//!
//! Reads a few bytes of each zstd block.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use super::block::BLOCK_BYTES_MAX;
use super::frame::{DATA_MAGIC, SKIPPABLE_HEADER_BYTES, SKIPPABLE_MAGICS};

/// The kind of a zstd frame, by its first word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// A data frame.
    Data {
        /// Content size by its header, in bytes.
        raw_len: u32,
    },
    /// A skippable frame.
    Skippable {
        /// Its first word.
        magic: u32,
    },
}

/// Where a frame is in its file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FoundFrame {
    /// The kind of the frame.
    pub found: Found,
    /// Offset of the frame from the file's start, in bytes.
    pub offset: u64,
    /// Length of the frame, in bytes.
    pub len: u64,
}

/// Result of one step of the walk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// A whole frame.
    Frame(FoundFrame),
    /// The end of the file, between two frames.
    End,
    /// The end of the file, inside of the frame at the scanner's offset.
    Truncated,
    /// Something other than a frame of a trace at the scanner's offset.
    Damaged(&'static str),
}

/// Walks over the frames of a file.
pub struct Scanner<R> {
    input: BufReader<R>,
    /// Start of the next frame, in bytes.
    offset: u64,
    file_len: u64,
}

impl<R: Read + Seek> Scanner<R> {
    /// Starts a walk from the frame at `offset` to the end of a file of `file_len` bytes.
    ///
    /// # Errors
    /// An error of the file.
    pub fn new(mut input: R, offset: u64, file_len: u64) -> io::Result<Self> {
        input.seek(SeekFrom::Start(offset))?;
        Ok(Self { input: BufReader::with_capacity(1 << 14, input), offset, file_len })
    }

    /// Returns the start of the frame that the next step looks at, in bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Goes over the next frame. Only after [`Step::Frame`] does the walk go on.
    ///
    /// # Errors
    /// An error of the file.
    pub fn step(&mut self) -> io::Result<Step> {
        let left = self.file_len.saturating_sub(self.offset);
        if left == 0 {
            return Ok(Step::End);
        }
        let mut walk = Walk { input: &mut self.input, at: 0, left };
        let step = match walk.frame()? {
            Ok(found) => Step::Frame(FoundFrame { found, offset: self.offset, len: walk.at }),
            Err(stop) => stop,
        };
        if let Step::Frame(frame) = &step {
            self.offset += frame.len;
        }
        Ok(step)
    }
}

/// A walk over one frame: `at` bytes into it, with `left` bytes from its start to the file's end.
struct Walk<'a, R> {
    input: &'a mut BufReader<R>,
    at: u64,
    left: u64,
}

/// The outer error is the file's; the inner one is what the walk found instead of a value.
type Walked<T> = io::Result<Result<T, Step>>;

/// Takes the value of a [`Walked`], or returns.
macro_rules! walked {
    ($walked:expr) => {
        match $walked? {
            Ok(value) => value,
            Err(stop) => return Ok(Err(stop)),
        }
    };
}

impl<R: Read + Seek> Walk<'_, R> {
    fn frame(&mut self) -> Walked<Found> {
        let magic = u32::from_le_bytes(walked!(self.read()));
        if SKIPPABLE_MAGICS.contains(&magic) {
            let len = u32::from_le_bytes(walked!(self.read()));
            walked!(self.skip(u64::from(len)));
            debug_assert_eq!(self.at, u64::from(len) + SKIPPABLE_HEADER_BYTES as u64);
            return Ok(Ok(Found::Skippable { magic }));
        }
        if magic != DATA_MAGIC {
            return Ok(Err(Step::Damaged("no frame begins here")));
        }
        self.data()
    }

    /// Walks over a zstd data frame behind its magic (RFC 8878, 3.1.1).
    fn data(&mut self) -> Walked<Found> {
        let [descriptor] = walked!(self.read());
        let (size_flag, single_segment) = (descriptor >> 6, descriptor & 0x20 != 0);
        let (checksum, dictionary) = (descriptor & 0x04 != 0, descriptor & 0x03 != 0);
        if dictionary || descriptor & 0x08 != 0 {
            return Ok(Err(Step::Damaged("block frame has a dictionary or a reserved bit")));
        }
        if !single_segment {
            walked!(self.skip(1));
        }
        let raw_len = match (size_flag, single_segment) {
            (0, false) => return Ok(Err(Step::Damaged("block frame has no content size"))),
            (0, true) => u64::from(walked!(self.read::<1>())[0]),
            (1, _) => u64::from(u16::from_le_bytes(walked!(self.read()))) + 256,
            (2, _) => u64::from(u32::from_le_bytes(walked!(self.read()))),
            _ => u64::from_le_bytes(walked!(self.read())),
        };
        if raw_len > BLOCK_BYTES_MAX as u64 {
            return Ok(Err(Step::Damaged("block exceeds the limit")));
        }
        walked!(self.zstd_blocks());
        if !checksum {
            return Ok(Err(Step::Damaged("block frame has no checksum")));
        }
        walked!(self.skip(4));
        Ok(Ok(Found::Data { raw_len: raw_len as u32 }))
    }

    fn zstd_blocks(&mut self) -> Walked<()> {
        loop {
            let [a, b, c] = walked!(self.read());
            let word = u32::from_le_bytes([a, b, c, 0]);
            let (last, kind, size) = (word & 1 != 0, word >> 1 & 3, word >> 3);
            match kind {
                0 | 2 => walked!(self.skip(u64::from(size))),
                1 => walked!(self.skip(1)),
                _ => return Ok(Err(Step::Damaged("block frame has a reserved zstd block"))),
            }
            if self.at > zstd::zstd_safe::compress_bound(BLOCK_BYTES_MAX) as u64 {
                return Ok(Err(Step::Damaged("block frame exceeds the limit")));
            }
            if last {
                return Ok(Ok(()));
            }
        }
    }

    fn read<const N: usize>(&mut self) -> Walked<[u8; N]> {
        let mut bytes = [0; N];
        if self.at + N as u64 > self.left {
            return Ok(Err(Step::Truncated));
        }
        self.input.read_exact(&mut bytes)?;
        self.at += N as u64;
        Ok(Ok(bytes))
    }

    fn skip(&mut self, len: u64) -> Walked<()> {
        if self.at + len > self.left {
            return Ok(Err(Step::Truncated));
        }
        self.input.seek_relative(len as i64)?;
        self.at += len;
        Ok(Ok(()))
    }
}

//! The outermost layer of a `.trace`: two letters, then chunks compressed with Snappy. A value may cross chunk boundaries
//! at any byte.
//!
//! ```text
//! 'a' 't' | len u32 LE | Snappy block of len bytes | len u32 | Snappy block | …
//! ```
//!
//! Holds one chunk. A chunk of more than 64 MiB (`CHUNK_BYTES_MAX`) is refused: apitrace writes chunks of 1 MiB. A chunk
//! that the file's end cuts is not read.

use std::io::{ErrorKind, Read};

use snap::raw::{Decoder, decompress_len, max_compress_len};

use super::read_error::ReadError;

const LETTERS: [u8; 2] = *b"at";
/// Longest chunk, in bytes before compression.
const CHUNK_BYTES_MAX: usize = 64 << 20;
/// Bytes by which the buffer of a chunk grows, so that a length alone takes no memory.
const STEP_BYTES: usize = 1 << 20;

/// Decompresses a `.trace`.
pub struct Container<R> {
    input: R,
    chunk: Vec<u8>,
    /// Position in `chunk`.
    at: usize,
    compressed: Vec<u8>,
    decoder: Decoder,
    /// Bytes of the file that were read.
    consumed: u64,
}

impl<R: Read> Container<R> {
    /// Reads the two letters.
    pub fn open(input: R) -> Result<Self, ReadError> {
        let mut container = Self {
            input,
            chunk: Vec::new(),
            at: 0,
            compressed: Vec::new(),
            decoder: Decoder::new(),
            consumed: 0,
        };
        match container.fill(LETTERS.len()) {
            Ok(()) if container.compressed == LETTERS => Ok(container),
            Ok(()) | Err(ReadError::Cut) => Err(ReadError::NotATrace),
            Err(error) => Err(error),
        }
    }

    /// Returns how many bytes of the file were read.
    pub fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Returns whether the file ends here.
    pub fn is_at_end(&mut self) -> Result<bool, ReadError> {
        while self.at == self.chunk.len() {
            if !self.next_chunk()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads a byte.
    pub fn byte(&mut self) -> Result<u8, ReadError> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    /// Reads `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        let mut bytes = [0; N];
        let mut filled = 0;
        while filled < N {
            let part = self.part(N - filled)?;
            bytes[filled..filled + part.len()].copy_from_slice(part);
            filled += part.len();
        }
        Ok(bytes)
    }

    /// Appends `len` bytes to `out`, which grows with the bytes that are there.
    pub fn append(&mut self, len: u64, out: &mut Vec<u8>) -> Result<(), ReadError> {
        let mut left = len;
        while left > 0 {
            let part = self.part(usize::try_from(left).unwrap_or(usize::MAX))?;
            left -= part.len() as u64;
            out.extend_from_slice(part);
        }
        Ok(())
    }

    /// Passes over `len` bytes.
    pub fn skip(&mut self, len: u64) -> Result<(), ReadError> {
        let mut left = len;
        while left > 0 {
            left -= self.part(usize::try_from(left).unwrap_or(usize::MAX))?.len() as u64;
        }
        Ok(())
    }

    /// Returns the next bytes, at least one and at most `most`.
    fn part(&mut self, most: usize) -> Result<&[u8], ReadError> {
        if self.is_at_end()? {
            return Err(ReadError::Cut);
        }
        let begin = self.at;
        self.at += most.min(self.chunk.len() - begin);
        Ok(&self.chunk[begin..self.at])
    }

    /// Decompresses the next chunk. Returns false at the end of the file.
    fn next_chunk(&mut self) -> Result<bool, ReadError> {
        let begin = self.consumed;
        match self.fill(4) {
            Ok(()) => {}
            Err(ReadError::Cut) if self.consumed == begin => return Ok(false),
            Err(error) => return Err(error),
        }
        let len = self.compressed.first_chunk().map_or(0, |len| u32::from_le_bytes(*len)) as usize;
        if len > max_compress_len(CHUNK_BYTES_MAX) {
            return Err(self.damaged(begin, format!("a chunk of {len} compressed bytes")));
        }
        self.fill(len)?;
        let raw_len = match decompress_len(&self.compressed) {
            Ok(raw_len) if raw_len <= CHUNK_BYTES_MAX => raw_len,
            Ok(raw_len) => return Err(self.damaged(begin, format!("a chunk of {raw_len} bytes"))),
            Err(error) => return Err(self.damaged(begin, error.to_string())),
        };
        // Snappy packs 64 bytes into 3, so a chunk never holds much more than its compressed bytes allow.
        if raw_len / 32 > len {
            return Err(self.damaged(begin, format!("{len} compressed bytes say {raw_len} bytes")));
        }
        self.chunk.resize(raw_len, 0);
        self.at = 0;
        match self.decoder.decompress(&self.compressed, &mut self.chunk) {
            Ok(_) => Ok(true),
            Err(error) => Err(self.damaged(begin, error.to_string())),
        }
    }

    fn damaged(&mut self, at: u64, why: String) -> ReadError {
        self.chunk.clear();
        self.at = 0;
        ReadError::Damaged { at, why }
    }

    /// Reads `len` bytes of the file into `compressed`.
    fn fill(&mut self, len: usize) -> Result<(), ReadError> {
        self.compressed.clear();
        while self.compressed.len() < len {
            let begin = self.compressed.len();
            self.compressed.resize(len.min(begin + STEP_BYTES), 0);
            let mut filled = begin;
            while filled < self.compressed.len() {
                match self.input.read(&mut self.compressed[filled..]) {
                    Ok(0) => return Err(ReadError::Cut),
                    Ok(read) => {
                        filled += read;
                        self.consumed += read as u64;
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(ReadError::Io(error)),
                }
            }
        }
        Ok(())
    }
}

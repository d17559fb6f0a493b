//! The outermost layer of a `.trace`: two letters, then chunks of up to 1 MiB (`CHUNK_BYTES`) compressed with Snappy. A
//! value may cross chunk boundaries at any byte.
//!
//! ```text
//! 'a' 't' | len u32 LE | Snappy block of len bytes | len u32 | Snappy block | …
//! ```

use std::io::{self, Write};

use snap::raw::{Encoder, max_compress_len};

/// Size of a chunk before compression, in bytes: the buffer size of the format's readers.
pub const CHUNK_BYTES: usize = 1 << 20;
const LETTERS: &[u8] = b"at";

/// Compresses what is written to it. [`Self::finish`] writes the rest.
pub struct Container<W> {
    out: W,
    chunk: Vec<u8>,
    compressed: Vec<u8>,
    encoder: Encoder,
}

impl<W: Write> Container<W> {
    /// Writes the two letters.
    pub fn begin(mut out: W) -> io::Result<Self> {
        out.write_all(LETTERS)?;
        Ok(Self {
            out,
            chunk: Vec::with_capacity(CHUNK_BYTES),
            compressed: vec![0; max_compress_len(CHUNK_BYTES)],
            encoder: Encoder::new(),
        })
    }

    /// Writes the last chunk and returns the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.end_chunk()?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn end_chunk(&mut self) -> io::Result<()> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        let len = self
            .encoder
            .compress(&self.chunk, &mut self.compressed)
            .map_err(|error| io::Error::other(error.to_string()))?;
        self.chunk.clear();
        self.out.write_all(&(len as u32).to_le_bytes())?;
        self.out.write_all(&self.compressed[..len])
    }
}

impl<W: Write> Write for Container<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = bytes.len().min(CHUNK_BYTES - self.chunk.len());
        self.chunk.extend_from_slice(&bytes[..len]);
        if self.chunk.len() == CHUNK_BYTES {
            self.end_chunk()?;
        }
        Ok(len)
    }

    /// Does nothing: a chunk ends only when it is full, or at the end.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk_lengths(file: &[u8]) -> Vec<usize> {
        let mut rest = file.strip_prefix(LETTERS).expect("the two letters");
        let mut lengths = Vec::new();
        while let Some((len, after)) = rest.split_first_chunk::<4>() {
            let (chunk, after) = after.split_at(u32::from_le_bytes(*len) as usize);
            lengths.push(snap::raw::Decoder::new().decompress_vec(chunk).expect("a block").len());
            rest = after;
        }
        assert!(rest.is_empty());
        lengths
    }

    #[test]
    fn chunk_boundaries_are_at_1_mib_for_writes_of_any_size() {
        let check = |writes: &[usize], expected: &[usize]| {
            let mut container =
                Container::begin(Vec::new()).expect("writing to memory never fails");
            for len in writes {
                container.write_all(&vec![7; *len]).expect("writing to memory never fails");
            }
            let file = container.finish().expect("writing to memory never fails");
            assert_eq!(chunk_lengths(&file), expected, "{writes:?}");
        };
        check(&[], &[]);
        check(&[1], &[1]);
        check(&[CHUNK_BYTES], &[CHUNK_BYTES]);
        check(&[CHUNK_BYTES - 1, 2], &[CHUNK_BYTES, 1]);
        check(&[3 * CHUNK_BYTES + 5], &[CHUNK_BYTES, CHUNK_BYTES, CHUNK_BYTES, 5]);
    }
}

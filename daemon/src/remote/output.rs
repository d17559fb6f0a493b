//! The output of a capture for a remote client, read piece by piece (up to `CHUNK_LEN_MAX`, 64 KiB) from a pipe of 1
//! MiB, or of the system's size if it does not allow that. A BLAKE3 hash and the length go to the client at the end.

use std::io;
use std::os::fd::OwnedFd;

use gapii_remote::frame::CHUNK_LEN_MAX;
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;

/// Size of the pipe, if the system allows it: 1 MiB.
const PIPE_BYTES: usize = 1 << 20;

/// The reading end of the pipe.
#[derive(Debug)]
pub struct Output {
    pipe: Receiver,
    piece: Vec<u8>,
    /// Number of bytes read, and their hash.
    len: u64,
    hasher: blake3::Hasher,
}

impl Output {
    /// Makes a pipe. What is written into the returned descriptor is read here.
    pub fn new() -> io::Result<(Self, OwnedFd)> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        // A smaller pipe works, too.
        let _ = fcntl_setpipe_size(&writer, PIPE_BYTES);
        let pipe = Receiver::from_owned_fd(reader)?;
        let piece = vec![0; CHUNK_LEN_MAX];
        Ok((Self { pipe, piece, len: 0, hasher: blake3::Hasher::new() }, writer))
    }

    /// Returns the next piece with its offset, or `None` at the end. Reads nothing if the future is dropped before it
    /// is ready.
    pub async fn next(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        let count = self.pipe.read(&mut self.piece).await?;
        let (offset, piece) = (self.len, &self.piece[..count]);
        self.hasher.update(piece);
        self.len += count as u64;
        Ok((count > 0).then_some((offset, piece)))
    }

    /// Returns the number of bytes read, and their hash.
    pub fn sum(&self) -> (u64, blake3::Hash) {
        (self.len, self.hasher.finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;

    #[tokio::test]
    async fn pieces_equal_the_written_bytes() {
        let (mut output, writer) = Output::new().unwrap();
        let written: Vec<u8> = (0..200_000_u32).map(|number| number as u8).collect();
        let expected = written.clone();
        let writing =
            tokio::task::spawn_blocking(move || File::from(writer).write_all(&written).unwrap());
        let mut taken = Vec::new();
        while let Some((offset, piece)) = output.next().await.unwrap() {
            assert_eq!(offset, taken.len() as u64);
            taken.extend_from_slice(piece);
        }
        writing.await.unwrap();
        assert!(taken == expected);
        assert_eq!(output.sum(), (expected.len() as u64, blake3::hash(&expected)));
    }
}

//! `Output`: what a capture writes for a remote client, taken out of a pipe piece by piece.

use std::io;
use std::os::fd::OwnedFd;

use gapii_remote::frame::CHUNK_LEN_MAX;
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;

/// Room in the pipe, where the system gives that much.
const PIPE_BYTES: usize = 1 << 20;

/// The end of the pipe that is read.
#[derive(Debug)]
pub struct Output {
    pipe: Receiver,
    piece: Vec<u8>,
    /// Bytes taken, and their hash.
    len: u64,
    hasher: blake3::Hasher,
}

impl Output {
    /// A pipe: what is written into the descriptor is taken here.
    pub fn new() -> io::Result<(Self, OwnedFd)> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        // A smaller one does, too.
        let _ = fcntl_setpipe_size(&writer, PIPE_BYTES);
        let pipe = Receiver::from_owned_fd(reader)?;
        let piece = vec![0; CHUNK_LEN_MAX];
        Ok((Self { pipe, piece, len: 0, hasher: blake3::Hasher::new() }, writer))
    }

    /// The next piece, its offset with it; none at the end. Takes nothing where this is dropped before it
    /// is done.
    pub async fn next(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        let count = self.pipe.read(&mut self.piece).await?;
        let (offset, piece) = (self.len, &self.piece[..count]);
        self.hasher.update(piece);
        self.len += count as u64;
        Ok((count > 0).then_some((offset, piece)))
    }

    /// How much was taken, and its hash.
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
    async fn pieces_are_what_was_written() {
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

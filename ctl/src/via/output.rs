//! `Output`: reassembles the pieces of a trace. A piece that does not continue the output is not written and ends the
//! link. At the end, length and hash are compared with the daemon's; a difference is an error.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

/// The output as far as it was written.
#[derive(Debug)]
pub struct Output {
    file: File,
    len: u64,
    hasher: Box<blake3::Hasher>,
}

/// Why writing the output failed.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error("the output cannot be written: {0}")]
    Io(#[from] io::Error),
    #[error("a piece at {offset} came after {len} bytes")]
    OutOfPlace { offset: u64, len: u64 },
    #[error("what arrived is not what was sent")]
    Different,
}

impl Output {
    pub fn new(descriptor: OwnedFd) -> Self {
        Self { file: File::from(descriptor), len: 0, hasher: Box::default() }
    }

    /// Writes the next piece; blocks while a reader does not read.
    pub fn write(&mut self, offset: u64, piece: &[u8]) -> Result<(), OutputError> {
        if offset != self.len {
            return Err(OutputError::OutOfPlace { offset, len: self.len });
        }
        self.file.write_all(piece)?;
        self.hasher.update(piece);
        self.len += piece.len() as u64;
        Ok(())
    }

    /// Compares what was written with the length and hash that the daemon sent.
    pub fn check(&self, len: u64, hash: &[u8]) -> Result<(), OutputError> {
        match len == self.len && self.hasher.finalize().as_bytes()[..] == *hash {
            true => Ok(()),
            false => Err(OutputError::Different),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_go_where_they_belong_or_nowhere() {
        let file = tempfile::tempfile().unwrap();
        let mut output = Output::new(file.into());
        output.write(0, b"one").unwrap();
        assert!(matches!(
            output.write(4, b"x"),
            Err(OutputError::OutOfPlace { offset: 4, len: 3 })
        ));
        assert!(matches!(output.write(0, b"one"), Err(OutputError::OutOfPlace { .. })));
        output.write(3, b"two").unwrap();
        output.check(6, blake3::hash(b"onetwo").as_bytes()).unwrap();
        assert!(output.check(6, blake3::hash(b"onetwx").as_bytes()).is_err());
        assert!(output.check(5, blake3::hash(b"onetwo").as_bytes()).is_err());
    }

    #[test]
    fn full_device_is_said() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let error = Output::new(full.into()).write(0, b"x").unwrap_err();
        assert!(error.to_string().contains("No space left"), "{error}");
    }
}

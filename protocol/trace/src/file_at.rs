//! A file that is read at a position of its own, independent of other readers of the same file, and that stays this
//! file even if its path is replaced.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;

/// A trace file that other threads and processes may read or write at the same time.
#[derive(Debug)]
pub struct FileAt {
    file: File,
    at: u64,
}

impl FileAt {
    /// Opens the same file with its own position, at the start. It stays this file even if the path is
    /// replaced.
    ///
    /// # Errors
    /// An error of duplicating the descriptor.
    pub fn of(file: &File) -> io::Result<Self> {
        Ok(Self { file: file.try_clone()?, at: 0 })
    }

    /// Opens the same file with a further position, at the start.
    ///
    /// # Errors
    /// An error of duplicating the descriptor.
    pub fn again(&self) -> io::Result<Self> {
        Self::of(&self.file)
    }
}

impl Read for FileAt {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = self.file.read_at(out, self.at)?;
        self.at += len as u64;
        Ok(len)
    }
}

impl Seek for FileAt {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (from, by) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::Current(by) => (self.at, by),
            SeekFrom::End(by) => (self.file.metadata()?.len(), by),
        };
        let outside = || io::Error::new(io::ErrorKind::InvalidInput, "a place outside of the file");
        self.at = from.checked_add_signed(by).ok_or_else(outside)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn two_read_a_file_each_at_its_own_place() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let (mut one, mut two) = (FileAt::of(&file).unwrap(), FileAt::of(&file).unwrap());
        let read = |from: &mut FileAt| {
            let mut bytes = [0; 2];
            from.read_exact(&mut bytes).unwrap();
            bytes
        };
        assert_eq!(read(&mut one), *b"01");
        assert_eq!(two.seek(SeekFrom::End(-2)).unwrap(), 8);
        assert_eq!((read(&mut one), read(&mut two)), (*b"23", *b"89"));
        assert!(one.seek(SeekFrom::Current(-5)).is_err());
        assert_eq!(read(&mut one), *b"45");
    }
}

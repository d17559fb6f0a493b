//! `Tar`: an archive in the format ustar (POSIX.1-2017, pax, "ustar Interchange Format") with plain files of this process' making.
//!
//! It reads no file, and knows no folder, link, owner or long name.

use std::io::{self, Write};

const BLOCK: usize = 512;
/// Most bytes of a name.
const NAME_MAX: usize = 100;

/// Writes an archive to `out`.
pub struct Tar<W> {
    out: W,
    /// Time of all files, in seconds since 1970.
    time: u64,
}

impl<W: Write> Tar<W> {
    pub fn new(out: W, time: u64) -> Tar<W> {
        Tar { out, time }
    }

    /// Adds a file.
    ///
    /// # Panics
    /// In a build for development, if `name` has more than 100 bytes.
    pub fn add(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        debug_assert!(name.len() <= NAME_MAX, "{name} is too long");
        let mut header = [0; BLOCK];
        let mut put = |at: usize, text: &str| {
            header[at..at + text.len()].copy_from_slice(text.as_bytes());
        };
        put(0, &name[..name.len().min(NAME_MAX)]);
        put(100, "0000644\0");
        put(108, "0000000\0");
        put(116, "0000000\0");
        put(124, &format!("{:011o}\0", content.len()));
        put(136, &format!("{:011o}\0", self.time));
        // The checksum is that of a header with blanks in its place.
        put(148, "        ");
        put(156, "0");
        put(257, "ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        self.out.write_all(&header)?;
        self.out.write_all(content)?;
        self.out.write_all(&[0; BLOCK][..content.len().next_multiple_of(BLOCK) - content.len()])
    }

    /// Writes the end of the archive.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(&[0; 2 * BLOCK])?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    /// Returns what `tar` with `option` prints about an archive.
    fn tar(option: &str, archive: &[u8]) -> String {
        let mut child = Command::new("tar")
            .args([option, "--file=-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("tar can be started");
        child.stdin.take().expect("it is piped").write_all(archive).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("text")
    }

    #[test]
    fn archive_is_read_by_tar() {
        let mut archive = Tar::new(Vec::new(), 86_400);
        let long = "x".repeat(BLOCK);
        for (name, content) in [("a/empty", ""), ("a/short", "one\n"), ("a/long", &long)] {
            archive.add(name, content.as_bytes()).expect("memory");
        }
        let archive = archive.finish().expect("memory");
        assert_eq!(archive.len() % BLOCK, 0);
        assert_eq!(tar("--list", &archive), "a/empty\na/short\na/long\n");
    }
}

//! `Elf`: the kind of an executable file or library, from its ELF header (System V ABI, "Object Files"). It decides whether
//! the dynamic linker can load the shim or a tool.
//!
//! Reads at most 64 program headers and nothing else.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Size of the header of a 64-bit file, in bytes.
const HEADER_LEN: usize = 64;
/// Size of a program header of a 64-bit file, in bytes.
const PROGRAM_HEADER_LEN: usize = 56;
const PROGRAM_HEADERS_MAX: u64 = 64;

const CLASS_64: u8 = 2;
const TYPE_EXECUTABLE: u16 = 2;
const TYPE_SHARED: u16 = 3;
const PT_INTERP: u32 = 3;

/// A program file, as the dynamic linker sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elf {
    /// No ELF file, for example a script.
    Other,
    /// For another word size or another processor than this program.
    Foreign {
        /// True for a 64-bit file.
        is_64: bool,
    },
    /// A program without a dynamic linker, into which no library can be loaded.
    Static,
    /// A program with a dynamic linker.
    Program,
    /// A library.
    Library,
}

impl Elf {
    /// Reads the headers of a file.
    pub fn of(path: &Path) -> io::Result<Elf> {
        let file = File::open(path)?;
        let own = header(&File::open("/proc/self/exe")?)?;
        let Some(own) = own else { return Ok(Elf::Other) };
        let Some(bytes) = header(&file)? else { return Ok(Elf::Other) };
        let is_64 = bytes[4] == CLASS_64;
        if bytes[4..6] != own[4..6] || u16_at(&bytes, 18) != u16_at(&own, 18) {
            return Ok(Elf::Foreign { is_64 });
        }
        Ok(match (u16_at(&bytes, 16), has_interpreter(&file, &bytes)?) {
            (TYPE_EXECUTABLE | TYPE_SHARED, true) => Elf::Program,
            (TYPE_EXECUTABLE, false) => Elf::Static,
            (TYPE_SHARED, false) => Elf::Library,
            _ => Elf::Other,
        })
    }
}

/// Returns the header of an ELF file; `None` of any other file.
fn header(file: &File) -> io::Result<Option<[u8; HEADER_LEN]>> {
    let mut bytes = [0; HEADER_LEN];
    match file.read_exact_at(&mut bytes, 0) {
        Ok(()) => Ok(Some(bytes).filter(|bytes| bytes.starts_with(b"\x7fELF"))),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a 64-bit file names a dynamic linker.
fn has_interpreter(file: &File, header: &[u8; HEADER_LEN]) -> io::Result<bool> {
    let mut offset = [0; 8];
    offset.copy_from_slice(&header[32..40]);
    let offset = u64::from_ne_bytes(offset);
    let count = u64::from(u16_at(header, 56)).min(PROGRAM_HEADERS_MAX);
    for index in 0..count {
        let mut kind = [0; 4];
        let at = offset.saturating_add(index * PROGRAM_HEADER_LEN as u64);
        match file.read_exact_at(&mut kind, at) {
            Ok(()) if u32::from_ne_bytes(kind) == PT_INTERP => return Ok(true),
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

fn u16_at(bytes: &[u8; HEADER_LEN], at: usize) -> u16 {
    u16::from_ne_bytes([bytes[at], bytes[at + 1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_and_libraries_are_told_apart() {
        let own = std::env::current_exe().expect("a running program has a path");
        assert_eq!(Elf::of(&own).ok(), Some(Elf::Program));
        let maps = std::fs::read_to_string("/proc/self/maps").expect("it is there");
        let libc = maps.split_whitespace().find(|word| word.contains("/libc.so"));
        // The C library names a dynamic linker, because it can be started; libm cannot.
        let libm = libc.expect("it is loaded").replace("/libc.so", "/libm.so");
        assert_eq!(Elf::of(Path::new(&libm)).ok(), Some(Elf::Library));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let kind = |bytes: &[u8]| {
            std::fs::write(&path, bytes).expect("a file");
            Elf::of(&path).ok()
        };
        assert_eq!(kind(b"#!/bin/sh\n"), Some(Elf::Other));
        assert_eq!(kind(b"\x7fELF"), Some(Elf::Other));
        let mut bytes = std::fs::read(&own).expect("it is readable");
        bytes.truncate(1 << 12);
        // Without program headers nothing names a dynamic linker.
        (bytes[56], bytes[57]) = (0, 0);
        bytes[16..18].copy_from_slice(&TYPE_EXECUTABLE.to_ne_bytes());
        assert_eq!(kind(&bytes), Some(Elf::Static));
        bytes[4] = 1;
        assert_eq!(kind(&bytes), Some(Elf::Foreign { is_64: false }));
    }
}

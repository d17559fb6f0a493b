//! A trace that is read while it is written: whatever pieces it grows by, the commands and the bytes of their blobs are those of
//! the whole file.

use std::cell::RefCell;
use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;

use gapii_trace::{Command, Commands, TraceReader};
use proptest::prelude::*;

use crate::blobs::{blobs_in_turn_file, two_blobs_file};
use crate::descriptions::described_by_another_build;
use crate::resuming::{step, written};
use crate::writer::{line, open};

/// A file that others append to.
#[derive(Clone, Default)]
struct Growing {
    bytes: Rc<RefCell<Vec<u8>>>,
    at: u64,
}

impl Read for Growing {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.bytes.borrow();
        let len = bytes.get(self.at as usize..).unwrap_or_default().read(out)?;
        self.at += len as u64;
        Ok(len)
    }
}

impl Seek for Growing {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (from, by) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::Current(by) => (self.at, by),
            SeekFrom::End(by) => (self.bytes.borrow().len() as u64, by),
        };
        self.at = from.checked_add_signed(by).expect("a place in the file");
        Ok(self.at)
    }
}

/// A command with the bytes of its memory.
fn shown(command: &Command<'_>) -> String {
    let memory: Vec<_> = command.args().map(|arg| command.bytes_of(arg.observation)).collect();
    let memory: Vec<_> = memory.iter().map(|bytes| bytes.as_deref()).collect();
    format!("{} {memory:?}", line(command))
}

fn rest<R: Read + Seek>(mut commands: Commands<'_, R>, shown_so_far: &mut Vec<String>) {
    while let Some(command) = commands.next_command().unwrap() {
        shown_so_far.push(shown(&command));
    }
}

/// Reads a file that grows to these lengths, and then to its whole one. Returns how many commands came before the end.
fn check(file: &[u8], lengths: &[usize]) -> usize {
    let mut expected = Vec::new();
    rest(open(file).commands().unwrap(), &mut expected);
    let mut lengths: Vec<_> = lengths.iter().map(|at| at % file.len()).collect();
    lengths.sort_unstable();
    let growing = Growing::default();
    let (mut reader, mut unfinished, mut read) = (None, None, Vec::new());
    for length in lengths {
        growing.bytes.replace(file[..length].to_vec());
        match &mut reader {
            None => reader = TraceReader::open(growing.clone()).ok(),
            Some(reader) => _ = reader.grow().unwrap(),
        }
        let Some(reader) = &mut reader else { continue };
        let mut commands = match unfinished.take() {
            None => reader.commands().unwrap(),
            Some(unfinished) => reader.go_on(unfinished).unwrap(),
        };
        while commands.advance_so_far().unwrap() {
            read.push(shown(&commands.command()));
        }
        unfinished = Some(commands.leave());
    }
    let early = read.len();
    growing.bytes.replace(file.to_vec());
    let mut reader = reader.unwrap_or_else(|| TraceReader::open(growing).unwrap());
    reader.grow().unwrap();
    let commands = match unfinished {
        None => reader.commands(),
        Some(unfinished) => reader.go_on(unfinished),
    };
    rest(commands.unwrap(), &mut read);
    assert_eq!(read, expected);
    assert!(!reader.grow().unwrap(), "there is nothing more");
    early
}

#[test]
fn commands_with_blobs_of_earlier_blocks_come_before_the_end() {
    for file in [two_blobs_file(), blobs_in_turn_file()] {
        let every = |by: usize| (0..file.len()).step_by(by).collect::<Vec<_>>();
        for by in [1, 7, 100] {
            assert!(check(&file, &every(by)) > 2);
        }
    }
}

#[test]
fn functions_are_described_when_their_description_comes() {
    let file = described_by_another_build();
    let every = (0..file.len()).collect::<Vec<_>>();
    assert!(check(&file, &every) > 2);
}

#[test]
fn damaged_block_ends_the_reading() {
    let mut file = two_blobs_file();
    let blocks = open(&file).blocks().to_vec();
    file[blocks[2].offset as usize + 20] ^= 1;
    let every = (0..file.len()).step_by(5).collect::<Vec<_>>();
    check(&file, &every);
}

proptest! {
    #[test]
    fn commands_of_a_growing_file_are_those_of_the_whole(
        steps in prop::collection::vec(step(), 1..60),
        lengths in prop::collection::vec(any::<usize>(), 0..20),
    ) {
        check(&written(&steps, Vec::new()), &lengths);
    }
}

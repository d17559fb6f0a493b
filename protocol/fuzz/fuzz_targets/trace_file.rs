//! Any bytes as a trace file: opened, listed, summed up and verified.

#![no_main]

use std::io::{self, Cursor};

use gapii_protocol::trace::{Info, TraceReader, json, verify};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    let Ok(mut reader) = TraceReader::open(Cursor::new(file)) else { return };
    let mut commands = reader.commands().expect("memory does not fail");
    while let Some(command) = commands.next_command().expect("memory does not fail") {
        json::write_line(&command, &mut io::sink()).expect("sinks take all");
    }
    Info::of(&mut reader).expect("memory does not fail");
    verify(&mut reader).expect("memory does not fail");
});

//! Opens, lists, searches, summarizes and verifies any bytes as a trace file.

#![no_main]

use std::io::{self, Cursor};

use gapii_trace::{BlobName, Info, TraceReader, json, verify};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    let Ok(mut reader) = TraceReader::open(Cursor::new(file)) else { return };
    let mut commands = reader.commands().expect("memory does not fail").with_tracers();
    while let Some(command) = commands.next_command().expect("memory does not fail") {
        json::write_line(&command, &mut io::sink()).expect("sinks take all");
    }
    for digit in "0123456789abcdef".chars() {
        let prefix = digit.to_string().parse().expect("a digit is the beginning of a name");
        for blob in reader.blobs_named(&prefix, 4).expect("memory does not fail") {
            if let Ok(bytes) = reader.blob(blob.name) {
                assert_eq!(BlobName::of(&bytes), blob.name);
            }
        }
    }
    Info::of(&mut reader).expect("memory does not fail");
    verify(&mut reader).expect("memory does not fail");
});

//! Reads any bytes as the records of two equal blocks, packed or not, without compression and checksum.

#![no_main]

use std::io;
use std::sync::{Arc, OnceLock};

use gapii_trace::assembler::{Advance, Assembler, HoldLimits};
use gapii_trace::blobs::NoBlobs;
use gapii_trace::block::BLOCK_BYTES_MAX;
use gapii_trace::census::Census;
use gapii_trace::packed::{is_packed, unpack};
use gapii_trace::{Description, TraceHeader, TraceReader, json};
use libfuzzer_sys::fuzz_target;

/// The description in the corpus' files, which the blocks of the corpus use.
fn description() -> &'static Description {
    static HEADER: OnceLock<TraceHeader> = OnceLock::new();
    let header = HEADER.get_or_init(|| {
        let file = include_bytes!("../corpus/trace_file/whole");
        let reader = TraceReader::open(io::Cursor::new(file)).expect("the corpus has a whole file");
        reader.header().clone()
    });
    &header.description
}

fuzz_target!(|content: &[u8]| {
    let mut unpacked = Vec::new();
    let raw = match is_packed(content) {
        true if unpack(content, BLOCK_BYTES_MAX, &mut unpacked).is_err() => return,
        true => &unpacked,
        false => content,
    };
    let limits = HoldLimits { commands: 64, bytes: 1 << 16 };
    let mut assembler = Assembler::new(limits);
    assembler.tell_tracers();
    let mut census = Census::default();
    for _ in 0..2 {
        census.block(raw, description());
        let filled: Result<(), ()> = assembler.refill(|| Ok(Arc::new(raw.to_vec())));
        filled.expect("memory does not fail");
        drain(&mut assembler);
    }
    assembler.finish();
    drain(&mut assembler);
});

fn drain(assembler: &mut Assembler) {
    loop {
        match assembler.advance() {
            Ok(Advance::Command) => {
                let command = assembler.command(description(), &NoBlobs);
                json::write_line(&command, &mut io::sink()).expect("sinks take all");
            }
            Ok(Advance::NeedsBlock | Advance::Done) => return,
            Err(_) => {}
        }
    }
}

//! Decodes the first block of a trace again and again, for a tool that counts the instructions of the functions whose
//! names begin with `counted_`. Each is called with one decoding first, which grows the buffers, then with one and with two.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use gapii_trace::assembler::{Advance, Assembler, HoldLimits};
use gapii_trace::blobs::NoBlobs;
use gapii_trace::block::BLOCK_BYTES_MAX;
use gapii_trace::{BlockDecoder, TraceHeader, TraceReader};
use serde_json::{Value, json};

/// Decodes the first block, and returns how many commands it holds.
pub fn decode(path: &Path) -> Result<Value, String> {
    let file = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let reader = TraceReader::open(std::io::Cursor::new(&file)).map_err(|e| e.to_string())?;
    let first = *reader.blocks().first().ok_or("the trace has no block")?;
    let begin = usize::try_from(first.offset).map_err(|error| error.to_string())?;
    let frame = file.get(begin..begin + first.compressed_len as usize).ok_or("it is cut")?;
    let (mut decoder, mut raw) = (BlockDecoder::new(BLOCK_BYTES_MAX), Vec::new());
    for times in [1, 1, 2] {
        counted_decompression(&mut decoder, frame, &mut raw, times)?;
    }
    let (raw, mut commands) = (Arc::new(raw), 0);
    for times in [1, 1, 2] {
        commands = counted_commands(reader.header(), &raw, times)? / times;
    }
    Ok(json!({ "commands": commands }))
}

/// Decompresses a block `times` times.
#[inline(never)]
fn counted_decompression(
    decoder: &mut BlockDecoder,
    frame: &[u8],
    raw: &mut Vec<u8>,
    times: u64,
) -> Result<(), String> {
    for _ in 0..times {
        decoder.decode_into(black_box(frame), raw).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Makes commands of the records of a block, and values of their arguments, `times` times. Returns the number of commands.
#[inline(never)]
fn counted_commands(header: &TraceHeader, raw: &Arc<Vec<u8>>, times: u64) -> Result<u64, String> {
    let mut commands = 0;
    for _ in 0..times {
        let mut assembler = Assembler::new(HoldLimits::default());
        assembler.begin(header.begin());
        let filled = assembler.refill(|| Ok::<_, String>(Arc::clone(raw)));
        filled?;
        while assembler.advance().map_err(|error| error.to_string())? == Advance::Command {
            let command = assembler.command(&header.description, &NoBlobs);
            for arg in command.args() {
                black_box(arg.value);
            }
            commands += 1;
        }
    }
    Ok(commands)
}

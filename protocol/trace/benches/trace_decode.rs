//! Measures how fast a reader gets commands out of a trace in memory, and the size and time of a header. Counts
//! processor time, so that other load on the machine does not matter. As a test it runs, and measures nothing.
//!
//! `cargo bench -p gapii-trace`

use std::fs;
use std::hint::black_box;
use std::io::Cursor;
use std::time::Duration;

use gapii_abi::atom::{self, EFFECT, Header, LEAVE, LEAVES};
use gapii_trace::append::AppendTo;
use gapii_trace::block::BLOCK_TARGET_BYTES;
use gapii_trace::{BlockEncoder, TraceHeader, TraceReader, json, meta};

fn main() {
    // Cargo passes this to benchmarks, and not to tests.
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    let commands = if is_measured { 4_000_000 } else { 4_000 };
    let start = on_processor();
    let header = TraceHeader::new("bench", [0; 16], 0, 0);
    let frame = header.encode().expect("a header can be encoded");
    println!("first header: {} bytes in {:?}", frame.len(), since(start));
    let start = on_processor();
    black_box(header.encode().expect("a header can be encoded"));
    println!("next header: {:?}", since(start));

    let id = |name| header.description.named(name).expect("the tables have it").id;
    let (uniform, error) = (id("glUniform4f"), id("glGetError"));
    let plain = file(&frame, commands, |raw, n| {
        record(raw, uniform, EFFECT, &[n as u32, 0, 0, 0, 0]);
    });
    rate("glUniform4f", &plain);
    let paired = file(&frame, commands, |raw, n| match n % 2 {
        0 => record(raw, error, EFFECT | LEAVES, &[]),
        _ => record(raw, error, LEAVE, &[0]),
    });
    rate("glGetError, enter and leave", &paired);
}

fn rate(what: &str, file: &[u8]) {
    for (how, decode) in [("commands", 0), ("commands and arguments", 1), ("JSON lines", 2)] {
        let mut reader = TraceReader::open(Cursor::new(file)).expect("it was just written");
        let start = on_processor();
        let mut count = 0u64;
        let mut decoded = reader.commands().expect("memory does not fail");
        while let Some(command) = decoded.next_command().expect("memory does not fail") {
            count += 1;
            match decode {
                0 => {
                    black_box(command.seq);
                }
                1 => command.args().for_each(|arg| {
                    black_box(arg.value);
                }),
                _ => json::write_line(&command, &mut std::io::sink()).expect("sinks take all"),
            }
        }
        let rate = count as f64 / since(start).as_secs_f64() / 1e6;
        println!("{what}: {count} {how}, {rate:.1} M/s");
    }
}

/// Time this thread has run.
fn on_processor() -> Duration {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").expect("this is Linux");
    let ns = stat.split(' ').next().and_then(|word| word.parse().ok());
    Duration::from_nanos(ns.expect("its first word is nanoseconds"))
}

fn since(start: Duration) -> Duration {
    on_processor() - start
}

fn file(header: &[u8], commands: u64, fill: impl Fn(&mut Vec<u8>, u64)) -> Vec<u8> {
    let mut file = header.to_vec();
    let mut encoder = BlockEncoder::new(1).expect("zstd has level 1");
    let (mut raw, mut number) = (Vec::new(), 0);
    for n in 0..commands {
        if raw.is_empty() {
            atom::Block { number, first_seq: n, start_ns: 0 }.append_to(&mut raw);
            meta::Process { process: 0, pid: 1, start_ns: 0, frames: 0, name: b"p" }
                .append_to(&mut raw);
            atom::ThreadState::default().append_to(&mut raw);
            atom::SwitchThread { thread: 0 }.append_to(&mut raw);
        }
        fill(&mut raw, n);
        if raw.len() >= BLOCK_TARGET_BYTES || n + 1 == commands {
            encoder.encode_into(&raw, &mut file).expect("a block of a MiB fits");
            raw.clear();
            number += 1;
        }
    }
    file
}

fn record(raw: &mut Vec<u8>, id: u16, flags: u16, payload: &[u32]) {
    let header = Header::new(id, flags, atom::HEADER_LEN + payload.len() as u32 * 4);
    raw.extend_from_slice(&header.0.to_le_bytes());
    payload.iter().for_each(|word| raw.extend_from_slice(&word.to_le_bytes()));
    raw.resize(raw.len().next_multiple_of(8), 0);
}

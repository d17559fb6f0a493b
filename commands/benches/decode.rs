//! Time to decode the descriptions of this build: `cargo bench -p gapii-commands`. As a test it decodes them once.

use std::time::Instant;

use gapii_commands::Descriptions;

const TEXT: &str = include_str!("../src/generated/descriptions.txt");

fn main() {
    // Cargo passes this to benchmarks, and not to tests.
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    let runs = if is_measured { 100 } else { 1 };
    let mut times: Vec<_> = (0..runs)
        .map(|_| {
            let begin = Instant::now();
            let decoded = Descriptions::decode(TEXT).expect("the generated file is well-formed");
            let took = begin.elapsed();
            assert!(!decoded.functions.is_empty());
            took
        })
        .collect();
    times.sort_unstable();
    println!("{} bytes, median of {runs} runs: {:?}", TEXT.len(), times[runs / 2]);
}

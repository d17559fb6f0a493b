//! Time to decode the descriptions of this build: `cargo bench -p gapii-commands`.

use std::time::Instant;

use gapii_commands::Descriptions;

const TEXT: &str = include_str!("../src/generated/descriptions.txt");
const RUNS: usize = 100;

fn main() {
    let mut times: Vec<_> = (0..RUNS)
        .map(|_| {
            let begin = Instant::now();
            let decoded = Descriptions::decode(TEXT).expect("the generated file is well-formed");
            let took = begin.elapsed();
            assert!(!decoded.functions.is_empty());
            took
        })
        .collect();
    times.sort_unstable();
    println!("{} bytes, median of {RUNS} runs: {:?}", TEXT.len(), times[RUNS / 2]);
}

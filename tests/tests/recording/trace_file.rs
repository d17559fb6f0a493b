//! A trace as a file: opened by other tools, cut, damaged. The long forms are in the soak run.

use std::path::Path;
use std::process::Command as Process;

use gapii_tests::bench::{self, Load, On, Way};
use gapii_tests::damage::{Sample, assert_rejected};
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::random::Random;
use gapii_tests::stream;

/// Rounds of each thread of the sample, which has about 80,000 commands in four blocks then.
const ROUNDS: u32 = 4_000;

#[test]
fn zstd_opens_a_trace_and_finds_every_record() {
    let sample = Sample::record(ROUNDS);
    let trace = sample.trace();
    let records = stream::unpack(&stream::decompress_file(&trace.path));
    let counts = stream::count(&records);
    let commands = trace.commands();
    assert_eq!(counts.effects, sample.effects());
    assert_eq!(counts.effects, commands.len() as u64);
    assert_eq!(trace.info()["commands"], counts.effects);
    assert_eq!(trace.info()["raw_bytes"], records.len());
}

#[test]
fn immediate_mode_takes_the_arguments_and_at_most_four_bytes_before_compression() {
    // A glBegin, four glColor3f, four glVertex3f and a glEnd: 100 bytes of arguments.
    const ARGUMENTS: f64 = 10.0;
    let load = Load::sustained(1, 300_000).immediate();
    let sample = bench::sample(On::Bare, Way::Captured, load);
    assert_eq!(sample.lost_calls, 0);
    let bytes = sample.uncompressed_per_call;
    assert!(bytes <= ARGUMENTS + 4.0, "{bytes} bytes a command");
}

#[test]
fn cut_trace_lists_every_whole_block() {
    let sample = Sample::record(ROUNDS);
    let mut random = Random::seeded("cut");
    for number in 0..60 {
        sample.check_cut(random.below(sample.len()), number % 10 == 0);
    }
}

#[test]
fn changed_byte_is_noticed() {
    let sample = Sample::record(ROUNDS);
    let mut random = Random::seeded("flip");
    for _ in 0..30 {
        sample.check_flip(&mut random);
    }
}

#[test]
fn file_that_is_no_trace_is_rejected() {
    let session = Session::new();
    let check = |contents: &[u8]| {
        let path = session.path("not-a-trace");
        std::fs::write(&path, contents).unwrap();
        for question in ["info", "dump", "verify"] {
            assert_rejected(&Trace::new(path.clone()).ask(question, &[]), 1);
        }
    };
    check(b"");
    check(b"hello");
    check(&[0; 4096]);
    let mut zstd = Process::new("zstd");
    let packed = zstd.args(["-q", "-c"]).arg(program_text()).output().unwrap().stdout;
    check(&packed);
}

fn program_text() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs"))
}

//! Reads the fuzzers' committed inputs as ordinary tests. docs/trace-format.md says how to fuzz.

use std::fs;
use std::path::PathBuf;

use gapii_abi::atom::EndReason;
use gapii_trace::frame::TIMED_VERSION;
use gapii_trace::packed::Packer;

use crate::hostile::read_all;
use crate::writer::{small_file, small_trace};

fn corpus(target: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target)
}

/// The inputs that this code makes itself, by name.
fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let whole = small_file();
    let mut unended = small_trace();
    unended.end_block();
    let mut without_index = small_trace();
    without_index.end(EndReason::Stop, Vec::new());
    vec![
        ("whole", whole.clone()),
        ("cut", whole[..whole.len() - 100].to_vec()),
        ("without-footer", unended.file),
        ("without-index", without_index.finish_without_index()),
        ("crash", crate::json::crash()),
        ("timed", crate::timed::timed_file(TIMED_VERSION)),
        ("tracers", crate::tracers::traced_file()),
        ("described", crate::descriptions::described_by_another_build()),
    ]
}

#[test]
fn corpus_of_files_is_read_or_refused() {
    let folder = corpus("trace_file");
    let mut count = 0;
    for entry in fs::read_dir(&folder).expect("protocol/fuzz/corpus/trace_file is committed") {
        read_all(&fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= seeds().len(), "{count} inputs in {}", folder.display());
}

#[test]
fn corpus_of_blocks_is_read_or_refused() {
    let folder = corpus("trace_block");
    let header = crate::writer::header().encode().unwrap();
    for entry in fs::read_dir(&folder).expect("protocol/fuzz/corpus/trace_block is committed") {
        let raw = fs::read(entry.unwrap().path()).unwrap();
        let block = gapii_trace::encode_block(&raw, 1).unwrap();
        read_all(&[header.clone(), block].concat());
    }
}

/// `cargo test -p gapii-trace --test trace -- --ignored write_seeds`
#[test]
#[ignore = "writes the seeds of the committed corpus"]
fn write_seeds() {
    fs::create_dir_all(corpus("trace_file")).unwrap();
    fs::create_dir_all(corpus("trace_block")).unwrap();
    for (name, file) in seeds() {
        let mut reader = crate::writer::open(&file);
        let blocks = if matches!(name, "whole" | "crash" | "timed" | "tracers") {
            reader.blocks().len()
        } else {
            0
        };
        for index in 0..blocks {
            let mut raw = Vec::new();
            reader.read_block(index, &mut raw).unwrap();
            if let Some(packed) = Packer::default().pack(&raw) {
                fs::write(corpus("trace_block").join(format!("packed-{name}-{index}")), packed)
                    .unwrap();
            }
            fs::write(corpus("trace_block").join(format!("{name}-{index}")), raw).unwrap();
        }
        fs::write(corpus("trace_file").join(name), file).unwrap();
    }
}

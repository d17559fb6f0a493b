//! The consumer and the merge against an application that writes arbitrary bytes into its segment.
//!
//! `cargo +nightly fuzz run consumer` in `ringbuf/`. The seeds in `corpus/consumer` also run as
//! ordinary tests, in `ringbuf/tests/all/corpus.rs`.

#![no_main]

#[path = "../hostile_ring.rs"]
mod hostile_ring;

libfuzzer_sys::fuzz_target!(|input: &[u8]| hostile_ring::check(input));

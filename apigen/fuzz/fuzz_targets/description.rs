//! Compiles arbitrary text as a description of the toy API.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/survive/mod.rs"]
mod survive;

fuzz_target!(|text: &str| survive::survive(text));

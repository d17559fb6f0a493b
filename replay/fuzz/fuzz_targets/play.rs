//! Fuzz target: plays arbitrary bytes as commands, with a fake driver that accesses the memory that
//! it is given.

#![no_main]

#[path = "../fake_driver.rs"]
mod fake_driver;
#[path = "../played.rs"]
mod played;
#[path = "../script.rs"]
mod script;

libfuzzer_sys::fuzz_target!(|input: &[u8]| played::check(input));

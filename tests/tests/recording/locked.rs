//! Programs that lock their memory: rings that no thread uses take no memory.

use std::process::Command as Process;

use gapii_tests::fake_driver;
use gapii_tests::gapii::Session;
use gapii_tests::programs::program;

/// The most shared memory that three rings of 4 MiB and the pages of the daemon take, in KiB. All rings take 16 GiB.
const SHARED_MAX_KIB: u64 = 20 << 10;

#[track_caller]
fn unused_rings_take_no_memory(when: &str) {
    let session = Session::new();
    let mut process = Process::new(program("locks_memory"));
    process.arg(when);
    fake_driver::use_in(&mut process, None);
    let recording = session.record(&[], &process);
    let finished = recording.run.ok();
    let kib = finished.stdout.lines().find_map(|line| line.strip_prefix("shared "));
    let kib: u64 = kib.and_then(|kib| kib.parse().ok()).expect("a number");
    assert!(kib > 0 && kib <= SHARED_MAX_KIB, "{kib} KiB");
    recording.trace.is_whole("exit");
    let commands = recording.trace.commands();
    let numbered = commands.iter().filter(|command| command.name == "glStencilFunc").count();
    assert_eq!(numbered, 3000);
}

#[test]
fn unused_rings_of_a_program_that_locks_future_memory_take_none() {
    unused_rings_take_no_memory("before");
}

#[test]
fn unused_rings_of_a_program_that_locks_present_memory_take_none() {
    unused_rings_take_no_memory("after");
}

//! Runs a program without a display natively and recorded, and compares output and exit status.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command as Process;

use crate::display::surfaceless;
use crate::gapii::{Command, Recording, Session};
use crate::process::{Finished, run};

/// `program` with `arguments`, on llvmpipe and no display.
pub fn offscreen<I: AsRef<OsStr>>(
    program: &Path,
    arguments: impl IntoIterator<Item = I>,
) -> Process {
    let mut command = Process::new(program);
    command.args(arguments);
    surfaceless(&mut command);
    command
}

/// Runs `program` natively and recorded; output and exit status must be the same.
#[track_caller]
pub fn behaves_as_natively(session: &Session, program: &mut Process) -> Recording {
    let native = run(program);
    let recording = session.record(&[], program);
    same_behaviour(&native, &recording.run);
    recording
}

#[track_caller]
pub fn same_behaviour(native: &Finished, recorded: &Finished) {
    assert_eq!(recorded.stdout, native.stdout, "natively: {native}\nrecorded: {recorded}");
    assert_eq!(
        recorded.shell_status(),
        native.shell_status(),
        "natively: {native}\nrecorded: {recorded}"
    );
}

/// Names of the commands of one thread.
pub fn names_of_thread(commands: &[Command], thread: i64) -> Vec<&str> {
    let of_thread = commands.iter().filter(|command| command.tid == thread);
    of_thread.map(|command| &*command.name).collect()
}

/// Names of all commands.
pub fn names(commands: &[Command]) -> Vec<&str> {
    commands.iter().map(|command| &*command.name).collect()
}

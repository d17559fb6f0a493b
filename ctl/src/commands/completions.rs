//! `completions`: prints the completion script for a shell, of the name under which this program was called.

use std::path::Path;

use clap::{Args, Command};
use clap_complete::Shell;
use gapii_package::{CTL, CTL_SHORT};

use crate::failure::Failure;
use crate::text;

#[derive(Args, Debug)]
pub struct Completions {
    /// Shell to generate completions for
    shell: Shell,
}

/// Prints the script for `command_line`.
pub fn run(args: &Completions, command_line: Command) -> Result<u8, Failure> {
    let script = script(args.shell, command_line, called());
    text::print(|out| out.write_all(&script))?;
    Ok(0)
}

/// Returns the script with which `shell` completes the command line of `program`.
pub fn script(shell: Shell, mut command_line: Command, program: &str) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command_line, program, &mut script);
    script
}

/// The name of this program with which it was called.
fn called() -> &'static str {
    let word = std::env::args_os().next().unwrap_or_default();
    let is_short = Path::new(&word).file_name().is_some_and(|name| name == CTL_SHORT);
    if is_short { CTL_SHORT } else { CTL }
}

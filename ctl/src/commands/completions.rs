//! `completions`: prints the completion script for a shell.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::failure::Failure;
use crate::text;

#[derive(Args, Debug)]
pub struct Completions {
    /// Shell to generate completions for
    shell: Shell,
}

/// Prints the script for `command_line`.
pub fn run(args: &Completions, mut command_line: Command) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command_line, "gapii-ctl", &mut script);
    text::print(|out| out.write_all(&script))?;
    Ok(0)
}

//! `completions`: prints what a shell needs to complete our command lines.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::failure::Failure;
use crate::text;

#[derive(Args, Debug)]
pub struct Completions {
    /// The shell to complete in
    shell: Shell,
}

pub fn run(args: &Completions) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "gapii-ctl", &mut script);
    text::print(|out| out.write_all(&script))?;
    Ok(0)
}

//! `bench` and `soak`: programs of the test crate, run against a fresh release build.

use clap::Args;

use crate::tree::Profile;
use crate::{build, packages, step};

#[derive(Args)]
pub struct Arguments {
    /// Handed on to the program
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub fn run(program: &str, args: &Arguments) -> anyhow::Result<()> {
    let of_program = if program == "bench" { packages::BENCH } else { &[] };
    packages::install(&[packages::DEMO, packages::TEST, of_program])?;
    build::product(Profile::Release)?;
    let run = ["run", "--quiet", "--release", "-p", "gapii-tests", "--bin", program, "--"];
    step::run(step::cargo(&run).args(&args.arguments))
}

//! `check-fleet`: the programs for many traces and many machines. Their lints and tests; uploads to an S3 server, behind a proxy that
//! fails; then traces are recorded, and what other people's code reads of their tables is compared with what `gapii-ctl` prints. Not
//! part of `test`, because it downloads, and because the crates of Parquet and of object stores are built for nothing else.

mod tables;
mod uploads;

use clap::Args;

use crate::own_workspace::FLEET;

#[derive(Args)]
pub struct Fleet {
    /// Compare the tables of 100 traces, also in Spark, and replay the traces with Ray
    #[arg(long)]
    engines: bool,
}

pub fn run(args: &Fleet) -> anyhow::Result<()> {
    FLEET.check()?;
    uploads::check()?;
    tables::check(args.engines)
}

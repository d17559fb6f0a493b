//! `blob`: writes a blob of a trace (recorded memory) to a file, selected by its hash or a unique beginning of it.
//! Several fitting blobs are refused with up to four of their hashes; a blob is not written to a terminal.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use gapii_trace::BlobName;
use gapii_trace::blobs::{BlobEntry, NamePrefix};
use gapii_trace::store::BlobError;
use rustix::{stdio, termios};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Force, Json, Trace};
use crate::failure::Failure;
use crate::finished_file::{self, FinishedFile};
use crate::text;
use crate::trace_file::{self, unreadable};

/// Largest number of hashes that are listed when a prefix is ambiguous.
const LISTED_MAX: usize = 4;

#[derive(Args, Debug)]
pub struct Blob {
    #[command(flatten)]
    trace: Trace,

    /// Hash of the blob as `dump` shows it, or a unique prefix
    #[arg(value_name = "HASH")]
    hash: NamePrefix,

    /// File to write, or - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,

    #[command(flatten)]
    force: Force,

    /// Print a description as JSON; write the bytes only if -o is given
    #[command(flatten)]
    json: Json,
}

/// Description of a blob, without its bytes.
#[derive(Serialize, JsonSchema)]
pub struct Described {
    /// Hash of the blob, in hexadecimal.
    #[schemars(with = "String")]
    hash: BlobName,
    /// Bytes of the blob.
    size: u64,
    /// Index of the block in which the blob begins.
    block: u32,
}

pub fn run(args: &Blob) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    let reader = trace_file::open(path)?;
    let found = reader.blobs_named(&args.hash, LISTED_MAX + 1);
    let blob = only(&found.map_err(|error| unreadable(path, &error))?, args)?;
    let bytes = reader.blob(blob.name).map_err(|error| match error {
        BlobError::Io(error) => unreadable(path, &error),
        error => Failure::answer(format!("{}: {error}", path.display())),
    })?;
    let to_standard_output = args.output.as_os_str() == "-";
    if !to_standard_output {
        write_file(args, &bytes)?;
    }
    if args.json.json {
        text::print_json(&Described { hash: blob.name, size: blob.size, block: blob.block })?;
    } else if to_standard_output {
        if termios::isatty(stdio::stdout()) {
            return Err(Failure::usage(
                "a blob is not written to a terminal; redirect standard output or name a file with `-o FILE`",
            ));
        }
        text::print(|out| out.write_all(&bytes))?;
    }
    Ok(0)
}

/// Returns the blob that a hash or prefix selects.
fn only(found: &[BlobEntry], args: &Blob) -> Result<BlobEntry, Failure> {
    let (name, hash) = (args.trace.trace.display(), &args.hash);
    match found {
        [] => Err(Failure::no(format!(
            "{name} has no blob whose hash begins with {hash}; smaller memory than 512 bytes stands in its command, and blobs have \
             \"blob\":true beside their hash in `gapii-ctl dump {name} --json`"
        ))),
        [blob] => Ok(*blob),
        many => {
            let mut names: Vec<_> = many.iter().map(|blob| blob.name.to_string()).collect();
            if names.len() > LISTED_MAX {
                names[LISTED_MAX] = "others".to_owned();
            }
            let names = names.join(", ");
            Err(Failure::usage(format!(
                "{hash} is the beginning of several hashes: {names}; type more digits: `gapii-ctl blob {name} HASH`"
            )))
        }
    }
}

/// Writes a file that gets its name when it is complete.
fn write_file(args: &Blob, bytes: &[u8]) -> Result<(), Failure> {
    let path = &args.output;
    let mut file = FinishedFile::create(path, args.force.force)?;
    let written = file.write_all(bytes).and_then(|()| file.finish());
    written.map_err(|error| finished_file::writing_failure(path, &error))
}

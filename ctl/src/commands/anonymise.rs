//! `anonymise`: writes a trace again without its contents, so that it can be given away. The noise has a random key that nobody
//! is told. A trace with damage, or with something that this build does not understand, is refused (status 1), and no file is
//! left; one that is cut is written up to there, and is status 1, too.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use gapii_analysis::anonymise::{AnonymiseError, Anonymised, Keep, anonymise};
use gapii_trace::reader::BlockError;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Force, Json, Trace};
use crate::failure::Failure;
use crate::finished_file::{self, FinishedFile};
use crate::launch;
use crate::reading_progress::ReadingProgress;
use crate::text::{self, counted};
use crate::trace_file::{self, unreadable};

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl anonymise x.gapii -o y.gapii                      then `stats`, `dump`, `diff`, `ui` read y.gapii
  gapii-ctl anonymise x.gapii -o y.gapii --keep driver,marks  with the driver's names and the program's debug groups

Noise replaces texts (sources, labels, names, logs), memory (vertices, pixels, kernels), numbers of floating point, and what \
names the program, its files, and its processes. Commands, order, times, sizes, enumerants and names of objects stay. Noise \
can't be replayed.";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Anonymise {
    #[command(flatten)]
    trace: Trace,

    /// Trace to write, or - for standard output
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// Leave something as it is; may be repeated
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    keep: Vec<Kept>,

    #[command(flatten)]
    force: Force,

    #[command(flatten)]
    json: Json,
}

/// What can stay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Kept {
    /// Texts with which drivers of EGL, GLX and OpenGL describe themselves: names, versions, extensions
    Driver,
    /// Names and paths of programs, and names of threads
    Program,
    /// Texts of debug groups, marks and labels
    Marks,
}

/// A trace that was written without its contents.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// Trace that was written.
    output: PathBuf,
    /// Texts in memory that became noise.
    texts: u64,
    /// Bytes of memory that were replaced, or looked at and kept.
    memory_bytes: u64,
    /// Bytes of the file.
    file_bytes: u64,
}

pub fn run(args: &Anonymise) -> Result<u8, Failure> {
    args.json.must_have_standard_output(&args.output)?;
    let path = &args.trace.trace;
    let mut reader = trace_file::open(path)?;
    must_be_another(path, &args.output)?;
    finished_file::check(&args.output, "a trace")?;
    let keep = Keep {
        driver: args.keep.contains(&Kept::Driver),
        program: args.keep.contains(&Kept::Program),
        marks: args.keep.contains(&Kept::Marks),
    };
    let key = launch::random()
        .map_err(|error| Failure::system(format!("can't read /dev/urandom: {error}")))?;
    let file = FinishedFile::create(&args.output, args.force.force)?;
    let mut out = BufWriter::with_capacity(256 << 10, file);
    let mut progress = ReadingProgress::of_blocks(2 * reader.blocks().len() as u64);
    let written = anonymise(&mut reader, &mut out, (key, keep), |read| progress.set(read));
    progress.clear();
    let Anonymised { texts, bytes, file_bytes } = written.map_err(|error| failed(args, error))?;
    let unwritable = |error: &io::Error| finished_file::writing_failure(&args.output, error);
    let file = out.into_inner().map_err(|error| unwritable(error.error()))?;
    file.finish().map_err(|error| unwritable(&error))?;
    let output = args.output.clone();
    let answer = Answer { output, texts, memory_bytes: bytes, file_bytes };
    match args.json.json {
        true => text::print_json(&answer)?,
        false => {
            let (texts, name) = (counted(texts, "text"), finished_file::name_of(&args.output));
            text::say(&format!("{texts} and {bytes} bytes of memory without contents -> {name}"));
        }
    }
    trace_file::judge_tail(path, reader.tail())?;
    Ok(0)
}

/// Fails if the trace would be written over itself.
fn must_be_another(path: &Path, output: &Path) -> Result<(), Failure> {
    match trace_file::is_same(path, output) {
        true => Err(Failure::usage(format!(
            "{} is the trace itself; choose another name with `-o FILE`",
            output.display()
        ))),
        false => Ok(()),
    }
}

fn failed(args: &Anonymise, error: AnonymiseError) -> Failure {
    let path = &args.trace.trace;
    match error {
        AnonymiseError::Write(error) => finished_file::writing_failure(&args.output, &error),
        AnonymiseError::Read(BlockError::Io(error)) => unreadable(path, &error),
        error => Failure::answer(format!(
            "{} can't be written without its contents: {error}",
            path.display()
        )),
    }
}

//! Summaries and verified replays of traces, as values of JSON.

use std::fs::File;
use std::path::Path;

use gapii_replay::verify::Verifier;
use gapii_replay::{Options, Quiet, SystemLoader, replay};
use gapii_trace::{Info, Tail, TraceReader};
use serde_json::{Value, json};

fn open(path: &Path) -> Result<TraceReader<File>, String> {
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    TraceReader::open(file).map_err(|error| error.to_string())
}

/// The summary of a trace.
pub fn info(path: &Path) -> Result<Value, String> {
    let info = Info::of(&mut open(path)?).map_err(|error| error.to_string())?;
    Ok(json!({ "info": info }))
}

/// Plays a trace on the driver of this machine, and compares answers and frames.
pub fn play(path: &Path, loader: &SystemLoader) -> Result<Value, String> {
    let mut reader = open(path)?;
    let options = Options { verify: Verifier::on(), ..Options::default() };
    let report =
        replay(&mut reader, loader, options, &mut Quiet).map_err(|error| error.to_string())?;
    let tail = match reader.tail() {
        Tail::Complete => None,
        other => Some(format!("{other:?}")),
    };
    Ok(json!({ "report": report, "tail": tail }))
}

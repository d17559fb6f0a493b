//! Summaries and verified replays of traces, as values of JSON.

use std::fs::File;
use std::path::{Path, PathBuf};

use gapii_replay::verify::Verifier;
use gapii_replay::{Options, Quiet, SystemLoader, replay};
use gapii_trace::{Info, Tail, TraceReader};
use serde_json::{Value, json};

/// The driver's libraries, and the trace that was summarized last: it takes long to open one.
#[derive(Default)]
pub struct Traces {
    loader: SystemLoader,
    opened: Option<(PathBuf, TraceReader<File>)>,
}

impl Traces {
    /// Returns the summary of a trace.
    pub fn info(&mut self, path: &Path) -> Result<Value, String> {
        let mut reader = open(path)?;
        let info = Info::of(&mut reader).map_err(|error| error.to_string())?;
        self.opened = Some((path.to_owned(), reader));
        Ok(json!({ "info": info }))
    }

    /// Plays a trace on the driver of this machine, and compares answers and frames.
    pub fn play(&mut self, path: &Path) -> Result<Value, String> {
        let opened = self.opened.take().filter(|(known, _)| known == path);
        let mut reader = opened.map_or_else(|| open(path), |(_, reader)| Ok(reader))?;
        let options = Options { verify: Verifier::on(), ..Options::default() };
        let report = replay(&mut reader, &self.loader, options, &mut Quiet);
        let report = report.map_err(|error| error.to_string())?;
        let tail = match reader.tail() {
            Tail::Complete => None,
            other => Some(format!("{other:?}")),
        };
        Ok(json!({ "report": report, "tail": tail }))
    }
}

fn open(path: &Path) -> Result<TraceReader<File>, String> {
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    TraceReader::open(file).map_err(|error| error.to_string())
}

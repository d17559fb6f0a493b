//! `Answer`: what an export has done, for people and as JSON (docs/tables.md has the fields).

use std::fmt::Write;

use serde::Serialize;

use crate::schema::{self, TABLES};
use crate::trace_tables::Exported;

/// What an export has done.
#[derive(Debug, Default, Serialize)]
pub struct Answer {
    /// Version of gapii's JSON output; the caller tells it.
    json_version: u32,
    /// Version of the tables.
    schema: u32,
    /// Folder or URL with the tables.
    output: String,
    /// Traces whose tables were written.
    traces: u64,
    /// Traces that were given a second time, and passed over.
    repeated: u64,
    /// Files that were written.
    files: u64,
    /// Bytes of these.
    bytes: u64,
    /// Bytes of the traces.
    trace_bytes: u64,
    /// Rows by table.
    rows: serde_json::Map<String, serde_json::Value>,
    /// Traces of which only a part could be read. They are among `traces`.
    damaged: Vec<Fault>,
    /// Traces that are not exported.
    failed: Vec<Fault>,
}

/// What is wrong with a trace.
#[derive(Debug, Serialize)]
struct Fault {
    /// Its path or URL.
    file: String,
    /// What is wrong.
    why: String,
}

impl Answer {
    /// Begins, for the tables in `output`.
    pub fn new(json_version: u32, output: &str) -> Self {
        let rows = TABLES.map(|table| (table.name.to_owned(), 0.into())).into_iter().collect();
        let output = output.to_owned();
        Self { json_version, schema: schema::VERSION, output, rows, ..Self::default() }
    }

    /// Adds a trace.
    pub fn add(&mut self, file: &str, exported: Exported) {
        if exported.is_repeated {
            self.repeated += 1;
            return;
        }
        self.traces += 1;
        self.files += exported.files;
        self.bytes += exported.bytes;
        self.trace_bytes += exported.trace_bytes;
        for (table, more) in TABLES.iter().zip(exported.rows) {
            let rows = self.rows.get(table.name).and_then(serde_json::Value::as_u64).unwrap_or(0);
            self.rows.insert(table.name.to_owned(), (rows + more).into());
        }
        if let Some(why) = exported.damage {
            self.damaged.push(Fault { file: file.to_owned(), why });
        }
    }

    /// Adds a trace that is not exported.
    pub fn fail(&mut self, file: &str, why: String) {
        self.failed.push(Fault { file: file.to_owned(), why });
    }

    /// Sorts what is listed, because traces are read side by side.
    pub fn sort(&mut self) {
        self.damaged.sort_by(|a, b| a.file.cmp(&b.file));
        self.failed.sort_by(|a, b| a.file.cmp(&b.file));
    }

    /// Traces whose tables were written.
    pub fn traces(&self) -> u64 {
        self.traces
    }

    /// Whether each trace was exported, and whole.
    pub fn is_whole(&self) -> bool {
        self.damaged.is_empty() && self.failed.is_empty()
    }

    /// Returns the sentences for people.
    pub fn describe(&self) -> String {
        let Self { traces, files, bytes, output, .. } = self;
        let mut text = format!("wrote {} to {output}", counted(*traces, "trace"));
        let rows = self.rows.iter().filter(|(table, _)| *table != "traces");
        let rows: Vec<_> = rows
            .filter(|(_, rows)| rows.as_u64() != Some(0))
            .map(|(table, rows)| format!("{rows} {table}"))
            .collect();
        if !rows.is_empty() {
            _ = write!(text, ": {}", rows.join(", "));
        }
        _ = writeln!(text, "; {}, {bytes} bytes", counted(*files, "file"));
        if self.repeated > 0 {
            let repeated = counted(self.repeated, "trace");
            _ = writeln!(text, "passed over {repeated} with the contents of another one");
        }
        if !self.damaged.is_empty() {
            let damaged = counted(self.damaged.len() as u64, "trace");
            _ = writeln!(text, "{damaged} cut or damaged: their tables have the part before");
        }
        if !self.failed.is_empty() {
            let failed = counted(self.failed.len() as u64, "trace");
            _ = writeln!(text, "{failed} not exported");
        }
        text
    }
}

fn counted(count: u64, thing: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{s}")
}

//! The tables and their columns: one list, from which files, docs/tables.md and its test are made.
//!
//! Numbers are signed, because Spark reads unsigned ones of 64 bits as decimals; only handles and names of objects are not. A
//! count above 2^63 - 1 is written as 2^63 - 1.

/// Version of the tables. It rises if a column changes its meaning or goes, not if one is added.
pub const VERSION: u32 = 1;

/// A table.
#[derive(Debug)]
pub struct Table {
    /// Its name, the value of `table=` in paths.
    pub name: &'static str,
    /// One row for what.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test writes docs/tables.md"))]
    pub about: &'static str,
    /// The columns, in their order.
    pub columns: &'static [Column],
}

/// A column.
#[derive(Debug)]
pub struct Column {
    /// Its name, which ends with the unit, if it has one.
    pub name: &'static str,
    /// Type of its values.
    pub kind: Kind,
    /// Whether a row may lack the value.
    pub is_optional: bool,
    /// What it is.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test writes docs/tables.md"))]
    pub about: &'static str,
}

/// Type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number that is not negative.
    Number,
    /// A handle or a name of an object: all 64 bits.
    Handle,
    /// True or false.
    Flag,
    /// Text, of at most 4,096 bytes (arguments: 65,536).
    Text,
    /// A moment, in microseconds of Unix time.
    Moment,
    /// Numbers.
    Numbers,
    /// Texts.
    Texts,
    /// Texts by their names.
    Tags,
}

impl Kind {
    /// Its name in the document.
    #[cfg(test)]
    fn name(self) -> &'static str {
        match self {
            Kind::Number => "int64",
            Kind::Handle => "uint64",
            Kind::Flag => "boolean",
            Kind::Text => "string",
            Kind::Moment => "timestamp, µs, UTC",
            Kind::Numbers => "list of int64",
            Kind::Texts => "list of string",
            Kind::Tags => "map from string to string",
        }
    }
}

const fn column(name: &'static str, kind: Kind, about: &'static str) -> Column {
    Column { name, kind, is_optional: false, about }
}

const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Column {
    Column { name, kind, is_optional: true, about }
}

const TRACE: Column = column("trace", Kind::Text, "Digest of the trace: 32 hexadecimal digits.");
const PROCESS: Column = column("process", Kind::Number, "Index of the process in the trace.");

/// One row for each trace.
pub const TRACES: Table = Table {
    name: "traces",
    about: "one row for each trace",
    columns: &[
        TRACE,
        column("file", Kind::Text, "Path or URL under which the trace was read."),
        column("program", Kind::Text, "The kernel's name for the first process; empty if unknown."),
        column("exe", Kind::Text, "Path of its executable; empty if unknown."),
        optional("pid", Kind::Number, "Its process id."),
        column("processes", Kind::Number, "Processes."),
        column("threads", Kind::Number, "Threads with records."),
        column("command_line", Kind::Texts, "The command line that led to the capture."),
        column("apis", Kind::Texts, "APIs with commands: `egl`, `gl`, `glx`, `level_zero`."),
        optional("renderer", Kind::Text, "`GL_RENDERER` of the first context."),
        optional("driver_version", Kind::Text, "`GL_VERSION` of the first context."),
        column("drivers", Kind::Number, "Different drivers."),
        optional("surface_width", Kind::Number, "Width of the first surface, in pixels."),
        optional("surface_height", Kind::Number, "Height of the first surface, in pixels."),
        column("tags", Kind::Tags, "What `--tag` gave: a build, a scene, a device."),
        optional("began", Kind::Moment, "Time of the first record."),
        optional("duration_ns", Kind::Number, "From the first record to the end."),
        column("frames", Kind::Number, "Frames that ended, over all processes."),
        column("commands", Kind::Number, "Commands that the program called."),
        column("setup_commands", Kind::Number, "Commands of snapshots. No other count has them."),
        column("draws", Kind::Number, "Draws."),
        column("dispatches", Kind::Number, "Compute dispatches."),
        column("state_changes", Kind::Number, "Commands that only set state."),
        column(
            "redundant_changes",
            Kind::Number,
            "State changes that set the current value again.",
        ),
        column(
            "uploaded_bytes",
            Kind::Number,
            "Bytes that the program passed to the driver for buffers and textures.",
        ),
        column(
            "client_bytes",
            Kind::Number,
            "Bytes that draws read from the program's own memory.",
        ),
        column(
            "read_back_bytes",
            Kind::Number,
            "Bytes that the driver wrote into the program's memory.",
        ),
        optional("driver_ns", Kind::Number, "The driver's time; from a trace with `--timing`."),
        optional("gpu_ns", Kind::Number, "The GPU's time; from a trace with `--gpu-timing`."),
        optional(
            "end_reason",
            Kind::Text,
            "Why the stream ended; missing if the file does not have the end.",
        ),
        optional("signal", Kind::Number, "The signal that ended the program."),
        column("is_complete", Kind::Flag, "Whether the file is as its writer finished it."),
        optional(
            "damage",
            Kind::Text,
            "Where the file is cut or damaged. Its rows are those of the part before.",
        ),
        column(
            "is_filtered",
            Kind::Flag,
            "Whether it was recorded with a filter, and so lacks commands.",
        ),
        column("is_anonymised", Kind::Flag, "Whether its texts and memory are noise."),
        column(
            "lost_commands",
            Kind::Number,
            "Commands that were called and are not in the trace.",
        ),
        column("lost_bytes", Kind::Number, "Bytes of records that are not in the trace."),
        column("errors", Kind::Number, "Problems of the severity `error`."),
        column("warnings", Kind::Number, "Problems of the severity `warning`."),
        column("notes", Kind::Number, "Problems of the severity `note`."),
        column(
            "objects_left_out",
            Kind::Number,
            "Touches of objects that the table `objects` lacks, because more than 1,048,576 lived.",
        ),
        column("file_bytes", Kind::Number, "Bytes of the file."),
        column("raw_bytes", Kind::Number, "Bytes of its records before compression."),
        column("format_version", Kind::Number, "Version of the trace format."),
        column("writer", Kind::Text, "Name and version of the program that wrote the trace."),
    ],
};

/// One row for each frame.
pub const FRAMES: Table = Table {
    name: "frames",
    about: "one row for each frame of a process",
    columns: &[
        TRACE,
        PROCESS,
        column("frame", Kind::Number, "Number of the frame, from 0."),
        column(
            "is_complete",
            Kind::Flag,
            "Whether the frame ended; false for the commands behind the last one.",
        ),
        optional("ended", Kind::Moment, "When it ended."),
        optional(
            "duration_ns",
            Kind::Number,
            "Time since the end of the frame before, of the same process.",
        ),
        column("commands", Kind::Number, "Commands."),
        column("draws", Kind::Number, "Draws."),
        column(
            "uploaded_bytes",
            Kind::Number,
            "Bytes that the program passed to the driver for buffers and textures.",
        ),
        optional("driver_ns", Kind::Number, "The driver's time."),
        optional("gpu_ns", Kind::Number, "The GPU's time for the frame's commands."),
    ],
};

/// One row for each function.
pub const FUNCTIONS: Table = Table {
    name: "functions",
    about: "one row for each function that a trace has commands of",
    columns: &[
        TRACE,
        column("function", Kind::Text, "Name of the function."),
        column("commands", Kind::Number, "Calls."),
        column("read_bytes", Kind::Number, "Bytes that the calls read from the program's memory."),
        column(
            "written_bytes",
            Kind::Number,
            "Bytes that the calls wrote into the program's memory.",
        ),
        column(
            "redundant",
            Kind::Number,
            "Calls that only set state, and set the current value again.",
        ),
        column("driver_commands", Kind::Number, "Calls with a time in the driver."),
        optional("driver_ns", Kind::Number, "Sum of these times."),
        optional("driver_max_ns", Kind::Number, "Longest of them."),
        column("gpu_commands", Kind::Number, "Executions with a time on the GPU."),
        optional("gpu_ns", Kind::Number, "Sum of these times."),
        optional("gpu_max_ns", Kind::Number, "Longest of them."),
    ],
};

/// One row for each object.
pub const OBJECTS: Table = Table {
    name: "objects",
    about: "one row for each object of EGL and OpenGL",
    columns: &[
        TRACE,
        PROCESS,
        column(
            "kind",
            Kind::Text,
            "Kind of object, such as `Texture`; the list is that of `gapii-ctl history`.",
        ),
        column("name", Kind::Handle, "Its name, or its handle."),
        optional(
            "context",
            Kind::Handle,
            "Handle of the context in which it was first used; missing for an object that belongs to no context.",
        ),
        optional(
            "made_seq",
            Kind::Number,
            "Number of the command that made it; missing if the trace does not have it.",
        ),
        optional("made_frame", Kind::Number, "Frame of that command."),
        column("is_setup", Kind::Flag, "Whether a snapshot made it: it is older than the trace."),
        optional(
            "deleted_seq",
            Kind::Number,
            "Number of the command that deleted its name; missing if it has it at the end.",
        ),
        optional("deleted_frame", Kind::Number, "Frame of that command."),
        column(
            "changes",
            Kind::Number,
            "Commands of the program that changed its state, perhaps to the same values.",
        ),
        column("uploads", Kind::Number, "Commands of the program that uploaded bytes into it."),
        column("uploaded_bytes", Kind::Number, "Bytes of these."),
        column("last_frame", Kind::Number, "Frame of the last command that changed or filled it."),
    ],
};

/// One row for each problem.
pub const PROBLEMS: Table = Table {
    name: "problems",
    about: "one row for each problem that `gapii-ctl problems` lists; at most 1,000 of a trace",
    columns: &[
        TRACE,
        column("kind", Kind::Text, "Sort of the problem, such as `api_error`."),
        column("severity", Kind::Text, "`error`, `warning` or `note`."),
        column("sentence", Kind::Text, "What is wrong, in one sentence."),
        optional("detail", Kind::Text, "A message or a log of the driver, or the worst case."),
        optional("seq", Kind::Number, "Number of the first command with the problem."),
        optional(
            "since",
            Kind::Number,
            "Number of the first command after which it can have happened, if that is another one.",
        ),
        optional(
            "process",
            Kind::Number,
            "Index of the process in the trace; missing for a problem of the trace.",
        ),
        optional("frame", Kind::Number, "Number of the first frame with the problem."),
        optional("last_frame", Kind::Number, "Number of the last frame with the problem."),
        optional("tid", Kind::Number, "Thread id of the first command."),
        column("count", Kind::Number, "Occurrences."),
        column("frames", Kind::Number, "Frames with the problem."),
        optional("bytes", Kind::Number, "Bytes that were passed in vain, for `repeated_upload`."),
        column("examples", Kind::Numbers, "Numbers of the first 16 commands with the problem."),
    ],
};

/// One row for each command.
pub const COMMANDS: Table = Table {
    name: "commands",
    about: "with `--commands`, one row for each command, also of snapshots",
    columns: &[
        TRACE,
        optional("seq", Kind::Number, "Number of the command; missing if it took no effect."),
        PROCESS,
        column("tid", Kind::Number, "Thread id of the operating system."),
        column("frame", Kind::Number, "Number of its frame."),
        column("context", Kind::Handle, "Handle of the current context, or 0."),
        column(
            "function",
            Kind::Text,
            "Name of the function; empty if the trace does not describe it.",
        ),
        column(
            "is_setup",
            Kind::Flag,
            "Whether it belongs to a snapshot: the program did not call it.",
        ),
        column("ends_frame", Kind::Flag, "Whether it ended the frame."),
        optional(
            "began",
            Kind::Moment,
            "When the driver was called; from a trace with `--timing`.",
        ),
        optional("driver_ns", Kind::Number, "How long the driver took."),
        optional("gpu_ns", Kind::Number, "How long the GPU took; of several executions the sum."),
        column(
            "uploaded_bytes",
            Kind::Number,
            "Bytes that it passed to the driver for buffers and textures.",
        ),
        optional(
            "arguments",
            Kind::Text,
            "With `--arguments`, the arguments as JSON, as `dump --json` has them; missing if they are longer than 65,536 bytes.",
        ),
    ],
};

/// All tables, in the order of the document.
pub const TABLES: [&Table; 6] = [&TRACES, &FRAMES, &FUNCTIONS, &OBJECTS, &PROBLEMS, &COMMANDS];

/// Returns the part of docs/tables.md that lists the columns.
#[cfg(test)]
fn document() -> String {
    use std::fmt::Write;
    let mut text = String::new();
    for table in TABLES {
        _ = writeln!(text, "### {}\n\n{}.\n", table.name, capitalized(table.about));
        text += "| column | type | meaning |\n|---|---|---|\n";
        for column in table.columns {
            let may = if column.is_optional { ", may be null" } else { "" };
            let (name, kind) = (column.name, column.kind.name());
            _ = writeln!(text, "| `{name}` | {kind}{may} | {} |", column.about);
        }
        text += "\n";
    }
    text
}

#[cfg(test)]
fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tables.md");
    const BEGIN: &str = "<!-- columns -->\n\n";
    const END: &str = "<!-- end -->\n";

    /// `GAPII_UPDATE_EXPECTED=1` writes the columns into the page.
    #[test]
    fn page_lists_the_columns() {
        let page = std::fs::read_to_string(PAGE).expect("docs/tables.md");
        let (before, rest) = page.split_once(BEGIN).expect("the page has columns");
        let (columns, after) = rest.split_once(END).expect("the columns end");
        if std::env::var_os("GAPII_UPDATE_EXPECTED").is_some() {
            let new = [before, BEGIN, &document(), END, after].concat();
            std::fs::write(PAGE, new).expect("docs/tables.md");
            return;
        }
        assert_eq!(
            columns,
            document(),
            "`GAPII_UPDATE_EXPECTED=1 cargo test` writes docs/tables.md anew"
        );
        assert!(before.contains(&format!("version {VERSION} ")), "the page states the version");
    }

    #[test]
    fn names_of_columns_are_plain_and_stand_once() {
        for table in TABLES {
            for (at, column) in table.columns.iter().enumerate() {
                let is_plain = |c: char| c.is_ascii_lowercase() || c == '_';
                assert!(column.name.chars().all(is_plain), "{}", column.name);
                let others = &table.columns[..at];
                assert!(others.iter().all(|it| it.name != column.name), "{}", column.name);
                assert!(!["table", "day", "host"].contains(&column.name), "a name of the path");
            }
        }
    }
}

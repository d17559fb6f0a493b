//! The tools that an agent can call, each a command of `gapii-ctl`, with the parameters that it takes.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as Described, ToolAnnotations};
use serde_json::{Value, json};

/// A tool.
#[derive(Debug)]
pub struct Tool {
    /// Name, as the agent calls it.
    pub name: &'static str,
    /// What it answers, for the agent.
    pub description: &'static str,
    /// Where the answer comes from.
    pub source: Source,
    /// Parameters, with those that are an operand of `gapii-ctl` in their order.
    pub params: &'static [Param],
    /// Whether it may be called only where recording is allowed.
    pub records: bool,
}

/// Where an answer comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The output of this command of `gapii-ctl` with `--json`.
    Command(&'static str),
    /// The pictures that a replay writes.
    Pictures,
    /// The list of traces.
    Traces,
}

/// A parameter of a tool.
#[derive(Debug)]
pub struct Param {
    /// Name, as the agent passes it.
    pub name: &'static str,
    /// What it means, for the agent.
    pub description: &'static str,
    /// What values it has.
    pub kind: Kind,
    /// The option of `gapii-ctl`; `None` for an operand.
    pub option: Option<&'static str>,
    /// What holds if it is left out.
    pub absent: Absent,
}

/// Kinds of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The name of a trace that is read.
    Trace,
    /// The name of a trace that is written.
    NewTrace,
    Text,
    Number,
    Truth,
}

/// What holds if a parameter is left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Absent {
    /// The call is refused.
    Refused,
    /// The option is left out.
    Omitted,
    /// The option has this value.
    Value(&'static str),
}

const fn operand(name: &'static str, kind: Kind, description: &'static str) -> Param {
    Param { name, description, kind, option: None, absent: Absent::Refused }
}

const fn option(
    name: &'static str,
    option: &'static str,
    kind: Kind,
    description: &'static str,
) -> Param {
    Param { name, description, kind, option: Some(option), absent: Absent::Omitted }
}

const TRACE: Param = operand("trace", Kind::Trace, "Trace file, as `traces` lists it.");
const AT: Param =
    option("at", "--at", Kind::Number, "Number of a command, as `commands` lists it.");
const FRAMES: Param =
    option("frames", "--frames", Kind::Text, "Frames: A..B (without B), A-B (with B), or A.");
const FUNCTION: Param = option(
    "function",
    "--function",
    Kind::Text,
    "Only this function; * and ? match, as in glDraw*.",
);
const ROWS: Param = Param {
    name: "top",
    description: "List only the first N; 100 if left out.",
    kind: Kind::Number,
    option: Some("--top"),
    absent: Absent::Value("100"),
};

/// All tools, in the order of the list.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "traces",
        description: "List the traces that can be asked about.",
        source: Source::Traces,
        params: &[],
        records: false,
    },
    Tool {
        name: "info",
        description: "Summarize a trace: program, driver, frames, commands, how it began and ended, what it lacks.",
        source: Source::Command("info"),
        params: &[TRACE],
        records: false,
    },
    Tool {
        name: "frames",
        description: "List the frames of a trace with the command that ended each, its number of commands and its duration.",
        source: Source::Command("frames"),
        params: &[
            TRACE,
            option("sort", "--sort", Kind::Text, "`duration` or `commands`: the largest first."),
            ROWS,
        ],
        records: false,
    },
    Tool {
        name: "commands",
        description: "List the commands of a trace in the order in which they took effect: number, thread, frame, function, arguments, result. Go on behind the last one with `commands`.",
        source: Source::Command("dump"),
        params: &[
            TRACE,
            FRAMES,
            option(
                "commands",
                "--commands",
                Kind::Text,
                "Commands by number: A..B (without B), A-B (with B), or A.",
            ),
            FUNCTION,
            option("thread", "--thread", Kind::Text, "Only this thread, by id or name."),
            ROWS,
        ],
        records: false,
    },
    Tool {
        name: "search",
        description: "Find the commands of a trace whose text has these characters: in the function's name, arguments, strings, results.",
        source: Source::Command("dump"),
        params: &[
            TRACE,
            Param {
                name: "text",
                description: "Characters, in upper or lower case.",
                kind: Kind::Text,
                option: Some("--match"),
                absent: Absent::Refused,
            },
            FRAMES,
            FUNCTION,
            ROWS,
        ],
        records: false,
    },
    Tool {
        name: "state",
        description: "Show the state that the program had set up after a command. Ask for `sections` first, then for one `section` or `object`.",
        source: Source::Command("state"),
        params: &[
            TRACE,
            AT,
            option(
                "frame",
                "--frame",
                Kind::Number,
                "Frame at whose end the state is shown, in place of `at`.",
            ),
            option(
                "since",
                "--since",
                Kind::Number,
                "Only what the commands after this one have changed.",
            ),
            option(
                "sections",
                "--sections",
                Kind::Truth,
                "List the names of the sections instead of their contents.",
            ),
            option(
                "section",
                "--section",
                Kind::Text,
                "Only this section, such as context.viewport; * and ? match.",
            ),
            option(
                "object",
                "--object",
                Kind::Text,
                "Only objects of a kind, or one, such as texture or texture:5.",
            ),
        ],
        records: false,
    },
    Tool {
        name: "history",
        description: "List the commands that made, filled, changed, used and deleted an object.",
        source: Source::Command("history"),
        params: &[
            TRACE,
            operand(
                "object",
                Kind::Text,
                "Kind and name, such as texture:5, program:3 or buffer:0x1f.",
            ),
            AT,
        ],
        records: false,
    },
    Tool {
        name: "picture",
        description: "Replay a trace up to a command and show the framebuffer that it drew to. It is made smaller if a side has more than 1,024 pixels.",
        source: Source::Pictures,
        params: &[
            TRACE,
            Param { absent: Absent::Refused, ..AT },
            option("before", "--before", Kind::Truth, "As it was before the command."),
        ],
        records: false,
    },
    Tool {
        name: "differences",
        description: "Compare two traces: commands and answers of the driver that differ, grouped by cause, and frames that look different.",
        source: Source::Command("diff"),
        params: &[
            TRACE,
            operand("other", Kind::Trace, "The trace that is compared with it."),
            option(
                "no_frames",
                "--no-frames",
                Kind::Truth,
                "Compare only commands and answers, which is quicker.",
            ),
        ],
        records: false,
    },
    Tool {
        name: "problems",
        description: "List what is wrong with a program: errors, failed shaders, slow frames, repeated uploads, stalls, leaks; each with a command.",
        source: Source::Command("problems"),
        params: &[TRACE, FRAMES],
        records: false,
    },
    Tool {
        name: "statistics",
        description: "Count the functions, frames, threads and memory of a trace, and state changes that changed nothing; with driver times if they were recorded.",
        source: Source::Command("stats"),
        params: &[TRACE, FUNCTION, ROWS],
        records: false,
    },
    Tool {
        name: "threads",
        description: "List the threads of a trace, and what happened to them: holds, waits, gaps, keyframes, and the marks that the program set.",
        source: Source::Command("threads"),
        params: &[TRACE, Param { name: "events", option: Some("--events"), ..ROWS }],
        records: false,
    },
    Tool {
        name: "programs",
        description: "List the running programs that can be recorded.",
        source: Source::Command("apps"),
        params: &[],
        records: true,
    },
    Tool {
        name: "record",
        description: "Record frames of a running program to a new trace.",
        source: Source::Command("start"),
        params: &[
            Param {
                absent: Absent::Refused,
                ..option(
                    "program",
                    "--app",
                    Kind::Text,
                    "Process id or name, as `programs` lists it.",
                )
            },
            Param {
                absent: Absent::Refused,
                ..option(
                    "trace",
                    "--output",
                    Kind::NewTrace,
                    "Name of the new trace, such as game.gapii.",
                )
            },
            Param {
                absent: Absent::Value("60"),
                ..option("frames", "--frames", Kind::Number, "Number of frames; 60 if left out.")
            },
            Param {
                absent: Absent::Value("30"),
                ..option(
                    "seconds",
                    "--seconds",
                    Kind::Number,
                    "Seconds after which the recording ends in any case; 30 if left out.",
                )
            },
        ],
        records: true,
    },
];

impl Tool {
    /// Whether it makes a file.
    fn writes(&self) -> bool {
        self.params.iter().any(|param| param.kind == Kind::NewTrace)
    }

    /// Returns what the agent is told.
    pub fn described(&self) -> Described {
        let property = |param: &Param| {
            let kind = match param.kind {
                Kind::Trace | Kind::NewTrace | Kind::Text => "string",
                Kind::Number => "integer",
                Kind::Truth => "boolean",
            };
            let mut schema = json!({"type": kind, "description": param.description});
            if param.kind == Kind::Number {
                schema["minimum"] = json!(0);
            }
            (param.name.to_owned(), schema)
        };
        let properties: JsonObject = self.params.iter().map(property).collect();
        let required = self.params.iter().filter(|it| it.absent == Absent::Refused);
        let required: Vec<_> = required.map(|it| it.name).collect();
        let schema = json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        let Value::Object(schema) = schema else { unreachable!("an object was made") };
        let annotations = ToolAnnotations::new().read_only(!self.writes());
        Described::new(self.name, self.description, Arc::new(schema)).with_annotations(annotations)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_operands_required() {
        let names: BTreeSet<_> = TOOLS.iter().map(|tool| tool.name).collect();
        assert_eq!(names.len(), TOOLS.len());
        for tool in TOOLS {
            let params: BTreeSet<_> = tool.params.iter().map(|param| param.name).collect();
            assert_eq!(params.len(), tool.params.len(), "{}", tool.name);
            for param in tool.params.iter().filter(|it| it.option.is_none()) {
                assert_eq!(param.absent, Absent::Refused, "{} {}", tool.name, param.name);
            }
        }
    }
}

//! The questions of the page, and the words of the command line that answer each.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::path::Path;

use serde::Deserialize;

/// Commands of the trace, in order.
#[derive(Debug, Default, Deserialize)]
pub struct Commands {
    /// Number of the first command.
    from: Option<u64>,
    /// Number behind the last command.
    to: Option<u64>,
    /// A frame of every process.
    frame: Option<u64>,
    /// Patterns of function names, separated by commas.
    function: Option<String>,
    /// A thread id, or a pattern of thread names.
    thread: Option<String>,
    /// Roles such as `group-begin`, separated by commas.
    role: Option<String>,
    /// Characters of the command's text.
    #[serde(rename = "match")]
    text: Option<String>,
    /// `driver-time` sorts the longest in the driver first.
    sort: Option<String>,
    /// Most commands.
    top: Option<u64>,
}

/// The state after a command.
#[derive(Debug, Deserialize)]
pub struct State {
    /// Number of the command.
    at: u64,
    /// Patterns of sections, separated by commas.
    section: Option<String>,
    /// Kinds of objects, or objects such as `texture:5`, separated by commas.
    object: Option<String>,
    /// Handle of a context.
    context: Option<u64>,
    /// The changes since this command, instead of the state.
    since: Option<u64>,
}

/// What was done to an object.
#[derive(Debug, Deserialize)]
pub struct History {
    /// Kind and name, such as `texture:5`.
    object: String,
    /// Number of the command after which it has this name.
    at: u64,
    /// Index of its process.
    process: Option<u32>,
    /// Handle of the context that it belongs to, or of one in its share group.
    context: Option<u64>,
    /// Most events of each sort.
    most: u64,
}

/// What happened to a pixel in the frame of a command.
#[derive(Debug, Deserialize)]
pub struct Pixel {
    /// Number of the command.
    pub at: u64,
    /// Column, from the left.
    x: u32,
    /// Row, from the bottom.
    y: u32,
    /// Number of the colour attachment.
    attachment: u32,
}

/// Frames of the trace.
#[derive(Debug, Default, Deserialize)]
pub struct Frames {
    /// `duration` sorts the longest frames first.
    sort: Option<String>,
    /// Most frames.
    top: Option<u64>,
}

/// The words of a command line, with `--json`.
pub struct Words(Vec<OsString>);

impl Words {
    /// Begins with the command `name` of gapii-ctl and the trace that it reads.
    pub fn of(name: &str, trace: &Path) -> Self {
        Self(vec![name.into(), trace.into(), "--json".into()])
    }

    /// Adds an option with a value, in one word: a value is never taken for an option.
    #[must_use]
    pub fn with(mut self, option: &str, value: impl Display) -> Self {
        self.0.push(format!("--{option}={value}").into());
        self
    }

    /// Adds an option with a path.
    #[must_use]
    pub fn with_path(mut self, option: &str, path: &Path) -> Self {
        let mut word = OsString::from(format!("--{option}="));
        word.push(path);
        self.0.push(word);
        self
    }

    /// Adds a word.
    #[must_use]
    pub fn word(mut self, word: impl AsRef<OsStr>) -> Self {
        self.0.push(word.as_ref().to_owned());
        self
    }

    /// Adds an option if it has a value.
    #[must_use]
    fn maybe(self, option: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.with(option, value),
            None => self,
        }
    }

    /// Adds an option for each part of a list, separated by commas.
    #[must_use]
    fn each(self, option: &str, list: Option<&str>) -> Self {
        let parts = list.into_iter().flat_map(|list| list.split(',')).filter(|it| !it.is_empty());
        parts.fold(self, |words, part| words.with(option, part))
    }

    /// Returns the words.
    pub fn as_slice(&self) -> &[OsString] {
        &self.0
    }
}

impl Commands {
    /// Returns the words of `gapii-ctl dump`.
    pub fn words(&self, trace: &Path) -> Words {
        let text = |bound: Option<u64>| bound.map_or_else(String::new, |bound| bound.to_string());
        let numbers = (self.from.is_some() || self.to.is_some())
            .then(|| format!("{}..{}", text(self.from), text(self.to)));
        Words::of("dump", trace)
            .maybe("commands", numbers)
            .maybe("frames", self.frame)
            .each("function", self.function.as_deref())
            .maybe("thread", self.thread.as_deref())
            .each("role", self.role.as_deref())
            .maybe("match", self.text.as_deref())
            .maybe("sort", self.sort.as_deref())
            .maybe("top", self.top)
    }
}

impl State {
    /// Returns the words of `gapii-ctl state`.
    pub fn words(&self, trace: &Path) -> Words {
        Words::of("state", trace)
            .with("at", self.at)
            .maybe("since", self.since)
            .each("section", self.section.as_deref())
            .each("object", self.object.as_deref())
            .maybe("context", self.context)
    }
}

impl History {
    /// Returns the words of `gapii-ctl history`.
    pub fn words(&self, trace: &Path) -> Words {
        let words = Words::of("history", trace).with("at", self.at).with("most", self.most);
        let words = words.maybe("process", self.process).maybe("context", self.context);
        words.word("--").word(&self.object)
    }
}

impl Pixel {
    /// Returns the words of `gapii-ctl pixel` for a trace in which the command has the number `at`.
    pub fn words(&self, trace: &Path, at: u64) -> Words {
        let Self { x, y, attachment, .. } = self;
        let words = Words::of("pixel", trace).with("at", at).with("pixel", format!("{x},{y}"));
        words.with("attachment", attachment)
    }
}

impl Frames {
    /// Returns the words of `gapii-ctl frames`.
    pub fn words(&self, trace: &Path) -> Words {
        Words::of("frames", trace).maybe("sort", self.sort.as_deref()).maybe("top", self.top)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &Words, expected: &str) {
        let words: Vec<_> = words.as_slice().iter().map(|it| it.to_string_lossy()).collect();
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn options_are_those_that_were_asked_for() {
        let trace = Path::new("/t");
        check(&Commands::default().words(trace), "dump /t --json");
        let commands = Commands { from: Some(7), to: Some(9), ..Commands::default() };
        check(&commands.words(trace), "dump /t --json --commands=7..9");
        let text = Some("--json -o x".to_owned());
        let function = Some("glDraw*,,glClear".to_owned());
        let commands = Commands { to: Some(9), text, function, ..Commands::default() };
        check(
            &commands.words(trace),
            "dump /t --json --commands=..9 --function=glDraw* --function=glClear --match=--json -o x",
        );
        let role = Some("group-begin,group-end".to_owned());
        let commands = Commands { role, ..Commands::default() };
        check(&commands.words(trace), "dump /t --json --role=group-begin --role=group-end");
        let state = State {
            at: 3,
            section: None,
            object: Some("texture:5".into()),
            context: None,
            since: Some(2),
        };
        check(&state.words(trace), "state /t --json --at=3 --since=2 --object=texture:5");
        let pixel = Pixel { at: 700, x: 5, y: 0, attachment: 1 };
        check(&pixel.words(trace, 3), "pixel /t --json --at=3 --pixel=5,0 --attachment=1");
        let (process, context) = (Some(1), Some(17));
        let history = History { object: "--help".into(), at: 3, process, context, most: 9 };
        check(
            &history.words(trace),
            "history /t --json --at=3 --most=9 --process=1 --context=17 -- --help",
        );
    }
}

//! The list of traces that `check` plays, a file in TOML: traces, and for each the digests that each driver is expected to
//! draw. A list that is read has no key that this build does not know. `update` changes expected values in its text, and
//! leaves comments and everything else as they are.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use gapii_replay::images::FrameOf;
use gapii_trace::filter::fits;
use serde::Deserialize;
use serde::de::{self, Deserializer};
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, value};

use crate::failure::Failure;

/// Traces with expected digests.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// Folder with pictures of expected frames, each `DIGEST.png`; relative to the list's folder.
    pub pictures: Option<PathBuf>,
    /// The traces.
    #[serde(default, rename = "trace")]
    pub traces: Vec<Listed>,
}

/// A trace of the list.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    /// File of the trace; relative to the list's folder.
    pub path: PathBuf,
    /// Frames to compare.
    #[serde(default)]
    pub frames: Frames,
    /// Whether alpha is taken as opaque.
    #[serde(default)]
    pub opaque: bool,
    /// Expected digests of drivers; the first driver whose renderer fits counts.
    #[serde(default, rename = "driver")]
    pub drivers: Vec<Expected>,
}

/// The frames that a driver is expected to draw.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// Pattern of `GL_RENDERER`: `*` stands for any characters, `?` for one.
    pub renderer: String,
    /// Digests by frame.
    pub frames: BTreeMap<Frame, String>,
}

/// Frames to compare.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Frames {
    #[default]
    Last,
    All,
    /// `A..B` or `A`, as the option `--frames` takes it.
    Some(String),
}

/// A frame, written `5`, or `1:5` for frame 5 of process 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frame(pub FrameOf);

impl List {
    /// Parses the text of a list. `name` is for messages.
    pub fn parse(text: &str, name: &Path) -> Result<List, Failure> {
        let list: List = toml_edit::de::from_str(text).map_err(|error| {
            Failure::unreachable(format!(
                "can't use the list {}: {}; a list has a trace as `[[trace]]` and `path = \"FILE\"`",
                name.display(),
                error.to_string().trim_end(),
            ))
        })?;
        match list.traces.is_empty() {
            true => Err(Failure::unreachable(format!(
                "{} lists no trace; add one with `[[trace]]` and `path = \"FILE\"`",
                name.display()
            ))),
            false => Ok(list),
        }
    }
}

impl Listed {
    /// What the driver with this renderer is expected to draw; `None` if the list does not have the driver.
    pub fn expected(&self, renderer: &str) -> Option<&Expected> {
        self.drivers.iter().find(|driver| fits(&driver.renderer, renderer))
    }
}

/// Returns the list with the digests of `renderer` for its traces, by their indices. A driver that a trace does not have is
/// added.
pub fn update(
    text: &str,
    renderers: &BTreeMap<usize, (String, BTreeMap<Frame, String>)>,
) -> Result<String, toml_edit::TomlError> {
    let mut document: DocumentMut = text.parse()?;
    let traces = document.get_mut("trace").and_then(Item::as_array_of_tables_mut);
    let Some(traces) = traces else { return Ok(document.to_string()) };
    for (index, (renderer, digests)) in renderers {
        let Some(trace) = traces.get_mut(*index) else { continue };
        let drivers = trace.entry("driver").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        let Some(drivers) = drivers.as_array_of_tables_mut() else { continue };
        let pattern = |table: &Table| table.get("renderer")?.as_str().map(str::to_owned);
        let found = drivers
            .iter()
            .position(|table| pattern(table).is_some_and(|pattern| fits(&pattern, renderer)));
        let at = found.unwrap_or_else(|| {
            let mut table = Table::new();
            table.insert("renderer", value(literal(renderer)));
            drivers.push(table);
            drivers.len() - 1
        });
        let mut frames = InlineTable::new();
        for (frame, digest) in digests {
            frames.insert(frame.to_string(), digest.as_str().into());
        }
        if let Some(driver) = drivers.get_mut(at) {
            driver.insert("frames", value(frames));
        }
    }
    Ok(document.to_string())
}

/// The pattern that fits this renderer: a `*` in it is a character like others.
fn literal(renderer: &str) -> String {
    renderer.replace('*', "?")
}

impl FromStr for Frame {
    type Err = String;

    fn from_str(text: &str) -> Result<Frame, String> {
        let wrong =
            || format!("{text:?} is no frame; write 5, or \"1:5\" for frame 5 of process 1");
        let (process, frame) = text.split_once(':').unwrap_or(("0", text));
        let process = process.parse().map_err(|_| wrong())?;
        Ok(Frame((process, frame.parse().map_err(|_| wrong())?)))
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            (0, frame) => write!(f, "{frame}"),
            (process, frame) => write!(f, "{process}:{frame}"),
        }
    }
}

impl<'de> Deserialize<'de> for Frame {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Frame, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Frames {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Frames, D::Error> {
        let text = String::deserialize(from)?;
        match text.as_str() {
            "last" => Ok(Frames::Last),
            "all" => Ok(Frames::All),
            range => match crate::args::frame_range(range) {
                Ok(_) => Ok(Frames::Some(text)),
                Err(why) => Err(de::Error::custom(format!(
                    "frames are \"last\", \"all\", or a range such as \"5..10\": {why}"
                ))),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"# Ours.
pictures = "expected"

[[trace]]
path = "gears.gapii" # small
frames = "0..2"

[[trace.driver]]
renderer = "llvmpipe*"
frames = { 0 = "aa", 1 = "bb" }

[[trace]]
path = "two.gapii"
opaque = true
"#;

    fn parsed(text: &str) -> Result<List, String> {
        List::parse(text, Path::new("traces.toml")).map_err(|failure| failure.to_string())
    }

    #[test]
    fn list_has_traces_with_digests_of_drivers() {
        let list = parsed(TEXT).unwrap();
        assert_eq!(list.pictures.as_deref(), Some(Path::new("expected")));
        let [gears, two] = &list.traces[..] else { panic!("{list:?}") };
        assert_eq!(gears.frames, Frames::Some("0..2".to_owned()));
        let expected = gears.expected("llvmpipe (LLVM 15.0.6, 256 bits)").unwrap();
        assert_eq!(expected.frames[&Frame((0, 1))], "bb");
        assert!(gears.expected("softpipe").is_none());
        assert_eq!((two.opaque, &two.frames, two.drivers.len()), (true, &Frames::Last, 0));
    }

    #[test]
    fn mistake_in_a_list_is_named_with_its_line() {
        let check = |text: &str, parts: &[&str]| {
            let why = parsed(text).expect_err(text);
            for part in parts.iter().chain(&["traces.toml", "`[[trace]]`"]) {
                assert!(why.contains(part), "{part}: {why}");
            }
        };
        check("", &["lists no trace"]);
        check("[[trace]]\nfile = \"x\"\n", &["line 2", "unknown field `file`"]);
        check("[[trace]]\npath = \"x\"\nframes = \"first\"\n", &["line 3", "\"last\""]);
        let driver = "[[trace]]\npath = \"x\"\n[[trace.driver]]\nrenderer = \"*\"\n";
        check(&format!("{driver}frames = {{ x = \"aa\" }}\n"), &["line 5", "is no frame"]);
    }

    #[test]
    fn update_changes_digests_and_nothing_else() {
        let digests = |text: &str| BTreeMap::from([(Frame((0, 0)), text.to_owned())]);
        let of = |renderer: &str, text: &str| (renderer.to_owned(), digests(text));
        let changed =
            update(TEXT, &BTreeMap::from([(0, of("llvmpipe 1", "cc")), (1, of("a*b", "dd"))]));
        let expected = TEXT.replace("{ 0 = \"aa\", 1 = \"bb\" }", "{ 0 = \"cc\" }")
            + "\n[[trace.driver]]\nrenderer = \"a?b\"\nframes = { 0 = \"dd\" }\n";
        assert_eq!(changed.unwrap(), expected);
    }

    #[test]
    fn frame_is_written_as_it_is_read() {
        for (text, frame) in [("5", (0, 5)), ("1:5", (1, 5))] {
            assert_eq!(text.parse(), Ok(Frame(frame)));
            assert_eq!(Frame(frame).to_string(), text);
        }
        assert!("1:".parse::<Frame>().is_err() && "-1".parse::<Frame>().is_err());
    }
}

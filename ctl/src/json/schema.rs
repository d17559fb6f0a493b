//! JSON Schemas (draft 2020-12) of everything that `--json` prints, derived from the types that print it. A type that
//! is printed and not listed here does not exist: `text::print_json` takes types with a schema, and a test compares
//! this list with the commands that have `--json`; system tests check real output against the schemas.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::{Failed, Remark, VERSION, VERSION_KEY, printed_name};
use crate::capture_answer::{CaptureAnswer, RunAnswer, SavedAnswer};
use crate::check::answer::Checked;
use crate::commands::{
    anonymise, blob, diff, doctor, dump, export, frames, import, info, merge, montage, pair, pixel,
    report, state, stop, ui, watch,
};

/// One form of JSON output.
pub struct Form {
    /// Command that prints it, such as `pair new`; `error` and `message` are printed by all.
    pub command: &'static str,
    prints: Prints,
    /// Whether a document begins with the version.
    has_version: bool,
    root: fn(&mut SchemaGenerator) -> schemars::Schema,
}

/// How often a form is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prints {
    Document,
    /// One document in each line.
    Lines,
}

const fn document<T: JsonSchema>(command: &'static str) -> Form {
    let root = SchemaGenerator::root_schema_for::<T>;
    Form { command, prints: Prints::Document, has_version: true, root }
}

const fn lines<T: JsonSchema>(command: &'static str) -> Form {
    Form { prints: Prints::Lines, ..document::<T>(command) }
}

/// Lines of a trace's commands, whose form is the same in an export.
const fn commands<T: JsonSchema>(command: &'static str) -> Form {
    Form { has_version: false, ..lines::<T>(command) }
}

/// All forms, in the order of `gapii-ctl --help`.
pub const FORMS: &[Form] = &[
    document::<RunAnswer>("run"),
    document::<CaptureAnswer>("start"),
    document::<SavedAnswer>("save"),
    document::<stop::Told>("stop"),
    document::<stop::Told>("pause"),
    document::<stop::Told>("resume"),
    document::<Vec<gapii_control::CaptureInfo>>("list"),
    document::<gapii_control::StatusInfo>("status"),
    document::<Vec<gapii_control::AppInfo>>("apps"),
    lines::<watch::Refresh<'_>>("watch"),
    document::<info::Answer>("info"),
    document::<ui::Address>("ui"),
    commands::<dump::Line>("dump"),
    document::<dump::Written>("dump --resources"),
    document::<frames::Answer>("frames"),
    document::<gapii_analysis::activity::Activity>("threads"),
    document::<state::Answer>("state"),
    document::<state::Sections>("state --sections"),
    document::<state::Changes>("state --since"),
    document::<gapii_analysis::history::History>("history"),
    document::<gapii_analysis::stats::Stats>("stats"),
    document::<gapii_analysis::problems::Problems>("problems"),
    document::<diff::Differences>("diff"),
    document::<montage::Sheeted>("montage"),
    document::<report::Reported>("report"),
    document::<export::Exported>("export"),
    document::<import::Answer>("import"),
    document::<gapii_replay::Report>("replay"),
    document::<pixel::PixelHistory>("pixel"),
    document::<Checked>("check"),
    document::<CaptureAnswer>("trim"),
    document::<merge::Answer>("merge"),
    document::<anonymise::Answer>("anonymise"),
    document::<blob::Described>("blob"),
    document::<gapii_trace::Verification>("verify"),
    document::<pair::Made<'_>>("pair new"),
    document::<pair::List<'_>>("pair list"),
    document::<pair::Renewed<'_>>("pair renew"),
    document::<pair::Revoked<'_>>("pair revoke"),
    document::<doctor::Report>("doctor"),
    lines::<Failed>("error"),
    lines::<Remark>("message"),
];

impl Form {
    pub fn is_lines(&self) -> bool {
        self.prints == Prints::Lines
    }
}

/// Returns the schema of a form, with the names of fields as they are printed.
pub fn schema(form: &Form) -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let root = (form.root)(&mut generator);
    let mut schema = printed(root.to_value());
    if form.has_version {
        add_version(&mut schema);
    }
    if form.is_lines()
        && let Value::Object(keywords) = &mut schema
    {
        keywords.insert("$comment".to_owned(), "one document in each line".into());
    }
    schema
}

/// Adds the version to the fields of a root that is an object, or to those of its alternatives.
fn add_version(schema: &mut Value) {
    let alternatives = schema.get("anyOf").and_then(Value::as_array).cloned().unwrap_or_default();
    for alternative in &alternatives {
        let pointer = alternative.get("$ref").and_then(Value::as_str);
        if let Some(definition) =
            pointer.and_then(|to| schema.pointer_mut(to.trim_start_matches('#')))
        {
            add_version(definition);
        }
    }
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    let version = json!({
        "type": "integer",
        "const": VERSION,
        "description": "Version of the schemas.",
    });
    let rest = std::mem::take(properties);
    *properties = std::iter::once((VERSION_KEY.to_owned(), version)).chain(rest).collect();
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.insert(0, VERSION_KEY.into());
    }
}

/// Renames the properties of a schema as [`super::document`] renames the fields.
fn printed(schema: Value) -> Value {
    match schema {
        Value::Object(keywords) => {
            let keyword = |(keyword, value): (String, Value)| {
                let value = match (keyword.as_str(), value) {
                    ("properties", Value::Object(properties)) => {
                        Value::Object(properties.into_iter().map(property).collect())
                    }
                    ("required", Value::Array(names)) => names.iter().map(name).collect(),
                    ("description", Value::String(text)) => plain(&text).into(),
                    (_, value) => printed(value),
                };
                (keyword, value)
            };
            Value::Object(keywords.into_iter().map(keyword).collect::<Map<_, _>>())
        }
        Value::Array(elements) => elements.into_iter().map(printed).collect(),
        other => other,
    }
}

/// Returns a docstring in one line, without the names and links of Rust.
fn plain(docstring: &str) -> String {
    let text = docstring.replace('\n', " ").replace("`None`", "null");
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some((before, link)) = rest.split_once('[')
        && let Some((words, after)) = link.split_once(']')
    {
        let target = after.strip_prefix('(').and_then(|after| after.split_once(')'));
        rest = target.map_or(after, |(_, after)| after);
        // A link in parentheses is for readers of the code.
        match (before.strip_suffix(" ("), rest.strip_prefix(')')) {
            (Some(before), Some(after)) => {
                plain += before;
                rest = after;
            }
            _ => plain = plain + before + words,
        }
    }
    plain += rest;
    // Names of fields, as they are printed.
    let words = plain.split('`').enumerate();
    let words =
        words.map(|(at, words)| if at % 2 == 1 { printed_name(words) } else { words.into() });
    words.collect::<Vec<_>>().join("`")
}

fn property((name, schema): (String, Value)) -> (String, Value) {
    (printed_name(&name).into_owned(), printed(schema))
}

fn name(name: &Value) -> Value {
    name.as_str().map_or(Value::Null, |name| printed_name(name).into_owned().into())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    /// Commands with `--json`, with their own subcommands.
    fn with_json(command: &clap::Command, path: &str, found: &mut Vec<String>) {
        if !path.is_empty() && command.get_arguments().any(|argument| argument.get_id() == "json") {
            found.push(path.to_owned());
        }
        // A hidden command answers another command.
        for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
            with_json(inner, format!("{path} {}", inner.get_name()).trim(), found);
        }
    }

    #[test]
    fn every_command_with_json_has_a_schema() {
        let mut expected = Vec::new();
        with_json(&Cli::command(), "", &mut expected);
        let others = ["dump --resources", "state --sections", "state --since", "error", "message"];
        expected.extend(others.map(str::to_owned));
        let mut listed: Vec<_> = FORMS.iter().map(|form| form.command.to_owned()).collect();
        expected.sort();
        listed.sort();
        assert_eq!(listed, expected);
    }

    #[test]
    fn schemas_name_fields_as_they_are_printed() {
        let start = FORMS.iter().find(|form| form.command == "start").expect("it is listed");
        let summary = &schema(start)["$defs"]["Summary"];
        assert!(summary["properties"]["commands"].is_object(), "{summary:#}");
        assert!(summary["properties"]["calls"].is_null(), "{summary:#}");
        let names = summary["required"].as_array().expect("a list");
        assert!(names.contains(&"commands".into()), "{names:?}");
    }

    /// Calls `check` for each property of a schema and of its definitions, with its name and description.
    fn for_each_property(schema: &Value, check: &mut impl FnMut(&str, &str)) {
        match schema {
            Value::Object(keywords) => {
                let properties = keywords.get("properties").and_then(Value::as_object);
                for (name, property) in properties.into_iter().flatten() {
                    check(name, property["description"].as_str().unwrap_or_default());
                }
                keywords.values().for_each(|value| for_each_property(value, check));
            }
            Value::Array(values) => values.iter().for_each(|value| for_each_property(value, check)),
            _ => {}
        }
    }

    #[test]
    fn ids_of_the_operating_system_and_indexes_have_names_of_their_own() {
        let mut seen = std::collections::BTreeSet::new();
        for form in FORMS {
            for_each_property(&schema(form), &mut |name, description| {
                let begins = match name {
                    "pid" | "tid" => {
                        ["Process id", "Thread id", "The daemon's process id"].as_slice()
                    }
                    "process" | "thread" => &["Index of ", "Index in "],
                    _ => return,
                };
                let fits = begins.iter().any(|begin| description.starts_with(begin));
                assert!(fits, "{}: {name}: {description}", form.command);
                seen.insert(name.to_owned());
            });
        }
        assert_eq!(Vec::from_iter(seen), ["pid", "process", "thread", "tid"]);
    }

    #[test]
    fn docstrings_lose_their_links() {
        let docstring = "Up to [`MAX`](crate::MAX);\n`None` for [none].";
        assert_eq!(plain(docstring), "Up to `MAX`; null for none.");
        assert_eq!(plain("One of `a`, `b` ([`Reason`](super::Reason))."), "One of `a`, `b`.");
        assert_eq!(plain("Sum of `lost_calls`."), "Sum of `lost_commands`.");
    }
}

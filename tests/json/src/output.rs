//! Checks what `gapii-ctl … --json` prints in a test against the schema that `gapii-ctl schema` prints: every test that
//! runs a command with `--json` checks it.
//!
//! Stricter than the schema: a field that it does not name is a mistake, so that no field stays undescribed. Laxer in two
//! ways: of documents with the same fields and kinds of values the first one is checked, and of the lines of a `dump` the
//! first 1,000 (`LINES_CHECKED`) and then every 50th (`STEP`).

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::hash::{Hash, Hasher};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::{Mutex, OnceLock, PoisonError};

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;

/// Lines of a long output that are all checked.
const LINES_CHECKED: usize = 1_000;
/// Of the lines behind them, one of so many is checked.
const STEP: usize = 50;

/// The forms, by the command that prints each.
type Forms = BTreeMap<String, Form>;

/// Form of an answer or a message.
struct Form {
    schema: Value,
    /// Made when the form is seen first.
    checker: OnceLock<Checker>,
    /// Shapes of documents that fit.
    known: Mutex<HashSet<u64>>,
}

/// A schema that documents can be checked against.
struct Checker {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Checker {
    /// # Panics
    /// If the schema of `form` is none.
    fn new(form: &str, schema: &Value) -> Self {
        const NAME: &str = "schema.json";
        let mut schemas = Schemas::new();
        let mut compiler = Compiler::new();
        compiler
            .add_resource(NAME, schema.clone())
            .unwrap_or_else(|error| panic!("schema of {form}: {error:#}"));
        let index = compiler
            .compile(NAME, &mut schemas)
            .unwrap_or_else(|error| panic!("schema of {form}: {error:#}"));
        Self { schemas, index }
    }
}

/// Output of a `gapii-ctl` that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Printed<'a> {
    /// Exit status.
    pub status: ExitStatus,
    /// All of standard output.
    pub stdout: &'a str,
    /// All of standard error.
    pub stderr: &'a str,
}

/// Returns which form of JSON a command prints on standard output; `None` for a program other than `gapii-ctl`, and
/// without `--json`.
pub fn form_of(command: &Command) -> Option<String> {
    let program = command.get_program();
    if !program.to_string_lossy().ends_with("/gapii-ctl") {
        return None;
    }
    let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
    let own = words.iter().position(|word| word == "--").map_or(&words[..], |end| &words[..end]);
    let has = |option: &str| own.iter().any(|word| word == option);
    if !has("--json") {
        return None;
    }
    let forms = forms(program);
    let is_command = |word: &str| forms.keys().any(|form| form.split(' ').next() == Some(word));
    let at = own.iter().position(|word| is_command(word))?;
    // Options may stand between the two words of `pair list`.
    let mut two = own[at + 1..].iter().map(|next| format!("{} {next}", own[at]));
    match two.find(|two| forms.contains_key(two)) {
        Some(two) => Some(two),
        None if has("--resources") => Some("dump --resources".to_owned()),
        None if has("--sections") => Some("state --sections".to_owned()),
        None if has("--since") => Some("state --since".to_owned()),
        None => Some(own[at].clone().into_owned()),
    }
}

/// Checks both streams of a `program` that has ended and prints `form`.
///
/// # Panics
/// If a document does not fit its schema, a message on standard error is not JSON, or a failed command printed neither
/// an answer nor an error.
#[track_caller]
pub fn check(program: &OsStr, form: &str, printed: Printed<'_>) {
    let forms = forms(program);
    let mut documents = 0;
    let mut check = |text: &str| {
        let read = crate::documents(text);
        for document in read.unwrap_or_else(|error| panic!("{error} in the answer: {printed:#?}")) {
            fits(forms, form, &document);
            documents += 1;
        }
    };
    match form {
        "dump" => {
            let lines = printed.stdout.lines().enumerate();
            let is_checked = |at: usize| at < LINES_CHECKED || at.is_multiple_of(STEP);
            lines.filter(|(at, _)| is_checked(*at)).for_each(|(_, line)| check(line));
        }
        _ => check(printed.stdout),
    }
    let mut has_error = false;
    for line in printed.stderr.lines() {
        // `run` passes on what the program prints.
        assert!(!line.starts_with("gapii-ctl: "), "a message in words: {printed:#?}");
        let Ok(line @ Value::Object(_)) = crate::value(line) else { continue };
        let is_error = line.get("error").is_some();
        has_error |= is_error;
        fits(forms, if is_error { "error" } else { "message" }, &line);
    }
    let status = printed.status;
    let is_killed = status.signal().is_some() || status.code().is_some_and(|code| code > 128);
    let is_explained = status.success() || documents > 0 || has_error || is_killed;
    assert!(is_explained, "neither answer nor error: {printed:#?}");
}

#[track_caller]
fn fits(forms: &Forms, form: &str, document: &Value) {
    let of = forms.get(form).unwrap_or_else(|| panic!("no schema of {form}"));
    let mut shape = DefaultHasher::new();
    hash_shape(document, &mut shape);
    let shape = shape.finish();
    let known = || of.known.lock().unwrap_or_else(PoisonError::into_inner);
    if known().contains(&shape) {
        return;
    }
    let Checker { schemas, index } = of.checker.get_or_init(|| Checker::new(form, &of.schema));
    if let Err(mistakes) = schemas.validate(document, *index) {
        panic!("{form}: {mistakes:#}\n{document:#}");
    }
    known().insert(shape);
}

/// Hashes the names of fields and the kinds of values.
fn hash_shape(value: &Value, shape: &mut DefaultHasher) {
    std::mem::discriminant(value).hash(shape);
    match value {
        Value::Object(fields) => {
            fields.len().hash(shape);
            for (name, field) in fields {
                name.hash(shape);
                hash_shape(field, shape);
            }
        }
        Value::Array(elements) => {
            // Elements that are alike count once, so that the length of a list is no part of the shape.
            let mut before = None;
            for element in elements {
                let mut own = DefaultHasher::new();
                hash_shape(element, &mut own);
                let own = Some(own.finish());
                if own != before {
                    own.hash(shape);
                    before = own;
                }
            }
        }
        _ => {}
    }
}

/// The forms that `program` prints.
fn forms(program: &OsStr) -> &'static Forms {
    static FORMS: OnceLock<Forms> = OnceLock::new();
    FORMS.get_or_init(|| {
        let printed = Command::new(program).arg("schema").output();
        let printed = printed.expect("gapii-ctl starts").stdout;
        let schemas: BTreeMap<String, Value> =
            serde_json::from_slice(&printed).expect("gapii-ctl schema prints all schemas");
        let form = |(name, mut schema): (String, Value)| {
            close(&mut schema);
            (name, Form { schema, checker: OnceLock::new(), known: Mutex::default() })
        };
        schemas.into_iter().map(form).collect()
    })
}

/// Forbids fields that a schema does not name, in every object.
fn close(schema: &mut Value) {
    close_parts(schema);
    let Value::Object(keywords) = schema else { return };
    if keywords.get("properties").is_some_and(Value::is_object) {
        // Unlike `additionalProperties`, this knows the fields of alternatives beside the object's own fields.
        keywords.entry("unevaluatedProperties").or_insert(Value::Bool(false));
    }
}

/// Closes what stands in a schema, but not the alternatives of an object with fields of its own.
fn close_parts(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            let has_fields = keywords.get("properties").is_some_and(Value::is_object);
            for (keyword, part) in keywords {
                match part {
                    Value::Object(fields) if keyword == "properties" => {
                        fields.values_mut().for_each(close);
                    }
                    Value::Array(alternatives) if has_fields && is_choice(keyword) => {
                        alternatives.iter_mut().for_each(close_parts);
                    }
                    part => close(part),
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(close),
        _ => {}
    }
}

fn is_choice(keyword: &str) -> bool {
    ["oneOf", "anyOf", "allOf"].contains(&keyword)
}

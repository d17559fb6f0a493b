//! Checks what `gapii-ctl … --json` prints in a test against the schema that `gapii-ctl schema` prints: every test that
//! runs a command with `--json` checks it. The tests of `ctl/` include this file, too.
//!
//! Stricter than the schema: a field that it does not name is a mistake, so that no field stays undescribed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::{Deserializer, Value};

/// The schemas, by the command that prints the form.
type Forms = BTreeMap<String, Validator>;

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
    for document in Deserializer::from_str(printed.stdout).into_iter::<Value>() {
        let document =
            document.unwrap_or_else(|error| panic!("{error} in the answer: {printed:#?}"));
        fits(forms, form, &document);
        documents += 1;
    }
    let mut has_error = false;
    for line in printed.stderr.lines() {
        // `run` passes on what the program prints.
        assert!(!line.starts_with("gapii-ctl: "), "a message in words: {printed:#?}");
        let Ok(line @ Value::Object(_)) = serde_json::from_str(line) else { continue };
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
    let validator = forms.get(form).unwrap_or_else(|| panic!("no schema of {form}"));
    let mistakes: Vec<_> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(mistakes.is_empty(), "{form}: {}\n{document:#}", mistakes.join("\n"));
}

/// The schemas that `program` prints.
fn forms(program: &OsStr) -> &'static Forms {
    static FORMS: OnceLock<Forms> = OnceLock::new();
    FORMS.get_or_init(|| {
        let printed = Command::new(program).arg("schema").output();
        let printed = printed.expect("gapii-ctl starts").stdout;
        let schemas: BTreeMap<String, Value> =
            serde_json::from_slice(&printed).expect("gapii-ctl schema prints all schemas");
        let validator = |(form, mut schema): (String, Value)| {
            close(&mut schema);
            let validator = jsonschema::validator_for(&schema);
            let validator = validator.unwrap_or_else(|error| panic!("schema of {form}: {error}"));
            (form, validator)
        };
        schemas.into_iter().map(validator).collect()
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

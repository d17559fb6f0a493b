//! Makes the words for `gapii-ctl` of an agent's arguments. Options are written `--name=value` and operands stand behind
//! `--`, so no value can be taken for an option.

use std::ffi::OsString;
use std::path::Path;

use rmcp::model::JsonObject;
use serde_json::Value;

use crate::tools::{Absent, Kind, Param, Tool};
use crate::traces::Traces;

/// Returns the options and operands of a call.
///
/// # Errors
/// A sentence for the agent, if an argument is unknown, missing, of another kind, or names no trace.
pub fn words(
    tool: &Tool,
    arguments: &JsonObject,
    traces: &Traces,
) -> Result<Vec<OsString>, String> {
    if let Some(unknown) =
        arguments.keys().find(|name| !tool.params.iter().any(|it| it.name == **name))
    {
        let known: Vec<_> = tool.params.iter().map(|it| it.name).collect();
        return Err(format!("{} takes no `{unknown}`, only: {}", tool.name, known.join(", ")));
    }
    let (mut options, mut operands) = (Vec::new(), vec![OsString::from("--")]);
    for param in tool.params {
        let given = match arguments.get(param.name) {
            None | Some(Value::Null) => match param.absent {
                Absent::Refused => return Err(format!("{} needs `{}`", tool.name, param.name)),
                Absent::Omitted => continue,
                Absent::Value(value) => OsString::from(value),
            },
            Some(value) => match text(param, value, traces)? {
                Some(text) => text,
                None => continue,
            },
        };
        match param.option {
            None => operands.push(given),
            Some(option) if param.kind == Kind::Truth => options.push(option.into()),
            Some(option) => {
                let mut word = OsString::from(format!("{option}="));
                word.push(given);
                options.push(word);
            }
        }
    }
    options.extend(operands);
    Ok(options)
}

/// The text of a value; `None` if the option is left out.
fn text(param: &Param, value: &Value, traces: &Traces) -> Result<Option<OsString>, String> {
    let path = |path: &Path| Some(path.as_os_str().to_owned());
    match (param.kind, value) {
        (Kind::Trace, Value::String(name)) => Ok(path(&traces.find(name)?)),
        (Kind::NewTrace, Value::String(name)) => Ok(path(&traces.make(name)?)),
        (Kind::Text, Value::String(text)) => Ok(Some(text.into())),
        (Kind::Number, Value::Number(number)) if number.is_u64() => {
            Ok(Some(number.to_string().into()))
        }
        (Kind::Truth, Value::Bool(is_set)) => Ok(is_set.then(OsString::new)),
        (kind, _) => {
            let expected = match kind {
                Kind::Trace | Kind::NewTrace | Kind::Text => "a string",
                Kind::Number => "a whole number of at least 0",
                Kind::Truth => "true or false",
            };
            Err(format!("`{}` is {expected}, not {value}", param.name))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::TOOLS;

    fn called(name: &str, arguments: Value) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("-x.gapii"), "").unwrap();
        let traces = Traces::below(&[folder.path().to_owned()]).unwrap();
        let tool = TOOLS.iter().find(|tool| tool.name == name).unwrap();
        let words = words(tool, arguments.as_object().unwrap(), &traces)?;
        let folder = folder.path().canonicalize().unwrap();
        let short =
            |word: OsString| word.into_string().unwrap().replace(folder.to_str().unwrap(), "DIR");
        Ok(words.into_iter().map(short).collect())
    }

    #[test]
    fn arguments_become_words_that_cannot_be_taken_for_others() {
        let commands = json!({"trace": "-x.gapii", "commands": "--json", "top": 7});
        assert_eq!(
            called("commands", commands).unwrap(),
            ["--commands=--json", "--top=7", "--", "DIR/-x.gapii"]
        );
        let history = json!({"trace": "-x.gapii", "object": "--at", "at": null});
        assert_eq!(called("history", history).unwrap(), ["--", "DIR/-x.gapii", "--at"]);
        let differences = json!({"trace": "-x.gapii", "other": "-x.gapii", "no_frames": true});
        assert_eq!(
            called("differences", differences).unwrap(),
            ["--no-frames", "--", "DIR/-x.gapii", "DIR/-x.gapii"]
        );
        let record = json!({"program": "7", "trace": "new.gapii"});
        assert_eq!(
            called("record", record).unwrap(),
            ["--app=7", "--output=DIR/new.gapii", "--frames=60", "--seconds=30", "--"]
        );
    }

    #[test]
    fn wrong_arguments_are_named() {
        for (name, arguments, expected) in [
            ("info", json!({}), "info needs `trace`"),
            ("info", json!({"trace": 7}), "`trace` is a string, not 7"),
            ("info", json!({"trace": "-x.gapii", "at": 1}), "info takes no `at`, only: trace"),
            ("info", json!({"trace": "/etc/passwd"}), "there is no trace /etc/passwd"),
            ("picture", json!({"trace": "-x.gapii"}), "picture needs `at`"),
            (
                "picture",
                json!({"trace": "-x.gapii", "at": -1}),
                "`at` is a whole number of at least 0, not -1",
            ),
            (
                "state",
                json!({"trace": "-x.gapii", "sections": "yes"}),
                "`sections` is true or false",
            ),
        ] {
            let refused = called(name, arguments).unwrap_err();
            assert!(refused.starts_with(expected), "{refused}");
        }
    }
}

//! `StateChoice`: the parts of a state that `state` shows: sections, objects, or what belongs to one context. A section is
//! a field of the state of a process, a thread, a share group or a context, such as `context.viewport`.
//!
//! It does not format anything.

use std::fmt;
use std::str::FromStr;

use clap::Args;
use gapii_follow::generated::describe::KINDS;
use gapii_follow::value::{Kind, Value};
use gapii_trace::filter;

/// The kind of object that a section belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Process,
    Thread,
    ShareGroup,
    Context,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scope::Process => "process",
            Scope::Thread => "thread",
            Scope::ShareGroup => "share_group",
            Scope::Context => "context",
        })
    }
}

#[derive(Args, Clone, Debug, Default)]
pub struct StateChoice {
    /// Show only this section, whole, such as context.viewport or textures (* and ? match); may be repeated
    ///
    /// A section is named SCOPE.NAME or NAME, where SCOPE is process, thread, share_group or context. --sections lists
    /// them.
    #[arg(long = "section", value_name = "NAME|GLOB")]
    chosen_sections: Vec<String>,

    /// Show only objects of this kind, or one of them, such as texture or texture:5; may be repeated
    #[arg(long = "object", value_name = "KIND[:NAME]", long_help = help(
        "Show only objects of this kind, or one of them, such as texture or texture:5; may be repeated"
    ))]
    chosen_objects: Vec<ObjectChoice>,

    /// Show only this context, with its share group and its thread, by its handle in `dump`
    #[arg(long, value_name = "HANDLE", value_parser = number)]
    pub context: Option<u64>,
}

/// Objects of a kind, or one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectChoice {
    kind: String,
    name: Option<u64>,
}

impl FromStr for ObjectChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<ObjectChoice, String> {
        let (kind, name) =
            text.split_once(':').map_or((text, None), |(kind, name)| (kind, Some(name)));
        Ok(ObjectChoice {
            kind: self::kind(kind)?.name.to_lowercase(),
            name: name.map(number).transpose()?,
        })
    }
}

impl fmt::Display for ObjectChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            Some(name) => write!(f, "{}:{name}", self.kind),
            None => f.write_str(&self.kind),
        }
    }
}

/// Returns the help of an option that takes a kind of object.
pub fn help(sentence: &str) -> String {
    format!("{sentence}\n\nThe kinds are {}", kinds())
}

/// Returns the kind of this name, in capitals or small letters.
pub fn kind(name: &str) -> Result<Kind, String> {
    let found = KINDS.iter().find(|known| known.name.eq_ignore_ascii_case(name));
    let unknown = || format!("no kind of object has this name; the kinds are {}", kinds());
    found.copied().ok_or_else(unknown)
}

/// Lists the kinds of objects, as they are typed.
fn kinds() -> String {
    let mut kinds: Vec<_> = KINDS.iter().map(|kind| kind.name.to_lowercase()).collect();
    kinds.sort_unstable();
    kinds.join(", ")
}

/// Reads a decimal number, or a hexadecimal one after `0x`.
pub fn number(text: &str) -> Result<u64, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| "a number is expected, such as 5 or 0x5599d8970750".to_owned())
}

impl StateChoice {
    /// Whether a part of the sections is chosen.
    pub fn is_partial(&self) -> bool {
        !self.chosen_sections.is_empty() || !self.chosen_objects.is_empty()
    }

    /// Returns the option of `state` that lists what there is of the chosen things, and says so.
    pub fn list_hint(&self) -> String {
        match self.chosen_objects.iter().find(|choice| choice.name.is_some()) {
            Some(ObjectChoice { kind, .. }) if self.chosen_sections.is_empty() => {
                format!("--object {kind}` lists those that there are")
            }
            _ => "--sections` lists the sections".to_owned(),
        }
    }

    /// Removes what is not chosen from a state.
    pub fn apply(&self, scope: Scope, state: &mut Value) {
        if !self.is_partial() {
            return;
        }
        let Value::Record(fields) = state else { return };
        fields
            .retain_mut(|(name, value)| self.has_section(scope, name) || self.keep_objects(value));
    }

    fn has_section(&self, scope: Scope, name: &str) -> bool {
        let full = format!("{scope}.{name}");
        let fits = |word: &String| filter::fits(word, name) || filter::fits(word, &full);
        self.chosen_sections.iter().any(fits)
    }

    /// Keeps the chosen objects of a section. Returns false if it has none.
    fn keep_objects(&self, section: &mut Value) -> bool {
        let Value::Map(entries) = section else { return false };
        entries.retain(|(key, _)| self.chosen_objects.iter().any(|choice| choice.fits(key)));
        !entries.is_empty()
    }
}

impl ObjectChoice {
    fn fits(&self, key: &Value) -> bool {
        let Value::Object { kind, name, .. } = key else { return false };
        kind.eq_ignore_ascii_case(&self.kind) && self.name.is_none_or(|wanted| wanted == *name)
    }
}

/// Names the chosen sections, objects and context in words.
impl fmt::Display for StateChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sections =
            self.chosen_sections.iter().map(|word| format!("section {}", word.escape_debug()));
        let objects = self.chosen_objects.iter().map(|object| format!("object {object}"));
        f.write_str(&sections.chain(objects).collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> Value {
        let texture = |name| Value::Object { kind: "Texture", name, serial: 1 };
        let entry = |name| (texture(name), Value::Number(0));
        Value::Record(vec![
            ("textures", Value::Map(vec![entry(4), entry(5)])),
            ("stencil_front", Value::Number(1)),
            ("stencil_back", Value::Number(2)),
        ])
    }

    #[track_caller]
    fn check(words: &[&str], expected: Value) {
        let command = StateChoice::augment_args(clap::Command::new("state").no_binary_name(true));
        let matches = command.try_get_matches_from(words).expect("valid words");
        let choice = <StateChoice as clap::FromArgMatches>::from_arg_matches(&matches);
        let mut state = state();
        choice.expect("valid words").apply(Scope::Context, &mut state);
        assert_eq!(state, expected, "{words:?}");
    }

    #[test]
    fn sections_and_objects_are_chosen_by_name() {
        let Value::Record(fields) = state() else { panic!("a record") };
        check(&[], state());
        check(&["--section", "stencil_*"], Value::Record(fields[1..].to_vec()));
        check(&["--section", "context.stencil_back"], Value::Record(fields[2..].to_vec()));
        check(&["--section", "process.stencil_back"], Value::Record(Vec::new()));
        let texture = Value::Object { kind: "Texture", name: 5, serial: 1 };
        let one = Value::Map(vec![(texture, Value::Number(0))]);
        check(&["--object", "texture:5"], Value::Record(vec![("textures", one)]));
        check(&["--object", "texture"], Value::Record(fields[..1].to_vec()));
        check(&["--object", "texture:6"], Value::Record(Vec::new()));
    }

    #[test]
    fn handles_are_read_in_both_forms() {
        assert_eq!((number("16"), number("0x10")), (Ok(16), Ok(16)));
        assert!(number("x").is_err() && "texture:".parse::<ObjectChoice>().is_err());
    }

    #[test]
    fn unknown_kind_is_refused_with_all_that_exist() {
        let said = "textures".parse::<ObjectChoice>().expect_err("it is no kind");
        for kind in ["texture", "vertexarray", "commandqueue"] {
            assert!(said.contains(kind) && kind.parse::<ObjectChoice>().is_ok(), "{kind}: {said}");
        }
        assert!(help("").contains("renderbuffer, sampler"), "{}", help(""));
    }
}

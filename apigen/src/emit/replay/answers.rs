//! `answers.rs`: how the answers of commands are compared, by the ids of commands and the values of enums.
//!
//! The file is one call of the macro `answers!` (`replay/src/verify/rule.rs`). Targets that are about the
//! same commands or values share a set, because `glGet*` alone is in most of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::super::output::file;
use super::arguments::kind_name;
use crate::lang::typed::{AnswerPart, AnswerRule, Answers, Program};
use crate::model::{Function, Kind, Model};
use crate::naming;

/// Longest line of a set.
const LINE_MAX: usize = 100;

const PRELUDE: &str = "\
use crate::names::Kind;
use crate::verify::Rule::*;
use crate::verify::Why::*;
use crate::verify::answers;
";

pub fn emit(model: &Model, program: &Program) -> String {
    let functions: BTreeMap<&str, &Function> =
        model.functions.iter().map(|function| (function.name.as_str(), function)).collect();
    let (mut commands, mut values) = (Sets::new("C"), Sets::new("V"));
    let mut targets = String::new();
    for answers in &program.answers {
        let set = commands.name(members(answers, &functions));
        let part = match &answers.part {
            AnswerPart::All => "all".to_owned(),
            AnswerPart::Result => "result".to_owned(),
            AnswerPart::Output => "output".to_owned(),
            AnswerPart::Field(name) => format!("field {name:?}"),
            AnswerPart::Values(numbers) => {
                let numbers = numbers.iter().map(|value| format!("{value:#06x}"));
                format!("values {}", values.name(numbers.collect()))
            }
        };
        let _ = writeln!(targets, "        // {}", answers.target);
        let _ = writeln!(targets, "        {set} [{part}] => {};", rule(&answers.rule));
    }
    let items = format!(
        "answers! {{\n    commands {{\n{}    }}\n    values {{\n{}    }}\n    targets {{\n{targets}    }}\n}}\n",
        commands.text, values.text
    );
    file(PRELUDE, &[items])
}

/// The commands of a target by id, each with the parameter that the target's part is about.
fn members(answers: &Answers, functions: &BTreeMap<&str, &Function>) -> Vec<String> {
    let commands = answers.commands.iter();
    let members = commands.filter_map(|(name, at)| {
        let function = functions.get(name.as_str())?;
        match answers.part {
            AnswerPart::All | AnswerPart::Result => Some(function.constant.clone()),
            AnswerPart::Output | AnswerPart::Field(_) => {
                Some(format!("{}.{at}", function.constant))
            }
            // What a trace does not show as an enum is no question.
            AnswerPart::Values(_) => {
                let kind = function.params.get(*at)?.value.ty.kind;
                matches!(kind, Kind::Enum(_)).then(|| format!("{}.{at}", function.constant))
            }
        }
    });
    members.collect()
}

fn rule(rule: &AnswerRule) -> String {
    match rule {
        AnswerRule::Names(class) => match kind_name(class) {
            Some(kind) => format!("Names(Kind::{kind})"),
            // The build of the replay says that it has no such kind.
            None => format!("Names(Kind::{})", naming::camel_case(class)),
        },
        AnswerRule::Varies(why) => format!("Varies({why:?})"),
        plain => format!("{plain:?}"),
    }
}

/// Sets with names, each of them once.
struct Sets {
    prefix: &'static str,
    names: BTreeMap<Vec<String>, String>,
    /// The sets as they are written.
    text: String,
}

impl Sets {
    fn new(prefix: &'static str) -> Self {
        Self { prefix, names: BTreeMap::new(), text: String::new() }
    }

    fn name(&mut self, members: Vec<String>) -> String {
        if let Some(name) = self.names.get(&members) {
            return name.clone();
        }
        let name = format!("{}{}", self.prefix, self.names.len());
        let mut line = format!("        {name}");
        for member in &members {
            if line.len() + 1 + member.len() >= LINE_MAX {
                let _ = writeln!(self.text, "{line}");
                line = " ".repeat(11);
            }
            let _ = write!(line, " {member}");
        }
        let _ = writeln!(self.text, "{line};");
        self.names.insert(members, name.clone());
        name
    }
}

//! `lists.rs`: the commands of display lists that change tracked state, and those that lists have at all.

use std::collections::BTreeMap;

use super::commands::Emitted;
use crate::lang::typed::{Command, Program, Role};
use crate::naming::id_constant;
use crate::parts::Does;

pub const PRELUDE: &str = "\
use gapii_commands::ids;

use crate::commands;
use crate::gl::lists::acting_commands;
";

/// One macro call with a line for each command that changes tracked state, and a set of bits.
pub fn emit(program: &Program, all: &BTreeMap<&str, Emitted<'_>>) -> Vec<String> {
    let acting = all.values().filter(|it| program.is_compiled(it.command) && changes(it));
    let lines = acting.map(|it| {
        let places = vec!["_"; it.command.params.len()].join(" ");
        format!("    {} {}({places});\n", id_constant(&it.command.name), it.command.name)
    });
    let compiled = bits(program, "COMPILED", "display lists have it", |it| program.is_compiled(it));
    let what = "it takes pixels from the pixel unpack buffer when a list is compiled";
    let unpacking = bits(program, "UNPACKING", what, |it| program.has_role(it, Role::Unpacks));
    vec![
        format!("acting_commands! {{\n{}}}\n", lines.collect::<String>()),
        format!("{compiled}\n{unpacking}"),
    ]
}

fn changes(emitted: &Emitted<'_>) -> bool {
    emitted.enter.is_some() && Does::of(&emitted.command.enter).changes
}

/// A set of commands. The ids are positions in the list of all commands.
fn bits(program: &Program, name: &str, what: &str, has: impl Fn(&Command) -> bool) -> String {
    let mut words = vec![0_u64; program.commands.len().div_ceil(64)];
    for (id, _) in program.commands.iter().enumerate().filter(|(_, it)| has(it)) {
        words[id / 64] |= 1 << (id % 64);
    }
    let words: Vec<String> = words.iter().map(|word| format!("{word:#x}")).collect();
    format!(
        "/// A bit for each command by id: whether {what}.\n\
         pub const {name}: [u64; {}] = [{}];\n",
        words.len(),
        words.join(", ")
    )
}

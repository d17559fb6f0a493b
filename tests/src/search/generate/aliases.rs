//! Other names of commands, from extensions that became part of OpenGL ES. The shim has a handler for each name, and so has
//! the player.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::headers;
use crate::random::Random;

/// The other names of each command: those with the suffix of an extension that Mesa's llvmpipe has.
fn aliases() -> &'static BTreeMap<&'static str, Vec<&'static str>> {
    static ALIASES: OnceLock<BTreeMap<&str, Vec<&str>>> = OnceLock::new();
    ALIASES.get_or_init(|| {
        let mut aliases: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for name in headers::exposed() {
            if let Some(first) = headers::core_name(name) {
                aliases.entry(first).or_default().push(name);
            }
        }
        aliases
    })
}

/// The first name of a command.
pub fn first(command: &str) -> &str {
    headers::core_name(command).unwrap_or(command)
}

/// Gives the command of a step, now and then, another of its names.
pub fn vary(random: &mut Random, step: String) -> String {
    let words = || step.split(' ').enumerate();
    let command = words().find(|(_, word)| word.starts_with("gl"));
    let Some((at, command)) = command else { return step };
    let Some(names) = aliases().get(command) else { return step };
    if random.below(100) >= 12 {
        return step;
    }
    let name = names[random.below(names.len() as u64) as usize];
    let varied = words().map(|(number, word)| if number == at { name } else { word });
    varied.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_command_have_one_first_name() {
        for name in ["glCopyImageSubData", "glCopyImageSubDataEXT", "glCopyImageSubDataOES"] {
            assert_eq!(first(name), "glCopyImageSubData");
        }
        assert_eq!(first("glProgramUniform4fvEXT"), "glProgramUniform4fv");
        assert_eq!(first("glBufferStorageEXT"), "glBufferStorageEXT");
    }
}

//! How much of the program's memory the descriptions account for, in numbers.

use std::collections::BTreeSet;
use std::fmt;

use super::check::Api;
use super::typed::{Command, MemoryUse, Program};

/// Pointer parameters by where their commands come from; handles are none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coverage {
    pub core_egl: Tally,
    pub core_gles: Tally,
    pub level_zero: Tally,
    /// Extensions that Mesa exposes.
    pub exposed: Tally,
    pub rest: Tally,
}

/// The pointer parameters of some commands.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    pub commands: usize,
    pub pointers: usize,
    /// Described as addresses by nature.
    pub addresses: usize,
    /// `command.parameter`s that nobody says anything of.
    pub unknown: Vec<String>,
}

/// The extensions of a list with a name a line, `#` before comments.
pub fn extension_list(text: &str) -> BTreeSet<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

impl Coverage {
    /// Counts the parameters of `program`; `exposed` are names of extensions.
    pub fn of(program: &Program, apis: &[Api<'_>], exposed: &BTreeSet<&str>) -> Self {
        let core: BTreeSet<&str> =
            apis.iter().flat_map(|api| &api.registry.core).map(String::as_str).collect();
        let commands_of = |extension: &&str| {
            let all = apis.iter().filter_map(|api| api.registry.extensions.get(*extension));
            all.flatten().map(String::as_str).collect::<Vec<_>>()
        };
        let exposed: BTreeSet<&str> = exposed.iter().flat_map(commands_of).collect();
        let mut coverage = Self {
            core_egl: Tally::default(),
            core_gles: Tally::default(),
            level_zero: Tally::default(),
            exposed: Tally::default(),
            rest: Tally::default(),
        };
        for command in &program.commands {
            let is_core = core.contains(command.name.as_str());
            let tally = match command.api.as_str() {
                "egl" if is_core => &mut coverage.core_egl,
                "level_zero" => &mut coverage.level_zero,
                _ if is_core => &mut coverage.core_gles,
                _ if exposed.contains(command.name.as_str()) => &mut coverage.exposed,
                _ => &mut coverage.rest,
            };
            tally.add(command);
        }
        coverage
    }

    /// Whether everything has an extent that must have one.
    pub fn is_complete(&self) -> bool {
        self.complete().iter().all(|tally| tally.unknown.is_empty())
    }

    /// What has to be complete.
    fn complete(&self) -> [&Tally; 4] {
        [&self.core_egl, &self.core_gles, &self.level_zero, &self.exposed]
    }
}

impl Tally {
    fn add(&mut self, command: &Command) {
        self.commands += 1;
        for param in command.params.iter().filter(|param| param.ctype.is_pointer()) {
            self.pointers += 1;
            match param.memory {
                MemoryUse::Address => self.addresses += 1,
                MemoryUse::Unknown => self.unknown.push(format!("{}.{}", command.name, param.name)),
                MemoryUse::None | MemoryUse::Declared | MemoryUse::Registry => {}
            }
        }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = [
            ("core EGL", &self.core_egl),
            ("core OpenGL ES", &self.core_gles),
            ("Level Zero", &self.level_zero),
            ("extensions Mesa exposes", &self.exposed),
            ("other extensions", &self.rest),
        ];
        let head = ["commands", "pointers", "with extent", "address only", "without extent"];
        write!(f, "{:24}", "")?;
        for column in head {
            write!(f, "{column:>16}")?;
        }
        for (name, tally) in rows {
            let described = tally.pointers - tally.addresses - tally.unknown.len();
            write!(f, "\n{name:24}")?;
            let unknown = tally.unknown.len();
            for number in [tally.commands, tally.pointers, described, tally.addresses, unknown] {
                write!(f, "{number:>16}")?;
            }
        }
        let missing = self.complete();
        for name in missing.iter().flat_map(|tally| &tally.unknown) {
            write!(f, "\nwithout extent: {name}")?;
        }
        Ok(())
    }
}

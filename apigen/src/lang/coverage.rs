//! Counts the pointer parameters whose memory the descriptions cover. The coverage is complete if every pointer of core
//! commands, and of the extensions that drivers expose (`apis/*-extensions.txt`), has an extent or counts as an
//! address only; those of other commands are only counted.

use std::collections::BTreeSet;
use std::fmt;

use super::check::Api;
use super::typed::{Command, MemoryUse, Program};

/// Pointer parameters by the origin of their commands. Handles do not count as pointers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coverage {
    /// For each API: its name, and its core commands.
    pub core: Vec<(String, Tally)>,
    /// Extensions that drivers expose.
    pub exposed: Tally,
    pub rest: Tally,
}

/// The pointer parameters of some commands.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    pub commands: usize,
    pub pointers: usize,
    /// Number of parameters of which only the address matters.
    pub addresses: usize,
    /// Parameters without an extent, as `command.parameter`.
    pub unknown: Vec<String>,
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
            core: apis.iter().map(|api| (api.name.to_owned(), Tally::default())).collect(),
            exposed: Tally::default(),
            rest: Tally::default(),
        };
        for command in &program.commands {
            let is_core = core.contains(command.name.as_str());
            let of_api = coverage.core.iter_mut().find(|(api, _)| *api == command.api);
            let tally = match of_api {
                Some((_, tally)) if is_core => tally,
                _ if exposed.contains(command.name.as_str()) => &mut coverage.exposed,
                _ => &mut coverage.rest,
            };
            tally.add(command);
        }
        coverage
    }

    /// Whether all parameters of core commands and of exposed extensions have an extent.
    pub fn is_complete(&self) -> bool {
        self.complete().iter().all(|tally| tally.unknown.is_empty())
    }

    /// The tallies that must have no unknown parameter.
    fn complete(&self) -> Vec<&Tally> {
        self.core.iter().map(|(_, tally)| tally).chain([&self.exposed]).collect()
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
        let core =
            self.core.iter().map(|(api, tally)| (format!("{api} without extensions"), tally));
        let extensions = [
            ("extensions that drivers expose".to_owned(), &self.exposed),
            ("other extensions".to_owned(), &self.rest),
        ];
        let rows = core.chain(extensions);
        let head = ["commands", "pointers", "with extent", "address only", "without extent"];
        write!(f, "{:32}", "")?;
        for column in head {
            write!(f, "{column:>16}")?;
        }
        for (name, tally) in rows {
            let described = tally.pointers - tally.addresses - tally.unknown.len();
            write!(f, "\n{name:32}")?;
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

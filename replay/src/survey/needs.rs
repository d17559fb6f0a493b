//! Versions and extensions that commands need. What the recorded context did not have either is not needed: the command
//! did nothing there.
//!
//! Loaders return an address for every function name, so contexts are queried instead.

use gapii_commands::CommandId;

use crate::generated::requirements::REQUIREMENTS;

/// Index of a command's requirement, if it has one.
pub fn find(command: CommandId) -> Option<usize> {
    REQUIREMENTS.binary_search_by_key(&command, |requirement| requirement.command).ok()
}

/// Number of words with a bit for each requirement.
const WORDS: usize = REQUIREMENTS.len().div_ceil(64);

/// Requirements of the commands of one context.
#[derive(Clone, Debug)]
pub struct Needs {
    seen: [u64; WORDS],
    needed: [u64; WORDS],
}

impl Default for Needs {
    fn default() -> Self {
        let none = [0; REQUIREMENTS.len().div_ceil(64)];
        Self { seen: none, needed: none }
    }
}

impl Needs {
    /// Notes that a command was called in a context of this version, of OpenGL ES or of desktop OpenGL, with these
    /// extensions, separated by spaces.
    pub fn see(&mut self, requirement: usize, is_es: bool, version: (u16, u16), extensions: &str) {
        let (word, bit) = (requirement / 64, 1 << (requirement % 64));
        let Some(requirement) = REQUIREMENTS.get(requirement) else { return };
        if self.seen[word] & bit == 0 {
            self.seen[word] |= bit;
            self.needed[word] |=
                if requirement.is_met(is_es, version, extensions) { bit } else { 0 };
        }
    }

    pub(crate) fn has(&self, requirement: usize) -> bool {
        self.needed[requirement / 64] >> (requirement % 64) & 1 != 0
    }
}

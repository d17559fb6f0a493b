//! What commands need that not every context has: a version of OpenGL ES, or an extension.
//!
//! Loaders hand out stubs for functions that no driver here has, so contexts are asked and not
//! loaders. What the context of the recording had not either is not needed: it was called in vain.

use crate::generated::requirements::REQUIREMENTS;

/// The requirement of a command, if it has one, as an index.
pub fn find(name: &str) -> Option<usize> {
    REQUIREMENTS.binary_search_by_key(&name, |requirement| requirement.name).ok()
}

type Bits = [u64; REQUIREMENTS.len().div_ceil(64)];

/// What the commands of a context need of another that is to play them.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    seen: Bits,
    needed: Bits,
}

impl Needs {
    /// A command was called in a context of this version, with these extensions.
    pub fn see(&mut self, requirement: usize, version: (u16, u16), extensions: &str) {
        let (word, bit) = (requirement / 64, 1 << (requirement % 64));
        let Some(requirement) = REQUIREMENTS.get(requirement) else { return };
        if self.seen[word] & bit == 0 {
            self.seen[word] |= bit;
            self.needed[word] |= if requirement.is_met(version, extensions) { bit } else { 0 };
        }
    }

    pub(crate) fn has(&self, requirement: usize) -> bool {
        self.needed[requirement / 64] >> (requirement % 64) & 1 != 0
    }
}

//! The set of extensions that a context has, among those that descriptions test with `extension(…)`: at most 512 names,
//! checked at compile time. Other extensions are not kept.

use crate::stored::{Reader, Stored, Writer};

/// A bit for each of [`NAMES`](crate::generated::extensions::NAMES).
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Extensions([u64; 8]);

impl Extensions {
    /// Maximum number of names.
    pub const MOST: usize = 512;

    /// The extensions in `list`, which is what `glGetString(GL_EXTENSIONS)` returns: names separated by spaces.
    pub fn parse(list: &str) -> Self {
        let mut found = Self::default();
        for name in list.split_ascii_whitespace() {
            found.add(name);
        }
        found
    }

    /// Adds an extension by its name; ignores a name that no description tests.
    pub fn add(&mut self, name: &str) {
        let names = crate::generated::extensions::NAMES;
        if let Ok(bit) = names.binary_search(&name)
            && let Some(word) = self.0.get_mut(bit / 64)
        {
            *word |= 1 << (bit % 64);
        }
    }

    /// The names of the extensions in the set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let names = crate::generated::extensions::NAMES.iter().enumerate();
        names.filter(move |(bit, _)| self.has(*bit)).map(|(_, name)| *name)
    }

    /// Whether the set has the extension at index `bit` of the sorted names.
    pub fn has(&self, bit: usize) -> bool {
        self.0.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 != 0)
    }
}

impl Stored for Extensions {
    fn store(&self, to: &mut Writer) {
        self.0.store(to);
    }

    fn restore(from: &mut Reader<'_>) -> Option<Self> {
        Stored::restore(from).map(Self)
    }
}

const _: () = assert!(crate::generated::extensions::NAMES.len() <= Extensions::MOST);

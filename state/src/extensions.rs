//! Which of the extensions that descriptions ask about a context has.

/// A bit for each of [`NAMES`](crate::generated::extensions::NAMES).
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Extensions([u64; 4]);

impl Extensions {
    /// The most names that there are bits for.
    pub const MOST: usize = 256;

    /// Those of `list`, as `glGetString(GL_EXTENSIONS)` gives it: names with spaces between them.
    pub fn parse(list: &str) -> Self {
        let mut found = Self::default();
        for name in list.split_ascii_whitespace() {
            found.add(name);
        }
        found
    }

    /// Adds one by its name, as `glGetStringi` gives it.
    pub fn add(&mut self, name: &str) {
        let names = crate::generated::extensions::NAMES;
        if let Ok(bit) = names.binary_search(&name)
            && let Some(word) = self.0.get_mut(bit / 64)
        {
            *word |= 1 << (bit % 64);
        }
    }

    /// The names of those that are there.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let names = crate::generated::extensions::NAMES.iter().enumerate();
        names.filter(move |(bit, _)| self.has(*bit)).map(|(_, name)| *name)
    }

    /// Whether the extension with that place among the names is there.
    pub fn has(&self, bit: usize) -> bool {
        self.0.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 != 0)
    }
}

const _: () = assert!(crate::generated::extensions::NAMES.len() <= Extensions::MOST);

//! A map with few entries, such as the object bound to each target. It takes at most 64 (`ENTRIES_MAX`); further ones
//! are not kept.
//!
//! The entries are in a list sorted by key: for two or three entries, a search in a list is faster than in a tree.

use crate::at::At;
use crate::stored::{Reader, Stored, Writer};

/// Maximum number of entries. No API has more targets of one kind.
const ENTRIES_MAX: usize = 64;

/// Values by key, in the order of the keys.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Few<K, V>(Vec<(K, V)>);

/// Iterator over the entries of a [`Few`], in the order of the keys.
pub type Iter<'a, K, V> =
    std::iter::Map<std::slice::Iter<'a, (K, V)>, fn(&'a (K, V)) -> (&'a K, &'a V)>;

impl<K, V> Few<K, V> {
    /// A map without entries.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entries, in the order of the keys.
    pub fn iter(&self) -> Iter<'_, K, V> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Removes every entry for which `keeps` returns false.
    pub fn retain(&mut self, mut keeps: impl FnMut(&K, &V) -> bool) {
        self.0.retain(|(key, value)| keeps(key, value));
    }
}

impl<K: Ord, V> Few<K, V> {
    /// Inserts the default value for a key. Kept out of line: most accesses find the key.
    #[cold]
    #[inline(never)]
    fn make(&mut self, key: K) -> Option<&mut V>
    where
        V: Default,
    {
        if self.0.len() >= ENTRIES_MAX {
            return None;
        }
        let at = self.0.iter().position(|(known, _)| *known > key).unwrap_or(self.0.len());
        self.0.insert(at, (key, V::default()));
        self.0.get_mut(at).map(|(_, value)| value)
    }
}

impl<K: Ord, V: Default> At<K> for Few<K, V> {
    type Element = V;

    #[inline]
    fn at(&self, key: K) -> Option<&V> {
        self.0.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    #[inline]
    fn at_mut(&mut self, key: K) -> Option<&mut V> {
        match self.0.iter().position(|(known, _)| *known == key) {
            Some(at) => self.0.get_mut(at).map(|(_, value)| value),
            None => self.make(key),
        }
    }
}

impl<K: Stored, V: Stored> Stored for Few<K, V> {
    fn store(&self, to: &mut Writer) {
        self.0.store(to);
    }

    fn restore(from: &mut Reader<'_>) -> Option<Self> {
        Stored::restore(from).map(Self)
    }
}

impl<'a, K, V> IntoIterator for &'a Few<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K, V> Default for Few<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_in_the_order_of_their_keys() {
        let mut few = Few::new();
        for key in [5, 1, 3, 1] {
            *few.at_mut(key).unwrap() += key;
        }
        assert_eq!(few.iter().collect::<Vec<_>>(), [(&1, &2), (&3, &3), (&5, &5)]);
        assert_eq!((few.at(3), few.at(4)), (Some(&3), None));
        few.retain(|key, _| *key != 3);
        assert_eq!(few.iter().collect::<Vec<_>>(), [(&1, &2), (&5, &5)]);
    }

    #[test]
    fn entries_are_few() {
        let mut few: Few<usize, ()> = Few::new();
        assert!((0..ENTRIES_MAX).all(|key| few.at_mut(key).is_some()));
        assert!(few.at_mut(ENTRIES_MAX).is_none() && few.at_mut(0).is_some());
    }
}

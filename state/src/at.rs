//! Access to elements of arrays, lists and maps, as a description writes it between brackets. Reading a missing element
//! gives `None`. Writing one makes it: a list grows to at most 65,536 elements (`LIST_MAX`), a map to at most 1,048,576
//! entries (`MAP_MAX`); writes beyond have no effect.

use std::collections::BTreeMap;

/// The most elements that a list grows to when one is written.
const LIST_MAX: usize = 1 << 16;
/// The most entries that a map grows to.
const MAP_MAX: usize = 1 << 20;

/// A collection with elements of keys `K`.
pub trait At<K> {
    type Element;

    /// The element at `key`, if there is one.
    fn at(&self, key: K) -> Option<&Self::Element>;

    /// The element at `key`, made if it is missing and the limit allows it.
    fn at_mut(&mut self, key: K) -> Option<&mut Self::Element>;
}

impl<T, const N: usize> At<i64> for [T; N] {
    type Element = T;

    fn at(&self, key: i64) -> Option<&T> {
        self.get(usize::try_from(key).ok()?)
    }

    fn at_mut(&mut self, key: i64) -> Option<&mut T> {
        self.get_mut(usize::try_from(key).ok()?)
    }
}

impl<T: Default> At<i64> for Vec<T> {
    type Element = T;

    fn at(&self, key: i64) -> Option<&T> {
        self.get(usize::try_from(key).ok()?)
    }

    #[inline]
    fn at_mut(&mut self, key: i64) -> Option<&mut T> {
        let key = usize::try_from(key).ok()?;
        if key >= self.len() {
            grow(self, key);
        }
        self.get_mut(key)
    }
}

/// Grows a list until it has the element, within the limit. Kept out of line: most writes find the element.
#[cold]
#[inline(never)]
fn grow<T: Default>(list: &mut Vec<T>, key: usize) {
    if key < LIST_MAX {
        list.resize_with(key + 1, T::default);
    }
}

impl<K: Ord, V: Default> At<K> for BTreeMap<K, V> {
    type Element = V;

    fn at(&self, key: K) -> Option<&V> {
        self.get(&key)
    }

    fn at_mut(&mut self, key: K) -> Option<&mut V> {
        if self.len() >= MAP_MAX && !self.contains_key(&key) {
            return None;
        }
        Some(self.entry(key).or_default())
    }
}

/// Appends an element, unless the list has 65,536 elements.
pub fn push<T>(list: &mut Vec<T>, element: T) {
    if list.len() < LIST_MAX {
        list.push(element);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn array_has_the_elements_it_was_declared_with() {
        let mut array = [1, 2, 3];
        assert_eq!((array.at(2), array.at(3), array.at(-1)), (Some(&3), None, None));
        assert_eq!(array.at_mut(3), None);
    }

    #[test]
    fn list_grows_to_the_written_element_up_to_the_limit() {
        let mut list: Vec<i32> = vec![];
        *list.at_mut(2).unwrap() = 5;
        assert_eq!(list, [0, 0, 5]);
        assert_eq!(list.at_mut(-1), None);
        assert_eq!(list.at_mut(LIST_MAX as i64), None);
        assert_eq!(list.len(), 3);
    }

    #[test]
    fn map_creates_an_entry_when_it_is_written() {
        let mut map: BTreeMap<u32, i32> = BTreeMap::new();
        assert_eq!(map.at(7), None);
        *map.at_mut(7).unwrap() = 1;
        assert_eq!(map.at(7), Some(&1));
    }
}

//! A context's cache of 64 names (`ENTRIES`) in the share group. Binding a cached name takes no lock. Whenever a name
//! of the group gets another object or loses its object, all caches of the group are emptied at their next look-up.

use std::sync::atomic::Ordering::Acquire;

use crate::group::GroupOf;
use crate::objects::{Object, Objects};
use crate::reference::Ref;
use crate::stored::{Reader, Stored, Writer};

/// Number of entries. A name always has the same entry: its value modulo this number.
const ENTRIES: usize = 64;

/// The objects of a kind that a context used last.
#[derive(Debug)]
pub struct NameCache<T> {
    /// The version of the group for which the entries are valid.
    version: u64,
    entries: Box<[Ref<T>; ENTRIES]>,
}

impl<T> Default for NameCache<T> {
    fn default() -> Self {
        Self { version: 0, entries: Box::new([Ref::NONE; ENTRIES]) }
    }
}

impl<T> NameCache<T> {
    /// [`Objects::find`] in the table of `group` that `table` gives.
    #[inline]
    pub fn find<G, O: Object<Kind = T>>(
        &mut self,
        group: &GroupOf<G>,
        name: u64,
        table: impl FnOnce(&mut G) -> &mut Objects<O>,
    ) -> Ref<T> {
        self.look_up(group, name, |state| table(state).find(name))
    }

    /// [`Objects::bind`] in the table of `group` that `table` gives.
    #[inline]
    pub fn bind<G, O: Object<Kind = T>>(
        &mut self,
        group: &GroupOf<G>,
        name: u64,
        table: impl FnOnce(&mut G) -> &mut Objects<O>,
    ) -> Ref<T> {
        self.look_up(group, name, |state| table(state).bind(name))
    }

    #[inline]
    fn look_up<G>(
        &mut self,
        group: &GroupOf<G>,
        name: u64,
        ask: impl FnOnce(&mut G) -> Ref<T>,
    ) -> Ref<T> {
        if name == 0 {
            return Ref::NONE;
        }
        // VERSION: pairs with the release in Objects. If another thread changed a name before this call, this thread
        // sees the new version. The version is read before the table, so an entry may be newer than `self.version`, but
        // never older.
        let version = group.version.load(Acquire);
        if self.version != version {
            self.forget(version);
        }
        let place = name as usize % ENTRIES;
        *match self.entries.get(place) {
            Some(entry) if entry.name() == name => entry,
            _ => self.learn(group, place, ask),
        }
    }

    #[cold]
    #[inline(never)]
    fn forget(&mut self, version: u64) {
        self.entries.fill(Ref::NONE);
        self.version = version;
    }

    /// Asks the group. Kept out of line, so that the path of a known name needs few registers.
    #[cold]
    #[inline(never)]
    fn learn<G>(
        &mut self,
        group: &GroupOf<G>,
        place: usize,
        ask: impl FnOnce(&mut G) -> Ref<T>,
    ) -> &Ref<T> {
        let found = ask(&mut group.lock());
        match self.entries.get_mut(place) {
            Some(entry) if found.is_some() => {
                *entry = found;
                entry
            }
            _ => &Ref::NONE,
        }
    }
}

/// Nothing of a cache is stored: its names are found in the group again.
impl<T> Stored for NameCache<T> {
    fn store(&self, _: &mut Writer) {}

    fn restore(_: &mut Reader<'_>) -> Option<Self> {
        Some(Self::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Group;

    /// The cache takes its table out of the group's lock; the tests' own table stands in for it.
    fn find(
        cache: &mut NameCache<u32>,
        group: &Group,
        table: &Objects<u32>,
        name: u64,
    ) -> Ref<u32> {
        cache.look_up(group, name, |_| table.find(name))
    }

    #[test]
    fn cached_name_is_found_without_the_group_until_a_name_changes() {
        let group: Group = Group::default();
        let mut table = Objects::shared(&group.version);
        let mut cache = NameCache::default();
        let old = table.create(7);
        assert_eq!(find(&mut cache, &group, &table, 7), old);
        assert_eq!(cache.look_up(&group, 7, |_| unreachable!("the cache knows it")), old);
        table.delete(7);
        let new = table.create(7);
        assert_eq!(find(&mut cache, &group, &table, 7), new);
    }

    #[test]
    fn names_of_the_same_entry_replace_each_other() {
        let group: Group = Group::default();
        let mut table = Objects::shared(&group.version);
        let mut cache = NameCache::default();
        let names = [1, 1 + ENTRIES as u64];
        let made = names.map(|name| table.create(name));
        for _ in 0..2 {
            assert_eq!(names.map(|name| find(&mut cache, &group, &table, name)), made);
        }
    }
}

//! All objects of one kind in one namespace. A deleted object loses its name, and its state stays readable through
//! references to it. At most 4,096 deleted objects are kept (`DELETED_MAX`); the one deleted first is dropped first. A
//! name that gets another object deletes the one before.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Release};

use crate::reference::Ref;
use crate::stored::{Reader, Stored, Writer};
use crate::touched::{self, Touch, Touched};

/// Maximum number of deleted objects that are kept.
const DELETED_MAX: usize = 4096;

/// The state of one object.
pub trait Object: Default {
    /// The kind of object: the same type for the state in every scope.
    type Kind;
    /// Name of the kind.
    const KIND: &str;
    /// Whether this is the state that tools follow, in which touches are noted (`touched.rs`).
    const WHOLE: bool;
}

/// Notes that an object is touched, for tools that ask; never in the shim.
#[inline(always)]
fn note<T: Object>(object: Ref<T::Kind>, touch: Touch) {
    if T::WHOLE {
        let (name, serial) = (object.name(), object.serial());
        touched::keep(Touched { kind: T::KIND, name, serial, touch });
    }
}

/// Objects by name and by reference.
#[derive(Debug)]
pub struct Objects<T: Object> {
    names: BTreeMap<u64, Ref<T::Kind>>,
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    /// Deleted objects, the one deleted first in front.
    deleted: VecDeque<Ref<T::Kind>>,
    /// Number of objects made so far; skips 0 when it wraps.
    made: u32,
    /// Incremented whenever a name gets another object or loses its object; caches of a share group compare it.
    version: Option<Arc<AtomicU64>>,
}

#[derive(Debug)]
struct Slot<T: Object> {
    bearer: Ref<T::Kind>,
    object: T,
}

impl<T: Object + Stored> Stored for Slot<T> {
    fn store(&self, to: &mut Writer) {
        self.bearer.store(to);
        self.object.store(to);
    }

    fn restore(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self { bearer: Ref::restore(from)?, object: T::restore(from)? })
    }
}

impl<T: Object + Stored> Stored for Objects<T> {
    fn store(&self, to: &mut Writer) {
        let Self { names, slots, free, deleted, made, version } = self;
        names.store(to);
        slots.store(to);
        free.store(to);
        deleted.store(to);
        made.store(to);
        version.store(to);
    }

    fn restore(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            names: Stored::restore(from)?,
            slots: Stored::restore(from)?,
            free: Stored::restore(from)?,
            deleted: Stored::restore(from)?,
            made: Stored::restore(from)?,
            version: Stored::restore(from)?,
        })
    }
}

impl<T: Object> Default for Objects<T> {
    fn default() -> Self {
        Self {
            names: BTreeMap::new(),
            slots: Vec::new(),
            free: Vec::new(),
            deleted: VecDeque::new(),
            made: 0,
            version: None,
        }
    }
}

impl<T: Object> Objects<T> {
    /// A table that increments `version` when names change.
    pub fn shared(version: &Arc<AtomicU64>) -> Self {
        Self { version: Some(version.clone()), ..Self::default() }
    }

    /// Makes an object named `name`, and deletes the object that had this name. `Ref::NONE` for name 0.
    pub fn create(&mut self, name: u64) -> Ref<T::Kind> {
        if name == 0 {
            return Ref::NONE;
        }
        self.delete(name);
        let Some(slot) = self.free.pop().or_else(|| u32::try_from(self.slots.len()).ok()) else {
            return Ref::NONE;
        };
        self.made = self.made.wrapping_add(1).max(1);
        let bearer = Ref::new(name, slot, self.made);
        let made = Slot { bearer, object: T::default() };
        match self.slots.get_mut(slot as usize) {
            Some(reused) => *reused = made,
            None => self.slots.push(made),
        }
        self.names.insert(name, bearer);
        self.raise_version();
        note::<T>(bearer, Touch::Made);
        bearer
    }

    /// The object of that name, or `Ref::NONE`.
    pub fn find(&self, name: u64) -> Ref<T::Kind> {
        if name == 0 {
            return Ref::NONE;
        }
        self.names.get(&name).copied().unwrap_or_default()
    }

    /// The object of that name, made if it does not exist. `Ref::NONE` for name 0.
    pub fn bind(&mut self, name: u64) -> Ref<T::Kind> {
        if name == 0 {
            return Ref::NONE;
        }
        match self.names.get(&name) {
            Some(found) => *found,
            None => self.create(name),
        }
    }

    /// Deletes the object of that name and returns a reference to it.
    pub fn delete(&mut self, name: u64) -> Ref<T::Kind> {
        let Some(deleted) = self.names.remove(&name) else { return Ref::NONE };
        note::<T>(deleted, Touch::Deleted);
        self.deleted.push_back(deleted);
        if self.deleted.len() > DELETED_MAX
            && let Some(oldest) = self.deleted.pop_front()
        {
            self.forget(oldest);
        }
        self.raise_version();
        deleted
    }

    fn forget(&mut self, object: Ref<T::Kind>) {
        if let Some(slot) = self.slots.get_mut(object.slot()) {
            *slot = Slot { bearer: Ref::NONE, object: T::default() };
            self.free.push(object.slot() as u32);
        }
    }

    fn raise_version(&self) {
        if let Some(version) = &self.version {
            // VERSION: pairs with the acquire in NameCache.
            version.fetch_add(1, Release);
        }
    }

    /// The state of an object; `None` if the object was dropped, or for `Ref::NONE`.
    pub fn get(&self, object: Ref<T::Kind>) -> Option<&T> {
        if object.is_none() {
            return None;
        }
        let slot = self.slots.get(object.slot())?;
        (slot.bearer == object).then_some(&slot.object)
    }

    /// [`Objects::get`], to change the state.
    pub fn get_mut(&mut self, object: Ref<T::Kind>) -> Option<&mut T> {
        let found = self.get_mut_unnoted(object);
        if found.is_some() {
            note::<T>(object, Touch::Changed);
        }
        found
    }

    /// [`Objects::get_mut`], for a change that is no change of the object to the program, such as a better copy of its contents.
    pub fn get_mut_unnoted(&mut self, object: Ref<T::Kind>) -> Option<&mut T> {
        if object.is_none() {
            return None;
        }
        let slot = self.slots.get_mut(object.slot())?;
        (slot.bearer == object).then_some(&mut slot.object)
    }

    /// Objects that have a name, in the order of the names.
    pub fn named(&self) -> impl Iterator<Item = (Ref<T::Kind>, &T)> {
        self.names.values().filter_map(|object| Some((*object, self.get(*object)?)))
    }

    /// The names of all objects, as commands take them.
    pub fn names(&self) -> Vec<u32> {
        self.named().map(|(object, _)| object.name() as u32).collect()
    }

    /// Deleted objects, the one deleted first in front.
    pub fn deleted(&self) -> impl Iterator<Item = (Ref<T::Kind>, &T)> {
        self.deleted.iter().filter_map(|object| Some((*object, self.get(*object)?)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    impl Object for u32 {
        type Kind = Self;
        const KIND: &str = "u32";
        const WHOLE: bool = false;
    }

    type Table = Objects<u32>;

    #[test]
    fn deleted_object_is_readable_through_references() {
        let mut table = Table::default();
        let old = table.create(7);
        *table.get_mut(old).unwrap() = 1;
        assert_eq!(table.delete(7), old);
        let new = table.create(7);
        assert_ne!(old, new);
        assert_eq!((table.get(old), table.get(new)), (Some(&1), Some(&0)));
        assert_eq!(table.find(7), new);
    }

    #[test]
    fn name_zero_has_no_object() {
        let mut table = Table::default();
        assert!(table.create(0).is_none());
        assert!(table.bind(0).is_none());
        assert_eq!(table.get(Ref::NONE), None);
        table.create(1);
        assert_eq!(table.get(Ref::NONE), None);
    }

    #[test]
    fn only_so_many_deleted_objects_are_kept() {
        let mut table = Table::default();
        let first = table.create(1);
        let count = DELETED_MAX as u64 + 1;
        for name in 1..=count {
            table.bind(name);
            table.delete(name);
        }
        assert_eq!(table.deleted().count(), DELETED_MAX);
        assert_eq!(table.get(first), None);
        let reused = table.create(1);
        assert_eq!(reused.slot(), first.slot());
        assert_eq!((table.get(first), table.get(reused)), (None, Some(&0)));
    }

    #[test]
    fn version_rises_with_every_change_of_a_name() {
        let version = Arc::new(AtomicU64::new(0));
        let mut table = Table::shared(&version);
        let now = || version.load(std::sync::atomic::Ordering::Relaxed);
        table.bind(1);
        assert_eq!(now(), 1);
        table.bind(1);
        table.find(2);
        table.delete(2);
        assert_eq!(now(), 1);
        table.delete(1);
        assert_eq!(now(), 2);
    }

    proptest! {
        #[test]
        fn table_behaves_like_a_map_of_names(steps in prop::collection::vec((0..3, 0u64..6), 0..200)) {
            let mut table = Table::default();
            let mut model: BTreeMap<u64, Ref<u32>> = BTreeMap::new();
            let mut all = Vec::new();
            for (step, name) in steps {
                match step {
                    0 => {
                        let made = table.create(name);
                        if name != 0 { model.insert(name, made); all.push(made); }
                    }
                    1 => {
                        let bound = table.bind(name);
                        if name != 0 { prop_assert_eq!(*model.entry(name).or_insert(bound), bound); }
                    }
                    _ => { prop_assert_eq!(table.delete(name), model.remove(&name).unwrap_or_default()); }
                }
                prop_assert!(table.named().map(|(object, _)| object).eq(model.values().copied()));
            }
            prop_assert!(all.iter().all(|object| table.get(*object).is_some()));
            all.sort_unstable();
            all.dedup();
            prop_assert!(all.len() <= table.named().count() + table.deleted().count());
        }
    }
}

//! Which object is meant: a name and what tells its bearer from others who had it.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

/// One object of a kind, or none. An object that lost its name to another stays itself.
pub struct Ref<T> {
    name: u64,
    /// Where its table keeps it.
    slot: u32,
    /// Counts the objects of its table; 0 is none.
    serial: u32,
    kind: PhantomData<fn() -> T>,
}

impl<T> Ref<T> {
    /// No object.
    pub const NONE: Self = Self { name: 0, slot: 0, serial: 0, kind: PhantomData };

    pub(crate) fn new(name: u64, slot: u32, serial: u32) -> Self {
        Self { name, slot, serial, kind: PhantomData }
    }

    /// The name it was made under; 0 for none.
    pub fn name(self) -> u64 {
        self.name
    }

    /// Tells objects apart that had the same name; 0 for none.
    pub fn serial(self) -> u32 {
        self.serial
    }

    pub fn is_none(self) -> bool {
        self.serial == 0
    }

    pub fn is_some(self) -> bool {
        self.serial != 0
    }

    pub(crate) fn slot(self) -> usize {
        self.slot as usize
    }
}

impl<T> Clone for Ref<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Ref<T> {}

impl<T> Default for Ref<T> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<T> PartialEq for Ref<T> {
    fn eq(&self, other: &Self) -> bool {
        self.serial == other.serial && self.slot == other.slot
    }
}

impl<T> Eq for Ref<T> {}

impl<T> PartialOrd for Ref<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Ref<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.serial, self.slot).cmp(&(other.serial, other.slot))
    }
}

impl<T> Hash for Ref<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.serial, self.slot).hash(state);
    }
}

impl<T> fmt::Debug for Ref<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_some() {
            true => write!(f, "{}#{}", self.name, self.serial),
            false => f.write_str("none"),
        }
    }
}

//! References to objects: a name, and a serial number that distinguishes objects which had the same name.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

/// One object of kind `T`, or none. It refers to the same object even if the name is reused.
pub struct Ref<T> {
    name: u64,
    /// The object's index in its table.
    slot: u32,
    /// Number of the object in its table, from 1; 0 for no object.
    serial: u32,
    kind: PhantomData<fn() -> T>,
}

impl<T> Ref<T> {
    /// No object.
    pub const NONE: Self = Self { name: 0, slot: 0, serial: 0, kind: PhantomData };

    pub(crate) fn new(name: u64, slot: u32, serial: u32) -> Self {
        Self { name, slot, serial, kind: PhantomData }
    }

    /// The name under which the object was created; 0 for no object.
    pub fn name(self) -> u64 {
        self.name
    }

    /// Distinguishes objects that had the same name; 0 for no object.
    pub fn serial(self) -> u32 {
        self.serial
    }

    /// Whether this is no object.
    pub fn is_none(self) -> bool {
        self.serial == 0
    }

    /// Whether this is an object.
    pub fn is_some(self) -> bool {
        self.serial != 0
    }

    /// The object's index in its table. Only one object that the table keeps has it.
    pub fn slot(self) -> usize {
        self.slot as usize
    }
}

crate::stored_struct! { impl<T> Ref<T> { name, slot, serial } kind: PhantomData }

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

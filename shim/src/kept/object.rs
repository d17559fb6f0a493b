//! The part of an object that is kept without a lock: its properties, and the commands that are appended to it. An object gets this
//! part at the first command that sets a property of it or is appended to it.
//!
//! These parts are found by handle ([`HandleMap`]) and never freed. After the object's end its part serves another object
//! under another number, so a program that uses a destroyed object finds none, or notices later that the number changed.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU64};

use gapii_edges::{HandleMap, Handled, TryCell};

use super::appended::{Appended, User};
use super::properties::{Properties, Unused};

/// The objects of which a property was set, or to which a command was appended.
pub static OBJECTS: HandleMap<Object> = HandleMap::new();

/// The part of an object that needs no lock.
pub struct Object {
    /// 0 while the part serves no object.
    handle: AtomicU64,
    /// Number of the object among all that had such a part; 0 while the part serves no object.
    number: AtomicU64,
    /// Commands that are appended to the object are executed at once, and not kept.
    is_immediate: AtomicBool,
    pub properties: Properties,
    /// By the rules of Level Zero one thread at a time appends to a list.
    pub appended: TryCell<Appended>,
}

impl Handled for Object {
    #[inline(always)]
    fn handle(&self) -> u64 {
        // Relaxed: a program that uses an object while it makes or destroys it may find it or not.
        self.handle.load(Relaxed)
    }
}

impl Object {
    /// A part that serves no object.
    pub fn idle() -> &'static Self {
        Box::leak(Box::new(Self {
            handle: AtomicU64::new(0),
            number: AtomicU64::new(0),
            is_immediate: AtomicBool::new(false),
            properties: Properties::none(),
            appended: TryCell::new(Appended::default()),
        }))
    }

    /// Serves an object from now on. It is not found yet. Gives up what a thread has set after the end of the object before,
    /// against the rules.
    pub fn begin(&self, handle: u64, number: u64, is_immediate: bool, unused: &mut Unused) {
        self.properties.clear(unused);
        // Relaxed: HANDLE orders all three.
        self.is_immediate.store(is_immediate, Relaxed);
        self.number.store(number, Relaxed);
        self.handle.store(handle, Relaxed);
    }

    /// Ends to serve an object that is not found any more. Returns its commands, to be dropped without a lock; `None` if
    /// another thread is appending to it, against the rules: then the part must not serve another object.
    pub fn end(&self, unused: &mut Unused) -> Option<Appended> {
        // Relaxed: a thread that does not see it breaks the rules, and notices only later.
        self.handle.store(0, Relaxed);
        self.number.store(0, Relaxed);
        self.properties.clear(unused);
        self.appended.try_with(core::mem::take)
    }

    /// Returns the object's number; 0 after its end.
    #[inline(always)]
    pub fn number(&self) -> u64 {
        // Relaxed: HANDLE orders it; a later one belongs to a program that breaks the rules.
        self.number.load(Relaxed)
    }

    /// Returns the object as a command that is appended to a list uses it.
    #[inline(always)]
    pub fn user(&self) -> User<'_> {
        User { object: self.number(), properties: &self.properties }
    }

    /// Whether commands that are appended to the object are executed at once.
    #[inline(always)]
    pub fn is_immediate(&self) -> bool {
        // Relaxed: HANDLE orders it.
        self.is_immediate.load(Relaxed)
    }
}

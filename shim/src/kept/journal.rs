//! The kept commands, by the object that they belong to: those that made it, the last ones that set each of its properties,
//! and those that are appended to it. An object's commands are dropped when it is destroyed; commands that a list holds
//! keep the properties of the kernels that they use.
//!
//! The lock is held for one look-up or change, never across a call of the driver. A forked child begins with an empty
//! journal; its copy of the parent's is never freed.

use core::hash::{BuildHasherDefault, Hasher};
use core::ptr;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::{Acquire, Release};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::entry::{Draft, Entry, Properties, Property};
use super::facts::{Facts, Kind};

/// The journal of this process; null until its first kept command, and in a forked child.
static JOURNAL: AtomicPtr<Mutex<Journal>> = AtomicPtr::new(ptr::null_mut());

/// All kept commands of the process.
#[derive(Default)]
pub struct Journal {
    openers: Vec<Arc<Entry>>,
    /// By handle, or by address.
    objects: HashMap<u64, Object, BuildHasherDefault<Mixed>>,
    serial: u64,
    /// Ids of the commands whose effects cannot be described.
    unkept: Vec<u16>,
}

/// An object that lives, or memory that is allocated.
pub struct Object {
    /// The command that made or found the object.
    pub made: Arc<Entry>,
    pub kind: Kind,
    /// Size of the memory; 0 for an object.
    pub bytes: u64,
    properties: Properties,
    appended: Vec<Arc<Entry>>,
}

/// Hash of a handle, which is an address.
#[derive(Default)]
pub struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
        self.0 = (self.0 ^ number).wrapping_mul(GOLDEN).rotate_left(26);
    }
}

/// Locks the journal.
pub fn lock() -> MutexGuard<'static, Journal> {
    let mut known = JOURNAL.load(Acquire);
    if known.is_null() {
        let fresh = Box::into_raw(Box::default());
        match JOURNAL.compare_exchange(ptr::null_mut(), fresh, Release, Acquire) {
            Ok(_) => known = fresh,
            Err(first) => {
                // SAFETY: it was not published, so no other thread has it.
                drop(unsafe { Box::from_raw(fresh) });
                known = first;
            }
        }
    }
    // SAFETY: made by `Box::into_raw`, and never freed.
    let journal = unsafe { &*known };
    journal.lock().unwrap_or_else(PoisonError::into_inner)
}

/// For a forked child: it begins with an empty journal.
pub fn forget() {
    JOURNAL.store(ptr::null_mut(), Release);
}

impl Object {
    fn new(made: &Arc<Entry>, facts: &Facts) -> Self {
        let bytes = facts.memory_bytes.and_then(|place| made.numbers(place).first().copied());
        Self {
            made: Arc::clone(made),
            kind: facts.kind,
            bytes: bytes.unwrap_or(0),
            properties: Properties::default(),
            appended: Vec::new(),
        }
    }
}

impl Journal {
    /// Whether commands that are appended to this object are kept: it is known, and does not execute them at once.
    pub fn keeps_appended(&self, handle: u64) -> bool {
        self.objects.get(&handle).is_some_and(|object| object.kind != Kind::ImmediateList)
    }

    /// Takes out an object that is about to be destroyed.
    pub fn take(&mut self, handle: u64) -> Option<Object> {
        self.objects.remove(&handle)
    }

    /// Puts back an object that was not destroyed.
    pub fn put_back(&mut self, handle: u64, object: Object) {
        self.objects.insert(handle, object);
    }

    /// Forgets the commands that are appended to an object. Returns them, to be freed without the lock.
    pub fn empty(&mut self, handle: u64) -> Vec<Arc<Entry>> {
        let object = self.objects.get_mut(&handle);
        object.map(|object| core::mem::take(&mut object.appended)).unwrap_or_default()
    }

    /// Notes that a command has succeeded whose effect cannot be described.
    pub fn note_unkept(&mut self, id: u16) {
        if !self.unkept.contains(&id) {
            self.unkept.push(id);
        }
    }

    /// Keeps a command that has succeeded.
    pub fn keep(&mut self, draft: Draft) {
        let (id, facts) = (draft.command().id, &draft.command().facts);
        if let Some(owner) = facts.set {
            let key = facts.set_key.map_or(0, |at| draft.arg(at));
            let owner = draft.arg(owner);
            if self.objects.contains_key(&owner) {
                let entry = self.finish(draft);
                self.set(owner, Property { id, key, entry });
            }
        } else if let Some(place) = facts.appended {
            let owner = draft.numbers(place).first().copied().unwrap_or(0);
            if self.keeps_appended(owner) {
                let entry = self.finish(draft);
                if let Some(object) = self.objects.get_mut(&owner) {
                    object.appended.push(entry);
                }
            }
        } else if facts.opens {
            if !self.openers.iter().any(|opener| opener.command.id == id) {
                let entry = self.finish(draft);
                self.openers.push(entry);
            }
        } else {
            let entry = self.finish(draft);
            let is_found = facts.found.is_some();
            for handle in entry.makes() {
                let is_known =
                    is_found && self.objects.get(&handle).is_some_and(|it| self.lives(it));
                if !is_known {
                    self.objects.insert(handle, Object::new(&entry, facts));
                }
            }
        }
    }

    /// Whether what made the object still lives: memory in a module ends with the module.
    fn lives(&self, object: &Object) -> bool {
        let is_older = |handle: &u64| {
            let owner = self.objects.get(handle);
            owner.is_some_and(|owner| owner.made.serial < object.made.serial)
        };
        object.made.handles().iter().all(is_older)
    }

    fn finish(&mut self, draft: Draft) -> Arc<Entry> {
        self.serial += 1;
        let used = draft.command().facts.uses.map_or_else(Vec::new, |place| draft.numbers(place));
        let used = used.iter().filter_map(|handle| self.objects.get(handle));
        let uses = used.map(|object| Arc::clone(&object.properties)).collect();
        Arc::new(draft.finish(self.serial, uses))
    }

    fn set(&mut self, owner: u64, property: Property) {
        let Some(object) = self.objects.get_mut(&owner) else { return };
        // Commands that are appended keep the properties that they were appended with.
        let properties = Arc::make_mut(&mut object.properties);
        let is_same = |known: &&mut Property| (known.id, known.key) == (property.id, property.key);
        match properties.iter_mut().find(is_same) {
            Some(known) => *known = property,
            None => properties.push(property),
        }
    }

    /// Returns all kept commands, in the order in which they were called.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        let mut all = self.openers.clone();
        for object in self.objects.values() {
            all.push(Arc::clone(&object.made));
            all.extend(object.appended.iter().cloned());
            let used = object.appended.iter().flat_map(|entry| &entry.uses);
            for properties in used.chain([&object.properties]) {
                all.extend(properties.iter().map(|property| Arc::clone(&property.entry)));
            }
        }
        all.sort_unstable_by_key(|entry| entry.serial);
        all.dedup_by_key(|entry| entry.serial);
        all
    }

    /// Returns the objects of the kinds that `is_wanted` selects, with their handles, in the order in which they were made.
    pub fn objects(&self, is_wanted: impl Fn(Kind) -> bool) -> Vec<Living> {
        let found = self.objects.iter().filter(|(_, object)| is_wanted(object.kind));
        let mut all: Vec<Living> = found
            .map(|(handle, object)| Living {
                handle: *handle,
                kind: object.kind,
                bytes: object.bytes,
                made: Arc::clone(&object.made),
            })
            .collect();
        all.sort_unstable_by_key(|living| (living.made.serial, living.handle));
        all
    }

    /// Returns the context and the device that an object belongs to, or that the object which it was found in does; 0 for
    /// none.
    pub fn place_of(&self, made: &Entry) -> (u64, u64) {
        let facts = &made.command.facts;
        let place = |made: &Entry| {
            let facts = &made.command.facts;
            let arg = |at: Option<u8>| at.map_or(0, |at| made.arg(at));
            (arg(facts.in_context), arg(facts.on_device))
        };
        match facts.in_context {
            Some(_) => place(made),
            None => {
                let owner = made.handles().into_iter().find_map(|owner| self.objects.get(&owner));
                owner.map_or((0, 0), |owner| place(&owner.made))
            }
        }
    }

    /// Ids of the commands whose effects cannot be described.
    pub fn unkept(&self) -> Vec<u16> {
        self.unkept.clone()
    }
}

/// An object that lives.
pub struct Living {
    pub handle: u64,
    pub kind: Kind,
    /// Size of the memory; 0 for an object.
    pub bytes: u64,
    pub made: Arc<Entry>,
}

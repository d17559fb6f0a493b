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
use super::facts::{Facts, Kept, Kind, Place};

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
    appended: Appended,
}

/// The commands that are appended to an object, one behind the other, so that most need no allocation.
#[derive(Default)]
struct Appended {
    commands: Vec<Command>,
    words: Vec<u64>,
}

/// A command that is appended to an object.
struct Command {
    serial: u64,
    command: &'static Kept,
    /// Properties that the objects which the command uses had at the append.
    uses: Option<Properties>,
    /// End of the command's words.
    end: usize,
}

/// What an emptied object forgets. Dropped without the lock.
pub struct Emptied {
    _uses: Vec<Properties>,
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
            appended: Appended::default(),
        }
    }
}

impl Object {
    /// Keeps a command that has set a property.
    fn set(&mut self, serial: u64, key: u64, draft: &Draft) {
        let (command, words) = (draft.command(), draft.words());
        // Commands that are appended share the properties that they were appended with.
        let properties = Arc::make_mut(&mut self.properties);
        let is_same = |known: &&mut Property| (known.id, known.key) == (command.id, key);
        let known = properties.iter_mut().find(is_same);
        if let Some(known) = known {
            let is_replaced =
                Arc::get_mut(&mut known.entry).is_some_and(|entry| entry.replace(serial, words));
            if !is_replaced {
                known.entry = Arc::new(Entry::new(serial, command, words));
            }
        } else {
            let entry = Arc::new(Entry::new(serial, command, words));
            properties.push(Property { id: command.id, key, entry });
        }
    }

    /// Keeps a command that is executed later.
    fn append(&mut self, serial: u64, draft: &Draft, uses: Option<Properties>) {
        if self.kind != Kind::ImmediateList {
            self.appended.words.extend_from_slice(draft.words());
            let end = self.appended.words.len();
            self.appended.commands.push(Command { serial, command: draft.command(), uses, end });
        }
    }
}

impl Appended {
    fn entries(&self) -> impl Iterator<Item = Arc<Entry>> {
        let mut begin = 0;
        self.commands.iter().map(move |Command { serial, command, end, .. }| {
            let words = &self.words[begin..*end];
            begin = *end;
            Arc::new(Entry::new(*serial, command, words))
        })
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

    /// Forgets the commands that are appended to an object, and keeps the room that they took. Returns what is to be
    /// freed without the lock.
    pub fn empty(&mut self, handle: u64) -> Option<Emptied> {
        let appended = &mut self.objects.get_mut(&handle)?.appended;
        appended.words.clear();
        let uses = appended.commands.drain(..).filter_map(|command| command.uses);
        Some(Emptied { _uses: uses.collect() })
    }

    /// Notes that a command has succeeded whose effect cannot be described.
    pub fn note_unkept(&mut self, id: u16) {
        if !self.unkept.contains(&id) {
            self.unkept.push(id);
        }
    }

    /// Keeps a command that has succeeded.
    pub fn keep(&mut self, draft: &Draft) {
        self.serial += 1;
        let (serial, command) = (self.serial, draft.command());
        let facts = &command.facts;
        let entry = || Arc::new(Entry::new(serial, command, draft.words()));
        if let Some(owner) = facts.set {
            let key = facts.set_key.map_or(0, |at| draft.arg(at));
            if let Some(object) = self.objects.get_mut(&draft.arg(owner)) {
                object.set(serial, key, draft);
            }
        } else if let Some(place) = facts.appended {
            let uses = facts.uses.and_then(|place| self.properties_of(draft, place));
            if let Some(object) = self.objects.get_mut(&draft.number(place)) {
                object.append(serial, draft, uses);
            }
        } else if facts.opens {
            if !self.openers.iter().any(|opener| opener.command.id == command.id) {
                self.openers.push(entry());
            }
        } else {
            let entry = entry();
            let is_found = facts.found.is_some();
            for handle in entry.makes() {
                let known = self.objects.get(&handle).filter(|_| is_found);
                if !known.is_some_and(|object| self.lives(object)) {
                    self.objects.insert(handle, Object::new(&entry, facts));
                }
            }
        }
    }

    /// Returns the properties of the objects at a place, those of several objects together.
    fn properties_of(&self, draft: &Draft, place: Place) -> Option<Properties> {
        let of = |handle: &u64| Some(&self.objects.get(handle)?.properties);
        match place {
            Place::Argument(at) => of(&draft.arg(at)).cloned(),
            Place::Array(_) => {
                let handles = draft.numbers(place);
                let all = handles.iter().filter_map(of).flat_map(|properties| properties.iter());
                Some(Arc::new(all.cloned().collect()))
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

    /// Returns all kept commands, in the order in which they were called.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        let mut all = self.openers.clone();
        for object in self.objects.values() {
            all.push(Arc::clone(&object.made));
            all.extend(object.appended.entries());
            let used = object.appended.commands.iter().filter_map(|command| command.uses.as_ref());
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

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: &[usize] = &[8, 8];
    const LIST: u64 = 0x10;
    const KERNEL: u64 = 0x20;

    const fn command(id: u16, facts: Facts) -> Kept {
        Kept { id, facts, sizes: SIZES }
    }

    static FIND: Kept = command(1, Facts { found: Some(1), handles: &[0], ..Facts::NONE });
    static MAKE: Kept = command(2, Facts { made: &[1], handles: &[0], ..Facts::NONE });
    static MAKE_IMMEDIATE: Kept =
        command(3, Facts { made: &[1], kind: Kind::ImmediateList, ..Facts::NONE });
    static SET: Kept =
        command(4, Facts { set: Some(0), set_key: Some(1), handles: &[0], ..Facts::NONE });
    static APPEND: Kept = command(
        5,
        Facts {
            appended: Some(Place::Argument(0)),
            uses: Some(Place::Argument(1)),
            handles: &[0, 1],
            ..Facts::NONE
        },
    );
    static OPEN: Kept = command(6, Facts { opens: true, ..Facts::NONE });

    impl Journal {
        fn call(&mut self, command: &'static Kept, args: [u64; 2]) {
            self.keep(&Draft::new(command, &args));
        }

        /// A command that writes a handle at its second argument.
        fn give(&mut self, command: &'static Kept, owner: u64, handle: u64) {
            let pointer = &raw const handle;
            let mut draft = Draft::new(command, &[owner, pointer as u64]);
            draft.returned();
            draft.slot(gapii_recorder::observe::array(pointer, 1, 8));
            self.keep(&draft);
        }

        /// Ids of the kept commands with their second arguments, except for pointers.
        fn kept(&self) -> Vec<(u16, u64)> {
            let entries = self.entries();
            let second = |entry: &Arc<Entry>| match entry.command.id {
                1..=3 => entry.makes()[0],
                _ => entry.arg(1),
            };
            entries.iter().map(|entry| (entry.command.id, second(entry))).collect()
        }
    }

    fn with_list_and_kernel() -> Journal {
        let mut journal = Journal::default();
        journal.give(&MAKE, 0, LIST);
        journal.give(&MAKE, 0, KERNEL);
        journal
    }

    const MADE: [(u16, u64); 2] = [(2, LIST), (2, KERNEL)];

    #[track_caller]
    fn check(journal: &Journal, behind_made: &[(u16, u64)]) {
        assert_eq!(journal.kept(), [&MADE, behind_made].concat());
    }

    #[test]
    fn last_call_sets_a_property_for_each_key() {
        let mut journal = with_list_and_kernel();
        for key in [0, 1, 0] {
            journal.call(&SET, [KERNEL, key]);
        }
        check(&journal, &[(4, 1), (4, 0)]);
        journal.call(&SET, [0x999, 0]);
        check(&journal, &[(4, 1), (4, 0)]);
    }

    #[test]
    fn appended_command_keeps_the_properties_of_its_append() {
        let mut journal = with_list_and_kernel();
        journal.call(&SET, [KERNEL, 7]);
        journal.call(&APPEND, [LIST, KERNEL]);
        journal.call(&SET, [KERNEL, 7]);
        check(&journal, &[(4, 7), (5, KERNEL), (4, 7)]);
        drop(journal.empty(LIST));
        check(&journal, &[(4, 7)]);
        journal.call(&APPEND, [LIST, KERNEL]);
        check(&journal, &[(4, 7), (5, KERNEL)]);
    }

    #[test]
    fn destroyed_object_takes_its_commands_with_it_unless_it_was_not_destroyed() {
        let mut journal = with_list_and_kernel();
        journal.call(&SET, [KERNEL, 7]);
        journal.call(&APPEND, [LIST, KERNEL]);
        let list = journal.take(LIST).unwrap();
        assert_eq!(journal.kept(), [(2, KERNEL), (4, 7)]);
        journal.put_back(LIST, list);
        check(&journal, &[(4, 7), (5, KERNEL)]);
    }

    #[test]
    fn commands_of_immediate_lists_are_not_kept() {
        let mut journal = Journal::default();
        journal.give(&MAKE_IMMEDIATE, 0, LIST);
        assert!(!journal.keeps_appended(LIST) && !journal.keeps_appended(0x999));
        journal.call(&APPEND, [LIST, 0]);
        assert_eq!(journal.kept(), [(3, LIST)]);
    }

    #[test]
    fn what_is_found_is_kept_once_as_long_as_its_owner_lives() {
        const MEMORY: u64 = 0x5000;
        let mut journal = with_list_and_kernel();
        journal.give(&FIND, LIST, MEMORY);
        journal.give(&FIND, LIST, MEMORY);
        check(&journal, &[(1, MEMORY)]);
        journal.take(LIST);
        journal.give(&MAKE, 0, LIST);
        journal.give(&FIND, LIST, MEMORY);
        assert_eq!(journal.kept(), [(2, KERNEL), (2, LIST), (1, MEMORY)]);
    }

    #[test]
    fn api_is_opened_once() {
        let mut journal = Journal::default();
        journal.call(&OPEN, [0, 1]);
        journal.call(&OPEN, [0, 2]);
        assert_eq!(journal.kept(), [(6, 1)]);
    }
}

//! The objects that live: the commands that made them, and where the rest that is kept of them is ([`Object`]). The lock
//! is held for one look-up or change, never across a call of the driver; commands that set properties or are appended take
//! it at the first use of an object only.
//!
//! A forked child begins with an empty registry; its copy of the parent's is never freed.

use core::hash::{BuildHasherDefault, Hasher};
use core::ptr;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU64};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gapii_edges::TryCell;
use gapii_recorder::ErrnoGuard;

use super::appended::{Appended, User};
use super::entry::{Draft, Entry};
use super::facts::{Facts, Kept, Kind, Place};
use super::object::{OBJECTS, Object};
use super::order::{self, Kepts};
use super::properties::{Change, Memory, Tag, Unused};
use crate::tls::Words;

/// The locked part of this process; null until its first kept command, and in a forked child.
static LOCKED: AtomicPtr<Locked> = AtomicPtr::new(ptr::null_mut());

/// Number of commands that have made objects. A command that is appended to a list is kept with this number, so that it
/// comes after the objects that it may use.
static MADE: AtomicU64 = AtomicU64::new(0);

/// Number of commands that were not kept, or not reliably, because another thread was using the same object.
static CONTENDED: AtomicU64 = AtomicU64::new(0);

/// How often an append to a list that another thread is using is attempted again.
const ATTEMPTS: usize = 1000;

#[derive(Default)]
struct Locked {
    registry: Mutex<Registry>,
    unused: Mutex<Unused>,
    /// Held while a command with which several threads may set properties at once does so.
    sets: Mutex<()>,
}

/// The objects of the process.
#[derive(Default)]
pub struct Registry {
    openers: Vec<Arc<Entry>>,
    /// By handle, or by address.
    objects: HashMap<u64, Made, BuildHasherDefault<Mixed>>,
    /// Parts that serve no object.
    idle: Vec<&'static Object>,
    /// Number of parts that were given to objects.
    parts: u64,
}

/// An object that lives, or memory that is allocated.
pub struct Made {
    /// The command that made or found the object.
    made: Arc<Entry>,
    kind: Kind,
    /// Size of the memory; 0 for an object.
    bytes: u64,
    part: Option<&'static Object>,
}

/// An object that is being destroyed.
pub struct Taken {
    handle: u64,
    object: Made,
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

fn locked() -> &'static Locked {
    let mut known = LOCKED.load(Acquire);
    if known.is_null() {
        let fresh = Box::into_raw(Box::default());
        match LOCKED.compare_exchange(ptr::null_mut(), fresh, Release, Acquire) {
            Ok(_) => known = fresh,
            Err(first) => {
                // SAFETY: it was not published, so no other thread has it.
                drop(unsafe { Box::from_raw(fresh) });
                known = first;
            }
        }
    }
    // SAFETY: made by `Box::into_raw`, and never freed.
    unsafe { &*known }
}

/// Locks the registry.
pub fn lock() -> MutexGuard<'static, Registry> {
    locked().registry.lock().unwrap_or_else(PoisonError::into_inner)
}

/// For a forked child: it begins with an empty registry.
pub fn forget() {
    LOCKED.store(ptr::null_mut(), Release);
    CONTENDED.store(0, Relaxed);
    OBJECTS.forget();
}

/// Memory of properties, which has a lock of its own.
struct Shared;

impl Memory for Shared {
    fn with<R>(&self, act: impl FnOnce(&mut Unused) -> R) -> R {
        act(&mut locked().unused.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns the part of an object that needs no lock. `None` for an unknown handle.
#[inline(always)]
pub fn object(handle: u64) -> Option<&'static Object> {
    match OBJECTS.find(handle) {
        Some(object) if handle != 0 => Some(object),
        _ => new_part(handle),
    }
}

#[cold]
#[inline(never)]
fn new_part(handle: u64) -> Option<&'static Object> {
    let _errno = ErrnoGuard::save();
    if handle == 0 { None } else { lock().part(handle) }
}

/// Keeps a command that has set a property of an object.
#[inline(always)]
pub fn set(words: &Words, command: &'static Kept, owner: u8, draft: &Draft) {
    let Some(object) = object(draft.arg(owner)) else { return };
    let number = object.number();
    let key = command.facts.set_key.map_or(0, |at| draft.arg(at));
    let Some(tag) = Tag::new(command.id, key) else { return note_contended() };
    let writer = ptr::from_ref(words).addr() as u64;
    let change = if command.facts.set_shared {
        set_alone(object, tag, draft, writer)
    } else {
        object.properties.set(tag, draft.words(), writer, &Shared)
    };
    if change == Change::Contended || object.number() != number {
        note_contended();
    }
}

/// Sets a property that other threads may set at the same time.
#[cold]
fn set_alone(object: &Object, tag: Tag, draft: &Draft, writer: u64) -> Change {
    let _errno = ErrnoGuard::save();
    let _sets = locked().sets.lock();
    object.properties.set(tag, draft.words(), writer, &Shared)
}

/// Keeps a command that was appended to `list`, which had this number before the command.
#[inline(always)]
pub fn append(
    list: &'static Object,
    number: u64,
    command: &'static Kept,
    draft: &Draft,
    is_followed: bool,
) {
    let push = |uses: &[User<'_>]| push(list, number, command, draft, uses, is_followed);
    let is_kept = match command.facts.uses {
        None => push(&[]),
        Some(Place::Argument(at)) => match object(draft.arg(at)) {
            Some(used) => push(&[used.user()]),
            None => push(&[]),
        },
        Some(place @ Place::Array(_)) => {
            let used: Vec<_> =
                draft.numbers(place).into_iter().filter_map(object).map(Object::user).collect();
            push(&used)
        }
    };
    if !is_kept {
        note_contended();
    }
}

#[inline(always)]
fn push(
    list: &'static Object,
    number: u64,
    command: &'static Kept,
    draft: &Draft,
    uses: &[User<'_>],
    is_followed: bool,
) -> bool {
    let push = |appended: &mut Appended| {
        // Relaxed: MADE has one order of changes, so it counts what was made before this command.
        let made = MADE.load(Relaxed);
        list.number() == number && appended.push(made, command, draft.words(), uses, is_followed)
    };
    list.appended.try_with(push) == Some(true) || push_later(&list.appended, push)
}

/// Attempts it again, while another thread uses the list or a kernel.
#[cold]
#[inline(never)]
fn push_later(list: &TryCell<Appended>, mut push: impl FnMut(&mut Appended) -> bool) -> bool {
    let _errno = ErrnoGuard::save();
    (0..ATTEMPTS).any(|_| {
        std::thread::yield_now();
        list.try_with(&mut push) == Some(true)
    })
}

/// Passes the commands in a list to `follow` whose state is not followed.
pub fn follow(handle: u64, follow: impl FnMut(u16, &[u64])) {
    if let Some(list) = OBJECTS.find(handle) {
        follow_part(list, follow);
    }
}

/// Passes the commands in all lists to `follow` whose state is not followed.
pub fn follow_all(mut follow: impl FnMut(u16, &[u64])) {
    let parts: Vec<_> = lock().objects.values().filter_map(|object| object.part).collect();
    parts.into_iter().for_each(|part| follow_part(part, &mut follow));
}

fn follow_part(list: &Object, mut follow: impl FnMut(u16, &[u64])) {
    let mut follow = |appended: &mut Appended| {
        if !appended.is_followed() {
            appended.follow(&mut follow);
        }
        true
    };
    if list.appended.try_with(&mut follow).is_none() && !push_later(&list.appended, follow) {
        note_contended();
    }
}

/// Forgets the commands that are appended to an object.
pub fn empty(handle: u64) {
    if let Some(object) = object(handle)
        && object.appended.try_with(Appended::clear).is_none()
        && !push_later(&object.appended, |appended| {
            appended.clear();
            true
        })
    {
        note_contended();
    }
}

/// Counts a command that was not kept reliably.
#[cold]
fn note_contended() {
    CONTENDED.fetch_add(1, Relaxed);
}

/// Returns the number of commands that were not kept reliably, because several threads used one object at once.
pub fn contended() -> u64 {
    CONTENDED.load(Relaxed)
}

impl Taken {
    /// Takes out an object that is about to be destroyed.
    pub fn take(handle: u64) -> Option<Self> {
        let mut registry = lock();
        let object = registry.objects.remove(&handle)?;
        object.part.into_iter().for_each(|part| OBJECTS.remove(part));
        Some(Self { handle, object })
    }

    /// Ends an object that was destroyed.
    pub fn end(self) {
        let Some(part) = self.object.part else { return };
        let mut registry = lock();
        let appended = Shared.with(|unused| part.end(unused));
        if appended.is_some() {
            registry.idle.push(part);
        }
        // `appended` is freed without the lock.
        drop(registry);
    }

    /// Puts back an object that was not destroyed.
    pub fn put_back(self) {
        let mut registry = lock();
        if let Some(part) = self.object.part {
            OBJECTS.insert(part);
        }
        registry.objects.insert(self.handle, self.object);
    }
}

impl Made {
    fn new(made: &Arc<Entry>, facts: &Facts) -> Self {
        let bytes = facts.memory_bytes.and_then(|place| made.numbers(place).first().copied());
        Self { made: Arc::clone(made), kind: facts.kind, bytes: bytes.unwrap_or(0), part: None }
    }
}

impl Registry {
    /// Returns the part of an object that needs no lock. Makes it if it has none yet.
    fn part(&mut self, handle: u64) -> Option<&'static Object> {
        let object = self.objects.get_mut(&handle)?;
        if object.part.is_none() {
            let part = self.idle.pop().unwrap_or_else(Object::idle);
            self.parts += 1;
            let (number, is_immediate) = (self.parts, object.kind == Kind::ImmediateList);
            Shared.with(|unused| part.begin(handle, number, is_immediate, unused));
            OBJECTS.insert(part);
            object.part = Some(part);
        }
        object.part
    }

    /// Keeps a command that has made or found objects, or has opened the API.
    pub fn keep(&mut self, draft: &Draft) {
        let command = draft.command();
        let facts = &command.facts;
        // Relaxed: changed under the lock only.
        let serial = MADE.load(Relaxed) + 1;
        let entry = Arc::new(Entry::new(serial, command, draft.words()));
        if facts.opens {
            if !self.openers.iter().any(|opener| opener.command.id == command.id) {
                self.openers.push(entry);
            }
        } else {
            let is_found = facts.found.is_some();
            for handle in entry.makes() {
                let known = self.objects.get(&handle).filter(|_| is_found);
                if !known.is_some_and(|object| self.lives(object)) {
                    self.insert(handle, Made::new(&entry, facts));
                }
            }
        }
        // Relaxed: as in `push`.
        MADE.store(serial, Relaxed);
    }

    /// Inserts an object. One that had its handle has ended without a command that says so.
    fn insert(&mut self, handle: u64, object: Made) {
        let before = self.objects.insert(handle, object);
        if let Some(part) = before.and_then(|before| before.part) {
            OBJECTS.remove(part);
            if Shared.with(|unused| part.end(unused)).is_some() {
                self.idle.push(part);
            }
        }
    }

    /// Whether what made the object still lives: memory in a module ends with the module.
    fn lives(&self, object: &Made) -> bool {
        let is_older = |handle: &u64| {
            let owner = self.objects.get(handle);
            owner.is_some_and(|owner| owner.made.serial < object.made.serial)
        };
        object.made.handles().iter().all(is_older)
    }

    /// Returns all kept commands, in an order in which they make what the program has made. Counts the objects of which
    /// another thread is changing what is kept as contended. `command` finds a command by its id.
    pub fn entries(&self, command: impl Fn(u16) -> Option<&'static Kept>) -> Vec<Arc<Entry>> {
        let objects = self.objects.values();
        let mut makes = self.openers.clone();
        makes.extend(objects.clone().map(|object| Arc::clone(&object.made)));
        makes.sort_unstable_by_key(|entry| entry.serial);
        makes.dedup_by_key(|entry| entry.serial);
        let mut parts: Vec<_> = objects.filter_map(|object| object.part).collect();
        parts.sort_unstable_by_key(|part| part.number());
        let (mut lists, mut properties) = (Vec::new(), Vec::new());
        for part in parts {
            let all = part.properties.all();
            let mut appended = part.appended.try_with(|appended| appended.listed(&command));
            for _ in 0..ATTEMPTS {
                if appended.is_none() {
                    std::thread::yield_now();
                    appended = part.appended.try_with(|appended| appended.listed(&command));
                }
            }
            if all.is_none() || appended.is_none() {
                note_contended();
            }
            lists.extend(appended.filter(|appended| !appended.is_empty()));
            properties.push((part.number(), all.unwrap_or_default()));
        }
        order::order(Kepts { makes, lists, properties }, command)
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

    /// Returns where a list belongs. `None` if it is unknown.
    pub fn place_of_list(&self, list: u64) -> Option<ListPlace> {
        let list = self.objects.get(&list)?;
        let (context, device) = self.place_of(&list.made);
        let is_immediate = list.kind == Kind::ImmediateList;
        let context_serial = self.objects.get(&context).map_or(0, |it| it.made.serial);
        let serial = list.made.serial;
        Some(ListPlace { serial, context, context_serial, device, is_immediate })
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
}

/// Returns the number of commands kept in a list that `is_counted` selects by id.
pub fn count_appended(list: u64, is_counted: fn(u16) -> bool) -> u32 {
    let Some(list) = OBJECTS.find(list) else { return 0 };
    list.appended.try_with(|appended| appended.count(is_counted)).unwrap_or(0)
}

/// Where a list belongs. A later object with the same handle has another serial number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListPlace {
    /// Serial number of the list.
    pub serial: u64,
    /// Handle of the context.
    pub context: u64,
    /// Serial number of the context; 0 for a context that was not made.
    pub context_serial: u64,
    /// Handle of the device.
    pub device: u64,
    /// The list executes commands when they are appended.
    pub is_immediate: bool,
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
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use gapii_recorder::observe;

    use super::*;
    use crate::generated::ids;
    use crate::kept::keeper;
    use crate::tls::words;
    use crate::tracking;

    const LIMIT: Duration = Duration::from_secs(20);

    fn command(id: u16) -> &'static Kept {
        crate::kept::command(id).unwrap()
    }

    /// Returns a handle that no other test has.
    fn handle() -> u64 {
        static LAST: AtomicU64 = AtomicU64::new(0x10_0000);
        LAST.fetch_add(0x40, Relaxed)
    }

    /// A command with these arguments, the last of which points at the handle that the command writes.
    fn give<const ARGS: usize>(id: u16, mut args: [u64; ARGS], handle: u64) {
        let pointer = &raw const handle;
        args[ARGS - 1] = pointer as u64;
        let mut draft = Draft::new(command(id), &args);
        draft.returned();
        draft.slot(observe::array(pointer, 1, 8));
        lock().keep(&draft);
    }

    fn new_list() -> u64 {
        let list = handle();
        give(ids::ZE_COMMAND_LIST_CREATE, [0; 4], list);
        list
    }

    fn new_kernel() -> u64 {
        let kernel = handle();
        give(ids::ZE_KERNEL_CREATE, [0; 3], kernel);
        kernel
    }

    fn set_group(kernel: u64, x: u64) {
        let command = command(ids::ZE_KERNEL_SET_GROUP_SIZE);
        set(words(), command, 0, &Draft::new(command, &[kernel, x, 1, 1]));
    }

    fn set_argument(kernel: u64, index: u64, value: u64) {
        let command = command(ids::ZE_KERNEL_SET_ARGUMENT_VALUE);
        let pointer = &raw const value;
        let mut draft = Draft::new(command, &[kernel, index, 8, pointer as u64]);
        draft.slot(observe::array(pointer, 1, 8));
        set(words(), command, 0, &draft);
    }

    fn append_args<const ARGS: usize>(id: u16, args: [u64; ARGS]) {
        let command = command(id);
        let draft = Draft::new(command, &args);
        if let Some(keeper::List::Known(list, number)) = keeper::list(Place::Argument(0), &args) {
            append(list, number, command, &draft, false);
        }
    }

    fn launch(list: u64, kernel: u64) {
        append_args(ids::ZE_COMMAND_LIST_APPEND_LAUNCH_KERNEL, [list, kernel, 0, 0, 0, 0]);
    }

    /// The kept commands whose first argument or result is one of these handles, as words: `made H`, `group H X`,
    /// `argument H INDEX VALUE`, `launch LIST KERNEL`, with the handles' places among `handles`.
    fn kept(handles: &[u64]) -> Vec<String> {
        let entries = lock().entries(crate::kept::command);
        let name = |handle: u64| handles.iter().position(|known| *known == handle);
        let said = entries.iter().filter_map(|entry| match entry.command.id {
            ids::ZE_KERNEL_SET_GROUP_SIZE => {
                Some(format!("group {} {}", name(entry.arg(0))?, entry.arg(1)))
            }
            ids::ZE_KERNEL_SET_ARGUMENT_VALUE => {
                let value = entry.pieces().next().and_then(|piece| Some(piece.bytes?[0]));
                let (kernel, index) = (name(entry.arg(0))?, entry.arg(1));
                Some(format!("argument {kernel} {index} {}", value.unwrap()))
            }
            ids::ZE_COMMAND_LIST_APPEND_LAUNCH_KERNEL => {
                Some(format!("launch {} {}", name(entry.arg(0))?, name(entry.arg(1))?))
            }
            _ => Some(format!("made {}", entry.makes().into_iter().find_map(name)?)),
        });
        said.collect()
    }

    #[track_caller]
    fn check(handles: &[u64], expected: &[&str]) {
        assert_eq!(kept(handles), expected);
    }

    #[test]
    fn last_call_sets_a_property_for_each_key() {
        let kernel = new_kernel();
        for (index, value) in [(0, 5), (1, 6), (0, 7)] {
            set_argument(kernel, index, value);
        }
        set_group(kernel, 3);
        set_group(handle(), 4);
        check(&[kernel], &["made 0", "argument 0 1 6", "argument 0 0 7", "group 0 3"]);
    }

    #[test]
    fn appended_command_keeps_the_properties_of_its_append() {
        let (list, kernel) = (new_list(), new_kernel());
        let made = ["made 0", "made 1"];
        set_group(kernel, 7);
        set_argument(kernel, 0, 1);
        launch(list, kernel);
        set_group(kernel, 8);
        launch(list, kernel);
        launch(list, kernel);
        set_group(kernel, 9);
        let first = ["group 1 7", "argument 1 0 1", "launch 0 1"];
        let others = ["group 1 8", "launch 0 1", "launch 0 1", "group 1 9"];
        check(&[list, kernel], &[&made[..], &first, &others].concat());
        empty(list);
        check(&[list, kernel], &["made 0", "made 1", "argument 1 0 1", "group 1 9"]);
        launch(list, kernel);
        let last = ["argument 1 0 1", "group 1 9", "launch 0 1"];
        check(&[list, kernel], &[&made[..], &last].concat());
    }

    #[test]
    fn launches_of_one_kernel_in_two_lists_come_in_the_order_of_its_properties() {
        let (early, late, kernel) = (new_list(), new_list(), new_kernel());
        set_group(kernel, 1);
        launch(late, kernel);
        // The launch before has no argument, so it has to come first.
        set_argument(kernel, 0, 2);
        launch(early, kernel);
        set_group(kernel, 3);
        launch(late, kernel);
        let expected = [
            "made 0",
            "made 1",
            "made 2",
            "group 2 1",
            "launch 1 2",
            "argument 2 0 2",
            "launch 0 2",
            "group 2 3",
            "launch 1 2",
        ];
        check(&[early, late, kernel], &expected);
    }

    #[test]
    fn command_comes_after_the_objects_that_existed_and_before_those_made_later() {
        let (list, kernel) = (new_list(), new_kernel());
        launch(list, kernel);
        let other = new_kernel();
        launch(list, other);
        let expected = ["made 0", "made 1", "launch 0 1", "made 2", "launch 0 2"];
        check(&[list, kernel, other], &expected);
    }

    #[test]
    fn destroyed_object_takes_its_commands_with_it_unless_it_was_not_destroyed() {
        let (list, kernel) = (new_list(), new_kernel());
        set_group(kernel, 7);
        launch(list, kernel);
        let all = ["made 0", "made 1", "group 1 7", "launch 0 1"];
        check(&[list, kernel], &all);
        let taken = Taken::take(list).unwrap();
        check(&[list, kernel], &["made 1", "group 1 7"]);
        taken.put_back();
        check(&[list, kernel], &all);
        Taken::take(list).unwrap().end();
        launch(list, kernel);
        check(&[list, kernel], &["made 1", "group 1 7"]);
        give(ids::ZE_COMMAND_LIST_CREATE, [0; 4], list);
        check(&[list, kernel], &["made 1", "made 0", "group 1 7"]);
    }

    #[test]
    fn properties_of_a_destroyed_kernel_are_not_set_for_its_successor() {
        let (list, kernel) = (new_list(), new_kernel());
        set_group(kernel, 7);
        launch(list, kernel);
        Taken::take(kernel).unwrap().end();
        give(ids::ZE_KERNEL_CREATE, [0; 3], kernel);
        set_group(kernel, 8);
        // The launch comes before its kernel is made, so a snapshot leaves it out.
        check(&[list, kernel], &["made 0", "launch 0 1", "made 1", "group 1 8"]);
    }

    #[test]
    fn commands_of_immediate_lists_are_not_kept() {
        let (list, kernel) = (handle(), new_kernel());
        give(ids::ZE_COMMAND_LIST_CREATE_IMMEDIATE, [0; 4], list);
        assert!(!crate::kept::keeps_appended(list) && !crate::kept::keeps_appended(handle()));
        launch(list, kernel);
        check(&[list, kernel], &["made 1", "made 0"]);
    }

    #[test]
    fn what_is_found_is_kept_once_as_long_as_its_owner_lives() {
        let (module, memory) = (handle(), handle());
        let find = || {
            let pointer = &raw const memory;
            let args = [module, 0, 0, pointer as u64];
            let mut draft = Draft::new(command(ids::ZE_MODULE_GET_GLOBAL_POINTER), &args);
            draft.returned();
            draft.slot(observe::array(pointer, 1, 8));
            lock().keep(&draft);
        };
        let make = || give(ids::ZE_KERNEL_CREATE, [0; 3], module);
        make();
        find();
        find();
        check(&[module, memory], &["made 0", "made 1"]);
        Taken::take(module).unwrap().end();
        make();
        find();
        check(&[module, memory], &["made 0", "made 1"]);
    }

    #[test]
    fn known_objects_are_used_while_another_thread_holds_the_lock() {
        let (list, kernel) = (new_list(), new_kernel());
        set_group(kernel, 1);
        launch(list, kernel);
        let (tell, told) = channel();
        let held = lock();
        let other = thread::spawn(move || {
            set_group(kernel, 2);
            launch(list, kernel);
            empty(list);
            tell.send(()).unwrap();
        });
        let is_done = told.recv_timeout(LIMIT).is_ok();
        drop(held);
        other.join().unwrap();
        assert!(is_done, "a call on a known object waited for the registry");
        check(&[list, kernel], &["made 0", "made 1", "group 1 2"]);
    }

    #[test]
    fn threads_launch_one_kernel_into_lists_of_their_own() {
        const LAUNCHES: usize = 5000;
        let kernel = new_kernel();
        set_group(kernel, 1);
        let threads: Vec<_> = (0..4)
            .map(|_| {
                thread::spawn(move || {
                    let list = new_list();
                    (0..LAUNCHES).for_each(|_| launch(list, kernel));
                    list
                })
            })
            .collect();
        for list in threads.into_iter().map(|thread| thread.join().unwrap()) {
            let launches = kept(&[kernel, list]).iter().filter(|it| *it == "launch 1 0").count();
            assert_eq!(launches, LAUNCHES);
        }
    }

    #[test]
    fn properties_that_several_threads_may_set_are_all_kept() {
        const DEVICES: u64 = 100;
        let memory = handle();
        give(ids::ZE_MEM_ALLOC_HOST, [0; 5], memory);
        let command = command(ids::ZE_CONTEXT_MAKE_MEMORY_RESIDENT);
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                thread::spawn(move || {
                    for device in (0..DEVICES).map(|device| device * 4 + thread) {
                        set(words(), command, 2, &Draft::new(command, &[0, device, memory, 8]));
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let entries = lock().entries(crate::kept::command);
        let own = |it: &&Arc<Entry>| it.command.id == command.id && it.arg(2) == memory;
        assert_eq!(entries.iter().filter(own).count() as u64, 4 * DEVICES);
    }

    #[test]
    fn program_that_breaks_the_rules_harms_nothing_else() {
        const ROUNDS: u64 = 20_000;
        let (list, kernel) = (new_list(), new_kernel());
        let (own_list, own_kernel) = (new_list(), new_kernel());
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                thread::spawn(move || {
                    for round in 0..ROUNDS {
                        match (round + thread) % 8 {
                            0 if thread == 0 => {
                                Taken::take(kernel).into_iter().for_each(Taken::end);
                                give(ids::ZE_KERNEL_CREATE, [0; 3], kernel);
                            }
                            1 if thread == 1 => {
                                Taken::take(list).into_iter().for_each(Taken::end);
                                give(ids::ZE_COMMAND_LIST_CREATE, [0; 4], list);
                            }
                            2 => set_group(kernel, round),
                            3..6 => set_argument(kernel, round % 50, round),
                            6 if round % 100 == 0 => empty(list),
                            7 if round % 1000 == 0 => drop(lock().entries(crate::kept::command)),
                            _ => launch(list, kernel),
                        }
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        set_group(own_kernel, 5);
        launch(own_list, own_kernel);
        let expected = ["made 0", "made 1", "group 1 5", "launch 0 1"];
        check(&[own_list, own_kernel], &expected);
    }

    #[test]
    fn copies_in_a_list_count_when_it_is_executed() {
        let list = new_list();
        let (to, from) = ([0_u8; 16], [0_u8; 16]);
        let (to, from) = (to.as_ptr() as u64, from.as_ptr() as u64);
        let id = ids::ZE_COMMAND_LIST_APPEND_MEMORY_COPY;
        let in_state = || {
            tracking::with_state_or_new(|thread| {
                let state = thread.process.lock();
                let known = state.command_lists.get(state.command_lists.find(list)).unwrap();
                let pieces = [&known.read_memory, &known.written_memory];
                pieces.map(|all| all.iter().map(|it| (it.address, it.size)).collect::<Vec<_>>())
            })
        };
        tracking::with_state_or_new(|thread| {
            thread.process.lock().command_lists.create(list);
        });
        append_args(id, [list, to, from, 8, 0, 0, 0]);
        assert_eq!(in_state(), Some([vec![], vec![]]));
        let lists = [list];
        for _ in 0..2 {
            crate::kept::following::follow_executed(observe::array(lists.as_ptr(), 1, 8));
            assert_eq!(in_state(), Some([vec![(from, 8)], vec![(to, 8)]]));
        }
        append_args(id, [list, to + 8, from, 4, 0, 0, 0]);
        tracking::with_state_or_new(crate::kept::following::follow_all);
        let (read, written) = (vec![(from, 8), (from, 4)], vec![(to, 8), (to + 8, 4)]);
        assert_eq!(in_state(), Some([read, written]));
    }
}

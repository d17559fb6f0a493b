//! Objects that are made in many frames and never deleted, and objects that no command uses. Names come from commands
//! with the role `creates` and go with the role `deletes`; a command with a name as an argument uses it. Names of objects
//! that contexts do not share, such as vertex arrays, count as shared: equal ones of two contexts are one object, so that
//! too few problems are found, not too many.

use std::collections::{BTreeMap, BTreeSet};

use gapii_trace::Command;
use gapii_trace::description::{Description, Function};

use super::groups::{Found, Groups};
use super::problem::{ProblemKind, Severity};
use super::seen::{Begun, Place, Seen, name_of};
use crate::digest::Map;
use crate::mentions::{Mention, Names};

/// Most live objects.
const LIVE_MAX: usize = 65_536;
/// Fewest frames in which leaked objects are made.
const FRAMES_MIN: usize = 8;

/// The objects that live.
#[derive(Default)]
pub struct ObjectTable {
    live: Map<Name, Object>,
    /// Counts of objects by process, share group and the function that makes them.
    made: BTreeMap<Maker, Made>,
    /// Objects that were deleted without having been used.
    unused: Vec<Object>,
    /// By function id; `None` before the function's first command.
    functions: Vec<Option<Names>>,
    /// Namespaces with commands that use objects.
    usable: BTreeSet<u64>,
    /// Function names by id, of functions that made an object.
    names: BTreeMap<u16, String>,
}

/// Index of the process, share group, id of the function.
type Maker = (u32, u64, u16);

/// Objects that a function made.
#[derive(Clone, Copy, Default)]
struct Made {
    /// Those that live.
    live: u64,
    /// Those that lived when the first one was made in a frame.
    live_before: Option<u64>,
    /// Those made in frames.
    in_frames: u64,
}

/// Index of the process, share group, namespace, name.
type Name = (u32, u64, u64, u64);

#[derive(Clone, Copy)]
struct Object {
    /// Id of the function that made it.
    maker: u16,
    /// Share group.
    space: u64,
    namespace: u64,
    place: Place,
    /// Whether it was made after the first frame.
    is_in_frames: bool,
    /// Whether it was made in a frame of interest.
    is_wanted: bool,
    is_used: bool,
}

impl ObjectTable {
    /// Notes the objects that a command makes, uses and deletes.
    pub fn look(&mut self, seen: &Seen<'_>) {
        let command = seen.command;
        let Some(function) = command.function else { return };
        let id = usize::from(command.id);
        if self.functions.get(id).is_none_or(Option::is_none) {
            self.learn(command, function);
        }
        let Some(Some(names)) = self.functions.get(id) else { return };
        if names.is_empty() {
            return;
        }
        let names = names.clone();
        let space = match names.is_gles {
            true => seen.thread.and_then(|thread| thread.context.as_deref()),
            false => None,
        };
        let space = space.map_or(0, |context| context.group.number());
        names.each(command, |Mention { namespace, name, is_new }| {
            let key = (command.process, space, namespace, name);
            match is_new {
                true => self.make(seen, key),
                false => self.touch(key, names.deletes),
            }
        });
    }

    fn make(&mut self, seen: &Seen<'_>, key: Name) {
        let command = seen.command;
        let (_, space, namespace, name) = key;
        if name == 0 || (self.live.len() >= LIVE_MAX && !self.live.contains_key(&key)) {
            return;
        }
        self.remove(&key);
        let (maker, is_in_frames, is_wanted) = (command.id, seen.is_in_frames, seen.is_wanted);
        let place = seen.place();
        let is_used = false;
        let object = Object { maker, space, namespace, place, is_in_frames, is_wanted, is_used };
        self.live.insert(key, object);
        self.names.entry(maker).or_insert_with(|| name_of(command.name()));
        if self.made.len() < LIVE_MAX {
            let made = self.made.entry(object.made_by()).or_default();
            if is_in_frames {
                made.live_before.get_or_insert(made.live);
                made.in_frames += 1;
            }
            made.live += 1;
        }
    }

    /// Takes an object out of the table.
    fn remove(&mut self, name: &Name) -> Option<Object> {
        let object = self.live.remove(name)?;
        if let Some(made) = self.made.get_mut(&object.made_by()) {
            made.live = made.live.saturating_sub(1);
        }
        Some(object)
    }

    fn touch(&mut self, name: Name, deletes: bool) {
        if name.3 == 0 {
            return;
        }
        if !deletes {
            if let Some(object) = self.live.get_mut(&name) {
                object.is_used = true;
            }
        } else if let Some(object) = self.remove(&name)
            && !object.is_used
            && object.is_wanted
            && self.unused.len() < LIVE_MAX
        {
            self.unused.push(object);
        }
    }

    /// Adds the objects that leak, and those that no command uses.
    pub fn finish(self, processes: &BTreeMap<u32, Begun>, groups: &mut Groups) {
        let Self { live, made, unused, usable, names, .. } = self;
        let name = |maker| names.get(&maker).map_or("", String::as_str);
        let mut live: Vec<Object> = live.into_values().collect();
        live.sort_by_key(|object| (object.place.process, object.place.seq));

        let mut kinds: BTreeMap<Maker, Vec<&Object>> = BTreeMap::new();
        for object in live.iter().filter(|object| object.is_in_frames && object.is_wanted) {
            kinds.entry(object.made_by()).or_default().push(object);
        }
        for (key, objects) in kinds {
            let frames: BTreeSet<u64> = objects.iter().map(|it| it.place.frame).collect();
            let made = made.get(&key).copied().unwrap_or_default();
            let grown = made.live.saturating_sub(made.live_before.unwrap_or(0));
            // A program that replaces old objects by new ones has not more of them.
            if frames.len() < FRAMES_MIN || grown < made.in_frames.div_ceil(2) {
                continue;
            }
            let sentence =
                format!("objects of {} are made inside frames and never deleted", name(key.2));
            for object in &objects {
                let found = Found::one(ProblemKind::Leak, Severity::Warning, sentence.clone());
                groups.add(found, object.place);
            }
        }

        // The trace ends before the program could use what it made last.
        let is_last = |object: &Object| {
            let begun = processes.get(&object.place.process);
            begun.is_none_or(|begun| object.place.frame >= begun.last_frame)
        };
        let is_wanted = |object: &Object| object.is_wanted && !object.is_used && !is_last(object);
        let rest = live.into_iter().filter(is_wanted);
        let mut unused: Vec<Object> = unused.into_iter().chain(rest).collect();
        unused.retain(|object| usable.contains(&object.namespace));
        unused.sort_by_key(|object| (object.place.process, object.place.seq));
        for object in unused {
            let sentence = format!("objects of {} are never used", name(object.maker));
            let found = Found::one(ProblemKind::UnusedObject, Severity::Note, sentence);
            groups.add(found, object.place);
        }
    }

    #[cold]
    fn learn(&mut self, command: &Command<'_>, function: &Function) {
        if self.usable.is_empty() {
            self.usable = usable(command);
        }
        let id = usize::from(command.id);
        if self.functions.len() <= id {
            self.functions.resize(id + 1, None);
        }
        self.functions[id] = Some(Names::of(function));
    }
}

impl Object {
    fn made_by(&self) -> Maker {
        (self.place.process, self.space, self.maker)
    }
}

/// Namespaces with a command that takes a name and does more than to make or delete it.
fn usable(command: &Command<'_>) -> BTreeSet<u64> {
    // A trace describes only the functions that occur in it.
    let known = Description::built_in().functions();
    let all = command.description().functions().iter().chain(known).map(Names::of);
    all.filter(Names::uses).flat_map(|names| names.namespaces().collect::<Vec<_>>()).collect()
}

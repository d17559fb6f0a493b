//! Brings the kept commands into an order in which they make what the program has made. Objects are made in the order of
//! the program. Each appended command comes after the objects that existed at its append; before it come the commands that
//! give the objects which it uses the properties that they had then. At the end all objects get their present properties.
//!
//! The order of appends to different lists is unknown where it makes no difference. If two of them use one object, the one
//! that saw the older properties comes first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::sync::Arc;

use super::appended::{Listed, Used};
use super::entry::Entry;
use super::facts::Kept;
use super::properties::{Property, Tag};

/// Everything that is kept.
pub struct Kepts {
    /// The commands that made objects, in their order.
    pub makes: Vec<Arc<Entry>>,
    /// The commands that are appended to each object.
    pub lists: Vec<Vec<Listed>>,
    /// Number and present properties of each object.
    pub properties: Vec<(u64, Vec<Property>)>,
}

/// The properties of objects, by the objects' numbers.
type Known = HashMap<u64, BTreeMap<Tag, Property>>;

/// Returns all commands in order. `command` finds a command by its id.
pub fn order(kept: Kepts, command: impl Fn(u16) -> Option<&'static Kept>) -> Vec<Arc<Entry>> {
    let living = kept.properties.iter().map(|(object, _)| (*object, BTreeMap::new()));
    let mut out = Out { all: Vec::new(), set: living.collect(), command };
    let mut makes = kept.makes.into_iter().peekable();
    let mut known: Vec<Known> = kept.lists.iter().map(|_| Known::new()).collect();
    for (list, listed) in merged(kept.lists) {
        while let Some(made) = makes.next_if(|made| made.serial <= listed.made) {
            out.all.push(made);
        }
        for used in listed.uses {
            let properties = known[list].entry(used.object).or_default();
            properties.extend(used.changed.into_iter().map(|property| (property.tag, property)));
            out.set(used.object, properties.values());
        }
        out.all.push(Arc::new(listed.entry));
    }
    out.all.extend(makes);
    for (object, properties) in &kept.properties {
        out.set(*object, properties.iter());
    }
    out.all
}

/// The commands in order, and the properties that objects have after them.
struct Out<F> {
    all: Vec<Arc<Entry>>,
    /// Only of objects that live.
    set: Known,
    command: F,
}

impl<F: Fn(u16) -> Option<&'static Kept>> Out<F> {
    /// Adds the commands that give an object these properties, in the order in which they were set.
    fn set<'a>(&mut self, object: u64, properties: impl Iterator<Item = &'a Property>) {
        let Some(set) = self.set.get_mut(&object) else { return };
        let is_other = |it: &&Property| set.get(&it.tag).is_none_or(|set| set.words != it.words);
        let mut others: Vec<&Property> = properties.filter(is_other).collect();
        others.sort_unstable_by_key(|property| property.version);
        for property in others {
            if let Some(command) = (self.command)(property.tag.id()) {
                self.all.push(Arc::new(Entry::new(0, command, &property.words)));
            }
            set.insert(property.tag, property.clone());
        }
    }
}

/// Returns the commands of all lists in one order, each with the number of its list.
fn merged(lists: Vec<Vec<Listed>>) -> Vec<(usize, Listed)> {
    // For each object the number of commands to come that use each version of it.
    let mut to_come: HashMap<u64, BTreeMap<u64, usize>> = HashMap::new();
    for used in lists.iter().flatten().flat_map(|listed| &listed.uses) {
        *to_come.entry(used.object).or_default().entry(used.version).or_default() += 1;
    }
    let mut rest: Vec<_> = lists.into_iter().map(|list| list.into_iter().peekable()).collect();
    // The lists whose next command may come: (objects that existed, list).
    let mut ready = BinaryHeap::new();
    // The lists whose next command waits for an earlier use of an object.
    let mut waiting: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut all = Vec::new();
    for (list, rest) in rest.iter_mut().enumerate() {
        ready.extend(rest.peek().map(|next| Reverse((next.made, list))));
    }
    loop {
        let (list, is_forced) = match ready.pop() {
            Some(Reverse((_, list))) => (list, false),
            None => match waiting.values_mut().find_map(Vec::pop) {
                Some(list) => (list, true),
                None => return all,
            },
        };
        let Some(next) = rest[list].peek() else { continue };
        let is_late = |used: &&Used| {
            let versions = to_come.get(&used.object);
            versions
                .and_then(BTreeMap::first_key_value)
                .is_some_and(|(first, _)| *first < used.version)
        };
        // Only a program that breaks the rules has commands that wait for each other.
        if let Some(late) = next.uses.iter().find(is_late).filter(|_| !is_forced) {
            waiting.entry(late.object).or_default().push(list);
            continue;
        }
        let Some(next) = rest[list].next() else { continue };
        for used in &next.uses {
            let Some(versions) = to_come.get_mut(&used.object) else { continue };
            let Some(count) = versions.get_mut(&used.version) else { continue };
            *count -= 1;
            if *count == 0 {
                versions.remove(&used.version);
                for other in waiting.remove(&used.object).unwrap_or_default() {
                    ready.extend(rest[other].peek().map(|next| Reverse((next.made, other))));
                }
            }
        }
        all.push((list, next));
        ready.extend(rest[list].peek().map(|next| Reverse((next.made, list))));
    }
}

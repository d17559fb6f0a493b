//! The commands that are appended to an object, one behind the other in one piece of memory, so that most need no
//! allocation.
//!
//! A launch is kept with the properties of its kernel that have changed since the kernel's last launch in the same list.
//! Those of all launches up to one, together, are the properties that the kernel had at that launch.
//!
//! ```text
//! command's id << 48 | number of commands that had made objects before
//! number of objects that it uses << 33 | whether its state is followed << 32 | number of its words
//! its words
//! for each object that it uses: number, version of its properties, number of the words that follow here
//!     for each property that has changed: tag, version, number of its words, its words
//! ```

use super::entry::Entry;
use super::facts::Kept;
use super::properties::{Properties, Property, Tag};

/// Number of kernels whose last launch in the list is remembered. A kernel that is not remembered is kept with all its
/// properties.
const SEEN: usize = 16;
const MADE_BITS: u32 = 48;
const USES_SHIFT: u32 = 33;
const IS_FOLLOWED: u64 = 1 << 32;
const WORDS_MASK: u64 = IS_FOLLOWED - 1;

/// The commands appended to one object.
#[derive(Default)]
pub struct Appended {
    words: Vec<u64>,
    /// The index up to which the state of all commands is followed.
    followed: usize,
    seen: [Seen; SEEN],
}

/// Up to which version the properties of an object are in the list.
#[derive(Clone, Copy, Default)]
struct Seen {
    object: u64,
    version: u64,
}

/// An object whose properties count when a command is executed.
pub struct User<'a> {
    /// The object's number.
    pub object: u64,
    pub properties: &'a Properties,
}

/// A command that is appended to an object, for a snapshot.
pub struct Listed {
    /// Number of commands that had made objects before.
    pub made: u64,
    pub entry: Entry,
    pub uses: Vec<Used>,
}

/// An object that an appended command uses, for a snapshot.
pub struct Used {
    /// The object's number.
    pub object: u64,
    /// The version of its properties.
    pub version: u64,
    /// Its properties that have changed since its last use in the same list; all at its first use, and again later.
    pub changed: Vec<Property>,
}

impl Appended {
    /// Keeps a command with these words that was called after `made` commands had made objects. False, and nothing is
    /// kept, if the properties of an object in `uses` change meanwhile.
    #[inline(always)]
    pub fn push(
        &mut self,
        made: u64,
        command: &'static Kept,
        words: &[u64],
        uses: &[User<'_>],
        is_followed: bool,
    ) -> bool {
        let begin = self.words.len();
        let head = [
            u64::from(command.id) << MADE_BITS | made,
            (uses.len() as u64) << USES_SHIFT | u64::from(is_followed) << 32 | words.len() as u64,
        ];
        self.words.reserve(head.len() + words.len());
        self.words.extend_from_slice(&head);
        self.words.extend_from_slice(words);
        for user in uses {
            if !self.add_use(user) {
                self.words.truncate(begin);
                self.seen = Default::default();
                return false;
            }
        }
        true
    }

    /// Keeps what has changed of an object's properties.
    #[inline(always)]
    fn add_use(&mut self, user: &User<'_>) -> bool {
        let number = user.object;
        let Some(seen) = self.seen.get_mut(number as usize % SEEN) else { return false };
        let after = if seen.object == number { seen.version } else { 0 };
        let words = &mut self.words;
        let begin = words.len();
        words.extend_from_slice(&[number, 0, 0]);
        let version = user.properties.since(after, |tag, version, property| {
            let property = property.iter();
            words.extend_from_slice(&[tag.word(), version, property.len() as u64]);
            words.extend(property);
        });
        let Some(version) = version else { return false };
        let len = words.len() - begin - 3;
        if let Some([_, at_version, at_len]) = words.get_mut(begin..begin + 3) {
            (*at_version, *at_len) = (version, len as u64);
        }
        *seen = Seen { object: number, version };
        true
    }

    /// Forgets the commands, and keeps the room that they took.
    pub fn clear(&mut self) {
        self.words.clear();
        self.followed = 0;
        self.seen = Default::default();
    }

    /// Returns the commands in the order in which they were appended. `command` finds a command by its id.
    pub fn listed(&self, command: impl Fn(u16) -> Option<&'static Kept>) -> Vec<Listed> {
        let commands = self.commands(0);
        commands
            .filter_map(|it| {
                let entry = Entry::new(0, command(it.id)?, it.words);
                Some(Listed { made: it.made, entry, uses: uses(it.uses, it.uses_count) })
            })
            .collect()
    }

    /// Returns the number of commands that `is_counted` selects by id.
    pub fn count(&self, is_counted: fn(u16) -> bool) -> u32 {
        self.commands(0).filter(|it| is_counted(it.id)).count() as u32
    }

    /// Whether the state of all commands is followed.
    #[inline]
    pub fn is_followed(&self) -> bool {
        self.followed == self.words.len()
    }

    /// Passes the commands whose state is not followed to `follow`, in order, and notes that it is.
    pub fn follow(&mut self, mut follow: impl FnMut(u16, &[u64])) {
        for it in self.commands(self.followed).filter(|it| !it.is_followed) {
            follow(it.id, it.words);
        }
        self.followed = self.words.len();
    }

    /// Iterates over the commands from an index on.
    fn commands(&self, from: usize) -> impl Iterator<Item = Appearance<'_>> {
        let mut rest = self.words.get(from..).unwrap_or_default();
        core::iter::from_fn(move || {
            let ([first, second], after) = rest.split_first_chunk::<2>()?;
            let (words, after) = after.split_at_checked((second & WORDS_MASK) as usize)?;
            let uses_count = (second >> USES_SHIFT) as usize;
            let mut next = after;
            for _ in 0..uses_count {
                let ([_, _, len], after) = next.split_first_chunk::<3>()?;
                next = after.get(*len as usize..)?;
            }
            rest = next;
            let uses = after.get(..after.len() - next.len()).unwrap_or_default();
            Some(Appearance {
                id: (first >> MADE_BITS) as u16,
                made: first & ((1 << MADE_BITS) - 1),
                is_followed: second & IS_FOLLOWED != 0,
                words,
                uses,
                uses_count,
            })
        })
    }
}

/// A command as the memory of a list has it.
struct Appearance<'a> {
    id: u16,
    made: u64,
    is_followed: bool,
    words: &'a [u64],
    uses: &'a [u64],
    uses_count: usize,
}

fn uses(mut words: &[u64], count: usize) -> Vec<Used> {
    let mut all = Vec::with_capacity(count);
    while let Some(([object, version, len], rest)) = words.split_first_chunk::<3>() {
        let Some((own, rest)) = rest.split_at_checked(*len as usize) else { break };
        all.push(Used { object: *object, version: *version, changed: properties(own) });
        words = rest;
    }
    all
}

fn properties(mut words: &[u64]) -> Vec<Property> {
    let mut all = Vec::new();
    while let Some(([tag, version, len], rest)) = words.split_first_chunk::<3>() {
        let Some((own, rest)) = rest.split_at_checked(*len as usize) else { break };
        if let Some(tag) = Tag::from_word(*tag) {
            all.push(Property { tag, version: *version, words: own.to_vec() });
        }
        words = rest;
    }
    all.sort_unstable_by_key(|property| property.version);
    all
}

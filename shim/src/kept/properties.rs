//! The properties of an object: for each command and key the arguments of its last call, and the memory that it read, in
//! place. A call whose property is known allocates nothing and takes no lock.
//!
//! The rules of Level Zero let one thread at a time set properties of a kernel; [`Version`] notices most programs that
//! break them. Then the properties may be a mixture, but the shim's memory stays whole: all words are atomic, and a table
//! is never freed, only given to another object.

use core::ptr;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU64};

use gapii_edges::Version;

/// Words that a row has room for: four arguments, and a value of six words.
const ROW_WORDS: usize = 12;
/// Number of the last changes whose rows are remembered. A power of two.
const RECENT: usize = 8;
/// Rows of the first table of an object.
const ROWS_MIN: usize = 8;
/// Words of the smallest long row.
const LONG_MIN: usize = 16;
/// Bits of a tag below the command's id.
const KEY_BITS: u32 = 48;

/// Names a property: the command that set it, and a key that tells it from others. Never 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Tag(u64);

impl Tag {
    /// `None` for a key of more than 48 bits, which no index, handle or address has.
    #[inline(always)]
    pub fn new(id: u16, key: u64) -> Option<Self> {
        (key >> KEY_BITS == 0)
            .then_some(Self(u64::from(id) << KEY_BITS | key))
            .filter(|it| it.0 != 0)
    }

    /// Returns the tag as one word.
    #[inline(always)]
    pub fn word(self) -> u64 {
        self.0
    }

    /// Returns the tag of a word, if it is one.
    pub fn from_word(word: u64) -> Option<Self> {
        (word != 0).then_some(Self(word))
    }

    /// Returns the command's id.
    pub fn id(self) -> u16 {
        (self.0 >> KEY_BITS) as u16
    }
}

/// The properties of one object.
pub struct Properties {
    version: Version,
    /// Null until a property is set.
    table: AtomicPtr<Table>,
    /// The row that each of the last versions has set, by the low bits of the version. Null for rows that have moved.
    recent: [AtomicPtr<Row>; RECENT],
}

/// Rows by the hash of their tags: open addressing with linear probing. At most three quarters are taken.
pub struct Table {
    rows: Box<[Row]>,
    taken: AtomicU64,
}

/// One property. The bytes of a table are zero at first.
#[derive(Default)]
#[repr(C, align(128))]
struct Row {
    /// 0 while the row is free.
    tag: AtomicU64,
    /// The version of the properties in which this one was set last.
    version: AtomicU64,
    /// Number of words.
    len: AtomicU64,
    words: [AtomicU64; ROW_WORDS],
    /// The words, if they are more than `words` has room for; null before that.
    long: AtomicPtr<Long>,
}

/// Room for the words of one row.
pub struct Long(Box<[AtomicU64]>);

/// Tables and long rows that no object uses. Their sizes are powers of two.
#[derive(Default)]
pub struct Unused {
    tables: Vec<&'static Table>,
    longs: Vec<&'static Long>,
}

/// Gives out unused memory, under a lock.
pub trait Memory {
    /// Runs `act` on the memory that no object uses.
    fn with<R>(&self, act: impl FnOnce(&mut Unused) -> R) -> R;
}

/// What became of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    Made,
    /// Another thread was changing the properties at the same time.
    Contended,
}

/// A property as it was at one version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Property {
    pub tag: Tag,
    pub version: u64,
    pub words: Vec<u64>,
}

fn zeros(count: usize) -> Box<[AtomicU64]> {
    core::iter::repeat_with(AtomicU64::default).take(count).collect()
}

impl Unused {
    fn table(&mut self, rows: usize) -> &'static Table {
        match self.tables.iter().position(|table| table.rows.len() == rows) {
            Some(at) => {
                let table = self.tables.swap_remove(at);
                table.clear();
                table
            }
            None => {
                let rows = core::iter::repeat_with(Row::default).take(rows).collect();
                Box::leak(Box::new(Table { rows, taken: AtomicU64::new(0) }))
            }
        }
    }

    fn long(&mut self, words: usize) -> &'static Long {
        let words = words.next_power_of_two().max(LONG_MIN);
        match self.longs.iter().position(|long| long.0.len() == words) {
            Some(at) => self.longs.swap_remove(at),
            None => Box::leak(Box::new(Long(zeros(words)))),
        }
    }
}

impl Properties {
    /// No properties.
    pub const fn none() -> Self {
        Self {
            version: Version::zero(),
            table: AtomicPtr::new(ptr::null_mut()),
            recent: [const { AtomicPtr::new(ptr::null_mut()) }; RECENT],
        }
    }

    /// Sets a property. `writer` is the number of the calling thread, other than 0.
    #[inline(always)]
    pub fn set(&self, tag: Tag, words: &[u64], writer: u64, memory: &impl Memory) -> Change {
        let Some(version) = self.version.begin(writer) else { return Change::Contended };
        let known = self.table().and_then(|table| table.find(tag));
        let row = match known {
            Some(row) => row,
            None => self.add(tag, memory),
        };
        row.put(words, memory);
        // Relaxed: VERSION orders all words of a row.
        row.version.store(version, Relaxed);
        // GROW, in Properties::add: the row is in a table that the caller has found.
        self.recent(version).store(ptr::from_ref(row).cast_mut(), Release);
        if self.version.end(writer, version) { Change::Made } else { Change::Contended }
    }

    /// Passes on the properties that were set after version `after`, in no order, and returns the present version.
    /// `None` if they change meanwhile: what was passed on may be a mixture.
    #[inline(always)]
    pub fn since(&self, after: u64, mut see: impl FnMut(Tag, u64, Words<'_>)) -> Option<u64> {
        let version = self.version.read()?;
        if version == after {
            return Some(version);
        }
        if version.wrapping_sub(after) > RECENT as u64 || !self.see_recent(after, version, &mut see)
        {
            for row in self.table().iter().flat_map(|table| &table.rows) {
                // Relaxed: VERSION orders all words of a row.
                let (tag, set_at) = (row.tag.load(Relaxed), row.version.load(Relaxed));
                if tag != 0 && set_at > after {
                    see(Tag(tag), set_at, row.words());
                }
            }
        }
        self.version.is_still(version).then_some(version)
    }

    /// Passes on the properties that were set in the versions from `after` to `version`, of which there are not more than
    /// are remembered. False, and nothing is passed on, if some of their rows have moved.
    #[inline(always)]
    fn see_recent(
        &self,
        after: u64,
        version: u64,
        see: &mut impl FnMut(Tag, u64, Words<'_>),
    ) -> bool {
        let rows = || {
            // GROW: pairs with the release in Properties::set: the row is initialised.
            (after + 1..=version).map(|at| (at, self.recent(at).load(Acquire)))
        };
        if rows().any(|(_, row)| row.is_null()) {
            return false;
        }
        for (at, row) in rows() {
            // SAFETY: null, or in a table, which is leaked.
            let Some(row) = (unsafe { row.as_ref() }) else { continue };
            // Relaxed: VERSION orders all words of a row. A row that was set again later comes later.
            if row.version.load(Relaxed) == at {
                see(Tag(row.tag.load(Relaxed)), at, row.words());
            }
        }
        true
    }

    #[inline(always)]
    fn recent(&self, version: u64) -> &AtomicPtr<Row> {
        &self.recent[version as usize % RECENT]
    }

    /// Forgets which rows were set last, because they have moved.
    fn forget_recent(&self) {
        // Relaxed: VERSION orders it.
        self.recent.iter().for_each(|row| row.store(ptr::null_mut(), Relaxed));
    }

    /// Returns all properties in the order in which they were set; `None` if they change all the time.
    pub fn all(&self) -> Option<Vec<Property>> {
        const ATTEMPTS: usize = 1000;
        for _ in 0..ATTEMPTS {
            let mut all = Vec::new();
            let see = |tag, version, words: Words<'_>| {
                all.push(Property { tag, version, words: words.iter().collect() });
            };
            if self.since(0, see).is_some() {
                all.sort_unstable_by_key(|property| property.version);
                return Some(all);
            }
            std::thread::yield_now();
        }
        None
    }

    /// Gives up all properties.
    pub fn clear(&self, unused: &mut Unused) {
        self.forget_recent();
        // GROW: pairs with the release in Properties::add.
        let table = self.table.swap(ptr::null_mut(), Acquire);
        // SAFETY: null, or leaked.
        let Some(table) = (unsafe { table.as_ref() }) else { return };
        for row in &table.rows {
            // GROW: as above.
            let long = row.long.swap(ptr::null_mut(), Acquire);
            // SAFETY: null, or leaked.
            unused.longs.extend(unsafe { long.as_ref() });
        }
        unused.tables.push(table);
    }

    #[inline(always)]
    fn table(&self) -> Option<&'static Table> {
        // GROW: pairs with the release in Properties::add: the table's words are initialised.
        let table = self.table.load(Acquire);
        // SAFETY: null, or leaked.
        unsafe { table.as_ref() }
    }

    /// Adds a row.
    #[cold]
    #[inline(never)]
    fn add(&self, tag: Tag, memory: &impl Memory) -> &'static Row {
        if let Some(row) = self.table().and_then(|table| table.add(tag)) {
            return row;
        }
        memory.with(|unused| {
            // Another thread may have ended the object meanwhile, against the rules. The lock keeps this table here.
            let known = self.table();
            let mut rows = known.map_or(ROWS_MIN, |known| known.rows.len() * 2);
            loop {
                let grown = unused.table(rows);
                let is_whole = known.is_none_or(|known| known.move_to(grown));
                if let Some(row) = grown.add(tag).filter(|_| is_whole) {
                    self.forget_recent();
                    // GROW: pairs with the acquire in Properties::table.
                    self.table.store(ptr::from_ref(grown).cast_mut(), Release);
                    unused.tables.extend(known);
                    return row;
                }
                // Another thread breaks the rules, and fills the table meanwhile.
                unused.tables.push(grown);
                rows *= 2;
            }
        })
    }
}

impl Table {
    /// Returns the place where the search for a tag begins.
    #[inline(always)]
    fn home(tag: Tag) -> usize {
        const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
        (tag.0.wrapping_mul(GOLDEN) >> 32) as usize
    }

    #[inline(always)]
    fn row(&self, at: usize) -> &Row {
        &self.rows[at & (self.rows.len() - 1)]
    }

    #[inline(always)]
    fn find(&self, tag: Tag) -> Option<&Row> {
        let home = Self::home(tag);
        for at in home..home + self.rows.len() {
            let row = self.row(at);
            // Relaxed: VERSION orders all words of a row.
            match row.tag.load(Relaxed) {
                0 => return None,
                known if known == tag.0 => return Some(row),
                _ => {}
            }
        }
        None
    }

    /// Takes a free row. `None` if there are too few.
    fn add(&self, tag: Tag) -> Option<&Row> {
        // Relaxed: only the thread that changes the properties uses it.
        if self.taken.load(Relaxed) * 4 >= self.rows.len() as u64 * 3 {
            return None;
        }
        let home = Self::home(tag);
        let rows = (home..home + self.rows.len()).map(|at| self.row(at));
        // Relaxed: as in `find`.
        let row = { rows }.find(|row| row.tag.load(Relaxed) == 0)?;
        row.tag.store(tag.0, Relaxed);
        self.taken.fetch_add(1, Relaxed);
        Some(row)
    }

    /// Copies all rows. False if they do not fit.
    fn move_to(&self, grown: &Table) -> bool {
        // Relaxed: VERSION orders all words of a row.
        self.rows.iter().filter(|row| row.tag.load(Relaxed) != 0).all(|row| {
            let Some(to) = grown.add(Tag(row.tag.load(Relaxed))) else { return false };
            to.version.store(row.version.load(Relaxed), Relaxed);
            to.len.store(row.len.load(Relaxed), Relaxed);
            for (to, from) in to.words.iter().zip(&row.words) {
                to.store(from.load(Relaxed), Relaxed);
            }
            // GROW: pairs with the release in Row::put; and with the acquire there.
            to.long.store(row.long.swap(ptr::null_mut(), Acquire), Release);
            true
        })
    }

    /// Frees all rows, for another object.
    fn clear(&self) {
        self.taken.store(0, Relaxed);
        for row in &self.rows {
            row.tag.store(0, Relaxed);
            row.version.store(0, Relaxed);
            row.len.store(0, Relaxed);
        }
    }
}

impl Row {
    #[inline(always)]
    fn put(&self, words: &[u64], memory: &impl Memory) {
        let room: &[AtomicU64] = match words.len() <= ROW_WORDS {
            true => &self.words,
            false => &self.long(words.len(), memory).0,
        };
        // Relaxed: VERSION orders all words of a row.
        self.len.store(words.len() as u64, Relaxed);
        for (to, word) in room.iter().zip(words) {
            to.store(*word, Relaxed);
        }
    }

    /// Returns room for `len` words, more than the row has itself.
    #[cold]
    fn long(&self, len: usize, memory: &impl Memory) -> &'static Long {
        // GROW: pairs with the release below.
        let known = self.long.load(Acquire);
        // SAFETY: null, or leaked.
        match unsafe { known.as_ref() } {
            Some(known) if known.0.len() >= len => known,
            known => memory.with(|unused| {
                let long = unused.long(len);
                unused.longs.extend(known);
                // GROW: pairs with the acquire in Row::words: the room's words are initialised.
                self.long.store(ptr::from_ref(long).cast_mut(), Release);
                long
            }),
        }
    }

    #[inline(always)]
    fn words(&self) -> Words<'_> {
        // Relaxed: VERSION orders all words of a row.
        let len = self.len.load(Relaxed) as usize;
        let room: &[AtomicU64] = if len <= ROW_WORDS {
            &self.words
        } else {
            // GROW: pairs with the release in Row::long.
            let long = self.long.load(Acquire);
            // SAFETY: null, or leaked.
            unsafe { long.as_ref() }.map_or(&[], |long| &long.0)
        };
        Words(room.get(..len).unwrap_or_default())
    }
}

/// The words of a property.
#[derive(Clone, Copy)]
pub struct Words<'a>(&'a [AtomicU64]);

impl Words<'_> {
    /// Returns the words.
    #[inline(always)]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u64> {
        // Relaxed: VERSION orders all words of a row.
        self.0.iter().map(|word| word.load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Own(Mutex<Unused>);

    impl Memory for Own {
        fn with<R>(&self, act: impl FnOnce(&mut Unused) -> R) -> R {
            act(&mut self.0.lock().unwrap())
        }
    }

    fn tag(key: u64) -> Tag {
        Tag::new(7, key).unwrap()
    }

    fn words_of(properties: &Properties) -> Vec<(u64, Vec<u64>)> {
        let all = properties.all().unwrap().into_iter();
        all.map(|it| (it.tag.0 & 0xFFFF, it.words)).collect()
    }

    #[test]
    fn last_call_for_each_key_counts_in_the_order_of_calls() {
        let (properties, memory) = (Properties::none(), Own::default());
        for (key, value) in [(1, 10), (2, 20), (1, 11)] {
            assert_eq!(properties.set(tag(key), &[value], 5, &memory), Change::Made);
        }
        assert_eq!(words_of(&properties), [(2, vec![20]), (1, vec![11])]);
        assert_eq!(properties.version.read(), Some(3));
    }

    #[test]
    fn table_grows_and_rows_get_longer_and_shorter() {
        let (properties, memory) = (Properties::none(), Own::default());
        for round in 0..3 {
            for key in 0..100 {
                let len = [3, 40, 8][(round + key as usize) % 3];
                let words: Vec<u64> = (0..len).map(|at| at * 1000 + key).collect();
                assert_eq!(properties.set(tag(key), &words, 5, &memory), Change::Made);
            }
        }
        let all = words_of(&properties);
        assert_eq!(all.len(), 100);
        for (key, words) in all {
            let len = [3, 40, 8][(2 + key as usize) % 3];
            assert_eq!(words, (0..len).map(|at| at * 1000 + key).collect::<Vec<_>>(), "{key}");
        }
    }

    #[test]
    fn memory_of_cleared_properties_serves_others_and_comes_back_empty() {
        let (properties, memory) = (Properties::none(), Own::default());
        let long = [3; 20];
        for _ in 0..3 {
            properties.set(tag(1), &long, 5, &memory);
            properties.set(tag(2), &[1], 5, &memory);
            assert_eq!(words_of(&properties), [(1, long.to_vec()), (2, vec![1])]);
            memory.with(|unused| properties.clear(unused));
            assert_eq!(words_of(&properties), []);
        }
        memory.with(|unused| assert_eq!((unused.tables.len(), unused.longs.len()), (1, 1)));
    }

    #[test]
    fn only_changes_since_a_version_are_passed_on() {
        let (properties, memory) = (Properties::none(), Own::default());
        for key in 0..4 {
            properties.set(tag(key), &[key], 5, &memory);
        }
        let mut seen = Vec::new();
        let version = properties.since(2, |tag, version, _| seen.push((tag.0 & 0xFFFF, version)));
        seen.sort_unstable();
        assert_eq!((version, seen), (Some(4), vec![(2, 3), (3, 4)]));
        // One row has moved since, and there were more changes than are remembered.
        for key in 4..40 {
            properties.set(tag(key), &[key], 5, &memory);
        }
        properties.set(tag(39), &[100], 5, &memory);
        for (after, expected) in
            [(37, vec![37, 38, 39]), (38, vec![38, 39]), (40, vec![39]), (2, (2..40).collect())]
        {
            let mut seen = Vec::new();
            let version = properties.since(after, |tag, _, _| seen.push(tag.0 & 0xFFFF));
            seen.sort_unstable();
            assert_eq!((version, seen), (Some(41), expected), "after {after}");
        }
        assert_eq!(properties.since(41, |_, _, _| unreachable!()), Some(41));
    }

    #[test]
    fn key_that_does_not_fit_has_no_tag() {
        assert_eq!(Tag::new(7, 1 << 48), None);
        assert_eq!(Tag::new(0, 0), None);
        assert_eq!(Tag::new(7, (1 << 48) - 1).map(Tag::id), Some(7));
    }
}

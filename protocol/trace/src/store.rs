//! Finds the blobs of an open trace file: by its index, or by reading the whole file once if the index has no list, is
//! wrong, or lacks the name. Returns only bytes whose hash is the name that was asked for, up to 1 GiB. Caches blobs of
//! up to 16 MiB, 256 MiB in all, of which 32 MiB for blobs that were asked for only once. A damaged block makes its
//! blobs unreadable.
//!
//! Holds one block, the list of names, and the cache.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::io::{self, Read, Seek};
use std::sync::Arc;

use super::blob_name::{BlobName, NamePrefix};
use super::blobs::{BLOB_BYTES_MAX, BLOBS_MAX, BlobEntry, BlobNumber, Collector};
use super::block_file::{BlockError, BlockFile};
use super::index::NumberEntry;
use super::listing::Listing;
use super::meta::Meta;
use super::record::Records;
use gapii_abi::atom::{self, BLOB, META_FIRST, SWITCH_THREAD};

/// Why a blob can't be read.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The file can't be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The trace does not hold this blob.
    #[error("the trace has no blob {name}")]
    Unknown {
        /// The blob's name.
        name: BlobName,
    },
    /// The blob is longer than [`BLOB_BYTES_MAX`].
    #[error("blob {name} of {size} bytes exceeds the limit of {BLOB_BYTES_MAX}")]
    TooLong {
        /// The blob's name.
        name: BlobName,
        /// Its size in bytes.
        size: u64,
    },
    /// The blob is not as it was written.
    #[error("blob {name} is damaged: {why}")]
    Damaged {
        /// The blob's name.
        name: BlobName,
        /// The damage, in one sentence.
        why: String,
    },
}

/// Most bytes of blobs that are cached for the next command that refers to them.
const CACHE_BYTES_MAX: usize = 256 << 20;
/// Most of these bytes for blobs that no command has referred to a second time. Most blobs of a program
/// that uploads new memory in every frame are used once.
const NEW_BYTES_MAX: usize = 32 << 20;
/// Largest blob that is cached, in bytes.
const NEW_BLOB_BYTES_MAX: usize = 16 << 20;
/// Most freed buffers that are kept for the next blobs.
const SPARE_MAX: usize = 8;
/// Most bytes that are reserved in advance for a blob, because its size is only the file's claim.
const ROOM_BYTES_MAX: u64 = 16 << 20;

/// The known blobs of a file.
#[derive(Default)]
pub(super) struct Store {
    /// The blobs that the index lists, until all blobs are known.
    listing: Option<Listing>,
    /// The known blobs, by name; `None` before the first search.
    entries: Option<Arc<[BlobEntry]>>,
    /// The numbers of the known blobs, ascending, with their names; `None` before the first search.
    numbers: Option<Arc<[(BlobNumber, BlobName)]>>,
    /// True if the whole file has been read for blobs, so that there are no others.
    is_complete: bool,
    /// How far the file has been read for blobs.
    search: Search,
    block: Option<usize>,
    raw: Arc<Vec<u8>>,
    cache: Cache,
}

/// A search for blobs, which goes on in a file that grows.
#[derive(Default)]
struct Search {
    collector: Collector,
    /// Process of each thread.
    processes: HashMap<u32, u32>,
    /// Blocks that were searched.
    blocks: usize,
}

impl Store {
    /// Makes a store that begins with the blobs that an index lists.
    pub(super) fn of_listing(listing: Listing) -> RefCell<Self> {
        RefCell::new(Self { listing: Some(listing), ..Self::default() })
    }

    /// Makes a store that begins with the blobs that an index lists, in any order, and with their numbers.
    pub(super) fn of_index(
        mut entries: Option<Vec<BlobEntry>>,
        numbers: Option<Vec<NumberEntry>>,
    ) -> RefCell<Self> {
        let named = |entry: NumberEntry| {
            let blob = entries.as_ref()?.get(entry.blob as usize)?;
            Some((entry.number, blob.name))
        };
        let mut numbers: Option<Vec<_>> =
            numbers.map(|numbers| numbers.into_iter().filter_map(named).collect());
        if let Some(numbers) = &mut numbers {
            numbers.sort_by_key(|(number, _)| *number);
        }
        if let Some(entries) = &mut entries {
            entries.sort_by_key(|entry| entry.name);
        }
        let (entries, numbers) = (entries.map(Arc::from), numbers.map(Arc::from));
        RefCell::new(Self { entries, numbers, ..Self::default() })
    }

    /// Returns the name of the blob with this number; `None` if the file does not have it, or cannot be read.
    pub(super) fn name<R: Read + Seek>(
        &mut self,
        file: &mut BlockFile<R>,
        number: BlobNumber,
    ) -> Option<BlobName> {
        let found = |store: &Self| {
            if let Some(listing) = &store.listing {
                return listing.name(number);
            }
            let numbers = store.numbers.as_ref()?;
            let at = numbers.binary_search_by_key(&number, |(number, _)| *number).ok()?;
            numbers.get(at).map(|(_, name)| *name)
        };
        if let Some(name) = found(self) {
            return Some(name);
        }
        self.read_all(file).ok()?;
        found(self)
    }

    /// Makes a store with the same lists of blobs and numbers, and a cache of its own.
    pub(super) fn beside(&self) -> Self {
        let Self { listing, entries, numbers, is_complete, .. } = self;
        let (entries, numbers) = (entries.clone(), numbers.clone());
        let listing = listing.clone();
        Self { listing, entries, numbers, is_complete: *is_complete, ..Self::default() }
    }

    /// Says that the file has blocks that were not searched.
    pub(super) fn grow(&mut self) {
        self.is_complete = false;
    }

    /// Returns the blobs that the index lists, as long as nothing else was needed.
    pub(super) fn listed(&self) -> Option<Vec<BlobEntry>> {
        match &self.listing {
            Some(listing) => Some(listing.entries().collect()),
            None => self.entries.as_deref().filter(|_| !self.is_complete).map(<[_]>::to_vec),
        }
    }

    /// Returns the bytes of a blob that a command refers to, and caches them for the next command.
    pub(super) fn cached<R: Read + Seek>(
        &mut self,
        file: &mut BlockFile<R>,
        name: BlobName,
        size: u64,
    ) -> Option<Arc<Vec<u8>>> {
        if let Some(bytes) = self.cache.get(name) {
            return (bytes.len() as u64 == size).then_some(bytes);
        }
        let bytes = Arc::new(self.bytes(file, name, Some(size)).ok()?);
        self.cache.put(name, &bytes);
        Some(bytes)
    }

    /// Returns the bytes of a blob; `size` in bytes if it is known.
    pub(super) fn bytes<R: Read + Seek>(
        &mut self,
        file: &mut BlockFile<R>,
        name: BlobName,
        size: Option<u64>,
    ) -> Result<Vec<u8>, BlobError> {
        let fits = |entry: &BlobEntry| size.is_none_or(|size| entry.size == size);
        if !self.is_complete
            && let Some(entry) = self.entry(name).filter(fits)
        {
            match self.read(file, entry) {
                // The index may be wrong, so all blocks are searched next.
                Err(BlobError::Damaged { .. }) => {}
                read => return read,
            }
        }
        self.read_all(file)?;
        match self.entry(name).filter(fits) {
            Some(entry) => self.read(file, entry),
            None => Err(BlobError::Unknown { name }),
        }
    }

    /// Returns the blobs whose names begin with `prefix`, at most `most`.
    pub(super) fn find<R: Read + Seek>(
        &mut self,
        file: &mut BlockFile<R>,
        prefix: &NamePrefix,
        most: usize,
    ) -> io::Result<Vec<BlobEntry>> {
        let found = |store: &Self| -> Vec<BlobEntry> {
            let listed = store.listing.iter().flat_map(Listing::entries);
            let entries = store.entries.iter().flat_map(|entries| entries.iter().copied());
            let all = listed.chain(entries);
            all.filter(|entry| prefix.begins(entry.name)).take(most).collect()
        };
        if self.listing.is_some() || self.entries.is_some() {
            let listed = found(self);
            if !listed.is_empty() {
                return Ok(listed);
            }
        }
        self.read_all(file)?;
        Ok(found(self))
    }

    fn entry(&self, name: BlobName) -> Option<BlobEntry> {
        if let Some(listing) = &self.listing {
            return listing.entry(name);
        }
        let entries = self.entries.as_ref()?;
        let at = entries.binary_search_by_key(&name, |entry| entry.name).ok()?;
        entries.get(at).copied()
    }

    /// Finds all blobs in the complete blocks of the file, by hashing their pieces. Blocks that were searched before are not
    /// searched again.
    fn read_all<R: Read + Seek>(&mut self, file: &mut BlockFile<R>) -> io::Result<()> {
        if self.is_complete {
            return Ok(());
        }
        // After an error of the file the search begins anew.
        let Search { mut collector, mut processes, blocks } = std::mem::take(&mut self.search);
        let (mut entries, mut numbers) = (Vec::new(), Vec::new());
        if blocks > 0 {
            entries.extend_from_slice(self.entries.as_deref().unwrap_or_default());
            numbers.extend_from_slice(self.numbers.as_deref().unwrap_or_default());
        }
        for block in blocks..file.blocks().len() {
            if !self.load(file, block)? {
                continue;
            }
            // Each block states its threads.
            processes.clear();
            let mut current = None;
            let records = Records::new(&self.raw).map_while(Result::ok);
            for record in records.filter(|record| record.header.id() >= META_FIRST) {
                match (Meta::decode(record.header.id(), record.payload), current) {
                    (Ok(Meta::SwitchThread(switch)), _) => current = Some(switch.thread),
                    (Ok(Meta::ThreadState(state)), _) => {
                        processes.insert(state.thread, state.process);
                    }
                    (Ok(Meta::Blob(piece)), Some(thread)) => {
                        let place = (block as u32, record.start as u32);
                        let whole = collector.piece(thread, place, &piece);
                        entries.extend(whole.filter(|_| entries.len() < BLOBS_MAX));
                    }
                    (Ok(Meta::Numbered(atom::Numbered { number })), Some(thread)) => {
                        if let Some(name) = collector.numbered(thread)
                            && let Some(&process) = processes.get(&thread)
                            && numbers.len() < BLOBS_MAX
                        {
                            numbers.push((BlobNumber { process, number }, name));
                        }
                    }
                    _ => {}
                }
            }
        }
        // The first blob of a name precedes all references to it.
        entries.sort_by_key(|entry| entry.name);
        entries.dedup_by_key(|entry| entry.name);
        numbers.sort_by_key(|(number, _)| *number);
        numbers.dedup_by_key(|(number, _)| *number);
        (self.entries, self.numbers) = (Some(entries.into()), Some(numbers.into()));
        self.listing = None;
        self.search = Search { collector, processes, blocks: file.blocks().len() };
        self.is_complete = true;
        Ok(())
    }

    /// Assembles the blob of an entry.
    fn read<R: Read + Seek>(
        &mut self,
        file: &mut BlockFile<R>,
        entry: BlobEntry,
    ) -> Result<Vec<u8>, BlobError> {
        let BlobEntry { name, size, .. } = entry;
        if size > BLOB_BYTES_MAX {
            return Err(BlobError::TooLong { name, size });
        }
        let damaged = |why: &str| BlobError::Damaged { name, why: why.to_owned() };
        let mut bytes = self.cache.memory(size.min(ROOM_BYTES_MAX) as usize);
        let mut owner = None;
        for block in entry.block as usize..file.blocks().len() {
            if !self.load(file, block)? {
                return Err(damaged("a block of it can't be read"));
            }
            for (thread, at, record) in pieces(&self.raw) {
                let begins = owner.is_none() && at == entry.offset;
                if begins {
                    owner = Some(thread);
                } else if owner != Some(thread) {
                    continue;
                }
                match Meta::decode(BLOB, record) {
                    Ok(Meta::Blob(piece))
                        if piece.total == size && piece.offset == bytes.len() as u64 =>
                    {
                        bytes.extend_from_slice(piece.bytes);
                    }
                    _ => return Err(damaged("its pieces do not follow each other")),
                }
                if bytes.len() as u64 >= size {
                    return match BlobName::of(&bytes) == name && bytes.len() as u64 == size {
                        true => Ok(bytes),
                        false => Err(damaged("its bytes have another hash")),
                    };
                }
            }
            if owner.is_none() {
                return Err(damaged("it does not begin where the index says"));
            }
        }
        Err(damaged("a piece of it is not in the file"))
    }

    /// Makes `block` the current block. Returns false if it is damaged.
    fn load<R: Read + Seek>(&mut self, file: &mut BlockFile<R>, block: usize) -> io::Result<bool> {
        if self.block == Some(block) {
            return Ok(true);
        }
        self.block = None;
        self.raw = Arc::default();
        match file.block(block) {
            Ok(raw) => {
                self.raw = raw;
                self.block = Some(block);
                Ok(true)
            }
            Err(BlockError::Io(error)) => Err(error),
            Err(_) => Ok(false),
        }
    }
}

/// Blobs that commands asked for. Blobs that were asked for once are dropped first.
#[derive(Default)]
struct Cache {
    blobs: HashMap<BlobName, Cached>,
    new: Queue,
    old: Queue,
    /// Buffers of dropped blobs: reusing memory is cheaper than allocating it.
    spare: Vec<Vec<u8>>,
}

struct Cached {
    bytes: Arc<Vec<u8>>,
    /// True if the blob was asked for again since it entered its queue.
    again: bool,
}

/// Names of blobs by age, with their bytes in all.
#[derive(Default)]
struct Queue {
    order: VecDeque<BlobName>,
    bytes: usize,
}

impl Cache {
    fn get(&mut self, name: BlobName) -> Option<Arc<Vec<u8>>> {
        let cached = self.blobs.get_mut(&name)?;
        cached.again = true;
        Some(Arc::clone(&cached.bytes))
    }

    fn put(&mut self, name: BlobName, bytes: &Arc<Vec<u8>>) {
        if bytes.len() > NEW_BLOB_BYTES_MAX || self.blobs.contains_key(&name) {
            return;
        }
        while self.new.bytes + bytes.len() > NEW_BYTES_MAX {
            self.drop_new();
        }
        while self.new.bytes + self.old.bytes + bytes.len() > CACHE_BYTES_MAX {
            self.drop_old();
        }
        self.blobs.insert(name, Cached { bytes: Arc::clone(bytes), again: false });
        self.new.put(name, bytes.len());
    }

    fn drop_new(&mut self) {
        let Some(name) = self.new.order.pop_front() else { return };
        let Some(cached) = self.blobs.get_mut(&name) else { return };
        self.new.bytes -= cached.bytes.len();
        match std::mem::take(&mut cached.again) {
            true => self.old.put(name, cached.bytes.len()),
            false => self.forget(name),
        }
    }

    fn drop_old(&mut self) {
        let Some(name) = self.old.order.pop_front() else { return };
        let Some(cached) = self.blobs.get_mut(&name) else { return };
        if std::mem::take(&mut cached.again) {
            self.old.order.push_back(name);
        } else {
            self.old.bytes -= cached.bytes.len();
            self.forget(name);
        }
    }

    fn forget(&mut self, name: BlobName) {
        if let Some(cached) = self.blobs.remove(&name)
            && self.spare.len() < SPARE_MAX
            && let Ok(memory) = Arc::try_unwrap(cached.bytes)
        {
            self.spare.push(memory);
        }
    }

    /// Returns an empty buffer with room for `size` bytes.
    fn memory(&mut self, size: usize) -> Vec<u8> {
        match self.spare.pop() {
            Some(mut memory) if memory.capacity() >= size => {
                memory.clear();
                memory
            }
            _ => Vec::with_capacity(size),
        }
    }
}

impl Queue {
    fn put(&mut self, name: BlobName, bytes: usize) {
        self.order.push_back(name);
        self.bytes += bytes;
    }
}

/// Returns the pieces of blobs in a block: thread, offset of the record in bytes, and payload.
fn pieces(raw: &[u8]) -> impl Iterator<Item = (u32, u32, &[u8])> {
    let mut current = None;
    Records::new(raw).map_while(Result::ok).filter_map(move |record| match record.header.id() {
        SWITCH_THREAD => {
            if let Ok(Meta::SwitchThread(switch)) = Meta::decode(SWITCH_THREAD, record.payload) {
                current = Some(switch.thread);
            }
            None
        }
        BLOB => Some((current?, record.start as u32, record.payload)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn name(number: usize) -> BlobName {
        BlobName::of(&number.to_le_bytes())
    }

    fn bytes() -> Arc<Vec<u8>> {
        Arc::new(vec![0; MIB])
    }

    #[test]
    fn blob_that_is_asked_for_again_outlives_those_that_are_not() {
        let mut cache = Cache::default();
        cache.put(name(0), &bytes());
        assert!(cache.get(name(0)).is_some());
        for number in 1..=2 * NEW_BYTES_MAX / MIB {
            cache.put(name(number), &bytes());
        }
        assert!(cache.get(name(0)).is_some());
        assert!(cache.get(name(1)).is_none());
        assert_eq!((cache.new.bytes, cache.old.bytes), (NEW_BYTES_MAX, MIB));
    }

    #[test]
    fn cache_keeps_no_more_than_its_bytes() {
        let mut cache = Cache::default();
        let shared = bytes();
        for number in 0..2 * CACHE_BYTES_MAX / MIB {
            cache.put(name(number), &shared);
            cache.get(name(number));
            assert!(cache.new.bytes + cache.old.bytes <= CACHE_BYTES_MAX);
        }
        let kept = cache.blobs.len();
        assert_eq!(kept * MIB, cache.new.bytes + cache.old.bytes);
        assert_eq!(kept * MIB, CACHE_BYTES_MAX);
    }
}

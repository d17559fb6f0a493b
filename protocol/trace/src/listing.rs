//! The lists of blobs and of their numbers in an index, as the file has them: they may be as long as an index frame, and a
//! reader that opens a trace holds them once. A list that is not in order is refused, because it cannot be searched.

use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;

use super::blob_name::BlobName;
use super::blobs::{BlobEntry, BlobNumber};
use super::columns;
use super::frame::FrameKind;
use super::index::{
    BlockEntry, FrameEnd, NumberEntry, TableError, TraceIndex, decode_table, entry_bytes,
    number_bytes,
};

/// An index whose lists of blobs are searched where they are.
#[derive(Deserialize)]
struct Searched<'a> {
    #[serde(deserialize_with = "columns::deserialize")]
    blocks: Vec<BlockEntry>,
    #[serde(default, deserialize_with = "columns::deserialize")]
    frame_ends: Vec<FrameEnd>,
    #[serde(default, borrow)]
    blobs: Option<&'a [u8]>,
    #[serde(default, borrow)]
    numbers: Option<&'a [u8]>,
}

/// Blobs by name, and numbers of blobs.
#[derive(Clone)]
pub(super) struct Listing {
    /// The frame of the index.
    frame: Arc<Vec<u8>>,
    blobs: Range<usize>,
    numbers: Range<usize>,
}

/// Returns the index whose frame is `frame`. Its lists of blobs and numbers stay in the frame if they are in order, as
/// the listing.
///
/// # Errors
/// [`TableError`].
pub(super) fn open_index(frame: Vec<u8>) -> Result<(TraceIndex, Option<Listing>), TableError> {
    let Searched { blocks, frame_ends, blobs, numbers } = decode_table(FrameKind::Index, &frame)?;
    let place = |bytes: &[u8]| {
        let start = bytes.as_ptr().addr() - frame.as_ptr().addr();
        start..start + bytes.len()
    };
    let Some(blobs) = blobs.map(place) else {
        return Ok((TraceIndex { blocks, frame_ends, blobs: None, numbers: None }, None));
    };
    let numbers = numbers.map_or(0..0, place);
    let frame = Arc::new(frame);
    match Listing::of(Arc::clone(&frame), blobs, numbers) {
        Some(listing) => {
            let index = TraceIndex { blocks, frame_ends, blobs: None, numbers: None };
            Ok((index, Some(listing)))
        }
        None => Ok((TraceIndex::decode(&frame)?, None)),
    }
}

impl Listing {
    /// Makes a listing of the lists at these places of an index frame. `None` unless both are lists in ascending order.
    pub(super) fn of(
        frame: Arc<Vec<u8>>,
        blobs: Range<usize>,
        numbers: Range<usize>,
    ) -> Option<Self> {
        let listing = Self { frame, blobs, numbers };
        let is_whole = listing.blobs().1.is_empty() && listing.numbers().1.is_empty();
        let are_sorted = listing.entries().is_sorted_by(|one, next| one.name < next.name)
            && listing.number_entries().is_sorted_by(|one, next| one.number < next.number);
        (is_whole && are_sorted).then_some(listing)
    }

    /// Returns the blobs, by name.
    pub(super) fn entries(&self) -> impl ExactSizeIterator<Item = BlobEntry> {
        self.blobs().0.iter().map(entry_bytes::entry)
    }

    /// Returns the blob of this name.
    pub(super) fn entry(&self, name: BlobName) -> Option<BlobEntry> {
        let (blobs, _) = self.blobs();
        let at = blobs.binary_search_by_key(&name, |bytes| entry_bytes::entry(bytes).name);
        blobs.get(at.ok()?).map(entry_bytes::entry)
    }

    /// Returns the name of the blob with this number.
    pub(super) fn name(&self, number: BlobNumber) -> Option<BlobName> {
        let (numbers, _) = self.numbers();
        let at = numbers.binary_search_by_key(&number, |bytes| number_bytes::entry(bytes).number);
        let found = number_bytes::entry(numbers.get(at.ok()?)?);
        self.blobs().0.get(found.blob as usize).map(|bytes| entry_bytes::entry(bytes).name)
    }

    fn number_entries(&self) -> impl Iterator<Item = NumberEntry> {
        self.numbers().0.iter().map(number_bytes::entry)
    }

    /// The lists, and the bytes behind them that are no entry.
    fn blobs(&self) -> (&[[u8; entry_bytes::ENTRY_LEN]], &[u8]) {
        self.frame.get(self.blobs.clone()).unwrap_or_default().as_chunks()
    }

    fn numbers(&self) -> (&[[u8; number_bytes::ENTRY_LEN]], &[u8]) {
        self.frame.get(self.numbers.clone()).unwrap_or_default().as_chunks()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blob(name: u8) -> BlobEntry {
        BlobEntry { name: BlobName([name; 16]), size: name.into(), block: 0, offset: 0 }
    }

    fn number(number: u64, blob: u32) -> NumberEntry {
        NumberEntry { number: BlobNumber { process: 0, number }, blob }
    }

    /// Opens an index with these lists.
    #[track_caller]
    fn open(blobs: &[BlobEntry], numbers: &[NumberEntry]) -> (TraceIndex, Option<Listing>) {
        let (blobs, numbers) = (Some(blobs.to_vec()), Some(numbers.to_vec()));
        let mut index = TraceIndex { blobs, numbers, ..TraceIndex::default() };
        open_index(index.encode(5)).expect("an index")
    }

    #[test]
    fn lists_in_order_are_searched_in_the_frame() {
        let blobs = [blob(2), blob(4), blob(9)];
        let (index, listing) = open(&blobs, &[number(7, 1), number(8, 0), number(9, 3)]);
        assert_eq!((index.blobs, index.numbers), (None, None));
        let listing = listing.expect("they are in order");
        assert_eq!(listing.entries().collect::<Vec<_>>(), blobs);
        assert_eq!(listing.entry(blob(9).name), Some(blob(9)));
        assert_eq!(listing.entry(blob(3).name), None);
        let name = |number| listing.name(BlobNumber { process: 0, number });
        assert_eq!((name(7), name(8)), (Some(blob(4).name), Some(blob(2).name)));
        // A blob that is not listed, a number that is not listed, a number of another process.
        assert_eq!((name(9), name(1)), (None, None));
        assert_eq!(listing.name(BlobNumber { process: 1, number: 7 }), None);
    }

    #[test]
    fn lists_in_no_order_are_taken_out_of_the_frame() {
        let (blobs, numbers) = ([blob(4), blob(2)], [number(8, 0), number(7, 1)]);
        for (blobs, numbers) in [(&blobs[..], &numbers[..1]), (&blobs[..1], &numbers[..])] {
            let (index, listing) = open(blobs, numbers);
            assert!(listing.is_none());
            assert_eq!(index.blobs.as_deref(), Some(blobs));
            assert_eq!(index.numbers.as_deref(), Some(numbers));
        }
    }
}

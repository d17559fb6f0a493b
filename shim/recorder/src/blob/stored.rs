//! The blobs that snapshots have sent for the daemon's store, so that the next snapshot only names them. Once the store
//! or this table is full, further blobs are sent to the capture alone, and `unstored_bytes` counts them.
//!
//! A blob counts as present as long as the store has the number under which it was sent, if the capture for which it
//! was sent was still wanted then. If something does not
//! arrive, the store gets another number when the next capture begins. Blobs that no snapshot sent are not in this
//! table.

use core::sync::atomic::Ordering::Relaxed;

use gapii_ringbuf::{ModePage, SegmentHeader, StoreTerms};

use super::table::Known;

/// The blobs of this process that are in the daemon's store.
pub struct Stored {
    known: Known,
}

/// The terms of the store, taken for as long as it takes to send one blob.
pub struct Terms<'a> {
    known: &'a Known,
    mode: &'a ModePage,
    /// The counters that the application writes and the daemon compares.
    counters: &'a SegmentHeader,
    terms: StoreTerms,
    tag: u64,
}

impl Stored {
    /// Maps an empty table.
    pub fn map() -> Option<Stored> {
        Some(Stored { known: Known::map()? })
    }

    /// Returns the present terms. To be called before a blob's first byte is sent.
    pub fn terms<'a>(&'a self, mode: &'a ModePage, counters: &'a SegmentHeader) -> Terms<'a> {
        let terms = mode.store();
        Terms { known: &self.known, mode, counters, terms, tag: self.known.tag(terms.number) }
    }
}

impl Terms<'_> {
    /// Number of the store.
    pub fn number(&self) -> u64 {
        self.terms.number
    }

    /// Whether the store has no blob of this process.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty(self.tag)
    }

    /// Returns the name of the blob whose quick hash is `key`, if the store has the blob.
    pub fn find(&self, key: u128) -> Option<u64> {
        self.known.find(self.tag, key)
    }

    /// Reserves room in the store for a blob that is about to be sent. False if the store has no more room.
    pub fn reserve(&self, size: u64) -> bool {
        let counters = self.counters;
        // Relaxed, throughout: SENT and PUBLISH order them; see (K) in docs/memory-model.md.
        let end = counters.stored_bytes.fetch_add(size, Relaxed).wrapping_add(size);
        let fits = end <= self.terms.end && !self.known.is_full(self.tag);
        if !fits {
            self.give_back(size);
            counters.unstored_bytes.fetch_add(size, Relaxed);
        }
        fits
    }

    /// Returns the room of a blob that will not be complete.
    pub fn give_back(&self, size: u64) {
        // Relaxed: as above. If the daemon reads the count before this, it takes its store for incomplete and empties
        // it.
        self.counters.stored_bytes.fetch_sub(size, Relaxed);
    }

    /// Notes that the blob was sent: all records that hold it are published. Not if the daemon has given another order
    /// than `order`, which the sender follows: it may pass over these records.
    pub fn learn(&self, order: u64, key: u128, number: u64) {
        if self.mode.is_still(order) {
            self.known.learn(self.tag, key, number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::os::fd::AsFd;

    use gapii_ringbuf::{ModeMap, ModeSettings, ModeWriter, Segment, SegmentLayout};

    /// What a daemon shares with the process, and the table that the process keeps.
    struct Bench {
        writer: ModeWriter,
        mode: ModeMap,
        segment: Segment,
        stored: Stored,
    }

    impl Bench {
        fn new(number: u64, end: u64) -> Self {
            let (mut writer, page) = ModeWriter::create().unwrap();
            writer.set_store(StoreTerms { number, end });
            let (segment, _) = Segment::create(SegmentLayout::default()).unwrap();
            let mode = ModeMap::map(page.as_fd()).unwrap();
            Self { writer, mode, segment, stored: Stored::map().unwrap() }
        }

        fn terms(&self) -> Terms<'_> {
            self.stored.terms(&self.mode, self.segment.header())
        }

        /// The order that the daemon has given last.
        fn order(&self) -> u64 {
            self.mode.generation()
        }

        fn learn(&self, key: u128, number: u64) {
            self.terms().learn(self.order(), key, number);
        }

        /// Bytes that were counted as sent for the store, and bytes that found no room.
        fn counted(&self) -> (u64, u64) {
            let header = self.segment.header();
            (header.stored_bytes.load(Relaxed), header.unstored_bytes.load(Relaxed))
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
    fn blob_is_there_until_the_store_has_another_number() {
        let mut bench = Bench::new(3, 100);
        assert!(bench.terms().is_empty());
        bench.learn(5, 50);
        assert!(!bench.terms().is_empty());
        assert_eq!((bench.terms().find(5), bench.terms().find(6)), (Some(50), None));
        bench.writer.set_store(StoreTerms { number: 4, end: 100 });
        assert!(bench.terms().is_empty());
        assert_eq!(bench.terms().find(5), None);
        // A thread that began to send under the old number is late.
        bench.writer.set_store(StoreTerms { number: 5, end: 100 });
        let late = bench.terms();
        let terms = StoreTerms { number: 6, end: 100 };
        let now = Terms { tag: bench.stored.known.tag(6), terms, ..bench.terms() };
        late.learn(bench.order(), 7, 70);
        assert_eq!(now.find(7), None);
    }

    #[test]
    #[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
    fn blob_of_a_capture_that_was_stopped_meanwhile_is_sent_again() {
        let mut bench = Bench::new(3, 100);
        let order = bench.order();
        bench.writer.set(ModeSettings::default());
        bench.terms().learn(order, 5, 50);
        assert_eq!(bench.terms().find(5), None);
        bench.learn(5, 50);
        assert_eq!(bench.terms().find(5), Some(50));
    }

    #[test]
    #[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
    fn room_is_taken_up_to_the_end_and_given_back() {
        let bench = Bench::new(1, 100);
        assert!(bench.terms().reserve(60));
        assert!(!bench.terms().reserve(41));
        assert_eq!(bench.counted(), (60, 41));
        assert!(bench.terms().reserve(40));
        assert!(!bench.terms().reserve(1));
        bench.terms().give_back(60);
        assert!(bench.terms().reserve(60));
        assert_eq!(bench.counted(), (100, 42));
        assert!(!Bench::new(0, 0).terms().reserve(1), "a daemon that keeps nothing");
    }

    #[test]
    #[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
    fn full_table_takes_no_more_and_forgets_nothing() {
        let bench = Bench::new(1, u64::MAX);
        let key = |number: u64| {
            u128::from(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)) << 32 | u128::from(number)
        };
        let taken = (0..1 << 20).take_while(|number| {
            let is_room = bench.terms().reserve(1);
            if is_room {
                bench.learn(key(*number), *number);
            }
            is_room
        });
        let taken = taken.count() as u64;
        assert!(taken > 10_000, "{taken}");
        assert!((0..taken).all(|number| bench.terms().find(key(number)) == Some(number)));
    }
}

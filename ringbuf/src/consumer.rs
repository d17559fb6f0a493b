//! Consumer half of a ring: copies whole records out, oldest first. Never blocks and never trusts the ring: reads a
//! word once, copies a record before it checks it. A ring that breaks a rule (head, length, wrap, stamp, flags, id) is
//! refused for ever; the records before the violation are kept. Of a dead process' ring it also takes the one record
//! that was counted in `produced` and not published. Releasing space wakes a waiting producer.

use crate::batch::{Batch, Reading, Run};
use crate::futex;
use crate::layout::{Slot, SlotState, record_len_max};
use crate::record::{DAEMON_IDS_FIRST, FLAGS_KNOWN, HEADER_LEN, Header, PAD, RECORD_ALIGN};
use crate::refusal::Refusal;
use crate::storage::{Ring, RingBytes};
use crate::sync::{Ordering, fence};

/// The consuming half of one ring, over all successive owners of its slot.
#[derive(Debug)]
pub struct Consumer<R> {
    ring: R,
    /// Index of the next record to copy.
    read: u64,
    /// Index below which the producer may overwrite: the private copy of the slot's `release`.
    released: u64,
    /// Records copied out, padding not counted.
    consumed: u64,
    /// Stamp of the last record of any owner.
    stamp: u64,
    /// Whether the next record must carry a stamp.
    wants_stamp: bool,
    /// The head at which the last record of a dead process was adopted, and the index at which that record
    /// ends.
    adopted: Option<(u64, u64)>,
    refused: Option<Refusal>,
    /// Some records were lost unseen, so `consumed` undercounts.
    lacks_records: bool,
    /// Index from which on the ring's memory was written since it was last returned to the system.
    kept_from: u64,
}

/// Place up to which another consumer had read a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Standing {
    /// Ring index of the next record to copy, or of the PAD before it.
    pub index: u64,
    /// Records below that index, PAD not counted.
    pub records: u64,
    /// Some records were lost unseen, so `records` undercounts.
    pub lacks_records: bool,
    /// Stamp of the last record below that index.
    pub stamp: u64,
    /// Whether the next record belongs to the same owner, so that it need not carry a stamp.
    pub goes_on: bool,
}

/// A record that passed the checks.
enum Checked {
    Record { stamp: u64, len: usize, span: usize },
    Pad,
}

impl<R: Ring> Consumer<R> {
    /// A consumer of a ring whose slot was never claimed: reads from the beginning.
    pub fn new(ring: R) -> Self {
        Self {
            ring,
            read: 0,
            released: 0,
            consumed: 0,
            stamp: 0,
            wants_stamp: true,
            adopted: None,
            refused: None,
            lacks_records: false,
            kept_from: 0,
        }
    }

    /// Continues where another consumer stopped, and releases everything below. Call it before anything is
    /// read. False, and the ring refused, if `standing` contradicts the ring's `release` word.
    pub fn go_on(&mut self, standing: Standing) -> bool {
        let released = self.slot().released_untrusted();
        let unread = standing.index.checked_sub(released);
        let is_lawful = unread.is_some_and(|unread| unread <= self.ring.capacity_bytes())
            && [released, standing.index].iter().all(|at| at.is_multiple_of(RECORD_ALIGN as u64));
        if !is_lawful {
            self.refused = Some(Refusal::HeadBackwards);
            // Relaxed: a hint to the producer that waiting is useless.
            self.slot().refused.store(1, Ordering::Relaxed);
            return false;
        }
        (self.read, self.released) = (standing.index, released);
        (self.consumed, self.stamp) = (standing.records, standing.stamp);
        self.wants_stamp = !standing.goes_on;
        self.lacks_records = standing.lacks_records;
        self.release(standing.index);
        true
    }

    /// The ring's words.
    pub fn slot(&self) -> &Slot {
        self.ring.slot()
    }

    /// Ring index up to which records were copied out.
    pub fn read_index(&self) -> u64 {
        self.read
    }

    /// Ring index below which the producer may overwrite.
    pub fn released_index(&self) -> u64 {
        self.released
    }

    /// Records copied out so far, PAD not counted. Equals the slot's `produced` once everything is read.
    pub fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Why the ring was refused, if it was.
    pub fn refusal(&self) -> Option<Refusal> {
        self.refused
    }

    /// The head as the producer claims it. A reading of the merge loads the heads of all rings.
    pub fn head_untrusted(&self) -> u64 {
        // PUBLISH: pairs with the release in Producer::publish.
        self.slot().head.load(Ordering::Acquire)
    }

    /// The head of a ring whose process is dead. Once everything below the head is read, it includes a record
    /// that was counted in `produced` but not published. Call it again after [`Self::drain_into`] until it no
    /// longer changes.
    pub fn head_of_dead_untrusted(&mut self) -> u64 {
        let head = self.head_untrusted();
        if let Some((adopted_at, end)) = self.adopted
            && adopted_at == head
        {
            return end;
        }
        // ADOPT: pairs with the release in Producer::publish.
        let produced = self.slot().produced.load(Ordering::Acquire);
        if self.lacks_records || head != self.read || produced != self.consumed.wrapping_add(1) {
            return head;
        }
        let mut word = [0; 8];
        let position = self.read & (self.ring.capacity_bytes() - 1);
        // SAFETY: the position is masked and a multiple of 8; `ring` keeps the bytes.
        unsafe { self.ring.bytes().read_words(position, &mut word) };
        let end = head.saturating_add(Header(u64::from_le_bytes(word)).span_untrusted());
        self.adopted = Some((head, end));
        end
    }

    /// Ring index just past the last record whose driver call has returned, as the producer claims. A command
    /// whose records end above it is in flight.
    pub fn finished_untrusted(&self) -> u64 {
        // Relaxed: exact once the process is dead, a hint before.
        self.slot().finished.load(Ordering::Relaxed)
    }

    /// Copies the records below `head_untrusted`, which was loaded in `reading`, checks them, and appends
    /// them to `out`. On a refusal the records before the violation are in `out`, and the ring is never read
    /// again.
    pub fn drain_into(
        &mut self,
        head_untrusted: u64,
        reading: Reading,
        out: &mut Batch,
    ) -> Result<(), Refusal> {
        if let Some(refusal) = self.refused {
            return Err(refusal);
        }
        self.drain(head_untrusted, reading, out).inspect_err(|&refusal| {
            self.refused = Some(refusal);
            // Relaxed: a hint to the producer that waiting is useless.
            self.slot().refused.store(1, Ordering::Relaxed);
        })
    }

    /// Passes over the records below `head_untrusted` that do not follow the order to record with this generation: they
    /// are of the capture before, whose end the process had not noticed yet. Returns whether the records from here on
    /// follow the order. Releases nothing.
    ///
    /// # Errors
    /// As for [`Self::drain_into`].
    pub fn pass_to_part(&mut self, generation: u64, head_untrusted: u64) -> Result<bool, Refusal> {
        let begins = self.slot().part_untrusted(generation);
        let until = begins.map_or(head_untrusted, |index| index.min(head_untrusted));
        if until > self.read {
            // The next record may be in the middle of what its owner wrote for the capture before.
            self.wants_stamp = false;
            self.drain_into(until, Reading::First, &mut Batch::default())?;
        }
        // A consumer that continues for another one may have passed the beginning.
        self.wants_stamp |= begins == Some(self.read);
        Ok(begins.is_some_and(|index| index <= head_untrusted))
    }

    /// Releases the space below ring index `index` to the producer, and wakes a waiting producer. `index` is
    /// one that a merge emitted; it is clamped to the range that was read and not yet released.
    pub fn release(&mut self, index: u64) {
        let index = index.clamp(self.released, self.read);
        if index == self.released {
            return;
        }
        self.released = index;
        let slot = self.ring.slot();
        // RELEASE: pairs with the acquire in Producer::make_room.
        slot.release.store(index, Ordering::Release);
        // WAIT: pairs with the acquire in Producer::sleep_for_room.
        slot.release_word.fetch_add(1, Ordering::Release);
        // WAIT: pairs with the fence in Producer::sleep_for_room.
        fence(Ordering::SeqCst);
        // Relaxed: the fence orders it.
        if slot.waiting.load(Ordering::Relaxed) != 0 {
            futex::wake_all(&slot.release_word);
        }
    }

    /// Frees the slot if its owner has retired it and everything published is read and released. Returns
    /// whether it did; the next record must then carry a stamp. Returns the ring's memory to the system before that
    /// if the owners since the last time have written much ([`Ring::memory_kept_bytes`]).
    pub fn free_retired(&mut self) -> bool {
        // CLAIM, in `state`: pairs with the release in Slot::retire, so the head read next is the owner's
        // last.
        if self.refused.is_some() || self.slot().state() != Some(SlotState::Retired) {
            return false;
        }
        let drained = self.read == self.head_untrusted() && self.read == self.released;
        if drained {
            self.wants_stamp = true;
            // Stamps rise from owner to owner, unless a hostile application has set the counter back.
            self.stamp = 0;
            if self.read - self.kept_from >= self.ring.memory_kept_bytes() {
                // The slot has no owner, so no thread writes into the ring.
                self.ring.discard();
                self.kept_from = self.read;
            }
            // CLAIM: pairs with the acquire in Slot::claim.
            self.slot().state.store(SlotState::Free as u32, Ordering::Release);
            self.ring.note_freed();
        }
        drained
    }

    fn drain(&mut self, head: u64, reading: Reading, out: &mut Batch) -> Result<(), Refusal> {
        if head < self.read {
            return Err(Refusal::HeadBackwards);
        }
        if head - self.released > self.ring.capacity_bytes() {
            return Err(Refusal::HeadTooFar);
        }
        if !head.is_multiple_of(RECORD_ALIGN as u64) {
            return Err(Refusal::HeadMisaligned);
        }
        while self.read < head {
            let lap_end = (self.read | (self.ring.capacity_bytes() - 1)).saturating_add(1);
            self.drain_piece(head.min(lap_end), lap_end, reading, out)?;
        }
        Ok(())
    }

    /// Copies out the records from `read` to `end`, all in the lap that ends at `lap_end`.
    fn drain_piece(
        &mut self,
        end: u64,
        lap_end: u64,
        reading: Reading,
        out: &mut Batch,
    ) -> Result<(), Refusal> {
        let mut at = out.bytes.len();
        out.bytes.resize(at + (end - self.read) as usize, 0);
        let position = self.read & (self.ring.capacity_bytes() - 1);
        // SAFETY: masked, and the piece ends with the lap at the latest; multiples of 8, because `drain`
        // checked the head and records keep `read` aligned; `ring` keeps the bytes.
        unsafe { self.ring.bytes().read_words(position, &mut out.bytes[at..]) };

        let mut result = Ok(());
        let mut run: Option<Run> = None;
        while at < out.bytes.len() {
            match self.check(&out.bytes[at..], end == lap_end) {
                Ok(Checked::Record { stamp, len, span }) => {
                    out.bytes[at + len..at + span].fill(0);
                    at += span;
                    self.read += span as u64;
                    self.consumed += 1;
                    self.stamp = stamp;
                    self.wants_stamp = false;
                    match &mut run {
                        Some(run) if run.stamp == stamp => {
                            run.end = at;
                            run.records += 1;
                            run.end_index = self.read;
                        }
                        _ => {
                            let new = Run { stamp, end: at, records: 1, end_index: self.read };
                            if let Some(run) = run.replace(new) {
                                out.extend_run(reading, run);
                            }
                        }
                    }
                }
                Ok(Checked::Pad) => {
                    self.read = lap_end;
                    break;
                }
                Err(refusal) => {
                    result = Err(refusal);
                    break;
                }
            }
        }
        out.bytes.truncate(at);
        if let Some(run) = run {
            out.extend_run(reading, run);
        }
        result
    }

    /// Checks the record at the start of `rest`, the copied bytes up to the head or, if `to_lap_end`, to the
    /// end of the lap.
    #[inline(always)]
    fn check(&self, rest: &[u8], to_lap_end: bool) -> Result<Checked, Refusal> {
        let word = |at: usize| -> Option<u64> {
            Some(u64::from_le_bytes(*rest.get(at..)?.first_chunk()?))
        };
        let Some(header) = word(0).map(Header) else { return Err(Refusal::BadLength) };
        let (len, span) = (header.len_untrusted() as usize, header.span_untrusted() as usize);
        if header.id() == PAD {
            let fills_lap = to_lap_end && len == rest.len() && header.flags() == 0;
            return if fills_lap { Ok(Checked::Pad) } else { Err(Refusal::BadLength) };
        }
        if len < header.payload_offset() || len as u64 > record_len_max(self.ring.capacity_bytes())
        {
            return Err(Refusal::BadLength);
        }
        if span > rest.len() {
            return Err(if to_lap_end { Refusal::SpansWrap } else { Refusal::BadLength });
        }
        if header.flags() & !FLAGS_KNOWN != 0 {
            return Err(Refusal::ReservedFlags);
        }
        if header.id() >= DAEMON_IDS_FIRST {
            return Err(Refusal::ReservedId);
        }
        let stamp = match header.is_stamped().then(|| word(HEADER_LEN as usize)).flatten() {
            Some(stamp) if stamp < self.stamp => return Err(Refusal::StampDecreased),
            Some(stamp) => stamp,
            None if self.wants_stamp => return Err(Refusal::FirstRecordUnstamped),
            None => self.stamp,
        };
        Ok(Checked::Record { stamp, len, span })
    }
}

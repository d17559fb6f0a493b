//! Appending records to a stream: opens, fills and seals blocks. A block ends when it has its size
//! (`BLOCK_TARGET_BYTES`, 1 MiB, or a quarter of a ring if that is less), when its blobs have a quarter of that, when
//! that much was passed over, and before a keyframe. A record that is refused ends the run; the records before it are
//! in the stream. A process' part ends with the record that ends its last frame.

use std::sync::Arc;

use gapii_abi::atom::{
    self, BLOB, EFFECT, FRAME, FRAME_END, Header, KEYFRAME, LEAVE, NUMBERED, RECORD_LEN_MAX, SETUP,
    STORED,
};
use gapii_trace::append::AppendTo;
use gapii_trace::index::FrameEnd;
use gapii_trace::meta::{self, Meta};

use super::block::{Block, Memory};
use super::builder::StreamBuilder;
use super::process::StreamProcess;
use super::refusal::Refusal;
use super::ring::{RingKey, Run};
use super::thread::{LastCommand, Pending, StreamThread, ThreadLabel};
use super::words::{decode, header_at, is_for_store, word_at};
use crate::selection::is_landmark;
use crate::store::Store;

impl StreamBuilder {
    /// Appends a run, and passes every block that it fills to `full`.
    ///
    /// After a refusal the stream has the records before the refused one, and at a process' limit of frames those
    /// before the limit.
    pub fn append(
        &mut self,
        run: Run<'_>,
        now_ns: u64,
        full: &mut impl FnMut(Block),
    ) -> Result<(), Refusal> {
        self.rings[run.ring.0 as usize].place = run.start;
        let mut at = 0;
        loop {
            let passed = self.pass_over(&run, at);
            if passed > at {
                self.note_passed(run.ring, passed - at, now_ns);
                if self.is_full() {
                    self.seal(full);
                }
            }
            at = passed;
            if at >= run.records.len() {
                return Ok(());
            }
            self.open_block_for(run.ring, header_at(run.records, at), now_ns, full);
            let thread = self.enter_thread(run.ring, &run.records[at..])?;
            let first_memory = self.open.block.memory.len();
            let stamp = self.owed_stamp(run.ring, header_at(run.records, at));
            if let Some(stamp) = stamp {
                self.threads[thread as usize].stamp = stamp;
            }
            let walk = self.walk(thread, &run, at);
            self.copy(&run.records[at..walk.end], stamp);
            if stamp.is_some() || header_at(run.records, at).is_stamped() {
                self.rings[run.ring.0 as usize].owed_stamp = None;
            }
            self.open.block.strip_stores(first_memory);
            at = walk.end;
            let ring = &mut self.rings[run.ring.0 as usize];
            ring.place.index = run.index_at(at, ring.site.capacity_bytes);
            let index = ring.place.index;
            self.release(run.ring, index);
            if self.is_full() {
                self.seal(full);
            }
            walk.refused?;
            if walk.is_last {
                return Ok(());
            }
        }
    }

    /// Opens a block for a record, unless one is open. A keyframe begins a block, because a reader that begins there does
    /// not need the blocks before it.
    fn open_block_for(
        &mut self,
        ring: RingKey,
        header: Header,
        now_ns: u64,
        full: &mut impl FnMut(Block),
    ) {
        let is_keyframe = header.id() == KEYFRAME;
        if is_keyframe {
            self.flush(full);
            self.forget_what_is_described(ring);
        }
        self.open_block(now_ns);
        self.open.block.is_keyframe |= is_keyframe;
    }

    /// Returns where the records from `at` on begin to belong to the stream.
    #[inline]
    fn pass_over(&mut self, run: &Run<'_>, mut at: usize) -> usize {
        let ring = &mut self.rings[run.ring.0 as usize];
        let Some(selection) = &mut self.processes[ring.process.0 as usize].selection else {
            return at;
        };
        let start = at;
        while at < run.records.len() {
            let header = header_at(run.records, at);
            if ring.owner.is_plain() && !is_landmark(header.id()) {
                break;
            }
            let end = at + header.span_untrusted() as usize;
            if selection.takes(&mut ring.owner, header, &run.records[at..end]) {
                break;
            }
            if header.is_stamped() {
                ring.place.stamp = word_at(run.records, at + 8);
            }
            ring.left_out += 1;
            if header.is_stamped() {
                ring.owed_stamp = Some(word_at(run.records, at + 8));
            }
            if header.id() < atom::META_FIRST && header.flags() & (EFFECT | SETUP) == EFFECT {
                self.figures.left_out_calls += 1;
            }
            ring.place.records = ring.place.records.wrapping_add(1);
            at = end;
        }
        if at > start {
            ring.place.index = run.index_at(at, ring.site.capacity_bytes);
        }
        at
    }

    /// Notes bytes of a ring that do not belong to the stream. An open block keeps their space from being reused. If
    /// blocks state the rings' places, a block is opened to state this one.
    fn note_passed(&mut self, ring: RingKey, bytes: usize, now_ns: u64) {
        if self.handover.states_rings {
            self.open_block(now_ns);
            self.release(ring, self.rings[ring.0 as usize].place.index);
        }
        if self.open.is_open {
            self.open.passed_bytes += bytes;
        }
    }

    /// Returns the stamp that a record must have in the stream, if it has none in the ring.
    fn owed_stamp(&self, ring: RingKey, header: Header) -> Option<u64> {
        let owed = self.rings[ring.0 as usize].owed_stamp?;
        // A record of the largest length cannot get a stamp.
        let has_room = header.len_untrusted() <= RECORD_LEN_MAX - 8;
        let says_none = header.id() < atom::META_FIRST && !header.is_stamped();
        (has_room && says_none).then_some(owed)
    }

    /// Appends records to the block. A record that gets a stamp comes alone.
    fn copy(&mut self, records: &[u8], stamp: Option<u64>) {
        let raw = &mut self.open.block.raw;
        match (stamp, records.split_at_checked(8)) {
            (Some(stamp), Some((_, rest))) => {
                raw.extend_from_slice(&header_at(records, 0).with_stamp().0.to_le_bytes());
                raw.extend_from_slice(&stamp.to_le_bytes());
                raw.extend_from_slice(rest);
            }
            _ => raw.extend_from_slice(records),
        }
    }

    /// Passes the open block to `full`, if there is one.
    pub fn flush(&mut self, full: &mut impl FnMut(Block)) {
        if self.open.is_open {
            self.seal(full);
        }
    }

    fn is_full(&self) -> bool {
        self.open.is_open
            && (self.open.block.raw.len() >= self.block_bytes
                || self.open.blob_bytes >= self.block_bytes / 4
                || self.open.passed_bytes >= self.block_bytes)
    }

    pub(super) fn open_block(&mut self, now_ns: u64) {
        if self.open.is_open {
            return;
        }
        self.open.is_open = true;
        (self.open.blob_bytes, self.open.passed_bytes) = (0, 0);
        self.open.opened_ns = now_ns;
        self.open.number += 1;
        self.open.thread = None;
        self.open.block.first_seq = self.figures.calls;
        self.open.block.raw.reserve(self.block_bytes + self.block_bytes / 8);
        let number = self.open.number - 1;
        let first = atom::Block { number, first_seq: self.figures.calls, start_ns: now_ns };
        first.append_to(&mut self.open.block.raw);
        self.append_seam();
    }

    fn seal(&mut self, full: &mut impl FnMut(Block)) {
        if self.handover.states_rings {
            self.append_rings();
        }
        let mut block = std::mem::take(&mut self.open.block);
        block.seqs = (self.figures.calls - block.first_seq) as u32;
        for (thread, records) in &mut block.records {
            *records = std::mem::take(&mut self.threads[*thread as usize].records_in_block);
        }
        self.figures.raw_bytes += (block.raw.len() + block.unfilled_bytes) as u64;
        if block.unfilled_bytes > 0 {
            // Many such blocks may wait, and they are short until they are filled.
            block.raw.shrink_to_fit();
        }
        self.open.is_open = false;
        full(block);
    }

    /// Makes the thread of the ring's next records the current one, and states that in the stream.
    pub(super) fn enter_thread(&mut self, ring: RingKey, records: &[u8]) -> Result<u32, Refusal> {
        let thread = match self.rings[ring.0 as usize].thread {
            Some(owner) => owner,
            None => {
                let (tid, name) =
                    new_thread(records)?.map_or((0, [0; 16]), |new| (new.tid, new.name));
                self.begin_thread(ring, tid, name)?
            }
        };
        if self.open.thread != Some(thread) {
            self.state_thread(thread, ring);
            atom::SwitchThread { thread }.append_to(&mut self.open.block.raw);
            self.open.thread = Some(thread);
        }
        Ok(thread)
    }

    /// Writes what a reader of this block must know before the thread's first record in it.
    pub(super) fn state_thread(&mut self, index: u32, ring: RingKey) {
        let number = self.open.number;
        let thread = &mut self.threads[index as usize];
        if thread.stated_in == number {
            return;
        }
        thread.stated_in = number;
        self.open.block.records.push((index, 0));
        let process = &mut self.processes[self.rings[ring.0 as usize].process.0 as usize];
        if process.stated_in != number {
            process.stated_in = number;
            let StreamProcess { pid, start_ns, frames, .. } = *process;
            let name = &process.name;
            meta::Process { process: thread.process, pid, start_ns, frames, name }
                .append_to(&mut self.open.block.raw);
        }
        let StreamThread { process, tid, name, api, context, stamp, .. } = *thread;
        self.open.block.threads.push(ThreadLabel { thread: index, process, tid, name });
        atom::ThreadState { thread: index, process, tid, api, context, stamp, name }
            .append_to(&mut self.open.block.raw);
    }

    /// Takes records from `start` on, to the block's end or the run's.
    fn walk(&mut self, index: u32, run: &Run<'_>, start: usize) -> Walk {
        let records = run.records;
        let raw_len = self.open.block.raw.len();
        let room = self.block_bytes.saturating_sub(raw_len);
        let limit = records.len().min(start + room.max(1));
        // The stamp that readers know: records that were left out may have had later stamps.
        let mut stamp = self.threads[index as usize].stamp;
        let (mut at, mut count, mut calls) = (start, 0, 0);
        let mut last_command: Option<(Header, u64, usize)> = None;
        let mut pending = self.threads[index as usize].pending;
        let (mut refused, mut is_last) = (Ok(()), false);
        // Records that are not plain are taken one by one.
        let limit = if self.is_plain(run.ring) { limit } else { start + 1 };
        while at < limit {
            let header = header_at(records, at);
            if header.id() >= atom::META_FIRST && at > start && is_landmark(header.id()) {
                break;
            }
            let end = at + header.span_untrusted() as usize;
            if header.is_stamped() {
                stamp = word_at(records, at + 8);
            }
            if (header.is_timed() || header.is_begun()) && !self.may_be_timed(header) {
                refused = Err(Refusal::Timed(header.id()));
                break;
            }
            if header.id() < atom::META_FIRST {
                calls += u64::from(header.flags() & EFFECT != 0);
                if header.flags() & FRAME_END != 0 {
                    let enter = last_command.map(|(header, ..)| header);
                    let last = if header.flags() & EFFECT != 0 { Some(header) } else { enter };
                    pending.seq = pending.last_seq(last, self.figures.calls + calls);
                    is_last = self.end_frame(run.ring, pending);
                }
                pending.next_ns = None;
                last_command = Some((header, stamp, end));
            } else {
                let record = &records[at..end];
                refused = self.take_meta(index, run.ring, header, record, &mut pending);
                if refused.is_err() {
                    break;
                }
            }
            if matches!(header.id(), BLOB | STORED | NUMBERED | FRAME)
                || self.plain.are_exceeded(header)
            {
                let store = self.store_of(run.ring, header, &records[at..end]);
                let at = (raw_len + at - start) as u32;
                let process =
                    self.processes[self.rings[run.ring.0 as usize].process.0 as usize].index;
                let process = process.unwrap_or(0);
                self.open.block.memory.push(Memory { thread: index, process, at, store });
            }
            count += 1;
            at = end;
            if is_last {
                break;
            }
            if matches!(header.id(), BLOB | STORED) && self.open.blob_bytes >= self.block_bytes / 4
            {
                break;
            }
        }
        self.count_walked(index, run, Walked { count, calls, stamp, last_command, pending });
        Walk { end: at, refused, is_last }
    }

    /// Counts records that were taken.
    fn count_walked(&mut self, index: u32, run: &Run<'_>, walked: Walked) {
        let Walked { count, calls, stamp, last_command, mut pending } = walked;
        self.figures.calls += calls;
        self.figures.records += count;
        pending.seq = pending.last_seq(last_command.map(|(header, ..)| header), self.figures.calls);
        let place = &mut self.rings[run.ring.0 as usize].place;
        (place.records, place.stamp) = (place.records.wrapping_add(count), place.stamp.max(stamp));
        let thread = &mut self.threads[index as usize];
        (thread.stamp, thread.pending) = (stamp, pending);
        thread.records += count;
        thread.records_in_block += count;
        if let Some((header, stamp, end)) = last_command {
            let end_index = run.end_index - (run.records.len() - end) as u64;
            let (id, flags) = (header.id(), header.flags());
            thread.last_command = Some(LastCommand { id, flags, stamp, end_index });
        }
    }

    /// Returns the store that a record refers to, and the store's number in the record.
    fn store_of(&self, ring: RingKey, header: Header, record: &[u8]) -> Option<(Arc<Store>, u64)> {
        if !is_for_store(header) && header.id() != STORED {
            return None;
        }
        let (_, number) = atom::of_store(word_at(record, header.payload_offset()));
        let process = &self.processes[self.rings[ring.0 as usize].process.0 as usize];
        process.store.clone().map(|store| (store, number))
    }

    fn may_be_timed(&self, header: Header) -> bool {
        self.is_timed
            && header.id() < atom::META_FIRST
            && header.flags() & LEAVE != 0
            && header.is_timed()
    }

    fn is_plain(&self, ring: RingKey) -> bool {
        let ring = &self.rings[ring.0 as usize];
        ring.owed_stamp.is_none() && ring.owner.is_plain()
            || self.processes[ring.process.0 as usize].selection.is_none()
    }

    /// Counts the end of a frame, by a command of a thread whose pending notes are these. Returns whether the process' part
    /// ends there.
    fn end_frame(&mut self, ring: RingKey, pending: Pending) -> bool {
        let process = &mut self.processes[self.rings[ring.0 as usize].process.0 as usize];
        let Pending { seq, next_ns: time_ns } = pending;
        // A process with a record has an index.
        let (index, frame) = (process.index.unwrap_or(0), process.frames);
        self.open.block.frame_ends.push(FrameEnd { process: index, frame, block: 0, seq, time_ns });
        process.frames += 1;
        process.frame_limit.is_some_and(|limit| process.frames >= limit)
    }

    pub(super) fn release(&mut self, ring: RingKey, index: u64) {
        let state = &mut self.rings[ring.0 as usize];
        if state.released_in != self.open.number {
            state.released_in = self.open.number;
            self.open.block.releases.push((ring, index));
        } else if let Some(entry) =
            self.open.block.releases.iter_mut().find(|(key, _)| *key == ring)
        {
            entry.1 = index;
        }
    }
}

struct Walk {
    /// Offset behind the last record that was taken.
    end: usize,
    refused: Result<(), Refusal>,
    /// The process' part ends there.
    is_last: bool,
}

/// Sums over records of a thread that were taken.
struct Walked {
    count: u64,
    /// Commands that took effect.
    calls: u64,
    /// Stamp of the last record.
    stamp: u64,
    /// The last record of a command: its header, its stamp, and its end in the run.
    last_command: Option<(Header, u64, usize)>,
    pending: Pending,
}

/// Returns the THREAD record that the records begin with, if they do.
fn new_thread(records: &[u8]) -> Result<Option<atom::Thread>, Refusal> {
    let header = header_at(records, 0);
    if header.id() != atom::THREAD {
        return Ok(None);
    }
    match decode(header, records)? {
        Meta::Thread(thread) => Ok(Some(thread)),
        _ => Ok(None),
    }
}

//! Taking records that are not commands into a stream. A ring is refused for an unknown kind, for a kind that only the
//! daemon may write, for another thread's introduction, and for contents of the store that it cannot have: pieces above
//! `STORED_PIECE_MAX`, 64 KiB, or before its next keyframe more than four times the store's limit (`NAMED_TIMES`).

use gapii_abi::atom::{self, Header, STORED_PIECE_MAX, TimeKind};
use gapii_trace::footer::GapEntry;
use gapii_trace::meta::{self, Meta};

use super::builder::StreamBuilder;
use super::figures::{add_gap, add_new};
use super::refusal::Refusal;
use super::ring::RingKey;
use super::thread::Pending;
use super::words::decode;

/// Limit of the bytes that a process may name of its store before its next keyframe, as a multiple of the store's
/// limit. A process above it keeps the daemon busy on purpose.
const NAMED_TIMES: u64 = 4;

impl StreamBuilder {
    /// Takes a record that is not a command. `pending` has the notes for the thread's next record.
    pub(super) fn take_meta(
        &mut self,
        index: u32,
        ring: RingKey,
        header: Header,
        record: &[u8],
        pending: &mut Pending,
    ) -> Result<(), Refusal> {
        let thread = &mut self.threads[index as usize];
        match decode(header, record)? {
            Meta::Thread(new) if thread.tid == 0 || thread.tid == new.tid => {
                thread.tid = new.tid;
                thread.name = new.name;
            }
            Meta::Thread(new) => {
                return Err(Refusal::OtherThread { owner: thread.tid, tid: new.tid });
            }
            Meta::Context(context) => {
                thread.context = context.context;
                thread.api = context.api;
            }
            Meta::Time(time) => {
                if time.kind == TimeKind::Command {
                    pending.next_ns = Some(time.at_ns);
                }
            }
            Meta::Gap(gap) => {
                // The record that the time belongs to is lost.
                pending.next_ns = None;
                self.take_gap(index, &gap);
            }
            Meta::CaptureEnd(ended) => {
                let process = self.rings[ring.0 as usize].process;
                self.processes[process.0 as usize].ended = Some(ended);
            }
            Meta::Blob(piece) => {
                self.figures.blob_bytes += piece.bytes.len() as u64;
                self.open.blob_bytes += piece.bytes.len();
            }
            Meta::Snapshot(snapshot) => self.take_snapshot(&snapshot),
            Meta::Missing(missing) => {
                for sentence in missing.sentences() {
                    add_new(&mut self.figures.missing, &sentence);
                    add_new(&mut self.open.block.missing, &sentence);
                }
            }
            Meta::GpuTimes(times) => {
                if let Some(sentence) = times.without() {
                    add_new(&mut self.figures.without_gpu_times, &sentence.into());
                }
            }
            Meta::Stored(stored) => self.take_stored(ring, &stored)?,
            // Left out if it does not belong to the stream.
            Meta::Keyframe(_) => {
                let process = self.rings[ring.0 as usize].process;
                let process = &mut self.processes[process.0 as usize];
                (process.named_bytes, process.is_missing) = (0, false);
            }
            Meta::Limits(_)
            | Meta::Frame(_)
            | Meta::Subject(_)
            | Meta::Traced(_)
            | Meta::Numbered(_) => {}
            Meta::Unknown(id) => return Err(Refusal::Unknown(id)),
            _ => return Err(Refusal::DaemonOnly(header.id())),
        }
        Ok(())
    }

    fn take_snapshot(&mut self, snapshot: &meta::Snapshot<'_>) {
        self.figures.snapshot = true;
        self.figures.held_us = self.figures.held_us.max(snapshot.held_us.into());
        self.open.block.held_us = self.open.block.held_us.max(snapshot.held_us.into());
        for sentence in snapshot.sentences() {
            add_new(&mut self.figures.missing, &sentence);
            add_new(&mut self.open.block.missing, &sentence);
        }
    }

    fn take_stored(&mut self, ring: RingKey, stored: &atom::Stored) -> Result<(), Refusal> {
        let atom::Stored { total, offset, len, .. } = *stored;
        let process = &mut self.processes[self.rings[ring.0 as usize].process.0 as usize];
        let end = offset.checked_add(len).filter(|end| *end <= total);
        let is_piece = (1..=STORED_PIECE_MAX).contains(&len) && end.is_some();
        let Some(store) = process.store.as_ref().filter(|_| is_piece) else {
            return Err(Refusal::Stored { total, offset, len });
        };
        process.named_bytes += len;
        if process.named_bytes > store.limit.saturating_mul(NAMED_TIMES) {
            return Err(Refusal::StoredTooOften);
        }
        self.figures.blob_bytes += len;
        self.figures.stored_bytes += len;
        self.open.blob_bytes += len as usize;
        self.open.block.unfilled_bytes += len as usize;
        Ok(())
    }

    fn take_gap(&mut self, thread: u32, gap: &atom::Gap) {
        let entry = GapEntry::told_by(thread, gap);
        let told = &mut self.threads[thread as usize].told;
        *told = told.plus(entry.lost());
        add_gap(&mut self.figures.gaps, entry);
        add_gap(&mut self.open.block.gaps, entry);
    }
}

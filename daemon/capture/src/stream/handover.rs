//! The places of the rings at the end of each block, from which another daemon can continue; and continuing from them.
//! Stated only in captures into regular files. Trusts the numbers of a file only where a ring cannot contradict them.
//! Behind the next keyframe everything is described anew, because the earlier descriptions are unknown.
//!
//! Numbers of the file that are not trusted are passed on unused.

use gapii_abi::atom::{self, Seam};
use gapii_trace::append::AppendTo;
use gapii_trace::footer::Lost;
use gapii_trace::meta;
use gapii_trace::rings::{Account, RINGS_MAX, RingState, Rings};
use gapii_trace::story::Begin;

use super::builder::StreamBuilder;
use super::process::{ProcessKey, StreamProcess};
use super::ring::{Ring, RingKey, RingNote, RingPlace};
use super::thread::{LastCommand, Pending, StreamThread};
use crate::recover::Recovered;
use crate::selection::Selection;

/// Most rings whose places a block states, 5 MiB with their threads; a reader refuses blocks above 8 MiB. A capture with
/// more cannot be continued by another daemon.
const STATED_MAX: usize = 16_384;

impl StreamBuilder {
    /// Lets blocks state the places of the rings at their end from now on.
    pub fn state_rings(&mut self) {
        self.handover.states_rings = true;
    }

    /// Continues the stream of a file.
    pub fn go_on(&mut self, recovered: &Recovered) {
        self.open.number = recovered.blocks;
        self.figures.calls = recovered.seq;
        self.process_count = recovered.rings.processes;
        self.threads.resize_with(recovered.rings.threads as usize, StreamThread::default);
        for (index, track) in &recovered.threads {
            let Some(thread) = self.threads.get_mut(*index as usize) else { continue };
            thread.process = track.process;
            (thread.tid, thread.name) = (track.tid, track.name);
            (thread.api, thread.context) = (track.api, track.context);
            thread.stamp = track.stamp;
            thread.pending = Pending { seq: track.last_seq, next_ns: track.next_ns };
        }
        self.processes = recovered
            .processes
            .iter()
            .map(|(index, track)| StreamProcess {
                index: Some(*index),
                pid: track.pid,
                start_ns: track.start_ns,
                name: track.name.raw().into(),
                frames: track.frames,
                ended: recovered.ended_of(*index),
                ..StreamProcess::default()
            })
            .collect();
        self.handover.absent.clone_from(&recovered.rings.rings);
    }

    /// Returns the rings of the file whose processes have not handed them over, as the file states them.
    pub fn absent(&self) -> &[RingState] {
        &self.handover.absent
    }

    /// Returns the process with this index in the trace.
    pub fn process_at(&self, index: u32) -> Option<ProcessKey> {
        let at = self.processes.iter().position(|known| known.index == Some(index))?;
        Some(ProcessKey(at as u32))
    }

    /// Continues with a process that the file has.
    pub fn take_up(&mut self, process: ProcessKey, begin: Begin) {
        let selection = Selection::taken_up(begin, self.filter.clone());
        self.processes[process.0 as usize].selection = Some(selection);
    }

    /// Begins the next block with this seam.
    pub fn begin_with(&mut self, seam: Seam) {
        self.handover.seam = Some(seam);
    }

    /// Returns the seams of the stream's blocks.
    pub fn seams(&self) -> &[Seam] {
        &self.handover.seams
    }

    /// Sets what the stream states of a ring's owner.
    pub fn note(&mut self, ring: RingKey, note: RingNote) {
        self.rings[ring.0 as usize].note = note;
    }

    /// Notes that a process' records are missing from now on, up to the next keyframe that is appended.
    pub fn set_missing(&mut self, process: ProcessKey) {
        self.processes[process.0 as usize].is_missing = true;
    }

    /// Lets blocks state the place of a ring from now on even if it never moves, because it has moved before.
    pub fn always_state(&mut self, ring: RingKey) {
        self.rings[ring.0 as usize].begun_index = u64::MAX;
    }

    /// Continues a ring with the thread that it had, as the file states it.
    pub fn take_up_ring(&mut self, key: RingKey, state: &RingState) {
        self.handover
            .absent
            .retain(|absent| (absent.process, absent.slot) != (state.process, state.slot));
        self.always_state(key);
        let ring = &mut self.rings[key.0 as usize];
        let (index, records, stamp) = (state.index, state.records, state.stamp);
        ring.place = RingPlace { index, records, stamp };
        ring.left_out = state.left_out;
        let Some(index) = state.thread else { return };
        let Some(thread) = self.threads.get_mut(index as usize) else { return };
        let selection = &mut self.processes[ring.process.0 as usize].selection;
        if let (Some(selection), true) = (selection, state.is_introduced) {
            ring.owner = selection.known_owner(thread.tid, thread.name);
        }
        // The thread's last records may have been left out, with their stamps.
        ring.owed_stamp = Some(state.stamp).filter(|stamp| *stamp > thread.stamp);
        ring.thread = Some(index);
        (thread.told, thread.records) = (state.told, state.emitted);
        thread.last_command = (state.last_end > 0).then_some(LastCommand {
            id: state.last_id,
            flags: state.last_flags,
            stamp: state.last_stamp,
            end_index: state.last_end,
        });
    }

    /// Returns the place of a ring in the stream.
    pub fn place_of(&self, ring: RingKey) -> RingPlace {
        self.rings.get(ring.0 as usize).map(|ring| ring.place).unwrap_or_default()
    }

    /// Moves a ring's place over records that are not in the stream.
    pub fn pass_to(&mut self, ring: RingKey, place: RingPlace) {
        self.rings[ring.0 as usize].place = place;
    }

    /// Sets the number of records up to a ring's place to the number that the owner counts at its end: some records
    /// may have been lost unseen.
    pub fn count_on(&mut self, ring: RingKey, records: u64) {
        self.rings[ring.0 as usize].place.records = records;
    }

    /// Ends a ring: its process is over, or with `is_over` the process' part in this capture.
    pub fn end_ring(&mut self, ring: RingKey, is_over: bool) {
        if let Some(ring) = self.rings.get_mut(ring.0 as usize) {
            (ring.thread, ring.begun_index) = (None, ring.place.index);
            ring.note = RingNote { is_over, ..RingNote::default() };
        }
    }

    /// Writes the account of a thread that is gone into the stream. Returns the number of the block that has it, or 0
    /// if no account is needed.
    pub fn append_account(&mut self, account: &Account, now_ns: u64) -> u64 {
        if !self.handover.states_rings {
            return 0;
        }
        self.open_block(now_ns);
        account.append_to(&mut self.open.block.raw);
        self.open.number
    }

    /// States in the stream whether the capture is paused.
    pub fn state_pause(&mut self, is_paused: bool, now_ns: u64) {
        self.handover.is_paused = is_paused;
        if self.handover.states_rings && self.open.number > 0 {
            self.open_block(now_ns);
        }
    }

    /// Lets everything be described anew behind a keyframe, because the descriptions that another daemon wrote
    /// are unknown.
    pub(super) fn forget_what_is_described(&mut self, ring: RingKey) {
        let key = self.rings[ring.0 as usize].process;
        let selection = &self.processes[key.0 as usize].selection;
        let Some(mut anew) = selection.as_ref().and_then(Selection::anew) else { return };
        for ring in self.rings.iter_mut().filter(|ring| ring.process == key) {
            // The thread continues with its open command.
            let thread = ring.thread.and_then(|thread| self.threads.get(thread as usize));
            ring.owner = match thread {
                Some(thread) => anew.known_owner(thread.tid, thread.name),
                None => anew.owner(),
            };
        }
        self.processes[key.0 as usize].selection = Some(anew);
    }

    pub(super) fn append_seam(&mut self) {
        if let Some(seam) = self.handover.seam.take() {
            seam.append_to(&mut self.open.block.raw);
            self.handover.seams.push(seam);
        }
    }

    /// Writes the places of the rings at the end of the open block, unless there are more than [`STATED_MAX`].
    pub(super) fn append_rings(&mut self) {
        let is_stated = |ring: &Ring| {
            let has_moved = ring.place.index != ring.begun_index;
            let is_known = self.processes[ring.process.0 as usize].index.is_some();
            is_known && (ring.thread.is_some() || has_moved || ring.note.is_over)
        };
        let stated: Vec<usize> =
            (0..self.rings.len()).filter(|&at| is_stated(&self.rings[at])).collect();
        let mut rings = self.handover.absent.clone();
        if rings.len() + stated.len() > STATED_MAX {
            return;
        }
        for absent in &rings {
            if let Some(key) = self.process_at(absent.process) {
                self.restate(absent.thread, key);
            }
        }
        for at in stated {
            if let Some(state) = self.ring_state(at) {
                self.restate(state.thread, self.rings[at].process);
                rings.push(state);
            }
        }
        let (threads, processes) = (self.threads.len() as u32, self.process_count);
        let (is_paused, mut left) = (self.handover.is_paused, rings);
        loop {
            let rest = left.split_off(left.len().min(RINGS_MAX));
            Rings { threads, processes, is_paused, rings: left }
                .append_to(&mut self.open.block.raw);
            if rest.is_empty() {
                return;
            }
            left = rest;
        }
    }

    /// States process and thread of a ring that has no record in the open block.
    fn restate(&mut self, thread: Option<u32>, process: ProcessKey) {
        let number = self.open.number;
        let process = &mut self.processes[process.0 as usize];
        let Some(index) = process.index else { return };
        if process.stated_in != number {
            process.stated_in = number;
            let StreamProcess { pid, start_ns, frames, .. } = *process;
            meta::Process { process: index, pid, start_ns, frames, name: &process.name }
                .append_to(&mut self.open.block.raw);
        }
        let Some((index, thread)) =
            thread.and_then(|index| Some((index, self.threads.get(index as usize)?)))
        else {
            return;
        };
        if thread.stated_in != number {
            let StreamThread { process, tid, name, api, context, stamp, .. } = *thread;
            atom::ThreadState { thread: index, process, tid, api, context, stamp, name }
                .append_to(&mut self.open.block.raw);
        }
    }

    fn ring_state(&self, at: usize) -> Option<RingState> {
        let ring = &self.rings[at];
        let process = self.processes[ring.process.0 as usize].index?;
        let thread = ring.thread.and_then(|thread| self.threads.get(thread as usize));
        let last = thread.and_then(|thread| thread.last_command);
        let last = last.unwrap_or(LastCommand { id: 0, flags: 0, stamp: 0, end_index: 0 });
        let StreamProcess { selection, is_missing, .. } = &self.processes[ring.process.0 as usize];
        let is_introduced = |selection: &Selection| selection.has_introduced(&ring.owner);
        let RingNote { begun, is_late, lacks_records, begun_is_low, is_over, .. } = ring.note;
        let RingNote { refused_records, missed, missed_cause, .. } = ring.note;
        let RingPlace { index, records, stamp } = ring.place;
        Some(RingState {
            process,
            slot: ring.site.slot,
            segment: ring.site.segment,
            thread: ring.thread,
            is_late,
            lacks_records,
            begun_is_low,
            is_over,
            is_missing: *is_missing,
            at_keyframe: selection.as_ref().is_some_and(Selection::begins_at_keyframe),
            is_introduced: selection.as_ref().is_none_or(is_introduced),
            index,
            records,
            stamp,
            last_id: last.id,
            last_flags: last.flags,
            last_stamp: last.stamp,
            last_end: last.end_index,
            told: thread.map_or_else(Lost::default, |thread| thread.told),
            begun,
            emitted: thread.map_or(0, |thread| thread.records),
            left_out: ring.left_out,
            refused_records,
            missed,
            missed_cause,
        })
    }
}

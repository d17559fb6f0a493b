//! Level Zero: the memory that command lists read and write, and the moments at which it is observed: what lists read,
//! and all allocated memory that the host can read, at a submit; what they wrote after a wait. Memory that only devices
//! can read is never observed. At most 65,536 lists of one submit count (`LISTS_MAX`).
//!
//! An address determines whether memory belongs to the program or was allocated through the API.

use std::collections::BTreeMap;

use crate::generated::fields::{CommandList, Piece, ProcessState};
use crate::{Memory, NO_PARAM, Observer, Scope, Thread, Values};

/// Maximum number of handles in one submission.
const LISTS_MAX: i64 = 1 << 16;
/// Offset of `mode` in `ze_command_queue_desc_t`, in bytes; below it, `ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS`.
const QUEUE_MODE_OFFSET: u64 = 28;
const SYNCHRONOUS: u32 = 1;

/// The owner of the memory at an address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Program,
    /// Memory that was allocated through the API and that the host can read.
    Host,
    /// Memory that only devices can read.
    Device,
}

impl<S: Scope> ProcessState<S> {
    fn owner_of(&self, address: u64) -> Owner {
        let is_in = |sizes: &BTreeMap<u64, i64>| {
            let below = sizes.range(..=address).next_back();
            below.is_some_and(|(base, size)| address - base < size.unsigned_abs())
        };
        match (is_in(&self.visible_memory), is_in(&self.device_memory)) {
            (true, _) => Owner::Host,
            (false, true) => Owner::Device,
            (false, false) => Owner::Program,
        }
    }

    /// Notes memory that `executor`, a queue or an immediate list, writes. The memory is valid when the program has
    /// waited for it.
    fn will_write(&mut self, executor: u64, piece: &Piece) {
        let size = self.written_memory.entry(piece.address).or_default();
        *size = piece.size.max(*size);
        self.writers.insert(piece.address, executor);
    }

    /// Returns the addresses that `executor` writes.
    fn written_by(&self, executor: u64) -> impl Iterator<Item = u64> {
        let own = self.writers.iter().filter(move |(_, writer)| **writer == executor);
        own.map(|(address, _)| *address)
    }

    fn list_mut(&mut self, handle: u64) -> Option<&mut CommandList> {
        let list = self.command_lists.find(handle);
        self.command_lists.get_mut(list)
    }

    fn is_immediate(&self, handle: u64) -> bool {
        let list = self.command_lists.get(self.command_lists.find(handle));
        list.is_some_and(|list| list.is_immediate)
    }
}

/// Observes the source of a copy, if the list is immediate and the host can read the memory.
pub fn source_of_immediate<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    seen: &mut O,
    param: u8,
    from: u64,
    list: u64,
    size: i64,
) {
    let state = thread.process.lock();
    let is_read = state.is_immediate(list) && state.owner_of(from) != Owner::Device;
    drop(state);
    if is_read {
        observe(seen, param, &Piece { address: from, size });
    }
}

/// Like [`source_of_immediate`], for a region of rows of bytes.
#[expect(clippy::too_many_arguments, reason = "the arguments of the command")]
pub fn source_region_of_immediate<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    seen: &mut O,
    param: u8,
    from: u64,
    list: u64,
    region: u64,
    pitch: i64,
    slice_pitch: i64,
) {
    let piece = region_piece(memory, from, region, pitch, slice_pitch);
    source_of_immediate(thread, memory, seen, param, piece.address, list, piece.size);
}

/// Notes a copy of `size` bytes that the list makes when it is executed.
pub fn append_copy<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    list: u64,
    to: u64,
    from: u64,
    size: i64,
) {
    append(
        &mut thread.process.lock(),
        list,
        Piece { address: to, size },
        Piece { address: from, size },
    );
}

/// Like [`append_copy`], for a region of rows of bytes.
#[expect(clippy::too_many_arguments, reason = "the arguments of the command")]
pub fn append_region_copy<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    list: u64,
    to: u64,
    to_region: u64,
    to_pitch: i64,
    to_slice_pitch: i64,
    from: u64,
    from_region: u64,
    from_pitch: i64,
    from_slice_pitch: i64,
) {
    let to = region_piece(memory, to, to_region, to_pitch, to_slice_pitch);
    let from = region_piece(memory, from, from_region, from_pitch, from_slice_pitch);
    append(&mut thread.process.lock(), list, to, from);
}

fn append<S: Scope>(state: &mut ProcessState<S>, list: u64, to: Piece, from: Piece) {
    let reads = state.owner_of(from.address) == Owner::Program;
    let writes = state.owner_of(to.address) == Owner::Program;
    let Some(found) = state.list_mut(list) else { return };
    if found.is_immediate {
        if writes {
            state.will_write(list, &to);
        }
        return;
    }
    if reads {
        found.read_memory.push(from);
    }
    if writes {
        found.written_memory.push(to);
    }
}

/// Observes all memory that the lists read, and all allocated memory that the host can read.
pub fn submitted_memory<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    seen: &mut O,
    lists: u64,
    count: i64,
) {
    let state = thread.process.lock();
    let mut pieces = visible(&state);
    for handle in handles(memory, lists, count) {
        if let Some(list) = state.command_lists.get(state.command_lists.find(handle)) {
            pieces.extend(list.read_memory.iter().cloned());
        }
    }
    drop(state);
    pieces.iter().for_each(|piece| observe(seen, NO_PARAM, piece));
}

/// Observes all allocated memory that the host can read, if the list is immediate.
pub fn memory_of_immediate<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    seen: &mut O,
    list: u64,
) {
    let state = thread.process.lock();
    let pieces = if state.is_immediate(list) { visible(&state) } else { Vec::new() };
    drop(state);
    pieces.iter().for_each(|piece| observe(seen, NO_PARAM, piece));
}

/// Notes the memory that the lists write. It is valid when the program has waited for the queue, or for an object that
/// may signal the end of the queue's work.
pub fn submit<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    queue: u64,
    lists: u64,
    count: i64,
) {
    let mut state = thread.process.lock();
    for handle in handles(memory, lists, count) {
        let list = state.command_lists.get(state.command_lists.find(handle));
        let written = list.map_or_else(Vec::new, |list| list.written_memory.clone());
        written.iter().for_each(|piece| state.will_write(queue, piece));
    }
}

/// Observes the memory that a queue or an immediate list writes, and all allocated memory that the host can read.
pub fn completed_by<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    seen: &mut O,
    executor: u64,
) {
    let state = thread.process.lock();
    let mut pieces = visible(&state);
    let size = |address: &u64| state.written_memory.get(address).copied().unwrap_or(0);
    let own = state.written_by(executor);
    pieces.extend(own.map(|address| Piece { address, size: size(&address) }));
    drop(state);
    pieces.iter().for_each(|piece| observe(seen, NO_PARAM, piece));
}

/// Forgets the memory that `executor` writes, after the program has waited for it.
pub fn complete_by<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    executor: u64,
) {
    let mut state = thread.process.lock();
    let own: Vec<u64> = state.written_by(executor).collect();
    for address in own {
        state.written_memory.remove(&address);
        state.writers.remove(&address);
    }
}

/// Observes all noted memory for which the program has not waited yet, and all allocated memory that the host can
/// read.
pub fn completed_memory<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    seen: &mut O,
) {
    let state = thread.process.lock();
    let mut pieces = visible(&state);
    pieces.extend(pieces_of(&state.written_memory));
    drop(state);
    pieces.iter().for_each(|piece| observe(seen, NO_PARAM, piece));
}

/// Forgets all noted memory, after the program has waited for all work.
pub fn complete<S: Scope, M: Memory + ?Sized>(thread: &mut Thread<S>, _memory: &M) {
    let mut state = thread.process.lock();
    state.written_memory.clear();
    state.writers.clear();
}

/// Whether the work of a queue with this descriptor is done when the submitting command returns.
pub fn is_synchronous<S: Scope, M: Memory + ?Sized>(
    _thread: &mut Thread<S>,
    memory: &M,
    desc: u64,
) -> bool {
    desc != 0 && memory.get::<u32>(desc.wrapping_add(QUEUE_MODE_OFFSET)) == SYNCHRONOUS
}

/// Returns the allocated memory that the host can read.
fn visible<S: Scope>(state: &ProcessState<S>) -> Vec<Piece> {
    pieces_of(&state.visible_memory).collect()
}

fn pieces_of(sizes: &BTreeMap<u64, i64>) -> impl Iterator<Item = Piece> {
    sizes.iter().map(|(address, size)| Piece { address: *address, size: *size })
}

fn handles<M: Memory + ?Sized>(memory: &M, lists: u64, count: i64) -> impl Iterator<Item = u64> {
    (0..count.min(LISTS_MAX)).map(move |at| memory.element::<u64>(lists, at))
}

fn observe<O: Observer + ?Sized>(seen: &mut O, param: u8, piece: &Piece) {
    seen.apart();
    seen.range(param, piece.address, piece.size.max(0).unsigned_abs());
}

/// Returns the memory from the first byte of a region to its last; the distance between rows is `pitch` bytes.
fn region_piece<M: Memory + ?Sized>(
    memory: &M,
    base: u64,
    region: u64,
    pitch: i64,
    slice_pitch: i64,
) -> Piece {
    let [x, y, z, width, height, depth] =
        std::array::from_fn(|at| i64::from(memory.element::<u32>(region, at as i64)));
    let place = |x: i64, y: i64, z: i64| {
        let rows = y.saturating_mul(pitch);
        x.saturating_add(rows).saturating_add(z.saturating_mul(slice_pitch))
    };
    // A two-dimensional region has a depth of 0 or 1.
    let (last_row, last_slice) = (height.max(1) - 1, depth.max(1) - 1);
    let (first, last) = (place(x, y, z), place(x, y + last_row, z + last_slice));
    let size = last.saturating_sub(first).saturating_add(width);
    Piece { address: base.wrapping_add(first.cast_unsigned()), size }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Process;
    use crate::Whole;
    use crate::gl::testing::Seen;
    use crate::memory::Nothing;
    use crate::memory::tests::Bytes;

    const LIST: u64 = 0x10;
    const QUEUE: u64 = 0x20;
    const SHARED: u64 = 0x10_0000;

    fn thread(is_immediate: bool) -> Thread<Whole> {
        let process = Arc::<Process<Whole>>::default();
        let mut state = process.lock();
        state.visible_memory.insert(SHARED, 0x100);
        let list = state.command_lists.create(LIST);
        if let Some(list) = state.command_lists.get_mut(list) {
            list.is_immediate = is_immediate;
        }
        drop(state);
        Thread::new(process, 1)
    }

    fn lists() -> Bytes {
        Bytes(0x1000, LIST.to_le_bytes().to_vec())
    }

    const VISIBLE: (u8, u64, u64) = (NO_PARAM, SHARED, 0x100);

    #[test]
    fn source_of_a_copy_is_observed_when_the_list_is_submitted() {
        let mut thread = thread(false);
        append_copy(&mut thread, &Nothing, LIST, SHARED, 0x5000, 8);
        append_copy(&mut thread, &Nothing, LIST, SHARED + 8, SHARED + 0x80, 8);
        let mut seen = Seen::default();
        source_of_immediate(&mut thread, &Nothing, &mut seen, 2, 0x5000, LIST, 8);
        assert_eq!(seen, Seen::default());
        submitted_memory(&mut thread, &lists(), &mut seen, 0x1000, 1);
        assert_eq!(seen.0, [VISIBLE, (NO_PARAM, 0x5000, 8)]);
    }

    #[test]
    fn destination_of_a_copy_is_observed_after_a_wait() {
        let mut thread = thread(false);
        append_copy(&mut thread, &Nothing, LIST, 0x6000, SHARED, 8);
        let completed = |thread: &mut Thread<Whole>| {
            let mut seen = Seen::default();
            completed_memory(thread, &Nothing, &mut seen);
            complete(thread, &Nothing);
            seen.0
        };
        assert_eq!(completed(&mut thread), [VISIBLE]);
        submit(&mut thread, &lists(), QUEUE, 0x1000, 1);
        assert_eq!(completed(&mut thread), [VISIBLE, (NO_PARAM, 0x6000, 8)]);
        assert_eq!(completed(&mut thread), [VISIBLE]);
    }

    #[test]
    fn memory_that_another_queue_writes_is_observed_after_a_wait_for_it() {
        let mut thread = thread(false);
        append_copy(&mut thread, &Nothing, LIST, 0x6000, SHARED, 8);
        submit(&mut thread, &lists(), QUEUE, 0x1000, 1);
        let completed = |thread: &mut Thread<Whole>, queue| {
            let mut seen = Seen::default();
            completed_by(thread, &Nothing, &mut seen, queue);
            complete_by(thread, &Nothing, queue);
            seen.0
        };
        assert_eq!(completed(&mut thread, QUEUE + 1), [VISIBLE]);
        assert_eq!(completed(&mut thread, QUEUE), [VISIBLE, (NO_PARAM, 0x6000, 8)]);
        assert_eq!(completed(&mut thread, QUEUE), [VISIBLE]);
    }

    #[test]
    fn immediate_list_copies_at_once() {
        let mut thread = thread(true);
        let mut seen = Seen::default();
        source_of_immediate(&mut thread, &Nothing, &mut seen, 2, 0x5000, LIST, 8);
        source_of_immediate(&mut thread, &Nothing, &mut seen, 2, SHARED + 8, LIST, 4);
        append_copy(&mut thread, &Nothing, LIST, 0x6000, 0x5000, 8);
        assert_eq!(seen.0, [(2, 0x5000, 8), (2, SHARED + 8, 4)]);
        let mut seen = Seen::default();
        memory_of_immediate(&mut thread, &Nothing, &mut seen, LIST);
        assert_eq!(seen.0, [VISIBLE]);
        let mut seen = Seen::default();
        completed_memory(&mut thread, &Nothing, &mut seen);
        assert_eq!(seen.0, [VISIBLE, (NO_PARAM, 0x6000, 8)]);
    }

    #[test]
    fn memory_that_is_written_repeatedly_is_noted_once() {
        let mut thread = thread(true);
        for size in [8, 16, 4] {
            append_copy(&mut thread, &Nothing, LIST, 0x6000, SHARED, size);
        }
        let mut seen = Seen::default();
        completed_memory(&mut thread, &Nothing, &mut seen);
        assert_eq!(seen.0, [VISIBLE, (NO_PARAM, 0x6000, 16)]);
    }

    #[test]
    fn mode_of_a_queue_decides_whether_it_is_synchronous() {
        let mut thread = thread(false);
        let mut check = |mode: u32, expected: bool| {
            let mut desc = vec![0; 40];
            desc[28..32].copy_from_slice(&mode.to_le_bytes());
            let memory = Bytes(0x1000, desc);
            assert_eq!(is_synchronous(&mut thread, &memory, 0x1000), expected, "mode {mode}");
        };
        check(0, false);
        check(SYNCHRONOUS, true);
        check(2, false);
        assert!(!is_synchronous(&mut thread, &Nothing, 0));
    }

    #[test]
    fn region_reaches_from_its_first_byte_to_its_last() {
        let check = |region: [u32; 6], expected: (u64, i64)| {
            let bytes = region.iter().flat_map(|word| word.to_le_bytes()).collect();
            let piece = region_piece(&Bytes(0x1000, bytes), 0x5000, 0x1000, 16, 64);
            assert_eq!((piece.address, piece.size), expected, "{region:?}");
        };
        check([0, 0, 0, 4, 1, 1], (0x5000, 4));
        check([2, 1, 0, 4, 3, 0], (0x5012, 36));
        check([0, 0, 1, 4, 2, 2], (0x5040, 84));
        check(
            [u32::MAX; 6],
            (
                0x5000 + 80 * u64::from(u32::MAX) + u64::from(u32::MAX),
                i64::from(u32::MAX) * 81 - 80,
            ),
        );
    }
}

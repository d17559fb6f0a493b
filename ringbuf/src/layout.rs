//! The layout of all memory that an application and its daemon share. This file is the specification: every
//! structure is `repr(C)`, fields stand in offset order, and offsets and sizes are asserted at compile time.
//!
//! Each field's comment states its meaning, its writer, its readers and the ordering. A name in capitals is an
//! edge of docs/memory-model.md; `Relaxed` means that the value orders nothing. *Application* is any thread of
//! the recorded process (its shim), *producer* is the thread that owns a slot, *consumer* is the daemon's drain.
//! The code that works on the words is in `slot`, `slot_use`, `counter_page` and `mode_page`.
//!
//! Three memory files, all made by the daemon and sealed so that their length cannot change (`F_SEAL_SHRINK`,
//! `F_SEAL_GROW`, `F_SEAL_SEAL`):
//!
//! | file | one per | begins with | application maps it |
//! |---|---|---|---|
//! | counter | session | [`CounterPage`] | for reading and writing |
//! | mode | process | [`ModePage`] | for reading; also sealed with `F_SEAL_FUTURE_WRITE` |
//! | segment | process | [`SegmentHeader`] | for reading and writing |
//!
//! The segment:
//!
//! ```text
//! 0          SegmentHeader                     one page, 4096 bytes
//! 4096       Slot 0, Slot 1, ...               slot_count slots of 256 bytes
//! rings_at   ring 0, ring 1, ...               slot_count rings of ring_bytes, a power of two;
//!                                              rings_at is the next multiple of 64 KiB
//! ```
//!
//! A ring; an index counts bytes since the segment was made, never goes back, and is not reset when a slot
//! gets another owner. The place of an index in the ring is `index mod ring_bytes`:
//!
//! ```text
//!        release                     head              release + ring_bytes
//!           |  published records       |  the producer's    |
//! ----------+---------+-------+--------+--------------------+--------
//!           | record  | record|  PAD   | record being written
//! ----------+---------+-------+--------+--------------------+--------
//!                             lap end = a multiple of ring_bytes
//! ```
//!
//! Bytes in [`head`, `release + ring_bytes`) are the producer's, all others the consumer's. A record is a
//! multiple of 8 bytes, at most [`record_len_max`] bytes, and ends in the lap in which it began. Where a
//! record would not fit, the producer fills the lap with a PAD record first. PAD is published by itself, is
//! not counted, and never leaves the ring.
//!
//! A peer can write every word of the counter and of the segment at any time. No side takes a size, an index
//! or a length from shared memory without checking it against its own copy.

use crate::record::RECORD_LEN_MAX;
use crate::sync::{AtomicU32, AtomicU64};

/// First word of a segment: `GAPIISEG`.
pub const SEGMENT_MAGIC: u64 = u64::from_le_bytes(*b"GAPIISEG");
/// Version of the layout in this file, and of the kinds of records that a ring may hold.
pub const SEGMENT_VERSION: u32 = 9;
/// Default number of slots in a segment.
pub const SLOT_COUNT_DEFAULT: u32 = 4096;
/// Default size of a ring, in bytes: 4 MiB.
pub const RING_BYTES_DEFAULT: u64 = 4 << 20;
/// Largest number of slots in a segment.
pub const SLOT_COUNT_MAX: u32 = 1 << 16;
/// Smallest ring, in bytes.
pub const RING_BYTES_MIN: u64 = 4096;
/// Largest ring, in bytes: 1 GiB.
pub const RING_BYTES_MAX: u64 = 1 << 30;
/// Bytes in the memory file of a [`CounterPage`] and of a [`ModePage`].
pub const PAGE_BYTES: u64 = 4096;
/// Most bytes of the rule in a [`ModePage`] that says which commands end a frame.
pub const FRAME_RULE_BYTES: usize = 1024;

/// Offset of the slot table in a segment.
const SLOTS_AT: u64 = 4096;
/// The rings start at a multiple of this: a multiple of the page size of every supported machine.
pub(crate) const RINGS_ALIGN: u64 = 1 << 16;
/// Bytes that a slot takes in the table.
const SLOT_BYTES: u64 = 256;

/// Longest record that a ring of `ring_bytes` takes, in bytes, stamp included: a quarter of the ring, at most
/// 1 MiB.
#[inline(always)]
pub const fn record_len_max(ring_bytes: u64) -> u64 {
    let quarter = ring_bytes / 4;
    if quarter < RECORD_LEN_MAX as u64 { quarter } else { RECORD_LEN_MAX as u64 }
}

/// The checked sizes of a segment. Each side keeps its own copy and never reads them from shared memory
/// again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SegmentLayout {
    slot_count: u32,
    ring_bytes: u64,
}

impl SegmentLayout {
    /// `None` unless `slot_count` is 1 to [`SLOT_COUNT_MAX`] and `ring_bytes` is a power of two from
    /// [`RING_BYTES_MIN`] to [`RING_BYTES_MAX`].
    pub const fn new(slot_count: u32, ring_bytes: u64) -> Option<Self> {
        let slots_fit = slot_count >= 1 && slot_count <= SLOT_COUNT_MAX;
        let ring_fits = ring_bytes >= RING_BYTES_MIN && ring_bytes <= RING_BYTES_MAX;
        if slots_fit && ring_fits && ring_bytes.is_power_of_two() {
            Some(Self { slot_count, ring_bytes })
        } else {
            None
        }
    }

    /// Number of slots in the table, and of rings.
    pub const fn slot_count(self) -> u32 {
        self.slot_count
    }

    /// Bytes in each ring.
    pub const fn ring_bytes(self) -> u64 {
        self.ring_bytes
    }

    /// Bytes in the whole segment.
    pub const fn segment_bytes(self) -> u64 {
        self.rings_at() + self.slot_count as u64 * self.ring_bytes
    }

    /// Offset in bytes of slot `index`, which must be below [`Self::slot_count`].
    pub const fn slot_at(self, index: u32) -> u64 {
        SLOTS_AT + index as u64 * SLOT_BYTES
    }

    /// Offset in bytes of ring `index`, which must be below [`Self::slot_count`].
    pub const fn ring_at(self, index: u32) -> u64 {
        self.rings_at() + index as u64 * self.ring_bytes
    }

    const fn rings_at(self) -> u64 {
        self.slot_at(self.slot_count).next_multiple_of(RINGS_ALIGN)
    }
}

impl Default for SegmentLayout {
    fn default() -> Self {
        Self { slot_count: SLOT_COUNT_DEFAULT, ring_bytes: RING_BYTES_DEFAULT }
    }
}

/// First page of a segment.
///
/// `magic` to `ring_bytes` are written by the daemon before it sends the descriptor (`Relaxed`: a system call
/// orders them), and checked once by the application when it maps the segment. The counters after them are
/// claims of the application, which the daemon uses for reports, and for nothing that another application
/// depends on. All are `Relaxed` unless a field says otherwise.
#[repr(C)]
pub struct SegmentHeader {
    /// Offset 0. [`SEGMENT_MAGIC`].
    pub(crate) magic: AtomicU64,
    /// Offset 8. [`SEGMENT_VERSION`].
    pub(crate) version: AtomicU32,
    /// Offset 12. Number of slots.
    pub(crate) slot_count: AtomicU32,
    /// Offset 16. Size of a ring in bytes.
    pub(crate) ring_bytes: AtomicU64,
    pub(crate) reserved: [u64; 5],
    /// Offset 64. Frames that have ended in this process since it connected. Application: at each frame end.
    /// Daemon: reports, and conditions on frames.
    pub frames: AtomicU64,
    /// Offset 72. Newest generation of the mode page whose capture has put its hooks back: the process
    /// records no more for it. Application: when a capture ends, with `Release` (ENDED); with `Relaxed` when it
    /// has given up an order to wait. Daemon: with `Acquire`, to learn that the heads which it reads next are the
    /// last ones; with `Relaxed` for reports.
    pub ended_generation: AtomicU64,
    /// Offset 80. Commands that came from inside a recorded command (the driver or the shim called them) and
    /// went straight to the driver. Application. Daemon: reports.
    pub reentrant_calls: AtomicU64,
    /// Offset 88. Calls that were not recorded because no slot was free for their thread. Application; the
    /// daemon counts them as lost.
    pub unslotted_calls: AtomicU64,
    /// Offset 96. Number of contexts that exist in the process now. Application. Daemon: reports.
    pub contexts: AtomicU64,
    /// Offset 104. Bytes of blobs ever sent for the daemon's store. Application: adds a blob's size before
    /// its first piece is sent, subtracts it again if a piece finds no room. Daemon: reads it when a capture
    /// begins, behind a fence (SENT), and compares it with what arrived; see (K) in docs/memory-model.md. `Relaxed`.
    pub stored_bytes: AtomicU64,
    /// Offset 112. Bytes of blobs that were not sent for the store because
    /// [`StoreTerms::end`](crate::StoreTerms::end) left no room. Application. Daemon: when a capture begins,
    /// to decide whether the store should be emptied.
    pub unstored_bytes: AtomicU64,
    /// Offset 120. Duration in nanoseconds of the longest frame that ended since the daemon last reset this
    /// word to 0. Application: maximum (`fetch_max`). Daemon: `swap` with 0.
    pub longest_frame_ns: AtomicU64,
    /// Offset 128. The value of [`Self::unslotted_calls`] when the process joined the first of its concurrent
    /// captures. Daemon: a note to a later daemon, written before the settings that begin the capture.
    pub begun_unslotted_calls: AtomicU64,
    /// Offset 136. APIs that the process has called so far: one bit each, as in its hello. Application.
    /// Daemon: reports.
    pub apis: AtomicU64,
    /// Offset 144. Commands of OpenGL that came during a capture in a thread without a current context, and were not
    /// recorded. Application. Daemon: reports.
    pub foreign_calls: AtomicU64,
    /// Offset 152. Highest index of a slot that was ever claimed, plus 1: the daemon looks at no other slot. Only rises.
    /// Application: maximum (`fetch_max`), after it has claimed a slot and before it publishes there, `Relaxed` (USED).
    /// Daemon: in each reading of heads, `Relaxed` (USED); clamped to the slot count.
    pub(crate) slots_used: AtomicU64,
    /// Offset 160. Where the search for a free slot begins, and how often the daemon has freed a slot:
    /// [`FreeFrom`](crate::slot_use::FreeFrom). No slot below the index is free; an index at or above the slot count
    /// means that no slot is free. Daemon: after it has freed a slot, with `Release` (FREE). Application: with `Acquire`
    /// (FREE); by compare-exchange, `Relaxed`, when it has found the slots up to an index taken.
    pub(crate) free_from: AtomicU64,
    /// Offset 168. Blobs that records refer to and that are still to be sent. Application: adds 1 before the record that
    /// refers to the blob, subtracts 1 with `Release` (ENDED) once the blob is sent or given up. Daemon: with `Acquire`
    /// (ENDED), when the process has left a capture: it waits for the blobs.
    pub owed_blobs: AtomicU64,
    /// Offset 176. Blobs that records refer to and that were given up, ever. Application: before it subtracts from
    /// `owed_blobs`. Daemon: reports.
    pub unsent_blobs: AtomicU64,
    /// Offset 184. Bytes ever that snapshots sent while they held the program, because
    /// [`ModeSettings::attach_bytes`](crate::ModeSettings::attach_bytes) had no room. Application. Daemon: reports.
    pub held_bytes: AtomicU64,
}

/// Value of [`Slot::state`].
///
/// | transition | by | in | ordering |
/// |---|---|---|---|
/// | `Free` to `Active` | a thread of the application that needs a ring | [`Slot::claim`] | compare-exchange, `Acquire` (CLAIM) |
/// | `Active` to `Retired` | the owner, at its thread's end, after its last record | [`Slot::retire`] | store, `Release` (CLAIM) |
/// | `Retired` to `Free` | the consumer, once all is read and released | `Consumer::free_retired` | store, `Release` (CLAIM) |
///
/// No other transition exists. A slot whose process died stays as it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum SlotState {
    /// No thread owns the slot; any thread of the application may claim it.
    Free = 0,
    /// A thread owns the slot and publishes into its ring.
    Active = 1,
    /// The owner has ended; the consumer frees the slot once all its records are read and released.
    Retired = 2,
}

impl SlotState {
    pub(crate) const fn of_word(word: u32) -> Option<Self> {
        match word {
            0 => Some(Self::Free),
            1 => Some(Self::Active),
            2 => Some(Self::Retired),
            _ => None,
        }
    }
}

/// The words of one ring: four cache lines of 64 bytes, each written by one side, except for `state` and the
/// notes in line 3.
///
/// ```text
///   0  line 0, producer   head      finished   produced   (40 bytes reserved)
///  64  line 1, producer   state tid name       waits      wait_ns    dropped_records  _calls  _bytes
/// 128  line 2, consumer   release   release_word refused  begun
/// 192  line 3, producer   waiting   joined (consumer's)   part_index part_generation   (24 bytes reserved)
/// ```
#[repr(C, align(64))]
pub struct Slot {
    /// Offset 0. Ring index: all records below it are published. Producer: after each record, with `Release`
    /// (PUBLISH). Consumer: with `Acquire` (PUBLISH).
    pub(crate) head: AtomicU64,
    /// Offset 8. Ring index: the driver has returned from all commands whose records are below it. Producer:
    /// when a command ends. Consumer: exact once the process is dead, a hint before. `Relaxed`.
    pub(crate) finished: AtomicU64,
    /// Offset 16. Records ever written into this ring, over all owners, PAD not counted. Producer: before
    /// `head`, with `Release` (ADOPT). Consumer: with `Acquire` (ADOPT) once the process is dead.
    pub(crate) produced: AtomicU64,
    pub(crate) line_0: [u64; 5],
    /// Offset 64. A [`SlotState`]; its table says who changes it.
    pub(crate) state: AtomicU32,
    /// Offset 68. Kernel thread id of the last owner. Producer: when it claims the slot. For reports.
    /// `Relaxed`.
    pub(crate) tid: AtomicU32,
    /// Offset 72. Name of the last owner: 16 bytes, padded with NUL. As `tid`.
    pub(crate) name: [AtomicU64; 2],
    /// Offset 88. Times that an owner waited for room. Producer. Final once the process is dead. `Relaxed`.
    pub(crate) waits: AtomicU64,
    /// Offset 96. Nanoseconds that these waits took. As `waits`.
    pub(crate) wait_ns: AtomicU64,
    /// Offset 104. Records that were not written because the ring was full. As `waits`.
    pub(crate) dropped_records: AtomicU64,
    /// Offset 112. Commands among them. As `waits`.
    pub(crate) dropped_calls: AtomicU64,
    /// Offset 120. Ring bytes that these records would have taken. As `waits`.
    pub(crate) dropped_bytes: AtomicU64,
    /// Offset 128. Ring index: the producer may overwrite all bytes below it. Consumer: with `Release`
    /// (RELEASE). Producer: with `Acquire` (RELEASE).
    pub(crate) release: AtomicU64,
    /// Offset 136. Changes with every change of `release`: the futex on which the producer sleeps. Consumer:
    /// `fetch_add`, `Release` (WAIT). Producer: with `Acquire` (WAIT).
    pub(crate) release_word: AtomicU32,
    /// Offset 140. 0, or 1 once the consumer has refused the ring and will never read it again. Consumer: 0
    /// to 1, once. Producer: a hint that waiting is useless. `Relaxed`.
    pub(crate) refused: AtomicU32,
    /// Offset 144. [`SlotCounts`], in the order of its fields, as they were when the present owner's part of
    /// the capture began. Consumer: a note that the next daemon reads, written when the process joins the
    /// first of its concurrent captures, and before a slot is freed for its next owner. `Relaxed`.
    pub(crate) begun: [AtomicU64; 6],
    /// Offset 192. 1 while the owner sleeps, or is about to sleep, on `release_word`; else 0. Producer:
    /// `Relaxed`, 1 before a `SeqCst` fence (WAIT), 0 when it has woken. Consumer: `Relaxed`, after a
    /// `SeqCst` fence (WAIT).
    pub(crate) waiting: AtomicU32,
    /// Offset 200. [`Joined`], in the order of its fields. Consumer: a note that the next daemon reads,
    /// written when the process joins the first of its concurrent captures, before the producer has a reason
    /// to wait. `Relaxed`.
    pub(crate) joined: [AtomicU64; 2],
    /// Offset 216. Ring index at which the owner's part of the capture of `part_generation` begins. Producer: before
    /// `part_generation`, `Relaxed` (PART). Consumer: after it, `Relaxed` (PART).
    pub(crate) part_index: AtomicU64,
    /// Offset 224. Generation of the mode page's order to record that the records from `part_index` on follow; 0 before
    /// the first. Records below `part_index` are of an earlier capture, from which the process has been told to go: it
    /// may not have noticed yet. Producer: before the first record of its part, with `Release` (PART). Consumer: after
    /// `head`, with `Acquire` (PART); once it has found the generation that it waits for, it looks no more.
    pub(crate) part_generation: AtomicU64,
    pub(crate) line_3: [u64; 3],
}

/// Place of a ring when its process joined a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Joined {
    /// Ring index of the first record that can be in the capture.
    pub index: u64,
    /// Number of records ever written below that index.
    pub produced: u64,
}

/// Counts that producers claim for a slot, summed over all threads that ever owned it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SlotCounts {
    /// Records written into the ring, PAD not counted.
    pub produced: u64,
    /// Times that a thread waited for room.
    pub waits: u64,
    /// Nanoseconds that these waits took.
    pub wait_ns: u64,
    /// Records that were not written.
    pub dropped_records: u64,
    /// Commands that were not written.
    pub dropped_calls: u64,
    /// Ring bytes that these records would have taken.
    pub dropped_bytes: u64,
}

/// The stamp counter and the doorbell of a session. Every application of the session can write it; the daemon
/// maps it, rings and sleeps with it, and relies on no value in it.
///
/// ```text
///   0  line 0   stamp     (56 bytes reserved)
///  64  line 1   doorbell
/// ```
#[repr(C)]
pub struct CounterPage {
    /// Offset 0. The newest stamp. Any producer: `fetch_add` of 1 (STAMP). Any producer: load. `Relaxed`
    /// (STAMP).
    pub(crate) stamp: AtomicU64,
    pub(crate) line_0: [u64; 7],
    /// Offset 64. Changes with every ring of the bell: the futex on which the drain sleeps, 20 ms at most.
    /// Any application: `fetch_add` of 1 when [`ModePage::drain_sleeps`]. Drain: read before its last look at
    /// the rings. `Relaxed`: a missed ring costs 20 ms.
    pub(crate) doorbell: AtomicU32,
}

/// Value of the word `mode`: the daemon's order to a process. The daemon enters any value from any other, in
/// [`ModeWriter::set`](crate::ModeWriter::set), under MODE. The shim acts on a change at its next safe point.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum Mode {
    /// Record nothing. Also any value that is not listed here.
    #[default]
    Idle = 0,
    /// Record.
    Capturing = 1,
    /// Block the process' first command until the value is another one, or the daemon is gone.
    Wait = 2,
}

impl Mode {
    pub(crate) const fn of_word(word: u32) -> Self {
        match word {
            1 => Self::Capturing,
            2 => Self::Wait,
            _ => Self::Idle,
        }
    }
}

/// Value of the word `overflow`: what a thread does when its ring is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum Overflow {
    /// Wait for room. Also any value that is not listed here.
    #[default]
    Wait = 0,
    /// Drop records and count them.
    Drop = 1,
}

impl Overflow {
    pub(crate) const fn of_word(word: u32) -> Self {
        match word {
            1 => Self::Drop,
            _ => Self::Wait,
        }
    }
}

/// The daemon's settings for one process. Only the daemon writes them; the application cannot map the page for
/// writing.
///
/// The *settings* are the words marked S: they change together, under the sequence lock in `generation`
/// (MODE). The reader takes the value of `generation`, then the settings, then checks that `generation` is
/// still the same:
///
/// | `generation` | meaning | entered by the daemon | ordering |
/// |---|---|---|---|
/// | 0 | the page was just created, and no other process has it | | |
/// | odd | the settings are changing: keep the old ones | from the even value below, [`ModeWriter::set`](crate::ModeWriter::set) | `Relaxed`, then a `Release` fence (MODE) |
/// | even, from 2 | the settings are those of this generation | from the odd value below, after the settings | `Release` (MODE) |
///
/// ```text
///   0  generation u64                         64  orders u32           68  (reserved)
///   8  mode u32         12  overflow u32      72  store u64
///  16  frames u64                             80  store_end u64
///  24  skip_frames u64                        88  unlimited u64
///  32  stall_ns u64                           96  session [u64; 2]
///  40  blob_epoch u32   44  observe_frames   112  capture u64
///  48  observe_pixels   52  times            120  takers u32          124  frames_how u32
///  56  keyframe_every   60  keyframes_asked  128  drain_sleeping u32  132  (reserved)
///                                           136  keyframe_at u64
///                                           144  attach_bytes u64
///                                           152  frame_rule [u64; 128]
/// ```
///
/// `drain_sleeping` changes with each sleep of the drain. It has a cache line of its own, so that the entry points'
/// look at `orders` does not miss the cache then.
///
/// All words are read by the application, and by a daemon that takes the place of a dead one.
#[repr(C)]
pub struct ModePage {
    /// Offset 0. Number of the settings; the table above.
    pub(crate) generation: AtomicU64,
    /// Offset 8. S. A [`Mode`].
    pub(crate) mode: AtomicU32,
    /// Offset 12. S. An [`Overflow`].
    pub(crate) overflow: AtomicU32,
    /// Offset 16. S. Frames to record; 0 for no limit.
    pub(crate) frames: AtomicU64,
    /// Offset 24. S. Frames to let pass before the capture begins.
    pub(crate) skip_frames: AtomicU64,
    /// Offset 32. S. Nanoseconds that a producer waits for a daemon which releases nothing, before the
    /// process leaves the capture.
    pub(crate) stall_ns: AtomicU64,
    /// Offset 40. Number under which blobs count as sent. Raised by 1 before the settings that begin a
    /// capture, and never lowered. `Relaxed`: MODE and then BEGIN order it for every thread that records.
    pub(crate) blob_epoch: AtomicU32,
    /// Offset 44. S. The first frame of every n is observed; 0 observes none.
    pub(crate) observe_frames: AtomicU32,
    /// Offset 48. S. 1: the pixels of observed frames are kept; 0: only their hash.
    pub(crate) observe_pixels: AtomicU32,
    /// Offset 52. S. 1: the time of each command in the driver is measured; 3: also its time on the GPU.
    pub(crate) times: AtomicU32,
    /// Offset 56. S. Frames from one keyframe to the next; 0 for no keyframes.
    pub(crate) keyframe_every: AtomicU32,
    /// Offset 60. Keyframes that the daemon has asked for under the present settings: reset to 0 with the
    /// settings, else raised by 1, with `Release` (KEYFRAME). Application: with `Acquire` (KEYFRAME), at the
    /// end of a frame.
    pub(crate) keyframes_asked: AtomicU32,
    /// Offset 64. Changes after every order, `fetch_add` with `Release`: new settings (MODE), a wish for a keyframe
    /// (KEYFRAME), a new daemon's page. Application: at every command, `Relaxed`, and then with `Acquire` (MODE,
    /// KEYFRAME) at a safe point. It is the futex of a process in [`Mode::Wait`].
    pub(crate) orders: AtomicU32,
    pub(crate) line_1: u32,
    /// Offset 72. Number of the daemon's store for this process: blobs that were sent under another number
    /// are gone. 0: the daemon has no store. Written before the settings that begin a capture; also before a
    /// keyframe that another capture begins with. `Relaxed`: MODE, KEYFRAME.
    pub(crate) store: AtomicU64,
    /// Offset 80. Value that [`SegmentHeader::stored_bytes`] must not exceed. As `store`.
    pub(crate) store_end: AtomicU64,
    /// Offset 88. Generation whose frame limit is lifted because a second capture has joined. `Relaxed`: a
    /// number on its own.
    pub(crate) unlimited: AtomicU64,
    /// Offset 96. Id of the session in which the capture of the process began: 16 bytes. Written before the
    /// settings that begin the capture. For a daemon that takes over. `Relaxed`.
    pub(crate) session: [AtomicU64; 2],
    /// Offset 112. Number of that capture in its session; 0 for none. As `session`.
    pub(crate) capture: AtomicU64,
    /// Offset 120. Captures of the process that could continue in their files if the daemon died.
    /// Application: where it is 0, no thread waits for another daemon. `Relaxed`.
    pub(crate) takers: AtomicU32,
    /// Offset 124. S. Bit 0: a frame is a submission to a Level Zero queue, also in a process that swaps buffers. Bit 1: the
    /// capture begins at any command, also in a process that has ended frames.
    pub(crate) frames_how: AtomicU32,
    /// Offset 128. 1 while the drain sleeps on the doorbell. `Relaxed`: a hint; a missed wake-up costs 20 ms.
    pub(crate) drain_sleeping: AtomicU32,
    pub(crate) line_2: u32,
    /// Offset 136. Number of frames that the process has ended in all ([`SegmentHeader::frames`]) when a keyframe is due; 0
    /// for none. Reset to 0 with the settings, else set with `Release` (KEYFRAME). Application: with `Acquire`
    /// (KEYFRAME), at the end of a frame.
    pub(crate) keyframe_at: AtomicU64,
    /// Offset 144. S. Bytes of contents that a snapshot may copy, to send them while the program runs on; 0 for none.
    pub(crate) attach_bytes: AtomicU64,
    /// Offset 152. The commands that end a frame, as text: the daemon and the shim agree on its form
    /// (`gapii_abi::frame_rule`). All zeros: swaps end frames. Written before the settings that begin a capture. `Relaxed`:
    /// MODE; the application looks at the generation again afterwards. Loom's models know none of it.
    #[cfg(not(loom))]
    pub(crate) frame_rule: [AtomicU64; FRAME_RULE_BYTES / 8],
}

#[cfg(not(loom))]
const _: () = {
    use std::mem::{align_of, offset_of, size_of};

    assert!(offset_of!(SegmentHeader, magic) == 0);
    assert!(offset_of!(SegmentHeader, version) == 8);
    assert!(offset_of!(SegmentHeader, slot_count) == 12);
    assert!(offset_of!(SegmentHeader, ring_bytes) == 16);
    assert!(offset_of!(SegmentHeader, frames) == 64);
    assert!(offset_of!(SegmentHeader, ended_generation) == 72);
    assert!(offset_of!(SegmentHeader, reentrant_calls) == 80);
    assert!(offset_of!(SegmentHeader, unslotted_calls) == 88);
    assert!(offset_of!(SegmentHeader, contexts) == 96);
    assert!(offset_of!(SegmentHeader, stored_bytes) == 104);
    assert!(offset_of!(SegmentHeader, unstored_bytes) == 112);
    assert!(offset_of!(SegmentHeader, longest_frame_ns) == 120);
    assert!(offset_of!(SegmentHeader, begun_unslotted_calls) == 128);
    assert!(offset_of!(SegmentHeader, apis) == 136);
    assert!(offset_of!(SegmentHeader, foreign_calls) == 144);
    assert!(offset_of!(SegmentHeader, slots_used) == 152);
    assert!(offset_of!(SegmentHeader, free_from) == 160);
    assert!(offset_of!(SegmentHeader, owed_blobs) == 168);
    assert!(offset_of!(SegmentHeader, unsent_blobs) == 176);
    assert!(offset_of!(SegmentHeader, held_bytes) == 184);
    assert!(size_of::<SegmentHeader>() == 192);
    assert!(size_of::<SegmentHeader>() as u64 <= SLOTS_AT);

    assert!(size_of::<Slot>() as u64 == SLOT_BYTES && align_of::<Slot>() == 64);
    assert!(offset_of!(Slot, head) == 0);
    assert!(offset_of!(Slot, finished) == 8);
    assert!(offset_of!(Slot, produced) == 16);
    assert!(offset_of!(Slot, state) == 64);
    assert!(offset_of!(Slot, tid) == 68);
    assert!(offset_of!(Slot, name) == 72);
    assert!(offset_of!(Slot, waits) == 88);
    assert!(offset_of!(Slot, wait_ns) == 96);
    assert!(offset_of!(Slot, dropped_records) == 104);
    assert!(offset_of!(Slot, dropped_calls) == 112);
    assert!(offset_of!(Slot, dropped_bytes) == 120);
    assert!(offset_of!(Slot, release) == 128);
    assert!(offset_of!(Slot, release_word) == 136);
    assert!(offset_of!(Slot, refused) == 140);
    assert!(offset_of!(Slot, begun) == 144);
    assert!(offset_of!(Slot, waiting) == 192);
    assert!(offset_of!(Slot, joined) == 200);
    assert!(offset_of!(Slot, part_index) == 216);
    assert!(offset_of!(Slot, part_generation) == 224);

    assert!(offset_of!(CounterPage, stamp) == 0);
    assert!(offset_of!(CounterPage, doorbell) == 64);
    assert!(size_of::<CounterPage>() == 72);
    assert!(size_of::<CounterPage>() as u64 <= PAGE_BYTES);

    assert!(offset_of!(ModePage, generation) == 0);
    assert!(offset_of!(ModePage, mode) == 8);
    assert!(offset_of!(ModePage, overflow) == 12);
    assert!(offset_of!(ModePage, frames) == 16);
    assert!(offset_of!(ModePage, skip_frames) == 24);
    assert!(offset_of!(ModePage, stall_ns) == 32);
    assert!(offset_of!(ModePage, blob_epoch) == 40);
    assert!(offset_of!(ModePage, observe_frames) == 44);
    assert!(offset_of!(ModePage, observe_pixels) == 48);
    assert!(offset_of!(ModePage, times) == 52);
    assert!(offset_of!(ModePage, keyframe_every) == 56);
    assert!(offset_of!(ModePage, keyframes_asked) == 60);
    assert!(offset_of!(ModePage, orders) == 64);
    assert!(offset_of!(ModePage, store) == 72);
    assert!(offset_of!(ModePage, store_end) == 80);
    assert!(offset_of!(ModePage, unlimited) == 88);
    assert!(offset_of!(ModePage, session) == 96);
    assert!(offset_of!(ModePage, capture) == 112);
    assert!(offset_of!(ModePage, takers) == 120);
    assert!(offset_of!(ModePage, frames_how) == 124);
    assert!(offset_of!(ModePage, drain_sleeping) == 128);
    assert!(offset_of!(ModePage, keyframe_at) == 136);
    assert!(offset_of!(ModePage, attach_bytes) == 144);
    assert!(offset_of!(ModePage, frame_rule) == 152);
    assert!(size_of::<ModePage>() == 152 + FRAME_RULE_BYTES);
    assert!(size_of::<ModePage>() as u64 <= PAGE_BYTES);
};

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn layout_of_bad_sizes_is_refused() {
        for (slots, ring) in [
            (0, 4096),
            (SLOT_COUNT_MAX + 1, 4096),
            (1, 2048),
            (1, 4096 + 8),
            (1, 0),
            (1, 2 << 30),
            (u32::MAX, u64::MAX),
        ] {
            assert_eq!(SegmentLayout::new(slots, ring), None, "{slots} slots of {ring} bytes");
        }
    }

    #[test]
    fn layout_places_rings_after_slots_without_overlap() {
        for (slots, ring) in [(1, 4096), (3, 8192), (256, 4 << 20), (SLOT_COUNT_MAX, 1 << 30)] {
            let layout = SegmentLayout::new(slots, ring).expect("sizes are in range");
            assert!(layout.ring_at(0) >= layout.slot_at(slots));
            assert_eq!(layout.ring_at(0) % RINGS_ALIGN, 0);
            assert_eq!(layout.ring_at(slots), layout.segment_bytes());
        }
    }
}

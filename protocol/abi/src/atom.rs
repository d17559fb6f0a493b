//! Atoms: the records of rings and streams that are not commands, in one table, and the flags of all records. A payload
//! shorter than an atom's fixed part is refused; bytes behind it are ignored, because a later version may append
//! fields. A blob is below 2^48 bytes; a piece that only names contents of the daemon's store stands for at most
//! `STORED_PIECE_MAX`, 64 KiB.
//!
//! The table is the specification: the encoders of shim and daemon, the decoder of trace readers and the
//! tables in docs/trace-format.md are made from it. A line is `offset name: type`. Bytes between fields are
//! written as zero and not read. `read from` is the shortest payload that a reader takes, where that is less
//! than the fixed part; fields behind it are then 0.
//!
//! ```
//! use gapii_abi::atom::Thread;
//!
//! let thread = Thread { tid: 4711, flags: 0, name: *b"render\0\0\0\0\0\0\0\0\0\0" };
//! let payload = thread.encode();
//! assert_eq!(payload[..4], 4711_u32.to_le_bytes());
//! assert_eq!(Thread::decode(&payload), Ok((thread, &[][..])));
//! assert!(Thread::decode(&payload[..20]).is_err());
//! ```

pub use gapii_ringbuf::record::{BEGUN, HEADER_LEN, Header, PAD, RECORD_LEN_MAX, STAMPED, TIMED};

pub use crate::codes::{
    EndReason, FrameKind, GapCause, GpuTimesKind, ProcessEnd, SubjectKind, TimeKind, TracedKind,
};
pub use crate::layout::{Atom, Short};
pub use crate::observation::{
    BLOB_NAME_LEN, OBSERVED_BLOB, OBSERVED_INLINE, OBSERVED_NONE, OBSERVED_NUMBER,
    observation_word, range_word,
};

use crate::layout::{Layout, Writer, atoms, layout};

/// A bit of a flags word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flag {
    /// Its name in docs/trace-format.md.
    pub name: &'static str,
    /// Its value.
    pub value: u32,
    /// Its meaning, in one line.
    pub meaning: &'static str,
}

/// Makes a constant for each flag, and the static table of them.
macro_rules! flags {
    (
        $(#[doc = $table_doc:literal])+
        $table:ident: $ty:ident;
        $( $(#[doc = $doc:literal])+ $name:ident = $value:expr; )*
    ) => {
        $( flags!(@constant $ty, $name, $value, $($doc)+); )*

        $(#[doc = $table_doc])+
        pub static $table: &[Flag] = &[ $( Flag {
            name: stringify!($name),
            value: $value as u32,
            meaning: concat!($($doc),+),
        }, )* ];
    };
    // The ring's own flags, whose constants are in `gapii_ringbuf`.
    (@constant $ty:ident, STAMPED, $($rest:tt)*) => {};
    (@constant $ty:ident, TIMED, $($rest:tt)*) => {};
    (@constant $ty:ident, BEGUN, $($rest:tt)*) => {};
    (@constant $ty:ident, $name:ident, $value:expr, $($doc:literal)+) => {
        $(#[doc = $doc])+
        pub const $name: $ty = $value;
    };
}

flags! {
    /// Flags of all records.
    FLAGS: u16;
    /// A stamp follows the header word. Without it the record has the stamp of its thread's previous record.
    STAMPED = STAMPED;
    /// Leave record of a command. Without it: the enter record.
    LEAVE = 2;
    /// The command takes effect at this record. At most one record of a command has this flag.
    EFFECT = 4;
    /// On the leave record of a successful swap, of a submit that counts as a frame, or of a command that the capture's frame
    /// rule names: the frame of the process ends after this record.
    FRAME_END = 8;
    /// On an enter record: a leave record follows when the driver returns.
    LEAVES = 16;
    /// From version 3 on, on a leave record only: the time that the driver took follows.
    TIMED = TIMED;
    /// The program did not call this command. It recreates state that existed when the capture, or its keyframe,
    /// began. On a BLOB or NUMBERED in a ring: the daemon's store keeps the blob too.
    SETUP = 64;
    /// From version 8 on, on a `TIMED` record only: when the driver was called follows.
    BEGUN = BEGUN;
}

/// Ids from here on are not commands.
pub const META_FIRST: u16 = gapii_ringbuf::record::META_IDS_FIRST;

atoms! {
    /// Memory that the program used and that the trace lacks from here on. In a part of a trace: what the whole trace lacks.
    pub struct Missing = MISSING 0xFF00, Shim, 8 bytes, then "`len` bytes of UTF-8: what is missing and why, a line each" {
        /// Bytes of text that follow.
        0 len: u32,
    }
    /// First record of a thread in a capture, and after each keyframe.
    pub struct Thread = THREAD 0xFF01, Shim, 24 bytes {
        /// Thread id of the operating system.
        0 tid: u32,
        /// 0.
        4 flags: u32,
        /// The kernel's name for the thread, NUL-padded.
        8 name: [u8; 16],
    }
    /// The thread's current context: follows THREAD, and each change.
    pub struct Context = CONTEXT 0xFF02, Shim, 16 bytes {
        /// Handle of the context, or 0.
        0 context: u64,
        /// `EGL_OPENGL_ES_API` (`0x30A0`), `EGL_OPENGL_API` (`0x30A2`), or 0 without a context.
        8 api: u32,
        /// Major version that the context was created with.
        12 client_version: u32,
    }
    /// In captures with `--gpu-timing`: times on the GPU of commands of the process, some frames after the commands, or why there
    /// are none.
    pub struct GpuTimes = GPU_TIMES 0xFF03, Shim, 32 bytes, then "with kind `times`, `count` times" {
        /// Handle of the context; for commands of Level Zero that of the command list.
        0 context: u64,
        /// Meaning of the record: a GpuTimesKind.
        8 kind: GpuTimesKind,
        /// Number of commands.
        12 count: u32,
        /// In nanoseconds of `CLOCK_MONOTONIC`: with kind `disjoint`, when the GPU was last asked before; with kind `times`, when the list of the commands was executed. 0 for a context and an immediate list, and with other kinds.
        16 from_ns: u64,
        /// With kind `disjoint`: when the GPU was asked, in nanoseconds of `CLOCK_MONOTONIC`; otherwise 0.
        24 to_ns: u64,
    }
    /// Records of the thread that are not in the stream.
    pub struct Gap = GAP 0xFF04, Shim, 64 bytes, read from 60 {
        /// Records that are missing.
        0 records: u64,
        /// Commands that are missing.
        8 calls: u64,
        /// Bytes of the missing records.
        16 bytes: u64,
        /// Newest stamp of the capture when the first record was lost.
        24 first_stamp: u64,
        /// Newest stamp of the capture when the gap was written.
        32 last_stamp: u64,
        /// `CLOCK_MONOTONIC` in nanoseconds when the first record was lost.
        40 start_ns: u64,
        /// `CLOCK_MONOTONIC` in nanoseconds when the gap was written.
        48 end_ns: u64,
        /// Why they are missing: a GapCause.
        56 cause: GapCause,
    }
    /// The process has put its hooks back.
    pub struct CaptureEnd = CAPTURE_END 0xFF05, Shim, 16 bytes {
        /// Why: a ProcessEnd.
        0 reason: ProcessEnd,
        /// Frames that the process recorded.
        8 frames: u64,
    }
    /// A piece of a blob.
    pub struct Blob = BLOB 0xFF06, Shim, 16 bytes, then "the bytes of the piece" {
        /// Size of the whole blob in bytes, below 2^48. In a ring and with `SETUP`, the lower 16 bits of the store's number are in the upper 16 bits.
        0 total: u64,
        /// Where the piece begins in the blob, in bytes.
        8 offset: u64,
    }
    /// Limits and extensions that the driver reported for a context when it first became current; follows its
    /// CONTEXT.
    pub struct Limits = LIMITS 0xFF07, Shim, 16 bytes, then "`numbers` times `i32`, then `extensions_len` bytes of names, separated by spaces, then the driver's `GL_RENDERER` and `GL_VERSION`, each NUL-terminated" {
        /// Handle of the context.
        0 context: u64,
        /// Major client version.
        8 major: u16,
        /// Minor client version.
        10 minor: u16,
        /// Numbers that follow.
        12 numbers: u16,
        /// Bytes of extension names that follow the numbers.
        14 extensions_len: u16,
    }
    /// Pixels of a surface just before a swap, or their hash; precedes the swap's enter record.
    pub struct Frame = FRAME 0xFF08, Shim, 48 bytes {
        /// Handle of the surface.
        0 surface: u64,
        /// Frames of the process that the application counted before.
        8 frame: u64,
        /// Width in pixels.
        16 width: u32,
        /// Height in pixels.
        20 height: u32,
        /// How much of the pixels the trace has: a FrameKind.
        24 kind: FrameKind,
        /// Name that the pixels have, or would have, as a blob.
        32 name: [u8; 16],
    }
    /// End of a thread's part of a snapshot: the thread's `SETUP` commands so far recreate the state that
    /// existed when the capture, or its keyframe, began.
    pub struct Snapshot = SNAPSHOT 0xFF09, Shim, 8 bytes, then "`len` bytes of UTF-8: what the commands leave out, a line each" {
        /// Bytes of text that follow.
        0 len: u32,
        /// Time that the thread was held for them, in microseconds.
        4 held_us: u32,
    }
    /// The capture goes on as if it began here: threads introduce themselves again, no earlier blob counts as sent, and all state is described again.
    pub struct Keyframe = KEYFRAME 0xFF0A, Shim, 16 bytes, read from 8 {
        /// Frames that the process has ended before, also those that it did not record.
        0 frame: u64,
        /// `CLOCK_MONOTONIC` in nanoseconds when the keyframe was written; 0 if an older writer did not say it.
        8 at_ns: u64,
    }
    /// In captures with keyframes: the subject that the thread's next `SETUP` commands describe, or that the
    /// thread has just made.
    pub struct Subject = SUBJECT 0xFF0B, Shim, 16 bytes {
        /// Number of the subject among those of its kind.
        0 id: u64,
        /// A SubjectKind.
        8 kind: SubjectKind,
        /// Not 0: the thread's own commands made the subject, and no description follows.
        12 made: u32,
    }
    /// A piece of a blob that the daemon's store has; becomes a BLOB in the stream.
    pub struct Stored = STORED 0xFF0C, Ring, 32 bytes {
        /// Size of the whole blob, in bytes.
        0 total: u64,
        /// Where the piece begins in the blob, in bytes.
        8 offset: u64,
        /// Length of the piece in bytes, at most 64 KiB.
        16 len: u64,
        /// Number of the blob.
        24 number: u64,
    }
    /// Changes that a tracer made to a command of the thread, or the note that a tracer calls the command.
    pub struct Traced = TRACED 0xFF0D, Shim, 8 bytes, then "arguments of `args_len` bytes each, and a result, as the kind says" {
        /// Function id of the command.
        0 id: u16,
        /// A TracedKind.
        2 kind: TracedKind,
        /// Length of the fixed part of the command's enter record, padded to 8 bytes; 0 where no arguments follow.
        4 args_len: u32,
    }
    /// From version 5 on: the number of the blob whose last piece is the thread's record before. Records of the process
    /// refer to the blob by this number. No other blob of the process has it.
    pub struct Numbered = NUMBERED 0xFF0E, Shim, 8 bytes {
        /// The number.
        0 number: u64,
    }
    /// A time of the thread. Ahead of each record with `FRAME_END`: when the frame ended.
    pub struct Time = TIME 0xFF0F, Shim, 24 bytes, read from 16 {
        /// `CLOCK_MONOTONIC` in nanoseconds; of what lasts, the begin.
        0 at_ns: u64,
        /// What it is the time of: a TimeKind.
        8 kind: TimeKind,
        /// With kind `command`: function id of the command plus 1, so that a filter leaves out the TIME with its command; 0 if the writer did not say it.
        12 function: u16,
        /// With the kinds `hold` and `wait`: how long it lasted, in nanoseconds.
        16 duration_ns: u64,
    }
    /// First record of a block.
    pub struct Block = BLOCK 0xFF10, Daemon, 24 bytes {
        /// Ordinal of the block in the stream, from 0, or from `kept.block`.
        0 number: u64,
        /// Commands that took effect before this block.
        8 first_seq: u64,
        /// `CLOCK_MONOTONIC` in nanoseconds when the block was begun.
        16 start_ns: u64,
    }
    /// A process and its frame count so far; precedes the first THREAD_STATE of the process in a block.
    pub struct Process = PROCESS 0xFF11, Daemon, 32 bytes, then "`name_len` bytes of the name" {
        /// Index of the process in the trace, dense from 0.
        0 process: u32,
        /// Process id of the operating system.
        4 pid: u32,
        /// `CLOCK_MONOTONIC` in nanoseconds when the process joined the capture.
        8 start_ns: u64,
        /// Frames of the process that ended before this record.
        16 frames: u64,
        /// Bytes of the name that follow.
        24 name_len: u32,
    }
    /// A thread's state; precedes the first record of the thread in a block.
    pub struct ThreadState = THREAD_STATE 0xFF12, Daemon, 48 bytes {
        /// Index of the thread in the trace, dense from 0 over all processes.
        0 thread: u32,
        /// Index of its process.
        4 process: u32,
        /// Thread id of the operating system.
        8 tid: u32,
        /// API of the current context, as in CONTEXT.
        12 api: u32,
        /// Handle of the current context, or 0.
        16 context: u64,
        /// Stamp of the thread's previous record.
        24 stamp: u64,
        /// The kernel's name for the thread, NUL-padded.
        32 name: [u8; 16],
    }
    /// The records that follow are this thread's.
    pub struct SwitchThread = SWITCH_THREAD 0xFF13, Daemon, 8 bytes, read from 4 {
        /// Index of the thread.
        0 thread: u32,
    }
    /// Last record of a stream.
    pub struct End = END 0xFF14, Daemon, 16 bytes, then "`in_flight` commands in flight" {
        /// Why the stream ended: an EndReason.
        0 reason: EndReason,
        /// Commands in flight that follow.
        8 in_flight: u32,
    }
    /// Position of the capture's rings at the end of a block.
    pub struct Rings = RINGS 0xFF15, Daemon, 16 bytes, then "`rings` rings" {
        /// Threads that the stream has so far.
        0 threads: u32,
        /// Processes that the stream has so far.
        4 processes: u32,
        /// Rings that follow.
        8 rings: u32,
        /// Flags of RINGS.
        12 flags: u32,
    }
    /// Totals of a thread that is gone; precedes the reuse of its ring by another thread.
    pub struct Account = ACCOUNT 0xFF16, Daemon, 128 bytes {
        /// Index of the thread.
        0 thread: u32,
        /// Place of its ring in the process' segment.
        4 slot: u32,
        /// Records that the application counted as produced.
        8 produced: u64,
        /// Waits that it counted.
        16 waits: u64,
        /// Time of these waits, in nanoseconds.
        24 wait_ns: u64,
        /// Records that it counted as dropped.
        32 dropped_records: u64,
        /// Commands that it counted as dropped.
        40 dropped_calls: u64,
        /// Bytes that it counted as dropped.
        48 dropped_bytes: u64,
        /// Records that the thread's GAPs report.
        56 told_records: u64,
        /// Commands that its GAPs report.
        64 told_calls: u64,
        /// Bytes that its GAPs report.
        72 told_bytes: u64,
        /// Records that the daemon could not read, or refused.
        80 refused_records: u64,
        /// Records that do not belong to the stream.
        88 left_out: u64,
        /// Records that are missing.
        96 missed_records: u64,
        /// Commands that are missing.
        104 missed_calls: u64,
        /// Bytes that are missing.
        112 missed_bytes: u64,
        /// Why they are missing: a GapCause.
        120 missed_cause: GapCause,
    }
    /// Another daemon continued the capture here.
    pub struct Seam = SEAM 0xFF17, Daemon, 24 bytes {
        /// `CLOCK_MONOTONIC` in nanoseconds when a program first noticed that the daemon was gone; where no program came back, when the last block was begun.
        0 from_ns: u64,
        /// `CLOCK_MONOTONIC` in nanoseconds when the other daemon began.
        8 to_ns: u64,
        /// Processes that handed their rings over.
        16 processes: u32,
        /// Processes that were in the capture, are alive, and did not hand their rings over.
        20 absent: u32,
    }
    /// From version 10 on, in packed blocks only: short records without the words that all records of a kind have in common.
    pub struct Packed = PACKED 0xFF18, Daemon, 8 bytes, then "the kinds, the kind of each record, and the words of each record that vary" {
        /// Records that it stands for.
        0 records: u32,
        /// Kinds of records, at most 256.
        4 kinds: u32,
    }
}

layout! {
    /// A command that had been entered and had not returned when the stream ended.
    pub struct InFlight, 16 bytes, read from 16;
    /// Index of the thread; a thread has at most one command in flight.
    0 thread: u32,
    /// Function id.
    4 id: u16,
    /// Stamp of the enter record.
    8 stamp: u64,
}

layout! {
    /// Time of one command on the GPU.
    pub struct GpuTime, 32 bytes, read from 32;
    /// When the driver was called for the command, as its leave record says: names the command among those of its thread.
    0 called_ns: u64,
    /// When the GPU had executed all commands before, in nanoseconds of `CLOCK_MONOTONIC`.
    8 begin_ns: u64,
    /// Time until the GPU had executed the command, in nanoseconds.
    16 duration_ns: u64,
    /// Thread id of the operating system of the thread that called the command.
    24 tid: u32,
    /// Function id of the command.
    28 id: u16,
}

layout! {
    /// Position of one ring in the stream, and of its owner.
    pub struct Ring, 192 bytes, read from 192;
    /// Index of the process.
    0 process: u32,
    /// Place of the ring in the process' segment.
    4 slot: u32,
    /// Index of the thread that owns the ring; 2^32-1 if the last owner has its ACCOUNT.
    8 thread: u32,
    /// Flags of a ring.
    12 flags: u32,
    /// Inode of the segment's memory file, which identifies the segment.
    16 segment: u64,
    /// Ring index in bytes behind the last record that is in the stream, or does not belong there; see [memory-model.md](memory-model.md).
    24 index: u64,
    /// Records of the ring below `index`, of all owners.
    32 records: u64,
    /// Stamp of the last of these records.
    40 stamp: u64,
    /// Id of the owner's last command.
    48 last_id: u16,
    /// Flags of the last record of that command.
    50 last_flags: u16,
    /// Why `missed_records` are missing: a GapCause.
    52 missed_cause: GapCause,
    /// Stamp of the owner's last command.
    56 last_stamp: u64,
    /// Ring index behind the owner's last command; 0 without one.
    64 last_end: u64,
    /// Records that the owner's GAPs report.
    72 told_records: u64,
    /// Commands that its GAPs report.
    80 told_calls: u64,
    /// Bytes that its GAPs report.
    88 told_bytes: u64,
    /// Records that the application had counted as produced when the owner, or the stream, began.
    96 produced: u64,
    /// Waits at that time.
    104 waits: u64,
    /// Time of these waits, in nanoseconds.
    112 wait_ns: u64,
    /// Dropped records at that time.
    120 dropped_records: u64,
    /// Dropped commands at that time.
    128 dropped_calls: u64,
    /// Dropped bytes at that time.
    136 dropped_bytes: u64,
    /// Records of the owner that are in the stream.
    144 emitted: u64,
    /// Records of the owner that do not belong to the stream.
    152 left_out: u64,
    /// Records of the owner that were refused.
    160 refused_records: u64,
    /// Records of the owner that are missing.
    168 missed_records: u64,
    /// Commands of the owner that are missing.
    176 missed_calls: u64,
    /// Bytes of the owner that are missing.
    184 missed_bytes: u64,
}

/// Elements that the payloads of atoms repeat.
pub static ELEMENTS: &[Layout] = &[
    Layout {
        id: None,
        name: "Command in flight (END)",
        writer: Writer::Daemon,
        len: InFlight::LEN,
        fields: InFlight::FIELDS,
        tail: "",
        meaning: " A command that had been entered and had not returned when the stream ended.",
    },
    Layout {
        id: None,
        name: "Time on the GPU (GPU_TIMES)",
        writer: Writer::Shim,
        len: GpuTime::LEN,
        fields: GpuTime::FIELDS,
        tail: "",
        meaning: " Time of one command on the GPU.",
    },
    Layout {
        id: None,
        name: "Ring (RINGS)",
        writer: Writer::Daemon,
        len: Ring::LEN,
        fields: Ring::FIELDS,
        tail: "",
        meaning: " Position of one ring in the stream, and of its owner.",
    },
];

/// Flags of RINGS, and of the rings in it.
pub mod ring_flags {
    use super::Flag;

    flags! {
        /// Flags of RINGS.
        RINGS_FLAGS: u32;
        /// The capture is paused.
        IS_PAUSED = 1;
    }

    flags! {
        /// Flags of a ring.
        RING_FLAGS: u32;
        /// The stream began while the owner recorded.
        IS_LATE = 1;
        /// Some records of the ring were lost unseen, so `records` is too low.
        LACKS_RECORDS = 2;
        /// The process' part in the stream is over, though the process is alive.
        IS_OVER = 4;
        /// The stream lacks the process' commands up to its next keyframe.
        IS_MISSING = 8;
        /// The process' part begins, or goes on, at a keyframe: records of a thread before its THREAD do not belong to the stream.
        AT_KEYFRAME = 16;
        /// The owner has written its THREAD since that keyframe.
        IS_INTRODUCED = 32;
        /// The stream began while the owner recorded, behind records that were lost unseen, so the begun `produced` is too low.
        BEGUN_IS_LOW = 64;
    }
}

impl Frame {
    /// Returns the size of the pixels in bytes: 4 per pixel.
    pub fn size(&self) -> u64 {
        u64::from(self.width).saturating_mul(u64::from(self.height)).saturating_mul(4)
    }

    /// Returns true if the trace has the pixels, not only their name.
    pub fn has_pixels(&self) -> bool {
        self.kind == FrameKind::Blob
    }
}

impl Time {
    /// Returns the time of a thread's next record of a command of function `id`.
    pub fn of_command(id: u16, at_ns: u64) -> Self {
        Self { at_ns, kind: TimeKind::Command, function: id.saturating_add(1), duration_ns: 0 }
    }

    /// Returns the function id of the command that it is the time of, if it says that.
    pub fn command(&self) -> Option<u16> {
        (self.kind == TimeKind::Command).then(|| self.function.checked_sub(1))?
    }
}

impl Subject {
    /// Returns true if the thread's own commands made the subject, so that no description follows.
    pub fn is_made(&self) -> bool {
        self.made != 0
    }
}

impl Seam {
    /// Returns the time during which no daemon recorded, in nanoseconds.
    pub fn away_ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }
}

/// Most bytes of each string at the end of LIMITS, without its NUL; a longer answer of a driver is cut.
pub const LIMITS_STRING_MAX: usize = 255;

/// Longest piece that a [`STORED`] stands for, in bytes.
pub const STORED_PIECE_MAX: u64 = 64 << 10;

/// Returns the first word of a [`BLOB`] for the store with number `store`: the blob's size in the lower 48
/// bits, and the lower 16 bits of the number above them.
#[inline(always)]
pub const fn for_store(total: u64, store: u64) -> u64 {
    total & ((1 << 48) - 1) | store << 48
}

/// Returns the size of the blob, and the lower 16 bits of the store's number, from a word of [`for_store`].
#[inline(always)]
pub const fn of_store(word: u64) -> (u64, u64) {
    (word & ((1 << 48) - 1), word >> 48)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_that_an_older_writer_did_not_write_is_0() {
        let keyframe = Keyframe { frame: 7, at_ns: 9 };
        let payload = keyframe.encode();
        assert_eq!(Keyframe::decode(&payload), Ok((keyframe, &[][..])));
        assert_eq!(Keyframe::decode(&payload[..8]), Ok((Keyframe { frame: 7, at_ns: 0 }, &[][..])));
        assert_eq!(Keyframe::decode(&payload[..7]), Err(Short { needed: 8 }));
        let longer = [&payload[..], &[1, 2]].concat();
        assert_eq!(Keyframe::decode(&longer), Ok((keyframe, &[1, 2][..])));
    }

    #[test]
    fn time_of_a_command_says_which_command() {
        assert_eq!(Time::of_command(0, 5).command(), Some(0));
        let of_older_shim = Time { function: 0, ..Time::of_command(0, 5) };
        assert_eq!(of_older_shim.command(), None);
        let wait = Time { kind: TimeKind::Wait, ..Time::of_command(3, 5) };
        assert_eq!(wait.command(), None);
    }
}

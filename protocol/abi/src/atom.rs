//! Atoms: what the records of rings and streams mean.
//!
//! Flags and ids only; docs/trace-format.md draws the payloads.

pub use gapii_ringbuf::record::{HEADER_LEN, Header, PAD, RECORD_LEN_MAX, STAMPED, TIMED};

/// Flag: this is the leave record of a command; without it an enter record.
pub const LEAVE: u16 = 2;
/// Flag: the command takes effect at this record. One record of a command that took effect has it.
pub const EFFECT: u16 = 4;
/// Flag, on the leave record of a successful swap: the process' frame ends here.
pub const FRAME_END: u16 = 8;
/// Flag, on an enter record: a leave record follows when the driver returns.
pub const LEAVES: u16 = 16;
/// Flag: nobody called the command. A capture that begins in the middle of a program begins with
/// commands that make what there was.
pub const SETUP: u16 = 64;

/// Ids from here on are not commands.
pub const META_FIRST: u16 = 0xFF00;

/// Shim: first record of a thread in each capture. `tid u32, flags u32, name [u8; 16]`.
pub const THREAD: u16 = 0xFF01;
/// Shim: the thread's current context. `context u64, api u32, client_version u32`.
pub const CONTEXT: u16 = 0xFF02;
/// Shim: commands that were not recorded. `records, calls, bytes, first_stamp, last_stamp,
/// start_ns, end_ns: u64, cause u32, pad u32`.
pub const GAP: u16 = 0xFF04;
/// Shim: the process has put its hooks back. `reason u32, pad u32, frames u64`.
pub const CAPTURE_END: u16 = 0xFF05;
/// Shim: a piece of a blob. `total u64, offset u64, bytes`. In a ring, and with [`SETUP`], it is for the
/// daemon's store as well, the end of whose number is in the upper 16 bits of `total`.
pub const BLOB: u16 = 0xFF06;
/// Shim: what the driver said of a context, behind the [`CONTEXT`] that names it. `context u64,
/// major u16, minor u16, numbers u16, extensions_len u16, numbers [i32], extensions`.
pub const LIMITS: u16 = 0xFF07;
/// Shim: what a surface held just before a swap, ahead of the swap's own record. `surface u64,
/// frame u64, width u32, height u32, kind u32, pad u32, name [u8; 16]`.
pub const FRAME: u16 = 0xFF08;
/// Shim: the thread has made what it found when the capture began, or an object became its own, but
/// for what the text lists, a line each, in so many microseconds. `len u32, held_us u32, text`.
pub const SNAPSHOT: u16 = 0xFF09;
/// Shim: the capture goes on as if it began here: threads introduce themselves anew, no blob counts as
/// sent, and all there is is described again. `frame u64`.
pub const KEYFRAME: u16 = 0xFF0A;
/// Shim, in captures with keyframes: whom the thread's next [`SETUP`] commands describe, or whom it has
/// just made. `id u64, kind u32, made u32`.
pub const SUBJECT: u16 = 0xFF0B;
/// Shim, in a ring only: a piece of a blob that the daemon's store holds, which becomes a [`BLOB`] in the
/// stream. `total u64, offset u64, len u64, name [u8; 16]`.
pub const STORED: u16 = 0xFF0C;
/// Shim: what a tracer has done to a command of the thread, or that a tracer makes it. `id u16, kind u16,
/// args_len u32`, then what the kind says.
pub const TRACED: u16 = 0xFF0D;
/// Bytes that a [`STORED`] stands for, at most.
pub const STORED_PIECE_MAX: u64 = 64 << 10;

/// Daemon: first record of a block. `number u64, first_seq u64, start_ns u64`.
pub const BLOCK: u16 = 0xFF10;
/// Daemon: a process. `process u32, pid u32, start_ns u64, frames u64, name_len u32, pad u32, name`.
pub const PROCESS: u16 = 0xFF11;
/// Daemon: a thread's state before its first record in a block. `thread u32, process u32, tid u32,
/// api u32, context u64, stamp u64, name [u8; 16]`.
pub const THREAD_STATE: u16 = 0xFF12;
/// Daemon: the records that follow are this thread's. `thread u32, pad u32`.
pub const SWITCH_THREAD: u16 = 0xFF13;
/// Daemon: last record of a stream. `reason u32, pad u32, in_flight_count u32, pad u32`, then per
/// command in flight `thread u32, id u16, pad u16, stamp u64`.
pub const END: u16 = 0xFF14;
/// Daemon, at the end of a block: how far the rings of the capture are. `threads u32, processes u32,
/// rings u32, flags u32`, then 192 bytes for each ring.
pub const RINGS: u16 = 0xFF15;
/// Daemon: what a thread that is gone came to. 16 words.
pub const ACCOUNT: u16 = 0xFF16;
/// Daemon: the capture was taken up by another daemon. `from_ns u64, to_ns u64, processes u32, absent u32`.
pub const SEAM: u16 = 0xFF17;

/// Kind byte of an observation word: there was nothing to observe (size 0), or so many bytes that
/// were not readable or that there was no room for.
pub const OBSERVED_NONE: u8 = 0;
/// Kind byte: the bytes follow, padded to 8.
pub const OBSERVED_INLINE: u8 = 1;
/// Kind byte: the name of a blob follows, whose bytes came in [`BLOB`] records before.
pub const OBSERVED_BLOB: u8 = 3;
/// Bytes of a blob's name: the first of the BLAKE3 hash of its bytes.
pub const BLOB_NAME_LEN: usize = 16;

/// The first word of a [`BLOB`] that is for the store of this number: the blob's size (below 2^48), and of the
/// number the lower 16 bits.
pub const fn for_store(total: u64, store: u64) -> u64 {
    total & ((1 << 48) - 1) | store << 48
}

/// Size, and lower bits of the store's number, of a word that [`for_store`] made.
pub const fn of_store(word: u64) -> (u64, u64) {
    (word & ((1 << 48) - 1), word >> 48)
}

/// The word before an observation: size in bytes (below 2^48) and kind.
pub const fn observation_word(kind: u8, size: u64) -> u64 {
    size & ((1 << 48) - 1) | (kind as u64) << 56
}

/// The same for a range of parameter `param`, where 255 is no parameter.
pub const fn range_word(kind: u8, param: u8, size: u64) -> u64 {
    observation_word(kind, size) | (param.wrapping_add(1) as u64) << 48
}

/// What a [`FRAME`] has of the pixels.
pub mod frame_kind {
    /// The name alone.
    pub const HASH: u32 = 1;
    /// They are a blob of that name.
    pub const BLOB: u32 = 2;
}

/// What a [`TRACED`] says of a command. Arguments are the fixed part of its enter record, padded to 8 bytes:
/// `args_len` of them. A result is what a leave record begins with, padded in the same way.
pub mod traced_kind {
    /// Ahead of its enter record: a tracer has changed arguments. Those that the program passed.
    pub const CHANGED: u16 = 1;
    /// It never reached the driver, and has no records. The arguments that the program passed, those that
    /// prologues left, and the result that the program got, if the command has one.
    pub const SKIPPED: u16 = 2;
    /// Behind its leave record: the result that the program got instead.
    pub const RESULT: u16 = 3;
    /// Ahead of its enter record: a callback makes it.
    pub const OWN: u16 = 4;
}

/// Whom a [`SUBJECT`] names.
pub mod subject_kind {
    /// The process' displays, contexts and surfaces.
    pub const PROCESS: u32 = 1;
    /// What is current on the thread.
    pub const THREAD: u32 = 2;
    /// What contexts share.
    pub const GROUP: u32 = 3;
    /// What a context has for itself.
    pub const CONTEXT: u32 = 4;
}

/// Why commands were not recorded: 1 to 3 in [`GAP`], the others in a footer only.
pub mod gap_cause {
    /// The ring was full and the capture drops rather than waits.
    pub const DROPPED: u32 = 1;
    /// The ring stayed full for longer than the stall limit.
    pub const STALLED: u32 = 2;
    /// No slot was free for the thread.
    pub const NO_SLOT: u32 = 3;
    /// The daemon could not read the records, or refused them.
    pub const REFUSED: u32 = 4;
    /// The output did not take them.
    pub const OUTPUT: u32 = 5;
    /// They stand for what the daemon's store does not have.
    pub const STORE: u32 = 6;
    /// The client took too little, and what it had put aside for it the daemon had no more room for.
    pub const SLOW: u32 = 7;
    /// The capture was paused.
    pub const PAUSED: u32 = 8;
    /// The daemon had them, and died before they were in the file.
    pub const RESTARTED: u32 = 9;
}

/// Why a process stopped recording, in [`CAPTURE_END`].
pub mod process_end {
    pub const FRAMES: u32 = 1;
    pub const STOP: u32 = 2;
    pub const LOST: u32 = 3;
    pub const EXIT: u32 = 4;
}

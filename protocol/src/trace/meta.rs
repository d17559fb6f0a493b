//! Records that are not commands: written by the daemon to make each block stand on its own, and by
//! the shim about its thread. docs/trace-format.md draws them.
//!
//! Encodes what the daemon writes, decodes all of them. A payload longer than known is taken (later
//! versions append fields); a shorter one is refused.

use super::blobs::BlobName;
use super::rings::{Account, Rings, Seam};
use gapii_abi::atom::{self, HEADER_LEN, Header, traced_kind};

/// First record of each block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// Ordinal of the block in the stream, from 0.
    pub number: u64,
    /// Commands that took effect before this block.
    pub first_seq: u64,
    /// `CLOCK_MONOTONIC`, in nanoseconds, when the block was begun.
    pub start_ns: u64,
}

/// A process and how far it is, before its first thread in each block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Process<'a> {
    /// Index in the trace, dense from 0.
    pub process: u32,
    pub pid: u32,
    /// `CLOCK_MONOTONIC`, in nanoseconds, when the process joined the capture.
    pub start_ns: u64,
    /// Frames that ended before this record.
    pub frames: u64,
    pub name: &'a [u8],
}

/// A thread and its state, before its first record in each block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ThreadState {
    /// Index in the trace, dense from 0 over all processes.
    pub thread: u32,
    pub process: u32,
    pub tid: u32,
    /// API of the current context: 0x30A0, 0x30A2, or 0 without one.
    pub api: u32,
    /// Handle of the current context, or 0.
    pub context: u64,
    /// Stamp of the thread's previous record.
    pub stamp: u64,
    /// NUL-padded.
    pub name: [u8; 16],
}

/// The records that follow are this thread's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SwitchThread {
    pub thread: u32,
}

/// Last record of a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct End {
    pub reason: EndReason,
    /// Per thread at most one.
    pub in_flight: Vec<InFlight>,
}

/// A command that had been entered and had not returned when the stream ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct InFlight {
    /// Index of the thread in the trace.
    pub thread: u32,
    /// Function id.
    pub id: u16,
    /// Stamp of the enter record.
    pub stamp: u64,
}

/// Why a stream ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EndReason {
    /// Each process has its frames.
    Frames,
    /// Somebody asked for the end.
    Stop,
    /// The program ended.
    Exit,
    /// The program was ended by a signal.
    Crash,
    /// The application is gone without a word, or left the capture.
    #[default]
    Lost,
    /// The daemon was told to end.
    Shutdown,
    /// A reason of a later version.
    Other(u32),
}

/// First record of a thread in each capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Thread {
    pub tid: u32,
    pub flags: u32,
    /// NUL-padded.
    pub name: [u8; 16],
}

/// The thread's current context, after [`Thread`] and after each change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Context {
    /// Handle, or 0.
    pub context: u64,
    /// 0x30A0, 0x30A2, or 0.
    pub api: u32,
    pub client_version: u32,
}

/// What the driver said of a context when it first became current.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits<'a> {
    pub context: u64,
    /// Client version: major, minor.
    pub version: (u16, u16),
    /// Each `i32`, in the order of [`ContextLimits`](super::tracker::ContextLimits).
    pub numbers: &'a [u8],
    /// Those that recording depends on, with spaces between them.
    pub extensions: &'a [u8],
}

/// A piece of a blob: memory that records from here on refer to by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blob<'a> {
    /// Bytes of the whole blob.
    pub total: u64,
    /// Where in it these bytes are.
    pub offset: u64,
    pub bytes: &'a [u8],
}

/// A piece of a blob whose bytes the daemon has. In rings only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stored {
    /// Bytes of the whole blob.
    pub total: u64,
    /// Where in it the piece begins, and how long it is.
    pub offset: u64,
    pub len: u64,
    pub name: BlobName,
}

/// The commands before it with flag [`SETUP`](atom::SETUP) make what a thread found when the capture
/// began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Snapshot<'a> {
    /// For how long the thread was held for them, in microseconds.
    pub held_us: u32,
    /// What they leave out: UTF-8, a line each.
    pub missing: &'a [u8],
}

/// The capture goes on as if it began here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Keyframe {
    /// Frames of the process that the application had counted before.
    pub frame: u64,
}

/// Whom the thread's next [`SETUP`](atom::SETUP) commands describe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subject {
    /// A number of the application's, by kind.
    pub id: u64,
    /// One of [`atom::subject_kind`].
    pub kind: u32,
    /// It was made just now by a command, and nothing is described.
    pub is_made: bool,
}

/// What tracers have done to a command of the thread, or that one makes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Traced<'a> {
    /// Function id.
    pub id: u16,
    /// One of [`atom::traced_kind`].
    pub kind: u16,
    /// The arguments that the program passed.
    pub made: &'a [u8],
    /// Of a command that was skipped: what prologues left of them.
    pub left: &'a [u8],
    /// The result that the program got.
    pub given: &'a [u8],
}

impl Snapshot<'_> {
    /// What is left out, a sentence each.
    pub fn sentences(&self) -> impl Iterator<Item = String> {
        let lines = self.missing.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| String::from_utf8_lossy(line).into_owned())
    }
}

/// What a surface held just before the swap whose records come next in its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ObservedFrame {
    /// The program's handle.
    pub surface: u64,
    /// Frames of the process that the application had counted before.
    pub frame: u64,
    /// In pixels.
    pub width: u32,
    pub height: u32,
    /// One of [`atom::frame_kind`].
    pub kind: u32,
    /// Of the pixels as a blob: rows of RGBA from the bottom up, a byte for each.
    pub name: BlobName,
}

impl ObservedFrame {
    /// Bytes of the pixels.
    pub fn size(&self) -> u64 {
        u64::from(self.width).saturating_mul(u64::from(self.height)).saturating_mul(4)
    }

    /// Whether the trace has the pixels, and not only their name.
    pub fn has_pixels(&self) -> bool {
        self.kind == atom::frame_kind::BLOB
    }
}

/// Commands of this thread that were not recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gap {
    pub records: u64,
    pub calls: u64,
    pub bytes: u64,
    pub first_stamp: u64,
    pub last_stamp: u64,
    pub start_ns: u64,
    pub end_ns: u64,
    /// One of [`atom::gap_cause`].
    pub cause: u32,
}

/// The process has put its hooks back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CaptureEnd {
    /// One of [`atom::process_end`].
    pub reason: u32,
    pub frames: u64,
}

/// Any record that is not a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Meta<'a> {
    Block(Block),
    Process(Process<'a>),
    ThreadState(ThreadState),
    SwitchThread(SwitchThread),
    End(End),
    Thread(Thread),
    Context(Context),
    Gap(Gap),
    CaptureEnd(CaptureEnd),
    Blob(Blob<'a>),
    Limits(Limits<'a>),
    ObservedFrame(ObservedFrame),
    Snapshot(Snapshot<'a>),
    Keyframe(Keyframe),
    Subject(Subject),
    Traced(Traced<'a>),
    Stored(Stored),
    Rings(Rings),
    Account(Account),
    Seam(Seam),
    /// Of a later version; to be passed over.
    Unknown(u16),
}

/// Why a record that is not a command is refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MetaError {
    #[error("record {id:#06x} has {len} bytes of payload and needs {needed}")]
    Short { id: u16, len: usize, needed: u64 },
}

impl Block {
    pub fn append_to(&self, out: &mut Vec<u8>) {
        let payload = Payload::begin(out, atom::BLOCK);
        out.extend_from_slice(&self.number.to_le_bytes());
        out.extend_from_slice(&self.first_seq.to_le_bytes());
        out.extend_from_slice(&self.start_ns.to_le_bytes());
        payload.end(out);
    }
}

impl Process<'_> {
    /// Names longer than 4096 bytes are cut.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        let name = &self.name[..self.name.len().min(4096)];
        let payload = Payload::begin(out, atom::PROCESS);
        out.extend_from_slice(&self.process.to_le_bytes());
        out.extend_from_slice(&self.pid.to_le_bytes());
        out.extend_from_slice(&self.start_ns.to_le_bytes());
        out.extend_from_slice(&self.frames.to_le_bytes());
        out.extend_from_slice(&(name.len() as u32).to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(name);
        payload.end(out);
    }
}

impl ThreadState {
    pub fn append_to(&self, out: &mut Vec<u8>) {
        let payload = Payload::begin(out, atom::THREAD_STATE);
        for word in [self.thread, self.process, self.tid, self.api] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(&self.context.to_le_bytes());
        out.extend_from_slice(&self.stamp.to_le_bytes());
        out.extend_from_slice(&self.name);
        payload.end(out);
    }
}

impl SwitchThread {
    pub fn append_to(&self, out: &mut Vec<u8>) {
        let payload = Payload::begin(out, atom::SWITCH_THREAD);
        out.extend_from_slice(&self.thread.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        payload.end(out);
    }
}

impl End {
    pub fn append_to(&self, out: &mut Vec<u8>) {
        let payload = Payload::begin(out, atom::END);
        out.extend_from_slice(&u64::from(self.reason.code()).to_le_bytes());
        out.extend_from_slice(&(self.in_flight.len() as u64).to_le_bytes());
        for command in &self.in_flight {
            out.extend_from_slice(&command.thread.to_le_bytes());
            out.extend_from_slice(&command.id.to_le_bytes());
            out.extend_from_slice(&[0; 2]);
            out.extend_from_slice(&command.stamp.to_le_bytes());
        }
        payload.end(out);
    }
}

impl EndReason {
    const NAMES: [(Self, u32, &'static str); 6] = [
        (Self::Frames, 1, "frames"),
        (Self::Stop, 2, "stop"),
        (Self::Exit, 3, "exit"),
        (Self::Crash, 4, "crash"),
        (Self::Lost, 5, "lost"),
        (Self::Shutdown, 6, "shutdown"),
    ];

    /// The number in an END record.
    pub fn code(self) -> u32 {
        match self {
            Self::Other(code) => code,
            known => Self::NAMES.iter().find(|(r, ..)| *r == known).map_or(0, |(_, code, _)| *code),
        }
    }

    /// The reason of an END record's number.
    pub fn from_code(code: u32) -> Self {
        let known = Self::NAMES.iter().find(|(_, c, _)| *c == code);
        known.map_or(Self::Other(code), |(reason, ..)| *reason)
    }

    /// The word in footers and in JSON.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(r, ..)| *r == self).map_or("unknown", |(.., name)| name)
    }

    /// The reason of a footer's word.
    pub fn from_name(name: &str) -> Self {
        let known = Self::NAMES.iter().find(|(.., n)| *n == name);
        known.map_or(Self::Other(0), |(reason, ..)| *reason)
    }
}

impl serde::Serialize for EndReason {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> serde::Deserialize<'de> for EndReason {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self::from_name(&<String as serde::Deserialize>::deserialize(from)?))
    }
}

impl<'a> Meta<'a> {
    /// What the record of this id and payload says.
    pub fn decode(id: u16, payload: &'a [u8]) -> Result<Self, MetaError> {
        let fields = |needed: usize| match payload.len() {
            len if len < needed => Err(MetaError::Short { id, len, needed: needed as u64 }),
            _ => Ok(Fields(payload)),
        };
        let short = |needed: u64| MetaError::Short { id, len: payload.len(), needed };
        Ok(match id {
            atom::BLOCK => fields(24)?.block(),
            atom::PROCESS => fields(32)?.process()?,
            atom::THREAD_STATE => fields(48)?.thread_state(),
            atom::SWITCH_THREAD => {
                Self::SwitchThread(SwitchThread { thread: fields(4)?.u32_at(0) })
            }
            atom::END => fields(16)?.end()?,
            atom::THREAD => fields(24)?.thread(),
            atom::CONTEXT => fields(16)?.context(),
            atom::GAP => fields(60)?.gap(),
            atom::CAPTURE_END => fields(16)?.capture_end(),
            atom::BLOB => fields(16)?.blob(),
            atom::LIMITS => fields(16)?.limits()?,
            atom::FRAME => fields(48)?.observed_frame(),
            atom::SNAPSHOT => fields(8)?.snapshot()?,
            atom::KEYFRAME => Self::Keyframe(Keyframe { frame: fields(8)?.u64_at(0) }),
            atom::SUBJECT => fields(16)?.subject(),
            atom::TRACED => fields(8)?.traced()?,
            atom::STORED => fields(40)?.stored(),
            atom::RINGS => Self::Rings(Rings::decode(payload).map_err(short)?),
            atom::ACCOUNT => Self::Account(Account::decode(payload).map_err(short)?),
            atom::SEAM => Self::Seam(Seam::decode(payload).map_err(short)?),
            unknown => Self::Unknown(unknown),
        })
    }
}

/// A payload whose length covers the fixed fields of its record.
#[derive(Clone, Copy)]
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn u16_at(self, at: usize) -> u16 {
        u16::from_le_bytes(std::array::from_fn(|i| self.0[at + i]))
    }

    fn u32_at(self, at: usize) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|i| self.0[at + i]))
    }

    fn u64_at(self, at: usize) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|i| self.0[at + i]))
    }

    fn name_at(self, at: usize) -> [u8; 16] {
        std::array::from_fn(|i| self.0[at + i])
    }

    fn traced(self) -> Result<Meta<'a>, MetaError> {
        let (id, kind, args_len) = (self.u16_at(0), self.u16_at(2), self.u32_at(4));
        let parts = if kind == traced_kind::SKIPPED { 2 } else { 1 };
        let needed = 8 + u64::from(args_len) * parts;
        if (self.0.len() as u64) < needed {
            return Err(MetaError::Short { id: atom::TRACED, len: self.0.len(), needed });
        }
        let (made, rest) = self.0[8..].split_at(args_len as usize);
        let left_len = if kind == traced_kind::SKIPPED { made.len() } else { 0 };
        let (left, given) = rest.split_at(left_len);
        Ok(Meta::Traced(Traced { id, kind, made, left, given }))
    }

    fn block(self) -> Meta<'a> {
        let (number, first_seq) = (self.u64_at(0), self.u64_at(8));
        Meta::Block(Block { number, first_seq, start_ns: self.u64_at(16) })
    }

    fn process(self) -> Result<Meta<'a>, MetaError> {
        let needed = 32 + u64::from(self.u32_at(24));
        let short = MetaError::Short { id: atom::PROCESS, len: self.0.len(), needed };
        let end = usize::try_from(needed).map_err(|_| short.clone())?;
        Ok(Meta::Process(Process {
            process: self.u32_at(0),
            pid: self.u32_at(4),
            start_ns: self.u64_at(8),
            frames: self.u64_at(16),
            name: self.0.get(32..end).ok_or(short)?,
        }))
    }

    fn thread_state(self) -> Meta<'a> {
        Meta::ThreadState(ThreadState {
            thread: self.u32_at(0),
            process: self.u32_at(4),
            tid: self.u32_at(8),
            api: self.u32_at(12),
            context: self.u64_at(16),
            stamp: self.u64_at(24),
            name: self.name_at(32),
        })
    }

    fn end(self) -> Result<Meta<'a>, MetaError> {
        let count = self.u32_at(8);
        let needed = 16 + u64::from(count) * 16;
        if (self.0.len() as u64) < needed {
            return Err(MetaError::Short { id: atom::END, len: self.0.len(), needed });
        }
        let in_flight = (0..count as usize).map(|i| 16 + i * 16).map(|at| InFlight {
            thread: self.u32_at(at),
            id: self.u32_at(at + 4) as u16,
            stamp: self.u64_at(at + 8),
        });
        let reason = EndReason::from_code(self.u32_at(0));
        Ok(Meta::End(End { reason, in_flight: in_flight.collect() }))
    }

    fn thread(self) -> Meta<'a> {
        Meta::Thread(Thread { tid: self.u32_at(0), flags: self.u32_at(4), name: self.name_at(8) })
    }

    fn context(self) -> Meta<'a> {
        let (api, client_version) = (self.u32_at(8), self.u32_at(12));
        Meta::Context(Context { context: self.u64_at(0), api, client_version })
    }

    fn blob(self) -> Meta<'a> {
        let (total, offset) = (self.u64_at(0), self.u64_at(8));
        Meta::Blob(Blob { total, offset, bytes: &self.0[16..] })
    }

    fn snapshot(self) -> Result<Meta<'a>, MetaError> {
        let end = 8 + self.u32_at(0) as usize;
        let short = MetaError::Short { id: atom::SNAPSHOT, len: self.0.len(), needed: end as u64 };
        let missing = self.0.get(8..end).ok_or(short)?;
        Ok(Meta::Snapshot(Snapshot { missing, held_us: self.u32_at(4) }))
    }

    fn subject(self) -> Meta<'a> {
        let (id, kind) = (self.u64_at(0), self.u32_at(8));
        Meta::Subject(Subject { id, kind, is_made: self.u32_at(12) != 0 })
    }

    fn stored(self) -> Meta<'a> {
        Meta::Stored(Stored {
            total: self.u64_at(0),
            offset: self.u64_at(8),
            len: self.u64_at(16),
            name: BlobName(self.name_at(24)),
        })
    }

    fn limits(self) -> Result<Meta<'a>, MetaError> {
        let numbers_end = 16 + usize::from(self.u16_at(12)) * 4;
        let end = numbers_end + usize::from(self.u16_at(14));
        let short = MetaError::Short { id: atom::LIMITS, len: self.0.len(), needed: end as u64 };
        Ok(Meta::Limits(Limits {
            context: self.u64_at(0),
            version: (self.u16_at(8), self.u16_at(10)),
            numbers: self.0.get(16..numbers_end).ok_or(short.clone())?,
            extensions: self.0.get(numbers_end..end).ok_or(short)?,
        }))
    }

    fn observed_frame(self) -> Meta<'a> {
        Meta::ObservedFrame(ObservedFrame {
            surface: self.u64_at(0),
            frame: self.u64_at(8),
            width: self.u32_at(16),
            height: self.u32_at(20),
            kind: self.u32_at(24),
            name: BlobName(self.name_at(32)),
        })
    }

    fn gap(self) -> Meta<'a> {
        Meta::Gap(Gap {
            records: self.u64_at(0),
            calls: self.u64_at(8),
            bytes: self.u64_at(16),
            first_stamp: self.u64_at(24),
            last_stamp: self.u64_at(32),
            start_ns: self.u64_at(40),
            end_ns: self.u64_at(48),
            cause: self.u32_at(56),
        })
    }

    fn capture_end(self) -> Meta<'a> {
        Meta::CaptureEnd(CaptureEnd { reason: self.u32_at(0), frames: self.u64_at(8) })
    }
}

/// A record under construction at the end of a buffer.
struct Payload {
    start: usize,
    id: u16,
}

impl Payload {
    fn begin(out: &mut Vec<u8>, id: u16) -> Self {
        let start = out.len();
        out.extend_from_slice(&[0; HEADER_LEN as usize]);
        Self { start, id }
    }

    fn end(self, out: &mut Vec<u8>) {
        let len = u32::try_from(out.len() - self.start).expect("our own records are short");
        let header = Header::new(self.id, 0, len);
        out[self.start..self.start + 8].copy_from_slice(&header.0.to_le_bytes());
        out.resize(self.start + header.span_untrusted() as usize, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_end_where_their_counts_say() {
        let mut payload = [7u64.to_le_bytes().as_slice(), &[3, 0, 2, 0, 2, 0, 4, 0]].concat();
        payload.extend_from_slice(&[1, 0, 0, 0, 2, 0, 0, 0]);
        payload.extend_from_slice(b"GL_A and what a later version appends");
        let expected = Limits {
            context: 7,
            version: (3, 2),
            numbers: &[1, 0, 0, 0, 2, 0, 0, 0],
            extensions: b"GL_A",
        };
        assert_eq!(Meta::decode(atom::LIMITS, &payload), Ok(Meta::Limits(expected)));
        for len in 0..28 {
            let short = Meta::decode(atom::LIMITS, &payload[..len]);
            assert!(matches!(short, Err(MetaError::Short { .. })), "{len} bytes");
        }
    }
}

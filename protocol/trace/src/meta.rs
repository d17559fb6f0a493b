//! Decodes records that are not commands, and appends those that the daemon writes. A payload longer than known is
//! accepted, because later versions append fields; a shorter one is refused. An id that this build does not know is
//! passed over. Names of processes are cut at 4,096 bytes.
//!
//! The layouts are the table in [`gapii_abi::atom`]; here are the lengths of what follows the fixed part.

use super::append::append;
use super::rings::{Account, Rings};
use super::untrusted::Untrusted;
use gapii_abi::atom::{
    self, Block, CaptureEnd, Context, EndReason, Frame, Gap, GpuTime, GpuTimesKind, InFlight,
    Keyframe, Numbered, Seam, Short, Stored, Subject, SwitchThread, Thread, ThreadState, Time,
    TracedKind,
};

/// A process and its frame count so far; precedes its first thread in each block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Process<'a> {
    /// Index in the trace, dense from 0.
    pub process: u32,
    /// Process id of the operating system.
    pub pid: u32,
    /// `CLOCK_MONOTONIC`, in nanoseconds, when the process joined the capture.
    pub start_ns: u64,
    /// Frames that ended before this record.
    pub frames: u64,
    /// The process' name; `append_to` cuts it at 4096 bytes.
    pub name: &'a [u8],
}

/// Last record of a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct End {
    /// Why the stream ended.
    pub reason: EndReason,
    /// At most one per thread.
    pub in_flight: Vec<InFlight>,
}

/// Limits and extensions that the driver reported for a context when it first became current.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits<'a> {
    /// Handle of the context.
    pub context: u64,
    /// Client version: major, minor.
    pub version: (u16, u16),
    /// Numbers of 4 bytes each (`i32`), in the order of [`ContextLimits`](super::tracker::ContextLimits).
    pub numbers: &'a [u8],
    /// Names of extensions that recording depends on, separated by spaces.
    pub extensions: &'a [u8],
    /// `GL_RENDERER`; empty from an older writer.
    pub renderer: &'a [u8],
    /// `GL_VERSION`; empty from an older writer.
    pub version_string: &'a [u8],
}

/// A piece of a blob: memory that later records refer to by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blob<'a> {
    /// Size of the whole blob, in bytes.
    pub total: u64,
    /// Where the piece begins in the blob, in bytes.
    pub offset: u64,
    /// The piece.
    pub bytes: &'a [u8],
}

/// End of a thread's description: the commands before it with flag [`SETUP`](atom::SETUP) recreate the state
/// that existed when the capture began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Snapshot<'a> {
    /// Time that the thread was held for them, in microseconds.
    pub held_us: u32,
    /// State that the commands leave out: UTF-8, one sentence per line.
    pub missing: &'a [u8],
}

impl Snapshot<'_> {
    /// Returns the state that the commands leave out, one sentence per item.
    pub fn sentences(&self) -> impl Iterator<Item = Untrusted> {
        sentences(self.missing)
    }
}

/// Memory that the program used and that the trace lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Missing<'a> {
    /// What is missing and why: UTF-8, one sentence per line.
    pub text: &'a [u8],
}

impl Missing<'_> {
    /// Returns what is missing and why, one sentence per item.
    pub fn sentences(&self) -> impl Iterator<Item = Untrusted> {
        sentences(self.text)
    }
}

/// The lines of a text that are not empty.
fn sentences(text: &[u8]) -> impl Iterator<Item = Untrusted> {
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| String::from_utf8_lossy(line).as_ref().into())
}

/// Times on the GPU of commands of a context, or why there are none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GpuTimes {
    /// Handle of the context.
    pub context: u64,
    /// What the record says.
    pub kind: GpuTimesKind,
    /// Number of commands.
    pub count: u32,
    /// Period in which the GPU's clock was interrupted, in nanoseconds of `CLOCK_MONOTONIC`.
    pub period_ns: [u64; 2],
    /// The times, in the order in which the GPU got the commands; only with the kind `times`.
    pub times: Vec<GpuTime>,
}

impl GpuTimes {
    /// Says which commands have no times from this record on, if it says that of all commands of its context.
    pub fn without(&self) -> Option<&'static str> {
        match self.kind {
            GpuTimesKind::NoExtension => {
                Some("commands of a context in which the driver has no GL_EXT_disjoint_timer_query")
            }
            GpuTimesKind::NoCounter => {
                Some("commands of a context or a list in which the driver counts no timestamps")
            }
            GpuTimesKind::OwnQueries => {
                Some("commands of a context in which the program uses timer queries itself")
            }
            GpuTimesKind::OwnCommands => Some(
                "commands of a list whose commands the program numbers, clones or makes a graph of",
            ),
            GpuTimesKind::UnknownList => Some("commands of lists that the shim does not know"),
            GpuTimesKind::Earlier => Some("commands that were in a list before the capture"),
            GpuTimesKind::Times
            | GpuTimesKind::Disjoint
            | GpuTimesKind::Full
            | GpuTimesKind::Lost
            | GpuTimesKind::Other(_) => None,
        }
    }
}

/// Changes that a tracer made to a command of the thread, or the note that a tracer calls the command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Traced<'a> {
    /// Function id.
    pub id: u16,
    /// Kind of the changes.
    pub kind: TracedKind,
    /// The arguments that the program passed.
    pub made: &'a [u8],
    /// The arguments as prologues left them; only of a skipped command.
    pub left: &'a [u8],
    /// The result that the program got.
    pub given: &'a [u8],
}

/// Any record that is not a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Meta<'a> {
    /// First record of a block.
    Block(Block),
    /// A process and its frame count so far.
    Process(Process<'a>),
    /// A thread's state before its first record in a block.
    ThreadState(ThreadState),
    /// The thread of the records that follow.
    SwitchThread(SwitchThread),
    /// Last record of a stream.
    End(End),
    /// First record of a thread in a capture.
    Thread(Thread),
    /// The thread's current context.
    Context(Context),
    /// Records of the thread that are not in the stream.
    Gap(Gap),
    /// The process has put its hooks back.
    CaptureEnd(CaptureEnd),
    /// A piece of a blob.
    Blob(Blob<'a>),
    /// Limits and extensions that the driver reported for a context.
    Limits(Limits<'a>),
    /// A surface's pixels just before a swap, or their hash.
    Frame(Frame),
    /// End of a thread's description.
    Snapshot(Snapshot<'a>),
    /// Memory that the trace lacks.
    Missing(Missing<'a>),
    /// The capture goes on as if it began here.
    Keyframe(Keyframe),
    /// The subject that the thread describes next.
    Subject(Subject),
    /// Changes that tracers made to a command.
    Traced(Traced<'a>),
    /// A piece of a blob that the daemon's store has; in rings only.
    Stored(Stored),
    /// The number of the thread's last blob.
    Numbered(Numbered),
    /// A time of the thread.
    Time(Time),
    /// Times on the GPU.
    GpuTimes(GpuTimes),
    /// Positions of rings.
    Rings(Rings),
    /// Totals of a thread that is gone.
    Account(Account),
    /// Another daemon continued the capture.
    Seam(Seam),
    /// Id of an atom of a later version, which readers pass over.
    Unknown(u16),
}

/// Why a record that is not a command is refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MetaError {
    /// The payload is shorter than the record's fixed part, or than the lengths in that part require.
    #[error("record {id:#06x} has {len} bytes of payload and needs {needed}")]
    Short {
        /// Id of the record.
        id: u16,
        /// Length of its payload, in bytes.
        len: usize,
        /// Length that it needs, in bytes.
        needed: u64,
    },
}

impl Process<'_> {
    /// Appends the record. Names longer than 4096 bytes are cut.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        let Self { process, pid, start_ns, frames, .. } = *self;
        let name = &self.name[..self.name.len().min(4096)];
        let name_len = name.len() as u32;
        let fixed = atom::Process { process, pid, start_ns, frames, name_len };
        append(out, &fixed, |out| out.extend_from_slice(name));
    }
}

impl End {
    /// Appends the record.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        let fixed = atom::End { reason: self.reason, in_flight: self.in_flight.len() as u32 };
        append(out, &fixed, |out| {
            out.extend(self.in_flight.iter().flat_map(InFlight::encode));
        });
    }
}

impl<'a> Meta<'a> {
    /// Decodes the record of this id and payload.
    ///
    /// # Errors
    /// [`MetaError::Short`] if the payload is shorter than the record needs.
    pub fn decode(id: u16, payload: &'a [u8]) -> Result<Self, MetaError> {
        let short = |needed: u64| MetaError::Short { id, len: payload.len(), needed };
        let fixed = |error: Short| short(error.needed as u64);
        // The first `len` bytes of a tail that follows `before` bytes.
        let first = |tail: &'a [u8], before: usize, len: u64| {
            let end = usize::try_from(len).ok();
            let bytes = end.and_then(|end| tail.get(..end));
            bytes.ok_or_else(|| short(before as u64 + len))
        };
        Ok(match id {
            atom::BLOCK => Self::Block(Block::decode(payload).map_err(fixed)?.0),
            atom::PROCESS => {
                let (it, tail) = atom::Process::decode(payload).map_err(fixed)?;
                let atom::Process { process, pid, start_ns, frames, name_len } = it;
                let name = first(tail, atom::Process::LEN, name_len.into())?;
                Self::Process(Process { process, pid, start_ns, frames, name })
            }
            atom::THREAD_STATE => Self::ThreadState(ThreadState::decode(payload).map_err(fixed)?.0),
            atom::SWITCH_THREAD => {
                Self::SwitchThread(SwitchThread::decode(payload).map_err(fixed)?.0)
            }
            atom::END => {
                let (it, tail) = atom::End::decode(payload).map_err(fixed)?;
                let len = u64::from(it.in_flight) * InFlight::LEN as u64;
                let commands = first(tail, atom::End::LEN, len)?.chunks_exact(InFlight::LEN);
                let commands = commands.map(InFlight::decode);
                let in_flight = commands.collect::<Result<Vec<_>, _>>().map_err(fixed)?;
                let in_flight = in_flight.into_iter().map(|(command, _)| command).collect();
                Self::End(End { reason: it.reason, in_flight })
            }
            atom::THREAD => Self::Thread(Thread::decode(payload).map_err(fixed)?.0),
            atom::CONTEXT => Self::Context(Context::decode(payload).map_err(fixed)?.0),
            atom::GAP => Self::Gap(Gap::decode(payload).map_err(fixed)?.0),
            atom::CAPTURE_END => Self::CaptureEnd(CaptureEnd::decode(payload).map_err(fixed)?.0),
            atom::BLOB => {
                let (atom::Blob { total, offset }, bytes) =
                    atom::Blob::decode(payload).map_err(fixed)?;
                Self::Blob(Blob { total, offset, bytes })
            }
            atom::LIMITS => {
                let (it, tail) = atom::Limits::decode(payload).map_err(fixed)?;
                let atom::Limits { context, major, minor, numbers, extensions_len } = it;
                let numbers_len = usize::from(numbers) * 4;
                let len = numbers_len + usize::from(extensions_len);
                let lists = first(tail, atom::Limits::LEN, len as u64)?;
                let (numbers, extensions) = lists.split_at(numbers_len);
                let (renderer, rest) = string(&tail[len..]);
                let (version_string, _) = string(rest);
                let version = (major, minor);
                Self::Limits(Limits {
                    context,
                    version,
                    numbers,
                    extensions,
                    renderer,
                    version_string,
                })
            }
            atom::FRAME => Self::Frame(Frame::decode(payload).map_err(fixed)?.0),
            atom::SNAPSHOT => {
                let (it, tail) = atom::Snapshot::decode(payload).map_err(fixed)?;
                let missing = first(tail, atom::Snapshot::LEN, it.len.into())?;
                Self::Snapshot(Snapshot { held_us: it.held_us, missing })
            }
            atom::MISSING => {
                let (it, tail) = atom::Missing::decode(payload).map_err(fixed)?;
                let text = first(tail, atom::Missing::LEN, it.len.into())?;
                Self::Missing(Missing { text })
            }
            atom::KEYFRAME => Self::Keyframe(Keyframe::decode(payload).map_err(fixed)?.0),
            atom::SUBJECT => Self::Subject(Subject::decode(payload).map_err(fixed)?.0),
            atom::TRACED => {
                let (it, tail) = atom::Traced::decode(payload).map_err(fixed)?;
                let atom::Traced { id, kind, args_len } = it;
                let is_skipped = kind == TracedKind::Skipped;
                let lists = if is_skipped { 2 } else { 1 };
                let args = first(tail, atom::Traced::LEN, u64::from(args_len) * lists)?;
                let given = &tail[args.len()..];
                let (made, left) = args.split_at(args_len as usize);
                Self::Traced(Traced { id, kind, made, left, given })
            }
            atom::STORED => Self::Stored(Stored::decode(payload).map_err(fixed)?.0),
            atom::NUMBERED => Self::Numbered(Numbered::decode(payload).map_err(fixed)?.0),
            atom::TIME => Self::Time(Time::decode(payload).map_err(fixed)?.0),
            atom::GPU_TIMES => {
                let (it, tail) = atom::GpuTimes::decode(payload).map_err(fixed)?;
                let atom::GpuTimes { context, kind, count, from_ns, to_ns } = it;
                let times = if kind == GpuTimesKind::Times { count } else { 0 };
                let len = u64::from(times) * GpuTime::LEN as u64;
                let times = first(tail, atom::GpuTimes::LEN, len)?.chunks_exact(GpuTime::LEN);
                let times = times.map(|time| GpuTime::decode(time).map(|(time, _)| time));
                let times = times.collect::<Result<Vec<_>, _>>().map_err(fixed)?;
                let period_ns = [from_ns, to_ns];
                Self::GpuTimes(GpuTimes { context, kind, count, period_ns, times })
            }
            atom::RINGS => Self::Rings(Rings::decode(payload).map_err(short)?),
            atom::ACCOUNT => Self::Account(Account::decode(payload).map_err(fixed)?),
            atom::SEAM => Self::Seam(Seam::decode(payload).map_err(fixed)?.0),
            unknown => Self::Unknown(unknown),
        })
    }
}

/// Splits off a NUL-terminated string; without a NUL it is empty.
fn string(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|byte| *byte == 0) {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (&[], &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_on_the_gpu_are_as_many_as_the_record_says() {
        let time = |called_ns| GpuTime { called_ns, begin_ns: 7, duration_ns: 9, tid: 3, id: 5 };
        let fixed = |kind, count| atom::GpuTimes { context: 1, kind, count, from_ns: 0, to_ns: 8 };
        let mut payload = fixed(GpuTimesKind::Times, 2).encode().to_vec();
        payload.extend([time(1), time(2)].iter().flat_map(GpuTime::encode));
        let Ok(Meta::GpuTimes(read)) = Meta::decode(atom::GPU_TIMES, &payload) else { panic!() };
        assert_eq!((read.context, read.times), (1, vec![time(1), time(2)]));
        let short = Meta::decode(atom::GPU_TIMES, &payload[..payload.len() - 1]);
        assert!(matches!(short, Err(MetaError::Short { needed: 96, .. })), "{short:?}");
        let payload = fixed(GpuTimesKind::Disjoint, 2).encode();
        let Ok(Meta::GpuTimes(read)) = Meta::decode(atom::GPU_TIMES, &payload) else { panic!() };
        assert_eq!((read.count, read.period_ns, read.times), (2, [0, 8], vec![]));
    }

    #[test]
    fn limits_end_where_their_counts_say() {
        let mut payload = [7u64.to_le_bytes().as_slice(), &[3, 0, 2, 0, 2, 0, 4, 0]].concat();
        payload.extend_from_slice(&[1, 0, 0, 0, 2, 0, 0, 0]);
        payload.extend_from_slice(b"GL_A");
        let older = Limits {
            context: 7,
            version: (3, 2),
            numbers: &[1, 0, 0, 0, 2, 0, 0, 0],
            extensions: b"GL_A",
            renderer: b"",
            version_string: b"",
        };
        assert_eq!(Meta::decode(atom::LIMITS, &payload), Ok(Meta::Limits(older)));
        payload.extend_from_slice(b"llvmpipe\0OpenGL ES 3.2");
        let without_end = Limits { renderer: b"llvmpipe", ..older };
        assert_eq!(Meta::decode(atom::LIMITS, &payload), Ok(Meta::Limits(without_end)));
        payload.extend_from_slice(b"\0and what a later version appends");
        let expected = Limits { version_string: b"OpenGL ES 3.2", ..without_end };
        assert_eq!(Meta::decode(atom::LIMITS, &payload), Ok(Meta::Limits(expected)));
        for len in 0..28 {
            let short = Meta::decode(atom::LIMITS, &payload[..len]);
            assert!(matches!(short, Err(MetaError::Short { .. })), "{len} bytes");
        }
    }
}

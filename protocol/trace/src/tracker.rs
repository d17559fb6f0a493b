//! Follows the state of a stream: process, thread, context, frame, stamp, time and sequence number of every record, from
//! the records before it in its block. At most 65,536 processes and 262,144 threads; more are an error. The limits of 4,096
//! contexts are kept; those of further ones are unknown. A block must begin with BLOCK and describe a thread before its
//! records, and nothing may follow END. Uses no descriptions.
//!
//! Uses no descriptions and keeps no payloads.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::meta::{End, Limits, Meta, MetaError, Process};
use super::untrusted::Untrusted;
use gapii_abi::atom::{
    Block, EFFECT, FRAME_END, Header, LEAVE, LIMITS_STRING_MAX, Thread, ThreadState, TimeKind,
};

/// Most processes of a trace.
pub const PROCESSES_MAX: u32 = 1 << 16;
/// Most threads of a trace, over all processes.
pub const THREADS_MAX: u32 = 1 << 18;
/// Most contexts whose limits are kept, over all processes. Beyond this, the first ones stay.
const CONTEXTS_MAX: usize = 1 << 12;

/// State as of the last record. What belongs to a block, and END, is not serialized.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Tracker {
    processes: Vec<ProcessTrack>,
    threads: Vec<ThreadTrack>,
    /// Thread of the records that come now, an index in `threads`; `None` before a block's first
    /// SWITCH_THREAD.
    #[serde(skip)]
    current: Option<u32>,
    seq: u64,
    #[serde(skip)]
    block: Option<Block>,
    /// Number of the block that follows the last one in the stream.
    next_block: u64,
    #[serde(skip)]
    end: Option<End>,
    /// By process index and handle of the context.
    #[serde(with = "shared_limits")]
    limits: BTreeMap<(u32, u64), Arc<ContextLimits>>,
    /// Number of LIMITS records so far.
    limits_read: u64,
}

/// Limits and extensions that the driver reported for a context when it first became current.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ContextLimits {
    /// Client version: major, minor.
    pub version: (u16, u16),
    /// `GL_NUM_COMPRESSED_TEXTURE_FORMATS`.
    pub compressed_texture_formats: i32,
    /// `GL_NUM_PROGRAM_BINARY_FORMATS`.
    pub program_binary_formats: i32,
    /// `GL_NUM_SHADER_BINARY_FORMATS`.
    pub shader_binary_formats: i32,
    /// `GL_MAX_VERTEX_ATTRIBS`; 0 in versions without vertex attributes.
    pub vertex_attribs: i32,
    /// The default framebuffer.
    pub default_framebuffer: DefaultFramebuffer,
    /// `GL_MAX_VERTEX_ATTRIB_BINDINGS`; 0 below OpenGL ES 3.1, and if the writer did not record it.
    pub vertex_bindings: i32,
    /// `GL_MAX_VERTEX_ATTRIB_RELATIVE_OFFSET` in bytes; 0 like `vertex_bindings`.
    pub vertex_relative_offset: i32,
    /// `GL_MAX_VERTEX_ATTRIB_STRIDE` in bytes; 0 like `vertex_bindings`.
    pub vertex_stride: i32,
    /// `GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS`; 0 in OpenGL ES 1, and if the writer did not record it.
    pub texture_units: i32,
    /// `GL_MAX_IMAGE_UNITS`; 0 like `vertex_bindings`.
    pub image_units: i32,
    /// `GL_MAX_UNIFORM_BUFFER_BINDINGS`; 0 below OpenGL ES 3.0, and if the writer did not record it.
    pub uniform_bindings: i32,
    /// `GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT` in bytes; 0 like `uniform_bindings`.
    pub uniform_alignment: i32,
    /// `GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS`; 0 like `vertex_bindings`.
    pub storage_bindings: i32,
    /// `GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT` in bytes; 0 like `vertex_bindings`.
    pub storage_alignment: i32,
    /// `GL_MAX_ATOMIC_COUNTER_BUFFER_BINDINGS`; 0 like `vertex_bindings`.
    pub atomic_bindings: i32,
    /// `GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS`; 0 like `uniform_bindings`.
    pub feedback_bindings: i32,
    /// The profile of a context of desktop OpenGL, as a bit of `GL_CONTEXT_PROFILE_MASK`; 0 in OpenGL ES.
    pub profile: i32,
    /// Names of the extensions that recording depends on, separated by spaces.
    pub extensions: String,
    /// `GL_RENDERER`; empty if the writer did not record it.
    pub renderer: Untrusted,
    /// `GL_VERSION`; empty if the writer did not record it.
    pub version_string: Untrusted,
}

/// The default framebuffer of a context when the context first became current. All fields are 0 without a
/// surface.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DefaultFramebuffer {
    /// Bits of red.
    pub red_bits: i32,
    /// Bits of green.
    pub green_bits: i32,
    /// Bits of blue.
    pub blue_bits: i32,
    /// Bits of alpha.
    pub alpha_bits: i32,
    /// Bits of depth.
    pub depth_bits: i32,
    /// Bits of stencil.
    pub stencil_bits: i32,
    /// Samples per pixel.
    pub samples: i32,
    /// Width of the viewport in pixels, initially that of the surface.
    pub width: i32,
    /// Height of the viewport in pixels, initially that of the surface.
    pub height: i32,
}

impl ContextLimits {
    /// Returns the limits in a record. Numbers that an older writer did not record are 0.
    fn of(limits: &Limits<'_>) -> Self {
        let mut numbers = limits
            .numbers
            .chunks_exact(4)
            .map(|number| number.first_chunk().map_or(0, |bytes| i32::from_le_bytes(*bytes)));
        let mut next = || numbers.next().unwrap_or(0);
        Self {
            version: limits.version,
            compressed_texture_formats: next(),
            program_binary_formats: next(),
            shader_binary_formats: next(),
            vertex_attribs: next(),
            default_framebuffer: DefaultFramebuffer {
                red_bits: next(),
                green_bits: next(),
                blue_bits: next(),
                alpha_bits: next(),
                depth_bits: next(),
                stencil_bits: next(),
                samples: next(),
                width: next(),
                height: next(),
            },
            vertex_bindings: next(),
            vertex_relative_offset: next(),
            vertex_stride: next(),
            texture_units: next(),
            image_units: next(),
            uniform_bindings: next(),
            uniform_alignment: next(),
            storage_bindings: next(),
            storage_alignment: next(),
            atomic_bindings: next(),
            feedback_bindings: next(),
            profile: next(),
            extensions: String::from_utf8_lossy(limits.extensions).into_owned(),
            renderer: answer(limits.renderer),
            version_string: answer(limits.version_string),
        }
    }
}

/// Returns a driver's answer; longer ones than a writer of today records are cut.
fn answer(bytes: &[u8]) -> Untrusted {
    let bytes = bytes.get(..LIMITS_STRING_MAX).unwrap_or(bytes);
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// A process as of the last record.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ProcessTrack {
    /// Process id of the operating system.
    pub pid: u32,
    /// Frames that have ended.
    pub frames: u64,
    /// When the process joined the capture, in nanoseconds of `CLOCK_MONOTONIC`.
    pub start_ns: u64,
    /// The kernel's name for the process.
    pub name: Untrusted,
    known: bool,
}

/// A thread as of the last record.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ThreadTrack {
    /// Index of the thread's process.
    pub process: u32,
    /// Thread id of the operating system.
    pub tid: u32,
    /// API of the current context, or 0.
    pub api: u32,
    /// Handle of the current context, or 0.
    pub context: u64,
    /// Stamp of the thread's last record.
    pub stamp: u64,
    /// The kernel's name for the thread, NUL-padded.
    pub name: [u8; 16],
    /// Time of the thread's next record of a command, if a TIME has told it, in nanoseconds of `CLOCK_MONOTONIC`.
    pub next_ns: Option<u64>,
    /// Ordinal of the thread's last command, if it has taken effect.
    pub last_seq: Option<u64>,
    known: bool,
    /// Number of the block that restated this thread last, counted from 1.
    block: u64,
}

/// Position of a command record in the stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Index of its thread.
    pub thread: u32,
    /// Index of its process.
    pub process: u32,
    /// Handle of the current context, or 0.
    pub context: u64,
    /// Frames of the process that have ended.
    pub frame: u64,
    /// Stamp of the record.
    pub stamp: u64,
    /// Ordinal of the command, if it takes effect at this record.
    pub seq: Option<u64>,
    /// Ordinal of the command, if it takes effect at this record or has at its enter record.
    pub command_seq: Option<u64>,
    /// Time of the record in nanoseconds of `CLOCK_MONOTONIC`, if a TIME has told it.
    pub time_ns: Option<u64>,
}

/// Why a record can't follow the records before it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TrackError {
    /// The record is too short.
    #[error(transparent)]
    Meta(#[from] MetaError),
    /// No record before this one in its block says which thread it belongs to.
    #[error("record {id:#06x} before the block says whose it is")]
    NoThread {
        /// Id of the record.
        id: u16,
    },
    /// The block has no THREAD_STATE for this thread.
    #[error("thread {thread} was never described")]
    UnknownThread {
        /// Index of the thread.
        thread: u32,
    },
    /// The block has no PROCESS for this process.
    #[error("process {process} was never described")]
    UnknownProcess {
        /// Index of the process.
        process: u32,
    },
    /// The index exceeds [`THREADS_MAX`].
    #[error("thread {thread} exceeds the limit of {THREADS_MAX}")]
    TooManyThreads {
        /// Index of the thread.
        thread: u32,
    },
    /// The index exceeds [`PROCESSES_MAX`].
    #[error("process {process} exceeds the limit of {PROCESSES_MAX}")]
    TooManyProcesses {
        /// Index of the process.
        process: u32,
    },
    /// The first record of the block is not BLOCK.
    #[error("record {id:#06x} where a block must begin")]
    NoBlock {
        /// Id of the record.
        id: u16,
    },
    /// The stream has ended with END.
    #[error("record {id:#06x} after the end of the stream")]
    AfterEnd {
        /// Id of the record.
        id: u16,
    },
}

impl Tracker {
    /// Forgets the current thread. Call this before the first record of each block.
    pub fn begin_block(&mut self) {
        self.block = None;
        self.current = None;
    }

    /// Takes note of a command record and returns its position.
    ///
    /// # Errors
    /// [`TrackError`].
    #[inline]
    pub fn command(&mut self, header: Header, stamp: Option<u64>) -> Result<Place, TrackError> {
        let no_thread = TrackError::NoThread { id: header.id() };
        let Some(current) = self.current else { return Err(no_thread) };
        let Some(thread) = self.threads.get_mut(current as usize) else { return Err(no_thread) };
        let Some(process) = self.processes.get_mut(thread.process as usize) else {
            return Err(TrackError::UnknownProcess { process: thread.process });
        };
        if let Some(stamp) = stamp {
            thread.stamp = stamp;
        }
        let mut place = Place {
            thread: current,
            process: thread.process,
            context: thread.context,
            frame: process.frames,
            stamp: thread.stamp,
            seq: None,
            command_seq: None,
            time_ns: thread.next_ns.take(),
        };
        if header.flags() & EFFECT != 0 {
            place.seq = Some(self.seq);
            self.seq = self.seq.wrapping_add(1);
        }
        if header.flags() & (EFFECT | LEAVE) != LEAVE {
            thread.last_seq = place.seq;
        }
        place.command_seq = thread.last_seq;
        if header.flags() & FRAME_END != 0 {
            process.frames = process.frames.wrapping_add(1);
        }
        Ok(place)
    }

    /// Takes note of a record that is not a command and returns its content.
    ///
    /// # Errors
    /// [`TrackError`].
    pub fn meta<'a>(
        &mut self,
        header: Header,
        stamp: Option<u64>,
        payload: &'a [u8],
    ) -> Result<Meta<'a>, TrackError> {
        let id = header.id();
        let meta = Meta::decode(id, payload)?;
        if self.end.is_some() {
            return Err(TrackError::AfterEnd { id });
        }
        if self.block.is_none() && !matches!(meta, Meta::Block(_)) {
            return Err(TrackError::NoBlock { id });
        }
        match &meta {
            Meta::Block(block) => self.block(*block),
            Meta::Process(process) => self.process(process)?,
            Meta::ThreadState(state) => self.thread_state(state)?,
            Meta::SwitchThread(switch) => self.switch_thread(switch.thread)?,
            Meta::End(end) => self.end = Some(end.clone()),
            Meta::Thread(thread) => self.thread(id, thread, stamp)?,
            Meta::Context(context) => {
                let thread = self.current_mut(id)?;
                (thread.context, thread.api) = (context.context, context.api);
                thread.stamp = stamp.unwrap_or(thread.stamp);
            }
            Meta::Limits(limits) => {
                let thread = self.current_mut(id)?;
                thread.stamp = stamp.unwrap_or(thread.stamp);
                let key = (thread.process, limits.context);
                if self.limits.len() < CONTEXTS_MAX || self.limits.contains_key(&key) {
                    self.limits.insert(key, Arc::new(ContextLimits::of(limits)));
                    self.limits_read += 1;
                }
            }
            Meta::Time(time) => {
                let thread = self.current_mut(id)?;
                thread.stamp = stamp.unwrap_or(thread.stamp);
                if time.kind == TimeKind::Command {
                    thread.next_ns = Some(time.at_ns);
                }
            }
            Meta::Gap(_) => {
                let thread = self.current_mut(id)?;
                thread.stamp = stamp.unwrap_or(thread.stamp);
                // The record that the time belongs to is lost.
                thread.next_ns = None;
            }
            Meta::Blob(_)
            | Meta::Numbered(_)
            | Meta::GpuTimes(_)
            | Meta::Frame(_)
            | Meta::Snapshot(_)
            | Meta::Missing(_)
            | Meta::Keyframe(_)
            | Meta::Subject(_)
            | Meta::Traced(_)
            | Meta::CaptureEnd(_) => {
                let thread = self.current_mut(id)?;
                thread.stamp = stamp.unwrap_or(thread.stamp);
            }
            Meta::Stored(_)
            | Meta::Rings(_)
            | Meta::Account(_)
            | Meta::Seam(_)
            | Meta::Unknown(_) => {}
        }
        Ok(meta)
    }

    /// Returns the index of the thread whose records come now.
    pub fn current(&self) -> Option<u32> {
        self.current
    }

    /// Returns the number of commands that took effect so far.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Returns the block that is being read, once its first record was seen.
    pub fn current_block(&self) -> Option<Block> {
        self.block
    }

    /// Returns the END record, once it was seen.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Returns the thread with this index, if the stream has described it.
    pub fn thread_at(&self, thread: u32) -> Option<&ThreadTrack> {
        self.threads.get(thread as usize).filter(|thread| thread.known)
    }

    /// Returns the process with this index, if the stream has described it.
    pub fn process_at(&self, process: u32) -> Option<&ProcessTrack> {
        self.processes.get(process as usize).filter(|process| process.known)
    }

    /// Returns the limits that the driver reported for a context of a process, if they are in the stream.
    pub fn limits(&self, process: u32, context: u64) -> Option<&ContextLimits> {
        self.shared_limits(process, context).map(Arc::as_ref)
    }

    /// Returns the same limits for another thread.
    pub(crate) fn shared_limits(&self, process: u32, context: u64) -> Option<&Arc<ContextLimits>> {
        self.limits.get(&(process, context))
    }

    /// Returns a number that changes whenever the limits of a context change.
    pub(crate) fn limits_read(&self) -> u64 {
        self.limits_read
    }

    /// Returns the processes so far, with their indices.
    pub fn processes(&self) -> impl Iterator<Item = (u32, &ProcessTrack)> {
        (0..).zip(&self.processes).filter(|(_, process)| process.known)
    }

    /// Returns the threads so far, with their indices.
    pub fn threads(&self) -> impl Iterator<Item = (u32, &ThreadTrack)> {
        (0..).zip(&self.threads).filter(|(_, thread)| thread.known)
    }

    /// Returns true if the block that is being read has restated the thread.
    pub fn restated(&self, thread: u32) -> bool {
        let Some(block) = self.block else { return false };
        self.thread_at(thread).is_some_and(|thread| thread.block == block.number.wrapping_add(1))
    }

    fn block(&mut self, block: Block) {
        if block.number != self.next_block {
            // Blocks are missing, and with them the records that these belong to.
            for thread in &mut self.threads {
                (thread.next_ns, thread.last_seq) = (None, None);
            }
        }
        self.next_block = block.number.wrapping_add(1);
        self.seq = block.first_seq;
        self.current = None;
        self.block = Some(block);
    }

    fn process(&mut self, process: &Process<'_>) -> Result<(), TrackError> {
        let index = process.process;
        if index >= PROCESSES_MAX {
            return Err(TrackError::TooManyProcesses { process: index });
        }
        if self.processes.len() <= index as usize {
            self.processes.resize_with(index as usize + 1, ProcessTrack::default);
        }
        let known = &mut self.processes[index as usize];
        known.pid = process.pid;
        known.frames = process.frames;
        known.start_ns = process.start_ns;
        if known.name.raw().as_bytes() != process.name {
            known.name = String::from_utf8_lossy(process.name).as_ref().into();
        }
        known.known = true;
        Ok(())
    }

    fn thread_state(&mut self, state: &ThreadState) -> Result<(), TrackError> {
        let ThreadState { thread: index, process, tid, api, context, stamp, name } = *state;
        if index >= THREADS_MAX {
            return Err(TrackError::TooManyThreads { thread: index });
        }
        if self.process_at(process).is_none() {
            return Err(TrackError::UnknownProcess { process });
        }
        if self.threads.len() <= index as usize {
            self.threads.resize_with(index as usize + 1, ThreadTrack::default);
        }
        let block = self.block.map_or(0, |block| block.number.wrapping_add(1));
        let thread = &mut self.threads[index as usize];
        let ThreadTrack { next_ns, last_seq, .. } = *thread;
        *thread = ThreadTrack {
            process,
            tid,
            api,
            context,
            stamp,
            name,
            next_ns,
            last_seq,
            known: true,
            block,
        };
        Ok(())
    }

    fn switch_thread(&mut self, thread: u32) -> Result<(), TrackError> {
        match self.thread_at(thread) {
            Some(_) => self.current = Some(thread),
            None => return Err(TrackError::UnknownThread { thread }),
        }
        Ok(())
    }

    fn thread(&mut self, id: u16, thread: &Thread, stamp: Option<u64>) -> Result<(), TrackError> {
        let current = self.current_mut(id)?;
        (current.tid, current.name) = (thread.tid, thread.name);
        current.stamp = stamp.unwrap_or(current.stamp);
        Ok(())
    }

    fn current_mut(&mut self, id: u16) -> Result<&mut ThreadTrack, TrackError> {
        let no_thread = TrackError::NoThread { id };
        let Some(current) = self.current else { return Err(no_thread) };
        self.threads.get_mut(current as usize).ok_or(no_thread)
    }
}

/// The limits of contexts as a list.
mod shared_limits {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::ContextLimits;

    type Limits = BTreeMap<(u32, u64), Arc<ContextLimits>>;

    /// Writes the list.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<S: Serializer>(limits: &Limits, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(limits.iter().map(|(context, limits)| (context, limits.as_ref())))
    }

    /// Reads the list.
    ///
    /// # Errors
    /// The deserializer's.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Limits, D::Error> {
        let list = Vec::<((u32, u64), ContextLimits)>::deserialize(from)?;
        Ok(list.into_iter().map(|(context, limits)| (context, Arc::new(limits))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Limits of a record with the numbers from 1 to `count`.
    fn limits(count: i32) -> ContextLimits {
        let numbers = (1..=count).flat_map(i32::to_le_bytes).collect::<Vec<_>>();
        let extensions = b"GL_A";
        ContextLimits::of(&Limits {
            context: 7,
            version: (3, 2),
            numbers: &numbers,
            extensions,
            renderer: b"",
            version_string: b"",
        })
    }

    #[test]
    fn limits_that_an_older_writer_did_not_know_are_0() {
        let old = limits(4);
        assert_eq!(old.vertex_attribs, 4);
        assert_eq!(old.default_framebuffer, DefaultFramebuffer::default());
        assert_eq!(limits(13).vertex_bindings, 0);
        assert_eq!(limits(24).profile, 0);
        let new = limits(26);
        assert_eq!(new.extensions, "GL_A");
        let framebuffer = new.default_framebuffer;
        assert_eq!((framebuffer.red_bits, framebuffer.samples), (5, 11));
        assert_eq!((framebuffer.width, framebuffer.height), (12, 13));
        let vertices = (new.vertex_bindings, new.vertex_relative_offset, new.vertex_stride);
        assert_eq!(vertices, (14, 15, 16));
        assert_eq!((new.texture_units, new.feedback_bindings, new.profile), (17, 24, 25));
    }
}

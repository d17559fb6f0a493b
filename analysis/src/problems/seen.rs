//! `Seen`: a command that the problems are looked for in, with the state of its thread, and where it is. Reads arguments
//! and answers by name; finds no problem.

use gapii_commands::CommandId;
use gapii_follow::Thread;
use gapii_trace::description::Observed;
use gapii_trace::value::{Arg, Range, Value};
use gapii_trace::{Bytes, Command, Untrusted};

/// Longest name of a function in a sentence, in bytes.
const NAME_BYTES_MAX: usize = 100;

/// Facts about a process, from the commands that the finder has looked at.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    /// The first frame in the trace.
    pub first_frame: u64,
    /// The frame of the last command.
    pub last_frame: u64,
    /// True if the process ran before the trace began.
    pub is_attached: bool,
}

/// A command that a finder looks at.
pub struct Seen<'a> {
    pub command: &'a Command<'a>,
    /// The command of this build.
    pub known: Option<CommandId>,
    /// The state of its thread, behind the command.
    pub thread: Option<&'a Thread>,
    /// Whether the command is in a frame of interest.
    pub is_wanted: bool,
    /// Whether a frame ended before the command, and so the program draws frames.
    pub is_in_frames: bool,
    /// Whether the program has drawn its first frames.
    pub is_in_mid_run: bool,
}

/// Where an occurrence is.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub seq: Option<u64>,
    pub process: u32,
    pub frame: u64,
    /// Index and id of the thread.
    pub thread: Option<(u32, u32)>,
}

impl<'a> Seen<'a> {
    /// Where the command is.
    pub fn place(&self) -> Place {
        let Command { seq, process, frame, thread, tid, .. } = *self.command;
        Place { seq, process, frame, thread: Some((thread, tid)) }
    }

    /// Name of the function, for a sentence.
    pub fn name(&self) -> String {
        name_of(self.command.name())
    }

    /// Bits of the argument with this name; `None` if the command lacks it.
    pub fn number(&self, param: &str) -> Option<u64> {
        self.command.args().find(|arg| arg.param.name == param).map(|arg| arg.value.bits())
    }

    /// The memory that the driver wrote at the parameter with this name.
    pub fn output(&self, param: &str) -> Option<Bytes<'a>> {
        let is_it = |arg: &Arg<'_>| arg.param.name == param && arg.param.observed == Observed::Out;
        let is_range = |range: &Range<'_>| self.command.param_of(range) == Some(param);
        let seen = match self.command.args().find(is_it) {
            Some(arg) => arg.observation,
            None => self.command.ranges_written().find(is_range)?.observation,
        };
        self.command.bytes_of(seen)
    }

    /// The result: its bits, and its name or number.
    pub fn result(&self) -> Option<(u64, String)> {
        let (value, _) = self.command.result()?;
        let bits = value.bits();
        let name = match value {
            Value::Enum { group, bits } => self.command.description().enum_name(group, bits),
            _ => None,
        };
        Some((bits, name.map_or_else(|| format!("{bits:#x}"), name_of)))
    }
}

/// Returns a name of a trace as it stands in a sentence.
pub fn name_of(name: &str) -> String {
    match name {
        "" => "a command that the trace does not describe".to_owned(),
        name => Untrusted::from(name).cut(NAME_BYTES_MAX).raw().to_owned(),
    }
}

/// The first 32-bit word of a memory.
pub fn first_word(bytes: Option<&[u8]>) -> Option<u32> {
    bytes?.first_chunk().copied().map(u32::from_le_bytes)
}

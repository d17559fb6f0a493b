//! Numbers in records that have names: end reasons, causes of gaps and kinds, each defined once. A number of a later
//! version becomes `Other`, is written as it was read, and is shown as `unknown`.

use crate::layout::Wire;

/// One number of an enumeration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code {
    /// The number in records.
    pub code: u32,
    /// The word in footers, JSON and messages.
    pub name: &'static str,
    /// Its meaning, in one line.
    pub meaning: &'static str,
}

/// An enumeration as docs/trace-format.md lists it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Codes {
    /// Name of the type.
    pub name: &'static str,
    /// Where it is used, in one line.
    pub meaning: &'static str,
    /// Its numbers, ascending.
    pub codes: &'static [Code],
}

macro_rules! codes {
    ($(
        $(#[doc = $doc:literal])+
        pub enum $name:ident: $repr:ident, default $default:expr =>
        { $( $(#[doc = $code_doc:literal])+ $variant:ident = $code:literal $text:literal, )+ }
    )+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
            pub enum $name {
                $( $(#[doc = $code_doc])+ $variant, )+
                /// A number of a later version.
                Other($repr),
            }

            impl $name {
                /// The known numbers, ascending.
                pub const CODES: &'static [Code] = &[ $( Code {
                    code: $code,
                    name: $text,
                    meaning: concat!($($code_doc),+),
                }, )+ ];
                /// The known values, by number.
                pub const ALL: &'static [Self] = &[ $( Self::$variant, )+ ];

                /// The number in records.
                #[inline(always)]
                pub const fn code(self) -> $repr {
                    match self {
                        $( Self::$variant => $code, )+
                        Self::Other(code) => code,
                    }
                }

                /// The value of a record's number.
                #[inline(always)]
                pub const fn from_code(code: $repr) -> Self {
                    match code {
                        $( $code => Self::$variant, )+
                        other => Self::Other(other),
                    }
                }

                /// The word in footers, JSON and messages; `unknown` for a number of a later version.
                pub const fn name(self) -> &'static str {
                    match self {
                        $( Self::$variant => $text, )+
                        Self::Other(_) => "unknown",
                    }
                }

                /// The value of a word; `None` if no value has this name.
                pub fn from_name(name: &str) -> Option<Self> {
                    match name {
                        $( $text => Some(Self::$variant), )+
                        _ => None,
                    }
                }
            }

            impl Default for $name {
                fn default() -> Self {
                    $default
                }
            }

            impl core::fmt::Display for $name {
                fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    f.pad(self.name())
                }
            }

            impl Wire for $name {
                const LEN: usize = size_of::<$repr>();
                const TEXT: &'static str = stringify!($repr);

                #[inline(always)]
                fn put(self, out: &mut [u8], at: usize) {
                    self.code().put(out, at);
                }

                #[inline(always)]
                fn take(bytes: &[u8], at: usize) -> Self {
                    Self::from_code(Wire::take(bytes, at))
                }
            }
        )+

        /// All enumerations of records.
        pub static CODES: &[Codes] = &[ $( Codes {
            name: stringify!($name),
            meaning: concat!($($doc),+),
            codes: $name::CODES,
        }, )+ ];
    };
}

/// Signals by which users, shells and service managers ask a program to end (signal(7)): SIGHUP, SIGINT, SIGTERM.
const ASKING: [i32; 3] = [1, 2, 15];

impl EndReason {
    /// Returns the reason of a stream whose program a signal ended.
    pub fn of_signal(signal: i32) -> Self {
        if ASKING.contains(&signal) { Self::Exit } else { Self::Crash }
    }
}

codes! {
    /// Why a stream ended: `reason` of END, as a word in the footer and in JSON.
    pub enum EndReason: u32, default Self::Lost => {
        /// Each process recorded its frames.
        Frames = 1 "frames",
        /// A client asked for the end.
        Stop = 2 "stop",
        /// The program exited, or SIGHUP, SIGINT or SIGTERM asked it to end.
        Exit = 3 "exit",
        /// Another signal ended the program.
        Crash = 4 "crash",
        /// The application disappeared, or left the capture.
        Lost = 5 "lost",
        /// The daemon was told to end.
        Shutdown = 6 "shutdown",
    }
    /// Why a process stopped recording: `reason` of CAPTURE_END.
    pub enum ProcessEnd: u32, default Self::Other(0) => {
        /// The process recorded its frames.
        Frames = 1 "frames",
        /// The daemon's mode page asked for the end.
        Stop = 2 "stop",
        /// The process left the capture.
        Lost = 3 "lost",
        /// The process exits.
        Exit = 4 "exit",
    }
    /// Why records are missing: `cause` of GAP (1 and 2), and of the footer's gaps (all).
    pub enum GapCause: u32, default Self::Other(0) => {
        /// The ring was full, and the capture drops records.
        Dropped = 1 "dropped",
        /// The ring stayed full for longer than the stall limit, or than a program waits for another daemon.
        Stalled = 2 "stalled",
        /// No ring was free for threads: in the footer only, with `thread` 2^32 - 1 for all of them.
        NoSlot = 3 "no_slot",
        /// The daemon could not read the records, or refused them.
        Refused = 4 "refused",
        /// The output did not take the records.
        Output = 5 "output",
        /// The daemon's store lost pieces of blobs: the records are in the stream without their bytes, and `records` is 0.
        Store = 6 "store",
        /// The client was too slow, and the daemon had no room to hold more for it.
        Slow = 7 "slow",
        /// The capture was paused.
        Paused = 8 "paused",
        /// The daemon held the records and died before they were in the file.
        Restarted = 9 "restarted",
    }
    /// How much of a frame's pixels the trace has: `kind` of FRAME.
    pub enum FrameKind: u32, default Self::Other(0) => {
        /// The pixels' hash, which is the name that they would have as a blob.
        Hash = 1 "hash",
        /// The pixels, as a blob of that name.
        Blob = 2 "blob",
    }
    /// Changes that tracers made to a command, and the contents of the record: `kind` of TRACED.
    pub enum TracedKind: u16, default Self::Other(0) => {
        /// Ahead of the enter record: the arguments as the program passed them. The enter record has those that the driver got.
        Changed = 1 "CHANGED",
        /// In place of the command's records, because it never reached the driver and has no `seq`: the arguments as the program passed them, those that prologues left, and the result that the program got, if the command has one.
        Skipped = 2 "SKIPPED",
        /// Behind the leave record, as the thread's next record: the result that the program got. The leave record has the driver's.
        Result = 3 "RESULT",
        /// Ahead of the enter record of a command that a callback calls: nothing follows.
        Own = 4 "OWN",
    }
    /// Event whose time a TIME has: its `kind`.
    pub enum TimeKind: u32, default Self::Other(0) => {
        /// The thread's next record of a command. Ahead of a leave record: when the driver returned.
        Command = 1 "command",
        /// A hold: the thread stood still to write the part of a snapshot that its next SNAPSHOT ends.
        Hold = 2 "hold",
        /// A wait for room in the thread's ring, also while there is no daemon.
        Wait = 3 "wait",
    }
    /// Meaning of a GPU_TIMES: its `kind`. It gives times of commands of a context or of a command list, or the reason why commands have none.
    pub enum GpuTimesKind: u32, default Self::Other(0) => {
        /// Times of commands.
        Times = 1 "times",
        /// The GPU's clock was interrupted, or began anew, between `from_ns` and `to_ns`: `count` commands have no times.
        Disjoint = 2 "disjoint",
        /// From here on commands have no times: the driver has no GL_EXT_disjoint_timer_query in this context.
        NoExtension = 3 "no_extension",
        /// From here on commands have no times: the driver counts no timestamps, in this context or in this list.
        NoCounter = 4 "no_counter",
        /// From here on commands have no times: the program uses timer queries itself. `count` commands before have none either.
        OwnQueries = 5 "own_queries",
        /// `count` commands have no times: too many results were missing.
        Full = 6 "full",
        /// `count` commands of an execution of a list have no times: the list was executed again, emptied or destroyed before their results were there.
        Lost = 7 "lost",
        /// `count` commands in a list have no times: they were appended before the capture.
        Earlier = 8 "earlier",
        /// From here on commands of the list have no times: the program numbers or clones them, or makes a graph of them.
        OwnCommands = 9 "own_commands",
        /// From here on commands of this list and of others have no times: the shim does not know where the lists belong.
        UnknownList = 10 "unknown_list",
    }
    /// The thing that a SUBJECT names: its `kind`. `id` distinguishes the subjects of a kind in a process.
    pub enum SubjectKind: u32, default Self::Other(0) => {
        /// The process: `id` 0 for displays, contexts and surfaces, 1 for fences.
        Process = 1 "process",
        /// The state that is current on the thread; `id` has no meaning.
        Thread = 2 "thread",
        /// A share group.
        Group = 3 "group",
        /// A context's own objects and state.
        Context = 4 "context",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_a_later_version_is_written_as_it_was_read() {
        assert_eq!(GapCause::from_code(77), GapCause::Other(77));
        assert_eq!(GapCause::Other(77).code(), 77);
        assert_eq!(EndReason::from_code(3), EndReason::Exit);
    }

    #[test]
    fn every_name_leads_back_to_its_value() {
        for reason in EndReason::ALL {
            assert_eq!(EndReason::from_name(reason.name()), Some(*reason));
            assert_eq!(EndReason::from_code(reason.code()), *reason);
        }
        assert_eq!(EndReason::from_name("unknown"), None);
    }

    #[test]
    fn numbers_ascend() {
        for codes in CODES {
            assert!(codes.codes.is_sorted_by(|a, b| a.code < b.code), "{}", codes.name);
        }
    }
}

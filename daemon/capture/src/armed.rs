//! The trigger that a capture waits for in a process (`--when`), before it takes any of the process' records. It fires
//! at the program's own commands only, never at those of a snapshot, and only at records that the drain sees. A
//! duration of frames does not count for two frames (`DISTURBED_FRAMES`) behind the capture's begin, a new thread, a
//! snapshot or a keyframe, because these may hold threads.

use gapii_abi::atom::{
    CAPTURE_END, CaptureEnd, KEYFRAME, LEAVE, META_FIRST, SETUP, SNAPSHOT, THREAD,
};
use gapii_commands::CommandId;
use gapii_control::trigger::Trigger;
use gapii_trace::Description;
use gapii_trace::description::Function;
use gapii_trace::filter;
use gapii_trace::meta::Meta;
use gapii_trace::record::{Record, Records};

/// Number of frames after a record that says that threads were held. One of these frames may be longer for that
/// reason.
const DISTURBED_FRAMES: u64 = 2;

/// A trigger in one process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Armed {
    sought: Sought,
    /// The process' number of frames from which on frame durations are the program's own again. `None`: they are
    /// now.
    disturbed_until: Option<u64>,
    has_come: bool,
    /// The process' own CAPTURE_END record, once it has come.
    ended: Option<CaptureEnd>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Sought {
    /// A command of a function whose entry, by function id, is true.
    Function(Vec<bool>),
    /// A result other than 0 of the function with this id.
    Result(u16),
    FrameLonger(u64),
    Frame(u64),
}

impl Armed {
    /// Arms the trigger for a process that has ended `frames` frames.
    pub fn with(trigger: &Trigger, frames: u64, description: &Description) -> Self {
        let sought = match trigger {
            Trigger::Function(pattern) => {
                let fits = |function: &Function| filter::fits(pattern, &function.name);
                Sought::Function(description.table(false, fits))
            }
            Trigger::GlError => {
                // No record has this id.
                let unknown = META_FIRST;
                let get_error = description.of(CommandId::GL_GET_ERROR);
                Sought::Result(get_error.map_or(unknown, |function| function.id))
            }
            Trigger::FrameLonger(ns) => Sought::FrameLonger(*ns),
            Trigger::Frame(frame) => Sought::Frame(*frame),
        };
        let disturbed_until = Some(frames.saturating_add(DISTURBED_FRAMES));
        Self { sought, disturbed_until, has_come: false, ended: None }
    }

    /// Looks for the trigger in records of the process, which has ended `frames` frames.
    pub fn look_at(&mut self, records: &[u8], frames: u64) {
        for Record { header, payload, .. } in Records::new(records).map_while(Result::ok) {
            let (id, flags) = (header.id(), header.flags());
            let is_own = flags & SETUP == 0;
            if id == CAPTURE_END
                && let Ok(Meta::CaptureEnd(end)) = Meta::decode(id, payload)
            {
                self.ended = Some(end);
            }
            match &self.sought {
                Sought::Function(fitting) => {
                    let is_it = fitting.get(usize::from(id)).copied().unwrap_or(false);
                    self.has_come |= is_it && is_own && flags & LEAVE == 0;
                }
                Sought::Result(function) if *function == id && is_own && flags & LEAVE != 0 => {
                    self.has_come |= payload.iter().any(|byte| *byte != 0);
                }
                Sought::FrameLonger(_) if matches!(id, THREAD | SNAPSHOT | KEYFRAME) => {
                    self.disturbed_until = Some(frames.saturating_add(DISTURBED_FRAMES));
                }
                _ => {}
            }
        }
    }

    /// Takes the number of frames that the process has ended, and the duration in nanoseconds of the longest of them
    /// since the last call.
    pub fn hear_of_frames(&mut self, frames: u64, longest_ns: u64) {
        self.count_frames(frames);
        match self.sought {
            Sought::FrameLonger(limit_ns) => match self.disturbed_until {
                // The longest frame may still be one of the disturbed ones.
                Some(until) if frames >= until => self.disturbed_until = None,
                Some(_) => {}
                None => self.has_come |= longest_ns > limit_ns,
            },
            Sought::Function(_) | Sought::Result(_) | Sought::Frame(_) => {}
        }
    }

    /// Takes the number of frames that the process has ended.
    pub fn count_frames(&mut self, frames: u64) {
        self.has_come |= matches!(self.sought, Sought::Frame(frame) if frames >= frame);
    }

    /// Returns the process' CAPTURE_END record, if it has come.
    pub fn ended(&self) -> Option<CaptureEnd> {
        self.ended
    }

    /// Returns whether the trigger has fired.
    pub fn has_come(&self) -> bool {
        self.has_come
    }
}

#[cfg(test)]
mod tests {
    use gapii_abi::atom::{EFFECT, Header, LEAVES};

    use super::*;

    fn id_of(name: &str) -> u16 {
        Description::built_in().named(name).unwrap().id
    }

    fn record(id: u16, flags: u16, word: u64) -> Vec<u8> {
        [Header::new(id, flags, 16).0, word].map(u64::to_le_bytes).concat()
    }

    fn armed(trigger: &str) -> Armed {
        Armed::with(&trigger.parse().unwrap(), 100, Description::built_in())
    }

    #[test]
    fn trigger_fires_for_the_programs_own_commands_only() {
        let check = |trigger: &str, name: &str, flags: u16, word: u64, expected: bool| {
            let mut armed = armed(trigger);
            let other = record(id_of("glFlush"), EFFECT, 1);
            armed.look_at(&[other, record(id_of(name), flags, word)].concat(), 100);
            assert_eq!(armed.has_come(), expected, "{trigger}: {name} {flags} {word}");
        };
        check("function=glClear", "glClear", EFFECT, 0, true);
        check("function=glC*", "glClear", EFFECT, 0, true);
        check("function=glClear", "glClearColor", EFFECT, 0, false);
        check("function=glClear", "glClear", EFFECT | SETUP, 0, false);
        check("function=glGetError", "glGetError", LEAVE | EFFECT, 0, false);
        check("gl-error", "glGetError", LEAVES, 0x500, false);
        check("gl-error", "glGetError", LEAVE | EFFECT, 0, false);
        check("gl-error", "glGetError", LEAVE | EFFECT, 0x500, true);
        check("gl-error", "glGetError", LEAVE | EFFECT | SETUP, 0x500, false);
        check("gl-error", "glIsEnabled", LEAVE | EFFECT, 1, false);
    }

    #[test]
    fn frame_that_is_waited_for_is_reached_or_passed() {
        let mut armed = armed("frame=103");
        armed.hear_of_frames(102, u64::MAX);
        assert!(!armed.has_come());
        armed.hear_of_frames(105, 0);
        assert!(armed.has_come());
    }

    #[test]
    fn frame_in_which_the_program_was_held_is_not_its_own_doing() {
        const LONG: u64 = 30_000_000;
        let mut armed = armed("frame-longer=20ms");
        // The process has just begun and is described.
        armed.hear_of_frames(100, LONG);
        armed.look_at(&record(THREAD, 0, 0), 101);
        armed.hear_of_frames(102, LONG);
        // This value may also cover the time before.
        armed.hear_of_frames(104, LONG);
        assert!(!armed.has_come());
        armed.hear_of_frames(105, 20_000_000);
        assert!(!armed.has_come());
        armed.look_at(&record(id_of("glClear"), EFFECT, 0), 105);
        armed.hear_of_frames(106, LONG);
        assert!(armed.has_come());
    }
}

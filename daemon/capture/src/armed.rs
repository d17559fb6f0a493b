//! What a capture waits for in a process, before it takes any of it.

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

/// Frames of which one may be longer because threads are held, from a record on that says so.
const DISTURBED_FRAMES: u64 = 2;

/// How far a capture is that waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Armed {
    sought: Sought,
    /// So many frames must have ended before how long they take is the program's own doing again.
    disturbed_until: Option<u64>,
    has_come: bool,
    /// What the process says of its end.
    ended: Option<CaptureEnd>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Sought {
    /// A command of these functions, by their ids.
    Function(Vec<bool>),
    /// A result of this function that is not 0.
    Result(u16),
    FrameLonger(u64),
    Frame(u64),
}

impl Armed {
    /// From now on, when the process has ended so many frames.
    pub fn with(trigger: &Trigger, frames: u64, description: &Description) -> Self {
        let sought = match trigger {
            Trigger::Function(pattern) => {
                let fits = |function: &Function| filter::fits(pattern, &function.name);
                Sought::Function(description.table(false, fits))
            }
            Trigger::GlError => {
                // An id that no record has.
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

    /// Looks through records of the process, which has ended so many frames.
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

    /// Hears how many frames the process has ended, and how many nanoseconds the longest of them took since it
    /// was last asked.
    pub fn hear_of_frames(&mut self, frames: u64, longest_ns: u64) {
        match self.sought {
            Sought::Frame(frame) => self.has_come |= frames >= frame,
            Sought::FrameLonger(limit_ns) => match self.disturbed_until {
                // The longest may still be one of those.
                Some(until) if frames >= until => self.disturbed_until = None,
                Some(_) => {}
                None => self.has_come |= longest_ns > limit_ns,
            },
            Sought::Function(_) | Sought::Result(_) => {}
        }
    }

    /// What the process has said of its end, if it has come to that.
    pub fn ended(&self) -> Option<CaptureEnd> {
        self.ended
    }

    /// Whether what was waited for has come.
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
    fn command_that_is_waited_for_is_one_of_the_programs_own() {
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
        // It has only just begun, and is described.
        armed.hear_of_frames(100, LONG);
        armed.look_at(&record(THREAD, 0, 0), 101);
        armed.hear_of_frames(102, LONG);
        // Of the time before, too.
        armed.hear_of_frames(104, LONG);
        assert!(!armed.has_come());
        armed.hear_of_frames(105, 20_000_000);
        assert!(!armed.has_come());
        armed.look_at(&record(id_of("glClear"), EFFECT, 0), 105);
        armed.hear_of_frames(106, LONG);
        assert!(armed.has_come());
    }
}

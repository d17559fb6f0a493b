//! Problems of a trace: what a graphics engineer should look at. A [`Finder`] looks at all commands once, in the order in
//! which they took effect; equal problems are one [`Problem`] with a count. Keeps at most 1,000 problems, 16 example
//! numbers of each, 65,536 live objects, 16,384 uploads and the times of 1,048,576 frames, whatever the trace has.
//!
//! Which command does what is in `role` items of the descriptions (`analysis/src/role.rs`). Commands of snapshots change
//! state and are no problem. A problem that the program did not ask about, such as an error flag that it never read, is not
//! found: the trace has no answer that tells it. Callbacks of KHR_debug are not in a trace, and so give no problem.

mod errors;
mod framebuffers;
mod groups;
mod losses;
mod messages;
mod objects;
mod problem;
mod results;
mod seen;
mod shaders;
mod slow_frames;
mod stalls;
mod uploads;

use std::collections::BTreeMap;
use std::ops::Range;

use gapii_follow::Thread;
use gapii_follow::follow::Follower;
use gapii_trace::{Command, Info};

use crate::frame_clock::FrameClock;
use groups::Groups;
pub use problem::{Problem, ProblemKind, Problems, Severity};
use seen::{Begun, Seen};

/// Frames of a process that do not count as mid-run, because programs load in them.
const LOADING_FRAMES: u64 = 10;

/// Finds the problems of one trace.
pub struct Finder {
    follower: Follower,
    judge: Judge,
}

/// Judges commands whose effect on the state the caller follows.
struct Judge {
    groups: Groups,
    /// The frames of interest.
    frames: Range<u64>,
    is_filtered: bool,
    processes: BTreeMap<u32, Begun>,
    errors: errors::Errors,
    shaders: shaders::Shaders,
    uploads: uploads::Uploads,
    objects: objects::ObjectTable,
    clock: FrameClock,
    slow_frames: slow_frames::FrameTimes,
}

impl Default for Finder {
    fn default() -> Self {
        Self::within(0..u64::MAX)
    }
}

impl Finder {
    /// Returns a finder of problems in these frames of each process. It has to see all commands nevertheless.
    pub fn within(frames: Range<u64>) -> Self {
        let judge = Judge {
            groups: Groups::default(),
            frames,
            is_filtered: false,
            processes: BTreeMap::new(),
            errors: errors::Errors::default(),
            shaders: shaders::Shaders::default(),
            uploads: uploads::Uploads::default(),
            objects: objects::ObjectTable::default(),
            clock: FrameClock::default(),
            slow_frames: slow_frames::FrameTimes::default(),
        };
        Self { follower: Follower::default(), judge }
    }

    /// Declares that the trace was recorded with a filter. It lacks commands that use and delete objects, so that objects
    /// are no problem in it.
    #[must_use]
    pub fn of_filtered_trace(mut self, is_filtered: bool) -> Self {
        self.judge.is_filtered = is_filtered;
        self
    }

    /// Looks at the next command.
    pub fn look(&mut self, command: &Command<'_>) {
        self.follower.follow(command);
        self.judge.look(command, self.follower.thread(command.thread));
    }

    /// Looks at the next command, if the caller follows the state: `thread` is that of the command's thread, behind the command.
    pub fn judge(&mut self, command: &Command<'_>, thread: Option<&Thread>) {
        self.judge.look(command, thread);
    }

    /// Notes what the trace lacks, and how it ended.
    pub fn note_losses(&mut self, info: &Info) {
        losses::look(info, &mut self.judge.groups);
    }

    /// Returns the problems.
    pub fn finish(self) -> Problems {
        self.judge.finish()
    }
}

impl Judge {
    fn look(&mut self, command: &Command<'_>, thread: Option<&Thread>) {
        let begun = self.processes.entry(command.process).or_insert(Begun {
            first_frame: command.frame,
            last_frame: command.frame,
            is_attached: command.is_setup,
        });
        begun.last_frame = command.frame;
        if command.is_setup {
            return;
        }
        let mid_run = match begun.is_attached {
            true => begun.first_frame,
            false => begun.first_frame.saturating_add(LOADING_FRAMES),
        };
        let seen = Seen {
            command,
            known: command.known(),
            thread,
            is_wanted: self.frames.contains(&command.frame),
            is_in_frames: command.frame > begun.first_frame,
            is_in_mid_run: command.frame >= mid_run,
        };
        let groups = &mut self.groups;
        self.errors.look(&seen, groups);
        self.objects.look(&seen);
        let time_ns = self.clock.look(command);
        if seen.is_wanted {
            if let Some(time_ns) = time_ns {
                self.slow_frames.add(&seen, time_ns);
            }
            messages::look(&seen, groups);
            results::look(&seen, groups);
            framebuffers::look(&seen, groups);
            stalls::look(&seen, groups);
            self.shaders.look(&seen, groups);
            self.uploads.look(&seen, groups);
        }
    }

    fn finish(mut self) -> Problems {
        self.uploads.finish(&mut self.groups);
        self.slow_frames.finish(&mut self.groups);
        if !self.is_filtered {
            self.objects.finish(&self.processes, &mut self.groups);
        }
        self.groups.finish()
    }
}

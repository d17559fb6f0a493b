//! `Examiner`: statistics, problems, drivers and objects of a trace in one pass, in which the state is followed once. Works in
//! one thread, and at most one examiner at a time in a thread. Without it a [`Counter`] and a [`Finder`] follow the state each.

use gapii_follow::follow::Follower;
use gapii_state::changes;
use gapii_state::touched::{Notes, Touched};
use gapii_trace::{Command, Info};

use crate::graphics::{Graphics, Viewer};
use crate::object_lives::{ObjectLife, ObjectLives};
use crate::problems::{Finder, Problems};
use crate::stats::{Counter, Stats};

/// Looks at all commands of a trace, in the order in which they took effect.
pub struct Examiner {
    follower: Follower,
    notes: Notes,
    touched: Vec<Touched>,
    counter: Counter,
    finder: Finder,
    viewer: Viewer,
    objects: ObjectLives,
}

/// What an examiner has found.
pub struct Examined {
    /// Statistics.
    pub stats: Stats,
    /// Problems.
    pub problems: Problems,
    /// Drivers and sizes of surfaces.
    pub graphics: Graphics,
    /// Objects that were not passed on, because too many lived.
    pub objects_left_out: u64,
}

impl Examiner {
    /// Begins, for one trace. `is_filtered` says that it was recorded with a filter.
    pub fn new(is_filtered: bool) -> Self {
        Self {
            follower: Follower::default(),
            notes: Notes::begin(),
            touched: Vec::new(),
            counter: Counter::default(),
            finder: Finder::default().of_filtered_trace(is_filtered),
            viewer: Viewer::default(),
            objects: ObjectLives::default(),
        }
    }

    /// Looks at the next command. Passes on the objects that have lost their names.
    pub fn look(&mut self, command: &Command<'_>, pass_on: impl FnMut(ObjectLife)) {
        changes::take();
        self.follower.follow(command);
        self.counter.tally(command, changes::take());
        self.notes.take(&mut self.touched);
        let thread = self.follower.thread(command.thread);
        self.finder.judge(command, thread);
        self.viewer.look(command);
        self.objects.note(command, thread, &self.touched, pass_on);
    }

    /// Passes on the objects that have names at the end, and returns what was found. `info` is the trace's summary.
    pub fn finish(mut self, info: &Info, pass_on: impl FnMut(ObjectLife)) -> Examined {
        self.finder.note_losses(info);
        Examined {
            stats: self.counter.finish(),
            problems: self.finder.finish(),
            graphics: self.viewer.finish(),
            objects_left_out: self.objects.finish(pass_on),
        }
    }
}

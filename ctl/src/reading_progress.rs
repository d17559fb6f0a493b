//! `ReadingProgress`: how much of a trace has been read, in one line that rewrites itself.
//!
//! Appears only where standard error is a terminal; on a pipe there is nothing.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

pub struct ReadingProgress {
    bar: ProgressBar,
    done: u64,
}

/// Commands from one update to the next.
const STEP: u64 = 4096;

impl ReadingProgress {
    pub fn start(commands: u64) -> ReadingProgress {
        let target = ProgressDrawTarget::stderr_with_hz(4);
        let bar = ProgressBar::with_draw_target(Some(commands), target);
        let line = "{wide_bar} {msg}{human_pos} of {human_len} commands, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(line) {
            bar.set_style(style);
        }
        ReadingProgress { bar, done: 0 }
    }

    /// One command more is done.
    pub fn step(&mut self) {
        self.done += 1;
        if self.done.is_multiple_of(STEP) {
            self.bar.set_position(self.done);
        }
    }

    /// So many commands have been looked through, before anything is done with them.
    pub fn set_surveyed(&mut self, done: u64) {
        self.bar.set_message("looked through ");
        self.bar.set_position(done);
    }

    /// So many commands are done.
    pub fn set(&mut self, done: u64) {
        if done == 0 {
            self.bar.set_message("");
            self.bar.reset_eta();
        }
        self.done = done;
        self.bar.set_position(done);
    }

    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

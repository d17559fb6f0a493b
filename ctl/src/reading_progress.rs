//! `ReadingProgress`: how much of a trace was read, in a line that rewrites itself. A stop request erases it.
//!
//! Shown only if standard error is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::ending::{self, OnStop};

pub struct ReadingProgress {
    bar: ProgressBar,
    done: u64,
    /// Erases the line; `None` if it is not shown.
    on_stop: Option<OnStop>,
}

/// Number of commands between updates.
const STEP: u64 = 4096;

impl ReadingProgress {
    pub fn start(commands: u64) -> ReadingProgress {
        ReadingProgress::of(commands, "commands")
    }

    /// Begins a line for a trace that is read block by block.
    pub fn of_blocks(blocks: u64) -> ReadingProgress {
        ReadingProgress::of(blocks, "blocks")
    }

    /// Begins a line for a file of another tool, which says its length alone.
    pub fn of_bytes(bytes: u64) -> ReadingProgress {
        ReadingProgress::of(bytes, "bytes")
    }

    fn of(count: u64, things: &str) -> ReadingProgress {
        let target = ProgressDrawTarget::stderr_with_hz(4);
        let bar = ProgressBar::with_draw_target(Some(count), target);
        let line =
            format!("{{wide_bar}} {{msg}}{{human_pos}} of {{human_len}} {things}, {{eta}} left");
        if let Ok(style) = ProgressStyle::with_template(&line) {
            bar.set_style(style);
        }
        let on_stop = (!bar.is_hidden()).then(|| {
            let bar = bar.clone();
            OnStop::new(move || bar.finish_and_clear())
        });
        if on_stop.is_some() {
            // Without it a request ends the process as well, and the line stays.
            let _ = ending::hear_stops();
        }
        ReadingProgress { bar, done: 0, on_stop }
    }

    /// Counts one more processed command.
    pub fn step(&mut self) {
        self.done += 1;
        if self.done.is_multiple_of(STEP) {
            self.bar.set_position(self.done);
        }
    }

    /// Counts processed commands.
    pub fn add(&mut self, commands: u64) {
        self.done += commands;
        self.bar.set_position(self.done);
    }

    /// Shows the number of commands that a first pass has read.
    pub fn set_surveyed(&mut self, done: u64) {
        self.bar.set_message("looked through ");
        self.bar.set_position(done);
    }

    /// Shows the number of processed commands or blocks.
    pub fn set(&mut self, done: u64) {
        if done == 0 {
            self.bar.set_message("");
            self.bar.reset_eta();
        }
        self.done = done;
        self.bar.set_position(done);
    }

    pub fn clear(&mut self) {
        self.on_stop = None;
        self.bar.finish_and_clear();
    }
}

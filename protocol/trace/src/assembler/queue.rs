//! Commands that took effect and wait to be handed out, in the order of their effects.
//!
//! Hands out no command before an earlier one, except those that are set aside: they come last.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::held::{Budget, Held};

/// Where a command is in the queue, counted from the beginning of the stream: it stays the same while
/// commands before it are handed out.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct QueuePlace(u64);

/// Commands in the order of their effects.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct EffectQueue {
    commands: VecDeque<Held>,
    /// Commands that have left `commands` at its front since the stream began.
    popped: u64,
    /// Commands that come after all others: those in flight at the end.
    aside: VecDeque<Held>,
}

impl EffectQueue {
    /// Returns the place that the next pushed command gets.
    #[inline]
    pub(super) fn next_place(&self) -> QueuePlace {
        QueuePlace(self.popped + self.commands.len() as u64)
    }

    /// Appends a command.
    #[inline]
    pub(super) fn push(&mut self, command: Held) {
        self.commands.push_back(command);
    }

    /// Returns the command at a place; `None` if it has been handed out.
    #[inline]
    pub(super) fn at(&mut self, place: QueuePlace) -> Option<&mut Held> {
        let index = place.0.checked_sub(self.popped)?;
        self.commands.get_mut(usize::try_from(index).ok()?)
    }

    /// Returns the first command, with its place.
    pub(super) fn front(&mut self) -> Option<(QueuePlace, &mut Held)> {
        let place = QueuePlace(self.popped);
        self.commands.front_mut().map(|front| (place, front))
    }

    /// Takes the first command, or vacant place, out if it is ready.
    #[inline]
    pub(super) fn pop_ready(&mut self) -> Option<Held> {
        self.commands.front().filter(|front| front.ready)?;
        self.popped += 1;
        self.commands.pop_front()
    }

    /// Lets the command at a place be handed out.
    #[inline]
    pub(super) fn set_ready(&mut self, place: QueuePlace) {
        if let Some(command) = self.at(place) {
            command.ready = true;
        }
    }

    /// Moves the command at a place behind all others, as one that is in flight.
    pub(super) fn set_aside(&mut self, place: QueuePlace) {
        let Some(command) = self.at(place) else { return };
        // Its place stays, vacant, so that the places of other commands stay true.
        let vacant = Held { ready: true, vacant: true, ..Held::default() };
        let command = std::mem::replace(command, vacant);
        self.push_aside(command);
    }

    /// Adds a command that is in flight and was never in the queue.
    pub(super) fn push_aside(&mut self, command: Held) {
        self.aside.push_back(Held { in_flight: true, ready: true, ..command });
    }

    /// Notes that the command of a thread that was set aside was not in flight: its thread has gone on.
    pub(super) fn has_gone_on(&mut self, thread: u32) {
        for command in self.aside.iter_mut().filter(|command| command.thread == thread) {
            command.in_flight = false;
        }
    }

    /// Puts the commands that were set aside in the order of their enter stamps.
    pub(super) fn sort_aside(&mut self) {
        self.aside.make_contiguous().sort_by_key(|command| (command.enter_stamp, command.thread));
    }

    /// Takes out the first of the commands that were set aside.
    pub(super) fn pop_aside(&mut self) -> Option<Held> {
        self.aside.pop_front()
    }

    /// Returns how many commands wait, those set aside not counted.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.commands.len()
    }

    /// Returns true if no command waits, those set aside not counted.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// Returns all commands, also those set aside.
    pub(super) fn all(&self) -> impl Iterator<Item = &Held> {
        self.commands.iter().chain(&self.aside)
    }

    /// Returns false if no stream is so long that the queue could be in it.
    pub(super) fn is_possible(&self) -> bool {
        self.popped <= u64::MAX / 2
    }

    /// Copies the bytes of all commands that lie in `block`, which is about to go. Returns how many records
    /// did not fit the budget.
    pub(super) fn leave_block(&mut self, block: &[u8], budget: &mut Budget) -> u64 {
        let commands = self.commands.iter_mut().chain(&mut self.aside);
        commands.map(|command| command.leave_block(block, budget)).sum()
    }
}

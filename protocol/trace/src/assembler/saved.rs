//! An assembler between two blocks as bytes, so that a reader can go on at the second of them without reading what is
//! before it. Bytes that were not saved are refused, or give commands that are not in the trace; they never cause a
//! panic. Only a program of the same build reads what it saved.

use serde::{Deserialize, Serialize};

use super::announced::Announced;
use super::held::Held;
use super::queue::EffectQueue;
use super::{Anomalies, Assembler, LastCommand};
use crate::story::Story;
use crate::tracker::Tracker;

/// Everything of an assembler that depends on the blocks before.
#[derive(Serialize)]
struct Saving<'a> {
    tracker: &'a Tracker,
    story: &'a Story,
    last: &'a [LastCommand],
    announced: &'a Announced,
    queue: &'a EffectQueue,
    anomalies: Anomalies,
}

/// The same, when it is read.
#[derive(Deserialize)]
struct Saved {
    tracker: Tracker,
    story: Story,
    last: Vec<LastCommand>,
    announced: Announced,
    queue: EffectQueue,
    anomalies: Anomalies,
}

impl Assembler {
    /// Returns the assembler as it is between two blocks, for [`Self::resume`]. `None` unless the last
    /// [`Self::advance`] said that it needs a block.
    pub fn save(&mut self) -> Option<Vec<u8>> {
        if self.is_finished || self.at < self.block.len() {
            return None;
        }
        self.leave_block();
        let Self { tracker, story, last, announced, queue, anomalies, .. } = self;
        let anomalies = *anomalies;
        rmp_serde::to_vec(&Saving { tracker, story, last, announced, queue, anomalies }).ok()
    }

    /// Goes on as the assembler that was saved. Call this before the first [`Self::refill`]. Returns false, and does
    /// nothing, if the bytes are not those of an assembler.
    pub fn resume(&mut self, saved: &[u8]) -> bool {
        let Ok(saved) = rmp_serde::from_slice::<Saved>(saved) else { return false };
        let open = saved.last.iter().filter_map(|last| match last {
            LastCommand::Entered(held) => Some(held.as_ref()),
            _ => None,
        });
        let held: Vec<&Held> = saved.queue.all().chain(open).collect();
        let is_of_a_thread = |held: &&Held| held.ready || (held.thread as usize) < saved.last.len();
        if !held.iter().all(is_of_a_thread) || !saved.queue.is_possible() {
            return false;
        }
        self.budget.used_bytes = held.iter().map(|held| held.own_bytes()).sum();
        let Saved { tracker, story, last, announced, queue, anomalies } = saved;
        (self.tracker, self.story, self.last) = (tracker, story, last);
        (self.announced, self.queue, self.anomalies) = (announced, queue, anomalies);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assembler::HoldLimits;

    #[test]
    fn command_that_waits_in_a_thread_that_is_not_there_is_refused() {
        let new = || Assembler::new(HoldLimits::default());
        let mut one = new();
        one.queue.push(Held { thread: 3, ..Held::default() });
        assert!(!new().resume(&one.save().expect("it has no block")));
        one.last.resize_with(4, LastCommand::default);
        assert!(new().resume(&one.save().expect("it has no block")));
    }
}

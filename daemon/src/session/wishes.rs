//! Requests to keep the frames of processes that a launch will have: the latest `LAUNCHES_KEPT`, 64; one more forgets
//! the oldest.

use std::collections::VecDeque;

use gapii_abi::app::Launch;
use gapii_control::StartRequest;
use tokio::sync::mpsc;

/// Largest number of such launches.
const LAUNCHES_KEPT: usize = 64;

/// A request to keep the frames of a launch's processes.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub(super) request: StartRequest,
    /// Receives messages about held threads.
    pub(super) held: mpsc::Sender<gapii_control::Held>,
}

#[derive(Debug, Default)]
pub(super) struct Wishes(VecDeque<(Launch, Wish)>);

impl Wishes {
    pub(super) fn add(&mut self, launch: Launch, wish: Wish) {
        self.0.push_back((launch, wish));
        if self.0.len() > LAUNCHES_KEPT {
            self.0.pop_front();
        }
    }

    pub(super) fn get(&self, launch: Launch) -> Option<Wish> {
        self.0.iter().find(|(known, _)| *known == launch).map(|(_, wish)| wish.clone())
    }
}

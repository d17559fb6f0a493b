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
    /// Returns the launch that is forgotten for it, if one is.
    #[must_use]
    pub(super) fn add(&mut self, launch: Launch, wish: Wish) -> Option<Launch> {
        self.0.push_back((launch, wish));
        let is_full = self.0.len() > LAUNCHES_KEPT;
        is_full.then(|| self.0.pop_front()).flatten().map(|(forgotten, _)| forgotten)
    }

    pub(super) fn get(&self, launch: Launch) -> Option<Wish> {
        self.0.iter().find(|(known, _)| *known == launch).map(|(_, wish)| wish.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_more_forgets_the_oldest_and_says_so() {
        let mut wishes = Wishes::default();
        let mut add = |number: usize| {
            let wish = Wish { request: StartRequest::default(), held: mpsc::channel(1).0 };
            wishes.add([number as u8; 16], wish)
        };
        assert!((0..LAUNCHES_KEPT).all(|number| add(number).is_none()));
        assert_eq!(add(LAUNCHES_KEPT), Some([0; 16]));
        assert!(wishes.get([0; 16]).is_none() && wishes.get([1; 16]).is_some());
    }
}

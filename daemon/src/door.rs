//! Connections whose peer has not sent a hello yet: at most `WAITING_MAX`, 128, for each listening socket. One more
//! closes the oldest of them, which is counted as a timeout, so that a peer that sends its hello at once is never kept
//! waiting. This does not limit connections after their hello; `--max-apps` and `--max-clients` do.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

/// Largest number of connections without a hello.
pub const WAITING_MAX: usize = 128;

/// Admission to one listening socket.
#[derive(Clone, Debug, Default)]
pub struct Door(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    /// Oldest first.
    guests: VecDeque<(u64, Option<AbortHandle>)>,
    last: u64,
}

/// A connection whose peer has not sent a hello.
#[derive(Debug)]
pub struct Guest {
    door: Door,
    number: u64,
}

impl Door {
    /// Lets `serve` serve a connection in a task, which it returns. Returns whether another connection was closed for
    /// it.
    pub fn open(&self, serve: impl FnOnce(Guest) -> AbortHandle) -> bool {
        let (number, oldest) = {
            let mut waiting = self.lock();
            waiting.last += 1;
            let number = waiting.last;
            waiting.guests.push_back((number, None));
            let is_full = waiting.guests.len() > WAITING_MAX;
            (number, if is_full { waiting.guests.pop_front() } else { None })
        };
        let is_crowded = oldest.is_some();
        if let Some((_, Some(task))) = oldest {
            task.abort();
        }
        let task = serve(Guest { door: self.clone(), number });
        let mut waiting = self.lock();
        if let Some((_, known)) = waiting.guests.iter_mut().find(|(known, _)| *known == number) {
            *known = Some(task);
        }
        is_crowded
    }

    /// Returns the number of connections whose peer has not sent a hello.
    pub fn waiting(&self) -> usize {
        self.lock().guests.len()
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guest {
    /// Notes that the peer has sent its hello. Returns false if the connection was closed before: its task ends at
    /// its next await.
    pub fn enter(self) -> bool {
        self.leave()
    }

    fn leave(&self) -> bool {
        let mut waiting = self.door.lock();
        let at = waiting.guests.iter().position(|(number, _)| *number == self.number);
        at.and_then(|at| waiting.guests.remove(at)).is_some()
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Tasks that wait forever, each with its guest.
    fn crowd(door: &Door, count: usize) -> (Vec<Guest>, Vec<tokio::task::JoinHandle<()>>, usize) {
        let (guests, tasks) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
        let mut crowded = 0;
        for _ in 0..count {
            let serve = |guest| {
                let task = tokio::spawn(std::future::pending());
                let handle = task.abort_handle();
                guests.lock().unwrap().push(guest);
                tasks.lock().unwrap().push(task);
                handle
            };
            crowded += usize::from(door.open(serve));
        }
        (guests.into_inner().unwrap(), tasks.into_inner().unwrap(), crowded)
    }

    #[tokio::test]
    async fn oldest_guest_is_closed_for_the_next() {
        let door = Door::default();
        let (mut guests, mut tasks, crowded) = crowd(&door, WAITING_MAX + 2);
        assert_eq!(crowded, 2);
        for task in tasks.drain(..2) {
            assert!(task.await.unwrap_err().is_cancelled());
        }
        assert!(!guests.remove(0).enter(), "it was sent away");
        assert!(guests.pop().unwrap().enter(), "the last one came in");
        tasks.iter().for_each(|task| assert!(!task.is_finished()));
    }

    #[tokio::test]
    async fn guest_that_has_entered_or_left_takes_no_room() {
        let door = Door::default();
        for _ in 0..WAITING_MAX {
            let (mut guests, _tasks, crowded) = crowd(&door, 2);
            assert_eq!(crowded, 0);
            assert!(guests.pop().unwrap().enter());
        }
        assert_eq!(door.lock().guests.len(), 0);
    }
}

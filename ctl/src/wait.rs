//! Waits for descriptors, with a deadline. A signal that interrupts the wait does not end it; a deadline too far off
//! counts as none.

use std::io;
use std::time::Instant;

use rustix::event::{PollFd, Timespec};
use rustix::io::Errno;

/// Waits until one of `watched` is ready (true) or `deadline` has passed (false).
pub fn until_ready(watched: &mut [PollFd<'_>], deadline: Option<Instant>) -> io::Result<bool> {
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        // A deadline too far off for a timespec counts as none.
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        match rustix::event::poll(watched, timeout.as_ref()) {
            Err(Errno::INTR) => {}
            ready => return Ok(ready? > 0),
        }
    }
}

//! `Host`: what a recording thread asks of its process while its ring is full.

use std::time::Duration;

use gapii_ringbuf::Overflow;

/// The process of a recording thread. Its functions are called with a full ring only. They neither allocate nor wait.
pub trait Host: Sync {
    /// What a thread does with a record that finds no room.
    fn overflow(&self) -> Overflow;

    /// How often a waiting thread calls [`Host::outlook`].
    fn look_around(&self) -> Duration;

    /// What a waiting thread does; `stalled` is how long the daemon has released nothing.
    fn outlook(&self, stalled: Duration) -> Outlook;

    /// Leaves the capture: the ring stays full, or no daemon is left. The ring has no room for a record that says so;
    /// the daemon reads it in the segment's header.
    fn leave_capture(&self);
}

/// What a thread does that waits for room in its ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outlook {
    /// It waits on.
    Waits,
    /// It waits on, and another daemon has just begun to release room.
    GoesOn,
    /// It drops records until there is room.
    Drops,
    /// It leaves the capture.
    Over,
    /// It leaves the capture, which the daemon has ended: the record is none of the capture's.
    Stopped,
}

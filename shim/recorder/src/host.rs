//! `Host`: what a recording thread asks of its process while its ring is full, where a command ends a frame by the
//! capture's rule, and before and after the driver in a capture that measures times on the GPU.

use std::time::Duration;

use gapii_ringbuf::Overflow;

/// The process of a recording thread. Its functions are called with a full ring only, and neither allocate nor wait, except
/// [`Host::frame_ended`], [`Host::before_driver`] and [`Host::after_driver`].
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

    /// Counts a frame that a command has just ended by the capture's rule. Returns when, in nanoseconds of `CLOCK_MONOTONIC`;
    /// `None` if the frame does not belong to the capture.
    fn frame_ended(&self) -> Option<u64> {
        None
    }

    /// Called before the driver in a capture that measures times on the GPU. `tell` writes the payload of a
    /// [`GPU_TIMES`](gapii_abi::atom::GPU_TIMES) record.
    fn before_driver(&self, _command: &Timed, _tell: &mut dyn FnMut(&[u8])) {}

    /// Does the same after the driver.
    fn after_driver(&self, _command: &Timed, _tell: &mut dyn FnMut(&[u8])) {}
}

/// Number of words of a command's arguments that the host gets.
pub const ARGUMENT_WORDS: usize = 10;

/// A command that is being timed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Timed {
    /// Its function id.
    pub id: u16,
    /// The first words of its arguments as its enter record has them; words that the record does not have are 0.
    pub arguments: [u64; ARGUMENT_WORDS],
    /// When the driver was called, in nanoseconds of `CLOCK_MONOTONIC`; 0 before.
    pub called_ns: u64,
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

//! The clock by which the shim decides how long it waits for a daemon, and the system calls in which it could wait for
//! one. In the unit tests a simulated daemon can answer them, under a clock that moves only in these calls
//! (`shim/src/simulation/`).

use std::os::fd::RawFd;
use std::time::Duration;

/// Returns the monotonic time in nanoseconds.
pub fn now_ns() -> u64 {
    #[cfg(test)]
    if let Some(world) = crate::simulation::running() {
        return world.now_ns();
    }
    gapii_recorder::clock_ns()
}

/// Waits until one of `events` is there, for `limit` at most; 0 does not wait. Returns the events that are there: none if
/// time is up, or if a signal has come.
pub fn poll(descriptor: RawFd, events: libc::c_short, limit: Duration) -> libc::c_short {
    #[cfg(test)]
    if let Some(world) = crate::simulation::running() {
        return world.poll(descriptor, events, limit);
    }
    poll_really(descriptor, events, limit)
}

/// As [`poll`], but never answered by a simulation.
pub fn poll_really(descriptor: RawFd, events: libc::c_short, limit: Duration) -> libc::c_short {
    let mut ready = libc::pollfd { fd: descriptor, events, revents: 0 };
    // SAFETY: one entry.
    let found = unsafe { libc::poll(&raw mut ready, 1, limit.as_millis() as libc::c_int) };
    if found == 1 { ready.revents } else { 0 }
}

/// Whether the file of a socket is there and may be seen.
pub fn is_there(address: &libc::sockaddr_un) -> bool {
    #[cfg(test)]
    if crate::simulation::running().is_some() {
        return true;
    }
    // SAFETY: a NUL-terminated path.
    unsafe { libc::access(address.sun_path.as_ptr(), libc::F_OK) == 0 }
}

/// Connects a socket. Returns false if nobody listens, or if the queue of connections is full and the socket does not
/// block.
pub fn connect(socket: RawFd, address: &libc::sockaddr_un) -> bool {
    #[cfg(test)]
    if let Some(world) = crate::simulation::running() {
        return world.connect(socket);
    }
    connect_really(socket, address)
}

/// As [`connect`], but never answered by a simulation.
pub fn connect_really(socket: RawFd, address: &libc::sockaddr_un) -> bool {
    let len = size_of_val(address) as libc::socklen_t;
    // SAFETY: an address of that length.
    unsafe { libc::connect(socket, core::ptr::from_ref(address).cast(), len) == 0 }
}

//! Sentences of the shim on the program's standard error. Only a program that was told to wait gets any.
//!
//! Never blocks, and raises no SIGPIPE in the program.

use core::ptr;

/// Writes `text` to descriptor 2, if that takes it at once. Changes `errno`.
pub fn print(text: &str) {
    let mut ready = libc::pollfd { fd: libc::STDERR_FILENO, events: libc::POLLOUT, revents: 0 };
    // SAFETY: one entry; does not wait.
    let polled = unsafe { libc::poll(&raw mut ready, 1, 0) };
    if polled == 1 && ready.revents == libc::POLLOUT {
        without_sigpipe(|| {
            // SAFETY: the bytes are live. At most PIPE_BUF of them fit into a pipe that is ready.
            unsafe {
                libc::write(
                    libc::STDERR_FILENO,
                    text.as_ptr().cast(),
                    text.len().min(libc::PIPE_BUF),
                )
            };
        });
    }
}

/// Runs `act` with SIGPIPE blocked in this thread, and takes back one that `act` has raised.
fn without_sigpipe(act: impl FnOnce()) {
    let mut pending = empty_set();
    // SAFETY: a live set.
    unsafe { libc::sigpending(&raw mut pending) };
    let mut pipe = empty_set();
    // SAFETY: a live set and a valid number.
    unsafe { libc::sigaddset(&raw mut pipe, libc::SIGPIPE) };
    let mut before = empty_set();
    // SAFETY: live sets.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const pipe, &raw mut before) };
    act();
    // SAFETY: a live set and a valid number.
    let was_pending = unsafe { libc::sigismember(&raw const pending, libc::SIGPIPE) } == 1;
    if !was_pending {
        let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: live arguments; takes a pending signal or fails.
        unsafe { libc::sigtimedwait(&raw const pipe, ptr::null_mut(), &raw const now) };
    }
    // SAFETY: live sets.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut()) };
}

fn empty_set() -> libc::sigset_t {
    // SAFETY: sigset_t is a plain array of integers for which all zeros is a valid value.
    unsafe { core::mem::zeroed() }
}

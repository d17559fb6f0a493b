//! Threads of the shim's own run no signal handlers of the program.

/// While this lives, all signals are blocked on this thread. Threads that it starts meanwhile inherit that for good.
pub struct Blocked {
    before: libc::sigset_t,
}

impl Blocked {
    /// Blocks them.
    pub fn all() -> Option<Self> {
        // SAFETY: a set is plain numbers.
        let mut all: libc::sigset_t = unsafe { core::mem::zeroed() };
        let mut before = all;
        // SAFETY: a set of this thread's own.
        unsafe { libc::sigfillset(&raw mut all) };
        // SAFETY: as above.
        let refused =
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) };
        (refused == 0).then_some(Self { before })
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        let before = &raw const self.before;
        // SAFETY: the set that the thread had before.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, core::ptr::null_mut()) };
    }
}

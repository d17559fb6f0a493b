//! Keeps `errno` as the program left it.

/// Saves `errno` now and puts it back when dropped.
pub struct ErrnoGuard(i32);

impl ErrnoGuard {
    /// Saves this thread's `errno`.
    pub fn save() -> Self {
        // SAFETY: `__errno_location` returns this thread's errno, valid for the thread's life.
        let location = unsafe { libc::__errno_location() };
        // SAFETY: see above.
        Self(unsafe { *location })
    }
}

/// Returns this thread's `errno`.
pub fn errno() -> i32 {
    ErrnoGuard::save().0
}

impl Drop for ErrnoGuard {
    fn drop(&mut self) {
        // SAFETY: as in `save`.
        let location = unsafe { libc::__errno_location() };
        // SAFETY: as in `save`.
        unsafe { *location = self.0 };
    }
}

//! Sleeps on a word of shared memory until another process changes it.
//!
//! The futexes are process-shared: the word may be mapped at different addresses. Waiting reports nothing: an
//! interrupted, a late and an unnecessary wait look the same, and the caller checks its condition again.

#[cfg(loom)]
pub use modelled::{wait, wake_all};
#[cfg(not(loom))]
pub use real::{wait, wake_all};

#[cfg(not(loom))]
mod real {
    use std::time::Duration;

    use crate::sync::AtomicU32;

    /// Sleeps while `word` holds `expected`, for `timeout` at most. Changes `errno`.
    pub fn wait(word: &AtomicU32, expected: u32, timeout: Duration) {
        let timeout = libc::timespec {
            tv_sec: timeout.as_secs().min(i32::MAX as u64) as libc::time_t,
            tv_nsec: timeout.subsec_nanos() as libc::c_long,
        };
        // SAFETY: the kernel only reads the word and the timespec, and both references outlive the call.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word.as_ptr(),
                libc::FUTEX_WAIT,
                expected,
                &raw const timeout,
                std::ptr::null::<u32>(),
                0,
            )
        };
    }

    /// Wakes all threads that sleep on `word`. Changes `errno`.
    pub fn wake_all(word: &AtomicU32) {
        // SAFETY: FUTEX_WAKE uses the address as a key and touches no memory.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
    }
}

/// The kernel's guarantee in loom's terms: comparing and falling asleep are one step, under a lock that a
/// wake-up takes too. Without timeouts, so that a lost wake-up is a deadlock, which loom reports.
#[cfg(loom)]
mod modelled {
    use std::time::Duration;

    use loom::sync::{Condvar, Mutex};

    use crate::sync::{AtomicU32, Ordering};

    loom::lazy_static! {
        static ref BUCKET: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());
    }

    /// Sleeps while `word` holds `expected`; returns at the next wake of any word.
    pub fn wait(word: &AtomicU32, expected: u32, _timeout: Duration) {
        let guard = BUCKET.0.lock().expect("a model does not panic under the lock");
        if word.load(Ordering::SeqCst) == expected {
            drop(BUCKET.1.wait(guard));
        }
    }

    /// Wakes all sleeping threads.
    pub fn wake_all(_word: &AtomicU32) {
        let _guard = BUCKET.0.lock().expect("a model does not panic under the lock");
        BUCKET.1.notify_all();
    }
}

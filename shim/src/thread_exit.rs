//! Runs a function in a thread when the thread ends, if the thread has asked for it. If the C library has no key left,
//! the function never runs.
//!
//! Uses a key of the C library with a destructor, because the shim has no Rust thread-locals.

use std::sync::OnceLock;

use libc::{c_void, pthread_key_t};

/// A function that runs at the end of the threads that ask for it.
pub struct ThreadExit {
    run: unsafe extern "C" fn(*mut c_void),
    key: OnceLock<Option<pthread_key_t>>,
}

impl ThreadExit {
    /// `run` is called in the thread, with the value that the thread passed to [`ThreadExit::notice`]. It must not
    /// unwind.
    pub const fn new(run: unsafe extern "C" fn(*mut c_void)) -> ThreadExit {
        ThreadExit { run, key: OnceLock::new() }
    }

    /// Has `run` called with `value` when this thread ends. A later value replaces an earlier one.
    pub fn notice(&self, value: *mut c_void) {
        let key = self.key.get_or_init(|| {
            let mut key = 0;
            // SAFETY: `key` is writable, the destructor never unwinds.
            let failed = unsafe { libc::pthread_key_create(&raw mut key, Some(self.run)) } != 0;
            (!failed).then_some(key)
        });
        if let Some(key) = key {
            // SAFETY: the key was created and is never deleted.
            unsafe { libc::pthread_setspecific(*key, value) };
        }
    }
}

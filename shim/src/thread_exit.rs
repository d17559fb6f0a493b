//! What is to run in a thread when it ends, once that thread has asked for it.
//!
//! A key of the C library's with a destructor: the shim has no thread-locals of Rust's.

use std::sync::OnceLock;

use libc::{c_void, pthread_key_t};

/// Something that threads give back when they end.
pub struct ThreadExit {
    run: unsafe extern "C" fn(*mut c_void),
    key: OnceLock<Option<pthread_key_t>>,
}

impl ThreadExit {
    /// `run` gets what the thread gave [`ThreadExit::notice`], in that thread; it never unwinds.
    pub const fn new(run: unsafe extern "C" fn(*mut c_void)) -> ThreadExit {
        ThreadExit { run, key: OnceLock::new() }
    }

    /// Has `run` called with `value` when this thread ends; the last value given counts.
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

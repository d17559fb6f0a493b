//! `Flag`: the state of events and fences, which can be raised and waited for.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The timeout that means "without limit".
const FOR_EVER: u64 = u64::MAX;

#[derive(Default)]
pub struct Flag {
    raised: Mutex<bool>,
    changed: Condvar,
}

impl Flag {
    pub fn set(&self, raised: bool) {
        *self.lock() = raised;
        self.changed.notify_all();
    }

    pub fn is_raised(&self) -> bool {
        *self.lock()
    }

    /// Whether the flag is raised within `timeout_ns`.
    pub fn wait(&self, timeout_ns: u64) -> bool {
        let is_low = |raised: &mut bool| !*raised;
        if timeout_ns == FOR_EVER {
            drop(self.changed.wait_while(self.lock(), is_low));
            return true;
        }
        let limit = Duration::from_nanos(timeout_ns);
        let waited = self.changed.wait_timeout_while(self.lock(), limit, is_low);
        waited.is_ok_and(|(raised, _)| *raised)
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

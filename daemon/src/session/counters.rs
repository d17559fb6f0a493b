//! Counters of refused input: hellos, versions and timeouts of applications; messages, peers and timeouts of clients.
//! Captures count their refused rings themselves.

use std::sync::atomic::{AtomicU64, Ordering};

use gapii_control::Rejected;

/// Counters of refused input.
#[derive(Debug, Default)]
pub struct Counters {
    pub app_hellos: AtomicU64,
    pub app_versions: AtomicU64,
    pub app_timeouts: AtomicU64,
    pub ctl_messages: AtomicU64,
    pub ctl_peers: AtomicU64,
    pub ctl_timeouts: AtomicU64,
}

impl Counters {
    /// Adds one to a counter.
    pub fn count(&self, counter: impl Fn(&Self) -> &AtomicU64) {
        // Relaxed: a number for people.
        counter(self).fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> Rejected {
        // Relaxed: numbers for people.
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Rejected {
            app_hellos: read(&self.app_hellos),
            app_versions: read(&self.app_versions),
            app_timeouts: read(&self.app_timeouts),
            ctl_messages: read(&self.ctl_messages),
            ctl_peers: read(&self.ctl_peers),
            ctl_timeouts: read(&self.ctl_timeouts),
            ..Rejected::default()
        }
    }
}

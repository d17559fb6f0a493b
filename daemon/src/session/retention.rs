//! Limits for the kept frames of ended programs: `--keep-ended` and `--keep-ended-for`, in nanoseconds.
//! `daemon/src/session/keeping.rs` applies them.

use crate::config::Config;

/// Limits for the kept frames of ended programs.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// Largest number of ended programs whose frames stay.
    pub count: usize,
    /// For how long they stay, in nanoseconds.
    pub(super) limit_ns: u64,
}

impl Retention {
    pub(super) fn of(config: &Config) -> Self {
        let limit_ns = u64::from(config.keep_ended_for) * 1_000_000_000;
        Self { count: config.keep_ended as usize, limit_ns }
    }
}

//! What stays of programs that have ended.

use crate::config::Config;

/// What stays of programs that have ended.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// So many of them, at most.
    pub count: usize,
    /// For so long.
    pub(super) limit_ns: u64,
}

impl Retention {
    pub(super) fn of(config: &Config) -> Self {
        let limit_ns = u64::from(config.keep_ended_for) * 1_000_000_000;
        Self { count: config.keep_ended as usize, limit_ns }
    }
}

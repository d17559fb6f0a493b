//! How many descriptors the daemon may have open: several for each application.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More than all bounds together come to, and few enough to count in a loop.
const WANTED: u64 = 1 << 16;

/// Raises the limit as far as the system lets it be, which for most is far above what programs begin
/// with.
pub fn allow_many() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = WANTED.min(maximum.unwrap_or(WANTED));
    if current.is_some_and(|current| current < wanted) {
        let limit = Rlimit { current: Some(wanted), maximum };
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::warn!("the limit of open descriptors stays at {current:?}: {error}");
        }
    }
}

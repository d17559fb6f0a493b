//! The limit of the log: each place in the code may log `LINES_MAX`, 100 lines in 10 s, whatever applications and clients
//! do. Further ones are counted; the log says when lines begin to be left out, and how many there were. Lines of the levels
//! `debug` and `trace` have no limit: only who looks for a fault asks for them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use tracing::callsite::Identifier;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

use crate::quota::Quota;

/// Largest number of lines from one place in a period of 10 s.
const LINES_MAX: u32 = 100;

static WRITTEN: AtomicU64 = AtomicU64::new(0);
static LEFT_OUT: AtomicU64 = AtomicU64::new(0);

/// Quotas of the places that have logged. Their number is that of the places in the code.
#[derive(Debug, Default)]
pub struct LogLimit(Mutex<HashMap<Identifier, Quota>>);

/// Returns the number of lines that were logged since the daemon's start, and of those that were left out.
pub fn counts() -> (u64, u64) {
    // Relaxed: numbers for people.
    (WRITTEN.load(Ordering::Relaxed), LEFT_OUT.load(Ordering::Relaxed))
}

impl LogLimit {
    fn permits(&self, event: &Event<'_>) -> bool {
        if *event.metadata().level() > Level::INFO {
            return true;
        }
        let mut quotas = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let quota = quotas.entry(event.metadata().callsite()).or_default();
        let taken = quota.take(Instant::now(), LINES_MAX);
        let is_first = taken.is_none() && quota.has_just_ended();
        // The lines below come back to this function.
        drop(quotas);
        match taken {
            Some(0) => {}
            Some(unsaid) => {
                tracing::warn!(unsaid, "{unsaid} lines like the next one were not logged");
            }
            None if is_first => {
                tracing::warn!("further lines like the one before are only counted for up to 10 s");
            }
            None => {}
        }
        taken.is_some()
    }
}

impl<S: Subscriber> Layer<S> for LogLimit {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let is_permitted = self.permits(event);
        // Relaxed: a number for people.
        (if is_permitted { &WRITTEN } else { &LEFT_OUT }).fetch_add(1, Ordering::Relaxed);
        is_permitted
    }
}

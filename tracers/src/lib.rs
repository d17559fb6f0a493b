//! Tracers: callbacks of tools inside a process, run as prologues and epilogues around calls of an API.
//!
//! A tracer is *disabled*, *enabled*, or *draining*: disabled while calls that began earlier still run its
//! callbacks. When a call begins, it takes a roster, the list of the enabled tracers, and uses it until it ends.
//! Prologues and epilogues therefore run in pairs, whatever is enabled or disabled meanwhile. [`current`] argues how a
//! call holds its roster without a lock, and [`Tracers::destroy`] documents which calls it waits for.
//!
//! The crate knows no API: functions are numbers, and callbacks are untyped pointers that the caller casts back.
//!
//! ```
//! use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
//!
//! use gapii_tracers::{Callback, Moment, Tracers};
//!
//! static TRACERS: Tracers = Tracers::new(8, |_traced| {});
//! static CALLS: AtomicUsize = AtomicUsize::new(0);
//!
//! unsafe extern "C" fn count() {
//!     CALLS.fetch_add(1, Relaxed);
//! }
//!
//! let tracer = TRACERS.create(std::ptr::null_mut());
//! TRACERS.register(tracer, 3, Moment::Prologue, Some(count as Callback))?;
//! TRACERS.set_enabled(tracer, true)?;
//! let mut call = TRACERS.begin(3).expect("a tracer is enabled");
//! // SAFETY: `count` takes no arguments.
//! call.prologues(|callback, _user_data, _instance| unsafe { callback() });
//! call.epilogues(|_, _, _| {});
//! assert_eq!(CALLS.load(Relaxed), 1);
//! # Ok::<(), gapii_tracers::Refusal>(())
//! ```

pub mod current;
pub mod seat;
pub mod sync;

#[cfg(not(loom))]
mod call;
#[cfg(not(loom))]
mod membarrier;
#[cfg(not(loom))]
mod patience;
#[cfg(not(loom))]
mod registry;
#[cfg(not(loom))]
mod roster;
#[cfg(not(loom))]
mod thread;
#[cfg(not(loom))]
mod tls;
#[cfg(not(loom))]
mod tracer;
#[cfg(not(loom))]
mod tracers;

#[cfg(not(loom))]
pub use call::Call;
#[cfg(not(loom))]
pub use roster::{Callback, Moment};
#[cfg(not(loom))]
pub use tracer::{Refusal, TracerId};
#[cfg(not(loom))]
pub use tracers::{Traced, Tracers};

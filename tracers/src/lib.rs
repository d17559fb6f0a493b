//! Tracers: tools inside a process that run a prologue and an epilogue around calls of an API.
//!
//! A tracer is *disabled*, *enabled*, or *draining*: disabled while calls that began before go on with
//! its callbacks. A call takes a [roster](roster::Roster) of the enabled tracers when it begins,
//! and uses it to its end; so prologues and epilogues run in pairs, whatever is enabled or disabled
//! meanwhile. [`current`] argues how a call holds its roster without a lock, and [`Tracers::destroy`]
//! says for whom it waits.
//!
//! Knows no API: functions are numbers, and callbacks are pointers that the caller gives their type
//! back.

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
mod tracers;

#[cfg(not(loom))]
pub use call::Call;
#[cfg(not(loom))]
pub use roster::{Callback, Moment};
#[cfg(not(loom))]
pub use tracers::{Refusal, Traced, TracerId, Tracers};

//! Values of [`AppInfo::mode`](super::AppInfo::mode): what an application is doing.

/// The application runs and is not captured.
pub const IDLE: &str = "idle";
/// The application is idle, and the shim tracks none of its state.
pub const ASLEEP: &str = "asleep";
/// The application is in a capture.
pub const CAPTURING: &str = "capturing";
/// The application stands still until a capture begins (`GAPII_WAIT`).
pub const WAITING: &str = "waiting";

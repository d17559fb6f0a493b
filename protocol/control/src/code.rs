//! Values of [`ControlError::code`](super::ControlError::code): why a request could not be done.

/// The client and the daemon have no version in common.
pub const VERSION: &str = "version";
/// The message could not be understood.
pub const BAD_REQUEST: &str = "bad-request";
/// A request came before the hello, or a second hello came.
pub const OUT_OF_TURN: &str = "out-of-turn";
/// No application matches the target.
pub const NO_APP: &str = "no-app";
/// Several applications match the target, and the request needs exactly one.
pub const AMBIGUOUS: &str = "ambiguous";
/// The application is already in another capture.
pub const BUSY: &str = "busy";
/// No capture matches the target.
pub const NO_CAPTURE: &str = "no-capture";
/// The request needs an output, and no descriptor was attached.
pub const NO_OUTPUT: &str = "no-output";
/// The client belongs to another user.
pub const NOT_ALLOWED: &str = "not-allowed";
/// The daemon has reached its limit of clients, captures or concurrent saves.
pub const TOO_MANY: &str = "too-many";
/// The daemon is shutting down.
pub const SHUTDOWN: &str = "shutdown";
/// Something failed inside the daemon.
pub const INTERNAL: &str = "internal";

//! `gapii_result`: result codes of the functions of `libgapii.so`.

/// Result code of a function: `GAPII_OK`, or an error. `gapii_result_text` returns a message for each.
pub type gapii_result = i32;

/// Success.
pub const GAPII_OK: gapii_result = 0;
/// The tracer or the call is null.
pub const GAPII_NULL_HANDLE: gapii_result = 1;
/// A pointer that must not be null is null.
pub const GAPII_NULL_POINTER: gapii_result = 2;
/// The tracer does not exist: it was destroyed or never created.
pub const GAPII_NO_SUCH_TRACER: gapii_result = 3;
/// This library knows no command of this name.
pub const GAPII_NO_SUCH_COMMAND: gapii_result = 4;
/// The tracer is enabled: disable it first.
pub const GAPII_ENABLED: gapii_result = 5;
/// Calls that began while the tracer was enabled have not ended: try again later.
pub const GAPII_DRAINING: gapii_result = 6;
/// The driver has been called already: only a prologue can skip a call.
pub const GAPII_TOO_LATE: gapii_result = 7;
/// The program runs with other rights than its caller has (`AT_SECURE`): tracers stay disabled.
pub const GAPII_SECURE_EXECUTION: gapii_result = 8;

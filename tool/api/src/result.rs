//! `gapii_result`: how it went.

/// How it went: `GAPII_OK`, or why not. `gapii_result_text` has a sentence for each.
pub type gapii_result = i32;

/// It is done.
pub const GAPII_OK: gapii_result = 0;
/// The tracer or the call is null.
pub const GAPII_NULL_HANDLE: gapii_result = 1;
/// A pointer that must lead somewhere is null.
pub const GAPII_NULL_POINTER: gapii_result = 2;
/// There is no such tracer, or none any more.
pub const GAPII_NO_SUCH_TRACER: gapii_result = 3;
/// No command of EGL or OpenGL ES that this library knows has the name.
pub const GAPII_NO_SUCH_COMMAND: gapii_result = 4;
/// The tracer is enabled: it has to be disabled first.
pub const GAPII_ENABLED: gapii_result = 5;
/// Calls that began while the tracer was enabled have not ended: try again when they have.
pub const GAPII_DRAINING: gapii_result = 6;
/// The call has been made: only a prologue may have it skipped.
pub const GAPII_TOO_LATE: gapii_result = 7;

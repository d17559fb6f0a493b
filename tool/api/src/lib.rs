//! Types that `libgapii.so` and tools share: result codes, callbacks, and the parameters of commands.
//!
//! The crate has no functions: the shim defines them, `gapii.h` declares them for C, and the crate `gapii` wraps
//! them for Rust.

#![forbid(unsafe_code)]
#![allow(non_camel_case_types)] // Named as in C.

mod call;
mod generated;
pub mod params;
mod result;

pub use call::{gapii_call, gapii_callback, gapii_tracer, gapii_tracer_object};
pub use result::{
    GAPII_DRAINING, GAPII_ENABLED, GAPII_NO_SUCH_COMMAND, GAPII_NO_SUCH_TRACER, GAPII_NULL_HANDLE,
    GAPII_NULL_POINTER, GAPII_OK, GAPII_SECURE_EXECUTION, GAPII_TOO_LATE, gapii_result,
};

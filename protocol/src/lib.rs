//! Trace files and control messages: what the daemon, the control tool and the analysis tools share.
//!
//! Decides no I/O policy and holds no unsafe code. The layouts that the shim uses too are in `gapii_abi`.

#![forbid(unsafe_code)]

pub mod control;
pub mod filter;
pub mod status;
pub mod trace;
pub mod trigger;

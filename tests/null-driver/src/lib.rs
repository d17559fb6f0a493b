//! A Level Zero driver without a device, so that programs run to their end on any machine.
//!
//! Memory is real. Command lists copy, fill, wait and signal, on a thread of their queue. The kernel
//! `mix` changes memory; a launch of another kernel only signals. Functions that are not implemented return
//! `ZE_RESULT_ERROR_UNSUPPORTED_FEATURE`.
//!
//! `ZE_ENABLE_ALT_DRIVERS=PATH` loads it. It trusts all handles that it gets.

mod flag;
mod flaw;
mod functions;
mod generated;
mod implemented;
mod kernel;
mod memory;
mod object;
mod queue;
mod table;
mod timer;

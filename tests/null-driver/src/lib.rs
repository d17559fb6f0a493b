//! A Level Zero driver without a device, so that programs run to their end on any machine.
//!
//! Memory is real. Command lists copy, fill, wait and signal, on a thread of their queue's. Modules and
//! kernels are there, and a launch does nothing but signal. What is not implemented answers
//! `ZE_RESULT_ERROR_UNSUPPORTED_FEATURE`.
//!
//! Loads with `ZE_ENABLE_ALT_DRIVERS=PATH`. Believes the handles that it is given.

mod flag;
mod flaw;
mod functions;
mod generated;
mod implemented;
mod memory;
mod object;
mod queue;
mod table;

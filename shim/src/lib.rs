//! libgapii: stands in for EGL, GLX, OpenGL, OpenGL ES and Level Zero inside the application's process.
//!
//! The shim is a guest there. On the call path it allocates nothing, takes no lock and prints nothing. It makes no
//! system call there, except to wait for room in a full ring and to read memory that may be unreadable. If anything
//! inside the shim fails, the driver is still called.
//!
//! Life of a command: [`entry`] (the symbol that the program calls) → [`table`] (the code that the entry point leads
//! to at present) → generated handler → [`begin`], then [`gapii_recorder`] (writes the record) → the driver. While a [tracer](tracer_api) has
//! callbacks for the command, a [`traced`] call comes right after the table.

// The unit tests record no commands, so they are built without the handlers, which take most of the build.
#![cfg_attr(test, allow(dead_code, unused_imports, unused_macros))]

mod arena;
mod attach;
mod begin;
mod capture;
mod claim;
mod code;
mod command;
mod connection;
mod contexts;
mod convention;
mod copies;
mod descriptor;
mod dial;
mod dlopen;
mod dlsym;
mod driver;
mod driver_calls;
mod driver_functions;
mod element_buffer;
mod entry;
mod environment;
mod fault;
mod first_command;
mod frame;
mod frame_count;
mod frame_ends;
mod frame_rule;
mod frames;
mod full_ring;
mod generated;
mod gl_identity;
mod gpu_timing;
mod handler;
#[cfg(not(test))]
mod handlers;
mod hooks;
mod imports;
mod kept;
mod level_zero;
mod limits;
mod lists;
mod loaders_dlsym;
mod module;
mod open_groups;
mod orders;
mod orphan;
mod process;
mod program_memory;
mod replayed;
mod safe_point;
mod scope;
mod seats;
mod set_up;
mod shape;
mod signature;
#[cfg(test)]
mod simulation;
mod snapshot;
mod standard_error;
mod stubs;
mod system;
mod table;
mod thread_exit;
mod tls;
mod traced;
mod tracer_api;
mod tracking;
mod trampoline;
mod wait;
mod watch;

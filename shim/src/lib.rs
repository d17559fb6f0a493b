//! libgapii: stands in for EGL, OpenGL ES and Level Zero inside the application's process.
//!
//! The shim is a guest there. On the call path it allocates nothing, takes no lock and prints nothing. It makes no
//! system call there, except to wait for room in a full ring and to read memory that may be unreadable. If anything
//! inside the shim fails, the driver is still called.
//!
//! Life of a command: [`entry`] (the symbol that the program calls) → [`table`] (the code that the entry point leads
//! to at present) → generated handler → [`call`] (writes the record) → the driver. While a [tracer](tracer_api) has
//! callbacks for the command, a [`traced`] call comes right after the table.

mod arena;
mod blobs;
mod call;
mod capture;
mod command;
mod connection;
mod convention;
mod descriptor;
mod dlopen;
mod driver;
mod driver_calls;
mod driver_functions;
mod entry;
mod errno;
mod frame;
mod frames;
mod generated;
mod guarded;
mod handler;
mod hooks;
mod known;
mod level_zero;
mod limits;
mod mapping;
mod module;
mod observe;
mod orphan;
mod pages;
mod process;
mod program_memory;
mod ranges;
mod scalar;
mod scratch;
mod seats;
mod shape;
mod signature;
mod snapshot;
mod stored;
mod table;
mod thread;
mod thread_exit;
mod timing;
mod tls;
mod traced;
mod tracer_api;
mod tracking;
mod trampoline;

//! libgapii: stands in for EGL, OpenGL ES and Level Zero inside somebody else's process.
//!
//! A guest. On the call path it allocates nothing, takes no lock, makes no system call (but for a
//! full ring and for memory that may not be readable) and prints nothing; when anything of its own fails, the driver is still called.
//!
//! Life of a command: [`entry`] (what the program calls) → [`table`] (where that leads by now) →
//! generated handler → [`call`] (the record) → the driver. While a [tracer](tracer_api) has callbacks for it,
//! a [`traced`] call comes between the table and all else.

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
mod signature;
mod snapshot;
mod stored;
mod table;
mod thread;
mod thread_exit;
mod timing;
mod tls;
#[expect(clippy::disallowed_methods, reason = "copies words of the trampoline's own frame")]
mod traced;
mod tracer_api;
mod tracking;
mod trampoline;

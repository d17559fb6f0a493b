//! Level Zero's tracing layer, `libze_tracing_layer.so.1`: replaces the one that comes with the loader.
//! docs/level-zero.md lists what it guarantees and which tests show it.
//!
//! The loader offers [tables](table) and gets an [entry](entry) for each function: one indirect jump, to the callee
//! while no tracer is enabled, and otherwise to a [traced call](call). Tools use the [tracers' own
//! functions](tracer_api).
//!
//! Under `gapii-ctl run` the layer calls the driver through the [recorder](recorder), which records the parameters as
//! tracers have left them, and hears which of them the program had passed and which functions callbacks call.
//!
//! In a [set-uid program](secure) the layer sleeps.
//!
//! Loads nothing, prints nothing, and calls nothing that it exports.

mod call;
mod callee;
mod code;
mod entry;
mod generated;
mod handler;
mod missing;
mod recorder;
mod secure;
mod table;
mod tracer_api;

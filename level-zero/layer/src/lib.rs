//! Level Zero's tracing layer, `libze_tracing_layer.so.1`: a drop-in for the one that comes with the
//! loader. docs/level-zero.md has what it promises and what shows that it does.
//!
//! The loader asks for [tables](table), and gets an [entry](entry) for each function: one indirect jump,
//! to the callee while no tracer is enabled, and to a [traced call](call) otherwise. Tools come through
//! the [tracers' own functions](tracer_api).
//!
//! Under `gapii-ctl run` it calls on through the [recorder](recorder), which traces the parameters that tracers
//! have left.
//!
//! Loads nothing, prints nothing, and calls nothing that it exports.

mod call;
mod entry;
mod generated;
mod missing;
mod recorder;
mod table;
mod tracer_api;

use gapii_tracers::Tracers;
use gapii_ze_api::functions::COUNT;

static TRACERS: Tracers = Tracers::new(COUNT, entry::switch);

//! Perfetto's trace format: frames, commands, gaps and counters as events on tracks, for ui.perfetto.dev and
//! `trace_processor`. Commands without a time are counted and left out.
//!
//! Needs no `.proto` file: [`packets`] has the few messages that are written.

mod exporter;
pub mod packets;
mod writer;

pub use self::exporter::{Events, begin};

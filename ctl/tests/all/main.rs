//! The control tool as a process: its messages, exit status and output.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_input;
mod bundle;
mod captures;
mod diffs;
mod dumps;
mod exports;
mod frames;
mod history;
mod infos;
mod measures;
mod problems;
mod reports;
mod run_daemons;
mod states;
mod support;
mod threads;
mod ui;
mod untrusted;
mod watch;
mod written_trace;

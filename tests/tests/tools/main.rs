//! Tools: inspecting, exporting and comparing traces, tracers, and messages about bad input.

mod analysis;
mod anonymise;
mod apitrace;
mod bad_input;
mod checkpoints;
mod export;
mod export_apps;
mod glmark2;
mod import;
mod installing;
mod merge;
mod older_traces;
mod tracers;

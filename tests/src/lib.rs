//! Shared parts of the whole-system tests, the benchmark and the soak run.
//!
//! Everything here uses only the user's interfaces: the tools, their output, the files that they write.
//! No crate of the product is linked. A tool that is missing ends the test with the command that
//! installs it; nothing is skipped.

#![forbid(unsafe_code)]

pub mod apitrace;
pub mod artifacts;
pub mod attach_cost;
pub mod attaching;
pub mod bench;
pub mod compare;
pub mod crowd;
pub mod damage;
pub mod display;
pub mod driver_check;
pub mod dumps;
pub mod enums;
pub mod exporting;
pub mod fake_driver;
pub mod gapii;
pub mod glmark2;
pub mod headers;
pub mod headless;
pub mod importing;
pub mod instruction_counts;
pub mod kill;
pub mod level_zero;
pub mod loading;
pub mod lttng;
pub mod once;
pub mod order;
pub mod pictures;
pub mod piglit;
pub mod process;
pub mod programs;
pub mod proxy;
pub mod random;
pub mod remote;
pub mod replaying;
pub mod replays;
pub mod restarts;
pub mod scene;
pub mod search;
pub mod set_uid;
pub mod sharing;
pub mod stream;
pub mod terminal;
pub mod tracers;
pub mod transparency;
pub mod trims;
pub mod turns;
pub mod wait;

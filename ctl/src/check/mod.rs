//! `check`: plays the traces of a list, several at once, and compares the digests of their frames with expected ones. Each
//! trace is played by a `gapii-ctl replay` of its own, so that a driver that crashes fails one trace.

pub mod answer;
pub mod children;
pub mod junit;
pub mod list;
pub mod page;
pub mod played;

//! The daemon: captures that share it, survive it, wait for it, or reach it over a network.

mod captures;
mod configuration;
mod idle;
mod keep;
mod remote;
mod restart;
mod service;
mod sharing;
mod watch;

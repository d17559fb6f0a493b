//! The daemon as a process, with applications and clients that are honest, hostile, or gone.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod budgets;
mod captures;
mod configuration;
mod connections;
mod guests;
mod hostile_applications;
mod hostile_clients;
mod hostile_together;
mod limits;
mod metrics;
mod service;
mod support;
mod takeover;
mod units;
mod watching;

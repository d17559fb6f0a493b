//! The ring, its pages and the merge, on shared memory and between processes.

#![cfg(not(loom))]

mod common;
mod corpus;
mod edges;
mod malicious;
mod merge;
mod pages;
mod processes;
mod ring;
mod takeover;

//! Recordings of apitrace, made byte by byte, and the traces that they become.

mod commands;
mod damage;
mod recording;
mod threads;

//! Replay: a played trace draws, answers and writes what the recorded program did.

mod apps;
mod images;
mod replay_programs;

//! Replay: a replayed trace draws, answers and writes the same as the recorded program.

mod apps;
mod desktop;
mod glx;
mod images;
mod imported;
mod limits;
mod machines;
mod pixels;
mod processors;
mod replay_programs;
mod sandbox;
mod sources;
mod trim;

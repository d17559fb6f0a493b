//! Level Zero: the tracing layer, recordings on the null driver, and their replay.

mod attach;
mod calls;
mod gpu_times;
mod layer;
mod recording;
mod replay;
mod states;

//! Recording: programs behave as they do natively, and their traces hold all their commands.

mod attach;
mod attach_objects;
mod attach_progress;
mod children;
mod driver_calls;
mod exports;
mod filters;
mod frames;
mod guest;
mod headless;
mod kill;
mod loading;
mod locked;
mod many_threads;
mod memory;
mod order;
mod real_programs;
mod silent_daemon;
mod snapshots;
mod stored;
mod timing;
mod trace_file;
mod transparency;
mod waiting;
mod waking;
mod when;

//! The commands, one module each, with its flags.

pub mod apps;
pub mod blob;
pub mod completions;
pub mod diff;
pub mod doctor;
pub mod dump;
pub mod export;
pub mod frames;
pub mod info;
pub mod list;
pub mod man;
pub mod montage;
pub mod pair;
pub mod relay;
pub mod replay;
pub mod run;
pub mod save;
pub mod schema;
pub mod start;
pub mod state;
pub mod stats;
pub mod status;
pub mod stop;
pub mod ui;
pub mod verify;
pub mod watch;

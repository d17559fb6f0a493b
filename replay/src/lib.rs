//! Plays traces against the driver of this machine.
//!
//! Trusts nothing that a trace says: every pointer that the driver gets leads into memory that the
//! player owns, every name is one that the driver gave out, and a command that needs something the
//! trace lacks is skipped with a reason. See docs/replay.md. Level Zero kernels take arguments that
//! no player can check; docs/level-zero.md describes the consequences.
//!
//! ```no_run
//! use std::fs::File;
//! use std::io::BufReader;
//!
//! use gapii_replay::{Options, Quiet, SystemLoader, replay};
//! use gapii_trace::TraceReader;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let file = BufReader::new(File::open("app.gapii")?);
//! let mut reader = TraceReader::open(file)?;
//! let report = replay(&mut reader, &SystemLoader::default(), Options::default(), &mut Quiet)?;
//! println!("{} commands played, {} skipped", report.played, report.skipped);
//! # Ok(())
//! # }
//! ```
//!
//! The modules are layers. A module imports only modules of lower layers:
//!
//! | layer | modules |
//! |---|---|
//! | 6, the loop over commands | `player`, `report` |
//! | 5, observers of each command | `images`, `verify`, `benchmark` |
//! | 4, players of one API's commands | `egl`, `gl`, `glx`, `level_zero`, `generated` |
//! | 3, one command with its arguments; images of imported memory | `call`, `parts`, `imports` |
//! | 2, the trace's objects; the survey | `objects`, `survey` |
//! | 1, the driver, and memory for it | `driver`, `memory`, `names` |
//! | 0 | `events`, `facts`, `limits`, `skip`, `tally`, `threads` |
//!
//! Tables in `generated` have the types of the modules that read them, whatever their layer.

mod benchmark;
mod call;
mod driver;
mod egl;
mod events;
mod facts;
mod generated;
mod gl;
mod glx;
pub mod images;
mod imports;
mod level_zero;
mod limits;
mod memory;
mod names;
mod objects;
mod parts;
mod player;
pub mod report;
mod skip;
mod survey;
mod tally;
mod threads;
pub mod verify;

pub use benchmark::{Benchmark, MeasuredFrame};
pub use driver::{Driver, Interceptor, Loader, SystemLoader, driver_texts};
pub use events::{Events, FrameEnd, Held, Quiet};
pub use limits::Limits;
pub use memory::Unknown;
pub use names::Kind;
pub use player::{Hold, Options, ReplayError, replay};
pub use report::Report;
pub use skip::Skip;

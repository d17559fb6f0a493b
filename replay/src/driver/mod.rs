//! The driver of this machine: its functions by number, and its EGL behind functions that are safe to call.

mod display;
mod display_objects;
mod display_questions;
mod egl_functions;
mod functions;
mod libraries;
mod loader;
mod offer;
mod parked;
mod system;
mod texts;
mod x11;

pub use display::{DisplayBy, Real};
pub use egl_functions::*;
pub use functions::Driver;
pub use libraries::Interceptor;
pub use loader::Loader;
pub use offer::Offer;
pub use parked::{Ending, Parked};
pub use system::SystemLoader;
pub use texts::driver_texts;
pub use x11::{Window, Windows};

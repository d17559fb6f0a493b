//! The configuration from the command line, the environment and the configuration files.

mod definition;
mod file;
mod held;
mod loaded;
mod mistake;
pub mod size;

pub use self::definition::Config;
pub use self::held::Held;
pub use self::loaded::{LoadError, Loaded};

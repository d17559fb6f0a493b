//! How each command of OpenGL ES is played.

use crate::call::Entry;

/// By name.
pub static COMMANDS: [Entry; 0] = [];

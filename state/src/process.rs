//! What all threads of a program share.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::egl::Contexts;
use crate::generated::fields::ProcessState;

/// A process: its state behind one short lock, and its contexts behind another.
#[derive(Default, Debug)]
pub struct Process {
    state: Mutex<ProcessState>,
    contexts: Mutex<Contexts>,
}

impl Process {
    pub fn lock(&self) -> MutexGuard<'_, ProcessState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every context that there is. Who holds this takes none of the other locks.
    pub fn contexts(&self) -> MutexGuard<'_, Contexts> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

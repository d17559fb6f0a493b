//! The state that all threads of a process share.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Tracked;
use crate::egl::Contexts;
use crate::generated::fields::ProcessState;
use crate::stored::Stored;

/// The state of a process behind one short lock, and its contexts behind another.
#[derive(Default, Debug)]
pub struct ProcessOf<P, C> {
    state: Mutex<P>,
    contexts: Mutex<C>,
}

crate::stored_struct! {
    impl<P: Stored, C: Stored> ProcessOf<P, C> { state, contexts }
}

/// A process with state in scope `S`.
pub type Process<S = Tracked> = ProcessOf<ProcessState<S>, Contexts<S>>;

impl<P, C> ProcessOf<P, C> {
    /// Locks the state.
    pub fn lock(&self) -> MutexGuard<'_, P> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the table of all contexts. A thread that holds this lock takes none of the other locks.
    pub fn contexts(&self) -> MutexGuard<'_, C> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

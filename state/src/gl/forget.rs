//! Contexts in which commands have run that were not tracked.

use std::mem::take;
use std::sync::Arc;

use crate::{Context, Scope};

impl<S: Scope> Context<S> {
    /// Resets everything that commands can change.
    pub fn forget(&mut self) {
        let mut fresh = Self::new(self.handle, Arc::clone(&self.group), self.version);
        fresh.api = self.api;
        fresh.extensions = take(&mut self.extensions);
        fresh.limits = take(&mut self.limits);
        *self = fresh;
    }
}

//! Contexts in which things were done that nobody followed.

use std::mem::take;
use std::sync::Arc;

use crate::{Context, Scope};

impl<S: Scope> Context<S> {
    /// Forgets all but what never changes.
    pub fn forget(&mut self) {
        let mut fresh = Self::new(self.handle, Arc::clone(&self.group), self.version);
        fresh.extensions = take(&mut self.extensions);
        fresh.limits = take(&mut self.limits);
        *self = fresh;
    }
}

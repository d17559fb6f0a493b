//! `Batch`: commands that were taken out of their assembler, with everything that they refer to except blobs, so that
//! another thread can look at them.
//!
//! Holds one block, up to `COMMANDS_MAX` commands of it, and up to about `OWN_BYTES_MAX` bytes of earlier blocks.

use std::sync::Arc;

use super::held::Held;
use crate::blobs::BlobSource;
use crate::command::Command;
use crate::description::Description;
use crate::tracker::{ContextLimits, Tracker};

/// Most commands of a batch: enough that handing it to another thread costs little for each.
const COMMANDS_MAX: usize = 2048;
/// Bytes of copied records at which a batch is full.
const OWN_BYTES_MAX: usize = 4 << 20;

/// Commands of one block, in order.
#[derive(Default)]
pub struct Batch {
    /// Content of the block that was being read when the commands were handed out.
    block: Arc<Vec<u8>>,
    commands: Vec<Taken>,
    /// The limits that the commands refer to.
    limits: Vec<Arc<ContextLimits>>,
    /// Index in `limits` of the last command's limits, and what they were found by: process, context and
    /// [`Tracker::limits_read`].
    last: Option<((u32, u64, u64), Option<u32>)>,
    own_bytes: usize,
}

struct Taken {
    held: Held,
    ids: [u32; 2],
    limits: Option<u32>,
}

impl Batch {
    /// Returns the commands, in order. `blobs` has the blobs that they refer to.
    pub fn commands<'a>(
        &'a self,
        description: &'a Description,
        blobs: &'a dyn BlobSource,
    ) -> impl ExactSizeIterator<Item = Command<'a>> {
        self.commands.iter().map(move |Taken { held, ids, limits }| {
            let limits = limits.and_then(|at| self.limits.get(at as usize)).map(Arc::as_ref);
            held.command(&self.block, *ids, limits, description, blobs)
        })
    }

    /// Returns the number of commands.
    pub fn len(&self) -> usize {
        self.commands.len()
    }

    /// Returns true if there is no command.
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// Returns true if the next command belongs to another batch.
    pub fn is_full(&self) -> bool {
        self.commands.len() >= COMMANDS_MAX || self.own_bytes >= OWN_BYTES_MAX
    }

    /// Forgets the commands and keeps the memory of the list.
    pub fn clear(&mut self) {
        self.block = Arc::default();
        self.commands.clear();
        self.limits.clear();
        self.last = None;
        self.own_bytes = 0;
    }

    /// Appends a command whose bytes are in `block`.
    pub(super) fn push(
        &mut self,
        held: Held,
        ids: [u32; 2],
        block: &Arc<Vec<u8>>,
        tracker: &Tracker,
    ) {
        if self.commands.is_empty() {
            self.block = Arc::clone(block);
        }
        debug_assert!(Arc::ptr_eq(&self.block, block), "a batch has commands of one block");
        let key = (held.process, held.context, tracker.limits_read());
        let limits = match self.last {
            Some((last, limits)) if last == key => limits,
            _ => {
                let found = tracker.shared_limits(held.process, held.context);
                let limits = found.map(|limits| {
                    self.limits.push(Arc::clone(limits));
                    self.limits.len() as u32 - 1
                });
                self.last = Some((key, limits));
                limits
            }
        };
        self.own_bytes += held.own_bytes();
        self.commands.push(Taken { held, ids, limits });
    }
}

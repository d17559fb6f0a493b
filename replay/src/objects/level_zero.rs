//! What is known of Level Zero's objects and memory.

use std::collections::BTreeMap;

use super::allocations::Allocations;
use super::rows::{Extent, Rows};
use super::shapes::Piece;

/// Most regions whose rows are known.
const ROWS_MAX: usize = 1 << 16;

/// What is known of Level Zero's objects and memory.
#[derive(Default)]
pub struct LevelZero {
    pub(crate) processes: BTreeMap<u32, Allocations>,
    /// What the trace has told of the programs' own memory, by process.
    pub(crate) own_memory: BTreeMap<u32, Allocations>,
    /// What executes something, by the driver's handles.
    pub(crate) executors: BTreeMap<u64, Executor>,
    /// They were given something since they were last waited for.
    pub(crate) is_busy: bool,
    /// Something was waited for that did not come, which may be so again: a command was skipped.
    pub(crate) has_waited_in_vain: bool,
    /// Memory of which lists write only rows, by process and by the first one's address.
    pub(crate) rows: BTreeMap<(u32, u64), Rows>,
    /// What the command at hand points at.
    pub(crate) pieces: Vec<Piece>,
}

/// A queue, or a list that has one of its own.
#[derive(Clone, Copy)]
pub(crate) enum Executor {
    Queue,
    List,
}

impl LevelZero {
    /// Forgets what the command before pointed at.
    pub(crate) fn reset(&mut self) {
        self.pieces.clear();
    }

    pub(crate) fn allocations(&mut self, process: u32) -> &mut Allocations {
        self.processes.entry(process).or_default()
    }

    /// A list will write there.
    pub(crate) fn note_rows(&mut self, process: u32, address: u64, extent: Extent) {
        match extent {
            Extent::Rows { first, rows, .. } if self.rows.len() < ROWS_MAX => {
                self.rows.insert((process, address.wrapping_add(first)), rows);
            }
            _ => {
                self.rows.remove(&(process, address));
            }
        }
    }

    /// Whether one may be at work while another was waited for.
    pub(crate) fn has_several_executors(&self) -> bool {
        self.executors.len() > 1
    }

    /// What the command at hand has where the recording had `address`.
    pub(crate) fn piece(&self, address: u64) -> Option<&Piece> {
        self.pieces.iter().find(|piece| piece.address == address)
    }
}

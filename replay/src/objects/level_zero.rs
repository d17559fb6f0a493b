//! Objects and memory of Level Zero in a replay. Rows are noted for at most 65,536 regions (`ROWS_MAX`); of others all
//! bytes are compared.

use std::collections::BTreeMap;

use super::allocations::Allocations;
use super::rows::{Extent, Rows};
use super::shapes::Piece;

/// Largest number of memory regions whose rows are noted.
const ROWS_MAX: usize = 1 << 16;

/// Objects and memory of Level Zero in a replay.
#[derive(Default)]
pub struct LevelZero {
    /// Allocations by process.
    pub(crate) processes: BTreeMap<u32, Allocations>,
    /// The programs' own memory as the trace last held it, by process.
    pub(crate) own_memory: BTreeMap<u32, Allocations>,
    /// Queues and immediate lists, by the driver's handles.
    pub(crate) executors: BTreeMap<u64, Executor>,
    /// Whether an executor was given a command since the last wait.
    pub(crate) is_busy: bool,
    /// Whether a wait timed out, because a skipped command would have ended it; then later ones
    /// may, too.
    pub(crate) has_waited_in_vain: bool,
    /// Memory in which lists write only rows, by process and address of the first row.
    pub(crate) rows: BTreeMap<(u32, u64), Rows>,
    /// Memory that the present command's arguments lead to.
    pub(crate) pieces: Vec<Piece>,
}

/// An object that executes commands: a queue, or a list with a queue of its own.
#[derive(Clone, Copy)]
pub(crate) enum Executor {
    Queue,
    List,
}

impl LevelZero {
    /// Forgets the memory of the previous command.
    pub(crate) fn reset(&mut self) {
        self.pieces.clear();
    }

    pub(crate) fn allocations(&mut self, process: u32) -> &mut Allocations {
        self.processes.entry(process).or_default()
    }

    /// Notes that a list will write these rows at `address`.
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

    /// Whether an executor may be running while another one was waited for.
    pub(crate) fn has_several_executors(&self) -> bool {
        self.executors.len() > 1
    }

    /// Memory of the present command for the recorded `address`.
    pub(crate) fn piece(&self, address: u64) -> Option<&Piece> {
        self.pieces.iter().find(|piece| piece.address == address)
    }
}

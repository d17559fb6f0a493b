//! Allocated memory: blocks of the heap, each with the kind that it was allocated as.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gapii_ze_api::types::ze_memory_type_t;

/// The alignment if the program asks for none.
const ALIGNMENT: usize = 64;

#[derive(Clone, Copy)]
pub struct Block {
    pub address: usize,
    pub layout: Layout,
    pub kind: ze_memory_type_t,
}

/// Blocks by address.
static BLOCKS: Mutex<BTreeMap<usize, Block>> = Mutex::new(BTreeMap::new());

/// Allocates a block; `None` if there is no memory.
pub fn allocate(size: usize, alignment: usize, kind: ze_memory_type_t) -> Option<*mut u8> {
    let alignment = if alignment == 0 { ALIGNMENT } else { alignment };
    let layout = Layout::from_size_align(size.max(1), alignment).ok()?;
    // SAFETY: the layout has a size.
    let memory = unsafe { alloc_zeroed(layout) };
    if memory.is_null() {
        return None;
    }
    blocks().insert(memory.addr(), Block { address: memory.addr(), layout, kind });
    Some(memory)
}

/// Frees the block that begins at `memory`; false if there is none.
pub fn free(memory: *mut u8) -> bool {
    let Some(block) = blocks().remove(&memory.addr()) else { return false };
    // SAFETY: allocated with this layout, and no longer in the table.
    unsafe { dealloc(memory, block.layout) };
    true
}

/// Returns the block that contains `address`.
pub fn block_of(address: usize) -> Option<Block> {
    let blocks = blocks();
    let (_, block) = blocks.range(..=address).next_back()?;
    (address - block.address < block.layout.size()).then_some(*block)
}

fn blocks() -> MutexGuard<'static, BTreeMap<usize, Block>> {
    BLOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

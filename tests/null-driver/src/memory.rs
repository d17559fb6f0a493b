//! What is allocated: the heap's own memory, and what each block was asked for as.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gapii_ze_api::types::ze_memory_type_t;

/// Where the program asks for no alignment.
const ALIGNMENT: usize = 64;

#[derive(Clone, Copy)]
pub struct Block {
    pub address: usize,
    pub layout: Layout,
    pub kind: ze_memory_type_t,
}

/// By address.
static BLOCKS: Mutex<BTreeMap<usize, Block>> = Mutex::new(BTreeMap::new());

/// None where there is no such memory.
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

/// Whether `memory` is the begin of a block, which is free then.
pub fn free(memory: *mut u8) -> bool {
    let Some(block) = blocks().remove(&memory.addr()) else { return false };
    // SAFETY: allocated with this layout, and not known any more.
    unsafe { dealloc(memory, block.layout) };
    true
}

/// The block that `address` is in.
pub fn block_of(address: usize) -> Option<Block> {
    let blocks = blocks();
    let (_, block) = blocks.range(..=address).next_back()?;
    (address - block.address < block.layout.size()).then_some(*block)
}

fn blocks() -> MutexGuard<'static, BTreeMap<usize, Block>> {
    BLOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

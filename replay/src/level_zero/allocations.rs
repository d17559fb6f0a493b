//! Memory that a program allocated, and its own, by the recording's addresses.
//!
//! An allocation of the recording is one of the driver's here. The program's own memory that lists copy
//! from or to is in the window of [`crate::memory`], held for as long as the replay lasts: a list may be
//! executed again at any time.
//!
//! A trace has the memory that the host sees whole, at each submit and once something was waited for. At
//! a submit a command before it may be on its way, and what it writes may be there or not; so what is put
//! into an allocation are the bytes that have changed since the trace told of it last, and first what is on its
//! way is waited for: what it has written by then is what it had written in the recording, or would.

use std::collections::BTreeMap;
use std::sync::Arc;

use gapii_protocol::trace::Bytes;
use gapii_protocol::trace::description::Function;

use super::extents::{self, Extent};
use super::pieces;
use crate::call::{Call, Outcome, Skip};
use crate::memory::Memory;

/// Bytes that are compared at once.
const STEP: usize = 4096;

/// The allocations of a process, by the recording's addresses.
#[derive(Default)]
pub struct Allocations(BTreeMap<u64, Allocation>);

struct Allocation {
    bytes: u64,
    /// Where it is here.
    real: u64,
    /// What the host of the recording saw in it last.
    seen: Option<Arc<Vec<u8>>>,
    /// The host may look into it.
    is_visible: bool,
}

impl Allocations {
    /// Where `address` is here, and how much of the allocation there is from it on.
    pub fn find(&self, address: u64) -> Option<(u64, u64)> {
        let (base, offset) = self.place(address, 1)?;
        let allocation = &self.0[&base];
        Some((allocation.real + offset, allocation.bytes - offset))
    }

    /// The allocation that has `bytes` from `address` on, by its own address, and where in it they are.
    fn place(&self, address: u64, bytes: u64) -> Option<(u64, u64)> {
        let (base, allocation) = self.0.range(..=address).next_back()?;
        let offset = address - base;
        (offset.checked_add(bytes)? <= allocation.bytes).then_some((*base, offset))
    }

    fn insert(&mut self, base: u64, allocation: Allocation) {
        let end = base.saturating_add(allocation.bytes);
        // What was there before has been freed, be it recorded or not.
        let reaches_in = |(first, old): (&u64, &Allocation)| {
            (first.saturating_add(old.bytes) > base).then_some(*first)
        };
        let before = self.0.range(..base).next_back().and_then(reaches_in);
        let inside: Vec<u64> = self.0.range(base..end).map(|(first, _)| *first).collect();
        for first in before.into_iter().chain(inside) {
            self.0.remove(&first);
        }
        self.0.insert(base, allocation);
    }

    fn remove(&mut self, base: u64) {
        self.0.remove(&base);
    }

    /// The visible allocation that has `len` bytes from `address` on, and where in it they are.
    fn visible(&mut self, address: u64, len: usize) -> Option<(&mut Allocation, usize)> {
        let (base, offset) = self.place(address, len as u64)?;
        let found = self.0.get_mut(&base).filter(|allocation| allocation.is_visible)?;
        Some((found, offset as usize))
    }

    /// `len` bytes at `address`, if the host may look at them.
    pub fn bytes(&self, address: u64, len: usize) -> Option<&[u8]> {
        let (base, offset) = self.place(address, len as u64)?;
        let allocation = self.0.get(&base).filter(|allocation| allocation.is_visible)?;
        let at = (allocation.real + offset) as usize as *const u8;
        // SAFETY: the driver has allocated it for host and device, and not freed it; what a device
        // still writes there is a program's mistake, and a wrong byte at worst.
        Some(unsafe { std::slice::from_raw_parts(at, len) })
    }
}

impl Allocation {
    /// Whether the host has changed anything since it was seen last.
    fn is_changed(&self, offset: usize, now: &[u8]) -> bool {
        let before = self.seen.as_ref().and_then(|seen| seen.get(offset..offset + now.len()));
        before != Some(now)
    }

    /// Puts into it what the host has changed.
    fn update(&mut self, offset: usize, now: Arc<Vec<u8>>) {
        if self.seen.as_ref().is_some_and(|seen| Arc::ptr_eq(seen, &now)) {
            return;
        }
        let to = self.real as usize as *mut u8;
        let put = |at: usize, bytes: &[u8]| {
            let to = to.wrapping_add(at);
            // SAFETY: inside an allocation that the host may write to; see `Allocations::visible`.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        };
        let Some(before) = self.seen.as_ref().and_then(|it| it.get(offset..offset + now.len()))
        else {
            put(offset, &now);
            if offset == 0 {
                self.seen = Some(now);
            }
            return;
        };
        for (step, (old, new)) in before.chunks(STEP).zip(now.chunks(STEP)).enumerate() {
            if old == new {
                continue;
            }
            let pairs = old.iter().zip(new).enumerate();
            for (at, (_, new)) in pairs.filter(|(_, (old, new))| old != new) {
                put(offset + step * STEP + at, &[*new]);
            }
        }
        match &mut self.seen {
            Some(seen) if seen.len() > now.len() => {
                Arc::make_mut(seen)[offset..offset + now.len()].copy_from_slice(&now);
            }
            seen => *seen = Some(now),
        }
    }
}

/// What the command reads of memory is where it will look for it.
pub fn update(call: &mut Call<'_, '_>) -> Outcome {
    let command = call.command;
    let param = |index: u8| command.function.and_then(|it| it.params.get(usize::from(index)));
    // A range of no parameter is memory; others may be structures, or arrays of arguments.
    let is_memory =
        |index: Option<u8>| index.is_none_or(|index| param(index).is_some_and(extents::is_memory));
    for range in command.ranges_read().filter(|range| is_memory(range.param)) {
        let Some(bytes) = command.bytes_of(range.observation) else { continue };
        put(call, range.address, bytes)?;
    }
    Ok(())
}

/// What the command has waited for is in memory, and so is what the program wrote meanwhile.
pub fn completed(call: &mut Call<'_, '_>) {
    let command = call.command;
    for range in command.ranges_written().filter(|range| range.param.is_none()) {
        let Some(bytes) = command.bytes_of(range.observation) else { continue };
        // Where there is no room for it nothing was compared, either.
        if let Ok(Some((allocation, offset))) = place(call, range.address, bytes.len()) {
            allocation.update(offset, shared(bytes));
        }
    }
}

fn put(call: &mut Call<'_, '_>, address: u64, bytes: Bytes<'_>) -> Outcome {
    let Some((allocation, offset)) = place(call, address, bytes.len())? else { return Ok(()) };
    if allocation.is_changed(offset, &bytes) {
        super::settle(call);
        if let Some((allocation, offset)) = place(call, address, bytes.len())? {
            allocation.update(offset, shared(bytes));
        }
    }
    Ok(())
}

/// Memory of the recording that the host sees: of an allocation, or the program's own, which from now on
/// is held. None of an allocation that only devices see, of which the trace has nothing.
fn place<'a>(
    call: &'a mut Call<'_, '_>,
    address: u64,
    len: usize,
) -> Result<Option<(&'a mut Allocation, usize)>, Skip> {
    let parts = &mut *call.parts;
    let process = call.command.process;
    if parts.level_zero.allocations(process).find(address).is_some() {
        return Ok(parts.level_zero.allocations(process).visible(address, len));
    }
    let own = parts.level_zero.own_memory.entry(process).or_default();
    if own.visible(address, len).is_none() {
        let bytes = len as u64;
        let real = parts.memory.hold(address, bytes)? as u64;
        own.insert(address, Allocation { bytes, real, seen: None, is_visible: true });
    }
    Ok(own.visible(address, len))
}

fn shared(bytes: Bytes<'_>) -> Arc<Vec<u8>> {
    match bytes {
        Bytes::Blob(bytes) => bytes,
        Bytes::Record(bytes) => Arc::new(bytes.to_vec()),
    }
}

/// Where a `void *` of the recording leads here.
pub fn address(
    allocations: &Allocations,
    memory: &mut Memory,
    address: u64,
    extent: Extent,
) -> Result<u64, Skip> {
    if address == 0 {
        return Ok(0);
    }
    match (allocations.find(address), extent) {
        (Some((_, left)), Extent::Bytes(bytes) | Extent::Rows { bytes, .. }) if bytes > left => {
            Err(Skip::from("it reaches beyond an allocation"))
        }
        (Some((real, _)), _) => Ok(real),
        (None, Extent::Bytes(bytes) | Extent::Rows { bytes, .. }) => {
            Ok(memory.hold(address, bytes)? as u64)
        }
        (None, Extent::Address) => Ok(memory.home(address) as u64),
        (None, Extent::Allocation) => {
            Err(Skip::from("how much of the program's memory it touches is not in the trace"))
        }
    }
}

/// What kind of memory a function gives out.
fn gives(function: &str) -> Option<bool> {
    match function {
        "zeMemAllocHost" | "zeMemAllocShared" => Some(true),
        "zeMemAllocDevice" | "zeModuleGetGlobalPointer" | "zeVirtualMemReserve" => Some(false),
        _ => None,
    }
}

/// What the command frees, if it does.
fn freed(call: &Call<'_, '_>, function: &Function) -> Option<u64> {
    let frees = matches!(&*function.name, "zeMemFree" | "zeMemFreeExt" | "zeVirtualMemFree");
    let mut args = call.command.args().filter(|_| frees);
    args.find(|arg| arg.param.name == "ptr").map(|arg| arg.value.bits())
}

/// Refuses to free a part of an allocation: nobody would know what became of the rest.
pub fn may_free(call: &mut Call<'_, '_>, function: &Function) -> Outcome {
    let Some(address) = freed(call, function) else { return Ok(()) };
    let allocations = call.parts.level_zero.allocations(call.command.process);
    match allocations.place(address, 0) {
        Some((base, _)) if base != address => Err(Skip::from("it frees a part of an allocation")),
        _ => Ok(()),
    }
}

/// Takes note of memory that the command has allocated or freed.
pub fn learn(call: &mut Call<'_, '_>, function: &Function) {
    let command = call.command;
    if let Some(gone) = freed(call, function) {
        return call.parts.level_zero.allocations(command.process).remove(gone);
    }
    let at = |name: &str| command.args().find(|arg| arg.param.name == name);
    let (Some(is_visible), Some(pointer)) = (gives(&function.name), at("pptr")) else { return };
    let Some((recorded, real)) = pieces::pointers(call, pointer.value.bits()) else { return };
    let bytes = match at("size") {
        Some(size) => size.value.bits(),
        None => {
            let size = at("pSize").and_then(|arg| pieces::numbers(call, arg.value.bits()));
            size.map_or(0, |(recorded, real)| recorded.min(real))
        }
    };
    let allocation = Allocation { bytes, real, seen: None, is_visible };
    call.parts.level_zero.allocations(command.process).insert(recorded, allocation);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocation(bytes: u64, real: u64) -> Allocation {
        Allocation { bytes, real, seen: None, is_visible: true }
    }

    #[test]
    fn address_is_found_in_its_allocation_alone() {
        let mut all = Allocations::default();
        all.insert(0x1000, allocation(0x100, 0x9000));
        all.insert(0x3000, allocation(0x100, 0x8000));
        assert_eq!(all.find(0x1000), Some((0x9000, 0x100)));
        assert_eq!(all.find(0x10ff), Some((0x90ff, 1)));
        assert_eq!(all.find(0x1100), None);
        assert_eq!(all.find(0xfff), None);
        all.remove(0x1000);
        assert_eq!(all.find(0x1000), None);
    }

    #[test]
    fn memory_that_is_allocated_again_is_that_of_the_last() {
        let mut all = Allocations::default();
        all.insert(0x1000, allocation(0x100, 0x9000));
        all.insert(0x1200, allocation(0x100, 0x9200));
        all.insert(0x1080, allocation(0x200, 0x7000));
        assert_eq!(all.find(0x1000), None);
        assert_eq!(all.find(0x1200), Some((0x7180, 0x80)));
        assert_eq!(all.find(0x12ff), None);
    }

    #[test]
    fn only_what_the_host_has_changed_is_put() {
        let mut here = vec![0u8; 3];
        let mut allocation = allocation(3, here.as_mut_ptr() as u64);
        allocation.update(0, Arc::new(vec![1, 2, 3]));
        assert_eq!(here, [1, 2, 3]);
        here[2] = 9;
        assert!(allocation.is_changed(0, &[1, 5, 3]));
        allocation.update(0, Arc::new(vec![1, 5, 3]));
        assert_eq!(here, [1, 5, 9]);
        assert!(!allocation.is_changed(1, &[5, 3]));
        allocation.update(1, Arc::new(vec![6, 3]));
        assert_eq!(here, [1, 6, 9]);
        assert!(!allocation.is_changed(0, &[1, 6, 3]));
    }

    #[test]
    fn memory_is_shown_where_the_host_may_look() {
        let here = [1u8, 2, 3];
        let mut all = Allocations::default();
        all.insert(0x1000, allocation(3, here.as_ptr() as u64));
        all.insert(0x2000, Allocation { is_visible: false, ..allocation(3, 0x10) });
        assert_eq!(all.bytes(0x1001, 2), Some(&here[1..]));
        assert_eq!(all.bytes(0x1001, 3), None);
        assert_eq!(all.bytes(0x2000, 1), None);
    }
}

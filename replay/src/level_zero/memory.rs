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

use std::sync::Arc;

use gapii_commands::CommandId;
use gapii_trace::Bytes;

use super::settle::settle;
use super::{answers, extents};
use crate::call::Call;
use crate::memory::Memory;
use crate::objects::allocations::{Allocation, Allocations};
use crate::objects::rows::{Extent, Rows};
use crate::skip::{Outcome, Skip};

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
        settle(call);
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
fn gives(command: CommandId) -> Option<bool> {
    match command {
        CommandId::ZE_MEM_ALLOC_HOST | CommandId::ZE_MEM_ALLOC_SHARED => Some(true),
        CommandId::ZE_MEM_ALLOC_DEVICE
        | CommandId::ZE_MODULE_GET_GLOBAL_POINTER
        | CommandId::ZE_VIRTUAL_MEM_RESERVE => Some(false),
        _ => None,
    }
}

/// What the command frees, if it does.
fn freed(call: &Call<'_, '_>) -> Option<u64> {
    let frees = matches!(
        call.command.known(),
        Some(CommandId::ZE_MEM_FREE | CommandId::ZE_MEM_FREE_EXT | CommandId::ZE_VIRTUAL_MEM_FREE)
    );
    let mut args = call.command.args().filter(|_| frees);
    args.find(|arg| arg.param.name == "ptr").map(|arg| arg.value.bits())
}

/// Refuses to free a part of an allocation: nobody would know what became of the rest.
pub fn may_free(call: &mut Call<'_, '_>) -> Outcome {
    let Some(address) = freed(call) else { return Ok(()) };
    let allocations = call.parts.level_zero.allocations(call.command.process);
    match allocations.place(address, 0) {
        Some((base, _)) if base != address => Err(Skip::from("it frees a part of an allocation")),
        _ => Ok(()),
    }
}

/// Takes note of memory that the command has allocated or freed.
pub fn learn(call: &mut Call<'_, '_>) {
    let command = call.command;
    if let Some(gone) = freed(call) {
        return call.parts.level_zero.allocations(command.process).remove(gone);
    }
    let at = |name: &str| command.args().find(|arg| arg.param.name == name);
    let (Some(is_visible), Some(pointer)) = (command.known().and_then(gives), at("pptr")) else {
        return;
    };
    let Some((recorded, real)) = answers::pointers(call, pointer.value.bits()) else { return };
    let bytes = match at("size") {
        Some(size) => size.value.bits(),
        None => {
            let size = at("pSize").and_then(|arg| answers::numbers(call, arg.value.bits()));
            size.map_or(0, |(recorded, real)| recorded.min(real))
        }
    };
    let allocation = Allocation { bytes, real, seen: None, is_visible };
    call.parts.level_zero.allocations(command.process).insert(recorded, allocation);
}

/// What is here for memory of the recording, allocated or the program's own.
pub fn memory<'a>(call: &'a Call<'_, '_>, address: u64, len: usize) -> Option<&'a [u8]> {
    let parts = &*call.parts;
    let allocations = parts.level_zero.processes.get(&call.command.process);
    let allocated = allocations.and_then(|allocations| allocations.bytes(address, len));
    allocated.or_else(|| parts.memory.held(address, len))
}

/// Which bytes of memory that a list has written are its own, if not all of them.
pub fn rows(call: &Call<'_, '_>, address: u64) -> Option<Rows> {
    call.parts.level_zero.rows.get(&(call.command.process, address)).copied()
}

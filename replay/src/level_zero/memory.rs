//! Memory of Level Zero programs, by the recording's addresses: allocations, and the program's own memory, which is
//! held until the replay ends. A command that reaches beyond an allocation, frees a part of one, or touches an unknown
//! amount of the program's own memory is skipped. Before changed bytes are written, running commands are waited for.
//!
//! An allocation of the recording is an allocation of the driver here. The program's own memory
//! that lists copy from or to lies in the window of [`crate::memory`] and is held until the replay
//! ends, because a list may be executed again at any time.
//!
//! A trace has all memory that the host sees, at each submit and after each wait. At a submit an
//! earlier command may still be running, so the recorded bytes may lack a part of its output. Replay
//! therefore first waits for running commands, so that their output is complete, and then writes only
//! the bytes that have changed since the trace last held them.

use std::sync::Arc;

use gapii_commands::CommandId;
use gapii_trace::Bytes;
use gapii_trace::description::Kind;

use super::settle::settle;
use super::{answers, extents};
use crate::call::Call;
use crate::generated::facts::roles;
use crate::memory::Memory;
use crate::objects::allocations::{Allocation, Allocations};
use crate::objects::rows::{Extent, Rows};
use crate::skip::{Outcome, Skip};

/// Puts the memory that the command reads where the command looks for it.
pub fn update(call: &mut Call<'_, '_>) -> Outcome {
    let command = call.command;
    let param = |index: u8| command.function.and_then(|it| it.params.get(usize::from(index)));
    // A range without parameter is memory; a range of a parameter may be a structure or an array of
    // arguments.
    let is_memory =
        |index: Option<u8>| index.is_none_or(|index| param(index).is_some_and(extents::is_memory));
    for range in command.ranges_read().filter(|range| is_memory(range.param)) {
        let Some(bytes) = command.bytes_of(range.observation) else { continue };
        put(call, range.address, bytes)?;
    }
    Ok(())
}

/// Notes the memory that the command's wait made visible, including what the program wrote
/// meanwhile.
pub fn completed(call: &mut Call<'_, '_>) {
    let command = call.command;
    for range in command.ranges_written().filter(|range| range.param.is_none()) {
        let Some(bytes) = command.bytes_of(range.observation) else { continue };
        // A range without room here was not compared either.
        if let Ok(Some((allocation, offset))) = place(call, range.address, bytes.len()) {
            allocation.update(offset, shared(bytes));
        }
    }
}

fn put(call: &mut Call<'_, '_>, address: u64, bytes: Bytes<'_>) -> Outcome {
    let Some((allocation, offset)) = place(call, address, bytes.len())? else { return Ok(()) };
    if allocation.is_changed(offset, &bytes) {
        let parts = &mut *call.parts;
        settle(&mut parts.level_zero, &parts.driver);
        if let Some((allocation, offset)) = place(call, address, bytes.len())? {
            allocation.update(offset, shared(bytes));
        }
    }
    Ok(())
}

/// Memory of the recording that the host sees: part of an allocation, or the program's own memory,
/// which is held from now on. `None` for an allocation that only devices see; a trace does not hold
/// its content.
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

/// Address here for a `void *` of the recording.
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

/// The parameter at which a command writes the address of new memory, and whether the host sees that
/// memory; `None` for commands that allocate nothing.
fn allocated(command: CommandId) -> Option<(usize, bool)> {
    let visible = roles::HOST_MEMORY.param(command).map(|param| (param, true));
    visible.or_else(|| roles::DEVICE_MEMORY.param(command).map(|param| (param, false)))
}

/// Address that the command frees, if it frees memory.
fn freed(call: &Call<'_, '_>) -> Option<u64> {
    call.command.known().and_then(|command| roles::FREED.param(command)).map(|at| call.bits(at))
}

/// Refuses to free a part of an allocation: the state of the rest would be unknown.
pub fn may_free(call: &mut Call<'_, '_>) -> Outcome {
    let Some(address) = freed(call) else { return Ok(()) };
    let allocations = call.parts.level_zero.allocations(call.command.process);
    match allocations.place(address, 0) {
        Some((base, _)) if base != address => Err(Skip::from("it frees a part of an allocation")),
        _ => Ok(()),
    }
}

/// Notes memory that the command has allocated or freed.
pub fn learn(call: &mut Call<'_, '_>) {
    let process = call.command.process;
    if let Some(gone) = freed(call) {
        return call.parts.level_zero.allocations(process).remove(gone);
    }
    let Some(command) = call.command.known() else { return };
    let Some((pointer, is_visible)) = allocated(command) else { return };
    let Some((recorded, real)) = answers::pointers(call, call.bits(pointer)) else { return };
    let bytes = roles::MEMORY_BYTES.param(command).map_or(0, |at| match call.arg(at) {
        Some(size) if size.param.ty.kind == Kind::Number => call.bits(at),
        // The driver writes the size.
        _ => {
            let size = answers::numbers(call, call.bits(at));
            size.map_or(0, |(recorded, real)| recorded.min(real))
        }
    });
    let allocation = Allocation { bytes, real, seen: None, is_visible };
    call.parts.level_zero.allocations(process).insert(recorded, allocation);
}

/// Bytes here for memory of the recording, allocated or the program's own.
pub fn memory<'a>(call: &'a Call<'_, '_>, address: u64, len: usize) -> Option<&'a [u8]> {
    let parts = &*call.parts;
    let allocations = parts.level_zero.processes.get(&call.command.process);
    let allocated = allocations.and_then(|allocations| allocations.bytes(address, len));
    allocated.or_else(|| parts.memory.held(address, len))
}

/// Rows that a list writes at `address`, if it does not write all bytes of the extent.
pub fn rows(call: &Call<'_, '_>, address: u64) -> Option<Rows> {
    call.parts.level_zero.rows.get(&(call.command.process, address)).copied()
}

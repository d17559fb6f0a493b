//! Mapped buffers: copies what the program wrote to mapped memory into the driver's mapping. The driver is asked each
//! time whether the buffer is mapped for writing, where and how long; bytes beyond its mapping are left out.

use std::ffi::c_void;

use gapii_commands::constants::{
    GL_ARRAY_BUFFER, GL_ARRAY_BUFFER_BINDING, GL_BUFFER_ACCESS_FLAGS,
    GL_BUFFER_ACCESS_OES as GL_BUFFER_ACCESS, GL_BUFFER_MAP_LENGTH, GL_BUFFER_MAP_POINTER,
    GL_BUFFER_SIZE, GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, GL_ELEMENT_ARRAY_BUFFER,
    GL_ELEMENT_ARRAY_BUFFER_BINDING,
};
use gapii_commands::{CommandId, constants, ids};
use gapii_trace::Command;

use gapii_state::read_back::NEVER;

use crate::call::Call;
use crate::driver::Driver;
use crate::names::{Kind, Scopes};
use crate::objects::Mapping;
use crate::parts::Parts;

/// Value of GL_BUFFER_ACCESS_OES.
const GL_WRITE_ONLY: i32 = constants::GL_WRITE_ONLY as i32;
const GL_MAP_WRITE_BIT: i32 = constants::GL_MAP_WRITE_BIT as i32;

const IS_BUFFER: u16 = ids::GL_IS_BUFFER;
const BIND_BUFFER: u16 = ids::GL_BIND_BUFFER;
const GET_BUFFER_PARAMETER: u16 = ids::GL_GET_BUFFER_PARAMETERIV;
const GET_BUFFER_POINTER: u16 = ids::GL_GET_BUFFER_POINTERV;
const GET_BUFFER_POINTER_OES: u16 = ids::GL_GET_BUFFER_POINTERV_OES;

/// A mapping as the driver reports it now.
struct Mapped {
    at: *mut u8,
    len: usize,
}

type Version = (u8, u8);

/// Targets of buffers, the queries that return the buffer bound to each, and the versions of OpenGL ES and of desktop OpenGL
/// that have them first.
const TARGETS: [(u32, u32, [Version; 2]); 14] = [
    (GL_ARRAY_BUFFER, GL_ARRAY_BUFFER_BINDING, [(1, 1), (1, 5)]),
    (GL_ELEMENT_ARRAY_BUFFER, GL_ELEMENT_ARRAY_BUFFER_BINDING, [(1, 1), (1, 5)]),
    (GL_COPY_READ_BUFFER, GL_COPY_READ_BUFFER, [(3, 0), (3, 1)]),
    (GL_COPY_WRITE_BUFFER, GL_COPY_WRITE_BUFFER, [(3, 0), (3, 1)]),
    (constants::GL_PIXEL_PACK_BUFFER, constants::GL_PIXEL_PACK_BUFFER_BINDING, [(3, 0), (2, 1)]),
    (
        constants::GL_PIXEL_UNPACK_BUFFER,
        constants::GL_PIXEL_UNPACK_BUFFER_BINDING,
        [(3, 0), (2, 1)],
    ),
    (constants::GL_UNIFORM_BUFFER, constants::GL_UNIFORM_BUFFER_BINDING, [(3, 0), (3, 1)]),
    (
        constants::GL_TRANSFORM_FEEDBACK_BUFFER,
        constants::GL_TRANSFORM_FEEDBACK_BUFFER_BINDING,
        [(3, 0), (3, 0)],
    ),
    (
        constants::GL_ATOMIC_COUNTER_BUFFER,
        constants::GL_ATOMIC_COUNTER_BUFFER_BINDING,
        [(3, 1), (4, 2)],
    ),
    (
        constants::GL_SHADER_STORAGE_BUFFER,
        constants::GL_SHADER_STORAGE_BUFFER_BINDING,
        [(3, 1), (4, 3)],
    ),
    (
        constants::GL_DISPATCH_INDIRECT_BUFFER,
        constants::GL_DISPATCH_INDIRECT_BUFFER_BINDING,
        [(3, 1), (4, 3)],
    ),
    (
        constants::GL_DRAW_INDIRECT_BUFFER,
        constants::GL_DRAW_INDIRECT_BUFFER_BINDING,
        [(3, 1), (4, 0)],
    ),
    (constants::GL_TEXTURE_BUFFER, constants::GL_TEXTURE_BUFFER_BINDING, [(3, 2), (3, 1)]),
    (constants::GL_QUERY_BUFFER, constants::GL_QUERY_BUFFER_BINDING, [NEVER, (4, 4)]),
];

/// Notes that the driver has mapped the buffer bound to `target`, at the recorded address, if the program may write
/// there.
pub fn mapped(call: &mut Call<'_, '_>, target: u32, at: *mut c_void) {
    if let Some((_, binding, _)) = TARGETS.iter().find(|(known, ..)| *known == target) {
        let buffer = call.parts.bound(call.scopes, *binding);
        mapped_by_name(call, buffer, at);
    }
}

/// The same for the buffer that has this name of the driver.
pub fn mapped_by_name(call: &mut Call<'_, '_>, buffer: u32, at: *mut c_void) {
    let Some(address) = call.recorded_result().filter(|address| *address != 0 && !at.is_null())
    else {
        return;
    };
    let (process, group, here) = (call.command.process, call.scopes.group, at.addr());
    let unsized_mapping = Mapping { process, group, buffer, address, len_bytes: 0, here };
    if let Some(mapped) = ask(call.parts, call.scopes, unsized_mapping) {
        let len_bytes = mapped.len as u64;
        call.parts.mappings.insert(Mapping { len_bytes, ..unsized_mapping });
    }
}

/// Returns the number of bytes that a command has just mapped, from its result on; `None` if it is not one that maps a buffer.
pub(crate) fn mapped_bytes(call: &Call<'_, '_>) -> Option<u64> {
    let (query, of) = match call.command.known()? {
        CommandId::GL_MAP_BUFFER_RANGE
        | CommandId::GL_MAP_BUFFER_RANGE_EXT
        | CommandId::GL_MAP_NAMED_BUFFER_RANGE
        | CommandId::GL_MAP_NAMED_BUFFER_RANGE_EXT => return u64::try_from(call.i64(2)).ok(),
        CommandId::GL_MAP_BUFFER | CommandId::GL_MAP_BUFFER_ARB | CommandId::GL_MAP_BUFFER_OES => {
            (GET_BUFFER_PARAMETER, call.u32(0))
        }
        CommandId::GL_MAP_NAMED_BUFFER => {
            (ids::GL_GET_NAMED_BUFFER_PARAMETERIV, call.name_of(Kind::Buffer, call.u32(0)))
        }
        CommandId::GL_MAP_NAMED_BUFFER_EXT => {
            (ids::GL_GET_NAMED_BUFFER_PARAMETERIV_EXT, call.name_of(Kind::Buffer, call.u32(0)))
        }
        _ => return None,
    };
    // SAFETY: the type of these queries.
    let get = unsafe { call.parts.driver.own::<GetParameter>(query) }.ok()?;
    let mut size = 0;
    // SAFETY: the driver has just mapped the buffer, and the query writes one number.
    unsafe { get(of, GL_BUFFER_SIZE, &raw mut size) };
    u64::try_from(size).ok()
}

/// Copies what a command observed of mapped memory into the driver's present mapping of the buffer.
pub(crate) fn update(parts: &mut Parts, scopes: Scopes, command: &Command<'_>) {
    if parts.mappings.is_empty() {
        return;
    }
    for range in command.ranges_read() {
        let at = range.address;
        let found = parts.mappings.find(command.process, scopes.group, at);
        let Some(mapping) = found else { continue };
        let Some(bytes) = command.bytes_of(range.observation) else { continue };
        let offset = at - mapping.address;
        let Some(mapped) = ask(parts, scopes, mapping) else { continue };
        let left = usize::try_from(offset).ok().and_then(|offset| mapped.len.checked_sub(offset));
        let Some(left) = left else { continue };
        let len = bytes.len().min(left);
        // SAFETY: the driver has just reported that the buffer is mapped here for writing, with at
        // least `len` bytes from `offset` on; no other thread of the replay runs meanwhile.
        unsafe {
            std::ptr::copy_nonoverlapping(
                bytes.as_ptr(),
                mapped.at.wrapping_add(offset as usize),
                len,
            );
        }
    }
}

type GetParameter = unsafe extern "C" fn(u32, u32, *mut i32);
type GetPointer = unsafe extern "C" fn(u32, u32, *mut *mut c_void);

/// The mapping as the driver has it now, queried in the current context; `None` if it has ended, or is not for writing.
/// A buffer whose name is deleted is found at a binding point of the context, if at all.
fn ask(parts: &mut Parts, scopes: Scopes, mapping: Mapping) -> Option<Mapped> {
    let facts = parts.facts(scopes);
    let is_es3 = facts.has((3, 0), (3, 0));
    if !is_es3 && !facts.has_map_buffer {
        return None;
    }
    let bound: Vec<(u32, u32)> = TARGETS
        .iter()
        .filter(|(.., [es, desktop])| facts.has(*es, *desktop))
        .map(|(target, binding, _)| (*target, parts.integer(*binding)))
        .collect();
    let is_it = |mapped: &Mapped| mapped.at.addr() == mapping.here;
    let mut holders = bound.iter().filter(|(_, buffer)| *buffer == mapping.buffer);
    let held =
        holders.find_map(|(target, _)| ask_target(&parts.driver, is_es3, *target).filter(is_it));
    held.or_else(|| ask_named(parts, is_es3, &bound, mapping.buffer).filter(is_it))
}

/// The mapping of the buffer that has a name. `bound` are the targets of the context with the names of their buffers.
fn ask_named(parts: &Parts, is_es3: bool, bound: &[(u32, u32)], buffer: u32) -> Option<Mapped> {
    let driver = &parts.driver;
    // SAFETY: the type of glIsBuffer.
    let is_buffer = unsafe { driver.own::<unsafe extern "C" fn(u32) -> u8>(IS_BUFFER) }.ok()?;
    // SAFETY: the type of glBindBuffer.
    let bind = unsafe { driver.own::<unsafe extern "C" fn(u32, u32)>(BIND_BUFFER) }.ok()?;
    // SAFETY: a context of OpenGL ES is current; any number may be asked about.
    let has_name = |buffer: u32| unsafe { is_buffer(buffer) } != 0;
    if !has_name(buffer) {
        return None;
    }
    // What has lost its name could not be bound again.
    let can_be_replaced = |(_, before): &&(u32, u32)| *before == 0 || has_name(*before);
    let (target, before) = *bound.iter().find(can_be_replaced)?;
    // SAFETY: a target of this version, and an existing buffer.
    unsafe { bind(target, buffer) };
    let mapped = ask_target(driver, is_es3, target);
    // SAFETY: the buffer that was bound before.
    unsafe { bind(target, before) };
    mapped
}

fn ask_target(driver: &Driver, is_es3: bool, target: u32) -> Option<Mapped> {
    // SAFETY: the type of glGetBufferParameteriv.
    let get = unsafe { driver.own::<GetParameter>(GET_BUFFER_PARAMETER) }.ok()?;
    let get_pointer = if is_es3 { GET_BUFFER_POINTER } else { GET_BUFFER_POINTER_OES };
    // SAFETY: the type of both functions.
    let get_pointer = unsafe { driver.own::<GetPointer>(get_pointer) }.ok()?;
    let number = |name: u32| {
        let mut value = 0;
        // SAFETY: a buffer is bound to the target, the name is one of this version, and the query
        // writes one number.
        unsafe { get(target, name, &raw mut value) };
        value
    };
    let (len, is_writable) = match is_es3 {
        true => {
            (number(GL_BUFFER_MAP_LENGTH), number(GL_BUFFER_ACCESS_FLAGS) & GL_MAP_WRITE_BIT != 0)
        }
        false => (number(GL_BUFFER_SIZE), number(GL_BUFFER_ACCESS) == GL_WRITE_ONLY),
    };
    let mut at = std::ptr::null_mut();
    // SAFETY: as above; the query writes one pointer.
    unsafe { get_pointer(target, GL_BUFFER_MAP_POINTER, &raw mut at) };
    let is_there = !at.is_null() && is_writable;
    Some(Mapped { at: at.cast(), len: usize::try_from(len).ok()? }).filter(|_| is_there)
}

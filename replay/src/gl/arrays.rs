//! Vertex arrays in the program's memory. `Memory` has what a draw reads from them. An array whose stride is negative
//! or exceeds 4,095 bytes (`STRIDE_MAX`) points into zeros; in a context that was given such an array, every client
//! array is set anew before each draw, and the large stride becomes 0.
//!
//! Format, type and stride of an array that is set anew are queried from the driver; only its address comes from the
//! trace.

use std::ffi::c_void;

use crate::call::Call;
use crate::driver::Driver;
use crate::memory::Memory;
use crate::skip::{Outcome, Skip};
use gapii_commands::constants::{
    GL_ARRAY_BUFFER, GL_ARRAY_BUFFER_BINDING, GL_CLIENT_ACTIVE_TEXTURE, GL_MAX_TEXTURE_UNITS,
    GL_MAX_VERTEX_ATTRIBS, GL_TEXTURE0, GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING,
    GL_VERTEX_ATTRIB_ARRAY_ENABLED, GL_VERTEX_ATTRIB_ARRAY_INTEGER,
    GL_VERTEX_ATTRIB_ARRAY_NORMALIZED, GL_VERTEX_ATTRIB_ARRAY_POINTER, GL_VERTEX_ATTRIB_ARRAY_SIZE,
    GL_VERTEX_ATTRIB_ARRAY_STRIDE, GL_VERTEX_ATTRIB_ARRAY_TYPE,
};
use gapii_commands::{constants, ids};

/// Largest stride in bytes: index times stride never leaves readable memory.
const STRIDE_MAX: i32 = 4095;

/// Number of vertex arrays in the tracked state: generic attributes, then the arrays of fixed functions.
const SLOTS: u32 = 50;
/// Number of generic attributes, which come first.
const GENERIC_SLOTS: u32 = 32;
/// First array of texture coordinates; texture unit n has the n-th from here.
const COORDINATES_SLOT: u32 = 38;
/// Number of these arrays.
const COORDINATES_SLOTS: u32 = 8;

const BIND_BUFFER: u16 = ids::GL_BIND_BUFFER;
const GET_ATTRIB: u16 = ids::GL_GET_VERTEX_ATTRIBIV;
const GET_ATTRIB_POINTER: u16 = ids::GL_GET_VERTEX_ATTRIB_POINTERV;
const ATTRIB_POINTER: u16 = ids::GL_VERTEX_ATTRIB_POINTER;
const ATTRIB_I_POINTER: u16 = ids::GL_VERTEX_ATTRIB_I_POINTER;
const CLIENT_ACTIVE_TEXTURE: u16 = ids::GL_CLIENT_ACTIVE_TEXTURE;

type BindBuffer = unsafe extern "C" fn(u32, u32);
type GetAttrib = unsafe extern "C" fn(u32, u32, *mut i32);
type GetAttribPointer = unsafe extern "C" fn(u32, u32, *mut *mut c_void);
type AttribPointer = unsafe extern "C" fn(u32, i32, u32, u8, i32, *const c_void);
type AttribIPointer = unsafe extern "C" fn(u32, i32, u32, i32, *const c_void);
type SizedPointer = unsafe extern "C" fn(i32, u32, i32, *const c_void);
type UnsizedPointer = unsafe extern "C" fn(u32, i32, *const c_void);
type UntypedPointer = unsafe extern "C" fn(i32, *const c_void);

/// The pointer of a command that sets a vertex array: an offset while a buffer is bound, else an
/// address. `pointer` and `stride` are parameter indices.
pub fn array_pointer<T>(
    call: &mut Call<'_, '_>,
    pointer: usize,
    stride: usize,
) -> Result<*const T, Skip> {
    let address = call.bits(pointer);
    if address == 0 {
        return Ok(std::ptr::null());
    }
    if call.bound(GL_ARRAY_BUFFER_BINDING) != 0 {
        return Ok(address as usize as *const T);
    }
    if call.i32(stride) > STRIDE_MAX {
        // The driver may refuse this stride. `set_client_arrays` asks it before each draw.
        call.parts.wide_arrays.insert(call.scopes.context);
        return Ok(call.parts.memory.void().cast());
    }
    Ok(call.parts.memory.home(address).cast())
}

/// Sets the client arrays of the next draw anew, in a context that was given a stride that is too
/// large.
pub fn set_client_arrays(call: &mut Call<'_, '_>) -> Outcome {
    if !call.parts.wide_arrays.contains(&call.scopes.context) {
        return Ok(());
    }
    let driver = call.parts.driver.clone();
    driver.in_setup(|| set_all(call))
}

fn set_all(call: &mut Call<'_, '_>) -> Outcome {
    let thread = call.parts.follower.thread(call.command.thread);
    let Some(context) = thread.and_then(|thread| thread.context.as_deref()) else { return Ok(()) };
    let is_fixed = context.api.has_fixed_function(context.version);
    let arrays = context.arrays();
    let places: Vec<(u32, Option<u64>)> = (0..SLOTS)
        .map(|slot| {
            let is_client = arrays.client >> slot & 1 != 0;
            let binding = arrays.binding_of(slot as usize).filter(|_| is_client);
            let relative = arrays.attribs.get(slot as usize).map_or(0, |it| it.relative_offset);
            (slot, binding.map(|it| it.offset.wrapping_add(u64::from(relative))))
        })
        .collect();
    let before = call.bound(GL_ARRAY_BUFFER_BINDING);
    bind_array_buffer(&call.parts.driver, before, 0)?;
    let fixed = if is_fixed { set_fixed(call, &places) } else { Ok(()) };
    let set = fixed.and_then(|()| set_generic(call, &places));
    bind_array_buffer(&call.parts.driver, 0, before)?;
    set
}

/// Address of an array in the player's memory; an array without an address in the trace is in the
/// void.
fn place(memory: &Memory, address: Option<u64>) -> *const c_void {
    address.map_or_else(|| memory.void(), |address| memory.translate(address)).cast()
}

/// Stride that the driver gets: one above 4095 bytes becomes 0, tightly packed. A draw that reads
/// such an array is wrong, but real programs have them only for arrays that they do not draw.
fn bounded(stride: i32) -> i32 {
    if (0..=STRIDE_MAX).contains(&stride) { stride } else { 0 }
}

fn bind_array_buffer(driver: &Driver, from: u32, to: u32) -> Outcome {
    if from != to {
        // SAFETY: the type of glBindBuffer.
        let bind = unsafe { driver.get::<BindBuffer>(BIND_BUFFER) }?;
        // SAFETY: a target of every version that has buffers; `to` is 0 or was bound before.
        unsafe { bind(GL_ARRAY_BUFFER, to) };
    }
    Ok(())
}

fn set_generic(call: &mut Call<'_, '_>, places: &[(u32, Option<u64>)]) -> Outcome {
    let facts = call.parts.facts(call.scopes);
    if !facts.has((2, 0), (2, 0)) {
        return Ok(());
    }
    let most = call.parts.integer(GL_MAX_VERTEX_ATTRIBS);
    let is_es3 = facts.has((3, 0), (3, 0));
    let driver = &call.parts.driver;
    // SAFETY: the type of glGetVertexAttribiv.
    let get = unsafe { driver.own::<GetAttrib>(GET_ATTRIB) }?;
    // SAFETY: the type of glGetVertexAttribPointerv.
    let get_pointer = unsafe { driver.own::<GetAttribPointer>(GET_ATTRIB_POINTER) }?;
    // SAFETY: the type of glVertexAttribPointer.
    let set = unsafe { driver.get::<AttribPointer>(ATTRIB_POINTER) }?;
    let number = |slot: u32, name: u32| {
        // Room for four values, in case the driver writes those of GL_CURRENT_VERTEX_ATTRIB.
        let mut values = [0i32; 4];
        // SAFETY: a slot below the driver's limit, and a name of its version.
        unsafe { get(slot, name, values.as_mut_ptr()) };
        values[0]
    };
    for (slot, address) in
        places.iter().copied().filter(|(slot, _)| *slot < most.min(GENERIC_SLOTS))
    {
        let mut now = std::ptr::null_mut();
        // SAFETY: as above; the query writes one pointer.
        unsafe { get_pointer(slot, GL_VERTEX_ATTRIB_ARRAY_POINTER, &raw mut now) };
        if now.is_null()
            || number(slot, GL_VERTEX_ATTRIB_ARRAY_ENABLED) == 0
            || number(slot, GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING) != 0
        {
            continue;
        }
        let size = number(slot, GL_VERTEX_ATTRIB_ARRAY_SIZE);
        let kind = number(slot, GL_VERTEX_ATTRIB_ARRAY_TYPE) as u32;
        let stride = bounded(number(slot, GL_VERTEX_ATTRIB_ARRAY_STRIDE));
        let pointer = place(&call.parts.memory, address);
        if is_es3 && number(slot, GL_VERTEX_ATTRIB_ARRAY_INTEGER) != 0 {
            // SAFETY: the type of glVertexAttribIPointer.
            let set = unsafe { driver.get::<AttribIPointer>(ATTRIB_I_POINTER) }?;
            // SAFETY: the format that the driver has for this slot already; the pointer leads into
            // memory of the player's.
            unsafe { set(slot, size, kind, stride, pointer) };
        } else {
            let normalized = number(slot, GL_VERTEX_ATTRIB_ARRAY_NORMALIZED) as u8;
            // SAFETY: as above.
            unsafe { set(slot, size, kind, normalized, stride, pointer) };
        }
    }
    Ok(())
}

/// A vertex array of fixed functions: its queries and the function that sets it.
struct Fixed {
    slot: u32,
    buffer: u32,
    /// Query of the number of components; 0: the array's function has no such parameter.
    size: u32,
    /// Query of the type; 0: the array's function has no such parameter.
    kind: u32,
    stride: u32,
    function: u16,
}

const fn fixed(slot: u32, names: [u32; 4], function: u16) -> Fixed {
    let [buffer, size, kind, stride] = names;
    Fixed { slot, buffer, size, kind, stride, function }
}

const FIXED: [Fixed; 11] = [
    fixed(
        32,
        [
            constants::GL_VERTEX_ARRAY_BUFFER_BINDING,
            constants::GL_VERTEX_ARRAY_SIZE,
            constants::GL_VERTEX_ARRAY_TYPE,
            constants::GL_VERTEX_ARRAY_STRIDE,
        ],
        ids::GL_VERTEX_POINTER,
    ),
    fixed(
        33,
        [
            constants::GL_NORMAL_ARRAY_BUFFER_BINDING,
            0,
            constants::GL_NORMAL_ARRAY_TYPE,
            constants::GL_NORMAL_ARRAY_STRIDE,
        ],
        ids::GL_NORMAL_POINTER,
    ),
    fixed(
        34,
        [
            constants::GL_COLOR_ARRAY_BUFFER_BINDING,
            constants::GL_COLOR_ARRAY_SIZE,
            constants::GL_COLOR_ARRAY_TYPE,
            constants::GL_COLOR_ARRAY_STRIDE,
        ],
        ids::GL_COLOR_POINTER,
    ),
    fixed(
        35,
        [
            constants::GL_POINT_SIZE_ARRAY_BUFFER_BINDING_OES,
            0,
            constants::GL_POINT_SIZE_ARRAY_TYPE_OES,
            constants::GL_POINT_SIZE_ARRAY_STRIDE_OES,
        ],
        ids::GL_POINT_SIZE_POINTER_OES,
    ),
    fixed(
        36,
        [
            constants::GL_MATRIX_INDEX_ARRAY_BUFFER_BINDING_OES,
            constants::GL_MATRIX_INDEX_ARRAY_SIZE_OES,
            constants::GL_MATRIX_INDEX_ARRAY_TYPE_OES,
            constants::GL_MATRIX_INDEX_ARRAY_STRIDE_OES,
        ],
        ids::GL_MATRIX_INDEX_POINTER_OES,
    ),
    fixed(
        37,
        [
            constants::GL_WEIGHT_ARRAY_BUFFER_BINDING_OES,
            constants::GL_WEIGHT_ARRAY_SIZE_OES,
            constants::GL_WEIGHT_ARRAY_TYPE_OES,
            constants::GL_WEIGHT_ARRAY_STRIDE_OES,
        ],
        ids::GL_WEIGHT_POINTER_OES,
    ),
    fixed(
        COORDINATES_SLOT,
        [
            constants::GL_TEXTURE_COORD_ARRAY_BUFFER_BINDING,
            constants::GL_TEXTURE_COORD_ARRAY_SIZE,
            constants::GL_TEXTURE_COORD_ARRAY_TYPE,
            constants::GL_TEXTURE_COORD_ARRAY_STRIDE,
        ],
        ids::GL_TEX_COORD_POINTER,
    ),
    fixed(
        46,
        [
            constants::GL_FOG_COORD_ARRAY_BUFFER_BINDING,
            0,
            constants::GL_FOG_COORD_ARRAY_TYPE,
            constants::GL_FOG_COORD_ARRAY_STRIDE,
        ],
        ids::GL_FOG_COORD_POINTER,
    ),
    fixed(
        47,
        [
            constants::GL_SECONDARY_COLOR_ARRAY_BUFFER_BINDING,
            constants::GL_SECONDARY_COLOR_ARRAY_SIZE,
            constants::GL_SECONDARY_COLOR_ARRAY_TYPE,
            constants::GL_SECONDARY_COLOR_ARRAY_STRIDE,
        ],
        ids::GL_SECONDARY_COLOR_POINTER,
    ),
    fixed(
        48,
        [
            constants::GL_INDEX_ARRAY_BUFFER_BINDING,
            0,
            constants::GL_INDEX_ARRAY_TYPE,
            constants::GL_INDEX_ARRAY_STRIDE,
        ],
        ids::GL_INDEX_POINTER,
    ),
    fixed(
        49,
        [constants::GL_EDGE_FLAG_ARRAY_BUFFER_BINDING, 0, 0, constants::GL_EDGE_FLAG_ARRAY_STRIDE],
        ids::GL_EDGE_FLAG_POINTER,
    ),
];

fn set_fixed(call: &mut Call<'_, '_>, places: &[(u32, Option<u64>)]) -> Outcome {
    let units = call.parts.integer(GL_MAX_TEXTURE_UNITS);
    let active = call.parts.integer(GL_CLIENT_ACTIVE_TEXTURE);
    // SAFETY: the type of glClientActiveTexture.
    let activate =
        unsafe { call.parts.driver.get::<unsafe extern "C" fn(u32)>(CLIENT_ACTIVE_TEXTURE) }?;
    for (slot, address) in places.iter().copied() {
        // Without its extension, the driver refuses even the query of an array.
        let Some(address) = address else { continue };
        let unit = slot.wrapping_sub(COORDINATES_SLOT);
        let has_unit = unit < COORDINATES_SLOTS;
        let first = if has_unit { COORDINATES_SLOT } else { slot };
        let Some(array) = FIXED.iter().find(|array| array.slot == first) else { continue };
        if has_unit && unit >= units {
            continue;
        }
        if has_unit {
            // SAFETY: a unit that the driver has.
            unsafe { activate(GL_TEXTURE0 + unit) };
        }
        let set = set_one(call, array, address);
        if has_unit {
            // SAFETY: what was active before.
            unsafe { activate(active) };
        }
        set?;
    }
    Ok(())
}

fn set_one(call: &Call<'_, '_>, array: &Fixed, address: u64) -> Outcome {
    let parts = &*call.parts;
    if parts.integer(array.buffer) != 0 {
        return Ok(());
    }
    let stride = bounded(parts.integer(array.stride) as i32);
    let pointer = place(&parts.memory, Some(address));
    let asked = |query: u32| if query == 0 { 0 } else { parts.integer(query) };
    let (size, kind) = (asked(array.size) as i32, asked(array.kind));
    if array.kind == 0 {
        // SAFETY: the type of glEdgeFlagPointer.
        let set = unsafe { parts.driver.get::<UntypedPointer>(array.function) }?;
        // SAFETY: the stride that the driver has for this array already; the pointer leads into memory
        // of the player's.
        unsafe { set(stride, pointer) };
    } else if array.size == 0 {
        // SAFETY: the type of the functions in the table with a type and without a size.
        let set = unsafe { parts.driver.get::<UnsizedPointer>(array.function) }?;
        // SAFETY: as above; the type, too, is the driver's.
        unsafe { set(kind, stride, pointer) };
    } else {
        // SAFETY: the type of all other functions in the table.
        let set = unsafe { parts.driver.get::<SizedPointer>(array.function) }?;
        // SAFETY: as above.
        unsafe { set(size, kind, stride, pointer) };
    }
    Ok(())
}

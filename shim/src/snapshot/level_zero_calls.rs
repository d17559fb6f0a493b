//! The functions of Level Zero that a snapshot calls: waits, the states of events and fences, and copies of device memory
//! through an immediate list of the shim's own. They bypass the tables, so nothing of them is recorded. A function that
//! the driver does not have fails.

use core::ffi::c_void;
use core::mem::transmute;
use core::ptr;
use std::time::Duration;

use gapii_ze_api::types::{
    ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE, ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY,
    ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
    ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES, ze_command_queue_desc_t,
    ze_command_queue_group_properties_t,
};

use crate::code::Code;
use crate::generated::ids;
use crate::kept;
use crate::kept::facts::Kind;

const SUCCESS: u32 = 0;

/// Declares the calls: safe ones, which take handles and numbers, and `unsafe` ones, which also take pointers.
macro_rules! calls {
    (
        numbers {$($name:ident = $id:ident($($arg:ident: $ty:ty),*);)*}
        memory {$($unsafe_name:ident = $unsafe_id:ident($($unsafe_arg:ident: $unsafe_ty:ty),*);)*}
    ) => {
        $(fn $name($($arg: $ty),*) -> bool {
            calls!(call $id($($arg: $ty),*))
        })*
        $(/// # Safety
        /// Pointers lead to as much memory as the command takes or writes.
        unsafe fn $unsafe_name($($unsafe_arg: $unsafe_ty),*) -> bool {
            calls!(call $unsafe_id($($unsafe_arg: $unsafe_ty),*))
        })*
    };
    (call $id:ident($($arg:ident: $ty:ty),*)) => {{
        let code = kept::driver(ids::$id);
        if code.is_null() {
            return false;
        }
        // SAFETY: the driver's function for the command has the command's signature.
        let call = unsafe { transmute::<Code, unsafe extern "C" fn($($ty),*) -> u32>(code) };
        // SAFETY: the objects live, because no other thread is in a command; the caller vouches for pointers.
        let result = unsafe { call($($arg),*) };
        result == SUCCESS
    }};
}

calls! {
    numbers {
        list_synchronize = ZE_COMMAND_LIST_HOST_SYNCHRONIZE(list: u64, timeout_ns: u64);
        queue_synchronize = ZE_COMMAND_QUEUE_SYNCHRONIZE(queue: u64, timeout_ns: u64);
        event_status = ZE_EVENT_QUERY_STATUS(event: u64);
        fence_status = ZE_FENCE_QUERY_STATUS(fence: u64);
        list_destroy = ZE_COMMAND_LIST_DESTROY(list: u64);
    }
    memory {
        create_immediate = ZE_COMMAND_LIST_CREATE_IMMEDIATE(
            context: u64, device: u64, desc: *const ze_command_queue_desc_t, list: *mut u64
        );
        append_copy = ZE_COMMAND_LIST_APPEND_MEMORY_COPY(
            list: u64, to: *mut c_void, from: u64, size: u64, signal: u64, count: u32,
            waits: *const u64
        );
        append_image_copy = ZE_COMMAND_LIST_APPEND_IMAGE_COPY_TO_MEMORY(
            list: u64, to: *mut c_void, from: u64, region: *const c_void, signal: u64, count: u32,
            waits: *const u64
        );
        group_properties = ZE_DEVICE_GET_COMMAND_QUEUE_GROUP_PROPERTIES(
            device: u64, count: *mut u32, groups: *mut ze_command_queue_group_properties_t
        );
    }
}

/// Waits until a queue or an immediate list is idle, up to `limit`. Returns whether it is.
pub fn synchronize(kind: Kind, executor: u64, limit: Duration) -> bool {
    let timeout_ns = limit.as_nanos() as u64;
    match kind {
        Kind::Queue => queue_synchronize(executor, timeout_ns),
        _ => list_synchronize(executor, timeout_ns),
    }
}

/// Whether an event or a fence is signalled.
pub fn is_signalled(kind: Kind, handle: u64) -> bool {
    match kind {
        Kind::Event => event_status(handle),
        _ => fence_status(handle),
    }
}

/// A synchronous immediate list of the shim's own.
pub struct OwnList {
    handle: u64,
    /// The description that it was made of.
    pub desc: ze_command_queue_desc_t,
}

impl OwnList {
    /// Makes a list that copies memory of a context. `None` if the driver makes none.
    pub fn new(context: u64, device: u64) -> Option<Self> {
        let desc = ze_command_queue_desc_t {
            stype: ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
            pNext: ptr::null(),
            ordinal: copying_group(device)?,
            index: 0,
            flags: 0,
            mode: ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
            priority: 0,
        };
        let mut handle = 0;
        // SAFETY: a description, and room for a handle.
        let is_made =
            unsafe { create_immediate(context, device, &raw const desc, &raw mut handle) };
        is_made.then_some(Self { handle, desc })
    }

    /// Copies memory at `from` into `to`. Returns whether it is copied.
    pub fn read(&self, from: u64, to: &mut [u8]) -> bool {
        let (out, size) = (to.as_mut_ptr().cast(), to.len() as u64);
        // SAFETY: `to` has that many bytes, and the list is synchronous.
        unsafe { append_copy(self.handle, out, from, size, 0, 0, ptr::null()) }
    }

    /// Copies a whole image into `to`, which has room for it. Returns whether it is copied.
    pub fn read_image(&self, image: u64, to: &mut [u8]) -> bool {
        let out = to.as_mut_ptr().cast();
        // SAFETY: `to` has room for all texels, and the list is synchronous.
        unsafe { append_image_copy(self.handle, out, image, ptr::null(), 0, 0, ptr::null()) }
    }
}

impl Drop for OwnList {
    fn drop(&mut self) {
        list_destroy(self.handle);
    }
}

/// Returns the first group of a device's queues that copies.
fn copying_group(device: u64) -> Option<u32> {
    const GROUPS_MAX: usize = 16;
    const COPIES: u32 =
        ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
    // SAFETY: plain numbers, and a null pointer.
    let mut group: ze_command_queue_group_properties_t = unsafe { core::mem::zeroed() };
    group.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
    let mut groups = [group; GROUPS_MAX];
    let mut count = GROUPS_MAX as u32;
    // SAFETY: room for this many groups.
    let is_known = unsafe { group_properties(device, &raw mut count, groups.as_mut_ptr()) };
    let groups = groups.get(..count as usize).filter(|_| is_known)?;
    groups.iter().position(|group| group.flags & COPIES != 0).map(|at| at as u32)
}

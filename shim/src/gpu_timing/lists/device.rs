//! `Device`: the calls of Level Zero that measure a list. They go to the driver's functions below the keepers, so they are in
//! no trace and in no snapshot. Their results stay in the shim.

use core::ffi::c_void;
use core::mem::transmute;
use core::ptr;

use gapii_recorder::clock_ns;
use gapii_ze_api::types::{
    ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, ZE_RESULT_SUCCESS, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES,
    ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2, ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
    ze_device_properties_t, ze_host_mem_alloc_desc_t,
};

use super::measured::Gpu;
use crate::code::Code;
use crate::generated::ids;
use crate::gpu_timing::clocks::{Counter, Unit};
use crate::gpu_timing::kind::is_work;
use crate::kept;
use crate::kept::registry::{self, ListPlace};

/// Alignment of the memory for counts, in bytes: a cache line.
const ALIGNMENT: usize = 64;

/// Calls the driver's function for a command. Gives its result; of a function that is missing, that it is unsupported.
macro_rules! call {
    ($id:ident($($arg:expr => $ty:ty),*)) => {{
        let code = kept::driver(ids::$id);
        if code.is_null() {
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
        } else {
            // SAFETY: the driver's function for the command has the command's signature.
            let call = unsafe { transmute::<Code, unsafe extern "C" fn($($ty),*) -> u32>(code) };
            // SAFETY: the program is about to use the objects or has just used them; pointers lead to as much memory as the
            // command takes or writes.
            unsafe { call($($arg),*) }
        }
    }};
}

/// The driver.
pub struct Device;

/// Outcome of the append of a timestamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Append {
    Done,
    /// The driver has no timestamps.
    Unsupported,
    /// The driver has refused it, for example because the list is closed.
    Refused,
}

/// Has a list write the device's count to `address` when everything before in the list is done and the events have been
/// signalled.
pub fn append_count(list: u64, address: u64, events: &[u64]) -> Append {
    let (none, count) = (ptr::null::<u64>(), events.len() as u32);
    let mut result = ZE_RESULT_SUCCESS;
    if !events.is_empty() {
        result = call!(ZE_COMMAND_LIST_APPEND_WAIT_ON_EVENTS(
            list => u64, count => u32, events.as_ptr() => *const u64
        ));
    }
    if result == ZE_RESULT_SUCCESS {
        result = call!(ZE_COMMAND_LIST_APPEND_BARRIER(
            list => u64, 0 => u64, 0 => u32, none => *const u64
        ));
    }
    if result == ZE_RESULT_SUCCESS {
        result = call!(ZE_COMMAND_LIST_APPEND_WRITE_GLOBAL_TIMESTAMP(
            list => u64, address => u64, 0 => u64, 0 => u32, none => *const u64
        ));
    }
    match result {
        ZE_RESULT_SUCCESS => Append::Done,
        ZE_RESULT_ERROR_UNSUPPORTED_FEATURE => Append::Unsupported,
        _ => Append::Refused,
    }
}

impl Gpu for Device {
    fn place_of(&self, list: u64) -> Option<ListPlace> {
        registry::lock().place_of_list(list)
    }

    fn counter(&self, device: u64) -> Option<Counter> {
        let older = properties(device, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES)?;
        let newer = properties(device, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2);
        let newer = newer.map_or(0, |newer| newer.timerResolution);
        let unit = Unit::of_resolutions(older.timerResolution, newer)?;
        let bits = older.timestampValidBits;
        // Asked for here, so that a device without it is not measured at all.
        self.now(device)?;
        (bits != 0).then(|| Counter::new(bits, unit))
    }

    fn now(&self, device: u64) -> Option<(u64, u64)> {
        let (mut host, mut count) = (0, 0);
        let before_ns = clock_ns();
        let result = call!(ZE_DEVICE_GET_GLOBAL_TIMESTAMPS(
            device => u64, &raw mut host => *mut u64, &raw mut count => *mut u64
        ));
        // The clock of the host's timestamp is the driver's choice.
        let between_ns = clock_ns().saturating_sub(before_ns);
        (result == ZE_RESULT_SUCCESS).then_some((count, before_ns + between_ns / 2))
    }

    fn allocate(&self, context: u64, bytes: usize) -> Option<*mut u8> {
        let desc = ze_host_mem_alloc_desc_t {
            stype: ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
            pNext: ptr::null(),
            flags: 0,
        };
        let mut memory = ptr::null_mut();
        let result = call!(ZE_MEM_ALLOC_HOST(
            context => u64, &raw const desc => *const ze_host_mem_alloc_desc_t, bytes => usize,
            ALIGNMENT => usize, &raw mut memory => *mut *mut c_void
        ));
        let memory: *mut u8 = memory.cast();
        (result == ZE_RESULT_SUCCESS && !memory.is_null()).then_some(memory)
    }

    fn work_in(&self, list: u64) -> u32 {
        registry::count_appended(list, is_work)
    }
}

/// Returns the properties of a device in a version of the structure; `None` if the driver does not know it.
fn properties(device: u64, version: u32) -> Option<ze_device_properties_t> {
    // SAFETY: plain numbers, and a null pointer.
    let mut properties: ze_device_properties_t = unsafe { core::mem::zeroed() };
    properties.stype = version;
    let result = call!(ZE_DEVICE_GET_PROPERTIES(
        device => u64, &raw mut properties => *mut ze_device_properties_t
    ));
    (result == ZE_RESULT_SUCCESS).then_some(properties)
}

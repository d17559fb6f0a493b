//! Arguments that the driver gets for Level Zero commands: its own objects and memory, and nothing
//! that a trace invents.

#![allow(non_snake_case, clippy::too_many_arguments)]

mod spying;

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::MutexGuard;

use gapii_replay::{Loader, Report};
use spying::{Written, note, plain, spies};

/// Values that the fake driver returns: a context, and device memory, which the host never reads.
const CONTEXT: usize = 0x9000;
const MEMORY: usize = 0xA000_0000;
/// Values that the recorded driver had returned.
const RECORDED_CONTEXT: u64 = 0x77;
const RECORDED_MEMORY: u64 = 0x10_0000;
const BYTES: u64 = 64;

const NOT_READY: u64 = 1;
const INVALID_ARGUMENT: u64 = 0x7800_0004;

/// A driver that notes some calls.
struct Spy;

// SAFETY: the functions below have the signatures of their names.
unsafe impl Loader for Spy {
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        spies!(
            name;
            zeCommandListAppendMemoryCopy, zeContextCreate, zeContextDestroy, zeFenceHostSynchronize,
            zeCommandQueueExecuteCommandLists, zeDeviceGet, zeDeviceGetSubDevices,
            zeKernelSetArgumentValue, zeMemAllocDevice, zeMemFree,
        )
    }
}

unsafe extern "C" fn zeContextCreate(_: usize, _: usize, context: *mut usize) -> u32 {
    // SAFETY: the player passes room for a handle.
    unsafe { *context = CONTEXT };
    0
}

unsafe extern "C" fn zeContextDestroy(context: usize) -> u32 {
    note(format!("destroy {context:x}"));
    0
}

unsafe extern "C" fn zeMemAllocDevice(
    _context: usize,
    _desc: usize,
    size: usize,
    _alignment: usize,
    _device: usize,
    memory: *mut usize,
) -> u32 {
    note(format!("allocate {size}"));
    // SAFETY: the player passes room for an address.
    unsafe { *memory = MEMORY };
    0
}

/// One device, whatever the recording had.
unsafe extern "C" fn zeDeviceGet(_driver: usize, _count: *mut u32, devices: *mut usize) -> u32 {
    // SAFETY: the player passes room for what the recording had.
    unsafe { *devices = CONTEXT };
    0
}

unsafe extern "C" fn zeDeviceGetSubDevices(device: usize, _: *mut u32, _: *mut usize) -> u32 {
    note(format!("parts of {device:x}"));
    0
}

unsafe extern "C" fn zeCommandQueueExecuteCommandLists(
    _queue: usize,
    count: u32,
    lists: *const usize,
    _fence: usize,
) -> u32 {
    // SAFETY: the player passes as many lists as the count says.
    let lists = unsafe { std::slice::from_raw_parts(lists, count as usize) };
    note(format!("execute {lists:x?}"));
    0
}

unsafe extern "C" fn zeMemFree(_context: usize, memory: usize) -> u32 {
    note(format!("free {memory:x}"));
    0
}

unsafe extern "C" fn zeCommandListAppendMemoryCopy(
    _list: usize,
    to: *mut u8,
    from: usize,
    size: usize,
    _signal: usize,
    _count: u32,
    _waits: usize,
) -> u32 {
    if to.addr().wrapping_sub(MEMORY) >= BYTES as usize {
        // SAFETY: memory of the program, for which the player has room.
        unsafe { to.write_bytes(1, size) };
        note(format!("copy {size} from {from:x}"));
    } else {
        note(format!("copy {size} to {:x}", to.addr()));
    }
    0
}

unsafe extern "C" fn zeKernelSetArgumentValue(
    _: usize,
    _: u32,
    _: usize,
    value: *const usize,
) -> u32 {
    // SAFETY: the player passes as many bytes as were recorded, eight here.
    note(format!("argument {:x}", unsafe { value.read_unaligned() }));
    0
}

/// A wait for a fence with the context's handle never succeeds.
unsafe extern "C" fn zeFenceHostSynchronize(fence: usize, timeout: u64) -> u32 {
    note(format!("wait {timeout}"));
    if fence == CONTEXT { NOT_READY as u32 } else { 0 }
}

/// Plays commands. Returns the driver's calls and the report.
fn played(commands: &[Written<'_>]) -> (Vec<String>, Report, MutexGuard<'static, ()>) {
    spying::played(&Spy, commands)
}

/// Reasons of the skipped commands.
fn reasons(report: &Report) -> Vec<&str> {
    report.skips.iter().map(|skip| &*skip.why).collect()
}

fn word(number: u64) -> [Vec<u8>; 1] {
    [number.to_le_bytes().to_vec()]
}

#[test]
fn object_is_the_drivers_until_it_is_destroyed() {
    let made = word(RECORDED_CONTEXT);
    let (calls, report, _turn) = played(&[
        plain("zeContextDestroy", &[RECORDED_CONTEXT]),
        Written { outputs: &made, ..plain("zeContextCreate", &[0, 0, 0x1000]) },
        plain("zeContextDestroy", &[RECORDED_CONTEXT]),
        plain("zeContextDestroy", &[RECORDED_CONTEXT]),
    ]);
    assert_eq!(calls, ["destroy 9000"]);
    assert_eq!(reasons(&report), ["it names an object that was not made in this replay"; 2]);
}

#[test]
fn address_maps_into_the_drivers_allocation_and_no_copy_leaves_it() {
    let (made, argument) = (word(RECORDED_MEMORY), word(RECORDED_MEMORY + 8));
    let copy = [0, RECORDED_MEMORY + 16, RECORDED_MEMORY, 48, 0, 0, 0];
    let too_far = [0, RECORDED_MEMORY + 16, RECORDED_MEMORY, 49, 0, 0, 0];
    let (calls, report, _turn) = played(&[
        Written { outputs: &made, ..plain("zeMemAllocDevice", &[0, 0, BYTES, 0, 0, 0x1000]) },
        plain("zeCommandListAppendMemoryCopy", &copy),
        plain("zeCommandListAppendMemoryCopy", &too_far),
        Written { inputs: &argument, ..plain("zeKernelSetArgumentValue", &[0, 0, 8, 0x2000]) },
        plain("zeMemFree", &[0, RECORDED_MEMORY]),
        Written { inputs: &argument, ..plain("zeKernelSetArgumentValue", &[0, 0, 8, 0x2000]) },
    ]);
    let expected = [
        "allocate 64",
        "copy 48 to a0000010",
        "argument a0000008",
        "free a0000000",
        "argument 100008",
    ];
    assert_eq!(calls, expected);
    assert_eq!(reasons(&report), ["it reaches beyond an allocation"]);
}

#[test]
fn program_memory_has_room_for_copies_to_it() {
    let made = word(RECORDED_MEMORY);
    let copy = |to, size| [0, to, RECORDED_MEMORY, size, 0, 0, 0];
    let (near_the_end, more_than_there_is) =
        (copy(u64::MAX - 8, 32), copy(0x7F00_0000_0000, 1 << 40));
    let (calls, report, _turn) = played(&[
        Written { outputs: &made, ..plain("zeMemAllocDevice", &[0, 0, BYTES, 0, 0, 0x1000]) },
        plain("zeCommandListAppendMemoryCopy", &copy(0x7F00_0003_FFF0, 32)),
        plain("zeCommandListAppendMemoryCopy", &near_the_end),
        plain("zeCommandListAppendMemoryCopy", &more_than_there_is),
    ]);
    assert_eq!(calls, ["allocate 64", "copy 32 from a0000000"]);
    assert_eq!(report.skipped, 2, "{:?}", reasons(&report));
}

#[test]
fn device_that_this_machine_lacks_is_unknown() {
    let (count, devices) = (2_u32.to_le_bytes().to_vec(), [0x51_u64, 0x52].map(u64::to_le_bytes));
    let (counts, found) = ([count], [(2, 0x2000, devices.concat())]);
    let (calls, report, _turn) = played(&[
        Written { inputs: &counts, ranges: &found, ..plain("zeDeviceGet", &[0, 0x1000, 0x2000]) },
        plain("zeDeviceGetSubDevices", &[0x51, 0, 0]),
        plain("zeDeviceGetSubDevices", &[0x52, 0, 0]),
    ]);
    assert_eq!(calls, ["parts of 9000"]);
    assert_eq!(reasons(&report), ["it names an object that was not made in this replay"]);
}

#[test]
fn array_that_is_cut_or_shorter_than_its_count_is_skipped() {
    let made = word(RECORDED_CONTEXT);
    let [whole, cut] = [8, 7].map(|len| [RECORDED_CONTEXT.to_le_bytes()[..len].to_vec()]);
    let execute = |count, lists| Written {
        inputs: lists,
        ..plain("zeCommandQueueExecuteCommandLists", count)
    };
    let (calls, report, _turn) = played(&[
        Written { outputs: &made, ..plain("zeContextCreate", &[0, 0, 0x1000]) },
        execute(&[0, 1, 0x2000, 0], &whole),
        execute(&[0, 2, 0x2000, 0], &whole),
        execute(&[0, 1, 0x2000, 0], &cut),
    ]);
    assert_eq!(calls, ["execute [9000]"]);
    let expected =
        ["its count exceeds what the trace has", "the trace has only a part of what it reads"];
    assert_eq!(reasons(&report), expected);
}

#[test]
fn part_of_an_allocation_is_not_freed() {
    let made = word(RECORDED_MEMORY);
    let (calls, report, _turn) = played(&[
        Written { outputs: &made, ..plain("zeMemAllocDevice", &[0, 0, BYTES, 0, 0, 0x1000]) },
        plain("zeMemFree", &[0, RECORDED_MEMORY + 8]),
        plain("zeMemFree", &[0, RECORDED_MEMORY]),
    ]);
    assert_eq!(calls, ["allocate 64", "free a0000000"]);
    assert_eq!(reasons(&report), ["it frees a part of an allocation"]);
}

#[test]
fn call_that_failed_is_not_made() {
    let (calls, report, _turn) = played(&[Written {
        result: INVALID_ARGUMENT,
        ..plain("zeMemFree", &[0, RECORDED_MEMORY])
    }]);
    assert_eq!(calls, [""; 0]);
    assert_eq!(report.skipped, 0);
}

#[test]
fn wait_lasts_60_s_if_it_had_succeeded_else_0() {
    let (calls, ..) = played(&[
        plain("zeFenceHostSynchronize", &[0, 5]),
        Written { result: NOT_READY, ..plain("zeFenceHostSynchronize", &[0, u64::MAX]) },
    ]);
    assert_eq!(calls, ["wait 60000000000", "wait 0"]);
}

#[test]
fn wait_after_a_timeout_lasts_100_ms() {
    let made = word(RECORDED_CONTEXT);
    let (calls, ..) = played(&[
        Written { outputs: &made, ..plain("zeContextCreate", &[0, 0, 0x1000]) },
        plain("zeFenceHostSynchronize", &[RECORDED_CONTEXT, 5]),
        plain("zeFenceHostSynchronize", &[RECORDED_CONTEXT, 5]),
    ]);
    assert_eq!(calls, ["wait 60000000000", "wait 100000000"]);
}

#[test]
fn command_that_no_replay_can_play_is_skipped_with_a_reason() {
    let handle = [vec![0; 64]];
    let (_, report, _turn) = played(&[
        Written { inputs: &handle, ..plain("zeMemPutIpcHandle", &[0, 0]) },
        plain("zeCommandListAppendHostFunction", &[0, 0x1000, 0, 0, 0, 0, 0]),
    ]);
    let expected = [
        "memory and events of other programs are not played",
        "callbacks are code of the program, which is not there",
    ];
    assert_eq!(reasons(&report), expected);
}

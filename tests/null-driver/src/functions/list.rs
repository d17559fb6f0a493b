//! Command lists: they collect steps for a queue; an immediate list has a queue of its own.

use core::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::event::Event;
use super::is_device;
use crate::flag::Flag;
use crate::kernel::Kernel;
use crate::object::{Answer, answer, create, destroy, get, not_null, ready};
use crate::queue::{Action, Queue, Step, address};
use gapii_ze_api::types::*;

pub struct CommandList {
    recorded: Mutex<Recorded>,
    /// The list's own queue, if the list is immediate.
    immediate: Option<Queue>,
}

#[derive(Default)]
struct Recorded {
    steps: Vec<Step>,
    is_closed: bool,
}

impl CommandList {
    /// The steps that a queue is to execute.
    pub fn steps(&self) -> Result<Vec<Step>, ze_result_t> {
        let recorded = self.recorded();
        let can_execute = recorded.is_closed && self.immediate.is_none();
        if can_execute { Ok(recorded.steps.clone()) } else { Err(ZE_RESULT_ERROR_INVALID_ARGUMENT) }
    }

    fn append(&self, step: Step) -> Answer {
        if let Some(queue) = &self.immediate {
            return queue.submit(vec![step], Arc::new(Flag::default()));
        }
        let mut recorded = self.recorded();
        if recorded.is_closed {
            return Err(ZE_RESULT_ERROR_INVALID_ARGUMENT);
        }
        recorded.steps.push(step);
        Ok(())
    }

    fn recorded(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub unsafe extern "C" fn zeCommandListCreate(
    hContext: ze_context_handle_t,
    hDevice: ze_device_handle_t,
    desc: *const ze_command_list_desc_t,
    phCommandList: *mut ze_command_list_handle_t,
) -> ze_result_t {
    answer(|| {
        not_null(hContext)?;
        is_device(hDevice)?;
        if desc.is_null() {
            return Err(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
        }
        create(phCommandList, CommandList { recorded: Mutex::default(), immediate: None })
    })
}

pub unsafe extern "C" fn zeCommandListCreateImmediate(
    hContext: ze_context_handle_t,
    hDevice: ze_device_handle_t,
    altdesc: *const ze_command_queue_desc_t,
    phCommandList: *mut ze_command_list_handle_t,
) -> ze_result_t {
    answer(|| {
        not_null(hContext)?;
        is_device(hDevice)?;
        let desc = altdesc.as_ref().ok_or(ZE_RESULT_ERROR_INVALID_NULL_POINTER)?;
        let immediate = Some(Queue::start(desc)?);
        create(phCommandList, CommandList { recorded: Mutex::default(), immediate })
    })
}

pub unsafe extern "C" fn zeCommandListDestroy(
    hCommandList: ze_command_list_handle_t,
) -> ze_result_t {
    answer(|| destroy::<CommandList, _>(hCommandList))
}

pub unsafe extern "C" fn zeCommandListClose(hCommandList: ze_command_list_handle_t) -> ze_result_t {
    answer(|| {
        get::<CommandList, _>(hCommandList)?.recorded().is_closed = true;
        Ok(())
    })
}

pub unsafe extern "C" fn zeCommandListReset(hCommandList: ze_command_list_handle_t) -> ze_result_t {
    answer(|| {
        let mut recorded = get::<CommandList, _>(hCommandList)?.recorded();
        recorded.steps.clear();
        recorded.is_closed = false;
        Ok(())
    })
}

pub unsafe extern "C" fn zeCommandListHostSynchronize(
    hCommandList: ze_command_list_handle_t,
    timeout: u64,
) -> ze_result_t {
    answer(|| match &get::<CommandList, _>(hCommandList)?.immediate {
        Some(queue) => ready(queue.synchronize(timeout)?),
        None => Err(ZE_RESULT_ERROR_INVALID_ARGUMENT),
    })
}

pub unsafe extern "C" fn zeCommandListAppendBarrier(
    hCommandList: ze_command_list_handle_t,
    hSignalEvent: ze_event_handle_t,
    numWaitEvents: u32,
    phWaitEvents: *mut ze_event_handle_t,
) -> ze_result_t {
    let events = (hSignalEvent, numWaitEvents, phWaitEvents);
    answer(|| append(hCommandList, Action::Nothing, events))
}

pub unsafe extern "C" fn zeCommandListAppendWriteGlobalTimestamp(
    hCommandList: ze_command_list_handle_t,
    dstptr: *mut u64,
    hSignalEvent: ze_event_handle_t,
    numWaitEvents: u32,
    phWaitEvents: *mut ze_event_handle_t,
) -> ze_result_t {
    answer(|| {
        not_null(hCommandList)?;
        if dstptr.is_null() {
            return Err(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
        }
        let write = Action::WriteCount { to: address(dstptr.cast()) };
        append(hCommandList, write, (hSignalEvent, numWaitEvents, phWaitEvents))
    })
}

pub unsafe extern "C" fn zeCommandListAppendMemoryCopy(
    hCommandList: ze_command_list_handle_t,
    dstptr: *mut c_void,
    srcptr: *const c_void,
    size: usize,
    hSignalEvent: ze_event_handle_t,
    numWaitEvents: u32,
    phWaitEvents: *mut ze_event_handle_t,
) -> ze_result_t {
    answer(|| {
        not_null(hCommandList)?;
        if dstptr.is_null() || srcptr.is_null() {
            return Err(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
        }
        let copy = Action::Copy { to: address(dstptr), from: address(srcptr), size };
        append(hCommandList, copy, (hSignalEvent, numWaitEvents, phWaitEvents))
    })
}

pub unsafe extern "C" fn zeCommandListAppendMemoryCopyRegion(
    hCommandList: ze_command_list_handle_t,
    dstptr: *mut c_void,
    dstRegion: *const ze_copy_region_t,
    dstPitch: u32,
    dstSlicePitch: u32,
    srcptr: *const c_void,
    srcRegion: *const ze_copy_region_t,
    srcPitch: u32,
    srcSlicePitch: u32,
    hSignalEvent: ze_event_handle_t,
    numWaitEvents: u32,
    phWaitEvents: *mut ze_event_handle_t,
) -> ze_result_t {
    answer(|| {
        not_null(hCommandList)?;
        let missing = ZE_RESULT_ERROR_INVALID_NULL_POINTER;
        let to = dstRegion.as_ref().filter(|_| !dstptr.is_null()).ok_or(missing)?;
        let from = srcRegion.as_ref().filter(|_| !srcptr.is_null()).ok_or(missing)?;
        let place = |region: &ze_copy_region_t, y: u32, z: u32, pitch: u32, slice_pitch: u32| {
            let rows = (region.originY + y) as usize * pitch as usize;
            region.originX as usize + rows + (region.originZ + z) as usize * slice_pitch as usize
        };
        let (none, no_waits) = (std::ptr::null_mut(), std::ptr::null_mut());
        append(hCommandList, Action::Nothing, (none, numWaitEvents, phWaitEvents))?;
        for z in 0..to.depth.max(1) {
            for y in 0..to.height {
                let copy = Action::Copy {
                    to: address(dstptr) + place(to, y, z, dstPitch, dstSlicePitch),
                    from: address(srcptr) + place(from, y, z, srcPitch, srcSlicePitch),
                    size: to.width as usize,
                };
                append(hCommandList, copy, (none, 0, no_waits))?;
            }
        }
        append(hCommandList, Action::Nothing, (hSignalEvent, 0, no_waits))
    })
}

pub unsafe extern "C" fn zeCommandListAppendMemoryFill(
    hCommandList: ze_command_list_handle_t,
    ptr: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    size: usize,
    hSignalEvent: ze_event_handle_t,
    numWaitEvents: u32,
    phWaitEvents: *mut ze_event_handle_t,
) -> ze_result_t {
    answer(|| {
        not_null(hCommandList)?;
        if ptr.is_null() || pattern.is_null() {
            return Err(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
        }
        if pattern_size == 0 {
            return Err(ZE_RESULT_ERROR_INVALID_SIZE);
        }
        let pattern = std::slice::from_raw_parts(pattern.cast::<u8>(), pattern_size);
        let fill = Action::Fill { to: address(ptr), pattern: pattern.into(), size };
        append(hCommandList, fill, (hSignalEvent, numWaitEvents, phWaitEvents))
    })
}

pub unsafe extern "C" fn zeCommandListAppendLaunchKernel(
    hCommandList: ze_command_list_handle_t,
    hKernel: ze_kernel_handle_t,
    pLaunchFuncArgs: *const ze_group_count_t,
    hSignalEvent: ze_event_handle_t,
    numWaitEvents: u32,
    phWaitEvents: *mut ze_event_handle_t,
) -> ze_result_t {
    answer(|| {
        not_null(hCommandList)?;
        let kernel = get::<Kernel, _>(hKernel)?;
        let groups = pLaunchFuncArgs.as_ref().ok_or(ZE_RESULT_ERROR_INVALID_NULL_POINTER)?;
        let action = kernel.launch(groups).map_or(Action::Nothing, Action::Mix);
        append(hCommandList, action, (hSignalEvent, numWaitEvents, phWaitEvents))
    })
}

pub unsafe extern "C" fn zeCommandListAppendSignalEvent(
    hCommandList: ze_command_list_handle_t,
    hEvent: ze_event_handle_t,
) -> ze_result_t {
    answer(|| append_set(hCommandList, hEvent, true))
}

pub unsafe extern "C" fn zeCommandListAppendEventReset(
    hCommandList: ze_command_list_handle_t,
    hEvent: ze_event_handle_t,
) -> ze_result_t {
    answer(|| append_set(hCommandList, hEvent, false))
}

pub unsafe extern "C" fn zeCommandListAppendWaitOnEvents(
    hCommandList: ze_command_list_handle_t,
    numEvents: u32,
    phEvents: *mut ze_event_handle_t,
) -> ze_result_t {
    answer(|| {
        not_null(hCommandList)?;
        if phEvents.is_null() {
            return Err(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
        }
        append(hCommandList, Action::Nothing, (std::ptr::null_mut(), numEvents, phEvents))
    })
}

unsafe fn append_set(
    list: ze_command_list_handle_t,
    event: ze_event_handle_t,
    raised: bool,
) -> Answer {
    let action = Action::Set(get::<Event, _>(event)?.clone(), raised);
    append(list, action, (std::ptr::null_mut(), 0, std::ptr::null_mut()))
}

/// Appends a command with the event that it signals and the events that it waits for.
pub unsafe fn append(
    list: ze_command_list_handle_t,
    action: Action,
    (signal, count, waits): (ze_event_handle_t, u32, *mut ze_event_handle_t),
) -> Answer {
    let list = get::<CommandList, _>(list)?;
    if count > 0 && waits.is_null() {
        return Err(ZE_RESULT_ERROR_INVALID_SIZE);
    }
    let mut step = Step { waits: Vec::new(), action, signals: None };
    if count > 0 {
        for event in std::slice::from_raw_parts(waits, count as usize) {
            step.waits.push(get::<Event, _>(*event)?.clone());
        }
    }
    if !signal.is_null() {
        step.signals = Some(get::<Event, _>(signal)?.clone());
    }
    list.append(step)
}

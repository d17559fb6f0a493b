//! Memory.

use core::ffi::c_void;

use super::the_device;
use crate::memory::{allocate, block_of, free};
use crate::object::{Answer, answer, give, not_null};
use gapii_ze_api::types::*;

pub unsafe extern "C" fn zeMemAllocShared(
    hContext: ze_context_handle_t,
    device_desc: *const ze_device_mem_alloc_desc_t,
    host_desc: *const ze_host_mem_alloc_desc_t,
    size: usize,
    alignment: usize,
    _hDevice: ze_device_handle_t,
    pptr: *mut *mut c_void,
) -> ze_result_t {
    let descs = [device_desc.cast(), host_desc.cast()];
    answer(|| give_block(hContext, &descs, size, alignment, ZE_MEMORY_TYPE_SHARED, pptr))
}

pub unsafe extern "C" fn zeMemAllocDevice(
    hContext: ze_context_handle_t,
    device_desc: *const ze_device_mem_alloc_desc_t,
    size: usize,
    alignment: usize,
    hDevice: ze_device_handle_t,
    pptr: *mut *mut c_void,
) -> ze_result_t {
    answer(|| {
        not_null(hDevice)?;
        let descs = [device_desc.cast()];
        give_block(hContext, &descs, size, alignment, ZE_MEMORY_TYPE_DEVICE, pptr)
    })
}

pub unsafe extern "C" fn zeMemAllocHost(
    hContext: ze_context_handle_t,
    host_desc: *const ze_host_mem_alloc_desc_t,
    size: usize,
    alignment: usize,
    pptr: *mut *mut c_void,
) -> ze_result_t {
    let descs = [host_desc.cast()];
    answer(|| give_block(hContext, &descs, size, alignment, ZE_MEMORY_TYPE_HOST, pptr))
}

pub unsafe extern "C" fn zeMemFree(hContext: ze_context_handle_t, ptr: *mut c_void) -> ze_result_t {
    answer(|| {
        not_null(hContext)?;
        let known = !ptr.is_null() && free(ptr.cast());
        if known { Ok(()) } else { Err(ZE_RESULT_ERROR_INVALID_ARGUMENT) }
    })
}

pub unsafe extern "C" fn zeMemGetAllocProperties(
    hContext: ze_context_handle_t,
    ptr: *const c_void,
    pMemAllocProperties: *mut ze_memory_allocation_properties_t,
    phDevice: *mut ze_device_handle_t,
) -> ze_result_t {
    answer(|| {
        not_null(hContext)?;
        let properties =
            pMemAllocProperties.as_mut().ok_or(ZE_RESULT_ERROR_INVALID_NULL_POINTER)?;
        let block = block_of(ptr.addr());
        properties.r#type = block.map_or(ZE_MEMORY_TYPE_UNKNOWN, |block| block.kind);
        properties.id = block.map_or(0, |block| block.address as u64);
        properties.pageSize = 4096;
        if !phDevice.is_null() {
            let has_device = block.is_some_and(|block| block.kind != ZE_MEMORY_TYPE_HOST);
            give(phDevice, if has_device { the_device() } else { std::ptr::null_mut() })?;
        }
        Ok(())
    })
}

pub unsafe extern "C" fn zeMemGetAddressRange(
    hContext: ze_context_handle_t,
    ptr: *const c_void,
    pBase: *mut *mut c_void,
    pSize: *mut usize,
) -> ze_result_t {
    answer(|| {
        not_null(hContext)?;
        let block = block_of(ptr.addr()).ok_or(ZE_RESULT_ERROR_INVALID_ARGUMENT)?;
        if !pBase.is_null() {
            give(pBase, block.address as *mut c_void)?;
        }
        if !pSize.is_null() {
            give(pSize, block.layout.size())?;
        }
        Ok(())
    })
}

unsafe fn give_block(
    context: ze_context_handle_t,
    descs: &[*const c_void],
    size: usize,
    alignment: usize,
    kind: ze_memory_type_t,
    to: *mut *mut c_void,
) -> Answer {
    not_null(context)?;
    if to.is_null() || descs.iter().any(|desc| desc.is_null()) {
        return Err(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    }
    if size == 0 {
        return Err(ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    }
    if alignment != 0 && !alignment.is_power_of_two() {
        return Err(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
    }
    let memory = allocate(size, alignment, kind).ok_or(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)?;
    give(to, memory.cast())
}

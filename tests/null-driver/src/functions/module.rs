//! Modules and kernels: any code is accepted, and none runs.

use core::ffi::c_void;

use super::is_device;
use crate::flaw::{self, Flaw};
use crate::object::{Bare, answer, create, destroy, give, not_null};
use gapii_ze_api::types::*;

pub unsafe extern "C" fn zeModuleCreate(
    hContext: ze_context_handle_t,
    hDevice: ze_device_handle_t,
    desc: *const ze_module_desc_t,
    phModule: *mut ze_module_handle_t,
    phBuildLog: *mut ze_module_build_log_handle_t,
) -> ze_result_t {
    answer(|| {
        not_null(hContext)?;
        is_device(hDevice)?;
        if desc.is_null() {
            return Err(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
        }
        if !phBuildLog.is_null() {
            return Err(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
        }
        create(phModule, Bare::default())
    })
}

pub unsafe extern "C" fn zeModuleDestroy(hModule: ze_module_handle_t) -> ze_result_t {
    answer(|| destroy::<Bare, _>(hModule))
}

pub unsafe extern "C" fn zeKernelCreate(
    hModule: ze_module_handle_t,
    desc: *const ze_kernel_desc_t,
    phKernel: *mut ze_kernel_handle_t,
) -> ze_result_t {
    answer(|| {
        not_null(hModule)?;
        let desc = desc.as_ref().ok_or(ZE_RESULT_ERROR_INVALID_NULL_POINTER)?;
        if desc.pKernelName.is_null() {
            return Err(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
        }
        if flaw::has(Flaw::Kernels) {
            return Err(ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
        }
        create(phKernel, Bare::default())
    })
}

pub unsafe extern "C" fn zeKernelDestroy(hKernel: ze_kernel_handle_t) -> ze_result_t {
    answer(|| destroy::<Bare, _>(hKernel))
}

pub unsafe extern "C" fn zeKernelSetGroupSize(
    hKernel: ze_kernel_handle_t,
    groupSizeX: u32,
    groupSizeY: u32,
    groupSizeZ: u32,
) -> ze_result_t {
    answer(|| {
        not_null(hKernel)?;
        let has_zero = [groupSizeX, groupSizeY, groupSizeZ].contains(&0);
        if has_zero { Err(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION) } else { Ok(()) }
    })
}

pub unsafe extern "C" fn zeKernelSuggestGroupSize(
    hKernel: ze_kernel_handle_t,
    _globalSizeX: u32,
    _globalSizeY: u32,
    _globalSizeZ: u32,
    groupSizeX: *mut u32,
    groupSizeY: *mut u32,
    groupSizeZ: *mut u32,
) -> ze_result_t {
    answer(|| {
        not_null(hKernel)?;
        let suggested = if flaw::has(Flaw::Device) { 2 } else { 1 };
        [groupSizeX, groupSizeY, groupSizeZ].into_iter().try_for_each(|size| give(size, suggested))
    })
}

pub unsafe extern "C" fn zeKernelSetArgumentValue(
    hKernel: ze_kernel_handle_t,
    _argIndex: u32,
    _argSize: usize,
    _pArgValue: *const c_void,
) -> ze_result_t {
    answer(|| not_null(hKernel))
}

//! Modules and kernels: any code is accepted, and none runs.

use core::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use super::is_device;
use crate::flaw::{self, Flaw};
use crate::kernel::{Kernel, Module};
use crate::object::{answer, create, destroy, get, give, not_null};
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
        let desc = desc.as_ref().ok_or(ZE_RESULT_ERROR_INVALID_NULL_POINTER)?;
        if !phBuildLog.is_null() {
            return Err(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
        }
        let code = match desc.pInputModule {
            null if null.is_null() => &[],
            code => std::slice::from_raw_parts(code, desc.inputSize),
        };
        let constants = desc.pConstants.as_ref().filter(|constants| constants.numConstants > 0);
        let constant = constants.map_or(0, |constants| {
            let values: *const *const c_void = constants.pConstantValues.cast();
            values.read().cast::<u8>().read()
        });
        let module = Module::new(code, constant).ok_or(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)?;
        create(phModule, Arc::new(module))
    })
}

pub unsafe extern "C" fn zeModuleDestroy(hModule: ze_module_handle_t) -> ze_result_t {
    answer(|| destroy::<Arc<Module>, _>(hModule))
}

pub unsafe extern "C" fn zeModuleGetGlobalPointer(
    hModule: ze_module_handle_t,
    pGlobalName: *const c_char,
    pSize: *mut usize,
    pptr: *mut *mut c_void,
) -> ze_result_t {
    answer(|| {
        let module = get::<Arc<Module>, _>(hModule)?;
        if pGlobalName.is_null() {
            return Err(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
        }
        if CStr::from_ptr(pGlobalName) != c"global" {
            return Err(ZE_RESULT_ERROR_INVALID_GLOBAL_NAME);
        }
        let (address, size) = module.global();
        if !pSize.is_null() {
            give(pSize, size)?;
        }
        if !pptr.is_null() {
            give(pptr, address.cast())?;
        }
        Ok(())
    })
}

pub unsafe extern "C" fn zeKernelCreate(
    hModule: ze_module_handle_t,
    desc: *const ze_kernel_desc_t,
    phKernel: *mut ze_kernel_handle_t,
) -> ze_result_t {
    answer(|| {
        let module = get::<Arc<Module>, _>(hModule)?;
        let desc = desc.as_ref().ok_or(ZE_RESULT_ERROR_INVALID_NULL_POINTER)?;
        if desc.pKernelName.is_null() {
            return Err(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
        }
        if flaw::has(Flaw::Kernels) {
            return Err(ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
        }
        create(phKernel, Kernel::new(module, CStr::from_ptr(desc.pKernelName)))
    })
}

pub unsafe extern "C" fn zeKernelDestroy(hKernel: ze_kernel_handle_t) -> ze_result_t {
    answer(|| destroy::<Kernel, _>(hKernel))
}

pub unsafe extern "C" fn zeKernelSetGroupSize(
    hKernel: ze_kernel_handle_t,
    groupSizeX: u32,
    groupSizeY: u32,
    groupSizeZ: u32,
) -> ze_result_t {
    answer(|| {
        let kernel = get::<Kernel, _>(hKernel)?;
        let sizes = [groupSizeX, groupSizeY, groupSizeZ];
        if sizes.contains(&0) {
            return Err(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
        }
        kernel.set_group_size(sizes);
        Ok(())
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
    argIndex: u32,
    argSize: usize,
    pArgValue: *const c_void,
) -> ze_result_t {
    answer(|| {
        let kernel = get::<Kernel, _>(hKernel)?;
        if !pArgValue.is_null() {
            let value = std::slice::from_raw_parts(pArgValue.cast::<u8>(), argSize);
            kernel.set_argument(argIndex, value);
        }
        Ok(())
    })
}

pub unsafe extern "C" fn zeKernelSetIndirectAccess(
    hKernel: ze_kernel_handle_t,
    _flags: ze_kernel_indirect_access_flags_t,
) -> ze_result_t {
    answer(|| not_null(hKernel))
}

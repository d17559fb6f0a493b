//! Initialisation, and the driver.

use super::{is_driver, the_driver};
use crate::object::{answer, enumerate, give};
use gapii_ze_api::types::*;

pub unsafe extern "C" fn zeInit(_flags: ze_init_flags_t) -> ze_result_t {
    ZE_RESULT_SUCCESS
}

pub unsafe extern "C" fn zeInitDrivers(
    pCount: *mut u32,
    phDrivers: *mut ze_driver_handle_t,
    desc: *mut ze_init_driver_type_desc_t,
) -> ze_result_t {
    if desc.is_null() {
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    }
    zeDriverGet(pCount, phDrivers)
}

pub unsafe extern "C" fn zeDriverGet(
    pCount: *mut u32,
    phDrivers: *mut ze_driver_handle_t,
) -> ze_result_t {
    answer(|| enumerate(pCount, phDrivers, &[the_driver()]))
}

pub unsafe extern "C" fn zeDriverGetApiVersion(
    hDriver: ze_driver_handle_t,
    version: *mut ze_api_version_t,
) -> ze_result_t {
    answer(|| {
        is_driver(hDriver)?;
        give(version, ZE_API_VERSION_CURRENT)
    })
}

pub unsafe extern "C" fn zeDriverGetProperties(
    hDriver: ze_driver_handle_t,
    pDriverProperties: *mut ze_driver_properties_t,
) -> ze_result_t {
    answer(|| {
        is_driver(hDriver)?;
        let properties = pDriverProperties.as_mut().ok_or(ZE_RESULT_ERROR_INVALID_NULL_POINTER)?;
        properties.uuid = ze_driver_uuid_t { id: *b"gapii null drive" };
        properties.driverVersion = 1;
        Ok(())
    })
}

pub unsafe extern "C" fn zeDriverGetExtensionProperties(
    hDriver: ze_driver_handle_t,
    pCount: *mut u32,
    pExtensionProperties: *mut ze_driver_extension_properties_t,
) -> ze_result_t {
    answer(|| {
        is_driver(hDriver)?;
        enumerate(pCount, pExtensionProperties, &[])
    })
}

//! The only device, which computes nothing.

use super::{is_device, is_driver, name, the_device};
use crate::flaw::{self, Flaw};
use crate::object::{answer, enumerate, give};
use crate::timer;
use gapii_ze_api::types::*;

const MEMORY_BYTES: u64 = 1 << 30;
const LARGEST_GROUP: u32 = 1024;

fn device_name() -> &'static str {
    if flaw::has(Flaw::Device) { "another device" } else { "gapii null device" }
}

pub unsafe extern "C" fn zeDeviceGet(
    hDriver: ze_driver_handle_t,
    pCount: *mut u32,
    phDevices: *mut ze_device_handle_t,
) -> ze_result_t {
    answer(|| {
        is_driver(hDriver)?;
        enumerate(pCount, phDevices, &[the_device()])
    })
}

pub unsafe extern "C" fn zeDeviceGetSubDevices(
    hDevice: ze_device_handle_t,
    pCount: *mut u32,
    phSubdevices: *mut ze_device_handle_t,
) -> ze_result_t {
    answer(|| {
        is_device(hDevice)?;
        enumerate(pCount, phSubdevices, &[])
    })
}

pub unsafe extern "C" fn zeDeviceGetProperties(
    hDevice: ze_device_handle_t,
    pDeviceProperties: *mut ze_device_properties_t,
) -> ze_result_t {
    answer(|| {
        is_device(hDevice)?;
        let properties = pDeviceProperties.as_mut().ok_or(ZE_RESULT_ERROR_INVALID_NULL_POINTER)?;
        let knows_rate = properties.stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
        *properties = ze_device_properties_t {
            stype: properties.stype,
            pNext: properties.pNext,
            r#type: ZE_DEVICE_TYPE_GPU,
            vendorId: 0,
            deviceId: 0,
            flags: 0,
            subdeviceId: 0,
            coreClockRate: 1000,
            maxMemAllocSize: MEMORY_BYTES,
            maxHardwareContexts: 1,
            maxCommandQueuePriority: 0,
            numThreadsPerEU: 1,
            physicalEUSimdWidth: 8,
            numEUsPerSubslice: 1,
            numSubslicesPerSlice: 1,
            numSlices: 1,
            timerResolution: if knows_rate { timer::COUNTS_PER_SECOND } else { timer::COUNT_NS },
            timestampValidBits: timer::BITS,
            kernelTimestampValidBits: 64,
            uuid: ze_device_uuid_t { id: *b"gapii null devic" },
            name: name(device_name()),
        };
        Ok(())
    })
}

pub unsafe extern "C" fn zeDeviceGetGlobalTimestamps(
    hDevice: ze_device_handle_t,
    hostTimestamp: *mut u64,
    deviceTimestamp: *mut u64,
) -> ze_result_t {
    answer(|| {
        is_device(hDevice)?;
        if flaw::has(Flaw::Timer) {
            return Err(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
        }
        // The host's clock counts the same, as a driver may choose.
        let count = timer::count();
        give(hostTimestamp, count)?;
        give(deviceTimestamp, count)
    })
}

pub unsafe extern "C" fn zeDeviceGetComputeProperties(
    hDevice: ze_device_handle_t,
    pComputeProperties: *mut ze_device_compute_properties_t,
) -> ze_result_t {
    answer(|| {
        is_device(hDevice)?;
        let properties = pComputeProperties.as_mut().ok_or(ZE_RESULT_ERROR_INVALID_NULL_POINTER)?;
        *properties = ze_device_compute_properties_t {
            stype: properties.stype,
            pNext: properties.pNext,
            maxTotalGroupSize: LARGEST_GROUP,
            maxGroupSizeX: LARGEST_GROUP,
            maxGroupSizeY: LARGEST_GROUP,
            maxGroupSizeZ: LARGEST_GROUP,
            maxGroupCountX: u32::MAX,
            maxGroupCountY: u32::MAX,
            maxGroupCountZ: u32::MAX,
            maxSharedLocalMemory: 1 << 16,
            numSubGroupSizes: 1,
            subGroupSizes: [8, 0, 0, 0, 0, 0, 0, 0],
        };
        Ok(())
    })
}

pub unsafe extern "C" fn zeDeviceGetCommandQueueGroupProperties(
    hDevice: ze_device_handle_t,
    pCount: *mut u32,
    pCommandQueueGroupProperties: *mut ze_command_queue_group_properties_t,
) -> ze_result_t {
    answer(|| {
        is_device(hDevice)?;
        let group = ze_command_queue_group_properties_t {
            stype: ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES,
            pNext: std::ptr::null_mut(),
            flags: ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE
                | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY,
            maxMemoryFillPatternSize: usize::MAX,
            numQueues: 1,
        };
        enumerate(pCount, pCommandQueueGroupProperties, &[group])
    })
}

pub unsafe extern "C" fn zeDeviceGetMemoryProperties(
    hDevice: ze_device_handle_t,
    pCount: *mut u32,
    pMemProperties: *mut ze_device_memory_properties_t,
) -> ze_result_t {
    answer(|| {
        is_device(hDevice)?;
        let memory = ze_device_memory_properties_t {
            stype: ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES,
            pNext: std::ptr::null_mut(),
            flags: 0,
            maxClockRate: 1000,
            maxBusWidth: 64,
            totalSize: MEMORY_BYTES,
            name: name("heap"),
        };
        enumerate(pCount, pMemProperties, &[memory])
    })
}

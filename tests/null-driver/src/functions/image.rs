//! Images: texels one behind the other, without gaps. Copies are of whole images, of layouts of one or four bytes.

use core::ffi::c_void;

use super::is_device;
use super::list::append;
use crate::object::{answer, create, destroy, get, not_null};
use crate::queue::{Action, address};
use gapii_ze_api::types::*;

struct Image {
    texels: Box<[u8]>,
}

impl Image {
    /// Address of the first texel, and size in bytes.
    fn memory(&self) -> (usize, usize) {
        (address(self.texels.as_ptr().cast()), self.texels.len())
    }
}

pub unsafe extern "C" fn zeImageCreate(
    hContext: ze_context_handle_t,
    hDevice: ze_device_handle_t,
    desc: *const ze_image_desc_t,
    phImage: *mut ze_image_handle_t,
) -> ze_result_t {
    answer(|| {
        not_null(hContext)?;
        is_device(hDevice)?;
        let desc = desc.as_ref().ok_or(ZE_RESULT_ERROR_INVALID_NULL_POINTER)?;
        let texel_bytes = match desc.format.layout {
            ZE_IMAGE_FORMAT_LAYOUT_8 => 1,
            ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8 => 4,
            _ => return Err(ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT),
        };
        let slices = desc.depth.max(1) as usize * desc.arraylevels.max(1) as usize;
        let rows = desc.height.max(1) as usize * slices;
        let texels = vec![0; desc.width as usize * rows * texel_bytes].into();
        create(phImage, Image { texels })
    })
}

pub unsafe extern "C" fn zeImageDestroy(hImage: ze_image_handle_t) -> ze_result_t {
    answer(|| destroy::<Image, _>(hImage))
}

pub unsafe extern "C" fn zeCommandListAppendImageCopyToMemory(
    hCommandList: ze_command_list_handle_t,
    dstptr: *mut c_void,
    hSrcImage: ze_image_handle_t,
    pSrcRegion: *const ze_image_region_t,
    hSignalEvent: ze_event_handle_t,
    numWaitEvents: u32,
    phWaitEvents: *mut ze_event_handle_t,
) -> ze_result_t {
    answer(|| {
        not_null(hCommandList)?;
        let (from, size) = get::<Image, _>(hSrcImage)?.memory();
        if !pSrcRegion.is_null() {
            return Err(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
        }
        let copy = Action::Copy { to: address(dstptr), from, size };
        append(hCommandList, copy, (hSignalEvent, numWaitEvents, phWaitEvents))
    })
}

pub unsafe extern "C" fn zeCommandListAppendImageCopyFromMemory(
    hCommandList: ze_command_list_handle_t,
    hDstImage: ze_image_handle_t,
    srcptr: *const c_void,
    pDstRegion: *const ze_image_region_t,
    hSignalEvent: ze_event_handle_t,
    numWaitEvents: u32,
    phWaitEvents: *mut ze_event_handle_t,
) -> ze_result_t {
    answer(|| {
        not_null(hCommandList)?;
        let (to, size) = get::<Image, _>(hDstImage)?.memory();
        if !pDstRegion.is_null() {
            return Err(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
        }
        let copy = Action::Copy { to, from: address(srcptr), size };
        append(hCommandList, copy, (hSignalEvent, numWaitEvents, phWaitEvents))
    })
}

//! How each command of EGL is played, by name.

use super::arguments::succeeded;
use super::{contexts, current, displays, images, questions, surfaces, swaps, syncs};
use crate::call::{Call, Entry};
use crate::skip::Outcome;

const fn entry(name: &'static str, play: fn(&mut Call<'_, '_>) -> Outcome) -> Entry {
    Entry { name, play, is_swap: false }
}

const fn swap(name: &'static str) -> Entry {
    Entry { name, play: swaps::swap, is_swap: true }
}

/// How each command of EGL is played, by name.
pub static COMMANDS: [Entry; 158] = [
    entry("eglBindAPI", questions::bind_api),
    entry("eglBindTexImage", surfaces::bind_tex_image),
    entry("eglBindWaylandDisplayWL", nothing),
    entry("eglChooseConfig", questions::choose_config),
    entry("eglClientSignalSyncEXT", nothing),
    entry("eglClientWaitSync", syncs::client_wait),
    entry("eglClientWaitSyncKHR", syncs::client_wait),
    entry("eglClientWaitSyncNV", syncs::client_wait_nv),
    entry("eglCompositorBindTexWindowEXT", unknown),
    entry("eglCompositorSetContextAttributesEXT", nothing),
    entry("eglCompositorSetContextListEXT", nothing),
    entry("eglCompositorSetSizeEXT", nothing),
    entry("eglCompositorSetWindowAttributesEXT", nothing),
    entry("eglCompositorSetWindowListEXT", nothing),
    entry("eglCompositorSwapPolicyEXT", nothing),
    entry("eglCopyBuffers", swaps::show),
    entry("eglCreateContext", contexts::create),
    entry("eglCreateDRMImageMESA", unknown),
    entry("eglCreateFenceSyncNV", syncs::create_fence),
    entry("eglCreateImage", images::create_wide),
    entry("eglCreateImageKHR", images::create_khr),
    entry("eglCreateNativeClientBufferANDROID", nothing),
    entry("eglCreatePbufferFromClientBuffer", unknown),
    entry("eglCreatePbufferSurface", surfaces::create_pbuffer),
    entry("eglCreatePixmapSurface", surfaces::create_pixmap),
    entry("eglCreatePixmapSurfaceHI", unknown),
    entry("eglCreatePlatformPixmapSurface", surfaces::create_pixmap_wide),
    entry("eglCreatePlatformPixmapSurfaceEXT", surfaces::create_pixmap),
    entry("eglCreatePlatformWindowSurface", surfaces::create_window_wide),
    entry("eglCreatePlatformWindowSurfaceEXT", surfaces::create_window),
    entry("eglCreateStreamAttribKHR", unknown),
    entry("eglCreateStreamFromFileDescriptorKHR", unknown),
    entry("eglCreateStreamKHR", unknown),
    entry("eglCreateStreamProducerSurfaceKHR", unknown),
    entry("eglCreateStreamSyncNV", unknown),
    entry("eglCreateSync", syncs::create),
    entry("eglCreateSync64KHR", syncs::create),
    entry("eglCreateSyncKHR", syncs::create),
    entry("eglCreateWaylandBufferFromImageWL", nothing),
    entry("eglCreateWindowSurface", surfaces::create_window),
    entry("eglDebugMessageControlKHR", nothing),
    entry("eglDestroyContext", contexts::destroy),
    entry("eglDestroyDisplayEXT", displays::destroy),
    entry("eglDestroyImage", images::destroy),
    entry("eglDestroyImageKHR", images::destroy),
    entry("eglDestroyStreamKHR", nothing),
    entry("eglDestroySurface", surfaces::destroy),
    entry("eglDestroySync", syncs::destroy),
    entry("eglDestroySyncKHR", syncs::destroy),
    entry("eglDestroySyncNV", syncs::destroy_nv),
    entry("eglDupNativeFenceFDANDROID", nothing),
    entry("eglExportDMABUFImageMESA", nothing),
    entry("eglExportDMABUFImageQueryMESA", nothing),
    entry("eglExportDRMImageMESA", nothing),
    entry("eglFenceNV", nothing),
    entry("eglGetCompositorTimingANDROID", nothing),
    entry("eglGetCompositorTimingSupportedANDROID", nothing),
    entry("eglGetConfigAttrib", questions::config_attribute),
    entry("eglGetConfigs", questions::configs),
    entry("eglGetCurrentContext", questions::current_context),
    entry("eglGetCurrentDisplay", questions::current_display),
    entry("eglGetCurrentSurface", questions::current_surface),
    entry("eglGetDisplay", displays::get),
    entry("eglGetDisplayDriverConfig", nothing),
    entry("eglGetDisplayDriverName", nothing),
    entry("eglGetError", questions::error),
    entry("eglGetFrameTimestampSupportedANDROID", nothing),
    entry("eglGetFrameTimestampsANDROID", nothing),
    entry("eglGetMscRateANGLE", nothing),
    entry("eglGetNativeClientBufferANDROID", nothing),
    entry("eglGetNextFrameIdANDROID", nothing),
    entry("eglGetOutputLayersEXT", nothing),
    entry("eglGetOutputPortsEXT", nothing),
    entry("eglGetPlatformDisplay", displays::get_platform),
    entry("eglGetPlatformDisplayEXT", displays::get),
    entry("eglGetProcAddress", questions::proc_address),
    entry("eglGetStreamFileDescriptorKHR", nothing),
    entry("eglGetSyncAttrib", syncs::ask),
    entry("eglGetSyncAttribKHR", syncs::ask),
    entry("eglGetSyncAttribNV", nothing),
    entry("eglGetSystemTimeFrequencyNV", nothing),
    entry("eglGetSystemTimeNV", nothing),
    entry("eglInitialize", displays::initialize),
    entry("eglLabelObjectKHR", nothing),
    entry("eglLockSurfaceKHR", unknown),
    entry("eglMakeCurrent", current::make_current),
    entry("eglOutputLayerAttribEXT", nothing),
    entry("eglOutputPortAttribEXT", nothing),
    entry("eglPostSubBufferNV", swaps::show),
    entry("eglPresentationTimeANDROID", nothing),
    entry("eglQueryAPI", questions::api),
    entry("eglQueryContext", questions::context),
    entry("eglQueryDebugKHR", nothing),
    entry("eglQueryDeviceAttribEXT", nothing),
    entry("eglQueryDeviceBinaryEXT", nothing),
    entry("eglQueryDeviceStringEXT", nothing),
    entry("eglQueryDevicesEXT", nothing),
    entry("eglQueryDisplayAttribEXT", nothing),
    entry("eglQueryDisplayAttribKHR", nothing),
    entry("eglQueryDisplayAttribNV", nothing),
    entry("eglQueryDmaBufFormatsEXT", nothing),
    entry("eglQueryDmaBufModifiersEXT", nothing),
    entry("eglQueryNativeDisplayNV", nothing),
    entry("eglQueryNativePixmapNV", nothing),
    entry("eglQueryNativeWindowNV", nothing),
    entry("eglQueryOutputLayerAttribEXT", nothing),
    entry("eglQueryOutputLayerStringEXT", nothing),
    entry("eglQueryOutputPortAttribEXT", nothing),
    entry("eglQueryOutputPortStringEXT", nothing),
    entry("eglQueryStreamAttribKHR", nothing),
    entry("eglQueryStreamConsumerEventNV", nothing),
    entry("eglQueryStreamKHR", nothing),
    entry("eglQueryStreamMetadataNV", nothing),
    entry("eglQueryStreamTimeKHR", nothing),
    entry("eglQueryStreamu64KHR", nothing),
    entry("eglQueryString", questions::text),
    entry("eglQuerySupportedCompressionRatesEXT", nothing),
    entry("eglQuerySurface", questions::surface),
    entry("eglQuerySurface64KHR", nothing),
    entry("eglQuerySurfacePointerANGLE", nothing),
    entry("eglQueryWaylandBufferWL", nothing),
    entry("eglReleaseTexImage", surfaces::release_tex_image),
    entry("eglReleaseThread", current::release_thread),
    entry("eglResetStreamNV", nothing),
    entry("eglSetBlobCacheFuncsANDROID", nothing),
    entry("eglSetDamageRegionKHR", nothing),
    entry("eglSetStreamAttribKHR", nothing),
    entry("eglSetStreamMetadataNV", nothing),
    entry("eglSignalSyncKHR", syncs::signal),
    entry("eglSignalSyncNV", nothing),
    entry("eglStreamAcquireImageNV", unknown),
    entry("eglStreamAttribKHR", nothing),
    entry("eglStreamConsumerAcquireAttribKHR", unknown),
    entry("eglStreamConsumerAcquireKHR", unknown),
    entry("eglStreamConsumerGLTextureExternalAttribsNV", unknown),
    entry("eglStreamConsumerGLTextureExternalKHR", unknown),
    entry("eglStreamConsumerOutputEXT", nothing),
    entry("eglStreamConsumerReleaseAttribKHR", nothing),
    entry("eglStreamConsumerReleaseKHR", nothing),
    entry("eglStreamFlushNV", nothing),
    entry("eglStreamImageConsumerConnectNV", unknown),
    entry("eglStreamReleaseImageNV", nothing),
    entry("eglSurfaceAttrib", surfaces::set_attribute),
    swap("eglSwapBuffers"),
    entry("eglSwapBuffersRegion2NOK", swaps::show),
    entry("eglSwapBuffersRegionNOK", swaps::show),
    swap("eglSwapBuffersWithDamageEXT"),
    swap("eglSwapBuffersWithDamageKHR"),
    entry("eglSwapInterval", contexts::swap_interval),
    entry("eglTerminate", displays::terminate),
    entry("eglUnbindWaylandDisplayWL", nothing),
    entry("eglUnlockSurfaceKHR", nothing),
    entry("eglUnsignalSyncEXT", nothing),
    entry("eglWaitClient", swaps::wait_client),
    entry("eglWaitGL", swaps::wait_client),
    entry("eglWaitNative", nothing),
    entry("eglWaitSync", syncs::wait),
    entry("eglWaitSyncKHR", syncs::wait),
];

/// Nothing is to be done: the command asks, or tells what only the program's own driver cares for.
fn nothing(_call: &mut Call<'_, '_>) -> Outcome {
    Ok(())
}

/// Skipped if it succeeded when it was recorded.
fn unknown(call: &mut Call<'_, '_>) -> Outcome {
    match succeeded(call) {
        true => Err("streams and the memory of other programs are not played".into()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use gapii_commands::{Api, CommandId};

    use super::*;

    #[test]
    fn every_command_of_egl_is_played_and_found_by_its_name() {
        let described = CommandId::all().filter(|command| command.api() == Api::Egl);
        assert!(described.map(CommandId::name).eq(COMMANDS.iter().map(|entry| entry.name)));
    }
}

//! Textures and renderbuffers that are EGL images. A command with an image that replay has not made is skipped, except one with
//! no image (0), which every driver refuses.

use std::ffi::c_void;

use crate::call::Call;
use crate::names::Kind;
use crate::skip::{Outcome, Skip};
use gapii_commands::ids;

/// Plays `glEGLImageTargetTexture2DOES`.
pub fn glEGLImageTargetTexture2DOES(call: &mut Call<'_, '_>) -> Outcome {
    let (target, image) = (call.u32(0), image(call, 1)?);
    let driver: unsafe extern "C" fn(u32, *mut c_void) =
        unsafe { call.driver(ids::GL_EGL_IMAGE_TARGET_TEXTURE2D_OES) }?;
    unsafe { driver(target, image) };
    call.returned(None);
    Ok(())
}

/// Plays `glEGLImageTargetRenderbufferStorageOES`.
pub fn glEGLImageTargetRenderbufferStorageOES(call: &mut Call<'_, '_>) -> Outcome {
    let (target, image) = (call.u32(0), image(call, 1)?);
    let driver: unsafe extern "C" fn(u32, *mut c_void) =
        unsafe { call.driver(ids::GL_EGL_IMAGE_TARGET_RENDERBUFFER_STORAGE_OES) }?;
    unsafe { driver(target, image) };
    call.returned(None);
    Ok(())
}

/// Plays `glEGLImageTargetTexStorageEXT`.
pub fn glEGLImageTargetTexStorageEXT(call: &mut Call<'_, '_>) -> Outcome {
    let (target, image) = (call.u32(0), image(call, 1)?);
    let attributes = call.pointer(2)?;
    let driver: unsafe extern "C" fn(u32, *mut c_void, *const i32) =
        unsafe { call.driver(ids::GL_EGL_IMAGE_TARGET_TEX_STORAGE_EXT) }?;
    unsafe { driver(target, image, attributes) };
    call.returned(None);
    Ok(())
}

/// Plays `glEGLImageTargetTextureStorageEXT`.
pub fn glEGLImageTargetTextureStorageEXT(call: &mut Call<'_, '_>) -> Outcome {
    let (texture, image) = (call.name(Kind::Texture, 0), image(call, 1)?);
    let attributes = call.pointer(2)?;
    let driver: unsafe extern "C" fn(u32, *mut c_void, *const i32) =
        unsafe { call.driver(ids::GL_EGL_IMAGE_TARGET_TEXTURE_STORAGE_EXT) }?;
    unsafe { driver(texture, image, attributes) };
    call.returned(None);
    Ok(())
}

/// The driver's image for an argument. Drivers need not check a handle other than 0, so an unknown one skips the command.
fn image(call: &mut Call<'_, '_>, index: usize) -> Result<*mut c_void, Skip> {
    if call.u64(index) == 0 {
        return Ok(std::ptr::null_mut());
    }
    let found = call.parts.egl.image(call.command.process, call.u64(index));
    let image = found.ok_or("its EGL image is not one that replay has made")?;
    Ok(image as *mut c_void)
}

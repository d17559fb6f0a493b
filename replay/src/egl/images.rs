//! EGL images of textures and renderbuffers of OpenGL ES, and of imported memory (`imports`). Images of other memory, of
//! unknown objects and beyond `OBJECTS_MAX` (16,384 alive at once) are skipped: a trace does not hold that memory.

use crate::call::Call;
use crate::names::Kind;
use crate::skip::{Outcome, Skip};
use gapii_commands::constants;
use gapii_commands::constants::{
    EGL_GL_RENDERBUFFER, EGL_GL_TEXTURE_2D, EGL_GL_TEXTURE_CUBE_MAP_NEGATIVE_Z,
    EGL_LINUX_DMA_BUF_EXT,
};

use super::arguments::{attributes_of, succeeded};
use crate::imports;
use crate::objects::egl::{Image, OBJECTS_MAX};
use crate::survey::only;

const EGL_GL_TEXTURE_LEVEL: i32 = constants::EGL_GL_TEXTURE_LEVEL as i32;
const EGL_GL_TEXTURE_ZOFFSET: i32 = constants::EGL_GL_TEXTURE_ZOFFSET as i32;
const EGL_IMAGE_PRESERVED: i32 = constants::EGL_IMAGE_PRESERVED as i32;

const KNOWN: [i32; 3] = [EGL_GL_TEXTURE_LEVEL, EGL_GL_TEXTURE_ZOFFSET, EGL_IMAGE_PRESERVED];

/// eglCreateImageKHR.
pub fn create_khr(call: &mut Call<'_, '_>) -> Outcome {
    let attributes = attributes_of(call, 4, 4);
    create(call, &attributes, false)
}

/// eglCreateImage.
pub fn create_wide(call: &mut Call<'_, '_>) -> Outcome {
    let attributes = attributes_of(call, 4, 8);
    create(call, &attributes, true)
}

/// Creates an image with the function of core EGL, or with that of EGL_KHR_image_base.
fn create(call: &mut Call<'_, '_>, attributes: &[(i64, i64)], is_core: bool) -> Outcome {
    let Some(handle) = call.recorded_result().filter(|handle| *handle != 0) else { return Ok(()) };
    if call.u32(2) == EGL_LINUX_DMA_BUF_EXT {
        return imports::create(call, attributes, is_core);
    }
    let (process, display, context) = (call.command.process, call.u64(0), call.u64(1));
    let kind = match call.u32(2) {
        EGL_GL_TEXTURE_2D..=EGL_GL_TEXTURE_CUBE_MAP_NEGATIVE_Z => Kind::Texture,
        EGL_GL_RENDERBUFFER => Kind::Renderbuffer,
        target => {
            let why = format!("it is made from memory that is not in a trace ({target:#x})");
            return Err(Skip::from(why));
        }
    };
    let (target, buffer) = (call.u32(2), call.u64(3));
    let has_list = call.bits(4) != 0;
    let scopes = call.parts.names.scopes(process, context);
    let name = call.parts.names.find(scopes, kind, buffer);
    let name = name.and_then(|name| u32::try_from(name).ok()).filter(|name| *name != 0);
    let name = name.ok_or("the object that it is made from is not known")?;
    let from = sharing_and_current(call, context);
    let egl = &mut call.parts.egl;
    let real = egl.real.as_ref().ok_or("there is no display")?;
    let known = egl.contexts.get(&(process, from)).ok_or("its context is not known")?;
    if let Some(old) = egl.images.remove(&(process, handle)) {
        real.destroy_image(old.real, is_core);
    }
    if egl.images.len() >= OBJECTS_MAX {
        return Err("the trace has more images than replay takes".into());
    }
    let list = only(attributes, &KNOWN);
    let list = Some(&*list).filter(|_| has_list);
    let made = real.create_image(known.real, target, name, list, is_core);
    let made = made.ok_or_else(|| format!("the driver made no image: {}", real.error()))?;
    egl.images.insert((process, handle), Image { display, real: made });
    Ok(())
}

/// Returns the thread's current context if it shares objects with `context`, else `context`. NVIDIA's driver makes images
/// of the current context's objects only (EGL_BAD_ACCESS); a snapshot makes them in a context of its own.
fn sharing_and_current(call: &mut Call<'_, '_>, context: u64) -> u64 {
    let process = call.command.process;
    let Some(current) = call.parts.egl.current(call.command.thread) else { return context };
    let names = &mut call.parts.names;
    let shares = names.scopes(process, current).group == names.scopes(process, context).group;
    if shares { current } else { context }
}

/// eglDestroyImage.
pub fn destroy(call: &mut Call<'_, '_>) -> Outcome {
    end(call, true)
}

/// eglDestroyImageKHR.
pub fn destroy_khr(call: &mut Call<'_, '_>) -> Outcome {
    end(call, false)
}

fn end(call: &mut Call<'_, '_>, is_core: bool) -> Outcome {
    let key = (call.command.process, call.u64(1));
    if succeeded(call)
        && let Some(image) = call.parts.egl.images.remove(&key)
        && let Some(real) = &call.parts.egl.real
    {
        real.destroy_image(image.real, is_core);
        imports::destroyed(call.parts, call.command.thread, key);
    }
    Ok(())
}

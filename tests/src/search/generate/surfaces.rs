//! Surfaces of EGL, textures that show them, and syncs.

use crate::search::generate::contexts::make_current;
use crate::search::generate::pbuffers::{clear, pbuffer};
use crate::search::generate::textures::new_bound;
use crate::search::world::World;

/// Makes a pbuffer with defined contents: the clear colour. The context goes on with its own surface.
fn cleared_pbuffer(world: &mut World, attributes: &str) -> usize {
    let surface = pbuffer(world, attributes);
    let context = world.at();
    let before = std::mem::replace(&mut world.context().surface, surface);
    make_current(world, context);
    clear(world);
    world.context().surface = before;
    make_current(world, context);
    surface
}

/// Whether the context may be made current again.
fn may_switch(world: &World) -> bool {
    let here = world.here();
    !here.feedback_active && !here.is_destroyed && !here.has_lost_surface
}

/// Gives the context another surface to read from, or the one that it draws to.
pub fn read_from(world: &mut World) -> bool {
    if !may_switch(world) {
        return false;
    }
    let read = match world.here().reads_from {
        Some(_) => None,
        None => Some(cleared_pbuffer(world, "")),
    };
    world.context().reads_from = read;
    let context = world.at();
    make_current(world, context);
    true
}

/// Goes on without a surface (EGL_KHR_surfaceless_context), until the context is made current again.
pub fn without(world: &mut World) -> bool {
    if !may_switch(world) {
        return false;
    }
    let context = world.at();
    world.step("glFinish");
    world.step(format!("?8 eglMakeCurrent display 0 0 c{}", context + 1));
    world.context().has_no_surface = true;
    true
}

/// Destroys the surface of the context, which keeps it until another one is current.
pub fn destroy(world: &mut World) -> bool {
    if !may_switch(world) || world.here().reads_from.is_some() {
        return false;
    }
    let surface = world.here().surface;
    world.step(format!("?8 eglDestroySurface display s{surface}"));
    world.step(format!("@name s{surface} 0"));
    world.context().has_lost_surface = true;
    true
}

/// Attributes of surfaces, and answers about them.
pub fn attribute(world: &mut World) -> bool {
    let surface = world.here().surface;
    if world.here().has_lost_surface {
        return false;
    }
    let step = world.one_of(&[
        "?8 eglSwapInterval display 0",
        "?8 eglSwapInterval display 1",
        "?8 eglSurfaceAttrib display SURFACE EGL_MIPMAP_LEVEL 0",
        "?8 eglSurfaceAttrib display SURFACE EGL_SWAP_BEHAVIOR EGL_BUFFER_DESTROYED",
        "?8 eglQuerySurface display SURFACE EGL_WIDTH out:4",
        "?8 eglQuerySurface display SURFACE EGL_SWAP_BEHAVIOR out:4",
        "?8 eglQuerySurface display SURFACE EGL_MULTISAMPLE_RESOLVE out:4",
    ]);
    world.step(step.replace("SURFACE", &format!("s{surface}")));
    world.step("? eglGetError");
    true
}

/// Binds a pbuffer as the image of a texture. It is never current again, so its contents stay as they are.
pub fn bind_to_texture(world: &mut World) -> bool {
    if !may_switch(world) {
        return false;
    }
    let attributes = "EGL_TEXTURE_FORMAT,EGL_TEXTURE_RGBA,EGL_TEXTURE_TARGET,EGL_TEXTURE_2D,";
    let surface = cleared_pbuffer(world, attributes);
    let texture = new_bound(world, "GL_TEXTURE_2D");
    world.step(format!("?8 eglBindTexImage display s{surface} EGL_BACK_BUFFER"));
    world.textures[texture].is_of_image = true;
    world.step("glTexParameteri GL_TEXTURE_2D GL_TEXTURE_MIN_FILTER GL_NEAREST");
    if world.chance(25) {
        world.step(format!("glDeleteTextures 1 ints:t{texture}"));
        world.group().textures.retain(|named| *named != texture);
        world.unbind_texture(texture);
    } else if world.chance(25) {
        world.step(format!("?8 eglReleaseTexImage display s{surface} EGL_BACK_BUFFER"));
        // Its image is undefined now.
        world
            .step("glTexImage2D GL_TEXTURE_2D 0 GL_RGBA 4 4 0 GL_RGBA GL_UNSIGNED_BYTE bytes:64:3");
        world.textures[texture].is_of_image = false;
    }
    true
}

/// Makes, waits for or destroys a sync of EGL (EGL_KHR_fence_sync).
pub fn sync(world: &mut World) -> bool {
    let all = world.egl_syncs.clone();
    match world.some_of(&all) {
        Some(sync) if world.chance(40) => {
            world.step(format!("?8 eglDestroySyncKHR display k{sync}"));
            world.egl_syncs.retain(|known| *known != sync);
        }
        Some(sync) if world.chance(60) => {
            world.step(format!(
                "? eglClientWaitSyncKHR display k{sync} EGL_SYNC_FLUSH_COMMANDS_BIT_KHR 1000000000"
            ));
            world.step(format!("?8 eglGetSyncAttribKHR display k{sync} EGL_SYNC_STATUS_KHR out:4"));
        }
        _ => {
            let sync = world.count('k');
            world.step(format!("k{sync}= eglCreateSyncKHR display EGL_SYNC_FENCE_KHR 0"));
            world.egl_syncs.push(sync);
        }
    }
    true
}

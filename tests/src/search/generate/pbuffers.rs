//! Pbuffers: making and clearing them.

use crate::search::world::{Api, World};

/// Makes a pbuffer. Returns its number.
pub fn pbuffer(world: &mut World, attributes: &str) -> usize {
    let surface = world.count('s');
    world.step(format!(
        "s{surface}= eglCreatePbufferSurface display config ints:EGL_WIDTH,32,EGL_HEIGHT,32,{attributes}EGL_NONE"
    ));
    surface
}

/// Reads the buffer of a pbuffer under the name that it has at first. Mesa keeps the name for each surface of a context, and no query
/// tells that of a surface which is not current.
pub fn read_its_buffer(world: &mut World) {
    let name = if world.api() == Api::Es { "GL_BACK" } else { "GL_FRONT" };
    world.step(format!("glReadBuffer {name}"));
}

/// Clears the surface to which the context draws, all of it.
pub fn clear(world: &mut World) {
    world.end_condition();
    if world.version() >= (2, 0) {
        world.step("glBindFramebuffer GL_FRAMEBUFFER 0");
        world.context().framebuffer = None;
    }
    if world.version() >= (3, 0) {
        world.step("glDisable GL_RASTERIZER_DISCARD");
        // In Mesa it is GL_FRONT, which no command can set, if the surface was made current while a framebuffer was bound.
        read_its_buffer(world);
    }
    for step in [
        "glDisable GL_SCISSOR_TEST",
        "glColorMask 1 1 1 1",
        "glDepthMask 1",
        "glStencilMask 0xff",
        "glClear GL_COLOR_BUFFER_BIT|GL_DEPTH_BUFFER_BIT|GL_STENCIL_BUFFER_BIT",
    ] {
        world.step(step);
    }
}

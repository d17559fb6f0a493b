//! Pixels, depth and stencil of pbuffers that are current on no thread: the program may make one current again and go
//! on, or it has bound one as the image of a texture. A multisampled pbuffer, one of more than 256 MiB, or one with
//! depth and stencil that no texture format has, is listed as missing. A pbuffer that is current on another thread is
//! described with the context that draws to it; one for which the driver makes no OpenGL ES 3 context is not described.
//!
//! A thread of the shim's own makes each of them current with a context of its own, reads it and releases it. A replay
//! blits the pixels back in a spare context.

use gapii_commands::constants::{GL_RGBA, GL_SAMPLE_BUFFERS, GL_UNSIGNED_BYTE};
use gapii_state::{Process, SurfaceKind, Thread};

use super::emit::Emitter;
use super::formats::Layout;
use super::image_layer::resize;
use super::like::Like;
use super::pixels::Reader;
use super::plain_pixels::Plain;
use super::sibling::Alone;
use super::surface_contents::Contents;
use super::surface_depth::{Depth, copy_bound};
use super::{gl, surface};

/// A pbuffer of the program.
#[derive(Clone, Copy)]
struct Pbuffer {
    handle: u64,
    display: u64,
    config: u64,
}

/// Describes the contents of all pbuffers but those that are current on this thread.
pub fn describe(emitter: &mut Emitter, thread: &Thread) {
    for pbuffer in pbuffers(&thread.process) {
        if [thread.draw_surface.name(), thread.read_surface.name()].contains(&pbuffer.handle) {
            continue;
        }
        let Pbuffer { handle, display, config } = pbuffer;
        match Alone::run(display, config, handle, read) {
            // It is current on another thread, or no context of OpenGL ES 3 draws to it.
            None => {}
            Some(None) => emitter.leave_out("what was drawn to a pbuffer that is not current"),
            Some(Some(contents)) => {
                contents.describe(emitter, handle, &Like::of_es3(display, config));
            }
        }
    }
}

fn pbuffers(process: &Process) -> Vec<Pbuffer> {
    let state = process.lock();
    let pbuffers = state.surfaces.named().filter(|(_, it)| it.kind == SurfaceKind::Pbuffer);
    let all = pbuffers.map(|(object, it)| Pbuffer {
        handle: object.name(),
        display: it.display,
        config: it.config,
    });
    all.collect()
}

/// Reads the surface that is current in a context of the shim's own. `None` if the driver does not let it.
fn read(width: i32, height: i32) -> Option<Contents> {
    let bytes = surface::bytes_of(width, height)?;
    if gl::integer(GL_SAMPLE_BUFFERS) > 0 {
        return None;
    }
    let mut pixels = Vec::new();
    resize(&mut pixels, bytes)?;
    gl::clear_errors();
    // SAFETY: there is room for rows without gaps, of four bytes a pixel.
    unsafe {
        Plain::in_own_context().read_pixels(
            (width, height),
            (GL_RGBA, GL_UNSIGNED_BYTE),
            pixels.as_mut_ptr(),
        );
    }
    if gl::get_error() != 0 {
        return None;
    }
    let depth = match Depth::of_bound() {
        Depth::Nothing => None,
        Depth::Other => return None,
        Depth::Like(format) => {
            let layout = Layout::of(format, 0)?;
            let image = copy_bound(format, layout, (width, height))?;
            let mut texels = Vec::new();
            Reader::new()?.read(image, layout, &mut texels)?;
            Some((format, layout, texels))
        }
    };
    Some(Contents { width, height, pixels, depth })
}

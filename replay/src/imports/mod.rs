//! EGL images of imported memory (`EGL_LINUX_DMA_BUF_EXT`): each is made from a texture with the decoded pixels, in a context
//! of the player's own, and the texture is written anew when the trace says that the memory has changed. So every driver plays
//! them, whether or not it can import memory. An image whose memory the trace lacks, or the driver has no texture for, shows a
//! pattern, and a note says so. No descriptor of a trace reaches the driver.
//!
//! The context's calls are calls of the played program, for an interceptor sees them: what records a replay has the images.

// The registry gives each of the driver's functions its signature, and the pointers that they get lead only into memory of the
// player.
#![allow(clippy::multiple_unsafe_ops_per_block, clippy::undocumented_unsafe_blocks)]

mod decode;

use gapii_commands::constants::{
    EGL_CONTEXT_MAJOR_VERSION, EGL_GL_TEXTURE_2D, EGL_HEIGHT, EGL_WIDTH, GL_NO_ERROR,
    GL_TEXTURE_2D, GL_UNPACK_ALIGNMENT,
};
use gapii_commands::{constants, ids};
use gapii_state::egl::{DmaBuf, SIDE_MAX};
use gapii_trace::Command;

use crate::call::Call;
use crate::driver::{EGL_RENDERABLE_TYPE, EGL_SURFACE_TYPE, Handle, Real};
use crate::objects::egl::{Image, OBJECTS_MAX};
use crate::objects::imports::{Import, Plane};
use crate::objects::make_context;
use crate::parts::Parts;
use crate::skip::{Outcome, Skip};
use decode::{RGBA8, Texel, decode, pattern};

const EGL_OPENGL_ES3_BIT: i32 = constants::EGL_OPENGL_ES3_BIT as i32;
const EGL_PBUFFER_BIT: i32 = constants::EGL_PBUFFER_BIT as i32;

/// Plays eglCreateImage or eglCreateImageKHR of imported memory. `is_core` names the former.
pub fn create(call: &mut Call<'_, '_>, attributes: &[(i64, i64)], is_core: bool) -> Outcome {
    let Some(handle) = call.recorded_result().filter(|handle| *handle != 0) else { return Ok(()) };
    let (process, display, thread) = (call.command.process, call.u64(0), call.command.thread);
    let value = |name: u32| {
        let found = attributes.iter().find(|(known, _)| *known == i64::from(name));
        found.map(|(_, value)| *value)
    };
    let known = DmaBuf::of(value).ok();
    let known = known.and_then(|layout| Some((planes(call.command, &layout)?, layout)));
    let side = |name: u32| value(name).unwrap_or(1).clamp(1, SIDE_MAX.into()) as u32;
    let size = (side(EGL_WIDTH), side(EGL_HEIGHT));
    let parts = &mut *call.parts;
    let old = parts.egl.images.remove(&(process, handle));
    if let (Some(old), Some(real)) = (old, &parts.egl.real) {
        real.destroy_image(old.real, is_core);
    }
    if parts.egl.images.len() >= OBJECTS_MAX {
        return Err("the trace has more images than replay takes".into());
    }
    let known = known.filter(|(_, layout)| parts.egl.imports.has_room(layout));
    let mut over = parts.egl.imports.destroy((process, handle));
    if let Some((planes, _)) = &known {
        over.extend(parts.egl.imports.replace(process, planes));
    }
    let made = with_maker(parts, thread, |parts, maker| {
        delete(parts, &over)?;
        if let Some((planes, layout)) = known {
            let of_format = Texel::of(layout.format.samples);
            for (texel, is_rgba) in [(of_format, false), (RGBA8, true)] {
                let size = (layout.width, layout.height);
                let pixels = texels(&layout, &planes, is_rgba);
                let Some((real, texture)) = image_of(parts, maker, size, (texel, &pixels), is_core)
                else {
                    continue;
                };
                let key = (process, handle);
                let import = Import { key, layout, planes, texture, is_rgba, is_destroyed: false };
                parts.egl.imports.add(import);
                return Ok(real);
            }
            parts.tally.note("the driver made no texture for an EGL image of imported memory");
        }
        parts.tally.note(
            "an EGL image of imported memory shows a pattern, for the trace lacks its memory; \
             `gapii-ctl info` says why",
        );
        let pixels = pattern(size.0, size.1);
        let made = image_of(parts, maker, size, (RGBA8, &pixels), is_core);
        made.map(|(real, _)| real).ok_or_else(|| Skip::from("the driver made no image"))
    })?;
    parts.egl.images.insert((process, handle), Image { display, real: made });
    Ok(())
}

/// Notes that the trace has destroyed an image.
pub fn destroyed(parts: &mut Parts, thread: u32, key: (u32, u64)) {
    let over = parts.egl.imports.destroy(key);
    if !over.is_empty() {
        // Textures that cannot be deleted stay until the context is destroyed.
        let _ = with_maker(parts, thread, |parts, _| delete(parts, &over));
    }
}

/// Writes what a command says of imported memory into the textures. Before the command is played.
pub(crate) fn update(parts: &mut Parts, command: &Command<'_>) {
    if parts.egl.imports.is_empty() {
        return;
    }
    let mut changed = Vec::new();
    for range in command.ranges_read().filter(|range| range.param.is_none()) {
        if let Some(bytes) = command.bytes_of(range.observation)
            && let Some(at) = parts.egl.imports.write(command.process, range.address, &bytes)
            && !changed.contains(&at)
        {
            changed.push(at);
        }
    }
    if changed.is_empty() {
        return;
    }
    let written = with_maker(parts, command.thread, |parts, _| {
        changed.iter().try_for_each(|at| write(parts, *at))
    });
    if let Err(why) = written {
        parts.tally.note(format!("a change of imported memory is not shown: {why}"));
    }
}

/// The planes that the recorded command read; `None` if one is missing.
fn planes(command: &Command<'_>, layout: &DmaBuf) -> Option<Vec<Plane>> {
    let mut ranges = command.ranges_read().filter(|range| range.param.is_none());
    let planes = layout.planes.iter().map(|plane| {
        let range = ranges.next()?;
        let bytes = command.bytes_of(range.observation)?.to_vec();
        let is_whole = bytes.len() as u64 == plane.bytes;
        is_whole.then_some(Plane { address: range.address, bytes })
    });
    planes.collect()
}

/// Texels of the format, or of red, green, blue and alpha.
fn texels(layout: &DmaBuf, planes: &[Plane], is_rgba: bool) -> Vec<u8> {
    let planes: Vec<&[u8]> = planes.iter().map(|plane| &*plane.bytes).collect();
    let pixels = decode(layout, &planes);
    match Texel::of(layout.format.samples) {
        texel if is_rgba => texel.widened(&pixels),
        _ => pixels,
    }
}

/// Calls `act` while the player's own context is current on the calling thread, which is the trace's `thread`.
fn with_maker<T>(
    parts: &mut Parts,
    thread: u32,
    act: impl FnOnce(&mut Parts, Handle) -> Result<T, Skip>,
) -> Result<T, Skip> {
    let real = parts.egl.real.clone().ok_or("there is no display")?;
    let (context, surface) = match parts.egl.imports.maker {
        Some(maker) => maker,
        None => *parts.egl.imports.maker.insert(maker(&real)?),
    };
    if !real.make_current(surface, surface, context) {
        return Err(format!("the driver refused a context: {}", real.error()).into());
    }
    let done = act(parts, context);
    let current = parts.egl.currents.get(&thread);
    let (draw, read, context) =
        current.map_or((0, 0, 0), |it| (it.real_draw, it.real_read, it.real_context));
    if !real.make_current(draw, read, context) {
        parts.egl.currents.remove(&thread);
        return Err("the driver does not make the former context current again".into());
    }
    done
}

/// A context of OpenGL ES 3 that shares with none, and its surface, if it needs one.
fn maker(real: &Real) -> Result<(Handle, Handle), Skip> {
    let has = |config: Handle, attribute, bit| {
        real.config_attribute(config, attribute).is_some_and(|bits| bits & bit != 0)
    };
    let fits = |config: &Handle| {
        has(*config, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT)
            && has(*config, EGL_SURFACE_TYPE, EGL_PBUFFER_BIT)
    };
    let config = real.configs().into_iter().find(fits);
    let config = config.ok_or("the driver has no OpenGL ES 3, for images of imported memory")?;
    let version = [(EGL_CONTEXT_MAJOR_VERSION as i32, 3)];
    let context = make_context(real, false, config, 0, Some(&version))?;
    if real.has_extension("EGL_KHR_surfaceless_context") {
        return Ok((context, 0));
    }
    let small = [(EGL_WIDTH as i32, 1), (EGL_HEIGHT as i32, 1)];
    let surface = real.create_pbuffer(config, &small).ok_or("the driver made no small surface")?;
    Ok((context, surface))
}

/// Makes a texture with these texels, and an image of it. `None` if the driver does not make one of them. The context that
/// makes images is current.
fn image_of(
    parts: &Parts,
    maker: Handle,
    (width, height): (u32, u32),
    (texel, pixels): (Texel, &[u8]),
    is_core: bool,
) -> Option<(Handle, u32)> {
    let gl = Gl { parts };
    let texture = gl.texture(texel, width, height).ok()?;
    let is_made = gl.upload(texture, (width, height), texel, pixels).is_ok();
    let real = parts.egl.real.as_ref()?;
    let image = is_made.then(|| {
        let list = Some(&[][..]);
        real.create_image(maker, EGL_GL_TEXTURE_2D, texture, list, is_core)
    });
    match image.flatten() {
        Some(image) => Some((image, texture)),
        None => {
            let _ = gl.delete(&[texture]);
            None
        }
    }
}

/// Uploads the present pixels of an image.
fn write(parts: &Parts, at: usize) -> Outcome {
    let Some(import) = parts.egl.imports.get(at) else { return Ok(()) };
    let texel = if import.is_rgba { RGBA8 } else { Texel::of(import.layout.format.samples) };
    let pixels = texels(&import.layout, &import.planes, import.is_rgba);
    let size = (import.layout.width, import.layout.height);
    Gl { parts }.upload(import.texture, size, texel, &pixels)
}

fn delete(parts: &Parts, textures: &[u32]) -> Outcome {
    Gl { parts }.delete(textures)
}

/// Functions of the driver in the context that makes images.
struct Gl<'p> {
    parts: &'p Parts,
}

impl Gl<'_> {
    /// Makes a texture without pixels.
    fn texture(&self, texel: Texel, width: u32, height: u32) -> Result<u32, Skip> {
        let driver = &self.parts.driver;
        let mut texture = 0;
        unsafe {
            let gen_textures: unsafe extern "C" fn(i32, *mut u32) =
                driver.get(ids::GL_GEN_TEXTURES)?;
            let store: unsafe extern "C" fn(u32, i32, u32, i32, i32) =
                driver.get(ids::GL_TEX_STORAGE2D)?;
            gen_textures(1, &raw mut texture);
            self.bind(texture)?;
            store(GL_TEXTURE_2D, 1, texel.internal, width as i32, height as i32);
        }
        Ok(texture)
    }

    /// Writes all pixels of a texture, and waits for the driver: other contexts see them then.
    fn upload(
        &self,
        texture: u32,
        (width, height): (u32, u32),
        texel: Texel,
        pixels: &[u8],
    ) -> Outcome {
        let driver = &self.parts.driver;
        self.bind(texture)?;
        let error = unsafe {
            let set: unsafe extern "C" fn(u32, i32) = driver.get(ids::GL_PIXEL_STOREI)?;
            let write: unsafe extern "C" fn(u32, i32, i32, i32, i32, i32, u32, u32, *const u8) =
                driver.get(ids::GL_TEX_SUB_IMAGE2D)?;
            let finish: unsafe extern "C" fn() = driver.get(ids::GL_FINISH)?;
            let get_error: unsafe extern "C" fn() -> u32 = driver.get(ids::GL_GET_ERROR)?;
            set(GL_UNPACK_ALIGNMENT, 1);
            let (width, height) = (width as i32, height as i32);
            let (format, kind) = (texel.format, texel.kind);
            write(GL_TEXTURE_2D, 0, 0, 0, width, height, format, kind, pixels.as_ptr());
            finish();
            get_error()
        };
        match error {
            GL_NO_ERROR => Ok(()),
            error => Err(format!("the driver reports {error:#x}").into()),
        }
    }

    fn delete(&self, textures: &[u32]) -> Outcome {
        unsafe {
            let delete: unsafe extern "C" fn(i32, *const u32) =
                self.parts.driver.get(ids::GL_DELETE_TEXTURES)?;
            delete(textures.len() as i32, textures.as_ptr());
        }
        Ok(())
    }

    fn bind(&self, texture: u32) -> Outcome {
        unsafe {
            let bind: unsafe extern "C" fn(u32, u32) =
                self.parts.driver.get(ids::GL_BIND_TEXTURE)?;
            bind(GL_TEXTURE_2D, texture);
        }
        Ok(())
    }
}

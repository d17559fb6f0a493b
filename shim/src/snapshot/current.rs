//! Context and surfaces that are current on the describing thread, through EGL or GLX.

use gapii_abi::atom::SubjectKind;
use gapii_commands::constants::{EGL_HEIGHT, EGL_OPENGL_ES_API, EGL_WIDTH};
use gapii_recorder::observe;
use gapii_state::{DrawableKind, SurfaceKind, Thread};

use super::destroyed::Destroyed;
use super::emit::Emitter;
use super::like::{Like, System, list};
use super::{egl, glx};
use crate::generated::ids::*;

/// Handle of a spare surface. No driver gives out such a handle.
const SPARE_SURFACE: u64 = 0xF000_2000;

/// Context and surfaces that are current on the describing thread.
#[derive(Clone, Copy)]
pub struct Current {
    system: System,
    display: u64,
    draw: u64,
    read: u64,
    context: u64,
    /// The configuration of the context if it has no surface and had one earlier.
    earlier_surface: Option<u64>,
}

impl Current {
    /// `None` if no context is current.
    pub fn of(thread: &Thread) -> Option<Self> {
        let context = thread.context.as_deref()?.handle;
        let state = thread.process.lock();
        if thread.glx_context.name() == context {
            let display = state.glx_contexts.get(thread.glx_context).map_or(0, |it| it.display);
            let (draw, read) = (thread.draw_drawable, thread.read_drawable);
            let system = System::Glx;
            return Some(Self { system, display, draw, read, context, earlier_surface: None });
        }
        let (draw, read) = (thread.draw_surface.name(), thread.read_surface.name());
        let known = state.egl_contexts.get(thread.egl_context);
        let display = known.map_or(0, |it| it.display);
        let earlier = known.filter(|it| draw == 0 && it.had_surface).map(|it| it.config);
        let system = System::Egl;
        Some(Self { system, display, draw, read, context, earlier_surface: earlier })
    }

    /// Makes them current in a replay.
    pub fn make_current(&self, emitter: &mut Emitter) {
        let surfaces = [self.draw, self.read];
        self.system.make_current(emitter, self.display, surfaces, self.context);
    }

    /// Has the driver set the viewport of a context without a surface, if it has done so in the program: it sets viewport and
    /// scissor box of a context that is current with a surface for the first time.
    pub fn settle_viewport(&self, emitter: &mut Emitter) {
        let Some(config) = self.earlier_surface else { return };
        if config == 0 {
            emitter.leave_out("that a context without a surface and a configuration had a surface");
            return;
        }
        let size = [EGL_WIDTH, EGL_HEIGHT].map(|name| (name as i32, 1));
        let size = list(size.into_iter(), egl::EGL_NONE);
        let command = emitter.command(EGL_CREATE_PBUFFER_SURFACE).arg(self.display).arg(config);
        let command = command.arg(size.as_ptr()).reads(observe::attributes_i32(size.as_ptr()));
        command.returns(SPARE_SURFACE, []);
        Self { draw: SPARE_SURFACE, read: SPARE_SURFACE, ..*self }.make_current(emitter);
        self.make_current(emitter);
        let command = emitter.command(EGL_DESTROY_SURFACE).arg(self.display);
        command.arg(SPARE_SURFACE).returns(1_u32, []);
    }

    /// [`Current::make_current`], after a spare context.
    pub fn make_current_again(&self, emitter: &mut Emitter) {
        self.make_current(emitter);
        emitter.in_own_context();
    }
}

/// Describes the API that a thread has bound, and its current context and surfaces.
pub fn describe(emitter: &mut Emitter, thread: &Thread) {
    egl::describe_bound_api(emitter, thread);
    let Some(current) = Current::of(thread) else { return };
    Destroyed::of(thread, current.system).make(emitter);
    current.make_current(emitter);
    let display = current.display;
    match current.system {
        System::Egl => {
            let interval = {
                let state = thread.process.lock();
                state.egl_contexts.get(thread.egl_context).map_or(1, |it| it.swap_interval)
            };
            if interval != 1 {
                let command = emitter.command(EGL_SWAP_INTERVAL).arg(display).arg(interval);
                command.returns(1_u32, []);
            }
        }
        System::Glx => {
            glx::describe_current(emitter, thread, display, [current.draw, current.read]);
        }
    }
}

/// Destroys the objects that are current on a thread although the program has destroyed them. No spare context can be current in the replay afterwards, because the
/// thread could not have its own again.
pub fn describe_destroyed(emitter: &mut Emitter, thread: &Thread) {
    let Some(current) = Current::of(thread) else { return };
    let destroyed = Destroyed::of(thread, current.system);
    if destroyed.is_any() {
        emitter.subject(SubjectKind::Thread, 0);
        destroyed.destroy(emitter);
    }
}

/// A surface that a thread draws to.
pub struct Drawn {
    pub width: i32,
    pub height: i32,
    /// A swap makes depth and stencil of a window undefined.
    pub is_window: bool,
    /// The thread reads from another surface.
    pub is_unread: bool,
}

impl Drawn {
    /// Returns the draw surface of a thread, if it has one whose size is known.
    pub fn of(thread: &Thread) -> Option<Self> {
        let current = Current::of(thread)?;
        let is_unread = current.draw != current.read;
        let (is_window, [width, height]) = match current.system {
            System::Egl => {
                let state = thread.process.lock();
                let surface = thread.draw_surface;
                let it = state.surfaces.get(surface)?;
                (it.kind == SurfaceKind::Window, egl::size(&state.surfaces, surface)?)
            }
            System::Glx => {
                let kind = glx::kind_of(&thread.process, current.draw);
                let size = glx::size(&thread.process, current.display, current.draw)?;
                (kind == DrawableKind::Window, size)
            }
        };
        Some(Self { width, height, is_window, is_unread })
    }
}

/// A surface that a thread reads from, and does not draw to.
pub struct ReadApart {
    pub handle: u64,
    /// A context that can have the surface.
    pub like: Like,
    pub width: i32,
    pub height: i32,
}

impl ReadApart {
    /// Returns the read surface of a thread, if it has one and draws to another.
    pub fn of(thread: &Thread) -> Option<Self> {
        let current = Current::of(thread)?;
        let handle = current.read;
        if handle == current.draw || handle == 0 {
            return None;
        }
        let like = Like::of(&thread.process, current.context);
        if current.system == System::Glx {
            let [width, height] = glx::size(&thread.process, current.display, handle)?;
            return Some(Self { handle, like: like?, width, height });
        }
        let state = thread.process.lock();
        let surface = thread.read_surface;
        let (it, [width, height]) =
            (state.surfaces.get(surface)?, egl::size(&state.surfaces, surface)?);
        let like = match like.filter(|like| like.api != EGL_OPENGL_ES_API) {
            Some(like) => like.with_config(it.config),
            None => Like::of_es3(it.display, it.config),
        };
        Some(Self { handle, like, width, height })
    }
}

//! Objects that are current on a thread although the program has destroyed them: a context, and surfaces of EGL. EGL and GLX keep
//! them until others are current on the thread, and EGL gives their handles to nothing else until then.

use gapii_state::Thread;

use super::egl::{self, Shares};
use super::emit::Emitter;
use super::like::{Like, System};
use crate::generated::ids::EGL_DESTROY_SURFACE;

/// The destroyed context and surfaces that are current on a thread.
pub struct Destroyed {
    context: Option<Context>,
    /// None of GLX.
    surfaces: Vec<egl::Surface>,
}

enum Context {
    Egl(egl::Context),
    Glx { like: Like, handle: u64, share: u64 },
}

impl Destroyed {
    /// Returns what is destroyed of the objects that are current on a thread through EGL or GLX.
    pub fn of(thread: &Thread, system: System) -> Self {
        match system {
            System::Egl => Self::of_egl(thread),
            System::Glx => Self::of_glx(thread),
        }
    }

    fn of_egl(thread: &Thread) -> Self {
        let shares = Shares::of(&thread.process);
        let state = thread.process.lock();
        let object = thread.egl_context;
        let context = state.egl_contexts.get(object);
        let context = context.filter(|_| state.egl_contexts.find(object.name()) != object);
        let mut surfaces = vec![thread.draw_surface, thread.read_surface];
        surfaces.dedup();
        surfaces.retain(|object| state.surfaces.find(object.name()) != *object);
        let surfaces = surfaces.into_iter();
        Self {
            context: context.map(|it| Context::Egl(egl::Context::of(object, it, &shares))),
            surfaces: surfaces
                .filter_map(|object| Some(egl::Surface::of(object, state.surfaces.get(object)?)))
                .collect(),
        }
    }

    fn of_glx(thread: &Thread) -> Self {
        let shares = Shares::of(&thread.process);
        let state = thread.process.lock();
        let object = thread.glx_context;
        let context = state.glx_contexts.get(object);
        let context = context.filter(|_| state.glx_contexts.find(object.name()) != object);
        let (handle, share) = (object.name(), shares.first_before(object.name()));
        let like = context.and_then(Like::of_glx);
        Self {
            context: like.map(|like| Context::Glx { like, handle, share }),
            surfaces: Vec::new(),
        }
    }

    /// Whether any object is destroyed.
    pub fn is_any(&self) -> bool {
        self.context.is_some() || !self.surfaces.is_empty()
    }

    /// Makes the objects.
    pub fn make(&self, emitter: &mut Emitter) {
        match &self.context {
            Some(Context::Egl(context)) => context.describe_with_api(emitter),
            Some(Context::Glx { like, handle, share }) => like.make(emitter, *share, *handle),
            None => {}
        }
        for surface in &self.surfaces {
            surface.create(emitter);
        }
    }

    /// Destroys the objects.
    pub fn destroy(&self, emitter: &mut Emitter) {
        for surface in &self.surfaces {
            let command = emitter.command(EGL_DESTROY_SURFACE).arg(surface.display);
            command.arg(surface.handle).returns(1_u32, []);
        }
        let (system, display, handle) = match &self.context {
            Some(Context::Egl(it)) => (System::Egl, it.display, it.handle),
            Some(Context::Glx { like, handle, .. }) => (System::Glx, like.display, *handle),
            None => return,
        };
        system.destroy_context(emitter, display, handle);
    }
}

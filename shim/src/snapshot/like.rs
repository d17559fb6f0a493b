//! How a context of the program was made: through EGL or GLX, for which configuration, and with which attributes. A
//! replay's spare contexts and the shim's own contexts are made in the same way.
//!
//! An error of GLX goes to the program's handler of X errors, so the shim asks GLX only for what it has done before: a
//! context with the attributes of one that exists. Its contexts are made and destroyed on a thread of the program that
//! uses GLX, and current without a drawable on threads of the shim's own, which sends the X server nothing.

use gapii_commands::constants;
use gapii_commands::constants::{EGL_CONTEXT_MAJOR_VERSION, EGL_OPENGL_ES_API, GLX_RGBA_TYPE};
use gapii_recorder::observe;
use gapii_state::{GlxContext, Process};

use super::emit::{Command, Emitter};
use super::gl;
use crate::generated::ids::*;
use crate::tls::words;

const EGL_NONE: i32 = constants::EGL_NONE as i32;
const GLX_CONTEXT_MAJOR_VERSION: i32 = constants::GLX_CONTEXT_MAJOR_VERSION_ARB as i32;
const GLX_RGBA: i32 = GLX_RGBA_TYPE as i32;
/// Size of Xlib's `XVisualInfo`.
const VISUAL_BYTES: usize = 64;

/// The API that makes a context current.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum System {
    Egl,
    Glx,
}

/// A visual of X, as Xlib describes it: all that drivers look at are its number and its screen.
#[derive(Clone, Copy)]
pub struct Visual([u8; VISUAL_BYTES]);

/// The configuration that a context of GLX was made for.
#[derive(Clone, Copy)]
pub enum Config {
    /// The handle of a `GLXFBConfig`.
    Handle(u64),
    Visual(Visual),
}

/// Attributes with which a context of the program was made.
#[derive(Clone)]
pub struct Like {
    pub system: System,
    pub display: u64,
    /// The handle of an `EGLConfig`, or the `config` of GLX.
    pub config: u64,
    /// The screen of a visual; -1 if `config` is a handle.
    screen: i32,
    /// `EGL_OPENGL_API` or `EGL_OPENGL_ES_API`.
    pub api: u32,
    pub client_version: u32,
    /// With the end of the list.
    pub attributes: Vec<i32>,
}

impl Like {
    /// `None` if the context does not exist, or was made in a way that the shim does not repeat.
    pub fn of(process: &Process, handle: u64) -> Option<Self> {
        let state = process.lock();
        if let Some(context) = state.egl_contexts.get(state.egl_contexts.find(handle)) {
            let api = if context.api == 0 { EGL_OPENGL_ES_API } else { context.api };
            let version = context.attributes.get(&EGL_CONTEXT_MAJOR_VERSION);
            let attributes = context.attributes.iter().map(|(name, value)| (*name as i32, *value));
            let version = version.map_or(1, |version| version.cast_unsigned());
            let attributes = list(attributes, EGL_NONE);
            return Some(Self::of_egl(context.display, context.config, api, version, attributes));
        }
        let object = state.glx_contexts.find(handle);
        state.glx_contexts.get(object).and_then(Self::of_glx)
    }

    /// A context of GLX; `None` for one that another process made.
    pub fn of_glx(context: &GlxContext) -> Option<Self> {
        let version = context.attributes.get(&GLX_CONTEXT_MAJOR_VERSION);
        let attributes = context.attributes.iter().map(|(name, value)| (*name, *value));
        (context.config != 0).then(|| Self {
            system: System::Glx,
            display: context.display,
            config: context.config,
            screen: context.screen,
            api: context.api,
            client_version: version.map_or(1, |version| version.cast_unsigned()),
            attributes: list(attributes, 0),
        })
    }

    /// Returns these attributes with another configuration of EGL.
    pub fn with_config(self, config: u64) -> Self {
        Self { config, ..self }
    }

    /// A context of EGL for OpenGL ES 3.
    pub fn of_es3(display: u64, config: u64) -> Self {
        let attributes = list([(EGL_CONTEXT_MAJOR_VERSION as i32, 3)].into_iter(), EGL_NONE);
        Self::of_egl(display, config, EGL_OPENGL_ES_API, 3, attributes)
    }

    fn of_egl(
        display: u64,
        config: u64,
        api: u32,
        client_version: u32,
        attributes: Vec<i32>,
    ) -> Self {
        let system = System::Egl;
        Self { system, display, config, screen: -1, api, client_version, attributes }
    }

    /// Writes the command that makes a context with these attributes.
    pub fn make(&self, emitter: &mut Emitter, share: u64, handle: u64) {
        match self.system {
            System::Egl => {
                let command = |emitter: &mut Emitter| {
                    emitter
                        .command(EGL_CREATE_CONTEXT)
                        .arg(self.display)
                        .arg(self.config)
                        .arg(share)
                        .arg(self.attributes.as_ptr())
                        .reads(observe::attributes_i32(self.attributes.as_ptr()))
                        .returns(handle, []);
                };
                with_api(emitter, self.api, command);
            }
            System::Glx => self.make_of_glx(emitter, share, handle),
        }
    }

    fn make_of_glx(&self, emitter: &mut Emitter, share: u64, handle: u64) {
        let has_attributes = self.attributes.len() > 1;
        match Config::of(self.config, self.screen) {
            Config::Handle(config) if has_attributes => emitter
                .command(GLX_CREATE_CONTEXT_ATTRIBS_ARB)
                .arg(self.display)
                .arg(config)
                .arg(share)
                .arg(1_u32)
                .arg(self.attributes.as_ptr())
                .reads(observe::attributes_to_i32(self.attributes.as_ptr(), 0))
                .returns(handle, []),
            Config::Handle(config) => emitter
                .command(GLX_CREATE_NEW_CONTEXT)
                .arg(self.display)
                .arg(config)
                .arg(GLX_RGBA)
                .arg(share)
                .arg(1_u32)
                .returns(handle, []),
            Config::Visual(visual) => {
                let command = emitter.command(GLX_CREATE_CONTEXT).arg(self.display);
                let command = visual.arg(command).arg(share).arg(1_u32);
                command.returns(handle, []);
            }
        }
    }

    /// Has the driver of GLX make a context that shares with the program's context `share`. 0 if it cannot.
    pub fn create_of_glx(&self, share: u64) -> u64 {
        let config = match Config::of(self.config, self.screen) {
            Config::Handle(config) => config,
            // SAFETY: a visual of the display.
            Config::Visual(visual) => unsafe {
                gl::glx_get_config_from_visual(self.display, visual.0.as_ptr())
            },
        };
        if config == 0 {
            return 0;
        }
        let attributes = self.attributes.as_ptr();
        // SAFETY: a list that ends.
        unsafe { gl::glx_create_context(self.display, config, share, 1, attributes) }
    }
}

impl System {
    /// Writes the command that makes a context current with surfaces, or without; 0 for none.
    pub fn make_current(
        self,
        emitter: &mut Emitter,
        display: u64,
        [draw, read]: [u64; 2],
        context: u64,
    ) {
        let id = match self {
            Self::Egl => EGL_MAKE_CURRENT,
            Self::Glx => GLX_MAKE_CONTEXT_CURRENT,
        };
        let command = emitter.command(id).arg(display).arg(draw).arg(read).arg(context);
        command.returns(1_u32, []);
    }

    /// Writes the command that destroys a context.
    pub fn destroy_context(self, emitter: &mut Emitter, display: u64, context: u64) {
        match self {
            Self::Egl => {
                let command = emitter.command(EGL_DESTROY_CONTEXT).arg(display);
                command.arg(context).returns(1_u32, []);
            }
            Self::Glx => emitter.command(GLX_DESTROY_CONTEXT).arg(display).arg(context).done(),
        }
    }
}

impl Config {
    /// `screen` is -1 for the handle of a configuration.
    pub fn of(config: u64, screen: i32) -> Self {
        match screen {
            -1 => Self::Handle(config),
            _ => Self::Visual(Visual::of(config, screen)),
        }
    }
}

impl Visual {
    fn of(number: u64, screen: i32) -> Self {
        let mut info = [0; VISUAL_BYTES];
        if let Some(place) = info.get_mut(8..16) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        if let Some(place) = info.get_mut(16..20) {
            place.copy_from_slice(&screen.to_le_bytes());
        }
        Self(info)
    }

    /// The next argument of a command, its second one: the visual.
    pub fn arg<'e>(&self, command: Command<'e>) -> Command<'e> {
        command.arg(self.0.as_ptr()).range(1, &self.0)
    }

    /// The address of the visual's description.
    pub fn as_ptr(&self) -> *const u8 {
        self.0.as_ptr()
    }
}

/// Writes commands with an API bound. The thread's own is bound again afterwards.
pub fn with_api(emitter: &mut Emitter, api: u32, act: impl FnOnce(&mut Emitter)) {
    let bound = match words().bound_api.get() {
        0 => EGL_OPENGL_ES_API,
        bound => bound,
    };
    let bind = |emitter: &mut Emitter, api: u32| {
        emitter.command(EGL_BIND_API).arg(api).returns(1_u32, []);
    };
    if api != bound {
        bind(emitter, api);
    }
    act(emitter);
    if api != bound {
        bind(emitter, bound);
    }
}

/// A list of attributes and values with the attribute `end` at its end.
pub fn list(attributes: impl Iterator<Item = (i32, i32)>, end: i32) -> Vec<i32> {
    let pairs = attributes.filter(|(name, _)| *name != end);
    let mut list: Vec<i32> = pairs.flat_map(|(name, value)| [name, value]).collect();
    list.push(end);
    list
}

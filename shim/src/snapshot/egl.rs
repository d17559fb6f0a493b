//! Displays, configurations, contexts and surfaces, and which of them are current on a thread. Of a configuration the
//! attributes in `OF_CONFIGS` are described, of a surface its size. Every surface that is no pbuffer is described as a
//! window surface. Contexts that share are made from the first of their group that still exists.

use core::ptr;
use std::sync::Arc;

use gapii_commands::constants;
use gapii_commands::constants::{
    EGL_ALPHA_SIZE, EGL_BIND_TO_TEXTURE_RGB, EGL_BIND_TO_TEXTURE_RGBA, EGL_BLUE_SIZE,
    EGL_BUFFER_SIZE, EGL_COLOR_BUFFER_TYPE, EGL_CONFIG_CAVEAT, EGL_CONFIG_ID, EGL_DEPTH_SIZE,
    EGL_GREEN_SIZE, EGL_HEIGHT, EGL_OPENGL_ES_API, EGL_RED_SIZE, EGL_RENDERABLE_TYPE,
    EGL_SAMPLE_BUFFERS, EGL_SAMPLES, EGL_STENCIL_SIZE, EGL_SURFACE_TYPE, EGL_WIDTH,
};
use gapii_state::{
    EglContext, Group, Objects, Process, Ref, Surface as SurfaceState, SurfaceKind, Thread,
};

use super::emit::Emitter;
use super::gl;
use super::like;
use crate::generated::ids::*;
use gapii_recorder::observe;

/// The end of a list of attributes.
pub const EGL_NONE: i32 = constants::EGL_NONE as i32;

/// Attributes of a configuration that a snapshot describes: sizes of buffers, samples, uses.
const OF_CONFIGS: [u32; 16] = [
    EGL_BUFFER_SIZE,
    EGL_ALPHA_SIZE,
    EGL_BLUE_SIZE,
    EGL_GREEN_SIZE,
    EGL_RED_SIZE,
    EGL_DEPTH_SIZE,
    EGL_STENCIL_SIZE,
    EGL_CONFIG_CAVEAT,
    EGL_CONFIG_ID,
    EGL_SAMPLES,
    EGL_SAMPLE_BUFFERS,
    EGL_SURFACE_TYPE,
    EGL_BIND_TO_TEXTURE_RGB,
    EGL_BIND_TO_TEXTURE_RGBA,
    EGL_RENDERABLE_TYPE,
    EGL_COLOR_BUFFER_TYPE,
];

/// Describes displays, configurations, contexts and surfaces of the process.
pub fn describe(emitter: &mut Emitter, process: &Process) {
    let made = Made::of(process);
    for display in &made.displays {
        display.describe(emitter);
    }
    for (display, config) in &made.configs {
        CONFIG.describe(emitter, *display, *config);
    }
    let mut api = 0;
    for context in &made.contexts {
        if context.api != api {
            api = context.api;
            bind_api(emitter, api);
        }
        context.describe(emitter);
    }
    for surface in &made.surfaces {
        surface.describe(emitter);
    }
}

/// Describes the API that a thread has bound.
pub fn describe_bound_api(emitter: &mut Emitter, thread: &Thread) {
    // Programs of GLX have none.
    if !thread.process.lock().displays.names().is_empty() {
        bind_api(emitter, thread.bound_api);
    }
}

struct Display {
    handle: u64,
    platform: u32,
    native: u64,
    is_initialized: bool,
}

/// A context, as a command of EGL makes it.
pub struct Context {
    pub handle: u64,
    pub display: u64,
    config: u64,
    share: u64,
    api: u32,
    attributes: Vec<i32>,
}

/// A surface, as a command of EGL makes it.
pub struct Surface {
    pub handle: u64,
    pub display: u64,
    config: u64,
    kind: SurfaceKind,
    native: u64,
    attributes: Vec<i32>,
}

/// The objects of the process, in an order in which they can be created.
struct Made {
    displays: Vec<Display>,
    configs: Vec<(u64, u64)>,
    contexts: Vec<Context>,
    surfaces: Vec<Surface>,
}

impl Made {
    fn of(process: &Process) -> Self {
        let shares = Shares::of(process);
        let state = process.lock();
        let displays = state.displays.named().map(|(object, display)| Display {
            handle: object.name(),
            platform: display.platform,
            native: display.native,
            is_initialized: display.initialized,
        });
        let displays = displays.collect();
        let contexts = state.egl_contexts.named();
        let contexts = contexts.map(|(object, it)| Context::of(object, it, &shares));
        let mut contexts: Vec<_> = contexts.collect();
        contexts.sort_by_key(|context| context.share != 0);
        let surfaces = state.surfaces.named().map(|(object, it)| Surface::of(object, it));
        let surfaces: Vec<_> = surfaces.collect();
        let of_contexts = contexts.iter().map(|context| (context.display, context.config));
        let of_surfaces = surfaces.iter().map(|surface| (surface.display, surface.config));
        let mut configs: Vec<_> = of_contexts.chain(of_surfaces).collect();
        configs.retain(|(_, config)| *config != 0);
        configs.sort_unstable();
        configs.dedup();
        Self { displays, configs, contexts, surfaces }
    }
}

/// The share groups of a process.
pub struct Shares {
    /// Contexts, with the numbers of their groups.
    groups: Vec<(u64, usize)>,
    /// Those that the program has not destroyed.
    alive: Vec<u64>,
}

impl Shares {
    /// Of all contexts, whatever made them.
    pub fn of(process: &Process) -> Self {
        let groups = process.contexts().groups();
        let state = process.lock();
        let of_egl = state.egl_contexts.named().map(|(object, _)| object.name());
        let of_glx = state.glx_contexts.named().map(|(object, _)| object.name());
        Self { groups, alive: of_egl.chain(of_glx).collect() }
    }

    /// The context to share with: the first one of the group that there still is. 0: the context is the first.
    pub fn first_before(&self, handle: u64) -> u64 {
        let group = self.groups.iter().find(|(other, _)| *other == handle).map(|(_, group)| *group);
        let is_of_it =
            |(it, other): &&(u64, usize)| Some(*other) == group && self.alive.contains(it);
        let first = self.groups.iter().find(is_of_it).map(|(first, _)| *first);
        first.filter(|first| *first != handle).unwrap_or(0)
    }
}

impl Display {
    fn describe(&self, emitter: &mut Emitter) {
        match self.platform {
            0 => emitter.command(EGL_GET_DISPLAY).arg(self.native).returns(self.handle, []),
            platform => emitter
                .command(EGL_GET_PLATFORM_DISPLAY)
                .arg(platform)
                .arg(self.native)
                .arg(0_u64)
                .reads(observe::none())
                .returns(self.handle, []),
        }
        if self.is_initialized {
            emitter
                .command(EGL_INITIALIZE)
                .arg(self.handle)
                .arg(0_u64)
                .arg(0_u64)
                .returns(1_u32, [observe::none(), observe::none()]);
        }
    }
}

impl Context {
    /// Takes the state of a context.
    pub fn of(object: Ref<EglContext>, it: &EglContext, shares: &Shares) -> Self {
        Self {
            handle: object.name(),
            display: it.display,
            config: it.config,
            share: shares.first_before(object.name()),
            api: it.api,
            attributes: list(it.attributes.iter().map(|(name, value)| (*name, *value))),
        }
    }

    /// Makes the context, and leaves its API bound.
    pub fn describe_with_api(&self, emitter: &mut Emitter) {
        bind_api(emitter, self.api);
        self.describe(emitter);
    }

    fn describe(&self, emitter: &mut Emitter) {
        emitter
            .command(EGL_CREATE_CONTEXT)
            .arg(self.display)
            .arg(self.config)
            .arg(self.share)
            .arg(self.attributes.as_ptr())
            .reads(observe::attributes_i32(self.attributes.as_ptr()))
            .returns(self.handle, []);
    }
}

impl Surface {
    /// Takes the state of a surface.
    pub fn of(object: Ref<SurfaceState>, it: &SurfaceState) -> Self {
        Self {
            handle: object.name(),
            display: it.display,
            config: it.config,
            kind: it.kind,
            native: it.native,
            attributes: list(it.attributes.iter().map(|(name, value)| (*name, *value as i32))),
        }
    }

    fn describe(&self, emitter: &mut Emitter) {
        self.create(emitter);
        SIZE.describe(emitter, self.display, self.handle);
    }

    /// Makes the surface.
    pub fn create(&self, emitter: &mut Emitter) {
        let attributes = observe::attributes_i32(self.attributes.as_ptr());
        match self.kind {
            SurfaceKind::Pbuffer => emitter
                .command(EGL_CREATE_PBUFFER_SURFACE)
                .arg(self.display)
                .arg(self.config)
                .arg(self.attributes.as_ptr())
                .reads(attributes)
                .returns(self.handle, []),
            _ => emitter
                .command(EGL_CREATE_WINDOW_SURFACE)
                .arg(self.display)
                .arg(self.config)
                .arg(self.native)
                .arg(self.attributes.as_ptr())
                .reads(attributes)
                .returns(self.handle, []),
        }
    }
}

/// A query of objects' attributes, and the attributes that are asked for.
struct Told<'a> {
    id: u16,
    ask: unsafe fn(u64, u64, i32, *mut i32) -> u32,
    names: &'a [u32],
}

const CONFIG: Told<'_> =
    Told { id: EGL_GET_CONFIG_ATTRIB, ask: gl::egl_get_config_attrib, names: &OF_CONFIGS };
const SIZE: Told<'_> =
    Told { id: EGL_QUERY_SURFACE, ask: gl::egl_query_surface, names: &[EGL_WIDTH, EGL_HEIGHT] };

impl Told<'_> {
    fn number(&self, display: u64, object: u64, name: u32) -> Option<i32> {
        let mut value = 0;
        // SAFETY: `value` is writable; a handle that is none is an error.
        let done = unsafe { (self.ask)(display, object, name as i32, &raw mut value) };
        (done != 0).then_some(value)
    }

    fn describe(&self, emitter: &mut Emitter, display: u64, object: u64) {
        for name in self.names {
            let Some(value) = self.number(display, object, *name) else { continue };
            emitter
                .command(self.id)
                .arg(display)
                .arg(object)
                .arg(*name as i32)
                .arg(ptr::from_ref(&value))
                .returns(1_u32, [observe::array(&raw const value, 1, 4)]);
        }
    }
}

fn bind_api(emitter: &mut Emitter, api: u32) {
    let api = if api == 0 { EGL_OPENGL_ES_API } else { api };
    emitter.command(EGL_BIND_API).arg(api).returns(1_u32, []);
}

/// An attribute list with `EGL_NONE` at the end.
fn list(attributes: impl Iterator<Item = (u32, i32)>) -> Vec<i32> {
    like::list(attributes.map(|(name, value)| (name as i32, value)), EGL_NONE)
}

/// Handles of the contexts of a share group.
pub fn contexts_of_group(process: &Process, group: &Arc<Group>) -> Vec<u64> {
    let contexts = process.contexts();
    let handles = contexts.groups().into_iter().map(|(handle, _)| handle);
    let is_of_it =
        |handle: &u64| contexts.group(*handle).is_some_and(|other| Arc::ptr_eq(&other, group));
    handles.filter(is_of_it).collect()
}

/// Width and height of a surface. The driver does not answer for one that the program has destroyed.
pub fn size(surfaces: &Objects<SurfaceState>, object: Ref<SurfaceState>) -> Option<[i32; 2]> {
    let it = surfaces.get(object)?;
    let is_destroyed = surfaces.find(object.name()) != object;
    let ask = |name| match is_destroyed {
        true => it.attributes.get(&name).map(|value| *value as i32),
        false => SIZE.number(it.display, object.name(), name),
    };
    Some([ask(EGL_WIDTH)?, ask(EGL_HEIGHT)?])
}

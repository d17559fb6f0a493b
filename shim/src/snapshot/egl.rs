//! Displays, configurations, contexts and surfaces, and which of them are current on a thread. Of a configuration the
//! attributes in `OF_CONFIGS` are described, of a surface its size. Every surface that is no pbuffer is described as a
//! window surface. Contexts that share are made from the first of their group that still exists.

use core::ptr;
use std::sync::Arc;

use gapii_abi::atom::SubjectKind;
use gapii_commands::constants;
use gapii_commands::constants::{
    EGL_ALPHA_SIZE, EGL_BIND_TO_TEXTURE_RGB, EGL_BIND_TO_TEXTURE_RGBA, EGL_BLUE_SIZE,
    EGL_BUFFER_SIZE, EGL_COLOR_BUFFER_TYPE, EGL_CONFIG_CAVEAT, EGL_CONFIG_ID,
    EGL_CONTEXT_MAJOR_VERSION, EGL_DEPTH_SIZE, EGL_GREEN_SIZE, EGL_HEIGHT, EGL_OPENGL_ES_API,
    EGL_RED_SIZE, EGL_RENDERABLE_TYPE, EGL_SAMPLE_BUFFERS, EGL_SAMPLES, EGL_STENCIL_SIZE,
    EGL_SURFACE_TYPE, EGL_WIDTH,
};
use gapii_state::{
    EglContext, Group, Objects, Process, Ref, Surface as SurfaceState, SurfaceKind, Thread,
};

use super::emit::Emitter;
use super::gl;
use crate::generated::ids::*;
use gapii_recorder::observe;

const EGL_NONE: i32 = constants::EGL_NONE as i32;

/// Handle of a spare surface. No driver gives out such a handle.
const SPARE_SURFACE: u64 = 0xF000_2000;

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

/// Describes the API that a thread has bound, and its current context and surfaces.
pub fn describe_thread(emitter: &mut Emitter, thread: &Thread) {
    bind_api(emitter, thread.bound_api);
    let Some(current) = Current::of(thread) else { return };
    Destroyed::of(thread).make(emitter);
    current.make_current(emitter);
    let state = thread.process.lock();
    let interval =
        state.egl_contexts.get(thread.egl_context).map_or(1, |context| context.swap_interval);
    drop(state);
    if interval != 1 {
        emitter.command(EGL_SWAP_INTERVAL).arg(current.display).arg(interval).returns(1_u32, []);
    }
}

/// Describes that what is current on a thread is destroyed. No spare context can be current in the replay afterwards, because the
/// thread could not have its own again.
pub fn describe_destroyed(emitter: &mut Emitter, thread: &Thread) {
    if Current::of(thread).is_none() {
        return;
    }
    let destroyed = Destroyed::of(thread);
    if destroyed.is_any() {
        emitter.subject(SubjectKind::Thread, 0);
        destroyed.destroy(emitter);
    }
}

struct Display {
    handle: u64,
    platform: u32,
    native: u64,
    is_initialized: bool,
}

struct Context {
    handle: u64,
    display: u64,
    config: u64,
    share: u64,
    api: u32,
    attributes: Vec<i32>,
}

struct Surface {
    handle: u64,
    display: u64,
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
struct Shares(Vec<(u64, usize)>);

impl Shares {
    fn of(process: &Process) -> Self {
        Self(process.contexts().groups())
    }

    /// The context to share with: the first one of the group that there still is. 0: the context is the first.
    fn first_before(&self, handle: u64) -> u64 {
        let group = self.0.iter().find(|(other, _)| *other == handle).map(|(_, group)| *group);
        let first = self.0.iter().find(|(_, other)| Some(*other) == group).map(|(first, _)| *first);
        first.filter(|first| *first != handle).unwrap_or(0)
    }
}

/// A context and surfaces that are current on a thread although the program has destroyed them. EGL keeps them until others are
/// current on the thread, and gives their handles to nothing else until then.
struct Destroyed {
    context: Option<Context>,
    surfaces: Vec<Surface>,
}

impl Destroyed {
    fn of(thread: &Thread) -> Self {
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
            context: context.map(|it| Context::of(object, it, &shares)),
            surfaces: surfaces
                .filter_map(|object| Some(Surface::of(object, state.surfaces.get(object)?)))
                .collect(),
        }
    }

    fn is_any(&self) -> bool {
        self.context.is_some() || !self.surfaces.is_empty()
    }

    fn make(&self, emitter: &mut Emitter) {
        if let Some(context) = &self.context {
            bind_api(emitter, context.api);
            context.describe(emitter);
        }
        for surface in &self.surfaces {
            surface.create(emitter);
        }
    }

    fn destroy(&self, emitter: &mut Emitter) {
        for surface in &self.surfaces {
            let command = emitter.command(EGL_DESTROY_SURFACE).arg(surface.display);
            command.arg(surface.handle).returns(1_u32, []);
        }
        if let Some(context) = &self.context {
            let command = emitter.command(EGL_DESTROY_CONTEXT).arg(context.display);
            command.arg(context.handle).returns(1_u32, []);
        }
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
    fn of(object: Ref<EglContext>, it: &EglContext, shares: &Shares) -> Self {
        Self {
            handle: object.name(),
            display: it.display,
            config: it.config,
            share: shares.first_before(object.name()),
            api: it.api,
            attributes: list(it.attributes.iter().map(|(name, value)| (*name, *value))),
        }
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
    fn of(object: Ref<SurfaceState>, it: &SurfaceState) -> Self {
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

    fn create(&self, emitter: &mut Emitter) {
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
    let pairs = attributes.filter(|(name, _)| *name as i32 != EGL_NONE);
    let mut list: Vec<i32> = pairs.flat_map(|(name, value)| [name as i32, value]).collect();
    list.push(EGL_NONE);
    list
}

/// Attributes with which a context of the program was created.
pub struct Like {
    pub display: u64,
    pub config: u64,
    pub client_version: u32,
    /// With `EGL_NONE` at the end.
    pub attributes: Vec<i32>,
}

impl Like {
    /// `None` if the context does not exist or is none of OpenGL ES.
    pub fn of(process: &Process, handle: u64) -> Option<Self> {
        let state = process.lock();
        let context = state.egl_contexts.get(state.egl_contexts.find(handle))?;
        [0, EGL_OPENGL_ES_API].contains(&context.api).then(|| Self {
            display: context.display,
            config: context.config,
            client_version: context
                .attributes
                .get(&EGL_CONTEXT_MAJOR_VERSION)
                .map_or(1, |version| version.cast_unsigned()),
            attributes: list(context.attributes.iter().map(|(name, value)| (*name, *value))),
        })
    }
}

/// Handles of the contexts of a share group.
pub fn contexts_of_group(process: &Process, group: &Arc<Group>) -> Vec<u64> {
    let contexts = process.contexts();
    let handles = contexts.groups().into_iter().map(|(handle, _)| handle);
    let is_of_it =
        |handle: &u64| contexts.group(*handle).is_some_and(|other| Arc::ptr_eq(&other, group));
    handles.filter(is_of_it).collect()
}

/// Context and surfaces that are current on the describing thread.
pub struct Current {
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
        let (draw, read) = (thread.draw_surface.name(), thread.read_surface.name());
        let known = state.egl_contexts.get(thread.egl_context);
        let display = known.map_or(0, |it| it.display);
        let earlier = known.filter(|it| draw == 0 && it.had_surface).map(|it| it.config);
        Some(Self { display, draw, read, context, earlier_surface: earlier })
    }

    /// Makes them current in a replay.
    pub fn make_current(&self, emitter: &mut Emitter) {
        let command = emitter.command(EGL_MAKE_CURRENT).arg(self.display);
        command.arg(self.draw).arg(self.read).arg(self.context).returns(1_u32, []);
    }

    /// Has the driver set the viewport of a context without a surface, if it has done so in the program: it sets viewport and
    /// scissor box of a context that is current with a surface for the first time.
    pub fn settle_viewport(&self, emitter: &mut Emitter) {
        let Some(config) = self.earlier_surface else { return };
        if config == 0 {
            emitter.leave_out("that a context without a surface and a configuration had a surface");
            return;
        }
        let size = list([(EGL_WIDTH, 1), (EGL_HEIGHT, 1)].into_iter());
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

/// A surface that a thread draws to.
pub struct Drawn {
    pub width: i32,
    pub height: i32,
    /// A swap makes depth and stencil of a window undefined.
    pub is_window: bool,
    /// The thread reads from another surface.
    pub is_unread: bool,
}

/// Returns the draw surface of a thread, if it has one whose size is known.
pub fn drawn(thread: &Thread) -> Option<Drawn> {
    let surface = thread.draw_surface;
    let (is_window, [width, height]) = {
        let state = thread.process.lock();
        let it = state.surfaces.get(surface)?;
        (it.kind == SurfaceKind::Window, size(&state.surfaces, surface)?)
    };
    Some(Drawn { width, height, is_window, is_unread: thread.read_surface != surface })
}

/// A surface that a thread reads from, and does not draw to.
pub struct ReadApart {
    pub handle: u64,
    pub display: u64,
    pub config: u64,
    pub width: i32,
    pub height: i32,
}

/// Returns the read surface of a thread, if it has one and draws to another.
pub fn read_apart(thread: &Thread) -> Option<ReadApart> {
    let surface = thread.read_surface;
    if surface == thread.draw_surface {
        return None;
    }
    let state = thread.process.lock();
    let (handle, it) = (surface.name(), state.surfaces.get(surface)?);
    let [width, height] = size(&state.surfaces, surface)?;
    Some(ReadApart { handle, display: it.display, config: it.config, width, height })
}

/// Width and height of a surface. The driver does not answer for one that the program has destroyed.
fn size(surfaces: &Objects<SurfaceState>, object: Ref<SurfaceState>) -> Option<[i32; 2]> {
    let it = surfaces.get(object)?;
    let is_destroyed = surfaces.find(object.name()) != object;
    let ask = |name| match is_destroyed {
        true => it.attributes.get(&name).map(|value| *value as i32),
        false => SIZE.number(it.display, object.name(), name),
    };
    Some([ask(EGL_WIDTH)?, ask(EGL_HEIGHT)?])
}

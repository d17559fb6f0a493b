//! Configurations, contexts and drawables of GLX, and which of them are current on a thread. Of a configuration the
//! attributes in `OF_CONFIGS` are described, of a current drawable its size. A window of X that is current without a
//! command that made a surface of it needs no description. Contexts that share are made from the first of their group
//! that still exists.
//!
//! Pixels of pixmaps are those of X; what was drawn to pbuffers that are not current is missing, too.

use core::ptr;

use gapii_commands::constants::{
    GLX_ALPHA_SIZE, GLX_BLUE_SIZE, GLX_DEPTH_SIZE, GLX_DOUBLEBUFFER, GLX_GREEN_SIZE, GLX_HEIGHT,
    GLX_PBUFFER_HEIGHT, GLX_PBUFFER_WIDTH, GLX_RED_SIZE, GLX_SAMPLES, GLX_STENCIL_SIZE, GLX_WIDTH,
};
use gapii_recorder::observe;
use gapii_state::{DrawableKind, GlxDrawable, Process, Ref, Thread};

use super::egl::Shares;
use super::emit::Emitter;
use super::like::{Config, Like, list};
use super::{gl, x11};
use crate::generated::ids;
use crate::generated::ids::*;

/// Attributes of a configuration that a snapshot describes: sizes of buffers, and samples.
const OF_CONFIGS: [u32; 8] = [
    GLX_RED_SIZE,
    GLX_GREEN_SIZE,
    GLX_BLUE_SIZE,
    GLX_ALPHA_SIZE,
    GLX_DEPTH_SIZE,
    GLX_STENCIL_SIZE,
    GLX_SAMPLES,
    GLX_DOUBLEBUFFER,
];

/// Describes configurations, contexts and drawables of the process.
pub fn describe(emitter: &mut Emitter, process: &Process) {
    let shares = Shares::of(process);
    let (mut contexts, drawables, mut configs) = {
        let state = process.lock();
        let contexts = state.glx_contexts.named();
        let contexts: Vec<(u64, u64)> =
            contexts.map(|(it, _)| (it.name(), shares.first_before(it.name()))).collect();
        let drawables = state.glx_drawables.named();
        let drawables: Vec<_> = drawables.map(|(object, it)| Drawable::of(object, it)).collect();
        let of_contexts =
            state.glx_contexts.named().map(|(_, it)| (it.display, it.config, it.screen));
        let of_drawables = drawables.iter().map(|it| (it.display, it.config, it.screen));
        let configs = of_contexts.chain(of_drawables).filter(|(_, config, _)| *config != 0);
        let configs: Vec<(u64, u64, i32)> = configs.collect();
        (contexts, drawables, configs)
    };
    configs.sort_unstable();
    configs.dedup();
    for (display, config, screen) in configs {
        describe_config(emitter, display, Config::of(config, screen));
    }
    contexts.sort_by_key(|(_, share)| *share != 0);
    for (handle, share) in contexts {
        match Like::of(process, handle) {
            Some(like) => like.make(emitter, share, handle),
            None => emitter.leave_out("a context of GLX that another process made"),
        }
    }
    for drawable in &drawables {
        drawable.create(emitter);
        if drawable.kind != DrawableKind::Window {
            emitter.leave_out("what was drawn to pbuffers and pixmaps of GLX that are not current");
        }
    }
}

/// Describes sizes of the current drawables, and the swap interval.
pub fn describe_current(
    emitter: &mut Emitter,
    thread: &Thread,
    display: u64,
    [draw, read]: [u64; 2],
) {
    let both = [draw, read];
    for drawable in both.iter().take(if draw == read { 1 } else { 2 }) {
        let Some(size) = size(&thread.process, display, *drawable) else { continue };
        for (name, side) in [GLX_WIDTH, GLX_HEIGHT].into_iter().zip(size) {
            emitter
                .command(GLX_QUERY_DRAWABLE)
                .arg(display)
                .arg(*drawable)
                .arg(name as i32)
                .arg(ptr::from_ref(&side))
                .returns((), [observe::array(&raw const side, 1, 4)]);
        }
    }
    let interval = {
        let state = thread.process.lock();
        state.glx_contexts.get(thread.glx_context).map_or(1, |it| it.swap_interval)
    };
    if interval != 1 && draw != 0 {
        let command = emitter.command(GLX_SWAP_INTERVAL_EXT).arg(display).arg(draw);
        command.arg(interval).done();
    }
}

/// The kind of a drawable. A window of X is one that no command made.
pub fn kind_of(process: &Process, drawable: u64) -> DrawableKind {
    let state = process.lock();
    let object = state.glx_drawables.find(drawable);
    state.glx_drawables.get(object).map_or(DrawableKind::Window, |it| it.kind)
}

/// Width and height of a drawable. `None` if it is gone, or if X cannot be asked.
pub fn size(process: &Process, display: u64, drawable: u64) -> Option<[i32; 2]> {
    if drawable == 0 {
        return None;
    }
    let native = {
        let state = process.lock();
        let object = state.glx_drawables.find(drawable);
        match state.glx_drawables.get(object) {
            None => drawable,
            Some(it) if it.kind == DrawableKind::Pbuffer => {
                let side = |name: u32| it.attributes.get(&(name as i32)).copied().unwrap_or(0);
                return Some([GLX_PBUFFER_WIDTH, GLX_PBUFFER_HEIGHT].map(side));
            }
            Some(it) => it.native,
        }
    };
    x11::size(display, native)
}

fn describe_config(emitter: &mut Emitter, display: u64, config: Config) {
    for name in OF_CONFIGS {
        let mut value = 0;
        let (name, out) = (name as i32, &raw mut value);
        let failed = match config {
            // SAFETY: `value` is writable, and the program has the configuration.
            Config::Handle(it) => unsafe { gl::glx_get_config_attrib(display, it, name, out) },
            // SAFETY: as above.
            Config::Visual(it) => unsafe { gl::glx_get_config(display, it.as_ptr(), name, out) },
        };
        if failed != 0 {
            continue;
        }
        let command = match config {
            Config::Handle(it) => emitter.command(GLX_GET_FB_CONFIG_ATTRIB).arg(display).arg(it),
            Config::Visual(ref it) => it.arg(emitter.command(ids::GLX_GET_CONFIG).arg(display)),
        };
        let command = command.arg(name).arg(ptr::from_ref(&value));
        command.returns(0_i32, [observe::array(&raw const value, 1, 4)]);
    }
}

/// A drawable that a command made.
struct Drawable {
    handle: u64,
    display: u64,
    config: u64,
    screen: i32,
    kind: DrawableKind,
    native: u64,
    attributes: Vec<i32>,
}

impl Drawable {
    fn of(object: Ref<GlxDrawable>, it: &GlxDrawable) -> Self {
        let attributes = it.attributes.iter().map(|(name, value)| (*name, *value));
        Self {
            handle: object.name(),
            display: it.display,
            config: it.config,
            screen: it.screen,
            kind: it.kind,
            native: it.native,
            attributes: list(attributes, 0),
        }
    }

    fn create(&self, emitter: &mut Emitter) {
        let id = match (self.kind, Config::of(self.config, self.screen)) {
            (_, Config::Visual(visual)) => {
                let command = emitter.command(GLX_CREATE_GLX_PIXMAP).arg(self.display);
                visual.arg(command).arg(self.native).returns(self.handle, []);
                return;
            }
            (DrawableKind::Window, _) => GLX_CREATE_WINDOW,
            (DrawableKind::Pixmap, _) => GLX_CREATE_PIXMAP,
            (DrawableKind::Pbuffer, _) => GLX_CREATE_PBUFFER,
        };
        let command = emitter.command(id).arg(self.display).arg(self.config);
        let command = match self.kind {
            DrawableKind::Pbuffer => command,
            _ => command.arg(self.native),
        };
        let attributes = self.attributes.as_ptr();
        let command = command.arg(attributes).reads(observe::attributes_to_i32(attributes, 0));
        command.returns(self.handle, []);
    }
}

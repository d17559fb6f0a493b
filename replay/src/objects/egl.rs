//! EGL objects of a replay: those of the trace, by process and handle, with this machine's objects for them. At most
//! 16,384 of a kind are alive at once (`OBJECTS_MAX`), with 134,217,728 pixels in all surfaces (`PIXELS_MAX`); the
//! commands that make more are skipped. `open` refuses to begin and names all that the driver lacks.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::configs::{self, Configs};
use super::imports::Imports;
use super::{contexts, displays, lacks};
use crate::driver::{Driver, Ending, Handle, Parked, Real, Window, Windows};
use crate::names::{Kind, Names, Scopes};
use crate::survey::Survey;

pub use super::configs::Key;

/// Largest number of live objects of one kind.
pub const OBJECTS_MAX: usize = 1 << 14;
/// Largest number of pixels of all surfaces together.
pub const PIXELS_MAX: u64 = 1 << 27;

/// EGL objects of a replay.
#[derive(Default)]
pub struct Egl {
    pub(crate) real: Option<Real>,
    pub(crate) windows: Option<Windows>,
    pub(crate) configs: Configs,
    pub(crate) displays: HashMap<Key, Display>,
    pub(crate) contexts: HashMap<Key, Context>,
    /// Contexts that the trace has destroyed and the driver has not.
    kept: Vec<Kept>,
    pub(crate) surfaces: HashMap<Key, Surface>,
    pub(crate) syncs: HashMap<Key, Sync>,
    pub(crate) images: HashMap<Key, Image>,
    pub(crate) imports: Imports,
    pub(crate) currents: BTreeMap<u32, Current>,
    /// What threads have lost to another one with which they share a drawable, as GLX allows. EGL does not. It becomes
    /// current again before the thread's next command.
    pub(crate) taken: BTreeMap<u32, Current>,
    /// Number of pixels of all surfaces.
    pub(crate) pixels: u64,
    /// Number of waits for syncs that timed out.
    pub(crate) vain_waits: u32,
    /// Surface to make a context current with that has none, where the driver requires one; by
    /// context.
    pub(crate) stand_in: HashMap<Handle, Handle>,
}

/// A display of the trace.
#[derive(Default)]
pub struct Display {
    /// Whether each eglInitialize needs an eglTerminate of its own (`EGL_TRACK_REFERENCES_KHR`).
    pub is_counted: bool,
    /// Number of eglInitialize calls without an eglTerminate.
    pub references: u64,
}

/// A context of the trace.
pub struct Context {
    /// Handle of its display in the trace.
    pub display: u64,
    /// The driver's handle.
    pub real: Handle,
    /// The driver's configuration; 0 for none.
    pub config: Handle,
    /// Whether the recorded context was created without error checking.
    pub finds_no_errors: bool,
    /// Names of its share group, and its own.
    pub scopes: Scopes,
    /// Whether a snapshot creates it.
    pub is_of_snapshot: bool,
}

/// A context that the trace has destroyed, for which the driver's context exists.
struct Kept {
    process: u32,
    context: Context,
    /// Keeps the context in a replay that is recorded, where the driver was told to destroy it, too.
    parked: Option<Parked>,
}

/// A surface of the trace.
pub struct Surface {
    /// Handle of its display in the trace.
    pub display: u64,
    /// The driver's handle.
    pub real: Handle,
    /// The driver's configuration.
    pub config: Handle,
    /// Width and height in pixels.
    pub size: (u32, u32),
    /// Attributes that the driver was given. A resize replaces the size among them.
    pub attributes: Vec<(i32, i32)>,
    /// Index of the surface in the survey.
    pub facts: Option<usize>,
    /// Number of successful swaps.
    pub swaps: u64,
    /// The window, under `--window`.
    pub window: Option<Window>,
}

/// An EGL sync of the trace.
pub struct Sync {
    /// Handle of its display in the trace.
    pub display: u64,
    /// The driver's handle.
    pub real: Handle,
}

/// An EGL image of the trace.
pub struct Image {
    /// Handle of its display in the trace.
    pub display: u64,
    /// The driver's handle.
    pub real: Handle,
}

/// Context and surfaces that are current on a thread.
#[derive(Clone, Copy)]
pub struct Current {
    /// Index of the process in the trace.
    pub process: u32,
    /// The context's handle in the trace.
    pub context: u64,
    /// The context's share group.
    pub group: u32,
    /// Handle of the draw surface in the trace.
    pub draw: u64,
    /// Handle of the read surface in the trace.
    pub read: u64,
    /// Whether the recorded context was created without error checking.
    pub finds_no_errors: bool,
    /// The driver's context.
    pub real_context: Handle,
    /// The driver's draw surface.
    pub real_draw: Handle,
    /// The driver's read surface.
    pub real_read: Handle,
}

impl Context {
    /// What the driver needs to know before it destroys the context.
    fn ending(&self, names: &Names) -> Ending {
        let all = |kind| {
            let all = names.all(self.scopes, kind).into_iter();
            all.filter_map(|(_, real)| u32::try_from(real).ok()).collect()
        };
        Ending {
            context: self.real,
            pipelines: all(Kind::ProgramPipeline),
            transform_feedbacks: all(Kind::TransformFeedback),
        }
    }
}

impl Kept {
    /// Ends the driver's context.
    fn destroy(self, real: &Real) {
        if self.parked.is_none() {
            real.destroy_context(self.context.real);
        }
    }
}

impl Egl {
    /// Opens a display of this machine that can play the trace. The error is a list of sentences,
    /// one per thing that the driver lacks.
    pub fn open(driver: &Arc<Driver>, survey: &Survey, window: bool) -> Result<Self, Vec<String>> {
        let mut lacks: Vec<String> = lacks::absent(survey, driver).into_iter().collect();
        let mut egl = Self::default();
        if survey.uses_egl() {
            let one = |lack| vec![lack];
            egl.windows = if window { Some(Windows::open().map_err(one)?) } else { None };
            let display = egl.windows.as_ref().map(Windows::display);
            let real = Real::open(driver, display, survey.display).map_err(one)?;
            egl.configs = configs::choose(&real, survey, window)
                .inspect_err(|_| real.close())
                .map_err(one)?;
            lacks.extend(contexts::missing(&real, survey, &egl.configs));
            lacks.extend(displays::missing(&real, survey));
            egl.real = Some(real);
        }
        if !lacks.is_empty() {
            egl.close(&Names::new(0));
            return Err(lacks);
        }
        Ok(egl)
    }

    /// Handle in the trace of the context that is current on a played thread.
    pub fn current(&self, thread: u32) -> Option<u64> {
        self.currents.get(&thread).map(|current| current.context)
    }

    /// Whether the recorded context of a played thread was created without error checking. Here
    /// every context checks errors.
    pub fn found_no_errors(&self, thread: u32) -> bool {
        self.currents.get(&thread).is_some_and(|current| current.finds_no_errors)
    }

    /// Width and height in pixels of the surface to which a played thread draws.
    pub fn drawn_size(&self, thread: u32) -> Option<(u32, u32)> {
        let current = self.currents.get(&thread)?;
        let surface = self.surfaces.get(&(current.process, current.draw))?;
        Some(surface.size)
    }

    /// The driver's image for an image of the trace.
    pub fn image(&self, process: u32, image: u64) -> Option<Handle> {
        self.images.get(&(process, image)).map(|image| image.real)
    }

    /// Destroys a context of the trace. One that a snapshot creates stays with the driver while another context has its share
    /// group: Mesa 22.3 keeps what a context binds to an EGL image or draws to with the renderbuffer, and uses the context once
    /// more when the renderbuffer gets another storage. The program's renderbuffers had been drawn to in other contexts.
    ///
    /// A replay that is itself recorded destroys it, since the recorder would take it for a context of the program otherwise, and the
    /// driver keeps it because it is current on a thread.
    pub fn end_context(&mut self, key: Key, names: &Names) {
        let (Some(context), Some(real)) = (self.contexts.remove(&key), &self.real) else { return };
        let group = context.scopes.group;
        let is_last = !self.contexts.values().any(|other| other.scopes.group == group);
        let has_room = self.contexts.len() + self.kept.len() < OBJECTS_MAX;
        if is_last {
            real.destroy_context(context.real);
            // A context that is current holds programs with parts of the kept contexts for as long.
            if self.currents.values().any(|current| current.group == group) {
                return;
            }
            let kept = self.kept.extract_if(.., |kept| kept.context.scopes.group == group);
            kept.for_each(|kept| kept.destroy(real));
        } else if context.is_of_snapshot && has_room {
            let parked = Parked::new(real, context.ending(names));
            if !real.is_intercepted() {
                self.kept.push(Kept { process: key.0, context, parked: None });
                return;
            }
            real.destroy_context(context.real);
            if parked.is_some() {
                self.kept.push(Kept { process: key.0, context, parked });
            }
        } else {
            real.destroy_context(context.real);
        }
    }

    /// Destroys all contexts of a display of the trace.
    pub fn end_contexts(&mut self, process: u32, display: u64, names: &Names) {
        let Some(real) = &self.real else { return };
        let is_of_it = |of: u32, context: &Context| of == process && context.display == display;
        let named = self.contexts.extract_if(|key, context| is_of_it(key.0, context));
        destroy_all(real, named.map(|(_, context)| context).collect(), names);
        let kept = self.kept.extract_if(.., |kept| is_of_it(kept.process, &kept.context));
        kept.for_each(|kept| kept.destroy(real));
    }

    /// Destroys all objects. Called when no thread plays any more.
    pub fn close(&mut self, names: &Names) {
        let Some(real) = self.real.take().map(|real| real.unheard()) else { return };
        for image in std::mem::take(&mut self.images).into_values() {
            real.destroy_image(image.real, false);
        }
        if let Some((context, surface)) = self.imports.maker.take() {
            if surface != 0 {
                real.destroy_surface(surface);
            }
            real.destroy_context(context);
        }
        for sync in std::mem::take(&mut self.syncs).into_values() {
            real.destroy_sync(sync.real, false);
        }
        for surface in std::mem::take(&mut self.surfaces).into_values() {
            real.destroy_surface(surface.real);
        }
        for stand_in in std::mem::take(&mut self.stand_in).into_values() {
            real.destroy_surface(stand_in);
        }
        destroy_all(&real, std::mem::take(&mut self.contexts).into_values().collect(), names);
        std::mem::take(&mut self.kept).into_iter().for_each(|kept| kept.destroy(&real));
        real.close();
    }
}

/// Destroys contexts, which may share objects. Those that do are emptied first.
fn destroy_all(real: &Real, contexts: Vec<Context>, names: &Names) {
    let mut sizes: HashMap<u32, usize> = HashMap::new();
    contexts.iter().for_each(|context| *sizes.entry(context.scopes.group).or_default() += 1);
    for context in contexts.iter().filter(|context| sizes[&context.scopes.group] > 1) {
        drop(Parked::new(real, context.ending(names)));
    }
    for context in contexts {
        real.destroy_context(context.real);
    }
}

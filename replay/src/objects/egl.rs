//! What there is of EGL in a replay: the objects of the trace, by process and handle, and what this
//! machine has for them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::configs::{self, Configs};
use super::{contexts, displays, lacks};
use crate::driver::{Driver, Handle, Real, Window, Windows};
use crate::survey::Survey;

pub use super::configs::Key;

/// Most objects of one sort that are alive.
pub const OBJECTS_MAX: usize = 1 << 14;
/// Most pixels of all surfaces together.
pub const PIXELS_MAX: u64 = 1 << 27;

/// What the player keeps of EGL.
#[derive(Default)]
pub struct Egl {
    pub(crate) real: Option<Real>,
    pub(crate) windows: Option<Windows>,
    pub(crate) configs: Configs,
    pub(crate) displays: HashMap<Key, Display>,
    pub(crate) contexts: HashMap<Key, Context>,
    pub(crate) surfaces: HashMap<Key, Surface>,
    pub(crate) syncs: HashMap<Key, Sync>,
    pub(crate) images: HashMap<Key, Image>,
    pub(crate) currents: BTreeMap<u32, Current>,
    /// Pixels of all surfaces.
    pub(crate) pixels: u64,
    /// Waits for syncs that came to nothing.
    pub(crate) vain_waits: u32,
    /// A surface for contexts without one, where the driver wants one.
    pub(crate) stand_in: HashMap<Handle, Handle>,
}

/// A display of the trace.
#[derive(Default)]
pub struct Display {
    /// Each eglInitialize needs an eglTerminate of its own.
    pub is_counted: bool,
    pub references: u64,
}

/// A context of the trace.
pub struct Context {
    /// Handle of its display in the trace.
    pub display: u64,
    pub real: Handle,
    /// The driver's; 0 for none.
    pub config: Handle,
    /// The trace's was made to find no errors.
    pub finds_no_errors: bool,
}

/// A surface of the trace.
pub struct Surface {
    pub display: u64,
    pub real: Handle,
    pub config: Handle,
    pub size: (u32, u32),
    /// Those that the driver was given; a size among them is replaced.
    pub attributes: Vec<(i32, i32)>,
    /// What the survey knows of it.
    pub facts: Option<usize>,
    /// Successful swaps.
    pub swaps: u64,
    pub window: Option<Window>,
}

/// An EGL sync of the trace.
pub struct Sync {
    pub display: u64,
    pub real: Handle,
}

/// An EGL image of the trace.
pub struct Image {
    pub display: u64,
    pub real: Handle,
}

/// What is current on a thread.
#[derive(Clone, Copy)]
pub struct Current {
    pub process: u32,
    /// Handles in the trace.
    pub context: u64,
    pub draw: u64,
    /// The trace's context was made to find no errors.
    pub finds_no_errors: bool,
    /// The driver's.
    pub real_context: Handle,
    pub real_draw: Handle,
    pub real_read: Handle,
}

impl Egl {
    /// A display of this machine that can play the trace, or sentences that say what the driver
    /// lacks.
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
            egl.close();
            return Err(lacks);
        }
        Ok(egl)
    }

    /// The context that is current on a played thread: its handle in the trace.
    pub fn current(&self, thread: u32) -> Option<u64> {
        self.currents.get(&thread).map(|current| current.context)
    }

    /// Whether the context of a played thread was made to find no errors when it was recorded; here
    /// every context finds them.
    pub fn found_no_errors(&self, thread: u32) -> bool {
        self.currents.get(&thread).is_some_and(|current| current.finds_no_errors)
    }

    /// The surface that a played thread draws to: its size.
    pub fn drawn_size(&self, thread: u32) -> Option<(u32, u32)> {
        let current = self.currents.get(&thread)?;
        let surface = self.surfaces.get(&(current.process, current.draw))?;
        Some(surface.size)
    }

    /// The driver's image for one of the trace.
    pub fn image(&self, process: u32, image: u64) -> Option<Handle> {
        self.images.get(&(process, image)).map(|image| image.real)
    }

    /// All that was made is destroyed. To be called when no thread plays any more.
    pub fn close(&mut self) {
        let Some(real) = self.real.take().map(|real| real.unheard()) else { return };
        for image in std::mem::take(&mut self.images).into_values() {
            real.destroy_image(image.real, false);
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
        for context in std::mem::take(&mut self.contexts).into_values() {
            real.destroy_context(context.real);
        }
        real.close();
    }
}

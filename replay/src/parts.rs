//! State of a replay, as players of commands use it, and queries of the driver's current context, asked once per
//! context.

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, c_char};
use std::sync::Arc;

use gapii_commands::constants::{
    GL_CONTEXT_CORE_PROFILE_BIT, GL_CONTEXT_PROFILE_MASK, GL_DISPATCH_INDIRECT_BUFFER_BINDING,
    GL_DRAW_INDIRECT_BUFFER_BINDING, GL_EXTENSIONS, GL_NUM_EXTENSIONS,
    GL_PIXEL_PACK_BUFFER_BINDING, GL_PIXEL_UNPACK_BUFFER_BINDING, GL_QUERY_BUFFER_BINDING,
    GL_RENDERER, GL_VENDOR, GL_VERSION,
};
use gapii_commands::ids;
use gapii_follow::follow::Follower;
use schemars::JsonSchema;
use serde::Serialize;

use gapii_state::read_back::NEVER;
use gapii_state::version_of;

use crate::driver::Driver;
use crate::limits::Limits;
use crate::memory::{Memory, Output, Outputs};
use crate::names::{Names, Scopes};
use crate::objects::{Egl, LevelZero, Mappings, PendingErrors, Places};
use crate::survey::Survey;
use crate::tally::Tally;
use crate::threads::Threads;

/// State of a replay, as players of commands use it.
pub struct Parts {
    pub driver: Arc<Driver>,
    pub memory: Memory,
    pub outputs: Outputs,
    pub names: Names,
    pub mappings: Mappings,
    pub places: Places,
    /// The program's state at the present command.
    pub follower: Follower,
    pub survey: Survey,
    pub egl: Egl,
    pub level_zero: LevelZero,
    pub tally: Tally,
    pub limits: Limits,
    /// Whether windows of the trace become windows.
    pub window: bool,
    pub threads: Threads,
    /// Outputs of the present command.
    pub(crate) call_outputs: Vec<Output>,
    /// Queried properties of contexts, by scope.
    pub(crate) facts: HashMap<u32, Facts>,
    /// Contexts that were given a client array with a stride that is too large, by scope.
    pub(crate) wide_arrays: HashSet<u32>,
    /// Arrays into which drivers write in selection and feedback mode, by scope of the context and mode.
    pub(crate) mode_arrays: HashMap<(u32, u32), Vec<u32>>,
    pub(crate) pending_errors: PendingErrors,
    /// Context and mode that the last glRenderMode has ended.
    pub(crate) ended_mode: (u32, u32),
}

/// A driver of OpenGL ES, as it names itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct GlDriver {
    /// `GL_VENDOR`.
    pub vendor: String,
    /// `GL_RENDERER`.
    pub renderer: String,
    /// `GL_VERSION`.
    pub version: String,
}

/// Properties of one of the driver's contexts.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Whether it is a context of OpenGL ES, not of desktop OpenGL.
    pub is_es: bool,
    /// Version of its API: major, minor.
    pub version: (u8, u8),
    /// Whether the driver refuses names that it has not generated, as contexts of desktop OpenGL do without the compatibility
    /// profile (OpenGL 4.6, 2.5).
    pub is_core: bool,
    /// Whether `GL_PIXEL_UNPACK_BUFFER` and `GL_PIXEL_PACK_BUFFER` exist.
    pub has_pixel_buffers: bool,
    /// Whether buffers can be mapped although the version is below 3.0.
    pub has_map_buffer: bool,
    /// Whether row length and skips exist for uploads.
    pub has_unpack_subimage: bool,
    /// Whether row length and skips exist for read-backs.
    pub has_pack_subimage: bool,
}

impl Facts {
    /// Whether the context has at least version `es` of OpenGL ES, or version `desktop` of desktop OpenGL.
    pub fn has(&self, es: (u8, u8), desktop: (u8, u8)) -> bool {
        self.version >= if self.is_es { es } else { desktop }
    }
}

const GET_INTEGER: u16 = ids::GL_GET_INTEGERV;
const GET_STRING: u16 = ids::GL_GET_STRING;

impl Parts {
    /// Properties of the current context, whose scopes are `scopes`. Queried once per context.
    pub fn facts(&mut self, scopes: Scopes) -> Facts {
        if let Some(known) = self.facts.get(&scopes.context) {
            return *known;
        }
        let version = self.driver_text(GL_VERSION).as_deref().and_then(version_of);
        let (is_es, version) = version.unwrap_or((true, (1, 0)));
        let since = |es: (u8, u8), desktop: (u8, u8)| version >= if is_es { es } else { desktop };
        // Only contexts of OpenGL ES have a list of extensions in every version and profile.
        let extensions = match is_es {
            true => self.driver_text(GL_EXTENSIONS).unwrap_or_default(),
            false => String::new(),
        };
        let has = |name: &str| extensions.split(' ').any(|extension| extension == name);
        let facts = Facts {
            is_es,
            version,
            is_core: !is_es && version >= (3, 1) && !self.is_compatible(version),
            has_pixel_buffers: since((3, 0), (2, 1)) || has("GL_NV_pixel_buffer_object"),
            has_map_buffer: !is_es || has("GL_OES_mapbuffer"),
            has_unpack_subimage: since((3, 0), (1, 0)) || has("GL_EXT_unpack_subimage"),
            has_pack_subimage: since((3, 0), (1, 0)) || has("GL_NV_pack_subimage"),
        };
        self.facts.insert(scopes.context, facts);
        facts
    }

    /// What the driver of the current context says about itself.
    pub(crate) fn gl_driver(&self) -> Option<GlDriver> {
        let [vendor, renderer, version] =
            [GL_VENDOR, GL_RENDERER, GL_VERSION].map(|name| self.driver_text(name));
        Some(GlDriver { vendor: vendor?, renderer: renderer?, version: version? })
    }

    /// `glGetString` in the current context.
    pub(crate) fn driver_text(&self, name: u32) -> Option<String> {
        // SAFETY: the type of glGetString.
        let get = unsafe { self.driver.own::<unsafe extern "C" fn(u32) -> *const u8>(GET_STRING) };
        // SAFETY: takes an enum that every version has; returns null or a string that stays valid.
        let text = unsafe { (get.ok()?)(name) };
        if text.is_null() {
            return None;
        }
        // SAFETY: not null, and NUL-terminated.
        Some(unsafe { CStr::from_ptr(text.cast()) }.to_string_lossy().into_owned())
    }

    /// Whether the current context, of OpenGL 3.1 or later, has the compatibility profile.
    fn is_compatible(&self, version: (u8, u8)) -> bool {
        if version >= (3, 2) {
            return self.integer(GL_CONTEXT_PROFILE_MASK) & GL_CONTEXT_CORE_PROFILE_BIT == 0;
        }
        type GetStringAt = unsafe extern "C" fn(u32, u32) -> *const c_char;
        // SAFETY: the type of glGetStringi.
        let get = unsafe { self.driver.own::<GetStringAt>(ids::GL_GET_STRINGI) };
        let Ok(get) = get else { return false };
        (0..self.integer(GL_NUM_EXTENSIONS)).any(|index| {
            // SAFETY: an index below the number of extensions.
            let name = unsafe { get(GL_EXTENSIONS, index) };
            // SAFETY: the driver returns a NUL-terminated string for it.
            !name.is_null() && unsafe { CStr::from_ptr(name) } == c"GL_ARB_compatibility"
        })
    }

    /// The driver's name of the buffer bound to `binding` in the current context; 0 if its version
    /// has no such binding.
    pub fn bound(&mut self, scopes: Scopes, binding: u32) -> u32 {
        let facts = self.facts(scopes);
        let exists = match binding {
            GL_PIXEL_PACK_BUFFER_BINDING | GL_PIXEL_UNPACK_BUFFER_BINDING => {
                facts.has_pixel_buffers
            }
            GL_DRAW_INDIRECT_BUFFER_BINDING => facts.has((3, 1), (4, 0)),
            GL_DISPATCH_INDIRECT_BUFFER_BINDING => facts.has((3, 1), (4, 3)),
            GL_QUERY_BUFFER_BINDING => facts.has(NEVER, (4, 4)),
            _ => facts.has((1, 1), (1, 5)),
        };
        if !exists {
            return 0;
        }
        self.integer(binding)
    }

    /// `glGetIntegerv` in the current context, for a `name` of its version. Only the first value.
    pub fn integer(&self, name: u32) -> u32 {
        let mut values = [0i32; 16];
        // SAFETY: the type of glGetIntegerv.
        let get = unsafe { self.driver.own::<unsafe extern "C" fn(u32, *mut i32)>(GET_INTEGER) };
        if let Ok(get) = get {
            // SAFETY: room for more values than any state has that is queried here.
            unsafe { get(name, values.as_mut_ptr()) };
        }
        values[0] as u32
    }
}

//! The API, the version and the extensions of the thread's current context, as the driver reports them.
//!
//! Asks for nothing that the context may not know: a core profile has no list of extensions in one text, and contexts
//! before OpenGL 3.2 have no profile. So no GL error is left for the program.

use core::ffi::{CStr, c_char};

use gapii_commands::constants::{
    GL_CONTEXT_FLAG_FORWARD_COMPATIBLE_BIT, GL_CONTEXT_FLAGS, GL_CONTEXT_PROFILE_MASK,
    GL_EXTENSIONS, GL_NUM_EXTENSIONS, GL_VERSION,
};
use gapii_state::{ContextApi, version_of};

use crate::driver_functions as driver;

/// The API, the version and the extensions of a context.
pub struct Identity {
    pub api: ContextApi,
    /// Major and minor version of the API.
    pub version: (u8, u8),
    /// `GL_VERSION`
    pub version_text: String,
    extensions: Names,
}

/// Names of extensions, as the driver gives them.
#[derive(Clone, Copy)]
enum Names {
    /// One text, with spaces between the names; null if the driver gives none.
    Text(*const c_char),
    /// This many names, each with an index.
    Indexed(u32),
}

impl Identity {
    /// Asks the driver. `None` if no context is current, or if the driver's version has no known form.
    pub fn ask() -> Option<Self> {
        let version_text = text(GL_VERSION)?;
        let (is_es, version) = version_of(&version_text)?;
        let is_indexed = !is_es && version >= (3, 0);
        let extensions = match is_indexed {
            true => Names::Indexed(integer(GL_NUM_EXTENSIONS)),
            // SAFETY: takes no memory.
            false => Names::Text(unsafe { driver::get_string(GL_EXTENSIONS) } as *const c_char),
        };
        let mut identity = Self { api: ContextApi::Es, version, version_text, extensions };
        if !is_es {
            identity.api = identity.profile();
        }
        Some(identity)
    }

    /// Whether the context has an extension.
    pub fn has(&self, extension: &str) -> bool {
        match self.extensions {
            Names::Text(names) => driver::has_word(names, extension),
            Names::Indexed(count) => {
                (0..count).filter_map(indexed).any(|name| name.to_bytes() == extension.as_bytes())
            }
        }
    }

    /// Returns the names of all extensions, with spaces between them.
    pub fn extensions(&self) -> String {
        match self.extensions {
            Names::Text(_) => text(GL_EXTENSIONS).unwrap_or_default(),
            Names::Indexed(count) => {
                let names = (0..count).filter_map(indexed).map(CStr::to_string_lossy);
                names.collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// The profile of a context of desktop OpenGL (OpenGL 4.6, D.1 and E.1). Below 3.2 a context has all functions of
    /// earlier versions, unless it is forward compatible or one of 3.1 without `GL_ARB_compatibility`.
    fn profile(&self) -> ContextApi {
        let is_core = match self.version {
            (3, 0) => integer(GL_CONTEXT_FLAGS) & GL_CONTEXT_FLAG_FORWARD_COMPATIBLE_BIT != 0,
            (3, 1) => !self.has("GL_ARB_compatibility"),
            version if version < (3, 0) => false,
            _ => {
                let mask = integer(GL_CONTEXT_PROFILE_MASK);
                return ContextApi::of_profile(mask.into()).unwrap_or(ContextApi::Core);
            }
        };
        if is_core { ContextApi::Core } else { ContextApi::Compatibility }
    }
}

/// Returns a text of the driver as the program gets it.
pub fn text(name: u32) -> Option<String> {
    // SAFETY: takes no memory.
    let text = unsafe { driver::get_string(name) } as *const c_char;
    if text.is_null() {
        return None;
    }
    // SAFETY: the driver returns a NUL-terminated string that stays valid.
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// The name of one extension.
fn indexed(index: u32) -> Option<&'static CStr> {
    let name = driver::get_string_at(GL_EXTENSIONS, index) as *const c_char;
    if name.is_null() {
        return None;
    }
    // SAFETY: the driver returns a NUL-terminated string that stays valid.
    Some(unsafe { CStr::from_ptr(name) })
}

fn integer(name: u32) -> u32 {
    let mut value = 0;
    // SAFETY: the variable has one value.
    unsafe { driver::get_integers(name, &raw mut value) };
    value as u32
}

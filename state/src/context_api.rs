//! The API and the profile of a context, and what its version means: 3.1 of OpenGL ES is not 3.1 of desktop OpenGL.

use gapii_commands::constants::{
    EGL_CONTEXT_OPENGL_COMPATIBILITY_PROFILE_BIT, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
    EGL_OPENGL_ES_API, GL_COMPILE,
};

use crate::{Context, Scope};

const CORE: i64 = EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT as i64;
const COMPATIBILITY: i64 = EGL_CONTEXT_OPENGL_COMPATIBILITY_PROFILE_BIT as i64;

/// The API and the profile of a context.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ContextApi {
    /// OpenGL ES.
    #[default]
    Es,
    /// Desktop OpenGL without the functions that version 3.1 has removed.
    Core,
    /// Desktop OpenGL with all functions of its version and of earlier ones.
    Compatibility,
}

crate::stored_enum! { ContextApi { Es, Core, Compatibility } }

impl ContextApi {
    /// The API of a context that EGL is asked for: `EGL_OPENGL_ES_API` or `EGL_OPENGL_API`, and a version of it.
    /// From 3.2 on a context has the core profile unless the program asks for another one (EGL 1.5, 3.7.1).
    pub fn requested(api: u32, version: (u8, u8)) -> Self {
        match api {
            EGL_OPENGL_ES_API => Self::Es,
            _ if version >= (3, 2) => Self::Core,
            _ => Self::Compatibility,
        }
    }

    /// The profile of a context of desktop OpenGL, as a bit of `GL_CONTEXT_PROFILE_MASK`; `None` for other numbers.
    pub fn of_profile(mask: i64) -> Option<Self> {
        match mask {
            CORE => Some(Self::Core),
            COMPATIBILITY => Some(Self::Compatibility),
            _ => None,
        }
    }

    /// The bit of `GL_CONTEXT_PROFILE_MASK`; 0 in OpenGL ES.
    pub fn profile(self) -> i32 {
        match self {
            Self::Es => 0,
            Self::Core => CORE as i32,
            Self::Compatibility => COMPATIBILITY as i32,
        }
    }

    /// Whether a context of this API and `version` has at least version `least` of OpenGL ES.
    #[inline]
    pub fn is_es(self, version: (u8, u8), least: (u8, u8)) -> bool {
        self == Self::Es && version >= least
    }

    /// Whether a context of this API and `version` has at least version `least` of desktop OpenGL.
    #[inline]
    pub fn is_desktop(self, version: (u8, u8), least: (u8, u8)) -> bool {
        self != Self::Es && version >= least
    }

    /// Whether a context of this API and `version` draws without a program, from the arrays of OpenGL ES 1.
    #[inline]
    pub fn has_fixed_function(self, version: (u8, u8)) -> bool {
        match self {
            Self::Es => version.0 < 2,
            Self::Core => false,
            Self::Compatibility => true,
        }
    }
}

/// Returns whether a `GL_VERSION` is one of OpenGL ES, and its major and minor version: `OpenGL ES 3.2 …`,
/// `OpenGL ES-CM 1.1 …` and, in desktop OpenGL, `4.5 (Core Profile) …`.
pub fn version_of(text: &str) -> Option<(bool, (u8, u8))> {
    let (is_es, number) = match text.strip_prefix("OpenGL ES") {
        Some(rest) => (true, rest.split(' ').nth(1)?),
        None => (false, text),
    };
    let (major, minor) = number.split_once('.')?;
    let minor = minor.split(|digit: char| !digit.is_ascii_digit()).next()?;
    Some((is_es, (major.parse().ok()?, minor.parse().ok()?)))
}

impl<S: Scope> Context<S> {
    /// Whether the context has at least version `es` of OpenGL ES, or version `desktop` of desktop OpenGL.
    #[inline]
    pub fn has(&self, es: (u8, u8), desktop: (u8, u8)) -> bool {
        self.api.is_es(self.version, es) || self.api.is_desktop(self.version, desktop)
    }
}

impl<S: Scope> Context<S> {
    /// Whether commands that display lists have are executed: no list is compiled, or the list's mode says so.
    #[inline(always)]
    pub fn executes(&self) -> bool {
        self.list_mode != GL_COMPILE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EGL_OPENGL_API: u32 = gapii_commands::constants::EGL_OPENGL_API;

    #[test]
    fn core_profile_is_the_default_from_3_2_on() {
        let check = |api, version, expected| {
            assert_eq!(ContextApi::requested(api, version), expected, "{version:?}");
        };
        check(EGL_OPENGL_ES_API, (3, 2), ContextApi::Es);
        check(EGL_OPENGL_API, (1, 0), ContextApi::Compatibility);
        check(EGL_OPENGL_API, (3, 1), ContextApi::Compatibility);
        check(EGL_OPENGL_API, (3, 2), ContextApi::Core);
        check(EGL_OPENGL_API, (4, 5), ContextApi::Core);
    }

    #[test]
    fn profile_is_read_from_the_bit_that_it_has() {
        for api in [ContextApi::Core, ContextApi::Compatibility] {
            assert_eq!(ContextApi::of_profile(api.profile().into()), Some(api));
        }
        for mask in [0, 3, -1] {
            assert_eq!(ContextApi::of_profile(mask), None, "{mask}");
        }
    }

    #[test]
    fn versions_of_the_two_apis_are_different_versions() {
        let check = |api: ContextApi, version, expected: [bool; 3]| {
            let found = [
                api.is_es(version, (3, 0)),
                api.is_desktop(version, (3, 0)),
                api.has_fixed_function(version),
            ];
            assert_eq!(found, expected, "{api:?} {version:?}");
        };
        check(ContextApi::Es, (1, 1), [false, false, true]);
        check(ContextApi::Es, (2, 0), [false, false, false]);
        check(ContextApi::Es, (3, 1), [true, false, false]);
        check(ContextApi::Core, (3, 3), [false, true, false]);
        check(ContextApi::Compatibility, (2, 1), [false, false, true]);
        check(ContextApi::Compatibility, (4, 5), [false, true, true]);
    }

    #[test]
    fn version_is_found_in_what_the_driver_says() {
        let check = |text, expected| assert_eq!(version_of(text), expected, "{text}");
        check("OpenGL ES 3.2 Mesa 22.3.6", Some((true, (3, 2))));
        check("OpenGL ES 2.0 build 1.14@5", Some((true, (2, 0))));
        check("OpenGL ES-CM 1.1 Mesa 22.3.6", Some((true, (1, 1))));
        check("OpenGL ES 3.2V@0502.0", Some((true, (3, 2))));
        check("4.6.0 NVIDIA 535", Some((false, (4, 6))));
        check("4.5 (Core Profile) Mesa 22.3.6", Some((false, (4, 5))));
        check("2.1 Mesa 22.3.6", Some((false, (2, 1))));
        check("OpenGL ES", None);
        check("Mesa", None);
    }
}

//! Versions of the shading language for shaders of the shim's own. They are written for OpenGL ES, and compile for desktop
//! OpenGL from 3.0 on, too, where precision qualifiers mean nothing.

use gapii_state::ContextApi;

use crate::driver_calls::Gl;

/// Extensions of OpenGL below 3.3 with what the shaders use.
const EARLIER: &str = "
#extension GL_ARB_explicit_attrib_location : enable
#extension GL_ARB_shader_bit_encoding : enable";

/// The lines at the beginning of a shader for the current context. `es` is the version in OpenGL ES.
pub fn version(es: i32) -> String {
    match Gl::of_thread() {
        Some(driver) => version_in(driver.api(), driver.version(), es),
        None => version_in(ContextApi::Es, (0, 0), es),
    }
}

/// [`version`] for a context of this API and version.
pub fn version_in(api: ContextApi, version: (u8, u8), es: i32) -> String {
    match (api, version) {
        (ContextApi::Es, _) if es == 100 => "#version 100".to_owned(),
        (ContextApi::Es, _) => format!("#version {es} es"),
        (_, (major, minor)) if version >= (3, 3) => format!("#version {major}{minor}0"),
        (_, (3, 2)) => format!("#version 150{EARLIER}"),
        (_, (3, 1)) => format!("#version 140{EARLIER}"),
        _ => format!("#version 130{EARLIER}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_that_of_the_api() {
        assert_eq!(version_in(ContextApi::Es, (3, 2), 310), "#version 310 es");
        assert_eq!(version_in(ContextApi::Es, (3, 2), 100), "#version 100");
        assert_eq!(version_in(ContextApi::Core, (4, 5), 310), "#version 450");
        assert_eq!(version_in(ContextApi::Compatibility, (3, 3), 300), "#version 330");
        assert!(version_in(ContextApi::Core, (3, 1), 300).starts_with("#version 140\n"));
    }
}

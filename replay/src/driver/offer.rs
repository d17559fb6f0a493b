//! Version and extensions of a driver's context.

/// Version and extensions of a context of this machine's driver.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Offer {
    /// Whether it is a context of OpenGL ES, not of desktop OpenGL.
    pub is_es: bool,
    /// Major and minor version.
    pub version: (u16, u16),
    /// Names of the extensions, separated by spaces.
    pub extensions: String,
}

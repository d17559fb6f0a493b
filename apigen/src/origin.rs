//! Splits the generated modules of OpenGL by version and extension. A command that several have is in the first of
//! OpenGL ES 2.0, OpenGL ES 3, OpenGL ES 1, desktop OpenGL, shared extensions of OpenGL ES (`KHR`, `OES`, `EXT`, `OVR`),
//! vendors' extensions of OpenGL ES, and extensions of desktop OpenGL. Other APIs have one module.

/// The first version or kind of extension that has a command. Only the commands of OpenGL are split by it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Origin {
    /// A command of an API whose commands are not split.
    Whole,
    Es2,
    Es3,
    Es1,
    /// A version of desktop OpenGL, with or without the compatibility profile.
    Desktop,
    /// An extension of Khronos or of several vendors.
    SharedExtension,
    VendorExtension,
    DesktopExtension,
}

/// The name of the generated modules that hold the commands of an origin: `gl_es2`, `level_zero`.
pub fn module(api: &str, origin: Origin) -> &str {
    match origin {
        Origin::Whole => api,
        Origin::Es1 => "gl_es1",
        Origin::Es2 => "gl_es2",
        Origin::Es3 => "gl_es3",
        Origin::Desktop => "gl_desktop",
        Origin::SharedExtension => "gl_shared_extensions",
        Origin::VendorExtension => "gl_vendor_extensions",
        Origin::DesktopExtension => "gl_desktop_extensions",
    }
}

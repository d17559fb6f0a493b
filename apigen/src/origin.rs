//! The versions and extensions by which generated modules are split.

/// Version or extension that a command comes from; the first that applies. OpenGL ES has enough commands to be
/// split by it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Origin {
    /// A command of an API whose commands are not split.
    Whole,
    Es2,
    Es3,
    Es1,
    /// An extension of Khronos or of several vendors.
    SharedExtension,
    VendorExtension,
}

/// The name of the generated modules that hold the commands of an origin: `gl_es2`, `level_zero`.
pub fn module(api: &str, origin: Origin) -> &str {
    match origin {
        Origin::Whole => api,
        Origin::Es1 => "gl_es1",
        Origin::Es2 => "gl_es2",
        Origin::Es3 => "gl_es3",
        Origin::SharedExtension => "gl_shared_extensions",
        Origin::VendorExtension => "gl_vendor_extensions",
    }
}

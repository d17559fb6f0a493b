//! Commands of OpenGL ES that more is to be done for than handing on arguments.

/// What the player keeps of OpenGL ES besides names.
#[derive(Default)]
pub struct Gl {}

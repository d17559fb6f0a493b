//! Functions that the descriptions of OpenGL ES name.

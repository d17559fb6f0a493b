//! Drawables of GLX: windows, pbuffers and pixmaps. A pixmap becomes a pbuffer, as in EGL; its contents are X's, and not in
//! the trace.

use crate::call::Call;
use crate::egl::surfaces::{self, Sort};
use crate::skip::Outcome;

/// glXCreateWindow.
pub fn create_window(call: &mut Call<'_, '_>) -> Outcome {
    surfaces::create(call, Vec::new(), Sort::Window)
}

/// glXCreatePbuffer, glXCreateGLXPbufferSGIX.
pub fn create_pbuffer(call: &mut Call<'_, '_>) -> Outcome {
    surfaces::create(call, Vec::new(), Sort::Pbuffer)
}

/// glXCreatePixmap and its variants.
pub fn create_pixmap(call: &mut Call<'_, '_>) -> Outcome {
    surfaces::create(call, Vec::new(), Sort::Pbuffer)
}

/// glXDestroyWindow and its variants. The driver keeps the surface while it is current.
pub fn destroy(call: &mut Call<'_, '_>) -> Outcome {
    let key = (call.command.process, call.u64(1));
    call.parts.egl.destroy_surface(key);
    Ok(())
}

/// glXBindTexImageEXT.
pub fn bind_tex_image(_call: &mut Call<'_, '_>) -> Outcome {
    Err("the trace does not have the contents of pixmaps, which X draws".into())
}

//! Viewports, depth ranges and scissors by index (OpenGL 4.1, GL_OES_viewport_array, GL_NV_viewport_array). The plain commands set
//! all indices at once, so only those of up to 64 that differ from index 0 are described.

use gapii_commands::constants::{
    GL_DEPTH_RANGE, GL_MAX_VIEWPORTS_OES, GL_SCISSOR_BOX, GL_SCISSOR_TEST, GL_VIEWPORT,
};
use gapii_state::read_back::{Driver, NEVER};

use super::emit::Emitter;
use super::gl;
use crate::driver_calls::Gl;
use crate::generated::ids::*;

/// The commands of OpenGL, or of one of the extensions.
struct Ids {
    /// Depth ranges have double precision.
    is_double: bool,
    get: unsafe fn(u32, u32, *mut f32),
    is_enabled: fn(u32, u32) -> u8,
    viewport: u16,
    depth_range: u16,
    scissor: u16,
    enable: u16,
    disable: u16,
    /// Disables or enables a capability of one index.
    set: [fn(u32, u32); 2],
}

const DESKTOP: Ids = Ids {
    is_double: true,
    get: gl::get_floats_at,
    is_enabled: gl::is_enabled_at,
    viewport: GL_VIEWPORT_INDEXEDF,
    depth_range: GL_DEPTH_RANGE_INDEXED,
    scissor: GL_SCISSOR_INDEXED,
    enable: GL_ENABLEI,
    disable: GL_DISABLEI,
    set: [gl::disable_at, gl::enable_at],
};
const OES: Ids = Ids {
    is_double: false,
    get: gl::get_floats_at_oes,
    is_enabled: gl::is_enabled_at_oes,
    viewport: GL_VIEWPORT_INDEXEDF_OES,
    depth_range: GL_DEPTH_RANGE_INDEXEDF_OES,
    scissor: GL_SCISSOR_INDEXED_OES,
    enable: GL_ENABLEI_OES,
    disable: GL_DISABLEI_OES,
    set: [gl::disable_at_oes, gl::enable_at_oes],
};
const NV: Ids = Ids {
    is_double: false,
    get: gl::get_floats_at_nv,
    is_enabled: gl::is_enabled_at_nv,
    viewport: GL_VIEWPORT_INDEXEDF_NV,
    depth_range: GL_DEPTH_RANGE_INDEXEDF_NV,
    scissor: GL_SCISSOR_INDEXED_NV,
    enable: GL_ENABLEI_NV,
    disable: GL_DISABLEI_NV,
    set: [gl::disable_at_nv, gl::enable_at_nv],
};

/// The state of one index.
#[derive(PartialEq)]
struct Viewport {
    place: [f32; 4],
    depth: [f64; 2],
    scissor: [i32; 4],
    is_scissored: bool,
}

/// Describes the indices whose state differs from that of index 0.
pub fn describe(emitter: &mut Emitter, driver: &Gl) {
    let Some(ids) = Ids::of(driver) else { return };
    let first = ids.ask(0);
    // As for blending: glIsEnabled(GL_SCISSOR_TEST), which is described already, may be another index' answer.
    if first.is_scissored != (gl::is_enabled(GL_SCISSOR_TEST) != 0) {
        ids.describe_scissoring(emitter, 0, first.is_scissored);
    }
    for index in 1..gl::integer(GL_MAX_VIEWPORTS_OES).clamp(1, 64) as u32 {
        let viewport = ids.ask(index);
        if viewport != first {
            ids.describe(emitter, index, &viewport);
        }
    }
}

/// Whether the scissor test of viewport 0 is enabled, which cuts blits.
pub fn is_first_scissored(driver: &Gl) -> bool {
    match Ids::of(driver) {
        Some(ids) => (ids.is_enabled)(GL_SCISSOR_TEST, 0) != 0,
        None => gl::is_enabled(GL_SCISSOR_TEST) != 0,
    }
}

/// Enables or disables the scissor test of viewport 0, and leaves those of the others.
pub fn scissor_first(driver: &Gl, is_on: bool) {
    match Ids::of(driver) {
        Some(Ids { set: [disable, enable], .. }) => {
            (if is_on { enable } else { disable })(GL_SCISSOR_TEST, 0);
        }
        None if is_on => gl::enable(GL_SCISSOR_TEST),
        None => gl::disable(GL_SCISSOR_TEST),
    }
}

impl Ids {
    /// `None` if the context has one viewport.
    fn of(driver: &Gl) -> Option<Self> {
        match () {
            () if driver.is_at_least(NEVER, (4, 1)) => Some(DESKTOP),
            () if driver.has("GL_OES_viewport_array") => Some(OES),
            () if driver.has("GL_NV_viewport_array") => Some(NV),
            () => None,
        }
    }

    fn ask(&self, index: u32) -> Viewport {
        let (mut place, mut scissor) = ([0.0; 4], [0; 4]);
        // SAFETY: a viewport has four numbers.
        unsafe { (self.get)(GL_VIEWPORT, index, place.as_mut_ptr()) };
        let depth = self.depth_range(index);
        // SAFETY: a scissor has four numbers.
        unsafe { gl::get_integers_at(GL_SCISSOR_BOX, index, scissor.as_mut_ptr()) };
        let is_scissored = (self.is_enabled)(GL_SCISSOR_TEST, index) != 0;
        Viewport { place, depth, scissor, is_scissored }
    }

    fn depth_range(&self, index: u32) -> [f64; 2] {
        if self.is_double {
            let mut depth = [0.0; 2];
            // SAFETY: a depth range has two numbers.
            unsafe { gl::get_doubles_at(GL_DEPTH_RANGE, index, depth.as_mut_ptr()) };
            return depth;
        }
        let mut depth = [0.0; 2];
        // SAFETY: as above.
        unsafe { (self.get)(GL_DEPTH_RANGE, index, depth.as_mut_ptr()) };
        depth.map(f64::from)
    }

    fn describe(&self, emitter: &mut Emitter, index: u32, viewport: &Viewport) {
        let [x, y, width, height] = viewport.place;
        let command = emitter.command(self.viewport).arg(index).arg(x).arg(y);
        command.arg(width).arg(height).done();
        let [near, far] = viewport.depth;
        let command = emitter.command(self.depth_range).arg(index);
        match self.is_double {
            true => command.arg(near).arg(far).done(),
            false => command.arg(near as f32).arg(far as f32).done(),
        }
        let [x, y, width, height] = viewport.scissor;
        let command = emitter.command(self.scissor).arg(index).arg(x).arg(y);
        command.arg(width).arg(height).done();
        self.describe_scissoring(emitter, index, viewport.is_scissored);
    }

    fn describe_scissoring(&self, emitter: &mut Emitter, index: u32, is_scissored: bool) {
        let id = if is_scissored { self.enable } else { self.disable };
        emitter.command(id).arg(GL_SCISSOR_TEST).arg(index).done();
    }
}

//! How a program presents what it draws: the reason why a trace has no frame. Looks at the commands that create contexts
//! and surfaces, at swaps, and at which of these commands failed.
//!
//! It does not look at what is drawn, and has no words for people.

use std::collections::BTreeSet;

use gapii_commands::{Api, CommandId};
use gapii_trace::Command;
use gapii_trace::filter::Filter;

/// Commands that create surfaces on which a swap shows something.
const WINDOWS: [CommandId; 5] = [
    CommandId::EGL_CREATE_WINDOW_SURFACE,
    CommandId::EGL_CREATE_PLATFORM_WINDOW_SURFACE,
    CommandId::EGL_CREATE_PLATFORM_WINDOW_SURFACE_EXT,
    CommandId::EGL_CREATE_STREAM_PRODUCER_SURFACE_KHR,
    CommandId::GLX_CREATE_WINDOW,
];

/// Commands that create surfaces which a program reads back or copies instead.
const OFFSCREEN: [CommandId; 8] = [
    CommandId::EGL_CREATE_PBUFFER_SURFACE,
    CommandId::EGL_CREATE_PBUFFER_FROM_CLIENT_BUFFER,
    CommandId::EGL_CREATE_PIXMAP_SURFACE,
    CommandId::EGL_CREATE_PLATFORM_PIXMAP_SURFACE,
    CommandId::EGL_CREATE_PLATFORM_PIXMAP_SURFACE_EXT,
    CommandId::GLX_CREATE_GLX_PIXMAP,
    CommandId::GLX_CREATE_PBUFFER,
    CommandId::GLX_CREATE_PIXMAP,
];

/// Commands, besides those that create surfaces, without whose success a program has nothing to present. All return 0 if
/// they fail.
const SETTING_UP: [CommandId; 14] = [
    CommandId::EGL_BIND_API,
    CommandId::EGL_GET_DISPLAY,
    CommandId::EGL_GET_PLATFORM_DISPLAY,
    CommandId::EGL_INITIALIZE,
    CommandId::EGL_CHOOSE_CONFIG,
    CommandId::EGL_CREATE_CONTEXT,
    CommandId::EGL_MAKE_CURRENT,
    CommandId::GLX_CHOOSE_FB_CONFIG,
    CommandId::GLX_CHOOSE_VISUAL,
    CommandId::GLX_CREATE_CONTEXT,
    CommandId::GLX_CREATE_CONTEXT_ATTRIBS_ARB,
    CommandId::GLX_CREATE_NEW_CONTEXT,
    CommandId::GLX_MAKE_CONTEXT_CURRENT,
    CommandId::GLX_MAKE_CURRENT,
];

/// Contexts, surfaces and ends of frames of a program: why its trace may have no frames.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Presentation {
    contexts: u64,
    /// Times that a context was made current.
    made_current: u64,
    windows: u64,
    offscreen: u64,
    /// Pixmaps and pbuffers of GLX. Each other drawable that becomes current is a window of X.
    glx_offscreen: BTreeSet<u64>,
    /// Commands that end a frame if they succeed.
    frame_ends: u64,
    /// Whether there are commands of EGL or GLX.
    has_window_system: bool,
    has_level_zero: bool,
    /// Name of the last command that set something up, if it failed.
    failed: Option<String>,
}

impl Presentation {
    /// Looks at the next command.
    pub fn look(&mut self, command: &Command<'_>) {
        let Some(known) = command.known() else { return };
        let is_of = |api: Api| command.function.is_some_and(|function| function.api == api.name());
        self.has_window_system |= is_of(Api::Egl) || is_of(Api::Glx);
        self.has_level_zero |= is_of(Api::LevelZero);
        self.frame_ends += u64::from(command.function.is_some_and(Filter::is_wanted_of_all));
        let is_window = WINDOWS.contains(&known);
        let is_offscreen = OFFSCREEN.contains(&known);
        if !is_window && !is_offscreen && !SETTING_UP.contains(&known) {
            return;
        }
        let Some((result, _)) = command.result() else { return };
        if result.bits() == 0 {
            self.failed = command.function.map(|function| function.name.clone());
            return;
        }
        self.failed = None;
        match known {
            CommandId::EGL_CREATE_CONTEXT
            | CommandId::GLX_CREATE_CONTEXT
            | CommandId::GLX_CREATE_CONTEXT_ATTRIBS_ARB
            | CommandId::GLX_CREATE_NEW_CONTEXT => self.contexts += 1,
            CommandId::EGL_MAKE_CURRENT
            | CommandId::GLX_MAKE_CONTEXT_CURRENT
            | CommandId::GLX_MAKE_CURRENT => {
                let context = command.args().last().map_or(0, |context| context.value.bits());
                self.made_current += u64::from(context != 0);
                let drawable = command.args().nth(1).map_or(0, |drawable| drawable.value.bits());
                let is_of_x = is_of(Api::Glx) && !self.glx_offscreen.contains(&drawable);
                self.windows += u64::from(is_of_x && context != 0 && drawable != 0);
            }
            CommandId::GLX_CREATE_GLX_PIXMAP
            | CommandId::GLX_CREATE_PBUFFER
            | CommandId::GLX_CREATE_PIXMAP => _ = self.glx_offscreen.insert(result.bits()),
            _ => {}
        }
        self.windows += u64::from(is_window);
        self.offscreen += u64::from(is_offscreen);
    }

    /// Returns why the commands that were looked at ended no frame. `None` if that is not known.
    pub fn why_no_frame(&self) -> Option<NoFrame> {
        Some(match self {
            _ if self.frame_ends > 0 => NoFrame::SwapsFailed(self.frame_ends),
            Presentation { failed: Some(name), .. } => NoFrame::Failed(name.clone()),
            _ if self.contexts > 0 && self.made_current == 0 => NoFrame::NotCurrent,
            _ if self.windows > 0 => NoFrame::NotSwapped,
            _ if self.offscreen > 0 => NoFrame::Offscreen,
            _ if self.contexts > 0 => NoFrame::NoSurface,
            _ if self.has_level_zero => NoFrame::NotSubmitted,
            _ if self.has_window_system => NoFrame::NoContext,
            _ => return None,
        })
    }
}

/// Why a program ended no frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoFrame {
    /// Each of this number of swaps failed, or had not returned.
    SwapsFailed(u64),
    /// The last command that sets up contexts and surfaces failed; its name.
    Failed(String),
    /// There are contexts, and none became current.
    NotCurrent,
    /// There is a window surface, and no swap.
    NotSwapped,
    /// All surfaces are pbuffers or pixmaps, and are not swapped.
    Offscreen,
    /// There are contexts, and no surface.
    NoSurface,
    /// There is no context.
    NoContext,
    /// A program of Level Zero submitted nothing to a queue.
    NotSubmitted,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_reason_is_named() {
        let nothing = Presentation::default();
        assert_eq!(nothing.why_no_frame(), None);
        let egl = Presentation { has_window_system: true, ..nothing };
        assert_eq!(egl.why_no_frame(), Some(NoFrame::NoContext));
        let compute = Presentation { has_level_zero: true, ..egl.clone() };
        assert_eq!(compute.why_no_frame(), Some(NoFrame::NotSubmitted));
        let idle = Presentation { contexts: 2, ..egl.clone() };
        assert_eq!(idle.why_no_frame(), Some(NoFrame::NotCurrent));
        let headless = Presentation { contexts: 1, made_current: 1, ..egl.clone() };
        assert_eq!(headless.why_no_frame(), Some(NoFrame::NoSurface));
        let offscreen = Presentation { offscreen: 2, ..headless };
        assert_eq!(offscreen.why_no_frame(), Some(NoFrame::Offscreen));
        let window = Presentation { windows: 1, ..offscreen };
        assert_eq!(window.why_no_frame(), Some(NoFrame::NotSwapped));
        let failed = Presentation { failed: Some("eglMakeCurrent".into()), ..window.clone() };
        assert_eq!(failed.why_no_frame(), Some(NoFrame::Failed("eglMakeCurrent".into())));
        let swapped = Presentation { frame_ends: 3, ..window };
        assert_eq!(swapped.why_no_frame(), Some(NoFrame::SwapsFailed(3)));
    }
}

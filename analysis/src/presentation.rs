//! How a program presents what it draws: the reason why a trace has no frame. Looks at the commands that create contexts
//! and surfaces, at swaps, and at which of these commands failed.
//!
//! It does not look at what is drawn.

use std::fmt;

use gapii_commands::{Api, CommandId};
use gapii_trace::Command;
use gapii_trace::filter::Filter;

/// Commands that create surfaces on which a swap shows something.
const WINDOWS: [CommandId; 4] = [
    CommandId::EGL_CREATE_WINDOW_SURFACE,
    CommandId::EGL_CREATE_PLATFORM_WINDOW_SURFACE,
    CommandId::EGL_CREATE_PLATFORM_WINDOW_SURFACE_EXT,
    CommandId::EGL_CREATE_STREAM_PRODUCER_SURFACE_KHR,
];

/// Commands that create surfaces which a program reads back or copies instead.
const OFFSCREEN: [CommandId; 5] = [
    CommandId::EGL_CREATE_PBUFFER_SURFACE,
    CommandId::EGL_CREATE_PBUFFER_FROM_CLIENT_BUFFER,
    CommandId::EGL_CREATE_PIXMAP_SURFACE,
    CommandId::EGL_CREATE_PLATFORM_PIXMAP_SURFACE,
    CommandId::EGL_CREATE_PLATFORM_PIXMAP_SURFACE_EXT,
];

/// Commands, besides those that create surfaces, without whose success a program has nothing to present. All return 0 if
/// they fail.
const SETTING_UP: [CommandId; 6] = [
    CommandId::EGL_GET_DISPLAY,
    CommandId::EGL_GET_PLATFORM_DISPLAY,
    CommandId::EGL_INITIALIZE,
    CommandId::EGL_CHOOSE_CONFIG,
    CommandId::EGL_CREATE_CONTEXT,
    CommandId::EGL_MAKE_CURRENT,
];

/// Contexts, surfaces and ends of frames of a program: why its trace may have no frames.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Presentation {
    contexts: u64,
    windows: u64,
    offscreen: u64,
    /// Commands that end a frame if they succeed.
    frame_ends: u64,
    has_egl: bool,
    has_level_zero: bool,
    /// Name of the last command that set something up, if it failed.
    failed: Option<String>,
}

impl Presentation {
    /// Looks at the next command.
    pub fn look(&mut self, command: &Command<'_>) {
        let Some(known) = command.known() else { return };
        let is_of = |api: Api| command.function.is_some_and(|function| function.api == api.name());
        self.has_egl |= is_of(Api::Egl);
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
        self.contexts += u64::from(known == CommandId::EGL_CREATE_CONTEXT);
        self.windows += u64::from(is_window);
        self.offscreen += u64::from(is_offscreen);
    }

    /// Returns why the commands that were looked at ended no frame. `None` if that is not known.
    pub fn why_no_frame(&self) -> Option<NoFrame> {
        Some(match self {
            _ if self.frame_ends > 0 => NoFrame::SwapsFailed(self.frame_ends),
            Presentation { failed: Some(name), .. } => NoFrame::Failed(name.clone()),
            _ if self.windows > 0 => NoFrame::NotSwapped,
            _ if self.offscreen > 0 => NoFrame::Offscreen,
            _ if self.contexts > 0 => NoFrame::NoSurface,
            _ if self.has_level_zero => NoFrame::NotSubmitted,
            _ if self.has_egl => NoFrame::NoContext,
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

/// A clause about the program.
impl fmt::Display for NoFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let endless = "so --frames ends no capture of it; use --seconds or `gapii-ctl stop`";
        match self {
            NoFrame::SwapsFailed(1) => f.write_str("its only swap failed or did not return"),
            NoFrame::SwapsFailed(count) => write!(f, "each of its {count} swaps failed"),
            NoFrame::Failed(name) => {
                write!(f, "its {name} failed, and it set up nothing after that")
            }
            NoFrame::NotSwapped => {
                f.write_str("it has a window surface and did not swap it meanwhile")
            }
            NoFrame::Offscreen => {
                write!(f, "it draws to pbuffers or pixmaps and does not swap them, {endless}")
            }
            NoFrame::NoSurface => {
                write!(f, "it has no surface and draws to framebuffer objects at most, {endless}")
            }
            NoFrame::NoContext => f.write_str("it created no context"),
            NoFrame::NotSubmitted => f.write_str("it submitted no command list to a queue"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_reason_is_named() {
        let nothing = Presentation::default();
        assert_eq!(nothing.why_no_frame(), None);
        let egl = Presentation { has_egl: true, ..nothing };
        assert_eq!(egl.why_no_frame(), Some(NoFrame::NoContext));
        let compute = Presentation { has_level_zero: true, ..egl.clone() };
        assert_eq!(compute.why_no_frame(), Some(NoFrame::NotSubmitted));
        let headless = Presentation { contexts: 1, ..egl.clone() };
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

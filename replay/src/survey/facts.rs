//! Facts about a trace that replay needs before it plays the first command: functions, contexts, surfaces,
//! configurations, attribute locations, failed links, and the last command of each thread.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gapii_commands::{Api, CommandId};
use gapii_trace::tracker::{ContextLimits, DefaultFramebuffer};

use super::needs::Needs;
use super::surfaces::SurfaceFacts;
use crate::driver::DisplayBy;

/// Facts about a trace that replay needs before it plays the first command.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// Names of all functions that are called.
    pub functions: BTreeSet<String>,
    /// Processes that have commands.
    pub processes: BTreeSet<u32>,
    /// Contexts in the order of their creation.
    pub contexts: Vec<ContextFacts>,
    /// Surfaces in the order of their creation.
    pub surfaces: Vec<SurfaceFacts>,
    /// Configurations by process and by a number that the survey assigns: after another
    /// eglInitialize an old handle may mean another configuration.
    pub configs: BTreeMap<(u32, u64), ConfigFacts>,
    /// The function by which the trace gets its first display.
    pub display: Option<DisplayBy>,
    /// `seq` of the last eglInitialize.
    pub last_initialize: Option<u64>,
    /// Index in `contexts`, by the `seq` of the creating command.
    pub(super) context_at: HashMap<u64, usize>,
    /// Index in `surfaces`, by the `seq` of the creating command.
    pub(super) surface_at: HashMap<u64, usize>,
    /// Index in `surfaces` of the windows of X that a command of GLX makes current without making a surface of them, by
    /// process and window.
    pub(super) window_at: HashMap<(u32, u64), usize>,
    /// Names and locations of attributes that the program queried after a link, by the `seq` of the
    /// link.
    pub(super) attributes: HashMap<u64, Vec<(Vec<u8>, u32)>>,
    /// Links that are known to have failed, by `seq`.
    pub(super) failed_links: BTreeSet<u64>,
    /// Process and number of the last frame that ended, of those that are played.
    pub last_frame: Option<(u32, u64)>,
    /// Ordinal of each thread's last command among all commands of the trace, from 1; 0 for a thread without
    /// commands.
    last_of_threads: Vec<u64>,
}

/// A context of the trace.
#[derive(Clone, Debug, Default)]
pub struct ContextFacts {
    /// Version that was asked for.
    pub version: (i64, i64),
    /// Whether it is a context of desktop OpenGL.
    pub is_desktop: bool,
    /// Index of the process in the trace.
    pub process: u32,
    /// Number of its configuration; 0 for none.
    pub config: u64,
    /// Limits that the recorded driver reported.
    pub limits: Option<ContextLimits>,
    /// Attributes that the program asked for; GLX's have EGL's names.
    pub asked: Vec<(i64, i64)>,
    /// Attributes that the driver gets here.
    pub attributes: Vec<(i32, i32)>,
    /// Versions of OpenGL ES and extensions that its commands need and its recorded driver had.
    pub needs: Needs,
}

/// A configuration of the trace.
#[derive(Clone, Debug, Default)]
pub struct ConfigFacts {
    /// Attributes of the eglChooseConfig calls that returned it; the largest value of each. GLX's have EGL's names.
    pub asked: BTreeMap<i64, i64>,
    /// Attributes that eglGetConfigAttrib returned.
    pub told: BTreeMap<i64, i64>,
    /// Default framebuffer of a context with this configuration.
    pub framebuffer: Option<DefaultFramebuffer>,
    /// Whether contexts or surfaces were created with it.
    pub is_used: bool,
    /// Highest major version of its contexts of OpenGL ES; 0 without any.
    pub major: i64,
    /// Whether it has contexts of desktop OpenGL.
    pub is_desktop: bool,
}

impl Survey {
    /// APIs whose functions are called.
    pub fn apis(&self) -> Vec<Api> {
        let known = self.functions.iter().filter_map(|name| CommandId::named(name));
        let called: Vec<Api> = known.map(CommandId::api).collect();
        let mut apis = Vec::new();
        let graphics = [Api::Egl, Api::Gl, Api::Glx];
        if graphics.iter().any(|api| called.contains(api)) {
            apis.extend([Api::Egl, Api::Gl]);
        }
        if called.contains(&Api::LevelZero) {
            apis.push(Api::LevelZero);
        }
        apis
    }

    /// Whether the trace uses EGL objects.
    pub fn uses_egl(&self) -> bool {
        !self.contexts.is_empty() || !self.surfaces.is_empty()
    }

    /// Whether the trace has commands of GLX.
    pub fn uses_glx(&self) -> bool {
        self.functions.iter().any(|name| name.starts_with("glX"))
    }

    /// The context that the command with this `seq` created.
    pub fn context(&self, seq: u64) -> Option<&ContextFacts> {
        self.contexts.get(*self.context_at.get(&seq)?)
    }

    /// Index of the surface that the command with this `seq` created.
    pub fn surface(&self, seq: u64) -> Option<usize> {
        self.surface_at.get(&seq).copied()
    }

    /// Index of the surface for a window of X that no command made a surface of.
    pub fn window(&self, process: u32, window: u64) -> Option<usize> {
        self.window_at.get(&(process, window)).copied()
    }

    /// Notes that command `ordinal` of the trace, counted from 1, is one of `thread`.
    #[inline]
    pub(super) fn note_thread(&mut self, thread: u32, ordinal: u64) {
        let at = thread as usize;
        if self.last_of_threads.len() <= at {
            self.last_of_threads.resize(at + 1, 0);
        }
        self.last_of_threads[at] = ordinal;
    }

    /// Whether command `ordinal` of the trace, counted from 1, is the last one of `thread`.
    pub fn is_last_of_thread(&self, thread: u32, ordinal: u64) -> bool {
        self.last_of_threads.get(thread as usize) == Some(&ordinal)
    }

    /// Whether the glLinkProgram or glProgramBinary with this `seq` is known to have failed.
    pub fn failed_to_link(&self, link: u64) -> bool {
        self.failed_links.contains(&link)
    }

    /// Names and recorded locations of attributes that the program queried after the link with this
    /// `seq`.
    pub fn attributes(&self, link: u64) -> &[(Vec<u8>, u32)] {
        self.attributes.get(&link).map_or(&[], Vec::as_slice)
    }
}

//! What replay must know of a trace before it plays the first command.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gapii_commands::{Api, CommandId};
use gapii_trace::tracker::{ContextLimits, DefaultFramebuffer};

use super::needs::Needs;
use super::surfaces::SurfaceFacts;
use crate::driver::DisplayBy;

/// What replay must know of a trace beforehand.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// Names of all functions that are called.
    pub functions: BTreeSet<String>,
    /// Processes that have commands.
    pub processes: BTreeSet<u32>,
    /// Contexts in the order in which they were made.
    pub contexts: Vec<ContextFacts>,
    /// Surfaces in the order in which they were made.
    pub surfaces: Vec<SurfaceFacts>,
    /// Configurations by process and by a number that is given to them here: a display that is
    /// initialized again may give old handles to other ones.
    pub configs: BTreeMap<(u32, u64), ConfigFacts>,
    /// How the trace asks for its first display.
    pub display: Option<DisplayBy>,
    /// Number of the last eglInitialize.
    pub last_initialize: Option<u64>,
    /// By the command that made them.
    pub(super) context_at: HashMap<u64, usize>,
    pub(super) surface_at: HashMap<u64, usize>,
    /// By the glLinkProgram after which they were asked for.
    pub(super) attributes: HashMap<u64, Vec<(Vec<u8>, u32)>>,
    /// Links that are known to have failed, by the command.
    pub(super) failed_links: BTreeSet<u64>,
}

/// A context of the trace.
#[derive(Clone, Debug, Default)]
pub struct ContextFacts {
    /// As asked for, like its attributes.
    pub version: (i64, i64),
    pub is_desktop: bool,
    pub process: u32,
    /// Number of its configuration; 0 without one.
    pub config: u64,
    /// What its driver said of it.
    pub limits: Option<ContextLimits>,
    /// What the driver is told of those.
    pub attributes: Vec<(i32, i32)>,
    /// What its commands need that its driver had.
    pub needs: Needs,
}

/// A configuration of the trace.
#[derive(Clone, Debug, Default)]
pub struct ConfigFacts {
    /// What eglChooseConfig was asked for that gave it; the most of each.
    pub asked: BTreeMap<i64, i64>,
    /// What eglGetConfigAttrib said.
    pub told: BTreeMap<i64, i64>,
    /// What a context of it drew to.
    pub framebuffer: Option<DefaultFramebuffer>,
    /// Contexts or surfaces were made of it.
    pub is_used: bool,
    /// Highest major version of its contexts.
    pub major: i64,
}

impl Survey {
    /// APIs whose functions are called.
    pub fn apis(&self) -> Vec<Api> {
        let known = self.functions.iter().filter_map(|name| CommandId::named(name));
        let called: Vec<Api> = known.map(CommandId::api).collect();
        let mut apis = Vec::new();
        if called.contains(&Api::Egl) || called.contains(&Api::Gles) {
            apis.extend([Api::Egl, Api::Gles]);
        }
        if called.contains(&Api::LevelZero) {
            apis.push(Api::LevelZero);
        }
        apis
    }

    /// Whether EGL is used at all.
    pub fn uses_egl(&self) -> bool {
        !self.contexts.is_empty() || !self.surfaces.is_empty()
    }

    /// The context that the command of this number made.
    pub fn context(&self, seq: u64) -> Option<&ContextFacts> {
        self.contexts.get(*self.context_at.get(&seq)?)
    }

    /// The surface that the command of this number made, as an index.
    pub fn surface(&self, seq: u64) -> Option<usize> {
        self.surface_at.get(&seq).copied()
    }

    /// Whether the glLinkProgram, or glProgramBinary, of this number is known to have failed.
    pub fn failed_to_link(&self, link: u64) -> bool {
        self.failed_links.contains(&link)
    }

    /// Attributes of the program that the glLinkProgram of this number linked, and where they were:
    /// those that the program asked for.
    pub fn attributes(&self, link: u64) -> &[(Vec<u8>, u32)] {
        self.attributes.get(&link).map_or(&[], Vec::as_slice)
    }
}

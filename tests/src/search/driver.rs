//! The drivers on which programs of the search run, set up to be fast.
//!
//! docs/decisions/snapshot-search.md says which others were tried.

use std::fmt::{self, Display};

use std::process::Command;

use crate::artifacts::cache_directory;
use crate::display::surfaceless;
use crate::programs::{compiled_once, padded};

/// The variable that has the C library fill memory which is allocated, and memory which is freed, so that a use of such
/// memory shows.
pub const PERTURB: &str = "MALLOC_PERTURB_";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Driver {
    Llvmpipe,
    /// Mesa's driver that draws nothing, with all of Mesa above it. What is uploaded is there in part, or not at all, so contents do
    /// not show what a snapshot has described.
    NoOp,
}

impl Driver {
    /// Makes `command` use the driver, without a display and without threads of the driver, which would take the other
    /// processes' cores.
    pub fn use_in(self, command: &mut Command) {
        surfaceless(command);
        command
            .env("GALLIUM_DRIVER", "llvmpipe")
            .env("LP_NUM_THREADS", "0")
            // Code for a shader takes longer to optimize than to run, and a program has few shaders that no other has.
            .env("GALLIVM_PERF", "nopt")
            .env("MESA_SHADER_CACHE_DIR", cache_directory().join("shaders"));
        match self {
            Driver::Llvmpipe => command.env("LD_PRELOAD", compiled_once()),
            Driver::NoOp => command.env("LD_PRELOAD", padded()).env("GALLIUM_NOOP", "true"),
        };
    }

    /// After how many programs the processes that run and play them are renewed.
    pub fn programs_per_process(self) -> u64 {
        match self {
            Driver::Llvmpipe => u64::MAX,
            // It frees no shader: some 7 MB for each program that a process runs or plays.
            Driver::NoOp => 16,
        }
    }

    /// Whether contents of objects are what the program has drawn and uploaded.
    pub fn has_contents(self) -> bool {
        self == Driver::Llvmpipe
    }
}

impl Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Driver::Llvmpipe => "llvmpipe",
            Driver::NoOp => "Mesa's no-op driver",
        })
    }
}

//! The driver on which programs of the search run: llvmpipe, set up to be fast.
//!
//! docs/decisions/snapshot-search.md says which other drivers were tried.

use std::process::Command;

use crate::artifacts::cache_directory;
use crate::display::surfaceless;
use crate::programs::compiled_once;

/// The variable that has the C library fill memory which is allocated, and memory which is freed, so that a use of such
/// memory shows.
pub const PERTURB: &str = "MALLOC_PERTURB_";

/// Makes `command` use llvmpipe, without a display and without threads of the driver, which would take the other
/// processes' cores.
pub fn use_in(command: &mut Command) {
    surfaceless(command);
    command
        .env("GALLIUM_DRIVER", "llvmpipe")
        .env("LP_NUM_THREADS", "0")
        // Code for a shader takes longer to optimize than to run, and a program has few shaders that no other has.
        .env("GALLIVM_PERF", "nopt")
        .env("MESA_SHADER_CACHE_DIR", cache_directory().join("shaders"))
        .env("LD_PRELOAD", compiled_once());
}

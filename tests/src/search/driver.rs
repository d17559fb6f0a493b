//! Drivers on which programs of the search run.

use std::fmt::{self, Display};
use std::process::Command;
use std::str::FromStr;

use crate::artifacts::cache_directory;
use crate::display::surfaceless;
use crate::programs::compiled_once;

/// A software driver of Mesa. The snapshots are the same; what differs is how a driver chooses names, refuses commands and
/// computes pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Driver {
    /// Compiles shaders to machine code.
    #[default]
    Llvmpipe,
    /// Interprets shaders.
    Softpipe,
}

impl Driver {
    /// Makes `command` use this driver, without a display and without threads of the driver, which would take the other
    /// processes' cores.
    pub fn use_in(self, command: &mut Command) {
        surfaceless(command);
        match self {
            // Code for a shader takes longer to optimize than to run, and a program has few shaders that no other has.
            Driver::Llvmpipe => command
                .env("GALLIUM_DRIVER", "llvmpipe")
                .env("LP_NUM_THREADS", "0")
                .env("GALLIVM_PERF", "nopt")
                .env("LD_PRELOAD", compiled_once()),
            // It has all of OpenGL ES 3.2 that programs use, and offers 3.1.
            Driver::Softpipe => {
                command.env("GALLIUM_DRIVER", "softpipe").env("MESA_GLES_VERSION_OVERRIDE", "3.2")
            }
        };
        command.env("MESA_SHADER_CACHE_DIR", cache_directory().join("shaders"));
    }
}

impl Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Driver::Llvmpipe => "llvmpipe",
            Driver::Softpipe => "softpipe",
        })
    }
}

impl FromStr for Driver {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        [Driver::Llvmpipe, Driver::Softpipe]
            .into_iter()
            .find(|driver| driver.to_string() == name)
            .ok_or_else(|| format!("no driver {name}; there are llvmpipe and softpipe"))
    }
}

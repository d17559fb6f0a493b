//! `DRIVERS`: the drivers that `cargo xtask drivers` knows, where each is, and the environment that selects it.

use std::path::Path;
use std::process::Command;

use anyhow::Context;

/// A driver of OpenGL ES.
pub struct Driver {
    /// As on the command line and in `tests/data/drivers.txt`.
    pub name: &'static str,
    pub description: &'static str,
    pub home: Home,
    /// `GL_RENDERER` begins with this.
    renderer: &'static str,
    /// `GL_VERSION` contains this.
    version: &'static str,
    environment: &'static [(&'static str, &'static str)],
}

/// Where a driver is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// In the libraries of this system.
    System,
    /// In the folder with Debian's newest Mesa.
    Newest,
    /// On a GPU of this machine.
    Gpu,
}

/// Drivers in the order of the table.
pub const DRIVERS: &[Driver] = &[
    mesa("llvmpipe", "llvmpipe of this system's Mesa", Home::System, LLVMPIPE),
    mesa("softpipe", "softpipe of this system's Mesa", Home::System, SOFTPIPE),
    mesa("zink", "zink on lavapipe of this system's Mesa", Home::System, ZINK),
    mesa("newest-llvmpipe", "llvmpipe of Debian's newest Mesa", Home::Newest, LLVMPIPE),
    mesa("newest-softpipe", "softpipe of Debian's newest Mesa", Home::Newest, SOFTPIPE),
    mesa("newest-zink", "zink on lavapipe of Debian's newest Mesa", Home::Newest, ZINK),
    Driver {
        name: "nvidia",
        description: "NVIDIA's driver on a GPU",
        home: Home::Gpu,
        renderer: "",
        version: "NVIDIA",
        environment: &[("GAPII_EGL_PLATFORM", "device")],
    },
];

/// A renderer of Mesa: the beginning of its `GL_RENDERER`, and the environment that selects it.
type Renderer = (&'static str, &'static [(&'static str, &'static str)]);

/// Selects a renderer without a GPU, even where a GPU is.
const SOFTWARE: (&str, &str) = ("LIBGL_ALWAYS_SOFTWARE", "1");
const LLVMPIPE: Renderer = ("llvmpipe", &[SOFTWARE, ("GALLIUM_DRIVER", "llvmpipe")]);
const SOFTPIPE: Renderer = ("softpipe", &[SOFTWARE, ("GALLIUM_DRIVER", "softpipe")]);
const ZINK: Renderer = ("zink", &[SOFTWARE, ("MESA_LOADER_DRIVER_OVERRIDE", "zink")]);

/// Beginnings of variables that select drivers or change what they do.
const CLEARED: &[&str] =
    &["EGL_", "__EGL_", "GALLIUM_", "GALLIVM_", "LIBGL_", "LP_", "MESA_", "VK_", "ZINK_"];

/// The GPU's device file.
const NVIDIA_GPU: &str = "/dev/nvidia0";
/// Folders of libglvnd's files that name an EGL driver.
const VENDOR_FOLDERS: &[&str] = &[
    "/etc/glvnd/egl_vendor.d",
    "/usr/share/glvnd/egl_vendor.d",
    "/usr/local/nvidia/share/glvnd/egl_vendor.d",
];
const NVIDIA_VENDOR: &str = "10_nvidia.json";
const VENDOR_VARIABLE: &str = "__EGL_VENDOR_LIBRARY_FILENAMES";

const fn mesa(
    name: &'static str,
    description: &'static str,
    home: Home,
    (renderer, environment): Renderer,
) -> Driver {
    Driver { name, description, home, renderer, version: "Mesa", environment }
}

/// Names of all drivers.
pub fn names() -> Vec<&'static str> {
    DRIVERS.iter().map(|driver| driver.name).collect()
}

/// Returns true if the machine has a GPU for NVIDIA's driver.
pub fn has_nvidia_gpu() -> bool {
    Path::new(NVIDIA_GPU).exists()
}

/// Keeps variables of the caller that would select another driver from `command`.
pub fn clear_environment(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if CLEARED.iter().any(|start| name.to_string_lossy().starts_with(start)) {
            command.env_remove(name);
        }
    }
}

impl Driver {
    /// Variables that select the driver.
    pub fn environment(&self) -> anyhow::Result<Vec<(&'static str, String)>> {
        let fixed = self.environment.iter().map(|(name, value)| (*name, (*value).to_owned()));
        let mut variables: Vec<_> = fixed.collect();
        if self.home == Home::Gpu {
            let mut files = VENDOR_FOLDERS.iter().map(|f| Path::new(f).join(NVIDIA_VENDOR));
            let file = files.find(|file| file.exists()).with_context(|| {
                format!("there is a GPU, but no {NVIDIA_VENDOR} in {}", VENDOR_FOLDERS.join(", "))
            })?;
            variables.push((VENDOR_VARIABLE, file.to_string_lossy().into_owned()));
        }
        Ok(variables)
    }

    /// Returns true if a driver with this `GL_RENDERER` and `GL_VERSION` is the driver meant.
    pub fn is_meant(&self, renderer: &str, version: &str) -> bool {
        renderer.starts_with(self.renderer) && version.contains(self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn driver_is_known_by_renderer_and_version() {
        let check = |name, renderer, version, expected| {
            let driver = DRIVERS.iter().find(|driver| driver.name == name).unwrap();
            assert_eq!(driver.is_meant(renderer, version), expected, "{name} {renderer} {version}");
        };
        let mesa = "OpenGL ES 3.2 Mesa 22.3.6";
        check("llvmpipe", "llvmpipe (LLVM 15.0.6, 256 bits)", mesa, true);
        check("softpipe", "llvmpipe (LLVM 15.0.6, 256 bits)", mesa, false);
        check("zink", "zink (llvmpipe (LLVM 15.0.6, 256 bits))", mesa, true);
        check("llvmpipe", "zink (llvmpipe (LLVM 15.0.6, 256 bits))", mesa, false);
        check("nvidia", "Tesla T4/PCIe/SSE2", "OpenGL ES 3.2 NVIDIA 550.54.14", true);
        check("nvidia", "llvmpipe (LLVM 15.0.6, 256 bits)", mesa, false);
    }
}

//! The Debian packages that the build's commands need, and why (`DEMO`, `TEST`, `BENCH` and so on); installs those that
//! are missing with apt-get, through sudo if not root. On other systems it prints the list and goes on.

use std::process::Command;

use anyhow::Context;

use crate::step;

/// A package and the reason it is needed.
pub struct Package {
    name: &'static str,
    reason: &'static str,
}

/// Debian packages that `demo` needs.
pub const DEMO: &[Package] = &[
    package("gcc", "compiles zstd, and links"),
    package("libc6-dev", "headers for zstd"),
    package("xvfb", "the display to draw on"),
    package("libegl1", "EGL"),
    package("libgles2", "OpenGL ES 2 and 3"),
    package("libgl1-mesa-dri", "the driver, llvmpipe"),
    package("glmark2-es2-x11", "the program that is recorded"),
];

/// Debian packages that `test`, `bench` and `soak` need besides.
pub const TEST: &[Package] = &[
    package("libgles1", "OpenGL ES 1"),
    package("libegl-dev", "headers for the test programs"),
    package("libgles-dev", "headers for the test programs"),
    package("libgl-dev", "headers for the test programs that use desktop GL"),
    package("libze1", "Level Zero's loader, and the tracing layer that ours is compared with"),
    package("libze-dev", "headers for the test programs of Level Zero"),
    package("libx11-dev", "headers for the test programs that open a window"),
    package("mesa-utils", "es2gears_x11: a program that links EGL"),
    package("libsdl2-tests", "testgles2: a program that loads EGL through SDL"),
    package("mpv", "a program with several threads that loads EGL through libepoxy"),
    package("bubblewrap", "sandboxes that hide the daemon from programs"),
    package("libvulkan1", "a library that is not recorded, for programs that load it"),
    package("piglit", "hundreds of small programs that must behave as natively"),
    package("apitrace", "the recorder that traces are compared with"),
    package("zstd", "opens traces, as a second reader"),
    package("g++", "compiles the tools' headers as C++"),
    package("pkgconf", "finds the tools' headers, as people do"),
    package("systemd", "judges the units, and starts the daemon by its sockets"),
    package("valgrind", "counts instructions"),
    package("python3-pip", "fetches the Khronos registry"),
];

/// Debian packages that `bench` needs besides.
pub const BENCH: &[Package] = &[
    package("lttng-tools", "starts the tracer that recorded calls are compared with"),
    package("liblttng-ust-dev", "headers for its tracepoints"),
];

/// Debian packages that `browser` needs besides.
pub const BROWSER: &[Package] = &[
    package("chromium", "the browser that shows the viewer's page"),
    package("chromium-driver", "drives it"),
];

/// Debian packages that `check-exports` needs besides.
pub const EXPORTS: &[Package] =
    &[package("python3-venv", "makes the environment with the reader of Perfetto's files")];

/// Debian packages that `check-fleet --engines` needs besides.
pub const ENGINES: &[Package] = &[package("default-jre-headless", "runs Spark")];

/// Debian packages that `check-piglit` needs besides.
pub const PIGLIT: &[Package] = &[
    package("piglit", "its replayer plays traces, and its shader_runner compiles programs"),
    package("python3-packaging", "compares versions for the replayer"),
    package("python3-pil", "reads the replayer's pictures"),
    package("python3-requests", "is loaded by the replayer, which could download traces"),
    package("python3-yaml", "reads the replayer's lists"),
];

/// Debian packages that `drivers` needs besides.
pub const DRIVERS: &[Package] = &[
    package("mesa-vulkan-drivers", "lavapipe, the Vulkan driver below zink"),
    package("debootstrap", "makes a folder with Debian's newest Mesa"),
];

/// Debian packages that `programs` needs besides.
pub const PROGRAMS: &[Package] = &[
    package("weston", "a compositor, its clients, and the display of other Wayland programs"),
    package("chromium", "a browser that draws through ANGLE, in a sandbox"),
    package("firefox-esr", "a browser that draws through EGL"),
    package("gtk-4-examples", "a program of GTK 4"),
    package("python3-pyqt6.qtquick", "programs of Qt 6"),
    package("python3-pyqt6.qtqml", "programs of Qt 6"),
    package("qml6-module-qtquick", "what a program of Qt 6 draws"),
    package("qml6-module-qtqml-workerscript", "is needed by Qt Quick"),
    package("qt6-wayland", "Qt 6 on Wayland"),
    package("libglfw3-dev", "headers for a program that uses GLFW"),
    package("glmark2-es2-wayland", "a benchmark on Wayland"),
    package("glmark2-x11", "a benchmark of desktop OpenGL"),
    package("python3-moderngl", "programs of desktop OpenGL without a window"),
    package("neverball", "a game"),
    package("xscreensaver-gl", "programs with display lists and immediate mode"),
    package("xscreensaver-gl-extra", "programs with display lists and immediate mode"),
];

/// Debian packages that `package` needs.
pub const PACKAGE: &[Package] = &[
    package("gcc", "compiles zstd, and links"),
    package("libc6-dev", "headers for zstd"),
    package("binutils", "strip"),
    package("zstd", "compresses the archive"),
    package("dpkg-dev", "finds the packages that ours need"),
    package("lintian", "judges the packages"),
];

/// Debian packages that `package --check` needs besides.
pub const CHROOT: &[Package] =
    &[package("debootstrap", "makes folders with bare Debians of several releases")];

/// Debian packages that `test --target aarch64` needs besides.
pub const ARM64: &[Package] = &[
    package("gcc-aarch64-linux-gnu", "links programs for arm64, and compiles zstd"),
    package("libc6-dev-arm64-cross", "headers for zstd"),
    package("qemu-user-static", "runs programs for arm64"),
    package("debootstrap", "makes a folder with Debian for arm64"),
];

const fn package(name: &'static str, reason: &'static str) -> Package {
    Package { name, reason }
}

/// Installs the missing ones of `packages`, after printing their names. Standard output stays empty.
pub fn install(packages: &[&[Package]]) -> anyhow::Result<()> {
    let wanted = packages.iter().copied().flatten();
    if !is_debian() {
        eprintln!("this is no Debian; these are needed, by their names there:");
        wanted.for_each(print);
        return Ok(());
    }
    let missing: Vec<_> = wanted.filter(|package| !is_installed(package)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    eprintln!("installing Debian packages:");
    missing.iter().copied().for_each(print);
    let names: Vec<_> = missing.iter().map(|package| package.name).collect();
    apt_get(&["update", "--quiet"])?;
    apt_get(
        &[&["install", "--yes", "--quiet", "--no-install-recommends"], names.as_slice()].concat(),
    )
    .with_context(|| format!("install them yourself: apt-get install {}", names.join(" ")))
}

fn print(package: &Package) {
    eprintln!("  {:18} {}", package.name, package.reason);
}

fn is_debian() -> bool {
    Command::new("dpkg-query").arg("--version").output().is_ok_and(|output| output.status.success())
}

fn is_installed(package: &Package) -> bool {
    let query = ["--show", "--showformat=${db:Status-Status}", package.name];
    let output = step::command("dpkg-query", &query).output();
    output.is_ok_and(|output| output.stdout == b"installed")
}

fn apt_get(arguments: &[&str]) -> anyhow::Result<()> {
    let words = [&["apt-get"], arguments].concat();
    let mut command = step::as_root(&words, &["DEBIAN_FRONTEND"])?;
    step::run_aside(command.env("DEBIAN_FRONTEND", "noninteractive"))
}

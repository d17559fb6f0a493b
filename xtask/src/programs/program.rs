//! `PROGRAMS`: the programs that `cargo xtask programs` records, how each is started, and which differences of its replay are
//! accepted. Starts nothing.

/// A program as people start it.
pub struct Program {
    /// As on the command line and in the table.
    pub name: &'static str,
    /// The Debian package whose version the table has.
    pub package: &'static str,
    pub display: Display,
    /// The program and its arguments. They find the files of `FILES` in their working folder.
    pub words: &'static [&'static str],
    pub environment: &'static [(&'static str, &'static str)],
    /// Options of `gapii-ctl run` that bound the recording.
    pub options: &'static [&'static str],
    /// What one must do to have it recorded.
    pub needed: &'static str,
    pub tolerated: &'static [Tolerated],
    /// The program says nothing, apart from numbers, that it does not say natively.
    pub says_the_same: bool,
}

/// Where a program draws.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Display {
    /// Neither an X server nor a compositor is there.
    None,
    /// An Xvfb.
    X11,
    /// A headless Weston.
    Wayland,
}

/// Differences of a replay that are accepted.
pub struct Tolerated {
    /// The function whose answers differ, or that is not played; `frame` for the pixels of frames.
    pub function: &'static str,
    /// At most so many answers.
    pub most: u64,
    pub why: &'static str,
}

/// Files that programs find in their working folder.
pub const FILES: &[(&str, &str)] = &[
    ("item.qml", include_str!("files/item.qml")),
    ("opengl.py", include_str!("files/opengl.py")),
    ("profile/user.js", include_str!("files/user.js")),
    ("qt.py", include_str!("files/qt.py")),
    ("webgl.html", include_str!("files/webgl.html")),
    ("weston.sh", include_str!("files/weston.sh")),
    ("window.c", include_str!("files/window.c")),
];

/// Thirty frames, of which every tenth is compared.
const FRAMES: &[&str] = &["--frames", "30", "--observe-frames", "10"];
/// A browser shows its first frames late.
const FLUSHES: &[&str] = &["--frame-end", "glFlush", "--frames", "20"];

/// Programs without a window, which wait for the driver after each frame, and read it back.
const FINISHES: &[&str] = &["--frame-end", "glFinish", "--frames", "30"];

/// Chromium's sandbox stays open where the driver has threads, as llvmpipe has by default.
const CLOSES_SANDBOX: &[(&str, &str)] =
    &[("LP_NUM_THREADS", "0"), ("MESA_SHADER_CACHE_DISABLE", "true")];

/// Of a helper that the browser starts.
const DESKTOP_CONTEXT: &str = "a helper asks for a context of desktop OpenGL, which is not played";

/// A program of the packages xscreensaver-gl and xscreensaver-gl-extra.
macro_rules! screen_saver {
    ($name:literal, $package:literal) => {
        desktop(
            concat!("xscreensaver-", $name),
            $package,
            &[concat!("/usr/libexec/xscreensaver/", $name)],
        )
    };
}

const MPV_GROWS: &[Tolerated] = &[Tolerated {
    function: "frame",
    most: 1,
    why: "the window grows before its first frame, which the driver still draws at the old size",
}];

/// Programs in the order of the table.
pub const PROGRAMS: &[Program] = &[
    Program {
        name: "weston-headless",
        package: "weston",
        words: &["sh", "weston.sh", "--backend=headless-backend.so", "--use-gl"],
        needed: "`--use-gl`",
        ..program(Display::None)
    },
    Program {
        name: "weston-x11",
        package: "weston",
        words: &["sh", "weston.sh", "--backend=x11-backend.so"],
        ..program(Display::X11)
    },
    Program {
        name: "weston-simple-egl",
        package: "weston",
        words: &["weston-simple-egl"],
        ..program(Display::Wayland)
    },
    Program {
        name: "chromium",
        package: "chromium",
        words: &[
            "chromium",
            "--headless=new",
            "--user-data-dir=data",
            "--no-first-run",
            "--disable-dev-shm-usage",
            "--use-gl=angle",
            "--use-angle=gles-egl",
            "--ignore-gpu-blocklist",
            "webgl.html",
        ],
        environment: CLOSES_SANDBOX,
        options: FLUSHES,
        needed: "`--use-gl=angle --use-angle=gles-egl`; with llvmpipe also `--ignore-gpu-blocklist`; headless also \
                 `--frame-end glFlush`",
        ..program(Display::None)
    },
    Program {
        name: "firefox",
        package: "firefox-esr",
        words: &["firefox-esr", "--no-remote", "--profile", "profile", "webgl.html"],
        environment: &[("MOZ_X11_EGL", "1")],
        needed: "`MOZ_X11_EGL=1`; in about:config `gfx.egl.prefer-gles.enabled`; with llvmpipe also \
                 `gfx.webrender.all` and `webgl.force-enabled`",
        tolerated: &[
            Tolerated { function: "eglCreateContext", most: 4, why: DESKTOP_CONTEXT },
            Tolerated { function: "eglMakeCurrent", most: 4, why: DESKTOP_CONTEXT },
        ],
        ..program(Display::X11)
    },
    Program {
        name: "gtk4-x11",
        package: "gtk-4-examples",
        words: &["gtk4-demo", "--run=gears"],
        environment: &[
            ("GDK_BACKEND", "x11"),
            ("GDK_DEBUG", "gl-egl,gl-gles"),
            ("GSK_RENDERER", "gl"),
        ],
        needed: "`GDK_DEBUG=gl-egl,gl-gles`; where GTK chooses Vulkan or the CPU, `GSK_RENDERER=gl`",
        ..program(Display::X11)
    },
    Program {
        name: "gtk4-wayland",
        package: "gtk-4-examples",
        words: &["gtk4-demo", "--run=gears"],
        environment: &[
            ("GDK_BACKEND", "wayland"),
            ("GDK_DEBUG", "gl-gles"),
            ("GSK_RENDERER", "gl"),
        ],
        needed: "`GDK_DEBUG=gl-gles`; where GTK chooses Vulkan or the CPU, `GSK_RENDERER=gl`",
        ..program(Display::Wayland)
    },
    Program {
        name: "qt6-x11",
        package: "libqt6gui6",
        words: &["/usr/bin/python3", "qt.py", "item.qml"],
        environment: &[("QT_QPA_PLATFORM", "xcb"), ("QT_XCB_GL_INTEGRATION", "xcb_egl")],
        needed: "`QT_XCB_GL_INTEGRATION=xcb_egl`; the program asks for OpenGL ES \
                 (`QSurfaceFormat::setRenderableType`), or Qt is built for it",
        ..program(Display::X11)
    },
    Program {
        name: "qt6-wayland",
        package: "libqt6gui6",
        words: &["/usr/bin/python3", "qt.py", "item.qml"],
        environment: &[("QT_QPA_PLATFORM", "wayland")],
        needed: "the program asks for OpenGL ES, or Qt is built for it",
        ..program(Display::Wayland)
    },
    Program {
        name: "mpv-x11",
        package: "mpv",
        words: &[
            "mpv",
            "--no-config",
            "--quiet",
            "--no-audio",
            "--vo=gpu",
            "--gpu-api=opengl",
            "--opengl-es=yes",
            "--gpu-context=x11egl",
            "av://lavfi:testsrc=size=320x240:rate=60",
        ],
        needed: "`--gpu-api=opengl --opengl-es=yes --gpu-context=x11egl`",
        tolerated: MPV_GROWS,
        ..program(Display::X11)
    },
    Program {
        name: "mpv-wayland",
        package: "mpv",
        words: &[
            "mpv",
            "--no-config",
            "--quiet",
            "--no-audio",
            "--vo=gpu",
            "--gpu-api=opengl",
            "--opengl-es=yes",
            "--gpu-context=wayland",
            "av://lavfi:testsrc=size=320x240:rate=60",
        ],
        needed: "`--gpu-api=opengl --opengl-es=yes --gpu-context=wayland`",
        ..program(Display::Wayland)
    },
    Program {
        name: "sdl2",
        package: "libsdl2-tests",
        words: &["/usr/libexec/installed-tests/SDL2/testgles2"],
        ..program(Display::X11)
    },
    Program {
        name: "glfw",
        package: "libglfw3",
        words: &["./window"],
        needed: "the program asks for OpenGL ES through EGL (`GLFW_CONTEXT_CREATION_API`)",
        ..program(Display::X11)
    },
    Program {
        name: "glmark2-x11",
        package: "glmark2-es2-x11",
        words: &["glmark2-es2", "--benchmark", "build:duration=60"],
        ..program(Display::X11)
    },
    Program {
        name: "glmark2-wayland",
        package: "glmark2-es2-wayland",
        words: &["glmark2-es2-wayland", "--benchmark", "build:duration=60"],
        ..program(Display::Wayland)
    },
    desktop("glxgears", "mesa-utils", &["glxgears"]),
    desktop("glxheads", "mesa-utils", &["glxheads"]),
    desktop("sdl2-gl", "libsdl2-tests", &["/usr/libexec/installed-tests/SDL2/testgl2"]),
    desktop("glmark2-gl", "glmark2-x11", &["glmark2", "--benchmark", "build:duration=60"]),
    Program {
        options: FINISHES,
        needed: "without a window `--frame-end glFinish`",
        tolerated: &[Tolerated {
            function: "glGetIntegerv",
            most: 1,
            why: "its window has one colour buffer, and those of EGL have two: `GL_DRAW_BUFFER`",
        }],
        ..desktop("moderngl-glx", "python3-moderngl", &["/usr/bin/python3", "opengl.py", "glx"])
    },
    Program {
        display: Display::None,
        options: FINISHES,
        needed: "without a window `--frame-end glFinish`",
        ..desktop("moderngl-egl", "python3-moderngl", &["/usr/bin/python3", "opengl.py", "egl"])
    },
    Program {
        environment: &[("GDK_BACKEND", "x11"), ("GDK_DEBUG", "gl-egl"), ("GSK_RENDERER", "gl")],
        needed: "where GTK chooses Vulkan or the CPU, `GSK_RENDERER=gl`",
        ..desktop("gtk4-gl-egl", "gtk-4-examples", &["gtk4-demo", "--run=gears"])
    },
    Program {
        environment: &[("GDK_BACKEND", "x11"), ("GDK_DEBUG", "gl-glx"), ("GSK_RENDERER", "gl")],
        needed: "where GTK chooses Vulkan or the CPU, `GSK_RENDERER=gl`",
        ..desktop("gtk4-gl-glx", "gtk-4-examples", &["gtk4-demo", "--run=gears"])
    },
    Program {
        tolerated: MPV_GROWS,
        ..desktop(
            "mpv-gl",
            "mpv",
            &[
                "mpv",
                "--no-config",
                "--quiet",
                "--no-audio",
                "--vo=gpu",
                "--gpu-api=opengl",
                "--opengl-es=no",
                "--gpu-context=x11egl",
                "av://lavfi:testsrc=size=320x240:rate=60",
            ],
        )
    },
    desktop("neverball", "neverball", &["/usr/games/neverball"]),
    Program {
        environment: &[("QT_QPA_PLATFORM", "xcb"), ("QT_XCB_GL_INTEGRATION", "xcb_glx")],
        ..desktop("qt6-gl", "libqt6gui6", &["/usr/bin/python3", "qt.py", "item.qml", "opengl"])
    },
    screen_saver!("gears", "xscreensaver-gl"),
    screen_saver!("glknots", "xscreensaver-gl"),
    screen_saver!("cube21", "xscreensaver-gl-extra"),
    screen_saver!("antspotlight", "xscreensaver-gl"),
    screen_saver!("atlantis", "xscreensaver-gl-extra"),
    screen_saver!("boing", "xscreensaver-gl-extra"),
    screen_saver!("bouncingcow", "xscreensaver-gl-extra"),
    screen_saver!("cubestorm", "xscreensaver-gl"),
    screen_saver!("dangerball", "xscreensaver-gl-extra"),
    screen_saver!("endgame", "xscreensaver-gl"),
    screen_saver!("engine", "xscreensaver-gl"),
    screen_saver!("flipflop", "xscreensaver-gl"),
    screen_saver!("geodesic", "xscreensaver-gl"),
    screen_saver!("glmatrix", "xscreensaver-gl"),
    screen_saver!("glplanet", "xscreensaver-gl-extra"),
    screen_saver!("glslideshow", "xscreensaver-gl"),
    screen_saver!("glsnake", "xscreensaver-gl"),
    screen_saver!("gltext", "xscreensaver-gl"),
    screen_saver!("hilbert", "xscreensaver-gl-extra"),
    screen_saver!("jigsaw", "xscreensaver-gl-extra"),
    screen_saver!("lament", "xscreensaver-gl-extra"),
    screen_saver!("menger", "xscreensaver-gl-extra"),
    screen_saver!("moebius", "xscreensaver-gl"),
    screen_saver!("molecule", "xscreensaver-gl"),
    screen_saver!("pinion", "xscreensaver-gl-extra"),
    screen_saver!("pipes", "xscreensaver-gl"),
    screen_saver!("polyhedra", "xscreensaver-gl"),
    screen_saver!("pulsar", "xscreensaver-gl"),
    screen_saver!("rubik", "xscreensaver-gl-extra"),
    screen_saver!("sierpinski3d", "xscreensaver-gl"),
];

const fn program(display: Display) -> Program {
    Program {
        name: "",
        package: "",
        display,
        words: &[],
        environment: &[],
        options: FRAMES,
        needed: "",
        tolerated: &[],
        says_the_same: false,
    }
}

/// A program of desktop OpenGL on X11, which is recorded without naming the API.
const fn desktop(
    name: &'static str,
    package: &'static str,
    words: &'static [&'static str],
) -> Program {
    Program { name, package, words, says_the_same: true, ..program(Display::X11) }
}

/// Names of all programs.
pub fn names() -> Vec<&'static str> {
    PROGRAMS.iter().map(|program| program.name).collect()
}

//! The C programs of `tests/programs/`, `tests/apps/`, `tests/cases/`, `tests/level-zero/`, `tests/preload/` and
//! `tests/tracers/`, the examples of `tool/examples/`, and the fake driver, compiled with `cc` and kept.
//!
//! Needs `gcc`, `libegl-dev`, `libgles-dev` and `libze-dev`, and `liblttng-ust-dev` for one program of the benchmark; a failed compilation ends the test with the
//! compiler's words and the packages' names.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use crate::artifacts::{artifact, cache_directory};
use crate::process::run;

/// SDL's own program of OpenGL ES 2, as Debian installs it, through EGL. By itself SDL uses GLX on X11.
pub const TESTGLES2: &[&str] =
    &["env", "SDL_OPENGL_ES_DRIVER=1", "/usr/libexec/installed-tests/SDL2/testgles2"];

/// mpv with a generated video of three seconds.
pub const MPV_ENDING: &[&str] = &[
    "mpv",
    "--no-config",
    "--quiet",
    "--no-audio",
    "--vo=gpu",
    "--gpu-api=opengl",
    "--opengl-es=yes",
    "--gpu-context=x11egl",
    "av://lavfi:testsrc=size=160x120:rate=60",
    "--length=3",
];

/// mpv with a generated video that runs until SIGTERM.
pub const MPV: &[&str] = MPV_ENDING.split_at(MPV_ENDING.len() - 1).0;

const FLAGS: &[&str] = &["-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Werror"];
const LINKED: &[&str] = &["-lEGL", "-lGLESv2", "-lpthread", "-lm"];

/// A program of `tests/programs/`, by the name of its source.
pub fn program(name: &str) -> PathBuf {
    let source = source_directory().join(format!("{name}.c"));
    let libraries = match name {
        "load_dlopen" | "load_deepbind" => &["-ldl"][..],
        "waits" => &[],
        "load_procaddress" => &["-lEGL"],
        name if name.starts_with("desktop_") => &["-lEGL"],
        "bench_tracepoint" => &["-llttng-ust", "-ldl"],
        "glx_kept" => &["-lGL", "-lX11"],
        "load_glx" => &["-lGL", "-lEGL", "-lX11"],
        "load_glx_library" => &["-ldl", "-lX11"],
        "compare_threads" => &["-lEGL", "-lGLESv1_CM", "-lpthread"],
        _ => LINKED,
    };
    // LTTng-UST's headers include the program's own header by its name.
    let include = format!("-I{}", source_directory().display());
    compile(name, &source, &[&include], libraries, &[])
}

/// A program of `tests/apps/`: one subject, a number of frames, the same on every run.
pub fn app(name: &str) -> PathBuf {
    deterministic("apps", name, &[])
}

/// A program of `tests/cases/`: lists its cases, or runs the one that it is given.
pub fn cases(name: &str) -> PathBuf {
    let headers = files("apps", "h");
    let headers: Vec<&Path> = headers.iter().map(PathBuf::as_path).collect();
    deterministic("cases", name, &headers)
}

/// Names of the programs in `tests/apps/` or `tests/cases/`, sorted.
pub fn names_in(folder: &str) -> Vec<String> {
    let stem = |path: PathBuf| path.file_stem()?.to_str().map(str::to_owned);
    let mut names: Vec<_> = files(folder, "c").into_iter().filter_map(stem).collect();
    names.sort_unstable();
    names
}

/// Names of the programs in `tests/apps/` that `left_out`, pairs of a name and a reason, does not name; sorted.
///
/// # Panics
/// If `left_out` names no program, or if there are fewer than 65 others.
#[track_caller]
pub fn apps_but(left_out: &[(&str, &str)]) -> Vec<String> {
    const LEAST: usize = 65;
    let mut names = names_in("apps");
    for (name, _) in left_out {
        let before = names.len();
        names.retain(|known| known != name);
        assert!(names.len() < before, "there is no program {name}, which a list leaves out");
    }
    assert!(names.len() >= LEAST, "{} programs, not {LEAST}", names.len());
    names
}

/// The files in a folder of this crate whose names end with `.EXTENSION`.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(folder).expect("the sources are there").flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|e| e == extension)).collect()
}

fn deterministic(folder: &str, name: &str, inputs: &[&Path]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("{folder}/{name}.c"));
    let text = std::fs::read_to_string(&source).expect("the source is there");
    let libraries = match text.contains("#define APP_ES1") {
        true => &["-lEGL", "-lGLESv1_CM", "-lpthread"],
        false => &["-lEGL", "-lGLESv2", "-lpthread"],
    };
    // These many programs make few calls each: optimizing would take longer than running them.
    compile(&format!("{folder}/{name}"), &source, &["-O1", "-g0"], libraries, inputs)
}

/// A program of `tests/level-zero/`, by the name of its source.
pub fn level_zero(name: &str) -> PathBuf {
    let libraries = ["-lze_loader", "-lpthread", "-ldl"];
    compile(&format!("level-zero/{name}"), &level_zero_source(name), &[], &libraries, &[])
}

/// A program of `tests/level-zero/` that also draws with OpenGL ES.
pub fn level_zero_and_gles(name: &str) -> PathBuf {
    let libraries = ["-lze_loader", "-lEGL", "-lGLESv2", "-lpthread"];
    compile(&format!("level-zero/{name}"), &level_zero_source(name), &[], &libraries, &[])
}

/// A tool of `tests/level-zero/`, as a library to preload.
pub fn level_zero_tool(name: &str) -> PathBuf {
    let output = format!("level-zero/{name}.so");
    compile(&output, &level_zero_source(name), &["-shared", "-fPIC"], &["-lze_loader"], &[])
}

fn level_zero_source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("level-zero/{name}.c"))
}

/// A library of `tests/preload/`.
pub fn preloaded(name: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("preload/{name}.c"));
    compile(&format!("preload/{name}.so"), &source, &["-shared", "-fPIC"], &["-ldl"], &[])
}

/// A program of `tests/tracers/`, linked with the shim, by the name of its source.
pub fn tracers(name: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tracers/{name}.c"));
    compile_with_gapii(&format!("tracers/{name}"), &source, &[], LINKED)
}

/// A tool of `tests/tracers/`, as a library for `--tool`.
pub fn tracers_tool(name: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tracers/{name}.c"));
    tool(&format!("tracers/{name}.so"), &source)
}

/// An example of `tool/examples/`, as a library for `--tool`.
pub fn example_tool(name: &str) -> PathBuf {
    tool(&format!("examples/{name}.so"), &tool_directory().join(format!("examples/{name}.c")))
}

/// Folder of `gapii.h`.
pub fn include_directory() -> PathBuf {
    tool_directory().join("include")
}

fn tool_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tool")
}

fn tool(name: &str, source: &Path) -> PathBuf {
    compile_with_gapii(name, source, &["-shared", "-fPIC"], &["-lEGL", "-lGLESv2"])
}

fn compile_with_gapii(name: &str, source: &Path, flags: &[&str], libraries: &[&str]) -> PathBuf {
    let library = artifact("libgapii.so");
    let folder = library.parent().expect("the library lies in a folder").display();
    let include = include_directory();
    let own_flags =
        [format!("-I{}", include.display()), format!("-L{folder}"), format!("-Wl,-rpath,{folder}")];
    let flags: Vec<&str> =
        own_flags.iter().map(String::as_str).chain(flags.iter().copied()).collect();
    let libraries = [&["-lgapii"], libraries].concat();
    let headers = [include.join("gapii.h"), include.join("gapii_commands.h")];
    let inputs = [headers[0].as_path(), headers[1].as_path(), &library];
    compile(&of_these_artifacts(name), source, &flags, &libraries, &inputs)
}

/// `load_plugin.c` as a shared library.
pub fn plugin() -> PathBuf {
    let source = source_directory().join("load_plugin.c");
    compile("load_plugin.so", &source, &["-shared", "-fPIC"], LINKED, &[])
}

/// `presented.c` as a library to preload.
pub fn presented() -> PathBuf {
    let source = source_directory().join("presented.c");
    compile("presented.so", &source, &["-shared", "-fPIC"], &["-ldl"], &[])
}

/// `clock_set_back.c` as a library to preload.
pub fn clock_set_back() -> PathBuf {
    let source = source_directory().join("clock_set_back.c");
    compile("clock_set_back.so", &source, &["-shared", "-fPIC"], &[], &[])
}

/// `kills_daemon.c` as a library to preload.
pub fn kills_daemon() -> PathBuf {
    let source = source_directory().join("kills_daemon.c");
    compile("kills_daemon.so", &source, &["-shared", "-fPIC"], &["-ldl"], &[])
}

/// `compiled_once.c` as a library to preload.
pub fn compiled_once() -> PathBuf {
    let source = source_directory().join("compiled_once.c");
    compile("compiled_once.so", &source, &["-shared", "-fPIC"], &["-ldl"], &[])
}

/// `padded.c` as a library to preload.
pub fn padded() -> PathBuf {
    let source = source_directory().join("padded.c");
    compile("padded.so", &source, &["-O2", "-shared", "-fPIC"], &[], &[])
}

/// `slow_atexit.c` as a library to preload.
pub fn slow_atexit() -> PathBuf {
    let source = source_directory().join("slow_atexit.c");
    compile("slow_atexit.so", &source, &["-shared", "-fPIC"], &["-ldl"], &[])
}

/// `load_linked.c` with the shim's archive in place of the libraries.
pub fn static_program() -> PathBuf {
    let source = source_directory().join("load_linked.c");
    let archive = artifact("libgapii.a");
    let path = archive.to_str().expect("the target folder has a plain name").to_owned();
    compile(
        &of_these_artifacts("load_static"),
        &source,
        &[],
        &[&path, "-ldl", "-lpthread", "-lm", "-lgcc_s"],
        &[&archive],
    )
}

/// `waits.c`, linked statically.
pub fn static_waits() -> PathBuf {
    compile("static_waits", &source_directory().join("waits.c"), &["-static"], &[], &[])
}

/// Name in the cache of a file that contains a library of the product or its path; each profile has its own.
fn of_these_artifacts(name: &str) -> String {
    let folder = crate::artifacts::directory();
    let profile = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    format!("{profile}/{name}")
}

/// Variant of the fake driver that is built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    /// Counts every call, see [`crate::fake_driver`].
    Counting,
    /// Does almost nothing; for the benchmark.
    Bare,
}

/// A folder with the fake driver's `libEGL.so.1` and `libGLESv2.so.2`, for `LD_LIBRARY_PATH`.
pub fn fake_driver(kind: Driver) -> PathBuf {
    let (folder, define) = match kind {
        Driver::Counting => ("fake-driver", "-DCOUNTED"),
        Driver::Bare => ("bare-driver", "-DUNCOUNTED"),
    };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("fake-driver/fake_driver.c");
    let name = format!("{folder}/libEGL.so.1");
    let library =
        compile(&name, &source, &["-shared", "-fPIC", define], &["-lpthread", "-ldl"], &[]);
    let folder = library.parent().expect("the library lies in its folder").to_path_buf();
    let second = folder.join("libGLESv2.so.2");
    if !second.exists() {
        // Fails if another test has made it in the meantime.
        let _ = std::os::unix::fs::symlink("libEGL.so.1", &second);
    }
    folder
}

fn source_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

/// Compiles `source` to `name` in the cache, unless the file there is newer than all its inputs.
fn compile(
    name: &str,
    source: &Path,
    flags: &[&str],
    libraries: &[&str],
    inputs: &[&Path],
) -> PathBuf {
    let output = cache_directory().join(name);
    let folder = output.parent().expect("the output lies in the cache");
    std::fs::create_dir_all(folder).expect("the target folder is writable");
    if is_fresh(&output, source, inputs) {
        return output;
    }
    // Written under another name first: tests run side by side, and one may be executing the old file.
    let draft = tempfile::Builder::new().prefix("cc-").tempdir_in(folder).expect("a folder");
    let drafted = draft.path().join("out");
    let mut command = Command::new("cc");
    command.args(FLAGS).args(flags).arg("-o").arg(&drafted).arg(source).args(libraries);
    let finished = run(&mut command);
    assert!(
        finished.status.success(),
        "{finished}\nneeds: apt-get install gcc libegl-dev libgles-dev libgl-dev libx11-dev libze-dev"
    );
    std::fs::rename(&drafted, &output).expect("a rename within one folder");
    output
}

fn is_fresh(output: &Path, source: &Path, inputs: &[&Path]) -> bool {
    let Some(built) = modified(output) else { return false };
    let folder = source.parent().expect("a source lies in a folder");
    let headers = std::fs::read_dir(folder).expect("the sources are there").flatten();
    let headers =
        headers.map(|entry| entry.path()).filter(|p| p.extension().is_some_and(|e| e == "h"));
    let mut made_of =
        headers.chain([source.to_path_buf()]).chain(inputs.iter().map(|p| p.to_path_buf()));
    made_of.all(|path| modified(&path).is_some_and(|changed| changed <= built))
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|data| data.modified()).ok()
}

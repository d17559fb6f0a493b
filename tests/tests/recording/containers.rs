//! Programs in a sandbox with namespaces of its own, as Flatpak and containers have them: recorded from outside, when the
//! shim and the daemon's socket are bound into the sandbox, and from inside, with a daemon of its own there.

use std::path::Path;
use std::process::Command;

use gapii_tests::artifacts::artifact;
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::loading::{names, offscreen};
use gapii_tests::process::run;
use gapii_tests::programs::program;
use gapii_tests::scene;

/// Namespaces of all kinds, and of this system's files /usr alone.
const SANDBOX: &[&str] = &[
    "--unshare-all",
    "--die-with-parent",
    "--ro-bind",
    "/usr",
    "/usr",
    "--symlink",
    "usr/lib",
    "/lib",
    "--symlink",
    "usr/lib64",
    "/lib64",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--tmpfs",
    "/tmp",
];

/// bwrap with the program that draws the scene as /program, and other files under paths of the sandbox.
fn sandbox(files: &[(&Path, &Path)], words: &[&str]) -> Command {
    let scene = program("load_linked");
    let mut command = offscreen(Path::new("bwrap"), SANDBOX);
    for (outside, inside) in files.iter().copied().chain([(&*scene, Path::new("/program"))]) {
        command.arg("--bind").args([outside, inside]);
    }
    command.args(words);
    command
}

fn holds_the_scene(trace: &Trace) {
    trace.is_whole("exit");
    assert_eq!(names(&trace.commands()), scene::scene());
    assert_eq!(trace.info()["frames"], scene::FRAMES);
}

#[test]
fn sandboxed_program_is_recorded_from_outside() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let (shim, sockets) = (artifact("libgapii.so"), session.path("gapii"));
    let sandboxed = sandbox(&[(&shim, &shim), (&sockets, &sockets)], &["/program"]);
    let recording = session.record(&[], &sandboxed);
    recording.run.clone().ok();
    holds_the_scene(&recording.trace);
}

#[test]
fn sandboxed_program_is_recorded_from_inside() {
    let session = Session::new();
    let out = session.path("out");
    std::fs::create_dir(&out).expect("the session's folder is writable");
    let files = ["gapii-ctl", "gapiid", "libgapii.so"].map(artifact);
    let inside = ["/gapii/gapii-ctl", "/gapii/gapiid", "/gapii/libgapii.so", "/out"];
    let outside = files.iter().map(|file| &**file).chain([&*out]);
    let files: Vec<_> = outside.zip(inside.map(Path::new)).collect();
    let ctl = ["/gapii/gapii-ctl", "run", "-o", "/out/x.gapii", "--", "/program"];
    let mut command = sandbox(&files, &ctl);
    command.env_remove("GAPII_SHIM");
    run(&mut command).ok();
    holds_the_scene(&Trace::new(out.join("x.gapii")));
}

//! The scenes of `glmark2-es2`, recorded, exported and played by `eglretrace`: each frame has the pixels of the window.

use gapii_tests::display::Display;
use gapii_tests::gapii::Session;
use gapii_tests::{pictures, process, programs};

const SIDE: usize = 200;

fn check(scene: &str, frames: usize) {
    let (display, session) = (Display::start(), Session::new());
    let shown = session.path("shown");
    let size = format!("{SIDE}x{SIDE}");
    let mut glmark2 = display.command(&["glmark2-es2", "-s", &size, "-b", scene]);
    glmark2
        .env("GAPII_PRESENTED", &shown)
        .env("GAPII_PRESENTED_FRAMES", frames.to_string())
        .env("LD_PRELOAD", programs::presented());
    let options = ["--frames", &frames.to_string(), "--quit"];
    let recording = session.record(&options, &glmark2);
    recording.run.clone().ok();
    let shown = pictures::presented(&shown);
    assert_eq!(shown.len(), frames, "{}", recording.run);

    let exported = session.path("exported.trace");
    let mut export = session.ctl(["export", "--format", "apitrace", "-o"]);
    process::run(export.arg(&exported).arg(&recording.trace.path)).ok();
    let (played, eglretrace) = pictures::played(&exported);
    assert_eq!((played.len(), eglretrace.status.code()), (frames, Some(0)), "{eglretrace}");
    for (frame, (played, shown)) in played.iter().zip(&shown).enumerate() {
        let shown = shown.cropped(SIDE, SIDE);
        assert_eq!(shown.differing(played), 0, "pixels of frame {frame} ({played:?})");
    }
    // The scene `clear` shows one colour.
    let clears = scene.starts_with("clear");
    let something = shown.iter().any(pictures::Picture::shows_something);
    assert!(clears || something, "{scene} shows nothing");
}

/// One test for each scene, so that they run side by side.
macro_rules! scenes {
    ($($name:ident: $scene:literal, $frames:literal;)*) => {$(
        #[test]
        fn $name() {
            check($scene, $frames);
        }
    )*};
}

scenes! {
    buffer: "buffer:duration=60.0", 4;
    build: "build:duration=60.0", 4;
    build_from_client_memory: "build:use-vbo=false:duration=60.0", 4;
    bump: "bump:duration=60.0", 4;
    clear: "clear:duration=60.0", 4;
    conditionals: "conditionals:duration=60.0", 4;
    desktop: "desktop:duration=60.0", 4;
    effect2d: "effect2d:duration=60.0", 4;
    function: "function:duration=60.0", 4;
    ideas: "ideas:duration=60.0", 300;
    jellyfish: "jellyfish:duration=60.0", 4;
    loops: "loop:duration=60.0", 4;
    pulsar: "pulsar:duration=60.0", 4;
    refract: "refract:duration=60.0", 4;
    shading: "shading:duration=60.0", 4;
    shadow: "shadow:duration=60.0", 4;
    terrain: "terrain:duration=60.0", 4;
    texture: "texture:duration=60.0", 4;
}

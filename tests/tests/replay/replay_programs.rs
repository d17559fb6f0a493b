//! Real programs, recorded with observed frames and played without a display: every frame and every answer equals the
//! recorded one.

use gapii_tests::display::Display;
use gapii_tests::gapii::Session;
use gapii_tests::programs::{MPV, TESTGLES2};
use gapii_tests::replays::verified;

/// Records `frames` frames of a program, plays them and compares.
fn check(words: &[&str], frames: u64) {
    let (display, session) = (Display::start(), Session::new());
    let count = frames.to_string();
    let options = ["--frames", &count, "--observe-frames", "1", "--quit"];
    let recording = session.record(&options, &display.command(words));
    recording.run.clone().ok();
    let report = verified(&session, &recording.trace, &[]);
    let report = report.unwrap_or_else(|why| panic!("{}: {why}", words.join(" ")));
    assert_eq!(report["verified"]["frames"], frames, "{report:#}");
}

fn check_scene(scene: &str, frames: u64) {
    check(&["glmark2-es2", "-s", "200x200", "-b", scene], frames);
}

/// One test for each scene, so that they run side by side.
macro_rules! scenes {
    ($($name:ident: $scene:literal, $frames:literal;)*) => {$(
        #[test]
        fn $name() {
            check_scene($scene, $frames);
        }
    )*};
}

scenes! {
    buffer: "buffer:duration=20.0", 4;
    build: "build:duration=20.0", 4;
    build_from_client_memory: "build:use-vbo=false:duration=20.0", 4;
    bump: "bump:duration=20.0", 4;
    clear: "clear:duration=20.0", 4;
    conditionals: "conditionals:duration=20.0", 4;
    desktop: "desktop:duration=20.0", 4;
    effect2d: "effect2d:duration=20.0", 4;
    function: "function:duration=20.0", 4;
    ideas: "ideas:duration=20.0", 60;
    jellyfish: "jellyfish:duration=20.0", 4;
    loops: "loop:duration=20.0", 4;
    pulsar: "pulsar:duration=20.0", 4;
    refract: "refract:duration=20.0", 4;
    shading: "shading:duration=20.0", 4;
    shadow: "shadow:duration=20.0", 4;
    terrain: "terrain:duration=20.0", 4;
    texture: "texture:duration=20.0", 4;
}

#[test]
fn es2gears() {
    check(&["es2gears_x11"], 60);
}

#[test]
fn testgles2() {
    check(TESTGLES2, 60);
}

#[test]
fn mpv() {
    check(MPV, 60);
}

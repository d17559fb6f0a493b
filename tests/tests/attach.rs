//! Captures that begin in the middle of a program: what there was comes first, what follows is played
//! exactly, and the program is none the wiser.

use std::process::Command;
use std::time::Duration;

use gapii_tests::display::Display;
use gapii_tests::gapii::{Session, Trace, append};
use gapii_tests::loading::offscreen;
use gapii_tests::process::{Running, run};
use gapii_tests::programs::{app, names_in};
use gapii_tests::replays::verified;

/// Programs whose state a snapshot does not hold, and says so.
const NOT_HELD: [&str; 3] = ["egl_image", "fixed_function", "fixed_values"];

/// Records a program from its frame `skip` on, and compares: answers and frames with those of a replay,
/// and what the program said with what it says without us.
fn check(session: &Session, name: &str, skip: u64) -> Result<(), String> {
    let native = run(&mut offscreen(&app(name), [""; 0]));
    let skip = skip.to_string();
    let options = ["--observe-frames", "1", "--skip-frames", &skip];
    let recording = session.record(&options, &offscreen(&app(name), [""; 0]));
    if (recording.run.status, &recording.run.stdout) != (native.status, &native.stdout) {
        return Err(format!("natively {native}\nwith us {}", recording.run));
    }
    recording.trace.verify();
    let info = recording.trace.info();
    if info["calls"] == 0 {
        return Ok(());
    }
    if info["snapshot"] != true {
        return Err("no snapshot".to_owned());
    }
    if NOT_HELD.contains(&name) {
        let said = info["missing"].as_array().is_some_and(|missing| !missing.is_empty());
        return if said { Ok(()) } else { Err(format!("nothing is missing: {info}")) };
    }
    verified(session, &recording.trace, &[]).map(|_| ())
}

fn check_all(skip: u64) {
    let session = Session::new();
    let names = names_in("apps");
    let wrong: Vec<String> = names
        .iter()
        .filter_map(|name| check(&session, name, skip).err().map(|what| format!("{name}: {what}")))
        .collect();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn programs_are_played_exactly_from_their_first_frame_on() {
    check_all(1);
}

#[test]
fn programs_are_played_exactly_from_their_third_frame_on() {
    check_all(3);
}

#[test]
fn scene_is_attached_to_while_it_runs_again_and_again() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let display = Display::start();
    let mut scene = Command::new("glmark2-es2");
    scene.args(["-b", "texture:duration=30"]).env_remove("EGL_PLATFORM");
    display.use_in(&mut scene);
    let mut command = session.ctl(["run", "--idle"]);
    append(&mut command, &scene);
    let running = Running::start(&mut command);
    session.app_in_mode("idle");
    std::thread::sleep(Duration::from_millis(500));
    for number in 0..5 {
        let trace = Trace::new(session.path(&format!("{number}.gapii")));
        let mut start = session.ctl(["start", "--frames", "3", "--observe-frames", "1", "-o"]);
        run(start.arg(&trace.path)).ok();
        trace.is_whole("frames");
        assert_eq!(trace.info()["snapshot"], true);
        let report = verified(&session, &trace, &[]).unwrap();
        assert_eq!(report["verified"]["frames"], 3, "{report:#}");
        session.app_in_mode("idle");
    }
    drop(running);
}

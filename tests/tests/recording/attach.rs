//! Captures that begin in the middle of a program: a snapshot comes first, the following commands play exactly, and the
//! program does not notice.

use std::process::Command;
use std::time::Duration;

use gapii_tests::attaching::{
    attach, attach_at_random, kill_who_attaches, run_idle, start_and_stop,
};
use gapii_tests::display::Display;
use gapii_tests::exporting::shown_as_read_back;
use gapii_tests::gapii::{Session, append};
use gapii_tests::loading::offscreen;
use gapii_tests::pictures::NOT_PLAYED;
use gapii_tests::process::{LIMIT, Running, run};
use gapii_tests::programs::{app, apps_but, program};
use gapii_tests::replays::{all_pass, play_app, replay, verified_frames};
use gapii_tests::{fake_driver, glmark2, turns};
use rustix::process::Signal;
use serde_json::{Value, json};

/// Programs that are not compared, with the reasons.
const NOT_COMPARED: &[(&str, &str)] = &[(
    "bad_names",
    "which of its names are of another kind depends on the names that the driver gives out, and a snapshot takes some of \
     them for a while",
)];

/// Records the programs of a way ([`turns`]; there are two) from their frame `skip` on. Each later frame is played exactly;
/// every program has at least one.
#[track_caller]
fn check_all(skip: u64, way: usize) {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let frames_to_skip = skip.to_string();
    all_pass(&turns::taken(apps_but(NOT_COMPARED), way, 2), |name| {
        let played = play_app(&session, name, &["--skip-frames", &frames_to_skip])?;
        if played.info["snapshot"] != true {
            return Err("no snapshot".to_owned());
        }
        played.has_verified(played.drawn.saturating_sub(skip))
    });
}

#[test]
fn programs_are_played_exactly_from_their_first_frame_on() {
    check_all(1, 0);
}

#[test]
fn programs_are_played_exactly_from_their_third_frame_on() {
    check_all(3, 1);
}

#[test]
fn eglretrace_shows_programs_from_their_second_frame_on() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    // The other way of two: from a keyframe, in `keep`.
    all_pass(&turns::taken(apps_but(NOT_PLAYED), 1, 2), |name| {
        shown_as_read_back(&session, name, &["--skip-frames", "2"]).map(|_| ())
    });
}

/// Attaches to a program on a driver that has OpenGL ES 2 only.
fn check_on_opengl_es_2(name: &str) {
    let session = Session::new();
    let (variable, version) = ("MESA_GLES_VERSION_OVERRIDE", "2.0");
    let mut program = offscreen(&app(name), [""; 0]);
    let options = ["--observe-frames", "1", "--skip-frames", "3"];
    let recording = session.record(&options, program.env(variable, version));
    recording.run.clone().ok();
    assert_eq!(recording.trace.info()["snapshot"], true);
    let mut replay = replay(&session, &recording.trace.path, &["--verify", "--json"]);
    let played = run(replay.env(variable, version)).ok();
    let report: Value = serde_json::from_str(&played.stdout).expect("a report");
    // Each program draws five frames.
    assert_eq!(report["verified"]["frames"], 2, "{report:#}");
    assert_eq!(report["verified"]["different"], 0, "{report:#}");
}

/// There is no `glBlitFramebuffer`.
#[test]
fn what_was_drawn_to_a_surface_of_opengl_es_2_is_there() {
    check_on_opengl_es_2("kept_surface");
}

/// There are pipelines in an extension only.
#[test]
fn program_pipelines_of_opengl_es_2_are_there() {
    check_on_opengl_es_2("kept_stages");
}

#[test]
fn scene_is_attached_to_while_it_runs_again_and_again() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let display = Display::start();
    let running = run_idle(&session, &glmark2::command(&display, "texture", 30));
    std::thread::sleep(Duration::from_millis(500));
    for number in 0..5 {
        let trace = attach(&session, &format!("{number}.gapii"), "3");
        assert_eq!(trace.info()["snapshot"], true);
        assert_eq!(verified_frames(&session, &trace), 3);
        session.app_in_mode("idle");
    }
    drop(running);
}

#[test]
fn two_threads_are_attached_to_at_random_moments() {
    attach_at_random(2, turns::times(10) as u64);
}

#[test]
fn three_threads_are_attached_to_at_random_moments() {
    attach_at_random(3, turns::times(10) as u64);
}

#[test]
fn four_threads_are_attached_to_at_random_moments() {
    attach_at_random(4, turns::times(10) as u64);
}

#[test]
fn program_is_captured_often_and_grows_by_nothing() {
    start_and_stop(40);
}

#[test]
fn program_outlives_whoever_attaches() {
    kill_who_attaches(8);
}

/// State from before the attach is unknown in a program that is not monitored. Later commands are recorded, and the program
/// goes on as before.
#[test]
fn program_that_is_not_monitored_is_recorded_without_what_was_before() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let mut command = session.ctl(["run", "--idle", "--no-monitor"]);
    append(&mut command, &offscreen(&program("threads_forever"), ["2", "600", "2000"]));
    let running = Running::start(&mut command);
    for number in 0..3 {
        session.app_in_mode("asleep");
        let trace = attach(&session, &format!("{number}.gapii"), "4");
        let info = trace.info();
        assert_eq!(info["frames"], 4, "{info:#}");
        let missing = info["missing"].as_array().expect("a list");
        let said = |line: &Value| line.as_str().is_some_and(|line| line.contains("--no-monitor"));
        assert!(missing.iter().any(said), "{info:#}");
        let commands = trace.commands();
        assert!(commands.iter().any(|command| command.name == "glDrawArrays"), "{info:#}");
    }
    running.signal(Signal::TERM);
    running.finish(LIMIT).ok();
}

#[test]
fn attachment_that_was_deleted_is_played() {
    let session = Session::new();
    let process = offscreen(&program("deleted_attachment"), ["6"]);
    let recording = session.record(&["--skip-frames", "2", "--observe-frames", "1"], &process);
    recording.run.ok();
    let info = recording.trace.info();
    assert_eq!(info["missing"], json!([]), "{info:#}");
    assert_eq!(verified_frames(&session, &recording.trace), 4);
}

/// Records a program of six frames with these options: the snapshot lacks `missing`, and `frames` frames are played
/// exactly.
#[track_caller]
fn check_frames(name: &str, options: &[&str], missing: &Value, frames: u64) {
    let session = Session::new();
    let options = [&["--observe-frames", "1"], options].concat();
    let recording = session.record(&options, &offscreen(&program(name), [""; 0]));
    recording.run.ok();
    let info = recording.trace.info();
    assert_eq!(info["snapshot"], true, "{name} {options:?}: {info:#}");
    assert_eq!(&info["missing"], missing, "{name} {options:?}: {info:#}");
    assert_eq!(verified_frames(&session, &recording.trace), frames, "{name} {options:?}");
}

/// [`check_frames`] where nothing is missing.
#[track_caller]
fn check_whole(name: &str, options: &[&str], frames: u64) {
    check_frames(name, options, &json!([]), frames);
}

/// [`check_whole`] from the second frame on, from the fourth, and from a keyframe on.
fn check_whole_from_everywhere(name: &str) {
    check_whole(name, &["--skip-frames", "1"], 5);
    check_whole(name, &["--skip-frames", "3"], 3);
    check_whole(name, &["--keep-frames", "2", "--keyframe-every", "2"], 2);
}

#[test]
fn objects_without_a_name_are_played_exactly() {
    check_whole_from_everywhere("nameless_objects");
}

/// No command reaches the pixels of such a renderbuffer; those of the texture are in the snapshot.
#[test]
fn objects_that_only_binding_points_hold_are_played_exactly() {
    check_whole("unit_only", &["--skip-frames", "2"], 4);
}

#[test]
fn storage_that_share_groups_share_is_played_exactly() {
    check_whole_from_everywhere("shared_storage");
}

#[test]
fn views_of_textures_are_played_exactly() {
    check_whole_from_everywhere("texture_views");
}

#[test]
fn textures_and_framebuffers_with_other_parameters_are_played_exactly() {
    check_whole_from_everywhere("texture_states");
}

#[test]
fn pbuffers_that_are_not_current_are_played_exactly() {
    check_whole_from_everywhere("bound_surface");
}

/// A context and its program pipelines keep an executable when another context links its program again (OpenGL ES 3.2,
/// 7.3). No query returns anything about it; the trace says that it is missing. A link in the same context replaces the
/// executable, also in pipelines that are not bound.
#[test]
fn executable_of_a_program_that_was_linked_again_is_named() {
    let session = Session::new();
    let process = offscreen(&program("relinked_elsewhere"), ["6"]);
    let recording = session.record(&["--skip-frames", "2"], &process);
    recording.run.ok();
    let info = recording.trace.info();
    let what = "the executable in use of the program that was linked again elsewhere: ";
    assert_eq!(info["missing"], json!([format!("{what}1, 7")]), "{info:#}");
}

/// Attaches to a program with a thread in glFinish, which takes `turns` turns of a loop each time. The thread runs there: for
/// one that sleeps in the driver the shim waits less long.
fn attach_to_busy_driver(turns: &str) -> Value {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let mut process = Command::new(program("in_driver"));
    process.env("FAKE_DRIVER_FINISH", turns);
    let page = session.path("page");
    fake_driver::use_in(&mut process, Some(&page));
    // Ends the process, should it be left.
    let _page = fake_driver::Page::new(&page);
    let running = run_idle(&session, &process);
    let info = attach(&session, "busy.gapii", "2").info();
    assert_eq!((&info["snapshot"], &info["frames"]), (&true.into(), &2.into()), "{info:#}");
    drop(running);
    info
}

fn threads_in_the_driver(info: &Value) -> usize {
    let missing = info["missing"].as_array().expect("a list").iter();
    missing.filter(|line| line.as_str().is_some_and(|line| line.contains("that thread"))).count()
}

#[test]
fn thread_in_the_driver_is_waited_for() {
    let info = attach_to_busy_driver("10000000");
    assert_eq!(threads_in_the_driver(&info), 0, "{info:#}");
}

#[test]
fn thread_that_does_not_come_out_of_the_driver_is_named() {
    let info = attach_to_busy_driver("100000000000");
    assert_eq!(threads_in_the_driver(&info), 1, "{info:#}");
    let held = info["held_us"].as_u64().expect("a number");
    assert!((250_000..1_900_000).contains(&held), "{info:#}");
}

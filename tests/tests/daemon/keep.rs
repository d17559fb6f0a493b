//! Kept frames: the daemon holds the last frames of a program in memory and saves them on request, while the program runs
//! and after it was killed.

use std::os::unix::process::CommandExt;
use std::process::Command as Process;
use std::time::{Duration, Instant};

use gapii_tests::display::Display;
use gapii_tests::exporting::shown_as_read_back;
use gapii_tests::fake_driver::{self, Page};
use gapii_tests::gapii::{Session, Trace, append};
use gapii_tests::loading::offscreen;
use gapii_tests::process::{Finished, LIMIT, Running, run, send_signal};
use gapii_tests::programs::{app, apps_but, program};
use gapii_tests::replays::{all_pass, play_app, verified_frames};
use gapii_tests::{glmark2, turns, wait};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

/// Programs that are not compared, with the reasons.
const NOT_COMPARED: &[(&str, &str)] = &[
    (
        "bad_names",
        "which of its names are of another kind depends on the names that the driver gives out",
    ),
    ("kept_programs", "at a keyframe a deleted program is not described that another context uses"),
];

/// Frames that are kept at the end of a program of `drawn` frames with a keyframe after every second frame: the last two, and
/// the one before where the keyframe stands there.
fn kept_of(drawn: u64) -> u64 {
    2 + drawn % 2
}

/// Keeps the frames of each program with a keyframe every second frame, and plays the trace that is saved at its end.
#[test]
fn programs_are_played_exactly_from_a_keyframe_on() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    // The other way of two: with eglretrace, in `attach`.
    all_pass(&turns::taken(apps_but(NOT_COMPARED), 0, 2), |name| {
        let keep = ["--keep-frames", "2", "--keyframe-every", "2"];
        let played = play_app(&session, name, &keep)?;
        if played.info["snapshot"] != true {
            return Err("no keyframe".to_owned());
        }
        played.has_verified(kept_of(played.drawn))
    });
}

/// An exported trace also has the first keyframe only.
#[test]
fn eglretrace_shows_what_was_kept() {
    let session = Session::new();
    for name in ["animation", "kept_formats", "kept_samples", "shared_contexts"] {
        let keep = ["--keep-frames", "3", "--keyframe-every", "2"];
        let shown = shown_as_read_back(&session, name, &keep);
        let shown = shown.unwrap_or_else(|what| panic!("{name}: {what}"));
        assert!((3..=4).contains(&shown), "{name}: {shown} frames");
    }
}

#[test]
fn what_was_kept_begins_at_a_keyframe_and_passes_over_later_ones() {
    let session = Session::new();
    let keep = ["--keep-frames", "9", "--keyframe-every", "4", "--observe-frames", "1"];
    let recording = session.record(&keep, &offscreen(&app("animation"), [""; 0]));
    recording.run.ok();
    let trace = &recording.trace;
    trace.is_whole("exit");
    // Frames 0 to 29, with a keyframe after every fourth frame.
    let frames: Vec<u64> = trace.commands().iter().map(|command| command.frame).collect();
    assert_eq!((frames.first(), frames.last()), (Some(&20), Some(&30)));
    assert_eq!(
        (trace.info()["frames"].as_u64(), &trace.info()["snapshot"]),
        (Some(10), &true.into())
    );
    let made = |name| trace.commands().iter().filter(|command| command.name == name).count();
    // The program's own, and the one in which its programs are linked.
    let contexts = 2;
    assert_eq!(made("eglCreateContext"), contexts, "the later descriptions are listed");
    assert_eq!(verified_frames(&session, trace), 10);
    // Frames are found by their numbers.
    for (frames, swaps) in [("20..21", 1), ("27..29", 2), ("0..", 10)] {
        let listed = trace.ask("dump", &["--json", "--frames", frames]).ok();
        let commands = gapii_tests::gapii::commands(&listed);
        let count = commands.iter().filter(|command| command.name == "eglSwapBuffers").count();
        assert_eq!(count, swaps, "{frames}");
        let set_up = commands.iter().filter(|command| command.name == "eglCreateContext").count();
        assert_eq!(set_up, if frames == "27..29" { 0 } else { contexts }, "{frames}");
    }
}

/// Frames and commands of a trace that was kept have their numbers in the program.
#[test]
fn frames_and_commands_of_what_was_kept_are_asked_for_by_their_numbers() {
    let session = Session::new();
    let keep = ["--keep-frames", "9", "--keyframe-every", "4"];
    let trace = session.record(&keep, &offscreen(&app("animation"), [""; 0])).trace;
    let folder = session.path("pictures");
    let folder = folder.to_str().expect("a plain name");
    let sheet = session.path("sheet.png");
    let sheet = sheet.to_str().expect("a plain name");
    let commands = trace.commands();
    let first = commands[0].seq.expect("it took effect");
    let draw = commands.iter().rfind(|command| command.name.starts_with("glDraw")).expect("it");
    let (before, at) = ((first - 1).to_string(), draw.seq.expect("it took effect").to_string());
    let ask = |name: &str, options: &[&str], status, words: &str| {
        let mut command = session.ctl([name]);
        command.arg(&trace.path).args(options);
        gapii_tests::display::surfaceless(&mut command);
        let finished = run(&mut command).exited_with(status);
        assert!(finished.stderr.contains(words), "{words}: {finished}");
    };
    ask("montage", &["-o", sheet, "--count", "4"], 0, "shows 4 frames of 10");
    ask("montage", &["-o", sheet, "--force", "--frames", "0..20"], 1, "the first is number 20");
    ask("replay", &["--images", folder, "--frames", "28"], 0, "wrote 1 file");
    ask("replay", &["--frames", "0..20"], 1, "it has 10 frames, the first is number 20");
    ask("replay", &["--frames", "30"], 1, "it has 10 frames");
    ask("replay", &["--images", folder, "--at", &at], 0, "wrote 1 file");
    let begins = format!("has no command {before}; its first one is {first}");
    ask("replay", &["--images", folder, "--at", &before], 1, &begins);
    ask("state", &["--at", &before], 1, &begins);
    ask("state", &["--at", &at], 0, "");
    ask("dump", &["--resources", folder, "--at", "100000"], 1, "its last one is");
    ask("replay", &[], 0, " of later snapshots, which describe");
}

#[test]
fn program_that_ends_before_the_first_keyframe_is_saved_whole() {
    let session = Session::new();
    let keep = ["--keep-frames", "300", "--observe-frames", "1"];
    let recording = session.record(&keep, &offscreen(&app("animation"), [""; 0]));
    recording.run.ok();
    recording.trace.is_whole("exit");
    let info = recording.trace.info();
    assert_eq!((&info["frames"], &info["snapshot"]), (&30.into(), &false.into()), "{info:#}");
    assert_eq!(verified_frames(&session, &recording.trace), 30);
}

#[test]
fn crash_in_the_driver_is_what_is_kept_ends_with() {
    let session = Session::new();
    let keep = ["--keep-frames", "10", "--keyframe-every", "7", "--observe-frames", "1"];
    let process = offscreen(&program("crash_in_driver"), ["50"]);
    let recording = session.record(&keep, &process);
    recording.run.clone().exited_with(139);
    let trace = &recording.trace;
    trace.is_whole("crash");
    let end = &trace.info()["end_of_stream"];
    assert_eq!(end["signal"], 11, "{end}");
    assert_eq!(end["in_flight"][0]["name"], "glTexSubImage2D", "{end}");
    let last = trace.commands().pop().unwrap();
    assert!(last.in_flight && last.frame == 50, "{last:?}");
    assert_eq!(verified_frames(&session, trace), 15);
}

/// As a terminal or a service manager does that is closed or stopped.
#[test]
fn kept_program_that_is_asked_to_end_with_its_run_has_not_crashed() {
    let session = Session::new();
    let path = session.path("page");
    let mut process = Process::new(program("draw_forever"));
    process.arg("1");
    fake_driver::use_in(&mut process, Some(&path));
    let page = Page::new(&path);
    let trace = Trace::new(session.path("asked.gapii"));
    let keep = ["--keep-frames", "10"];
    let mut run = session.run_command(&keep, &trace.path, &process);
    let running = Running::start(run.process_group(0));
    wait::until("commands", LIMIT, || (page.calls() > 100).then_some(()));
    let group = Pid::from_raw(running.pid().cast_signed()).expect("a pid");
    kill_process_group(group, Signal::TERM).expect("they run");
    let said = running.finish(LIMIT).exited_with(128 + Signal::TERM.as_raw()).stderr;
    trace.is_whole("exit");
    assert_eq!(trace.info()["end_of_stream"]["signal"], Signal::TERM.as_raw(), "{said}");
    assert!(said.contains("(the program ended") && !said.contains("crash"), "{said}");
    assert!(!trace.path.with_extension("gapii.crash.txt").exists());
}

/// A keyframe does not wait for a thread that is in no command, whatever else the thread does.
#[test]
fn keyframes_wait_for_no_thread_that_is_away() {
    let session = Session::new();
    for does in ["sleeps", "computes"] {
        let keep = ["--keep-frames", "4", "--keyframe-every", "4", "--observe-frames", "1"];
        let recording = session.record(&keep, &offscreen(&program("one_is_away"), [does, "30"]));
        recording.run.ok();
        let info = recording.trace.info();
        assert_eq!(info["snapshot"], true, "{does}: {info:#}");
        assert_eq!(info["missing"], Value::Array(Vec::new()), "{does}");
        // Keyframes stand after every fourth of 30 frames, and four frames are kept at least.
        assert_eq!(verified_frames(&session, &recording.trace), 6, "{does}: {info:#}");
    }
}

/// A keyframe of threads that keep changing shared objects is exact.
#[test]
fn keyframes_of_busy_threads_are_played_exactly() {
    let session = Session::new();
    for threads in ["2", "4"] {
        let keep = ["--keep-frames", "40", "--keyframe-every", "3", "--observe-frames", "1"];
        let process = offscreen(&program("threads_forever"), [threads, "2", "2000"]);
        let recording = session.record(&keep, &process);
        recording.run.ok();
        let info = recording.trace.info();
        let missing = info["missing"].as_array().expect("a list");
        let is_given_up = |what: &Value| what.as_str().is_some_and(|it| it.contains("may be in"));
        assert!(!missing.iter().any(is_given_up), "{threads} threads: {missing:?}");
        assert_eq!(info["snapshot"], true, "{threads} threads: {info:#}");
        // Of two seconds of frames, the last are kept. The rest after each frame leaves the processors to the other tests.
        let (frames, verified) =
            (number(&info, "frames"), verified_frames(&session, &recording.trace));
        assert!(frames >= 40, "{threads} threads: {info:#}");
        // Each thread may be inside one more frame when the program ends.
        let unfinished: u64 = threads.parse().expect("a number");
        assert!(
            verified + unfinished >= frames,
            "{threads} threads, {verified} verified: {info:#}"
        );
    }
}

/// A scene of glmark2 that the session's daemon keeps; `options` are those of `gapii-ctl run`.
fn kept_scene(session: &Session, display: &Display, scene: &str, options: &[&str]) -> Running {
    let mut command = session.ctl(["run"]);
    command.args(options);
    append(&mut command, &glmark2::command(display, scene, 100));
    Running::start(&mut command)
}

/// `gapii-ctl status`.
fn status(session: &Session) -> Value {
    let status = run(&mut session.ctl(["status", "--json"])).ok();
    serde_json::from_str(&status.stdout).expect("it is JSON")
}

/// Waits until the entry of the only kept program in `gapii-ctl status` is `enough`, and returns the entry.
fn kept(session: &Session, enough: impl Fn(&Value) -> bool) -> Value {
    wait::until("a program to be kept", LIMIT, || {
        let kept = status(session)["kept"].get(0)?.clone();
        enough(&kept).then_some(kept)
    })
}

fn number(value: &Value, field: &str) -> u64 {
    value[field].as_u64().unwrap_or_else(|| panic!("no {field}: {value}"))
}

/// Saves the last frames; returns the trace and the finished command.
fn save(session: &Session, options: &[&str], name: &str) -> (Trace, Finished) {
    let trace = Trace::new(session.path(name));
    let finished = run(session.ctl(["save", "--force"]).args(options).arg("-o").arg(&trace.path));
    (trace, finished)
}

#[test]
fn nothing_is_saved_of_a_program_without_a_frame() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let headless = offscreen(&program("headless"), ["500", "check"]);
    let mut command = session.ctl(["run", "--keep-frames", "5"]);
    append(&mut command, &headless);
    let running = Running::start(&mut command);
    kept(&session, |_| true);
    let (_, saved) = save(&session, &["--last", "3"], "none.gapii");
    let saved = saved.exited_with(1);
    assert!(saved.stderr.contains("no frame of headless is kept yet"), "{saved}");
    drop(running);
}

/// Checks that the trace is well-formed and plays exactly; returns its number of frames.
#[track_caller]
fn plays(session: &Session, trace: &Trace, reason: &str) -> u64 {
    trace.is_whole(reason);
    verified_frames(session, trace)
}

#[test]
fn frames_are_saved_while_the_program_runs_and_after_it_was_killed() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let display = Display::start();
    let keep = ["--keep-frames", "20", "--keyframe-every", "10", "--observe-frames", "1"];
    let scene = kept_scene(&session, &display, "texture", &keep);
    let pid = number(&kept(&session, |kept| number(kept, "frames") >= 20), "pid");
    for turn in 0..3 {
        let last = if turn == 0 { "20" } else { "5" };
        let app = pid.to_string();
        let (trace, saved) =
            save(&session, &["--app", &app, "--last", last], &format!("{turn}.gapii"));
        let saved = saved.ok();
        assert!(saved.stderr.contains(" from frame "), "{saved}");
        assert!(plays(&session, &trace, "stop") >= last.parse().unwrap(), "{last}");
    }
    // A capture beside the kept frames works.
    let beside = Trace::new(session.path("beside.gapii"));
    run(session.ctl(["start", "--frames", "7", "-o"]).arg(&beside.path)).ok();
    assert_eq!(plays(&session, &beside, "frames"), 7);

    send_signal(pid as u32, Signal::SEGV);
    let finished = scene.finish(LIMIT);
    assert!(finished.stderr.contains("keyframe after"), "{finished}");
    finished.exited_with(139);
    let (trace, saved) = save(&session, &["--last", "20"], "killed.gapii");
    assert!(!saved.ok().stderr.contains("found no more than"));
    let (_, all_saved) = save(&session, &["--last", "1000000"], "all.gapii");
    let all_saved = all_saved.ok();
    assert!(all_saved.stderr.contains("found no more than "), "{all_saved}");
    trace.verify();
    assert!(verified_frames(&session, &trace) >= 20);
    let end = &trace.info()["end_of_stream"];
    assert_eq!((&end["reason"], &end["signal"]), (&"crash".into(), &11.into()), "{end}");
    assert_eq!(kept(&session, |_| true)["is_running"], false);
}

#[test]
fn memory_of_what_is_kept_is_bounded() {
    const RECORDED: u64 = 64 << 20;
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let display = Display::start();
    let keep = ["--keep-frames", "100000", "--keep-bytes", "2M", "--keyframe-every", "100000"];
    let keep = [&keep[..], &["--observe-frames", "1"]].concat();
    let scene = kept_scene(&session, &display, "buffer:update-method=subdata", &keep);
    // The program records far more than fits; the daemon requests keyframes.
    let mut most = 0;
    wait::until("many times as many bytes as are kept", LIMIT, || {
        let status = status(&session);
        most = most.max(number(status["kept"].get(0)?, "bytes"));
        (number(&status["totals"], "ring_bytes") > RECORDED).then_some(())
    });
    assert!((1 << 20..=2 << 20).contains(&most), "{most} bytes are kept");
    let saved = wait::until("something to save", LIMIT, || {
        let (trace, saved) = save(&session, &["--last", "1"], "bounded.gapii");
        saved.status.success().then_some(trace)
    });
    saved.is_whole("stop");
    assert_eq!(saved.info()["snapshot"], true);
    assert!(verified_frames(&session, &saved) >= 1);
    drop(scene);
}

#[test]
fn what_was_kept_of_programs_that_have_ended_goes_in_the_end() {
    const STAYS_S: u64 = 10;
    let session = Session::new();
    let daemon = session.daemon(&["--keep-ended", "1", "--keep-ended-for", &STAYS_S.to_string()]);
    let keeps = |name| {
        let mut command = session.ctl(["run", "--keep-frames", "5", "--keyframe-every", "5"]);
        append(&mut command, &offscreen(&app(name), [""; 0]));
        run(&mut command).ok();
    };
    let saves = |name| {
        let (_, saved) = save(&session, &["--app", name], &format!("{name}.gapii"));
        let is_gone = !saved.status.success();
        assert!(!is_gone || saved.stderr.contains(" kept"), "{saved}");
        !is_gone
    };
    let goes = |name| wait::until(name, LIMIT, || (!saves(name)).then_some(()));
    keeps("animation");
    assert!(saves("animation"));
    let began = Instant::now();
    keeps("shared_contexts");
    // The newest program's frames stay for STAYS_S. The daemon notices an end after the program is gone.
    goes("animation");
    assert!(began.elapsed() < Duration::from_secs(STAYS_S), "it went for its age");
    assert!(saves("shared_contexts"));
    goes("shared_contexts");
    assert!(began.elapsed() >= Duration::from_secs(STAYS_S), "it went before its time");
    let is_told = || daemon.log().matches("which has ended, are deleted").count() == 2;
    wait::until("the log to say so", LIMIT, || is_told().then_some(()));
    // Keyframes are many: the log has them only if it is asked for details.
    assert!(!daemon.log().contains("keyframe"), "{}", daemon.log());
}

#[test]
fn nothing_to_save_is_said() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let (trace, saved) = save(&session, &[], "none.gapii");
    assert!(saved.clone().exited_with(3).stderr.contains("--keep-frames"), "{saved}");
    assert!(!trace.path.exists());
}

//! `info`, `stats`, `dump` and `diff` of recordings of real programs.

use gapii_test_json::values;
use gapii_tests::display::Display;
use gapii_tests::gapii::{Recording, Session};
use gapii_tests::loading::offscreen;
use gapii_tests::process::Finished;
use gapii_tests::{process, programs};
use serde_json::{Value, json};

fn record(app: &str) -> (Session, Recording) {
    let session = Session::new();
    let recording = session.record(&[], &offscreen(&programs::app(app), [""; 0]));
    recording.run.clone().ok();
    (session, recording)
}

fn parsed(answer: &Finished) -> Value {
    serde_json::from_str(&answer.stdout).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

#[test]
fn statistics_add_up() {
    let (_session, recording) = record("client_arrays");
    let stats = recording.trace.ask("stats", &["--json"]).ok();
    let stats = parsed(&stats);
    let sum = |of: &str, what: &str| -> u64 {
        let entries = stats[of].as_array().expect(of);
        entries.iter().map(|entry| entry[what].as_u64().expect(what)).sum()
    };
    let dumped = recording.trace.commands().len() as u64;
    assert!(dumped > 100, "{dumped} commands");
    assert_eq!(stats["commands"], dumped);
    for of in ["functions", "frames", "threads"] {
        assert_eq!(sum(of, "commands"), dumped, "{of}");
    }
    assert_eq!(stats["draws"], sum("frames", "draws"));
    assert!(stats["draws"].as_u64() > Some(0), "{stats}");
    assert!(stats["client_bytes"].as_u64() > Some(0), "{stats}");
}

#[test]
fn info_has_the_driver_and_the_surface_that_the_program_saw() {
    let session = Session::new();
    let recording = session.record(&[], &offscreen(&programs::program("renderer"), [""; 0]));
    let shown = recording.run.clone().ok().stdout;
    let shown: Vec<&str> = shown.lines().collect();
    let info = recording.trace.info();
    let driver = &info["drivers"][0];
    assert_eq!(
        shown,
        [driver["renderer"].as_str(), driver["version"].as_str()].map(|it| it.expect("an answer"))
    );
    assert_eq!(info["surface_sizes"], json!([{"width": 64, "height": 64}]));
    let duration_ns = info["recorded"]["duration_ns"].as_u64().expect("a duration");
    let passed_ns = info["ended_unix_ns"].as_u64().zip(info["started_unix_ns"].as_u64());
    let passed_ns = passed_ns.map(|(ended, started)| ended - started);
    assert!(duration_ns > 0 && Some(duration_ns) <= passed_ns, "{info:#}");
}

#[test]
fn info_says_whether_the_commands_include_a_snapshot() {
    let session = Session::new();
    let says_so = |options: &[&str]| {
        let program = offscreen(&programs::program("relinked_elsewhere"), ["6"]);
        let recording = session.record(options, &program);
        recording.run.ok();
        let said = recording.trace.ask("info", &[]).ok().stdout;
        let commands = said.lines().find(|line| line.starts_with("commands")).expect("a line");
        commands.contains("with those that set up the state it begins with")
    };
    assert!(!says_so(&[]));
    assert!(says_so(&["--skip-frames", "2"]));
}

#[test]
fn driver_is_known_of_a_program_that_does_not_ask_for_it() {
    let session = Session::new();
    let check = |app: &str, version: &str| {
        let trace = session.record(&[], &offscreen(&programs::app(app), [""; 0])).trace;
        let asks = trace.commands().iter().any(|command| command.name == "glGetString");
        assert!(!asks, "{app} asks for the driver");
        let info = trace.info();
        let driver = &info["drivers"][0];
        let [renderer, found] =
            ["renderer", "version"].map(|name| driver[name].as_str().unwrap_or_default());
        assert!(renderer.contains("llvmpipe") && found.starts_with(version), "{app}: {driver}");
    };
    check("fixed_function", "OpenGL ES-CM 1.1 ");
    check("client_arrays", "OpenGL ES 3.");
}

#[test]
fn most_expensive_commands_are_listed_with_their_numbers() {
    let session = Session::new();
    let app = offscreen(&programs::app("client_arrays"), [""; 0]);
    let trace = session.record(&["--timing"], &app).trace;
    let dump = |options: &[&str]| -> Vec<Value> {
        let lines = trace.ask("dump", &[options, &["--json"]].concat()).ok().stdout;
        values(&lines).expect("JSON")
    };
    let draws = dump(&["--function", "glDraw*", "--sort", "driver-time"]);
    let times: Vec<_> = draws.iter().map(|draw| draw["driver_ns"].as_u64()).collect();
    assert!(times.len() > 1 && times.is_sorted_by(|a, b| a >= b), "{times:?}");
    assert_eq!(dump(&["--function", "glDraw*", "--sort", "driver-time", "--top", "1"]), draws[..1]);
    let longest = dump(&["--sort", "driver-time", "--top", "10"]);
    let stats = parsed(&trace.ask("stats", &["--json"]).ok());
    let seqs = |of: &[Value]| of.iter().map(|one| one["seq"].clone()).collect::<Vec<_>>();
    assert_eq!(seqs(stats["slowest"].as_array().expect("a list")), seqs(&longest));
    let at = longest[0]["seq"].to_string();
    trace.ask("state", &["--at", &at]).ok();
}

#[test]
fn state_is_shown_in_part() {
    let (_session, recording) = record("client_arrays");
    // In the middle: at its end the program destroys its context.
    let at = (recording.trace.commands().len() / 2).to_string();
    let state =
        |options: &[&str]| recording.trace.ask("state", &[&["--at", &at], options].concat());
    let text = |options: &[&str]| state(options).ok().stdout;
    let whole = text(&[]);
    let listed = parsed(&state(&["--sections", "--json"]).ok());
    let sections = listed["sections"].as_array().expect("a list");
    let of = |name: &str| sections.iter().find(|section| section["name"] == name);
    assert_eq!(of("context.viewport").map(|it| &it["entries"]), Some(&4.into()), "{listed:#}");
    assert!(text(&["--sections"]).contains("  context.viewport: 4 entries\n"));
    // Of objects, too, only what has changed is shown: the program asked for no type of a uniform, and labels nothing.
    assert!(whole.contains("      Program ") && whole.contains("linked: Succeeded"), "{whole}");
    assert!(
        !["uniform_types", "label:", ": 0 bytes"].iter().any(|it| whole.contains(it)),
        "{whole}"
    );
    assert!(text(&["--all"]).contains("uniform_types: {}"));
    // A colour is shown whole: the program's last one, and one that it never sets.
    assert!(whole.contains("    clear_color: ["), "{whole}");
    assert!(text(&["--section", "blend_color"]).contains("    blend_color: [0, 0, 0, 0]\n"));
    // As large as the surface, although the program sets no scissor.
    assert!(text(&["--section", "scissor"]).contains("    scissor: [0, 0, 96, 64]\n"));
    // A section that is named is shown also with its initial value.
    let part = text(&["--section", "context.depth_func", "--section", "viewport"]);
    assert!(part.contains("depth_func: GL_LESS") && !whole.contains("depth_func"), "{part}");
    let fields: Vec<_> = part.lines().filter(|line| line.starts_with("    ")).collect();
    assert_eq!(fields.len(), 2, "{part}");
    let shaders = text(&["--object", "shader"]);
    let objects = |text: &str| text.lines().filter(|line| line.contains("      Shader ")).count();
    assert!(objects(&shaders) > 1 && !shaders.contains("viewport"), "{shaders}");
    let number = shaders.split_once("Shader ").and_then(|(_, rest)| rest.split_whitespace().next());
    let one = text(&["--object", &format!("shader:{}", number.expect("a number"))]);
    assert_eq!(objects(&one), 1, "{one}");
    let contexts = &parsed(&state(&["--json"]).ok())["processes"][0]["contexts"];
    let handle = contexts[0]["context"].as_u64().expect("a handle");
    let of_one = parsed(&state(&["--context", &format!("{handle:#x}"), "--json"]).ok());
    assert_eq!(of_one["processes"][0]["contexts"][0], contexts[0]);
    for (options, hint) in [
        (["--section", "no_such"], "--sections"),
        (["--object", "shader:999"], "--object shader`"),
        (["--context", "1"], "the contexts after that command are 0x"),
    ] {
        let refused = state(&options).exited_with(1);
        assert!(refused.stderr.contains(hint), "{refused}");
    }
}

#[test]
fn two_runs_of_a_program_are_the_same_and_two_programs_are_not() {
    let (_a, first) = record("client_arrays");
    let (session, second) = record("client_arrays");
    let (_c, other) = record("primitive_restart");
    let compare = |b: &Recording| {
        process::run(session.ctl(["diff", "--json"]).args([&first.trace.path, &b.trace.path]))
    };
    let same = compare(&second).ok();
    assert!(parsed(&same)["first"].is_null(), "{same}");
    // Also those that return handles.
    assert_eq!(parsed(&same)["answers"], 0, "{same}");
    let different = compare(&other);
    assert_eq!(different.status.code(), Some(1), "{different}");
    assert!(parsed(&different)["first"]["a"].is_u64(), "{different}");
    let frames = parsed(&different)["frames"].as_array().map_or(0, Vec::len);
    assert!(frames > 0, "{different}");
    // Every difference belongs to a cause, and each cause has its first command.
    let found = parsed(&different);
    let causes = found["causes"].as_array().expect("a list");
    let differences = causes.iter().filter(|cause| cause["way"] != "answered");
    let counts = differences.clone().filter_map(|cause| cause["commands"].as_u64());
    assert_eq!(Some(counts.sum()), found["differing"].as_u64(), "{different}");
    assert!(differences.clone().count() > 3, "{different}");
    assert!(
        causes.iter().all(|cause| cause["first"]["a"].is_u64() || cause["first"]["b"].is_u64())
    );
    let text = process::run(session.ctl(["diff"]).args([&first.trace.path, &other.trace.path]));
    for cause in causes {
        let function = cause["function"].as_str().expect("a name");
        assert!(text.stdout.contains(function), "{function}: {text}");
    }
}

/// Softpipe rasterizes some pixels otherwise than llvmpipe. The commands are the same, and replays on one driver would be.
#[test]
fn frames_that_two_drivers_drew_are_compared_as_they_were_recorded() {
    let session = Session::new();
    let record = |driver: &str, options: &[&str]| {
        let mut program = offscreen(&programs::app("animation"), [""; 0]);
        program.env("GALLIUM_DRIVER", driver);
        let recording = session.record(&[&["--observe-frames", "1"], options].concat(), &program);
        recording.run.clone().ok();
        recording
    };
    let with_pixels =
        ["llvmpipe", "llvmpipe", "softpipe"].map(|it| record(it, &["--frame-pixels"]));
    let [one, again, other] = &with_pixels;
    let folder = session.path("beside");
    let compare = |a: &Recording, b: &Recording| {
        let options = ["diff", "--json", "--images"];
        process::run(session.ctl(options).arg(&folder).args([&a.trace.path, &b.trace.path]))
    };
    let same = compare(one, again).ok();
    assert_eq!(parsed(&same)["observed_frames"], one.trace.info()["frames"], "{same}");
    assert_eq!(parsed(&same)["frames"], json!([]), "{same}");
    let different = compare(one, other).exited_with(1);
    let found = parsed(&different);
    assert!(found["first"].is_null(), "{different}");
    let frames = found["frames"].as_array().expect("a list");
    assert!(!frames.is_empty(), "{different}");
    for frame in frames {
        assert_eq!(frame["from"], "recording", "{frame}");
        assert!(frame["pixels"]["pixels"].as_u64() > Some(0), "{frame}");
        let name = format!("{}.png", frame["name"].as_str().expect("a name"));
        let file = std::fs::File::open(folder.join(&name)).expect("a picture of each");
        let decoder = png::Decoder::new(std::io::BufReader::new(file));
        let info = decoder.read_info().expect("a PNG").info().clone();
        // Three pictures of 96 x 64 with gaps.
        assert_eq!((info.width, info.height), (3 * 96 + 2 * 8, 64), "{name}");
    }
    let mut diff = session.ctl(["diff", "--images"]);
    let text = process::run(diff.arg(&folder).args([&one.trace.path, &other.trace.path]));
    let wrote = format!("gapii-ctl: wrote {} files to {}\n", frames.len(), folder.display());
    assert_eq!(text.stderr, wrote, "{text}");
    // The programs read the pixels, too.
    let causes = found["causes"].as_array().expect("a list");
    let ways: Vec<_> = causes.iter().map(|cause| (&cause["function"], &cause["way"])).collect();
    assert_eq!(ways, [(&json!("glReadPixels"), &json!("answered"))], "{different}");

    // Hashes tell which frames differ, and not how.
    let hashes = record("softpipe", &[]);
    let different = compare(one, &hashes).exited_with(1);
    let by_hash = parsed(&different);
    let by_hash = by_hash["frames"].as_array().expect("a list");
    assert_eq!(by_hash.len(), frames.len(), "{different}");
    assert!(by_hash.iter().all(|frame| frame["hashes"].is_array()), "{different}");
}

/// The identifiers that the X server gives to a program's window depend on the programs before.
#[test]
fn two_runs_of_a_program_in_a_window_are_the_same() {
    let (display, session) = (Display::start(), Session::new());
    let record = || {
        let words = ["glmark2-es2", "-s", "200x200", "-b", "clear:duration=20.0"];
        let recording = session.record(&["--frames", "4", "--quit"], &display.command(&words));
        recording.run.clone().ok();
        recording
    };
    let first = record();
    let _client = display.client();
    let second = record();
    let window = |recording: &Recording| {
        let commands = recording.trace.commands();
        let made = commands.iter().find(|command| command.name.contains("CreateWindowSurface"));
        format!("{:?}", made.expect("a window").args)
    };
    assert_ne!(window(&first), window(&second), "the test needs other identifiers");
    let mut diff = session.ctl(["diff", "--json"]);
    let found = process::run(diff.args([&first.trace.path, &second.trace.path])).ok();
    assert_eq!(parsed(&found)["differing"], 0, "{found}");
    // The window system determined the window's size, and the driver told it.
    let surfaces = first.trace.ask("state", &["--object", "surface"]).ok().stdout;
    let size = ["kind: Window", "width: 200", "height: 200"];
    assert!(size.iter().all(|line| surfaces.contains(line)), "{surfaces}");
}

#[test]
fn problems_of_a_program_are_those_that_it_saw() {
    let (_session, recording) = record("bad_enums");
    let answer = parsed(&recording.trace.ask("problems", &["--json"]).ok());
    let problems = answer["problems"].as_array().expect("a list");
    let asked = recording.trace.commands();
    let errors = asked.iter().filter(|it| it.name == "glGetError" && it.result != "GL_NO_ERROR");
    let told = problems.iter().filter(|it| it["kind"] == "api_error");
    let told: u64 = told.map(|it| it["count"].as_u64().expect("a count")).sum();
    assert!(told > 10, "{answer:#}");
    assert_eq!(told, errors.count() as u64, "{answer:#}");
    // The program makes and uses its objects as it should.
    for kind in ["leak", "failed_build", "incomplete_framebuffer", "missing"] {
        assert!(problems.iter().all(|it| it["kind"] != kind), "{answer:#}");
    }
}

//! Replay for programs: digests of frames, loops, times, lists of traces, and programs as files. All play one recording.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use gapii_tests::gapii::{Session, Trace};
use gapii_tests::loading::offscreen;
use gapii_tests::process::{Finished, run};
use gapii_tests::programs::program;
use gapii_tests::replays::{Recorded, record_app_once, replay};
use serde_json::Value;

fn recorded() -> (Session, Trace) {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let Recorded { trace, .. } = record_app_once(&session, "animation", &[]).expect("a recording");
    (session, trace)
}

/// `gapii-ctl NAME`, without a display.
fn ctl(session: &Session, words: &[&str]) -> Process {
    let mut command = session.ctl(words);
    gapii_tests::display::surfaceless(&mut command);
    command
}

fn answer(finished: Finished) -> Value {
    let finished = finished.ok();
    gapii_test_json::value(&finished.stdout).expect("an answer")
}

/// The digest of a PNG's pixels, computed as docs/replay.md says.
fn digest(width: u32, height: u32, rgba: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&width.to_le_bytes());
    hasher.update(&height.to_le_bytes());
    hasher.update(rgba);
    hasher.finalize().to_string()
}

/// Size and RGBA pixels of a PNG, rows from the top.
fn pixels(path: &Path) -> (u32, u32, Vec<u8>) {
    let file = fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut decoder = png::Decoder::new(std::io::BufReader::new(file));
    decoder.set_transformations(png::Transformations::ALPHA);
    let mut reader = decoder.read_info().expect("a PNG");
    let mut rgba = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut rgba).expect("a whole PNG");
    (info.width, info.height, rgba)
}

fn write_pixels(path: &Path, (width, height, rgba): (u32, u32, &[u8])) {
    let mut encoder = png::Encoder::new(fs::File::create(path).expect("a file"), width, height);
    encoder.set_color(png::ColorType::Rgba);
    let mut writer = encoder.write_header().expect("a header");
    writer.write_image_data(rgba).expect("pixels");
}

#[test]
fn rounds_of_a_trace_have_equal_digests_and_each_frame_has_its_times() {
    let (session, trace) = recorded();
    let last = session.path("last.png");
    let options = ["--strict", "--json", "--loop", "5", "--checksum", "--last-frame"];
    let mut command = replay(&session, &trace.path, &options);
    let report = answer(run(command.arg("--snapshot-last").arg(&last)));
    let checksums = report["checksums"].as_array().expect("a list");
    let rounds: Vec<_> = checksums.iter().map(|it| it["round"].as_u64()).collect();
    assert_eq!(rounds, [0, 1, 2, 3, 4].map(Some));
    let (width, height, rgba) = pixels(&last);
    let expected = digest(width, height, &rgba);
    assert!(checksums.iter().all(|it| it["blake3"] == *expected), "{checksums:?}");
    let frames = report["frames"].as_u64().expect("a number");
    assert!(checksums.iter().all(|it| it["frame"] == frames - 1), "{checksums:?}");

    // The lines for people have the digests of all frames, and the last one is the same.
    let lines = run(&mut replay(&session, &trace.path, &["--checksum"])).ok().stdout;
    let lines: Vec<&str> = lines.lines().filter(|line| line.starts_with("frame ")).collect();
    assert_eq!(lines.len() as u64, frames);
    let line = format!("frame {} {width}x{height} {expected}", frames - 1);
    assert_eq!(lines.last(), Some(&line.as_str()));
    let mut digests: Vec<_> = lines.iter().map(|line| line.rsplit(' ').next()).collect();
    digests.sort_unstable();
    digests.dedup();
    assert!(digests.len() > 1, "the frames are equal: {lines:?}");

    let options = ["--benchmark", "--loop", "2", "--json"];
    let report = answer(run(&mut replay(&session, &trace.path, &options)));
    let times = report["frame_times"].as_array().expect("a list");
    assert_eq!(times.len() as u64, 2 * frames);
    let is_measured = |time: &Value, key: &str| time[key].as_u64().is_some_and(|ns| ns > 0);
    assert!(times.iter().all(|time| is_measured(time, "cpu_ns")), "{times:?}");
    // Mesa's llvmpipe has timestamps.
    assert!(times.iter().all(|time| is_measured(time, "gpu_ns")), "{times:?}");
}

#[test]
fn last_frame_is_repeated_on_what_it_has_left() {
    let (session, trace) = recorded();
    let once =
        answer(run(&mut replay(&session, &trace.path, &["--strict", "--json", "--checksum"])));
    let options = ["--strict", "--json", "--checksum", "--loop-last", "4"];
    let report = answer(run(&mut replay(&session, &trace.path, &options)));
    let list = |report: &Value, key: &str| report[key].as_array().cloned().expect("a list");
    let (all, repeated) = (list(&once, "checksums"), list(&report, "checksums"));
    let last = all.last().expect("a frame");
    assert_eq!(repeated[..all.len()], all);
    let rest: Vec<_> = repeated[all.len()..].iter().map(|it| it["round"].as_u64()).collect();
    assert_eq!(rest, [1, 2, 3].map(Some));
    assert!(
        repeated[all.len()..]
            .iter()
            .all(|it| { (&it["frame"], &it["blake3"]) == (&last["frame"], &last["blake3"]) })
    );
    let commands = trace.commands();
    let of_last = commands.iter().filter(|it| last["frame"] == it.frame && it.seq.is_some());
    let played = once["played"].as_u64().expect("a number") + 3 * of_last.count() as u64;
    assert_eq!(report["played"], played);

    let lines = ["--benchmark", "--last-frame", "--loop-last", "3"];
    let lines = run(&mut replay(&session, &trace.path, &lines)).ok().stdout;
    let lines: Vec<&str> = lines.lines().filter(|line| line.contains("cpu_ns=")).collect();
    let begin = |round: u64| format!("round {round} frame {} cpu_ns=", last["frame"]);
    assert!(lines.len() == 3 && (0..).zip(&lines).all(|(round, it)| it.starts_with(&begin(round))));

    // Each frame of this program adds to what the one before has drawn.
    let adding = session.record(&[], &offscreen(&program("adds_up"), [""; 0]));
    let options = ["--checksum", "--last-frame", "--loop-last", "3"];
    let differs = run(&mut replay(&session, &adding.trace.path, &options)).exited_with(1);
    assert!(differs.stderr.contains("frame 3 differs between round 0 and round 1"), "{differs}");
    run(&mut replay(&session, &adding.trace.path, &["--checksum", "--loop", "2"])).ok();
}

/// A list of the trace, with a folder of pictures.
fn list_of(session: &Session, trace: &Trace) -> PathBuf {
    let list = session.path("traces.toml");
    let text =
        format!("pictures = \"expected\" # ours\n[[trace]]\npath = \"{}\"\n", trace.path.display());
    fs::write(&list, text).expect("the session's folder is writable");
    list
}

#[test]
fn check_finds_a_changed_pixel_and_names_frame_and_picture() {
    let (session, trace) = recorded();
    let list = list_of(&session, &trace);
    let name = list.to_str().expect("a plain name");
    let unknown = run(&mut ctl(&session, &["check", name])).exited_with(1);
    assert!(unknown.stdout.contains("no driver for the renderer"), "{unknown}");
    run(&mut ctl(&session, &["check", name, "--update"])).ok();
    let passed = run(&mut ctl(&session, &["check", name])).ok();
    assert!(passed.stdout.ends_with("1 of 1 trace passed\n"), "{passed}");

    // One pixel of what is expected changes.
    let text = fs::read_to_string(&list).expect("the list");
    assert!(text.starts_with("pictures = \"expected\" # ours\n"), "{text}");
    let (_, rest) = text.split_once("frames = { ").expect("digests");
    let (frame, rest) = rest.split_once(" = \"").expect("a digest");
    let expected = &rest[..64];
    let folder = session.path("expected");
    let (width, height, mut rgba) = pixels(&folder.join(format!("{expected}.png")));
    rgba[0] ^= 1;
    let changed = digest(width, height, &rgba);
    write_pixels(&folder.join(format!("{changed}.png")), (width, height, &rgba));
    fs::write(&list, text.replace(expected, &changed)).expect("the list is ours");

    let [junit, html, images] = ["junit.xml", "page.html", "images"].map(|name| session.path(name));
    let mut command = ctl(&session, &["check", name]);
    command.arg("--junit").arg(&junit).arg("--html").arg(&html).arg("--images").arg(&images);
    let failed = run(&mut command).exited_with(1);
    let drawn = &expected[..12];
    let sentence =
        format!("frame {frame}: expected {}…, drawn {drawn}…; picture: ", &changed[..12]);
    let line = failed.stdout.lines().find(|line| line.contains(&sentence));
    let picture = line.unwrap_or_else(|| panic!("{sentence}: {failed}")).rsplit(' ').next();
    let (width, height, rgba) = pixels(Path::new(picture.expect("a picture")));
    assert_eq!(digest(width, height, &rgba), expected);
    let junit = fs::read_to_string(junit).expect("JUnit's file");
    assert!(junit.contains(r#"tests="1" failures="1" errors="0""#), "{junit}");
    assert!(junit.contains(&format!("frame {frame}: expected")), "{junit}");
    let page = fs::read_to_string(html).expect("the page");
    assert!(page.contains(&format!("frame {frame}: expected, drawn, and where they differ")));
    assert!(page.contains("data:image/png;base64,"));

    let json = run(&mut ctl(&session, &["check", name, "--json"])).exited_with(1);
    let checked = gapii_test_json::value(&json.stdout).expect("an answer");
    assert_eq!(checked["traces"][0]["verdict"], "different");
    assert_eq!(checked["traces"][0]["frames"][0]["expected"], changed);
}

#[test]
fn programs_of_a_trace_are_compiled_by_shader_runner() {
    let (session, trace) = recorded();
    let folder = session.path("programs");
    let mut command = ctl(&session, &["export", "--format", "shader-test", "--json"]);
    let exported = answer(run(command.arg(&trace.path).arg("-o").arg(&folder)));
    assert_eq!(exported["programs"]["files"], 1);
    let files: Vec<PathBuf> =
        fs::read_dir(&folder).expect("the folder").map(|it| it.expect("a file").path()).collect();
    let [file] = &files[..] else { panic!("{files:?}") };
    let text = fs::read_to_string(file).expect("a text");
    assert!(text.starts_with("[require]\nGL ES >= 2.0\nGLSL ES >= 1.00\n\n[vertex shader]\n"));
    let mut command = Process::new(gapii_tests::piglit::folder().join("bin/shader_runner_gles2"));
    command.arg(file).args(["-auto", "-fbo"]).env("PIGLIT_PLATFORM", "surfaceless_egl");
    gapii_tests::display::surfaceless(&mut command);
    let compiled = run(&mut command).ok();
    assert!(compiled.stdout.contains(r#"PIGLIT: {"result": "pass" }"#), "{compiled}");
    // It does compile them.
    fs::write(file, text.replace("void main()", "void main(")).expect("the file is ours");
    let failed = run(&mut command);
    assert!(failed.stdout.contains(r#""fail""#), "{failed}");
}

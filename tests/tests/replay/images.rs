//! Pictures of a replay: they equal the program's frames, and only whole files are written.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use gapii_tests::display::Display;
use gapii_tests::gapii::{Recording, Session, Trace};
use gapii_tests::loading::offscreen;
use gapii_tests::process::{LIMIT, Running, require, run};
use gapii_tests::programs::{app, apps_but, program};
use gapii_tests::replays::{Recorded, record_app_once};
use gapii_tests::turns;
use gapii_tests::wait::until;
use rustix::process::Signal;

/// Size, colour type and samples of a PNG, rows from the top.
fn decoded(path: &Path) -> (u32, u32, png::ColorType, Vec<u8>) {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().expect("a PNG");
    let mut samples = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut samples).expect("a whole PNG");
    (info.width, info.height, info.color_type, samples)
}

/// A PNG's pixels as RGBA.
fn rgba(path: &Path) -> (u32, u32, Vec<u8>) {
    let (width, height, color, samples) = decoded(path);
    let rgba = match color {
        png::ColorType::Rgba => samples,
        png::ColorType::Rgb => {
            samples.chunks_exact(3).flat_map(|rgb| [rgb[0], rgb[1], rgb[2], 255]).collect()
        }
        other => panic!("{}: {other:?}", path.display()),
    };
    (width, height, rgba)
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there").flatten();
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name().into_string().expect("a plain name")).collect();
    names.sort();
    names
}

fn played(session: &Session, name: &str, trace: &Trace, options: &[&str]) -> Process {
    let mut command = session.ctl([name]);
    command.arg(&trace.path).args(options);
    gapii_tests::display::surfaceless(&mut command);
    command
}

fn recorded(session: &Session, program: &Path) -> (Recording, PathBuf) {
    let folder = session.path("native");
    fs::create_dir(&folder).expect("a folder of the session");
    let mut command = offscreen(program, [""; 0]);
    command.env("GAPII_APP_FRAMES", &folder);
    let recording = session.record(&[], &command);
    recording.trace.is_whole("exit");
    (recording, folder)
}

#[test]
fn frames_are_what_the_program_read_back() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    // The other way of two: recorded again, in `apps`.
    for name in turns::taken(apps_but(&[]), 0, 2) {
        let Recorded { trace, frames } = record_app_once(&session, &name, &[]).unwrap();
        trace.is_whole("exit");
        shows_what_was_read_back(&name, &trace, &frames);
    }
    let session = Session::new();
    let (recording, frames) = recorded(&session, &program("bent_swaps"));
    shows_what_was_read_back("bent_swaps", &recording.trace, &frames);
}

/// Plays a trace of the program `name`: its pictures are those that the program wrote to a folder, at least four.
#[track_caller]
fn shows_what_was_read_back(name: &str, trace: &Trace, native: &Path) {
    let session = Session::new();
    let folder = session.path("pictures/of/it");
    let text = folder.to_str().expect("a plain name");
    let options = ["--verify", "--images", text];
    let finished = run(&mut played(&session, "replay", trace, &options));
    assert_eq!(finished.status.code(), Some(0), "{name}: {finished}");
    let expected = files(native);
    assert!(expected.len() >= 4, "{name} has drawn {} frames", expected.len());
    assert_eq!(files(&folder).len(), expected.len(), "{name}");
    for (number, (picture, file)) in (0..).zip(files(&folder).iter().zip(&expected)) {
        assert_eq!(*picture, format!("frame-{number:06}.png"), "{name}");
        let (width, height, pixels) = rgba(&folder.join(picture));
        let native = fs::read(native.join(file)).expect("the program wrote it");
        let rows = native[8..].chunks_exact(4 * width as usize).rev();
        assert_eq!(native[..8], [width.to_le_bytes(), height.to_le_bytes()].concat());
        assert!(rows.flatten().eq(&pixels), "{name}: {picture}");
    }
}

#[test]
fn folder_that_is_there_keeps_what_it_has() {
    let session = Session::new();
    let (recording, _) = recorded(&session, &app("animation"));
    let folder = session.path("there");
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("notes.txt"), "mine").expect("a file");
    fs::write(folder.join("frame-000001.png"), "old").expect("a file");
    let text = folder.to_str().expect("a plain name");
    let options = ["--images", text, "--frames", "1..3", "--opaque"];
    let finished = run(&mut played(&session, "replay", &recording.trace, &options)).ok();
    // The report of the replay is the answer; that files were written is said beside it, as by all commands.
    assert!(finished.stdout.starts_with("played "), "{finished}");
    let said = format!("gapii-ctl: wrote 2 files to {text}; the folder also has 1 older file\n");
    assert_eq!(finished.stderr, said);
    assert_eq!(files(&folder), ["frame-000001.png", "frame-000002.png", "notes.txt"]);
    let (.., color, _) = decoded(&folder.join("frame-000001.png"));
    assert_eq!(color, png::ColorType::Rgb);
}

/// A limit on the size of files stands for a disk that is full.
#[test]
fn file_that_cannot_be_written_ends_it_with_a_sentence_and_leaves_nothing() {
    let session = Session::new();
    let (recording, _) = recorded(&session, &app("animation"));
    let folder = session.path("full");
    let text = folder.to_str().expect("a plain name");
    let command = played(&session, "replay", &recording.trace, &["--images", text]);
    let mut limited = Process::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""]);
    limited.arg(command.get_program()).args(command.get_args());
    gapii_tests::display::surfaceless(&mut limited);
    let finished = run(&mut limited);
    assert_eq!(finished.shell_status(), 3, "{finished}");
    assert!(finished.stderr.contains("can't write"), "{finished}");
    assert_eq!(files(&folder), [""; 0]);
}

#[test]
fn interrupted_replay_leaves_whole_pictures() {
    require("es2gears_x11");
    let session = Session::new();
    let display = Display::start();
    let gears = display.command(&["es2gears_x11"]);
    let recording = session.record(&["--frames", "800", "--quit"], &gears);
    let folder = session.path("half");
    fs::create_dir(&folder).expect("a folder");
    let text = folder.to_str().expect("a plain name");
    let running =
        Running::start(&mut played(&session, "replay", &recording.trace, &["--images", text]));
    let has_begun = || files(&folder).iter().any(|name| name.ends_with(".png")).then_some(());
    until("the first picture", LIMIT, has_begun);
    running.signal(Signal::INT);
    let finished = running.finish(LIMIT);
    assert_eq!(finished.shell_status(), 1, "{finished}");
    assert!(finished.stderr.contains("as asked"), "{finished}");
    let written = files(&folder);
    assert!(written.len() < 800, "it was not interrupted");
    for (number, name) in (0..).zip(&written) {
        assert_eq!(*name, format!("frame-{number:06}.png"));
        assert_eq!(rgba(&folder.join(name)).0, 300);
    }
}

#[test]
fn contact_sheet_shows_the_frames_and_is_whole() {
    let session = Session::new();
    let (recording, native) = recorded(&session, &app("animation"));
    let sheet = session.path("sheet.png");
    let text = sheet.to_str().expect("a plain name");
    // A link in the sheet's place is replaced, and not followed.
    let victim = session.path("victim");
    fs::write(&victim, "precious").expect("a file");
    std::os::unix::fs::symlink(&victim, &sheet).expect("a link");
    let options = ["--force", "-o", text, "--count", "4", "--columns", "2", "--width", "96"];
    let finished = run(&mut played(&session, "montage", &recording.trace, &options)).ok();
    assert_eq!(fs::read_to_string(&victim).expect("a file"), "precious");
    assert!(sheet.symlink_metadata().is_ok_and(|found| found.is_file()));
    assert_eq!(finished.stdout, "");
    let count = files(&native).len();
    assert!(finished.stderr.contains(&format!("shows 4 frames of {count}")), "{finished}");
    let (width, _, pixels) = rgba(&sheet);
    assert_eq!(width, 8 + 2 * (96 + 8));
    // The first frame in its own size, 8 pixels from the corner.
    let first = fs::read(native.join(&files(&native)[0])).expect("the program wrote it");
    let rows = first[8..].chunks_exact(4 * 96).rev();
    for (y, row) in rows.enumerate() {
        let at = 4 * ((y + 8) * width as usize + 8);
        let shown = pixels[at..at + 4 * 96].chunks_exact(4).map(|pixel| &pixel[..3]);
        assert!(shown.eq(row.chunks_exact(4).map(|pixel| &pixel[..3])), "row {y}");
    }
}

#[test]
fn program_that_never_swaps_has_no_sheet() {
    let session = Session::new();
    let (recording, _) = recorded(&session, &program("attachments"));
    let sheet = session.path("sheet.png");
    let text = sheet.to_str().expect("a plain name");
    let finished = run(&mut played(&session, "montage", &recording.trace, &["-o", text]));
    assert_eq!(finished.shell_status(), 1, "{finished}");
    assert!(finished.stderr.contains("has no frame"), "{finished}");
    assert!(!sheet.exists());
}

/// Numbers of the commands that end the stages of `attachments.c`.
fn stages(trace: &Trace) -> Vec<u64> {
    let commands = trace.commands();
    let ends = commands.iter().filter(|command| command.name == "glFlush");
    ends.filter_map(|command| command.seq).collect()
}

struct At {
    _session: Session,
    folder: PathBuf,
    seq: u64,
}

impl At {
    fn stage(number: usize, options: &[&str]) -> At {
        let session = Session::new();
        let (recording, _) = recorded(&session, &program("attachments"));
        let seq = stages(&recording.trace)[number];
        let folder = session.path("at");
        let (text, seq_text) = (folder.to_str().expect("a plain name"), seq.to_string());
        let all = [&["--images", text, "--at", &seq_text][..], options].concat();
        let finished = run(&mut played(&session, "replay", &recording.trace, &all));
        assert_eq!(finished.shell_status(), 0, "{finished}");
        At { _session: session, folder, seq }
    }

    fn path(&self, what: &str) -> PathBuf {
        self.folder.join(format!("at-{:06}-{what}.png", self.seq))
    }
}

/// Returns true if a pixel of an image of 96 × 64 is in the cleared rectangle.
fn is_in_rectangle(pixel: usize) -> bool {
    let (x, y) = (pixel % 96, 63 - pixel / 96);
    (8..24).contains(&x) && (4..12).contains(&y)
}

#[test]
fn default_framebuffer_has_colour_depth_and_stencil() {
    let at = At::stage(0, &["--depth", "--stencil"]);
    assert_eq!(files(&at.folder).len(), 3);
    let (width, height, pixels) = rgba(&at.path("color0"));
    assert_eq!((width, height), (96, 64));
    for (number, pixel) in pixels.chunks_exact(4).enumerate() {
        let red = if is_in_rectangle(number) { 255 } else { 0 };
        assert_eq!(pixel, [red, 0, 255, 255], "pixel {number}");
    }
    let (.., color, depths) = decoded(&at.path("depth"));
    assert_eq!((color, depths.len()), (png::ColorType::Grayscale, 2 * 96 * 64));
    for (number, depth) in depths.chunks_exact(2).enumerate() {
        let depth = u16::from_be_bytes([depth[0], depth[1]]);
        let expected = if is_in_rectangle(number) { 16384 } else { 65535 };
        assert!(depth.abs_diff(expected) <= 1, "pixel {number}: {depth}");
    }
    let (.., stencils) = decoded(&at.path("stencil"));
    for (number, stencil) in stencils.iter().enumerate() {
        assert_eq!(*stencil, if is_in_rectangle(number) { 5 } else { 0 }, "pixel {number}");
    }
}

/// The framebuffer that a clear changes, before and after it.
#[test]
fn picture_before_a_command_is_of_its_framebuffer_without_what_it_draws() {
    let session = Session::new();
    let (recording, _) = recorded(&session, &program("attachments"));
    let commands = recording.trace.commands();
    let clears = commands.iter().filter(|command| command.name == "glClear");
    let clears: Vec<u64> = clears.filter_map(|command| command.seq).collect();
    // The second one clears the rectangle.
    let seq = clears[1].to_string();
    let picture = |name: &str, option: &[&str]| {
        let folder = session.path(name);
        let text = folder.to_str().expect("a plain name");
        let all = [&["--images", text, "--at", &seq][..], option].concat();
        run(&mut played(&session, "replay", &recording.trace, &all)).ok();
        rgba(&folder.join(format!("at-{:06}-color0.png", clears[1]))).2
    };
    let (before, after) = (picture("before", &["--before"]), picture("after", &[]));
    for (number, (old, new)) in before.chunks_exact(4).zip(after.chunks_exact(4)).enumerate() {
        assert_eq!(old, [0, 0, 255, 255], "pixel {number}");
        assert_eq!(old != new, is_in_rectangle(number), "pixel {number}");
    }
}

#[test]
fn deep_surface_has_its_depth_and_no_picture_of_the_stencil_that_it_lacks() {
    let session = Session::new();
    let (recording, _) = recorded(&session, &program("deep_surface"));
    let seq = stages(&recording.trace)[0].to_string();
    let folder = session.path("at");
    let text = folder.to_str().expect("a plain name");
    let options = ["--images", text, "--at", &seq, "--depth", "--stencil"];
    let finished = run(&mut played(&session, "replay", &recording.trace, &options)).ok();
    let at = At { _session: session, folder, seq: seq.parse().expect("a number") };
    assert!(!at.path("stencil").exists());
    let note = "-stencil.png: the surface has no such buffer";
    assert!(finished.stdout.contains(note) || finished.stderr.contains(note), "{finished}");
    let (.., depths) = decoded(&at.path("depth"));
    for (number, depth) in depths.chunks_exact(2).enumerate() {
        let depth = u16::from_be_bytes([depth[0], depth[1]]);
        let expected = if is_in_rectangle(number) { 16384 } else { 65535 };
        assert!(depth.abs_diff(expected) <= 1, "pixel {number}: {depth}");
    }
}

#[test]
fn framebuffer_object_has_all_its_attachments() {
    let at = At::stage(1, &["--depth"]);
    assert_eq!(files(&at.folder).len(), 3);
    let (width, height, pixels) = rgba(&at.path("color0"));
    assert_eq!((width, height), (40, 20));
    assert!(pixels.chunks_exact(4).all(|pixel| pixel == [255, 128, 0, 255]), "{pixels:?}");
    let (.., pixels) = rgba(&at.path("color1"));
    assert!(pixels.chunks_exact(4).all(|pixel| pixel[..3] == [77, 0, 0]), "{pixels:?}");
    let (.., depths) = decoded(&at.path("depth"));
    let depths = depths.chunks_exact(2).map(|depth| u16::from_be_bytes([depth[0], depth[1]]));
    assert!(depths.clone().all(|depth| depth.abs_diff(32768) <= 1), "{:?}", depths.take(4));
}

#[test]
fn multisampled_framebuffer_is_resolved() {
    let at = At::stage(2, &[]);
    let (width, height, pixels) = rgba(&at.path("color0"));
    assert_eq!((width, height), (24, 16));
    assert!(pixels.chunks_exact(4).all(|pixel| pixel == [0, 255, 0, 255]), "{pixels:?}");
}

#[test]
fn resources_are_files_by_their_names() {
    let session = Session::new();
    let (recording, _) = recorded(&session, &program("attachments"));
    let seq = stages(&recording.trace)[3].to_string();
    let folder = session.path("resources");
    let text = folder.to_str().expect("a plain name");
    let options = ["--resources", text, "--at", &seq];
    let finished = run(&mut played(&session, "dump", &recording.trace, &options)).ok();
    assert_eq!(finished.stdout, "");
    assert_eq!(finished.stderr, format!("gapii-ctl: wrote 6 files to {text}\n"));
    std::fs::write(folder.join("texture-99.png"), "of another command").expect("a file");
    let again = run(&mut played(&session, "dump", &recording.trace, &options)).ok();
    let older = format!("gapii-ctl: wrote 6 files to {text}; the folder also has 1 older file\n");
    assert_eq!(again.stderr, older);
    std::fs::remove_file(folder.join("texture-99.png")).expect("it is there");
    let all = files(&folder);
    let expected = [
        "buffer-1.bin",
        "shader-1.frag",
        "texture-1.png",
        "texture-2.png",
        "texture-3.png",
        "texture-4.png",
    ];
    assert_eq!(all, expected);
    let (width, height, pixels) = rgba(&folder.join("texture-3.png"));
    assert_eq!((width, height), (2, 2));
    let rows = [[90, 100, 110, 120], [130, 140, 150, 255], [10, 20, 30, 40], [50, 60, 70, 80]];
    assert_eq!(pixels, rows.concat());
    let (.., pixels) = rgba(&folder.join("texture-4.png"));
    assert_eq!(pixels, (1..5).flat_map(|grey| [grey, grey, grey, 255]).collect::<Vec<u8>>());
    let source = fs::read_to_string(folder.join("shader-1.frag")).expect("text");
    assert_eq!(source, "void main() { }\n");
    let bytes = fs::read(folder.join("buffer-1.bin")).expect("bytes");
    let sum = bytes
        .iter()
        .fold(2_166_136_261u32, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(16_777_619));
    assert!(recording.run.stdout.contains(&format!("buffer {sum:08x}")), "{}", recording.run);
}

#[test]
fn frames_of_several_processes_are_told_apart() {
    let session = Session::new();
    let program = app("animation");
    let script = format!("{0} && {0}", program.display());
    let recording = session.record(&[], &offscreen(Path::new("sh"), ["-c", &script]));
    recording.run.clone().ok();
    let folder = session.path("frames");
    let text = folder.to_str().expect("a plain name");
    // The first is behind its frame 1 before the second has one.
    let options = ["--images", text, "--frames", "0..2"];
    run(&mut played(&session, "replay", &recording.trace, &options)).ok();
    let expected = ["frame-000000", "frame-000001"].map(|name| format!("{name}.png"));
    let of_second = expected.clone().map(|name| format!("process-1-{name}"));
    assert_eq!(files(&folder), [expected, of_second].concat());
    let sheet = session.path("sheet.png");
    let text = sheet.to_str().expect("a plain name");
    let options = ["-o", text, "--count", "4"];
    let finished = run(&mut played(&session, "montage", &recording.trace, &options)).ok();
    assert!(finished.stderr.contains("shows 4 frames of"), "{finished}");
    let key = finished.stderr.lines().any(|line| line.contains("P0 is") && line.contains("P1 is"));
    assert!(key, "{finished}");
}

#[test]
fn frame_or_command_that_there_is_not_is_said() {
    let session = Session::new();
    let (recording, _) = recorded(&session, &app("animation"));
    let folder = session.path("none");
    let text = folder.to_str().expect("a plain name");
    let check = |name: &str, options: &[&str], words: &str| {
        let finished = run(&mut played(&session, name, &recording.trace, options));
        assert_eq!(finished.shell_status(), 1, "{finished}");
        assert!(finished.stderr.contains(words), "{finished}");
    };
    check("replay", &["--frames", "100000..100001"], "has no such frame");
    check("dump", &["--frames", "100000..100001"], "has no such frame");
    check("replay", &["--images", text, "--at", "100000"], "has no command 100000");
    check("dump", &["--resources", text, "--at", "100000"], "has no command 100000");
    check("replay", &["--images", text, "--at", "0"], "no picture of command 0 could be taken");
    assert!(!folder.exists() || files(&folder).is_empty());
}

#[test]
fn report_has_thumbnails_of_the_frames() {
    let session = Session::new();
    let (recording, native) = recorded(&session, &app("animation"));
    let file = session.path("report.html");
    let text = file.to_str().expect("a plain name");
    let options = ["-o", text, "--json"];
    let finished = run(&mut played(&session, "report", &recording.trace, &options)).ok();
    let answer: serde_json::Value = serde_json::from_str(&finished.stdout).expect("JSON");
    let count = files(&native).len();
    assert_eq!(answer["without_thumbnails"], serde_json::Value::Null, "{answer:#}");
    assert_eq!(answer["thumbnails"], count, "{answer:#}");
    let page = fs::read_to_string(&file).expect("the report");
    assert!(page.contains("llvmpipe"), "the driver is not in {text}");
    // Pictures in the order of the frames, in their own size, which is less than that of a thumbnail.
    let pictures = page.split("<img src=\"data:image/png;base64,").skip(1);
    let numbers: Vec<_> = pictures
        .map(|picture| {
            assert!(picture.contains("width=\"96\""), "{picture}");
            let (_, number) = picture.split_once("alt=\"frame ").expect("a number");
            number.split('"').next().unwrap_or_default().parse::<usize>().expect("a number")
        })
        .collect();
    assert_eq!(numbers, Vec::from_iter(0..count));
    // A program that never swaps has none, and its report says so.
    let session = Session::new();
    let (recording, _) = recorded(&session, &program("attachments"));
    let options = ["-o", text, "--force"];
    let finished = run(&mut played(&session, "report", &recording.trace, &options)).ok();
    assert!(finished.stderr.contains("no thumbnails: the trace has no frame"), "{finished}");
}

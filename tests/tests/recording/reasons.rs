//! A capture without a command or without a frame: `run` and `start` name the reason, in words and in JSON.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use gapii_tests::display::surfaceless;
use gapii_tests::fake_driver::{self, Page};
use gapii_tests::gapii::{Session, append};
use gapii_tests::level_zero::on_null_driver;
use gapii_tests::process::{Finished, LIMIT, Running, run, send_signal};
use gapii_tests::programs::{level_zero, program, static_waits};
use gapii_tests::set_uid::{be_nobody, folder_of_nobody, public_folder};
use gapii_tests::wait::until;
use rustix::fs::XattrFlags;
use rustix::process::Signal;
use serde_json::Value;

/// A program with its words.
fn words(words: &[&str]) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    surfaceless(&mut command);
    command
}

/// `without_frames` on the fake driver.
fn without_frames(arguments: &[&str]) -> Command {
    let mut command = Command::new(program("without_frames"));
    command.args(arguments);
    surfaceless(&mut command);
    fake_driver::use_in(&mut command, None);
    command
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain name")
}

/// The answer of `run --json` names this reason; the message has these words, and a command.
#[track_caller]
fn gives(run: &Finished, reason: &str, says: &[&str]) {
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {run}"));
    let capture = answer.get("capture").unwrap_or(&answer);
    assert_eq!(capture["empty"], reason, "{run}");
    let said = run.stderr.replace("\\\"", "\"");
    for word in says.iter().chain(&["`"]) {
        assert!(said.contains(word), "{reason}: {word:?} is not said: {run}");
    }
    let error = &capture["error"];
    if capture["summary"]["commands"] == 0 {
        assert_eq!(error["reason"], reason, "{run}");
        assert_ne!(error["try"], Value::Array(Vec::new()), "{run}");
    }
}

/// Records a program until it waits.
#[track_caller]
fn check(session: &Session, program: &Command, reason: &str, says: &[&str]) {
    let mut run = session.run_command(&["--json"], &session.path("trace.gapii"), program);
    gives(&until_it_waits(&mut run), reason, says);
}

/// Starts a command, and ends it when its program says that it waits.
fn until_it_waits(command: &mut Command) -> Finished {
    let running = Running::start(command);
    running.wait_for_words("waits\n", LIMIT);
    running.signal(Signal::TERM);
    running.finish(LIMIT)
}

/// Records a program until it ends.
#[track_caller]
fn check_ending(session: &Session, program: &Command, reason: &str, says: &[&str]) {
    gives(&session.record(&["--json"], program).run, reason, says);
}

#[test]
fn program_that_the_shim_cannot_be_loaded_into_is_named() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let linked_statically = static_waits();
    let waits = program("waits");
    let (linked_statically, waits) = (text(&linked_statically), text(&waits));
    check(
        &session,
        &words(&[linked_statically]),
        "static_program",
        &[linked_statically, "gapii-static"],
    );
    // In a process of a script, whose own interpreter has the shim.
    let script = format!("trap 'kill $!' TERM; {linked_statically} & wait");
    check(&session, &words(&["sh", "-c", &script]), "static_program", &[linked_statically]);
    check(&session, &words(&["env", "-i", waits]), "cleared_environment", &[waits]);
    let script = format!("trap 'kill $!' TERM; env -i {waits} & wait");
    check(&session, &words(&["sh", "-c", &script]), "cleared_environment", &[waits]);
    let old = session.path("old");
    fs::write(&old, EXITS_WITH_3_ON_I386).expect("a file");
    fs::set_permissions(&old, Permissions::from_mode(0o755)).expect("it is ours");
    let run = session.record(&["--json"], &words(&[text(&old)])).run;
    // A processor or a kernel that knows no such programs does not start it.
    match run.status.code() {
        Some(126) => assert!(run.stderr.contains("\"reason\":\"other_word_size\""), "{run}"),
        _ => gives(&run, "other_word_size", &["is a 32-bit program"]),
    }
}

/// An ELF file of 32 bits for i386: a header, a program header, and `mov $1, %eax; mov $3, %ebx; int $0x80`.
const EXITS_WITH_3_ON_I386: &[u8] = b"\
    \x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x03\0\x01\0\0\0\x54\x80\x04\x08\x34\0\0\0\0\0\0\0\0\0\0\0\x34\0\x20\0\x01\0\
    \0\0\0\0\0\0\
    \x01\0\0\0\0\0\0\0\0\x80\x04\x08\0\x80\x04\x08\x60\0\0\0\x60\0\0\0\x05\0\0\0\0\x10\0\0\
    \xb8\x01\0\0\0\xbb\x03\0\0\0\xcd\x80";

#[test]
#[ignore = "`cargo xtask test --target aarch64` names a folder with a program for arm64, and has it run"]
fn program_for_another_processor_is_named() {
    let folder = std::env::var_os("GAPII_TEST_EXCHANGED").expect("the command names it");
    let foreign = Path::new(&folder).join("program");
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let says = [text(&foreign), "for another processor", "file"];
    check(&session, &words(&[text(&foreign)]), "other_processor", &says);
}

#[test]
fn program_with_more_rights_than_its_user_is_named() {
    let (folder, theirs) = (public_folder(), folder_of_nobody());
    let session = Session::new();
    let copy = |name: &str, mode| {
        let path = folder.path().join(name);
        fs::copy(program("waits"), &path).expect("a copy");
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("it is ours");
        path
    };
    let check = |program: &Path, reason, says| {
        let mut command = session.ctl(["run", "--json", "-o"]);
        command.arg(theirs.path().join(reason)).env("XDG_RUNTIME_DIR", theirs.path());
        be_nobody(&mut command);
        append(&mut command, &words(&[text(program)]));
        gives(&until_it_waits(&mut command), reason, &[says]);
    };
    check(&copy("set_uid", 0o4755), "set_id", "is a set-uid or set-gid program");
    let capable = copy("capable", 0o755);
    // Version 2 of the attribute, effective, with CAP_SYS_NICE (23) as permitted.
    let mut capabilities = [0; 20];
    capabilities[..4].copy_from_slice(&0x0200_0001_u32.to_le_bytes());
    capabilities[4..8].copy_from_slice(&(1_u32 << 23).to_le_bytes());
    rustix::fs::setxattr(&capable, "security.capability", &capabilities, XattrFlags::empty())
        .expect("root may, on this file system");
    check(&capable, "file_capabilities", "has file capabilities");
}

#[test]
fn sandbox_that_hides_the_shim_or_the_daemon_is_named() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let waits = program("waits");
    let waits = text(&waits);
    let hidden = session.path("gapii");
    let socket = hidden.join("app.sock");
    let sandboxed = |options: &[&str]| {
        let begin = ["bwrap", "--dev-bind", "/", "/", "--unshare-pid", "--die-with-parent"];
        words(&[&begin[..], options, &[waits]].concat())
    };
    let says = [waits, "GAPII_SOCKET"];
    check(&session, &sandboxed(&["--clearenv"]), "sandbox_environment", &says);
    let says = [waits, text(&socket), "--bind"];
    check(&session, &sandboxed(&["--tmpfs", text(&hidden)]), "sandbox_socket", &says);
    let shim = gapii_tests::artifacts::artifact("libgapii.so");
    let nothing = session.path("nothing");
    fs::write(&nothing, "").expect("a file");
    let options = ["--ro-bind", text(&nothing), text(&shim)];
    check(&session, &sandboxed(&options), "sandbox_shim", &[waits, text(&shim), "--ro-bind"]);
}

#[test]
fn api_that_a_program_uses_instead_is_named() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let load = |library: &str, reason, says: &[&str]| {
        let program = words(&[text(&program("without_frames")), "load", library]);
        check(&session, &program, reason, says);
    };
    load("libvulkan.so.1", "vulkan", &["libvulkan.so.1", "GSK_RENDERER=gl"]);
    let bundled = session.path("libGLESv2.so");
    let driver = gapii_tests::programs::fake_driver(gapii_tests::programs::Driver::Bare);
    fs::copy(driver.join("libGLESv2.so.2"), &bundled).expect("a copy");
    load(text(&bundled), "other_library", &[text(&bundled), "--use-angle"]);
    let waits = program("waits");
    check(&session, &words(&[text(&waits)]), "no_graphics", &[text(&waits)]);
    let mut displayless = words(&[text(&waits)]);
    displayless.env_remove("EGL_PLATFORM").env("DISPLAY", ":7777").env_remove("WAYLAND_DISPLAY");
    check(&session, &displayless, "no_display", &["DISPLAY=:7777 does not answer"]);
}

#[test]
fn program_that_ends_before_its_first_command_is_told_how() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let says = ["with status 3 before its first command"];
    check_ending(&session, &without_frames(&["exit", "3"]), "ended_before_command", &says);
    let says = ["by signal 6 (SIGABRT) before its first command"];
    check_ending(&session, &without_frames(&["abort"]), "crashed_before_command", &says);
    // Other tests run the same program.
    let single = session.path("single");
    fs::copy(program("without_frames"), &single).expect("a copy");
    let running = Running::start(&mut words(&[text(&single), "load"]));
    running.wait_for_words("waits\n", LIMIT);
    let says = format!("handed over to process {}", running.pid());
    check_ending(&session, &words(&[text(&single), "exit", "0"]), "handed_over", &[&says]);
    running.signal(Signal::TERM);
    running.finish(LIMIT);
    let mut draw = without_frames(&["draw"]);
    draw.env("FAKE_DRIVER_CRASH_AT", "1");
    check_ending(&session, &draw, "crashed_in_command", &["(SIGSEGV) inside glDrawArrays"]);
    let mut finish = without_frames(&["finish"]);
    let page = Page::new(&session.path("page"));
    fake_driver::use_in(finish.env("FAKE_DRIVER_SLEEP", "60000000"), Some(&session.path("page")));
    let mut command = session.run_command(&["--json"], &session.path("trace.gapii"), &finish);
    let running = Running::start(&mut command);
    let is_inside = |thread: &fake_driver::Thread| thread.current.as_deref() == Some("glFinish");
    until("the driver to be in glFinish", LIMIT, || {
        page.threads().iter().any(is_inside).then_some(())
    });
    send_signal(page.pid().expect("it runs"), Signal::TERM);
    let says = ["the program's glFinish had not returned"];
    gives(&running.finish(LIMIT), "command_in_flight", &says);
}

#[test]
fn program_that_ends_no_frame_is_told_why() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let ways = [
        ("no_context", "no_context", "created no context"),
        ("no_surface", "no_surface", "has no surface"),
        ("not_current", "no_context_current", "made none of its contexts current"),
        ("window_waits", "not_swapped", "has a window surface and did not swap it"),
    ];
    for (way, reason, says) in ways {
        check(&session, &without_frames(&[way]), reason, &["the trace has no frame; ", says]);
    }
    // Mesa refuses to swap no surface, which the fake driver does not.
    let swaps = program("without_frames");
    let swaps = words(&[text(&swaps), "swaps"]);
    check(&session, &swaps, "swaps_failed", &["only swap failed or did not return"]);
    let (options, path) = (["--json", "--function", "glClear"], session.path("filtered.gapii"));
    let mut run = session.run_command(&options, &path, &without_frames(&["window_waits"]));
    let run = until_it_waits(&mut run);
    gives(&run, "no_frame", &["ended no frame meanwhile"]);
    let says = ["by signal 6 (SIGABRT) before its first frame"];
    check_ending(&session, &without_frames(&["window_aborts"]), "crashed_before_frame", &says);
    let says = ["ended before its first frame"];
    check_ending(&session, &without_frames(&["window"]), "ended_before_frame", &says);
}

#[test]
fn program_of_level_zero_without_a_submit_is_told_so() {
    let session = Session::new();
    let mut queries = on_null_driver(&level_zero("bench_tracers"));
    queries.arg("10");
    check_ending(&session, &queries, "not_submitted", &["submitted no command list to a queue"]);
}

/// The reasons that `start` alone has, or finds in another way.
#[test]
fn start_names_the_reason() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let waits = program("waits");
    let running = Running::start(&mut words(&[text(&waits)]));
    let pid = running.pid().to_string();
    let mut start = session.ctl(["start", "--json", "--app", &pid]);
    let refused = run(&mut start).exited_with(3);
    assert!(refused.stderr.contains("\"reason\":\"not_started_by_run\""), "{refused}");
    assert!(refused.stderr.contains("gapii-ctl run --idle -- "), "{refused}");
    running.signal(Signal::TERM);
    running.finish(LIMIT);

    let mut idle = session.ctl(["run", "--idle"]);
    append(&mut idle, &without_frames(&["no_context"]));
    let idle = Running::start(&mut idle);
    session.app_in_mode("idle");
    let mut start = session.ctl(["start", "--json", "--seconds", "0.2", "--force", "-o"]);
    let started = run(start.arg(session.path("trace.gapii"))).exited_with(1);
    gives(&started, "no_command", &["made no command of OpenGL"]);
    idle.signal(Signal::TERM);
    idle.finish(LIMIT);
}

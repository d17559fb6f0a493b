//! Tracers of EGL and OpenGL ES: the values that callbacks see and change, the answers of the functions for
//! tools, and the records of tracers in a trace.

use std::path::Path;
use std::process::Command as Process;
use std::time::Duration;

use gapii_tests::artifacts::artifact;
use gapii_tests::display::surfaceless;
use gapii_tests::gapii::{Command, Recording, Session, Trace, append};
use gapii_tests::loading::offscreen;
use gapii_tests::process::{LIMIT, Running, run};
use gapii_tests::programs::{example_tool, include_directory, program, tracers, tracers_tool};
use gapii_tests::replays::verified_frames;
use gapii_tests::set_uid::SetUid;
use gapii_tests::tracers::{case, churn, says};
use serde_json::{Value, json};

#[test]
fn changed_parameter_is_seen_by_later_callbacks_and_by_the_driver() {
    says(
        "calls",
        "parameter",
        &[
            "glClearColor(1, 0, 1, 1)",
            "glClearColor(1, 0, 1, 1)",
            "traced: 255 0 255",
            "not traced: 0 0 255",
        ],
    );
}

#[test]
fn skipped_call_does_not_reach_the_driver_and_runs_all_callbacks() {
    says(
        "calls",
        "skipped",
        &[
            "skipped: yes",
            "skipped: yes",
            "skipped: 0 255 0",
            "skipped: no",
            "skipped: no",
            "not skipped: 255 0 0",
        ],
    );
}

#[test]
fn program_gets_what_callbacks_leave_as_the_result() {
    says(
        "calls",
        "result",
        &[
            "in the epilogue: 1280",
            "changed: 1281",
            "in the prologue: 0",
            "skipped: 4711",
            "in the prologue: 0",
            "in the epilogue: 4711",
            "skipped and changed: 4712",
            "the driver's own: 1280",
        ],
    );
}

#[test]
fn callbacks_run_in_the_order_of_enabling() {
    says(
        "calls",
        "order",
        &["enabled c, b, a: +c +b +a -c -b -a", "c once more: +b +a +c -b -a -c"],
    );
}

#[test]
fn calls_of_callbacks_are_not_traced_and_those_of_other_threads_are() {
    says(
        "calls",
        "reentrant",
        &["the outer call:", "glFlush", "glFlush", "afterwards:", "glFlush", "drawn: 0 0 255"],
    );
}

#[test]
fn tracer_that_is_enabled_before_the_first_command_sees_it() {
    says("calls", "first_command", &["eglGetDisplay", "eglGetDisplay", "drawn: 255 0 255"]);
}

#[test]
fn function_that_the_driver_hands_out_is_traced_whenever_it_was_asked_for() {
    says("calls", "handed_out", &["glGenQueriesEXT", "glIsQueryEXT"]);
}

#[test]
fn nulls_have_answers() {
    says(
        "states",
        "nulls",
        &[
            "create: NULL_POINTER",
            "prologue: NULL_HANDLE",
            "epilogue: NULL_HANDLE",
            "reset: NULL_HANDLE",
            "enable: NULL_HANDLE",
            "disable: NULL_HANDLE",
            "destroy: NULL_HANDLE",
            "prologue of null: NULL_POINTER",
            "epilogue of null: NULL_POINTER",
            "skip: NULL_HANDLE",
        ],
    );
}

#[test]
fn commands_are_known_by_name() {
    says(
        "states",
        "names",
        &[
            "glFlush: OK",
            "eglSwapBuffers: OK",
            "glFlushed: NO_SUCH_COMMAND",
            "nothing: NO_SUCH_COMMAND",
        ],
    );
}

#[test]
fn disabled_tracer_takes_everything() {
    says(
        "states",
        "disabled",
        &["prologue: OK", "epilogue: OK", "reset: OK", "disable: OK", "destroy: OK"],
    );
}

#[test]
fn enabled_tracer_takes_no_callbacks_and_is_not_destroyed() {
    says(
        "states",
        "enabled",
        &[
            "enable: OK",
            "prologue: ENABLED",
            "epilogue: ENABLED",
            "reset: ENABLED",
            "destroy: ENABLED",
            "callback",
            "disable: OK",
            "destroy: OK",
        ],
    );
}

#[test]
fn destroyed_tracer_is_no_tracer() {
    says(
        "states",
        "destroyed",
        &[
            "prologue: NO_SUCH_TRACER",
            "epilogue: NO_SUCH_TRACER",
            "reset: NO_SUCH_TRACER",
            "enable: NO_SUCH_TRACER",
            "disable: NO_SUCH_TRACER",
            "destroy: NO_SUCH_TRACER",
        ],
    );
}

#[test]
fn every_result_has_a_sentence_of_its_own() {
    says(
        "states",
        "texts",
        &[
            "it is done",
            "the tracer or the call is null",
            "a pointer that must lead somewhere is null",
            "there is no such tracer",
            "no command has that name",
            "the tracer is enabled",
            "calls that began while the tracer was enabled have not ended",
            "the call has been made; only a prologue may have it skipped",
            "the program runs with other rights than its caller has, so tracers stay disabled",
            "this is no result of gapii's",
        ],
    );
}

#[test]
fn tracer_of_a_set_uid_program_stays_disabled() {
    let session = Session::new();
    let states = SetUid::copy(&tracers("states"));
    let said = |mut command: Process| {
        surfaceless(command.arg("secure"));
        session.adopt(&mut command);
        run(&mut command).ok().stdout
    };
    assert_eq!(said(states.as_owner()), "enable: OK\ncallback\ndestroy: ENABLED\n");
    assert_eq!(said(states.as_nobody()), "enable: SECURE_EXECUTION\ndestroy: OK\n");
}

#[test]
fn null_takes_a_callback_back_and_reset_all() {
    says("states", "unregister", &["an epilogue:", "callback", "nothing:"]);
}

#[test]
fn epilogue_skips_nothing() {
    says("states", "too_late", &["skip: TOO_LATE", "skipped: no"]);
}

#[test]
fn what_a_command_does_not_have_is_null() {
    says(
        "states",
        "parts",
        &[
            "glFlush: none, none",
            "glClear: parameters, none",
            "glGetError: none, a result",
            "glIsEnabled: parameters, a result",
        ],
    );
}

#[test]
fn draining_tracer_takes_nothing_but_its_end_which_waits() {
    says(
        "states",
        "draining",
        &[
            "disable: OK",
            "prologue: DRAINING",
            "epilogue: DRAINING",
            "reset: DRAINING",
            "enable: DRAINING",
            "disable again: DRAINING",
            "destroy: OK",
            "the epilogue has run",
        ],
    );
}

#[test]
fn destroying_does_not_wait_for_calls_of_other_tracers() {
    says("states", "others", &["disable: OK", "destroy: OK", "the other call goes on"]);
}

#[test]
fn tracer_is_destroyed_inside_its_own_call() {
    says("states", "inside", &["disable: OK", "destroy: OK", "callback"]);
}

#[test]
fn forked_child_waits_for_no_thread_that_it_does_not_have() {
    says("states", "forked", &["disable: OK", "destroy: OK"]);
}

#[test]
fn threads_that_come_and_go_run_callbacks_in_pairs() {
    churn(Duration::from_secs(1));
}

/// Tracers and captures both change the table of commands, at any moment.
#[test]
fn captures_begin_and_end_while_tracers_come_and_go() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let program = case("churn", "0");
    let mut run_idle = session.ctl(["run", "--idle"]);
    append(&mut run_idle, &program);
    let running = Running::start(&mut run_idle);
    session.app_in_mode("idle");
    for name in ["first.gapii", "second.gapii"] {
        let path = session.path(name);
        run(session.ctl(["start", "--seconds", "0.3", "-o"]).arg(&path)).ok();
        let trace = Trace::new(path);
        trace.is_whole("stop");
        assert!(trace.info()["commands"].as_u64() > Some(1000), "{:#}", trace.info());
    }
    let finished = running.finish(LIMIT).ok();
    assert_eq!(finished.stdout, "every prologue had its epilogue\n", "{finished}");
}

/// The witness stands in for the driver's glFlush, and prints the file whose code has called it.
#[test]
fn slot_holds_the_drivers_function_unless_its_command_is_traced() {
    let session = Session::new();
    let mut program = offscreen(&tracers("untouched"), [""; 0]);
    session.adopt(&mut program);
    let libraries = [artifact("libgapii.so"), tracers_tool("witness")];
    let libraries = libraries.map(|library| library.to_str().expect("a plain name").to_owned());
    let said = run(program.env("LD_PRELOAD", libraries.join(":"))).ok().stdout;
    assert_eq!(
        said.lines().collect::<Vec<_>>(),
        [
            "no tracer: untouched",
            "a tracer of another command: untouched",
            "a tracer of this one: libgapii.so",
            "none any more: untouched",
        ]
    );
}

const OBSERVED: &[&str] = &["--observe-frames", "1"];

/// The trace of `recorded.c`, with any way of loading its tracer: three traced frames and one without a tracer.
#[track_caller]
fn check_recorded(session: &Session, recording: &Recording) {
    let said = recording.run.clone().ok().stdout;
    let magenta = "frame: 255 0 255";
    assert_eq!(
        said.lines().collect::<Vec<_>>(),
        [magenta, magenta, magenta, "not traced: 0 255 0"],
        "{}",
        recording.run
    );
    recording.trace.is_whole("exit");
    check_commands(&recording.trace.commands());
    assert_eq!(verified_frames(session, &recording.trace), 4);
}

#[track_caller]
fn check_commands(commands: &[Command]) {
    let named = |name: &str| -> Vec<&Command> {
        commands.iter().filter(|command| command.name == name).collect()
    };
    let rows = |name: &str, row: fn(&Command) -> Value| -> Vec<Value> {
        named(name).into_iter().map(row).collect()
    };
    let changed = json!([1.0, 0.0]);
    assert_eq!(
        rows("glClearColor", |command| json!([command.argument("red"), command.made_with("red")])),
        [changed.clone(), changed.clone(), changed, json!([0.0, null])]
    );
    assert_eq!(
        rows("glFlush", |command| json!([command.seq, command.skipped])),
        vec![json!([null, true]); 3]
    );
    assert_eq!(
        rows("glIsEnabled", |command| {
            json!([
                command.skipped,
                command.argument("cap"),
                command.made_with("cap"),
                command.result
            ])
        }),
        vec![json!([true, "GL_BLEND", "0x1bd0", true]); 3]
    );
    // The program's own calls get another result; the tracer's calls are marked as the tracer's own.
    let errors = [json!(["GL_NO_ERROR", "0x1267", false]), json!(["GL_NO_ERROR", null, true])];
    assert_eq!(
        rows("glGetError", |command| json!([command.result, command.given, command.tracer])),
        errors.iter().cycle().take(6).cloned().collect::<Vec<_>>()
    );
    assert_eq!(rows("glFinish", |command| json!(command.tracer)), vec![json!(true); 3]);
    // The other commands are as they would be without tracers.
    let plain = ["glClear", "glReadPixels", "eglSwapBuffers", "eglMakeCurrent"];
    assert!(plain.iter().all(|name| !named(name).is_empty()), "{commands:?}");
    for command in plain.iter().flat_map(|name| named(name)) {
        assert!(command.made.is_none() && command.given.is_none(), "{command:?}");
        assert!(command.seq.is_some() && !command.skipped && !command.tracer, "{command:?}");
    }
}

#[test]
fn trace_says_what_tracers_did_and_replays() {
    let session = Session::new();
    let recording = session.record(OBSERVED, &offscreen(&tracers("recorded"), [""; 0]));
    check_recorded(&session, &recording);
}

#[test]
fn tracer_that_is_enabled_in_a_capture_is_in_the_trace() {
    let session = Session::new();
    let recording = session.record(OBSERVED, &offscreen(&tracers("recorded"), ["late"]));
    check_recorded(&session, &recording);
}

#[test]
fn trace_with_times_in_the_driver_says_the_same() {
    let session = Session::new();
    let options = [OBSERVED, &["--timing"]].concat();
    let recording = session.record(&options, &offscreen(&tracers("recorded"), [""; 0]));
    check_recorded(&session, &recording);
}

#[test]
fn capture_that_begins_while_a_tracer_is_enabled_says_what_it_does() {
    let session = Session::new();
    let options = [OBSERVED, &["--skip-frames", "1"]].concat();
    let recording = session.record(&options, &offscreen(&tracers("recorded"), [""; 0]));
    recording.run.clone().ok();
    recording.trace.is_whole("exit");
    let commands = recording.trace.commands();
    let called: Vec<&Command> = commands.iter().filter(|command| !command.setup).collect();
    let count = |is: fn(&Command) -> bool| called.iter().filter(|command| is(command)).count();
    assert_eq!(count(|command| command.name == "glClearColor" && command.made.is_some()), 2);
    assert_eq!(count(|command| command.name == "glFlush" && command.skipped), 2);
    // The swap in which the capture begins has its epilogue after the beginning.
    assert_eq!(count(|command| command.name == "glFinish" && command.tracer), 3);
    assert_eq!(verified_frames(&session, &recording.trace), 3);
}

#[test]
fn capture_of_some_commands_says_what_tracers_did_to_those_alone() {
    let session = Session::new();
    let options = ["--function", "glIsEnabled", "--function", "glGetError"];
    let recording = session.record(&options, &offscreen(&tracers("recorded"), [""; 0]));
    recording.run.clone().ok();
    recording.trace.is_whole("exit");
    let commands = recording.trace.commands();
    let count = |is: fn(&Command) -> bool| commands.iter().filter(|command| is(command)).count();
    assert_eq!(count(|command| command.name == "glFlush" || command.name == "glClearColor"), 0);
    assert_eq!(count(|command| command.name == "glIsEnabled" && command.skipped), 3);
    assert_eq!(count(|command| command.name == "glGetError" && command.given.is_some()), 3);
    assert_eq!(count(|command| command.name == "glGetError" && command.tracer), 3);
}

#[test]
fn text_of_a_dump_says_what_tracers_did() {
    let session = Session::new();
    let recording = session.record(&[], &offscreen(&tracers("recorded"), [""; 0]));
    let dump = recording.trace.ask("dump", &[]).ok().stdout;
    for expected in [
        "glClearColor(red = 1, green = 0, blue = 1, alpha = 1)  made with (red = 0, green = 0, blue = 1, \
         alpha = 1)",
        "glFlush()  (skipped)",
        "glIsEnabled(cap = GL_BLEND) = true  made with (cap = 0x1bd0)  (skipped)",
        "glGetError() = GL_NO_ERROR  given 0x1267",
        "glFinish()  (a tracer's)",
    ] {
        assert!(dump.lines().any(|line| line.ends_with(expected)), "{expected}\n{dump}");
    }
}

#[test]
fn example_changes_skips_calls_and_measures() {
    let session = Session::new();
    let example = example_tool("draws");
    let example = example.to_str().expect("a plain name");
    let recording =
        session.record(&["--tool", example], &offscreen(&program("load_linked"), [""; 0]));
    recording.trace.is_whole("exit");
    let said = recording.run.clone().ok().stderr;
    let commands = recording.trace.commands();
    let draws = commands.iter().filter(|command| command.name == "glDrawArrays").count();
    assert!(draws > 0 && said.contains(&format!("draws: {draws}, of ")), "{said}");
    let is_tinted = |command: &&Command| command.name == "glClearColor" && command.made.is_some();
    assert!(commands.iter().filter(is_tinted).count() > 0);
    let finishes: Vec<&Command> =
        commands.iter().filter(|command| command.name == "glFinish" && command.tracer).collect();
    let swaps = commands.iter().filter(|command| command.name == "eglSwapBuffers").count();
    assert_eq!(finishes.len(), swaps);
}

#[test]
fn example_in_rust_does_the_same() {
    let session = Session::new();
    let example = artifact("examples/libdraws.so");
    let example = example.to_str().expect("a plain name");
    let recording =
        session.record(&["--tool", example], &offscreen(&program("load_linked"), [""; 0]));
    recording.trace.is_whole("exit");
    let said = recording.run.clone().ok().stderr;
    let commands = recording.trace.commands();
    let draws = commands.iter().filter(|command| command.name == "glDrawArrays").count();
    assert!(draws > 0 && said.contains(&format!("draws: {draws}, of ")), "{said}");
    let mut clears = commands.iter().filter(|command| command.name == "glClearColor").peekable();
    assert!(clears.peek().is_some() && clears.all(|command| command.made.is_some()));
}

/// Checks that no library of gapii is in the process.
#[test]
fn tool_in_rust_says_where_it_should_be_loaded() {
    let example = artifact("examples/libdraws.so");
    let said = run(Process::new("true").env("LD_PRELOAD", example)).ok().stderr;
    let expected =
        "draws: libgapii.so is not in this process; start the program with `gapii-ctl run`\n";
    assert_eq!(said, expected);
}

#[test]
fn tool_that_is_no_file_is_refused() {
    let session = Session::new();
    let refused = run(session.ctl(["run", "--tool", "/no/such.so", "--"]).arg("true"));
    assert_eq!(refused.status.code(), Some(125), "{refused}");
    assert!(refused.stderr.contains("/no/such.so"), "{refused}");
}

#[test]
fn tool_that_cannot_be_loaded_is_refused_before_the_program_starts() {
    let session = Session::new();
    let (source, witness) = (session.path("tool.c"), session.path("witness"));
    let check = |name: &str, code: &str, flags: &[&str], expected: &str| {
        let tool = session.path(name);
        std::fs::write(&source, code).expect("a file");
        let mut compiler = Process::new("cc");
        run(compiler.args(["-x", "c", "-fPIC", "-o"]).args([&tool, &source]).args(flags)).ok();
        let command = ["run", "--tool", tool.to_str().expect("a plain name"), "--", "touch"];
        let refused = run(session.ctl(command).arg(&witness)).exited_with(125);
        assert!(refused.stderr.contains(expected), "{expected}: {refused}");
        assert!(!witness.exists(), "{refused}");
    };
    let shared: &[&str] = &["-shared"];
    check("tool", "int main(void) { return 0; }", &[], "it is a program; link it with -shared");
    let unknown = "int gapii_fly(void); int begin(void) { return gapii_fly(); }";
    check(
        "unknown.so",
        unknown,
        shared,
        "it calls gapii_fly, which this libgapii.so does not have",
    );
    // A tool that needs a library which is gone by then.
    let library = session.path("libgone.so");
    std::fs::write(&source, "int gone(void) { return 0; }").expect("a file");
    let mut compiler = Process::new("cc");
    run(compiler.args(["-shared", "-fPIC", "-o"]).args([&library, &source])).ok();
    let folder = format!("-L{}", library.parent().expect("a folder").display());
    let needs = "int gone(void); int begin(void) { return gone(); }";
    let tool = session.path("needs.so");
    std::fs::write(&source, needs).expect("a file");
    let mut compiler = Process::new("cc");
    run(compiler.args(["-shared", "-fPIC", "-o"]).args([&tool, &source]).args([&folder, "-lgone"]))
        .ok();
    let refused = run(session.ctl(["run", "--tool"]).arg(&tool).args(["--", "true"]));
    let refused = refused.exited_with(125);
    assert!(refused.stderr.contains("it needs libgone.so, which is not found"), "{refused}");
    std::fs::write(&tool, "no library").expect("a file");
    let refused = run(session.ctl(["run", "--tool"]).arg(&tool).args(["--", "true"]));
    assert!(refused.exited_with(125).stderr.contains("it is not a library"));
}

#[test]
fn tools_are_named_by_a_pattern_and_their_destructors_run() {
    let session = Session::new();
    let example = example_tool("draws");
    let folder = session.path("my tools");
    std::fs::create_dir(&folder).expect("a folder");
    for name in ["a.so", "b.so"] {
        std::fs::copy(&example, folder.join(name)).expect("a file");
    }
    let pattern = folder.join("?.so");
    let recording = session.record(
        &["--tool", pattern.to_str().expect("a plain name")],
        &offscreen(&program("load_linked"), [""; 0]),
    );
    let said = recording.run.clone().ok().stderr;
    let reports = said.lines().filter(|line| line.starts_with("draws: ")).count();
    assert_eq!(reports, 2, "each tool reports in its destructor: {said}");
    // Unless the program is ended from outside, which is said before.
    let remark = "what a tool reports in its destructor is lost";
    let mut quit = session.ctl(["run", "--quit", "--frames", "1", "--tool"]);
    let quit = run(quit.arg(&pattern).args(["-o", "/dev/null", "--", "true"]));
    assert!(quit.stderr.contains(remark) && !said.contains(remark), "{quit}\n{said}");
    // A shell that replaces the pattern makes the second tool the program.
    let files = [folder.join("a.so"), folder.join("b.so")];
    let refused = run(session.ctl(["run", "--tool"]).args(files).args(["--", "true"]));
    let refused = refused.exited_with(125);
    assert!(refused.stderr.contains("is a library, not a program"), "{refused}");
}

#[test]
fn tool_that_traces_nothing_is_said() {
    let session = Session::new();
    let said = |tools: &[&Path]| {
        let mut run_idle = session.ctl(["run", "--idle"]);
        for tool in tools {
            run_idle.arg("--tool").arg(tool);
        }
        let said = run(run_idle.args(["--", "true"])).ok().stderr;
        said.lines().filter(|line| line.contains("traced no command")).count()
    };
    let (source, silent) = (session.path("silent.c"), session.path("silent.so"));
    // Its tracer has a callback for a command that does not exist.
    let code = "#include <gapii.h>\n\
        static void callback(gapii_call *call, void *user, void **instance) {}\n\
        __attribute__((constructor)) static void begin(void) {\n\
            gapii_tracer tracer;\n\
            gapii_tracer_create(0, &tracer);\n\
            gapii_tracer_register_prologue(tracer, \"glDrawArray\", (gapii_callback)callback);\n\
            gapii_tracer_enable(tracer);\n\
        }\n";
    std::fs::write(&source, code).expect("a file");
    let include = format!("-I{}", include_directory().display());
    let mut compiler = Process::new("cc");
    compiler.args(["-shared", "-fPIC", "-w", &include, "-o"]);
    run(compiler.args([&silent, &source])).ok();
    assert_eq!(said(&[&silent]), 1);
    let example = example_tool("draws");
    assert_eq!((said(&[&example]), said(&[&silent, &example]), said(&[])), (0, 0, 0));
}

#[test]
fn headers_compile_by_themselves_as_c99_and_as_cpp() {
    let session = Session::new();
    for header in ["gapii.h", "gapii_commands.h"] {
        for (compiler, standard, name) in [("cc", "-std=c99", "a.c"), ("c++", "-std=c++11", "a.cc")]
        {
            let source = session.path(name);
            std::fs::write(&source, format!("#include <{header}>\n")).expect("it is writable");
            let mut compile = Process::new(compiler);
            compile.args([
                standard,
                "-Wall",
                "-Wextra",
                "-Werror",
                "-pedantic",
                "-fsyntax-only",
                "-I",
            ]);
            run(compile.arg(include_directory()).arg(&source)).ok();
        }
    }
}

#[test]
fn pkg_config_says_where_headers_and_library_are() {
    let folder = artifact("pkgconfig");
    let mut ask = Process::new("pkg-config");
    ask.args(["--cflags", "--libs", "gapii"]).env("PKG_CONFIG_PATH", &folder);
    let said = run(&mut ask).ok().stdout;
    let session = Session::new();
    let (source, built) = (session.path("tool.c"), session.path("tool.so"));
    let text = "#include <gapii_commands.h>\n#include <gapii.h>\n\
                gapii_result f(gapii_tracer *t) { return gapii_tracer_create(0, t); }\n";
    std::fs::write(&source, text).expect("it is writable");
    let mut compile = Process::new("cc");
    compile.args(["-shared", "-fPIC", "-Wl,--no-undefined", "-o"]).arg(&built).arg(&source);
    run(compile.args(said.split_whitespace())).ok();
    let version = run(Process::new("pkg-config")
        .args(["--modversion", "gapii"])
        .env("PKG_CONFIG_PATH", &folder))
    .ok();
    assert_eq!(version.stdout.trim(), env!("CARGO_PKG_VERSION"));
}

/// The trace's file: a reader that does not know tracers sees the values that the driver got.
#[test]
fn other_tools_see_what_the_driver_got() {
    let session = Session::new();
    let recording = session.record(&[], &offscreen(&tracers("recorded"), [""; 0]));
    let calls = |trace: &Trace| trace.info()["commands"].clone();
    let numbered =
        recording.trace.commands().iter().filter(|command| command.seq.is_some()).count();
    assert_eq!(calls(&recording.trace), json!(numbered));
    let stats = recording.trace.ask("stats", &[]).ok().stdout;
    assert!(!stats.contains("glFlush") && !stats.contains("glIsEnabled"), "{stats}");
}

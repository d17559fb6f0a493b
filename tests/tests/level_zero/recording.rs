//! Level Zero in the stream: programs on the null driver, recorded through the tracing layer.

use std::collections::BTreeSet;
use std::process::Command as Process;

use gapii_test_json::values;
use gapii_tests::display::surfaceless;
use gapii_tests::gapii::{self, Command, Session, Trace};
use gapii_tests::level_zero::on_null_driver;
use gapii_tests::process::{self, LIMIT, Running, send_signal};
use gapii_tests::programs::{example_tool, level_zero, level_zero_and_gles};
use gapii_tests::wait::until;
use rustix::process::Signal;
use serde_json::{Value, json};

/// `pipeline` with these arguments.
fn pipeline(arguments: &[&str]) -> Process {
    let mut program = on_null_driver(&level_zero("pipeline"));
    program.args(arguments);
    program
}

#[track_caller]
fn recorded(options: &[&str], arguments: &[&str]) -> (Session, Trace) {
    let session = Session::new();
    let recording = session.record(options, &pipeline(arguments));
    let (trace, run) = (recording.trace, recording.run.ok());
    assert!(run.stdout.contains("sum "), "{run}");
    (session, trace)
}

fn named<'a>(commands: &'a [Command], name: &'a str) -> impl Iterator<Item = &'a Command> {
    commands.iter().filter(move |command| command.name == name)
}

/// The process id that `pipeline 0` prints once it runs.
fn pid_said(run: &Running) -> u32 {
    until("the program to run", LIMIT, || run.stdout_line()?.parse().ok())
}

/// A program that also draws.
fn graphics_too() -> Process {
    let mut program = on_null_driver(&level_zero_and_gles("graphics_too"));
    surfaceless(&mut program);
    program
}

/// Returns the first command of this name.
#[track_caller]
fn first<'a>(commands: &'a [Command], name: &'a str) -> &'a Command {
    named(commands, name).next().unwrap_or_else(|| panic!("no {name}"))
}

/// `reads` or `writes` of each command of that name, by size and hash.
#[track_caller]
fn memory(trace: &Trace, name: &str, what: &str) -> Vec<Vec<(i64, String)>> {
    let dump = trace.ask("dump", &["--json"]).ok();
    let lines = values(&dump.stdout).expect("lines of JSON").into_iter();
    let wanted = lines.filter(|line| line["name"] == name);
    let ranges = wanted.map(|line| line[what].as_array().cloned().unwrap_or_default());
    let piece = |range: &Value| {
        (range["size"].as_i64().unwrap_or(0), range["hash"].as_str().unwrap_or("").to_owned())
    };
    ranges.map(|ranges| ranges.iter().map(piece).collect()).collect()
}

#[test]
fn structs_are_shown_by_field_with_what_they_point_at() {
    let (_session, trace) = recorded(&[], &["1"]);
    let commands = trace.commands();
    let device_desc = json!({
        "stype": "ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC",
        "pNext": {
            "stype": "ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC",
            "pNext": null,
            "flags": "ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE",
        },
        "flags": "0",
        "ordinal": 0,
    });
    assert_eq!(first(&commands, "zeMemAllocDevice").argument("device_desc"), &device_desc);
    let module = first(&commands, "zeModuleCreate").argument("desc");
    assert_eq!(module["format"], "ZE_MODULE_FORMAT_NATIVE");
    assert_eq!(module["pInputModule"]["values"], json!([7, 7, 7, 7]));
    assert_eq!(module["pBuildFlags"], "-fast");
    assert_eq!(module["pConstants"]["pConstantIds"]["values"], json!([3]));
    // The constants' ids and addresses, and the only constant's value.
    let reads = memory(&trace, "zeModuleCreate", "reads");
    let sizes: Vec<_> = reads[0].iter().map(|piece| piece.0).collect();
    assert_eq!(sizes[sizes.len() - 3..], [4, 8, 8]);
    assert_eq!(first(&commands, "zeKernelCreate").argument("desc")["pKernelName"], "twice");
    let launch = first(&commands, "zeCommandListAppendLaunchKernel");
    let groups = json!({"groupCountX": 1, "groupCountY": 2, "groupCountZ": 3});
    assert_eq!(launch.argument("pLaunchFuncArgs"), &groups);
    assert_eq!(launch.numbers("phWaitEvents").len(), 1);
    assert_eq!(launch.result, "ZE_RESULT_SUCCESS");
    let properties = first(&commands, "zeDeviceGetProperties").argument("pDeviceProperties");
    assert_eq!(properties["stype"], "ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES");
    assert!(properties["name"].as_str().is_some_and(|name| !name.is_empty()), "{properties:#}");
    let argument = first(&commands, "zeKernelSetArgumentValue");
    assert_eq!(argument.numbers("pArgValue"), [1, 0, 0, 0]);
    assert_eq!(first(&commands, "zeDriverGet").numbers("pCount"), [1]);
}

#[test]
fn thousand_kernels_copies_and_events_are_all_in_the_trace() {
    let (_session, trace) = recorded(&[], &["1000"]);
    trace.is_whole("exit");
    let commands = trace.commands();
    let count = |name| named(&commands, name).count();
    assert_eq!(count("zeCommandListAppendLaunchKernel"), 1000);
    assert_eq!(count("zeCommandListAppendMemoryCopy"), 3000);
    assert_eq!(count("zeCommandListAppendEventReset"), 1000);
    let info = trace.info();
    assert_eq!(info["frames"], 1000, "{info:#}");
    assert_eq!(info["apis"], json!(["level_zero"]), "{info:#}");
    let stats = trace.ask("stats", &["--json"]).ok();
    assert!(stats.stdout.contains("zeCommandListAppendLaunchKernel"), "{stats}");
}

#[test]
fn time_in_the_driver_is_measured() {
    let (_session, trace) = recorded(&["--timing"], &["5"]);
    let stats = trace.ask("stats", &[]).ok();
    assert!(stats.stdout.contains("zeCommandQueueSynchronize"), "{stats}");
    trace.is_whole("exit");
}

#[test]
fn copied_memory_is_observed_when_it_is_submitted_and_when_somebody_has_waited() {
    let (_session, trace) = recorded(&[], &["3"]);
    let submitted = memory(&trace, "zeCommandQueueExecuteCommandLists", "reads");
    let completed = memory(&trace, "zeCommandQueueSynchronize", "writes");
    assert_eq!((submitted.len(), completed.len()), (3, 3));
    for step in 0..3 {
        // Shared memory, and the program's own memory.
        let sizes = |pieces: &[(i64, String)]| pieces.iter().map(|it| it.0).collect::<Vec<_>>();
        assert_eq!(sizes(&submitted[step]), [2048, 2048], "step {step}");
        assert_eq!(sizes(&completed[step]), [2048, 2048], "step {step}");
        // The device's last write is the memory that it has copied from shared memory.
        assert_eq!(completed[step][0].1, completed[step][1].1, "step {step}");
        assert_ne!(completed[step][0].1, submitted[step][0].1, "step {step}");
    }
    assert_ne!(submitted[0][1].1, submitted[1][1].1);
}

#[test]
fn immediate_lists_copy_at_once() {
    let (_session, trace) = recorded(&[], &["2", "immediate"]);
    let copies = memory(&trace, "zeCommandListAppendMemoryCopy", "reads");
    let sizes: Vec<_> = copies.iter().map(|pieces| pieces.len()).collect();
    // Each step copies from the program's memory first, then from the device's, then from shared memory.
    assert_eq!(sizes, [1, 0, 1, 1, 0, 1]);
    let launches = memory(&trace, "zeCommandListAppendLaunchKernel", "reads");
    assert_eq!(launches.iter().map(|pieces| pieces.len()).collect::<Vec<_>>(), [1, 1]);
    let completed = memory(&trace, "zeEventHostSynchronize", "writes");
    assert_eq!(completed.iter().map(|pieces| pieces.len()).collect::<Vec<_>>(), [2, 2]);
}

#[test]
fn synchronous_queue_is_done_when_a_submit_returns() {
    let (_session, trace) = recorded(&[], &["2", "synchronous"]);
    let completed = memory(&trace, "zeCommandQueueExecuteCommandLists", "writes");
    assert_eq!(completed.iter().map(|pieces| pieces.len()).collect::<Vec<_>>(), [2, 2]);
    assert_eq!(completed[0][0].1, completed[0][1].1);
}

#[test]
fn frames_of_a_program_that_shows_nothing_are_its_submits() {
    for option in ["--frames", "--submits"] {
        let (_session, trace) = recorded(&[option, "2"], &["5"]);
        trace.is_whole("frames");
        let commands = trace.commands();
        assert_eq!(named(&commands, "zeCommandQueueExecuteCommandLists").count(), 2, "{option}");
        assert_eq!(trace.info()["frames"], 2, "{option}");
        let lines = values(&trace.ask("dump", &["--json"]).ok().stdout).expect("JSON");
        let times: Vec<_> = lines.iter().filter_map(|line| line["time_ns"].as_u64()).collect();
        assert!(times.len() == 2 && times[0] < times[1], "{times:?}");
    }
}

#[test]
fn killed_program_leaves_a_whole_trace() {
    let session = Session::new();
    let path = session.path("killed.gapii");
    let run = Running::start(&mut session.run_command(&[], &path, &pipeline(&["0"])));
    let program = pid_said(&run);
    send_signal(program, Signal::KILL);
    run.finish(LIMIT);
    let trace = Trace::new(path);
    trace.is_whole("crash");
    let commands = trace.commands();
    let in_flight = commands.iter().filter(|command| command.in_flight).count();
    assert!(in_flight <= 1, "one thread has {in_flight} commands in flight");
    assert!(named(&commands, "zeCommandQueueExecuteCommandLists").count() > 1);
}

#[test]
fn running_program_is_attached_to_at_a_submit() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let mut command = session.ctl(["run", "--idle"]);
    gapii::append(&mut command, &pipeline(&["0"]));
    let run = Running::start(&mut command);
    let program = pid_said(&run);
    let app = session.app_in_mode("idle");
    assert_eq!(app["apis"], json!(["level_zero"]), "{app:#}");
    let path = session.path("attached.gapii");
    let mut start = session.ctl(["start", "--frames", "3", "-o"]);
    process::run(start.arg(&path)).ok();
    send_signal(program, Signal::KILL);
    run.finish(LIMIT);
    let trace = Trace::new(path);
    trace.is_whole("frames");
    let commands = trace.commands();
    assert_eq!(named(&commands, "zeCommandQueueExecuteCommandLists").count(), 3);
    // The lists' copies were known before the capture: state is tracked while the program is idle.
    let submitted = memory(&trace, "zeCommandQueueExecuteCommandLists", "reads");
    assert!(submitted.iter().all(|pieces| pieces.len() == 2), "{submitted:?}");
    assert_eq!(trace.info()["missing"], json!([]));
}

#[test]
fn held_program_is_recorded_from_its_first_command() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let mut command = session.ctl(["run", "--wait"]);
    gapii::append(&mut command, &pipeline(&["2"]));
    let run = Running::start(&mut command);
    let app = session.app_in_mode("waiting");
    assert_eq!(app["apis"], json!(["level_zero"]), "{app:#}");
    let trace = Trace::new(session.path("held.gapii"));
    process::run(session.ctl(["start", "-o"]).arg(&trace.path)).ok();
    run.finish(LIMIT).ok();
    trace.is_whole("exit");
    assert_eq!(trace.info()["missing"], json!([]));
    let names = |trace: &Trace| trace.commands().into_iter().map(|it| it.name).collect::<Vec<_>>();
    let (_whole_session, whole) = recorded(&[], &["2"]);
    assert_eq!(names(&trace), names(&whole));
}

#[test]
fn program_of_two_apis_is_one_stream() {
    let session = Session::new();
    let recording = session.record(&[], &graphics_too());
    recording.run.ok();
    let trace = recording.trace;
    trace.is_whole("exit");
    let info = trace.info();
    assert_eq!(info["apis"], json!(["egl", "gl", "level_zero"]), "{info:#}");
    assert_eq!(info["frames"], 2, "swaps: {info:#}");
    let commands = trace.commands();
    let names = ["glClear", "zeCommandQueueExecuteCommandLists", "eglSwapBuffers"];
    let order: Vec<&str> = commands
        .iter()
        .filter_map(|command| names.into_iter().find(|name| *name == command.name))
        .collect();
    assert_eq!(order, [names, names].concat());
    let pids: BTreeSet<_> = commands.iter().map(|it| it.pid).collect();
    assert_eq!(pids.len(), 1);

    let recording = session.record(&["--submits", "1"], graphics_too().arg("compute"));
    recording.run.ok();
    recording.trace.is_whole("frames");
    let commands = recording.trace.commands();
    assert_eq!(commands[0].name, "zeInit");
    assert_eq!(named(&commands, "glClear").count(), 1);
    assert_eq!(named(&commands, "eglSwapBuffers").count(), 0);
}

#[test]
fn argument_that_a_tracer_changed_is_in_the_trace_as_made_and_as_passed() {
    let session = Session::new();
    let tool = example_tool("draws");
    let tool = tool.to_str().expect("a plain name");
    let recording = session.record(&["--tool", tool], &pipeline(&["2"]));
    recording.run.ok();
    recording.trace.is_whole("exit");
    let commands = recording.trace.commands();
    let sizes: Vec<_> = named(&commands, "zeKernelSetGroupSize")
        .map(|command| (command.integer("groupSizeX"), command.made_with("groupSizeX")))
        .collect();
    assert_eq!(sizes, [(1, json!(8)), (1, json!(8))]);
}

/// A case of `tracer_calls`, recorded through the layer.
#[track_caller]
fn traced(case: &str) -> (Session, Trace) {
    let session = Session::new();
    let recording = session.record(&[], on_null_driver(&level_zero("tracer_calls")).arg(case));
    recording.run.ok();
    recording.trace.is_whole("exit");
    (session, recording.trace)
}

#[test]
fn parameter_that_a_tracer_of_the_layer_changed_is_in_the_trace_as_made_and_as_passed() {
    let (_session, trace) = traced("changed_parameters");
    let commands = trace.commands();
    let sizes: Vec<_> = named(&commands, "zeMemAllocHost")
        .map(|command| (command.integer("size"), command.made_with("size"), command.tracer))
        .collect();
    assert_eq!(sizes, [(4096, json!(64), false)]);
    let others = commands.iter().filter(|command| command.made_with("size").is_null());
    assert_eq!(others.count(), commands.len() - 1);
}

#[test]
fn commands_that_tracers_of_the_layer_make_are_their_own() {
    let (_session, trace) = traced("reentry");
    let commands = trace.commands();
    let own = |name: &str| -> Vec<bool> {
        named(&commands, name).map(|command| command.tracer).collect()
    };
    // Each of the program's two calls makes one of the tracer's own, and one on a thread that the tracer begins.
    assert_eq!(own("zeContextGetStatus"), [true, false, false, true, false, false]);
    assert_eq!(own("zeMemAllocHost"), [true, true]);
    assert_eq!(own("zeContextCreate"), [false]);
}

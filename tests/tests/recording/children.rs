//! A program for each way of starting a child process: parent and child behave as natively, the parent's trace is whole,
//! and no command of the child is on a thread of the parent.

use std::ffi::OsStr;
use std::path::PathBuf;

use gapii_tests::gapii::{Command, Session};
use gapii_tests::loading::{behaves_as_natively, names, names_of_thread, offscreen};
use gapii_tests::programs::program;
use gapii_tests::scene;

/// The commands of the child, after those of the parent have been checked.
fn commands_of_child(kind: &str, child_program: Option<PathBuf>) -> Vec<Command> {
    let session = Session::new();
    let arguments = [Some(kind.as_ref()), child_program.as_deref().map(|path| path.as_os_str())];
    let arguments: Vec<&OsStr> = arguments.into_iter().flatten().collect();
    let recording = behaves_as_natively(&session, &mut offscreen(&program("child"), arguments));
    recording.trace.is_whole("exit");
    let commands = recording.trace.commands();
    let first = commands.first().expect("the parent's commands");
    let (parent, thread) = (first.pid, first.tid);
    let expected = [scene::OPEN, &scene::draw(), &scene::draw(), scene::CLOSE].concat();
    assert_eq!(names_of_thread(&commands, thread), expected);
    let (of_parent, of_child): (Vec<_>, Vec<_>) =
        commands.into_iter().partition(|command| command.pid == parent);
    assert!(of_parent.iter().all(|command| command.tid == thread), "{of_parent:?}");
    of_child
}

/// A child that did not exec is recorded whole, as one process of its own.
fn check_whole(kind: &str, calls: &[&str]) {
    let commands = commands_of_child(kind, None);
    assert_eq!(names(&commands), calls, "{kind}");
    let is_first = |command: &Command| command.pid == commands[0].pid;
    assert!(commands.iter().all(is_first), "{kind}: {commands:?}");
}

/// A child that became another program is recorded from its first call.
fn check_exec(kind: &str) {
    let commands = commands_of_child(kind, Some(program("load_linked")));
    assert_eq!(names(&commands), scene::scene(), "{kind}");
}

fn scene_on_a_device() -> Vec<&'static str> {
    let mut calls = vec!["eglGetProcAddress", "eglQueryDevicesEXT", "eglGetPlatformDisplay"];
    // The child does not bind the API, because GLES is a process' initial API.
    calls.extend(scene::OPEN[1..].iter().filter(|name| **name != "eglBindAPI"));
    calls.extend(scene::draw());
    calls
}

#[test]
fn child_of_fork_that_draws_leaves_its_parent_alone() {
    check_whole("fork", &scene_on_a_device());
}

#[test]
fn child_of_fork_that_asks_leaves_its_parent_alone() {
    check_whole("fork-ask", &["glIsEnabled", "glGetError"].repeat(100));
}

#[test]
fn child_of_raw_clone_leaves_its_parent_alone() {
    check_whole("clone", &scene_on_a_device());
}

#[test]
fn child_of_fork_that_execs_is_recorded() {
    check_exec("fork-exec");
}

#[test]
fn child_of_vfork_that_execs_is_recorded() {
    check_exec("vfork-exec");
}

#[test]
fn spawned_child_is_recorded() {
    check_exec("spawn");
}

//! `start`: attaches to a running application, or to all, and captures from the next frame on. A name that fits several
//! applications is refused with their pids. Ends when the capture does; Ctrl-C and SIGTERM stop it, a second one after
//! more than 1 s gives up waiting. The application runs on.

use std::path::Path;

use clap::Args;
use gapii_control::{AppInfo, Event, Request, StartRequest, Target};
use rustix::event::{PollFd, PollFlags};

use crate::args::{App, Connect, Json, Limits, Output, capture_name};
use crate::capture::{Capture, Report};
use crate::commands::apps;
use crate::connection::Connection;
use crate::emptiness::onlooker::{self, Onlooker};
use crate::failure::{Failure, Kind};
use crate::output_file::OutputFile;
use crate::signals::Signals;
use crate::text;
use crate::wait;

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl start --app PROGRAM --frames 100 -o x.gapii     the next 100 frames of a running program
  gapii-ctl start --when gl-error --seconds 5 -o x.gapii    5 s from the next OpenGL error on";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Start {
    #[command(flatten)]
    app: App,

    /// Capture every connected application into one trace
    #[arg(long, conflicts_with = "app")]
    all: bool,

    /// Name of the capture, for `gapii-ctl list`, `stop`, `pause` and `resume`
    #[arg(long, value_name = "NAME", value_parser = capture_name)]
    name: Option<String>,

    #[command(flatten)]
    limits: Limits,

    #[command(flatten)]
    output: Output,

    #[command(flatten)]
    json: Json,
}

pub fn run(args: &Start, connect: &Connect) -> Result<u8, Failure> {
    args.output.must_leave_room_for(&args.json)?;
    let signals = Signals::block()
        .map_err(|error| Failure::system(format!("can't watch for signals: {error}")))?;
    let mut connection = Connection::open(connect)?;
    let apps = match connection.ask(&Request::Apps)? {
        Event::Apps(apps) => apps,
        other => return Err(connection.out_of_turn(&other)),
    };
    let (target, name, pid) = if args.all && apps.len() > 1 {
        (Target::All, "applications", apps[0].pid)
    } else {
        let chosen = choose(&apps, args.app.app.as_deref())
            .map_err(|failure| explained(failure, args.app.app.as_deref(), connect))?;
        (Target::App(chosen.pid.to_string()), chosen.name.raw(), chosen.pid)
    };
    let request = StartRequest { name: args.name.clone(), ..args.limits.request(target) };
    if request.name.is_some() || request.bytes.is_some() {
        connection.must_share()?;
    }
    let output = OutputFile::open(&args.output, name)?;
    let mut capture = Capture::start(connection, request, output)?;
    capture.settle();
    follow(&mut capture, &mut Onlooker::of_process(pid), &signals, args.json.json)
}

/// Adds to a failure to find an application why the process that `wanted` names is none. Processes of other machines cannot be
/// looked at.
fn explained(failure: Failure, wanted: Option<&str>, connect: &Connect) -> Failure {
    let named = wanted.filter(|_| connect.via.is_none() && failure.kind == Kind::Unreachable);
    let pids = named.map(onlooker::processes_named).unwrap_or_default();
    let Some(why) = pids.into_iter().rev().find_map(onlooker::why_not_connected) else {
        return failure;
    };
    let wanted = named.unwrap_or_default();
    Failure::unreachable(format!("no application {wanted} is connected: {}", why.sentence))
        .because(why.reason)
}

/// Returns the application that `wanted` names, or the only connected one.
fn choose<'a>(apps: &'a [AppInfo], wanted: Option<&str>) -> Result<&'a AppInfo, Failure> {
    let fits = |app: &&AppInfo| wanted.is_none_or(|wanted| is_named(app, wanted));
    let candidates: Vec<_> = apps.iter().filter(fits).collect();
    match (candidates.as_slice(), wanted) {
        ([only], _) => Ok(only),
        ([], None) => Err(Failure::unreachable(apps::NO_APP)),
        ([], Some(wanted)) => Err(Failure::unreachable(format!(
            "no application {wanted} is connected; `gapii-ctl apps` lists those that are, which `gapii-ctl run` has started"
        ))),
        (several, _) => Err(Failure::usage(format!(
            "several applications match; choose one with `--app PID`, or all with `--all`: {}",
            several
                .iter()
                .map(|app| format!("{} ({})", app.pid, app.name))
                .collect::<Vec<_>>()
                .join(", ")
        ))),
    }
}

fn is_named(app: &AppInfo, wanted: &str) -> bool {
    let executable = Path::new(app.exe.raw());
    app.pid.to_string() == wanted
        || app.name == wanted
        || executable.file_name() == Path::new(wanted).file_name()
}

fn follow(
    capture: &mut Capture<'_>,
    onlooker: &mut Onlooker,
    signals: &Signals,
    is_json: bool,
) -> Result<u8, Failure> {
    loop {
        // Before the wait: events that arrived with an answer do not make the socket readable again.
        if let Some(outcome) = capture.advance()? {
            let Report { failure, empty } = capture.report(&outcome, onlooker);
            if is_json {
                let answer = capture.answer("start", Some(&outcome), empty, failure.as_ref());
                text::print_json(&answer)?;
            }
            return failure.map_or(Ok(0), Err);
        }
        let deadline = capture.deadline();
        let mut watched =
            [PollFd::new(signals, PollFlags::IN), PollFd::new(&*capture, PollFlags::IN)];
        wait::until_ready(&mut watched, deadline)
            .map_err(|error| Failure::system(format!("can't wait: {error}")))?;
        while signals.next().is_some() {
            capture.stop()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apps() -> Vec<AppInfo> {
        let app = |pid, name: &str, exe: &str| AppInfo {
            pid,
            name: name.into(),
            exe: exe.into(),
            ..AppInfo::default()
        };
        vec![
            app(10, "gears", "/usr/bin/es2gears_x11"),
            app(11, "mpv", "/usr/bin/mpv"),
            app(12, "mpv", "/usr/bin/mpv"),
        ]
    }

    fn check(wanted: Option<&str>, expected: Result<u32, u8>) {
        let found = apps();
        let chosen = choose(&found, wanted).map(|app| app.pid);
        assert_eq!(chosen.map_err(|failure| failure.status_of("start")), expected, "{wanted:?}");
    }

    #[test]
    fn application_is_found_by_pid_name_or_executable() {
        check(Some("10"), Ok(10));
        check(Some("gears"), Ok(10));
        check(Some("es2gears_x11"), Ok(10));
        check(Some("12"), Ok(12));
    }

    #[test]
    fn none_or_several_candidates_are_refused() {
        check(None, Err(2));
        check(Some("mpv"), Err(2));
        check(Some("vim"), Err(3));
        assert_eq!(choose(&[], None).map_err(|failure| failure.status_of("start")).err(), Some(3));
    }

    #[test]
    fn several_candidates_are_listed() {
        let failure = choose(&apps(), Some("mpv")).expect_err("two fit");
        assert!(failure.sentence.ends_with("11 (mpv), 12 (mpv)"), "{failure}");
    }
}

//! `GAPII_WAIT`: the process' first command waits for a daemon, and then for a capture.
//!
//! The wait ends with an order to record, when another client lets the program go, or after `GAPII_WAIT_SECONDS`. A
//! wait that is not over at once says on standard error what it waits for, and how it ended if nothing is recorded.

use core::fmt::Display;
use core::sync::atomic::Ordering::{Acquire, Relaxed};
use std::path::Path;
use std::time::{Duration, Instant};

use gapii_abi::app;
use gapii_ringbuf::Mode;

use crate::connection::Connection;
use crate::dial;
use crate::environment;
use crate::first_command;
use crate::process;
use crate::standard_error;

/// How often a waiting process checks that its daemon is alive, or looks for one. A search begins at the shorter time.
const LOOK_AROUND: Duration = Duration::from_millis(200);
const FIRST_SEARCH: Duration = Duration::from_millis(20);
/// A wait that is over after this time says nothing: the capture of `run` begins at once.
const QUIET: Duration = Duration::from_millis(200);

/// The next event that a held process waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Daemon,
    Capture,
}

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The daemon has ordered a capture, or something that needs no word.
    Quiet,
    /// The daemon lets the process go without a capture.
    LetGo,
    TimeOut,
    Interrupted,
}

/// Connects to a daemon, and blocks while the environment and the daemon say so. For the time before the process' first
/// command.
pub fn for_capture() {
    let Some(limit) = environment::wait_limit() else { return };
    let wait = Wait { began: Instant::now(), limit };
    let is_refused = !process::connect();
    // `run` starts a daemon that has died again.
    let comes_back = process::connection().is_some() || (!is_refused && dial::has_socket());
    let (mut told, mut has_waited) = (None, false);
    let mut search = FIRST_SEARCH;
    loop {
        let need = match look() {
            Ok(need) => need,
            // Over before it began: the process is in a capture, or none is meant for it.
            Err(End::LetGo) if !has_waited => return,
            Err(end) => return wait.say_end(end),
        };
        let is_over = need == Need::Daemon && !has_waited && !comes_back;
        if is_over && environment::launch().is_some() {
            // `run` has ended, or its daemon does not want this process.
            return;
        }
        has_waited = true;
        let left = wait.left();
        if left.is_zero() {
            if let Some(connection) = process::connection() {
                give_up(connection);
            }
            return wait.say_end(End::TimeOut);
        }
        if told != Some(need) && wait.began.elapsed() >= QUIET {
            wait.say(need);
            told = Some(need);
        }
        match process::connection() {
            Some(connection) => {
                let mode = &connection.shared.mode;
                // MODE: pairs with the release in ModePage::publish.
                let seen = mode.orders().load(Acquire);
                // The order may have come between the look and this load.
                if matches!(look(), Ok(Need::Capture)) {
                    mode.wait_order(seen, LOOK_AROUND.min(left));
                }
            }
            None => {
                std::thread::sleep(search.min(left));
                search = (search * 2).min(LOOK_AROUND);
                process::connect();
            }
        }
    }
}

/// Looks once: what the process needs, or how its wait has ended. Drops a connection whose daemon is gone.
fn look() -> Result<Need, End> {
    if first_command::was_interrupted() {
        return Err(End::Interrupted);
    }
    // A signal handler has forked: the child does not wait.
    if process::is_forked_child() {
        return Err(End::Quiet);
    }
    let Some(connection) = process::connection() else { return Ok(Need::Daemon) };
    match connection.shared.mode.settings().map(|(_, settings)| settings.mode) {
        Some(Mode::Capturing) => Err(End::Quiet),
        Some(Mode::Idle) => Err(End::LetGo),
        Some(Mode::Wait) | None if connection.is_daemon_gone() => {
            process::disconnect();
            Ok(Need::Daemon)
        }
        Some(Mode::Wait) | None => Ok(Need::Capture),
    }
}

/// Tells the daemon that the process no longer waits.
fn give_up(connection: &Connection) {
    if let Some((generation, settings)) = connection.shared.mode.settings()
        && settings.mode == Mode::Wait
    {
        // Relaxed: nothing was recorded under this order.
        connection.shared.segment.header().ended_generation.store(generation, Relaxed);
    }
}

struct Wait {
    began: Instant,
    limit: Duration,
}

impl Wait {
    fn left(&self) -> Duration {
        self.limit.saturating_sub(self.began.elapsed())
    }

    fn say(&self, need: Need) {
        let (socket, pid) = (dial::wanted_socket(), std::process::id());
        let left = self.left().as_secs_f64().ceil();
        let start = start_command(&socket);
        match need {
            Need::Daemon => {
                let (socket, ours) = (socket.display(), dial::own_user());
                let why = match dial::foreign_listener() {
                    Some(theirs) => format!(
                        "the daemon on {socket} belongs to user {theirs}, and only one of user {ours} or root may \
                         record this process"
                    ),
                    None => format!("no daemon answers on {socket}"),
                };
                say(&format_args!(
                    "is held before its first command for up to {left} s: {why}; begin with `gapiid`, then `{start}`"
                ));
            }
            Need::Capture => say(&format_args!(
                "is held before its first command for up to {left} s; begin a capture with `{start}`, or let it go on \
                 with `gapii-ctl stop --app {pid}`"
            )),
        }
    }

    fn say_end(&self, end: End) {
        let limit = self.limit.as_secs_f64();
        match end {
            End::Quiet => {}
            End::LetGo => say(&"goes on unrecorded: its wait was ended"),
            End::TimeOut => {
                say(&format_args!("goes on unrecorded: no capture of it began within {limit} s"));
            }
            End::Interrupted => {
                say(&"goes on unrecorded: a signal handler made a command during the wait");
            }
        }
    }
}

/// Prints a sentence about this process.
fn say(what: &dyn Display) {
    let name = std::fs::read_to_string("/proc/self/comm").unwrap_or_default();
    let name = name.trim_end().escape_debug().to_string();
    standard_error::print(&format!("gapii: {name} (pid {}) {what}\n", std::process::id()));
}

/// Returns the command that begins a capture of this process, on this machine.
fn start_command(socket: &Path) -> String {
    let pid = std::process::id();
    match dial::is_default(socket) {
        true => format!("gapii-ctl start --app {pid}"),
        false => {
            let clients = socket.with_file_name(app::CLIENT_SOCKET_NAME);
            format!("gapii-ctl start --connect unix:{} --app {pid}", clients.display())
        }
    }
}

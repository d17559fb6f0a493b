//! The session: one daemon's lifetime, with its connected processes, captures and refusals. Decides whether a capture
//! starts: invalid values, more than `--max-captures` captures, a name in use, allocated bytes above `--memory`, and
//! options that do not fit a running capture are refused. Above `--memory` the capture that holds most memory ends, one
//! at a time. A hello from a pid that is connected ends the earlier process. A process of a launch joins that launch's
//! capture; 4,096 ended launches are remembered, so their late processes do not wait.

mod comers;
mod counters;
mod keeping;
mod report;
pub mod reports;
mod retention;
mod table;
pub mod take_up;
mod totals;
mod waiting;
mod wishes;

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use gapii_abi::app::{self, AppHello, Launch};
use gapii_control::{
    AppInfo, ControlError, Ended, StartRequest, StopRequest, Stopped, Target, Totals, code,
};
use gapii_ringbuf::{CaptureId, Mode, ModeSettings, SegmentLayout};
use gapii_trace::Description;
use rustix::process::Pid;
use tokio::sync::{Notify, Semaphore, mpsc, oneshot};

use crate::clock;
use crate::config::Config;
use crate::door::Door;
use crate::memory;
use crate::refusals::Refusals;
use crate::remote::links::Links;
use crate::session::counters::Counters;
use crate::session::reports::Reports;
use crate::session::retention::Retention;
use crate::session::table::{Table, busy};
use crate::session::totals::{refused_rings, sum};
use gapii_capture::capture::{Capture, Destination, Resources};
use gapii_capture::drain::DrainHandle;
use gapii_capture::end::{Cause, Departure};
use gapii_capture::plan::Plan;
use gapii_capture::process::{Counter, Descriptors, Process};
use gapii_capture::spill::SpillRoom;

/// Largest number of saves of all clients at the same time.
pub const SAVES_MAX: usize = 64;

/// Largest number of readers of metrics at the same time. Further ones wait to be accepted.
pub const READERS_MAX: usize = 8;

/// Admission to the sockets.
#[derive(Debug, Default)]
pub struct Doors {
    pub apps: Door,
    pub clients: Door,
}

/// The state that all connections share.
#[derive(Debug)]
pub struct Session {
    pub id: [u8; 16],
    rejected: Counters,
    pub refusals: Refusals,
    /// Notified when an application or a capture comes or goes.
    pub changed: Notify,
    pub reports: Reports,
    /// Remote clients.
    pub links: Links,
    pub doors: Doors,
    /// Places for readers of metrics.
    pub readers: Arc<Semaphore>,
    /// Places for saves, of all clients.
    pub saves: Arc<Semaphore>,
    started_ns: u64,
    layout: SegmentLayout,
    max_apps: usize,
    max_clients: usize,
    max_captures: usize,
    memory_limit: u64,
    retention: Retention,
    level: i32,
    store_bytes: u64,
    /// The counter page for applications that connect from now on.
    counter: Mutex<Counter>,
    /// Notified when a process hands its rings over.
    handed_over: Notify,
    spill_room: Arc<SpillRoom>,
    table: Mutex<Table>,
}

/// Why an application is refused.
#[derive(Debug, thiserror::Error)]
pub enum RegisterError {
    #[error("{0} applications are connected, which is the limit (option max-apps)")]
    TooMany(usize),
    #[error("shared memory for the application: {0}")]
    Io(#[from] io::Error),
}

impl Session {
    /// Makes a session without applications and captures.
    pub fn new(config: &Config) -> anyhow::Result<Arc<Self>> {
        let layout = SegmentLayout::new(config.slots, config.ring_size)
            .context("rings of this size and number do not fit into one memory file; lower `--slots` or `--ring-size`")?;
        let counter = Counter::create().context("cannot make the counter page")?;
        Ok(Arc::new(Self {
            id: random_id().context("cannot read /dev/urandom")?,
            rejected: Counters::default(),
            refusals: Refusals::default(),
            changed: Notify::new(),
            reports: Reports::default(),
            links: Links::new(&config.remote),
            doors: Doors::default(),
            readers: Arc::new(Semaphore::new(READERS_MAX)),
            saves: Arc::new(Semaphore::new(SAVES_MAX)),
            started_ns: clock::monotonic_ns(),
            layout,
            max_apps: config.max_apps as usize,
            max_clients: config.max_clients as usize,
            max_captures: config.max_captures as usize,
            memory_limit: config.memory,
            retention: Retention::of(config),
            level: config.level,
            store_bytes: config.keep_contents,
            counter: Mutex::new(counter),
            handed_over: Notify::new(),
            spill_room: Arc::new(SpillRoom::new(
                config.spill_folder(),
                config.spill,
                config.spill_total,
            )),
            table: Mutex::new(Table::default()),
        }))
    }

    fn counter(&self) -> Counter {
        self.counter.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds an application. Its mode page is set before the application gets it. Ends an earlier process with the
    /// same pid.
    pub fn register(
        self: &Arc<Self>,
        pid: Pid,
        hello: &AppHello,
    ) -> Result<(Arc<Process>, Descriptors), RegisterError> {
        let mut table = self.lock();
        let number = pid.as_raw_pid() as u32;
        let earlier = table.processes.values().find(|process| process.pid == number);
        if let Some(index) = earlier.map(|process| process.index) {
            table.unregister(index, Departure::Exec);
        }
        if table.processes.len() >= self.max_apps {
            return Err(RegisterError::TooMany(table.processes.len()));
        }
        let (process, fds) = Process::new(
            table.next_process,
            pid,
            hello,
            self.layout,
            self.store_bytes,
            (self.counter(), clock::SYSTEM),
        )?;
        let process = Arc::new(process);
        table.next_process += 1;
        let was_asked_for =
            process.launch.is_some_and(|launch| self.serve(&mut table, &process, launch));
        if !was_asked_for && !table.ending && hello.flags & app::FLAG_WAIT != 0 {
            process.set_mode(ModeSettings { mode: Mode::Wait, ..ModeSettings::default() });
        }
        table.processes.insert(process.index, Arc::clone(&process));
        drop(table);
        self.note_change();
        Ok((process, fds))
    }

    /// Does what was asked for the processes of a launch with a new one of them. Returns false if nothing was asked for yet;
    /// true also if the process comes too late for its launch's capture, which is ending or has ended, or if its frames
    /// cannot be kept: no other capture of the launch will come.
    fn serve(self: &Arc<Self>, table: &mut Table, process: &Arc<Process>, launch: Launch) -> bool {
        let capture = table.launched(launch).inspect(|capture| _ = capture.join(process)).is_some();
        let wish = table.wishes.get(launch);
        let is_wished = wish.is_some();
        if let Some(wish) = wish
            && let Err(error) = self.keep(table, process, wish)
        {
            tracing::warn!(pid = process.pid, %error, "the frames of {} are not kept: {error}", process.described());
        }
        capture || is_wished || table.ended_launches.contains(&launch)
    }

    /// Removes an application that is gone. Its captures still take its last records.
    pub fn unregister(&self, index: u32, how: Departure) {
        self.lock().unregister(index, how);
        self.note_change();
    }

    /// Returns a receiver that fails as soon as the process is not in the table any more: a process with the same pid
    /// has taken its place, or it was removed by [`Session::unregister`].
    pub fn until_unregistered(&self, index: u32) -> oneshot::Receiver<Infallible> {
        let (connection, left) = oneshot::channel();
        let mut table = self.lock();
        if table.processes.contains_key(&index) {
            table.connections.insert(index, connection);
        }
        left
    }

    /// Counts a client that has sent its hello. Fails if there are too many.
    pub fn admit_client(&self) -> Result<(), ControlError> {
        let mut table = self.lock();
        if table.clients >= self.max_clients {
            return Err(ControlError::new(
                code::TOO_MANY,
                format!("{} clients are connected, which is the limit", table.clients),
                "end one of them, or restart the daemon with a larger `--max-clients`",
            ));
        }
        table.clients += 1;
        Ok(())
    }

    /// Notes that an admitted client is gone.
    pub fn dismiss_client(&self) {
        self.lock().clients -= 1;
    }

    /// Starts a capture. `ended` receives its end.
    pub fn start(
        self: &Arc<Self>,
        request: StartRequest,
        (client, output): (u32, OwnedFd),
        ended: mpsc::UnboundedSender<Ended>,
    ) -> Result<(Arc<Capture>, Vec<AppInfo>), ControlError> {
        check(&request)?;
        let mut table = self.lock();
        if table.ending {
            return Err(ends());
        }
        self.check_captures(&table)?;
        let processes = table.candidates(&request.target)?;
        let id = table.last_capture + 1;
        let launch = launch_of(&request.target);
        if let Some(name) = &request.name
            && let Some(other) = table.called(name)
        {
            let message = format!("capture {} has the name {name:?}", other.plan.id);
            let suggestion = "choose another one with `--name NAME`";
            return Err(ControlError::new(code::BUSY, message, suggestion));
        }
        let plan = Plan { launch, client, ..self.plan(id, &request) };
        let drain = table.drain_of(&processes)?;
        let plan = match &drain {
            None => plan,
            Some(drain) => plan.beside(&drain.plan).map_err(|lacks| {
                let whom: Vec<_> = processes.iter().map(|process| process.described()).collect();
                let whom = whom.join(", ");
                busy(&format!(
                    "{whom} cannot be captured like this beside another capture: {lacks}"
                ))
            })?,
        };
        let is_shared = drain.is_some();
        let (destination, counter) = (Destination::File(output), self.counter_of(&processes));
        let begun = self.begin(&mut table, plan, destination, (drain, &counter), ended);
        let capture = begun.map_err(|error| {
            let message = format!("the capture cannot start: {error}");
            ControlError::new(code::INTERNAL, message, SEE_STATUS)
        })?;
        let joined = processes.iter().filter(|process| match is_shared {
            true => capture.want(process),
            false => capture.join(process),
        });
        let apps = joined.map(|process| process.info()).collect();
        capture.all_joined();
        drop(table);
        self.note_change();
        Ok((capture, apps))
    }

    /// Starts a capture and enters it into the table. It takes part in `drain`, or in a drain of its own.
    fn begin(
        self: &Arc<Self>,
        table: &mut Table,
        plan: Plan,
        destination: Destination,
        (drain, counter): (Option<Arc<DrainHandle>>, &Counter),
        ended: mpsc::UnboundedSender<Ended>,
    ) -> io::Result<Arc<Capture>> {
        let (id, session) = (plan.id, Arc::clone(self));
        let on_end = move |summary| session.capture_ended(Ended { capture: id, summary }, &ended);
        let resources = self.resources(counter);
        let capture = Capture::start(plan, destination, resources, drain, on_end)?;
        table.last_capture = id;
        table.captures.insert(id, Arc::clone(&capture));
        Ok(capture)
    }

    /// Returns the counter page of these processes, or the one for later processes if there are none.
    fn counter_of(&self, processes: &[Arc<Process>]) -> Counter {
        let first = processes.first().map(|process| process.counter().clone());
        first.unwrap_or_else(|| self.counter())
    }

    fn resources<'a>(&'a self, counter: &'a Counter) -> Resources<'a> {
        Resources { counter, spill_room: &self.spill_room, clock: clock::SYSTEM }
    }

    fn plan(&self, id: u64, request: &StartRequest) -> Plan {
        Plan {
            id,
            client: 0,
            origin: CaptureId { session: self.id, number: id },
            launch: None,
            frames: request.frames,
            skip_frames: request.skip_frames,
            seconds: request.seconds,
            overflow: request.overflow,
            stall_ms: request.stall_ms,
            observe_frames: request.observe_frames,
            frame_pixels: request.frame_pixels,
            timing: request.timing || request.gpu_timing,
            gpu_timing: request.gpu_timing,
            counts_submits: request.counts_submits,
            at_any_command: request.at_any_command,
            frame_rule: request.frame_rule.clone(),
            attach_memory: request.attach_memory,
            keep: None,
            name: request.name.clone(),
            bytes: request.bytes,
            if_slow: request.if_slow,
            filter: request.filter.clone(),
            when: request.when.clone(),
            command: request.command.clone(),
            level: self.level,
            ring_bytes: self.layout.ring_bytes(),
        }
    }

    /// Refuses a capture above the limits.
    fn check_captures(&self, table: &Table) -> Result<(), ControlError> {
        let held = memory::allocated_bytes();
        let (message, suggestion) = if table.captures.len() >= self.max_captures {
            let message = format!("{} captures run, which is the limit", table.captures.len());
            (
                message,
                "end one with `gapii-ctl stop`, or restart the daemon with a larger `--max-captures`",
            )
        } else if held > self.memory_limit {
            let limit = self.memory_limit;
            let message =
                format!("the daemon has allocated {held} bytes, and its limit is {limit}");
            (
                message,
                "end a capture with `gapii-ctl stop`, or restart the daemon with a larger `--memory`",
            )
        } else {
            return Ok(());
        };
        Err(ControlError::new(code::TOO_MANY, message, suggestion))
    }

    /// Ends the capture that holds most memory, if the daemon has allocated more than it may. Ends one at a time,
    /// because its memory is free once it has ended.
    pub fn bound_memory(&self) {
        let held = memory::allocated_bytes();
        if held <= self.memory_limit {
            return;
        }
        let mut table = self.lock();
        if table.ends_for_memory.is_some_and(|id| table.captures.contains_key(&id)) {
            return;
        }
        let most = table.captures.values().max_by_key(|it| (it.held_bytes(), it.plan.id));
        let Some(id) = most.filter(|it| it.stop(Cause::Memory)).map(|it| it.plan.id) else {
            return;
        };
        table.ends_for_memory = Some(id);
        let limit = self.memory_limit;
        tracing::warn!(
            capture = id,
            "the daemon has allocated {held} bytes, above the limit of {limit}: capture {id}, which holds most of them, ends"
        );
    }

    /// Tells captures to stop, and lets the target's applications go that wait for a capture.
    pub fn stop(&self, request: &StopRequest) -> Result<Stopped, ControlError> {
        let mut table = self.lock();
        let let_go = match (request.capture, &request.name) {
            (None, None) => table.let_go(&request.target),
            _ => 0,
        };
        let captures = match table.targeted(request) {
            Err(_) if let_go > 0 => Vec::new(),
            captures => captures?,
        };
        let stopped = captures.into_iter().filter(|capture| capture.stop(Cause::Stop));
        let captures = stopped.map(|capture| capture.plan.id).collect();
        drop(table);
        self.note_change();
        Ok(Stopped { captures, let_go })
    }

    /// Pauses or resumes captures. Returns their numbers.
    pub fn pause(&self, request: &StopRequest, pauses: bool) -> Result<Vec<u64>, ControlError> {
        let table = self.lock();
        let captures = table.targeted(request)?;
        if let Some(kept) = captures.iter().find(|capture| capture.kept.is_some()) {
            let message = format!(
                "capture {} keeps the last frames of a program, and cannot be paused or resumed",
                kept.plan.id
            );
            let suggestion = "`gapii-ctl list` shows the captures that can";
            return Err(ControlError::new(code::BAD_REQUEST, message, suggestion));
        }
        let told = captures.into_iter().filter(|capture| capture.pause(pauses));
        Ok(told.map(|capture| capture.plan.id).collect())
    }

    /// Returns the running captures.
    pub fn captures(&self) -> Vec<Arc<Capture>> {
        self.lock().captures.values().cloned().collect()
    }

    /// Ends everything: captures finish their traces, and waiting applications continue.
    pub fn end(&self) {
        let mut table = self.lock();
        table.ending = true;
        for process in table.processes.values().filter(|process| process.drain().is_none()) {
            process.set_mode(ModeSettings::default());
        }
        for capture in table.captures.values() {
            capture.hurry();
            capture.stop(Cause::Shutdown);
        }
    }

    /// Returns the session's id in hexadecimal.
    pub fn id_text(&self) -> String {
        self.id.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Counts refused input.
    pub fn reject(&self, counter: impl Fn(&Counters) -> &AtomicU64) {
        self.rejected.count(counter);
        self.reports.note_change();
    }

    /// Notes that an application or a capture has come or gone.
    fn note_change(&self) {
        self.changed.notify_one();
        self.reports.note_change();
    }

    fn capture_ended(&self, ended: Ended, client: &mpsc::UnboundedSender<Ended>) {
        let mut table = self.lock();
        if let Some(capture) = table.captures.remove(&ended.capture) {
            // Includes the end of the file, which the progress does not.
            let file_bytes = ended.summary.file_bytes;
            let totals = Totals { file_bytes, ..capture.progress.totals() };
            table.ended = sum(&table.ended, &totals);
            table.ended_refused_rings += refused_rings(&capture);
            *table.ended_by_reason.entry(ended.summary.reason.clone()).or_default() += 1;
            if let Some(launch) = capture.plan.launch {
                table.end_launch(launch);
            }
        }
        drop(table);
        log_end(&ended);
        self.note_change();
        // A client that is gone needs no message.
        let _ = client.send(ended);
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // A panic under the lock leaves valid maps.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn log_end(Ended { capture, summary }: &Ended) {
    let gapii_control::Summary { reason, frames, calls, file_bytes, lost, .. } = summary;
    let losses = match lost.calls {
        0 => "nothing lost".to_owned(),
        calls => format!("{calls} calls lost"),
    };
    tracing::info!(
        capture,
        reason,
        frames,
        calls,
        file_bytes,
        lost_calls = lost.calls,
        lost_bytes = lost.bytes,
        waits = summary.waits,
        "capture {capture} has ended ({reason}): {frames} frames, {calls} calls, {losses}"
    );
    if let Some(error) = &summary.error {
        tracing::warn!(capture, %error, "the output of capture {capture} failed: {error}");
    }
}

/// What to type if the daemon could not do something.
const SEE_STATUS: &str = "`gapii-ctl status` shows what the daemon does meanwhile";

/// Builds the error for a request that comes while the daemon ends.
fn ends() -> ControlError {
    ControlError::new(code::SHUTDOWN, "the daemon is ending", "start another one with `gapiid &`")
}

/// Refuses requests with invalid values.
fn check(request: &StartRequest) -> Result<(), ControlError> {
    const HELP: &str = "`gapii-ctl start --help` says which values are allowed";
    let bad = |message: String| Err(ControlError::new(code::BAD_REQUEST, message, HELP));
    const PATTERN: &str = "* and ? match in names of functions, as in `--function 'glTex*'`; `gapii-ctl stats FILE` lists those of a trace";
    let bad_name = |message| Err(ControlError::new(code::BAD_REQUEST, message, PATTERN));
    if let Some(mistake) = request.filter.mistake(Description::built_in()) {
        return bad_name(mistake);
    }
    if let Some(mistake) = request.frame_rule.mistake(Description::built_in()) {
        return bad_name(mistake);
    }
    if !request.frame_rule.is_empty()
        && (request.counts_submits || request.observe_frames.is_some())
    {
        return bad(
            "a capture with --frame-end has no --submits and no --observe-frames".to_owned()
        );
    }
    if let Some(mistake) =
        request.when.as_ref().and_then(|when| when.mistake(Description::built_in()))
    {
        return bad_name(mistake);
    }
    match (request.seconds, request.frames) {
        (Some(seconds), _) if !(seconds > 0.0 && seconds.is_finite()) => {
            bad(format!("a capture lasts more than 0 s, and {seconds} s were asked for"))
        }
        (_, Some(0)) => bad("a capture has at least 1 frame, and 0 were asked for".to_owned()),
        _ if request.bytes == Some(0) => bad("the limit of a trace is at least 1 byte, and 0 were asked for".to_owned()),
        _ if request.name.as_deref().is_some_and(|name| !gapii_control::is_name(name)) => {
            bad(format!(
                "the name of a capture has 1 to {} letters, digits, dots, dashes and underscores, and is not a number",
                gapii_control::NAME_LEN_MAX
            ))
        }
        _ if request.keep.is_some_and(|keep| keep.frames == 0 || keep.keyframe_every == 0) => {
            bad("0 frames were asked for, to keep or from one keyframe to the next, and at least 1 is needed".to_owned())
        }
        _ if request.keep.is_some() && !request.filter.is_empty() => {
            bad("frames are kept with all their commands, and a filter was given; leave it out".to_owned())
        }
        _ if request.when.is_some() && (request.keep.is_some() || request.skip_frames > 0) => {
            bad("a trigger says when the capture begins, and frames to skip or to keep were given as well; leave them out"
                .to_owned())
        }
        _ if request.observe_frames == Some(0) => {
            bad("every 0th frame cannot be read back; leave `--observe-frames` out to read none"
                .to_owned())
        }
        _ => Ok(()),
    }
}

/// Returns the launch that a target means, if it means one.
fn launch_of(target: &Target) -> Option<Launch> {
    match target {
        Target::Launch(launch) => Some(*launch),
        Target::Only | Target::All | Target::App(_) => None,
    }
}

fn random_id() -> io::Result<[u8; 16]> {
    let mut id = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut id)?;
    Ok(id)
}

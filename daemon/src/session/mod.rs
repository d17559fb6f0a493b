//! The session: one daemon's lifetime. Who is connected, what is being captured, what was refused.
//!
//! Knows no socket and no message framing. Its lock is held for short, bounded work only.

mod counters;
mod keeping;
mod report;
mod retention;
mod table;
pub mod take_up;
mod totals;
mod waiting;
mod wishes;

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use gapii_abi::app::{self, AppHello};
use gapii_control::{AppInfo, ControlError, StartRequest, StopRequest, Target, Totals, code};
use gapii_ringbuf::{CaptureId, Mode, ModeSettings, SegmentLayout};
use gapii_trace::Description;
use rustix::process::Pid;
use tokio::sync::{Notify, mpsc};

use crate::clock;
use crate::config::Config;
use crate::memory;
use crate::refusals::Refusals;
use crate::remote::links::Links;
use crate::session::counters::Counters;
use crate::session::retention::Retention;
use crate::session::table::{Table, busy};
use crate::session::totals::{refused_rings, sum};
use gapii_capture::capture::{Capture, Destination, Resources};
use gapii_capture::end::Cause;
use gapii_capture::end::Departure;
use gapii_capture::plan::Plan;
use gapii_capture::process::{Counter, Descriptors, Process};
use gapii_capture::spill::SpillRoom;

/// Launches whose capture has ended and whose late processes must not wait for one.
const ENDED_LAUNCHES: usize = 64;

/// What all connections share.
#[derive(Debug)]
pub struct Session {
    pub id: [u8; 16],
    pub rejected: Counters,
    pub refusals: Refusals,
    /// Notified when something changes that the status page shows.
    pub changed: Notify,
    /// Remote clients.
    pub links: Links,
    started_ns: u64,
    layout: SegmentLayout,
    max_apps: usize,
    max_clients: usize,
    max_captures: usize,
    memory_limit: u64,
    retention: Retention,
    level: i32,
    store_bytes: u64,
    /// What applications take stamps from that connect from now on.
    counter: Mutex<Counter>,
    /// Notified when a process hands its rings over.
    handed_over: Notify,
    spill_room: Arc<SpillRoom>,
    table: Mutex<Table>,
}

/// Why an application is not taken.
#[derive(Debug, thiserror::Error)]
pub enum RegisterError {
    #[error("{0} applications are connected, and no more are taken")]
    TooMany(usize),
    #[error("shared memory for the application: {0}")]
    Io(#[from] io::Error),
}

impl Session {
    pub fn new(config: &Config) -> anyhow::Result<Arc<Self>> {
        let layout = SegmentLayout::new(config.slots, config.ring_size)
            .context("rings of this size and number do not fit")?;
        let counter = Counter::create().context("cannot make the counter page")?;
        Ok(Arc::new(Self {
            id: random_id().context("cannot read /dev/urandom")?,
            rejected: Counters::default(),
            refusals: Refusals::default(),
            changed: Notify::new(),
            links: Links::new(&config.remote),
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

    /// Takes an application in: it is told what to do before it hears of it. Ends an earlier one of
    /// the same pid.
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
        let pending = process.launch.and_then(|launch| table.launched(launch));
        let mut joined = pending.is_some_and(|capture| capture.join(&process));
        if let Some(wish) = process.launch.and_then(|launch| table.wishes.get(launch)) {
            joined |= self.keep(&mut table, &process, wish).is_ok();
        }
        let over = process.launch.is_some_and(|launch| table.ended_launches.contains(&launch));
        if !joined && !over && !table.ending && hello.flags & app::FLAG_WAIT != 0 {
            process.set_mode(ModeSettings { mode: Mode::Wait, ..ModeSettings::default() });
        }
        table.processes.insert(process.index, Arc::clone(&process));
        drop(table);
        self.changed.notify_one();
        Ok((process, fds))
    }

    /// Forgets an application that is gone. Its capture takes what it left.
    pub fn unregister(&self, index: u32, how: Departure) {
        self.lock().unregister(index, how);
        self.changed.notify_one();
    }

    /// Counts a client that has said hello, if there is room for it.
    pub fn admit_client(&self) -> Result<(), ControlError> {
        let mut table = self.lock();
        if table.clients >= self.max_clients {
            return Err(ControlError::new(
                code::TOO_MANY,
                format!("{} clients are connected, and no more are taken", table.clients),
            ));
        }
        table.clients += 1;
        Ok(())
    }

    /// A client that was admitted is gone.
    pub fn dismiss_client(&self) {
        self.lock().clients -= 1;
    }

    /// Starts a capture; `ended` hears of its end.
    pub fn start(
        self: &Arc<Self>,
        request: StartRequest,
        (client, output): (u32, OwnedFd),
        ended: mpsc::UnboundedSender<gapii_control::Ended>,
    ) -> Result<(Arc<Capture>, Vec<AppInfo>), ControlError> {
        check(&request)?;
        let mut table = self.lock();
        if table.ending {
            return Err(ControlError::new(code::SHUTDOWN, "the daemon is going away"));
        }
        self.check_captures(&table)?;
        let processes = table.candidates(&request.target)?;
        let id = table.last_capture + 1;
        let launch = match request.target {
            Target::Launch(launch) => Some(launch),
            _ => None,
        };
        if let Some(name) = &request.name
            && let Some(other) = table.called(name)
        {
            let message = format!("capture {} is called {name:?} already", other.plan.id);
            return Err(ControlError::new(code::BUSY, message));
        }
        let plan = Plan { launch, client, ..self.plan(id, &request) };
        let drain = table.drain_of(&processes)?;
        let plan = match &drain {
            None => plan,
            Some(drain) => plan.beside(&drain.plan).map_err(|lacks| {
                let whom: Vec<_> = processes.iter().map(|process| process.described()).collect();
                busy(&format!("{} cannot be captured so: {lacks}", whom.join(", ")))
            })?,
        };
        let session = Arc::clone(self);
        let on_end = move |summary| {
            session.capture_ended(gapii_control::Ended { capture: id, summary }, &ended)
        };
        let is_shared = drain.is_some();
        let destination = Destination::File(output);
        let counter = self.counter_of(&processes);
        let resources = self.resources(&counter);
        let capture = Capture::start(plan, destination, resources, drain, on_end);
        let capture = capture.map_err(|error| {
            ControlError::new(code::INTERNAL, format!("the capture cannot start: {error}"))
        })?;
        table.last_capture = id;
        table.captures.insert(id, Arc::clone(&capture));
        let joined = processes.iter().filter(|process| match is_shared {
            true => capture.want(process),
            false => capture.join(process),
        });
        let apps = joined.map(|process| process.info()).collect();
        capture.all_joined();
        drop(table);
        self.changed.notify_one();
        Ok((capture, apps))
    }

    /// The counter that these processes share; of none, the one that later ones get.
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
            timing: request.timing,
            counts_submits: request.counts_submits,
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

    /// Refuses a capture more than there may be.
    fn check_captures(&self, table: &Table) -> Result<(), ControlError> {
        let held = memory::allocated_bytes();
        let message = if table.captures.len() >= self.max_captures {
            format!("{} captures run, and no more are begun", table.captures.len())
        } else if held > self.memory_limit {
            let limit = self.memory_limit;
            format!("the daemon holds {held} bytes of the {limit} that it may (its option memory)")
        } else {
            return Ok(());
        };
        Err(ControlError::new(code::TOO_MANY, message))
    }

    /// Ends the capture that holds most, where the daemon holds more memory than it may: one at a time,
    /// since what it held is free once it has ended.
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
            "the daemon holds {held} bytes of the {limit} that it may: capture {id}, which holds most of them, ends"
        );
    }

    /// Tells captures to stop; returns which.
    pub fn stop(&self, request: &StopRequest) -> Result<Vec<u64>, ControlError> {
        let table = self.lock();
        let captures = table.targeted(request)?;
        Ok(captures
            .into_iter()
            .filter(|capture| capture.stop(Cause::Stop))
            .map(|capture| capture.plan.id)
            .collect())
    }

    /// Has captures leave out what comes, or go on; returns which.
    pub fn pause(&self, request: &StopRequest, pauses: bool) -> Result<Vec<u64>, ControlError> {
        let table = self.lock();
        let captures = table.targeted(request)?;
        if let Some(kept) = captures.iter().find(|capture| capture.kept.is_some()) {
            let message =
                format!("capture {} is what is kept of a program, and goes on", kept.plan.id);
            return Err(ControlError::new(code::BAD_REQUEST, message));
        }
        let told = captures.into_iter().filter(|capture| capture.pause(pauses));
        Ok(told.map(|capture| capture.plan.id).collect())
    }

    /// The captures that run.
    pub fn captures(&self) -> Vec<Arc<Capture>> {
        self.lock().captures.values().cloned().collect()
    }

    pub fn apps(&self) -> Vec<AppInfo> {
        self.lock().processes.values().map(|process| process.info()).collect()
    }

    /// Ends everything: captures close their traces, waiting applications go on.
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

    /// The session's id in hexadecimal.
    pub fn id_text(&self) -> String {
        self.id.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn capture_ended(
        &self,
        ended: gapii_control::Ended,
        client: &mpsc::UnboundedSender<gapii_control::Ended>,
    ) {
        let mut table = self.lock();
        if let Some(capture) = table.captures.remove(&ended.capture) {
            // With the end of the file, of which progress has not heard.
            let file_bytes = ended.summary.file_bytes;
            let totals = Totals { file_bytes, ..capture.progress.totals() };
            table.ended = sum(&table.ended, &totals);
            table.ended_refused_rings += refused_rings(&capture);
            *table.ended_by_reason.entry(ended.summary.reason.clone()).or_default() += 1;
            if let Some(launch) = capture.plan.launch {
                table.ended_launches.push_back(launch);
                if table.ended_launches.len() > ENDED_LAUNCHES {
                    table.ended_launches.pop_front();
                }
            }
        }
        drop(table);
        log_end(&ended);
        // A client that is gone does not care.
        let _ = client.send(ended);
        self.changed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // A panic under the lock leaves maps that are still maps.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn log_end(gapii_control::Ended { capture, summary }: &gapii_control::Ended) {
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
        tracing::warn!(capture, error, "the output of capture {capture} failed: {error}");
    }
}

/// Refuses numbers that mean nothing.
fn check(request: &StartRequest) -> Result<(), ControlError> {
    let bad = |message: String| Err(ControlError::new(code::BAD_REQUEST, message));
    if let Some(mistake) = request.filter.mistake(Description::built_in()) {
        return bad(mistake);
    }
    if let Some(mistake) =
        request.when.as_ref().and_then(|when| when.mistake(Description::built_in()))
    {
        return bad(mistake);
    }
    match (request.seconds, request.frames) {
        (Some(seconds), _) if !(seconds > 0.0 && seconds.is_finite()) => {
            bad(format!("a capture cannot last {seconds} seconds"))
        }
        (_, Some(0)) => bad("a capture of 0 frames is none".to_owned()),
        _ if request.bytes == Some(0) => bad("a capture of 0 bytes is none".to_owned()),
        _ if request.name.as_deref().is_some_and(|name| !gapii_control::is_name(name)) => bad(format!(
            "a capture's name is of 1 to {} letters, digits, dots, dashes and underlines, and no number",
            gapii_control::NAME_LEN_MAX
        )),
        _ if request.keep.is_some_and(|keep| keep.frames == 0 || keep.keyframe_every == 0) => {
            bad("0 frames are none to keep, and a keyframe every 0 frames is none".to_owned())
        }
        _ if request.keep.is_some() && !request.filter.is_empty() => {
            bad("what is kept of a program is all of it; leave the filter out".to_owned())
        }
        _ if request.when.is_some() && (request.keep.is_some() || request.skip_frames > 0) => bad(
            "what is waited for says where the capture begins; leave frames to be skipped or kept out"
                .to_owned(),
        ),
        _ if request.observe_frames == Some(0) => {
            bad("every 0th frame is none, leave it out to observe no frames".to_owned())
        }
        _ => Ok(()),
    }
}

fn random_id() -> io::Result<[u8; 16]> {
    let mut id = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut id)?;
    Ok(id)
}

//! The session: one daemon's lifetime. Who is connected, what is being captured, what was refused.
//!
//! Knows no socket and no message framing. Its lock is held for short, bounded work only.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use gapii_protocol::app::{self, AppHello, Launch};
use gapii_protocol::control::{
    self, AppInfo, CaptureInfo, ControlError, Rejected, SaveRequest, Saved, StartRequest,
    StatusInfo, Target, Totals, code,
};
use gapii_protocol::status::StatusPage;
use gapii_ringbuf::{CounterMap, Mode, ModeSettings, SegmentLayout};
use rustix::process::Pid;
use tokio::sync::{Notify, mpsc};

use crate::capture::end::Cause;
use crate::capture::kept::{KeepLimits, Kept};
use crate::capture::save::Origin;
use crate::capture::{Capture, Departure, Destination, Order, Plan};
use crate::clock;
use crate::config::Config;
use crate::keep::Keep;
use crate::process::{Descriptors, Process};

/// Launches whose capture has ended and whose late processes must not wait for one.
const ENDED_LAUNCHES: usize = 64;
/// Launches whose processes are to be kept, at most.
const LAUNCHES_KEPT: usize = 64;
/// Programs that have ended and whose last frames stay, at most.
const ENDED_KEPT: usize = 4;

/// What all connections share.
#[derive(Debug)]
pub struct Session {
    pub id: [u8; 16],
    pub rejected: Counters,
    /// Notified when something changes that the status page shows.
    pub changed: Notify,
    /// Clients that are connected.
    pub clients: AtomicU64,
    started_ns: u64,
    layout: SegmentLayout,
    max_apps: usize,
    level: i32,
    store_bytes: u64,
    counter: Arc<CounterMap>,
    counter_fd: OwnedFd,
    table: Mutex<Table>,
}

/// What was turned away.
#[derive(Debug, Default)]
pub struct Counters {
    pub app_hellos: AtomicU64,
    pub app_versions: AtomicU64,
    pub app_timeouts: AtomicU64,
    pub ctl_messages: AtomicU64,
    pub ctl_peers: AtomicU64,
}

#[derive(Debug, Default)]
struct Table {
    processes: BTreeMap<u32, Arc<Process>>,
    captures: BTreeMap<u64, Arc<Capture>>,
    ended_launches: VecDeque<Launch>,
    /// Launches whose processes are to be kept.
    wishes: Wishes,
    /// Applications that are kept, and those that were and have ended, oldest first.
    keeps: Vec<Arc<Keep>>,
    next_process: u32,
    last_capture: u64,
    /// Sums over the captures that have ended.
    ended: Totals,
    ended_refused_rings: u64,
    /// Captures that have ended, by the reason; what was kept is none.
    ended_by_reason: BTreeMap<String, u64>,
    ending: bool,
}

/// How processes of a launch are to be kept.
#[derive(Clone, Debug)]
struct Wish {
    request: StartRequest,
    /// Who hears of keyframes.
    held: mpsc::UnboundedSender<control::Held>,
}

#[derive(Debug, Default)]
struct Wishes(VecDeque<(Launch, Wish)>);

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
        let (counter, counter_fd) = CounterMap::create().context("cannot make the counter page")?;
        Ok(Arc::new(Self {
            id: random_id().context("cannot read /dev/urandom")?,
            rejected: Counters::default(),
            changed: Notify::new(),
            clients: AtomicU64::new(0),
            started_ns: clock::monotonic_ns(),
            layout,
            max_apps: config.max_apps as usize,
            level: config.level,
            store_bytes: config.keep_contents,
            counter: Arc::new(counter),
            counter_fd,
            table: Mutex::new(Table::default()),
        }))
    }

    pub fn layout(&self) -> SegmentLayout {
        self.layout
    }

    /// The counter page, for an application.
    pub fn counter_fd(&self) -> BorrowedFd<'_> {
        self.counter_fd.as_fd()
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
        let (process, fds) =
            Process::new(table.next_process, pid, hello, self.layout, self.store_bytes)?;
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

    /// Starts a capture; `ended` hears of its end.
    pub fn start(
        self: &Arc<Self>,
        request: StartRequest,
        output: OwnedFd,
        ended: mpsc::UnboundedSender<control::Ended>,
    ) -> Result<(Arc<Capture>, Vec<AppInfo>), ControlError> {
        check(&request)?;
        let mut table = self.lock();
        if table.ending {
            return Err(ControlError::new(code::SHUTDOWN, "the daemon is going away"));
        }
        let processes = table.candidates(&request.target)?;
        let id = table.last_capture + 1;
        let launch = match request.target {
            Target::Launch(launch) => Some(launch),
            _ => None,
        };
        let plan = Plan { launch, ..self.plan(id, &request) };
        let session = Arc::clone(self);
        let on_end =
            move |summary| session.capture_ended(control::Ended { capture: id, summary }, &ended);
        let capture =
            Capture::start(plan, Destination::File(output), Arc::clone(&self.counter), on_end)
                .map_err(|error| {
                    ControlError::new(code::INTERNAL, format!("the capture cannot start: {error}"))
                })?;
        table.last_capture = id;
        table.captures.insert(id, Arc::clone(&capture));
        let joined = processes.iter().filter(|process| capture.join(process));
        let apps = joined.map(|process| process.info()).collect();
        capture.all_joined();
        drop(table);
        self.changed.notify_one();
        Ok((capture, apps))
    }

    /// Has the last frames of the target's applications kept, each for itself: of those that are there, or
    /// of those that a launch will have. `held` hears of keyframes.
    pub fn start_keeping(
        self: &Arc<Self>,
        request: StartRequest,
        held: mpsc::UnboundedSender<control::Held>,
    ) -> Result<Vec<AppInfo>, ControlError> {
        check(&request)?;
        let mut table = self.lock();
        if table.ending {
            return Err(ControlError::new(code::SHUTDOWN, "the daemon is going away"));
        }
        let processes = table.candidates(&request.target)?;
        let wish = Wish { request, held };
        if let Target::Launch(launch) = wish.request.target {
            table.wishes.add(launch, wish);
            return Ok(Vec::new());
        }
        for process in &processes {
            self.keep(&mut table, process, wish.clone())?;
        }
        drop(table);
        self.changed.notify_one();
        Ok(processes.iter().map(|process| process.info()).collect())
    }

    /// Begins to keep a process.
    fn keep(
        self: &Arc<Self>,
        table: &mut Table,
        process: &Arc<Process>,
        Wish { request, held }: Wish,
    ) -> Result<(), ControlError> {
        let cannot = |why: String| ControlError::new(code::INTERNAL, why);
        let Some(control::KeepRequest { frames, bytes, keyframe_every }) = request.keep else {
            return Err(cannot("nothing is to be kept".to_owned()));
        };
        let limits = KeepLimits { frames, bytes, keyframe_every };
        let (id, pid) = (table.last_capture + 1, process.pid);
        let plan = Plan { keep: Some(limits), ..self.plan(id, &request) };
        let options = plan.options();
        let tell = move |frames, held_us| {
            tracing::info!(pid, frames, held_us, "pid {pid} is held for a keyframe: {held_us} µs");
            // A client that is gone does not care.
            let _ = held.send(control::Held { pid, frames, held_us });
        };
        let kept = Arc::new(Kept::new(limits));
        let destination = Destination::Memory(kept, Box::new(tell));
        let session = Arc::clone(self);
        let on_end = move |summary| session.keep_ended(id, &summary);
        let started_unix_ns = clock::unix_ns();
        let capture = Capture::start(plan, destination, Arc::clone(&self.counter), on_end)
            .map_err(|error| cannot(format!("keeping cannot start: {error}")))?;
        let origin = Origin {
            session: self.id,
            started_unix_ns,
            started_ns: capture.started_ns,
            process: process.entry(),
            options,
        };
        table.last_capture = id;
        table.captures.insert(id, Arc::clone(&capture));
        table.keeps.extend(Keep::new(&capture, process.launch, origin).map(Arc::new));
        let joined = capture.join(process);
        capture.all_joined();
        if joined {
            Ok(())
        } else {
            Err(busy(&format!("{} is being captured", process.described())))
        }
    }

    /// Saves what is kept of an application. Takes a while.
    pub fn save(&self, request: &SaveRequest, output: OwnedFd) -> Result<Saved, ControlError> {
        let (keep, has_ended) = self.lock().kept(&request.target)?;
        keep.save(request.last, has_ended, output)
    }

    /// A program that is kept has ended; its parent says how.
    pub fn exited(&self, pid: u32, signal: Option<i32>) {
        // A pid may have been used again.
        let newest = self.lock().keeps.iter().rfind(|keep| keep.pid() == pid).cloned();
        if let Some(keep) = newest {
            keep.exited(signal);
        }
    }

    fn plan(&self, id: u64, request: &StartRequest) -> Plan {
        Plan {
            id,
            session: self.id,
            launch: None,
            frames: request.frames,
            skip_frames: request.skip_frames,
            seconds: request.seconds,
            overflow: request.overflow,
            stall_ms: request.stall_ms,
            observe_frames: request.observe_frames,
            frame_pixels: request.frame_pixels,
            timing: request.timing,
            keep: None,
            command: request.command.clone(),
            level: self.level,
            ring_bytes: self.layout.ring_bytes(),
        }
    }

    /// Tells captures to stop; returns which.
    pub fn stop(&self, target: &Target) -> Result<Vec<u64>, ControlError> {
        let table = self.lock();
        let captures = table.targeted(target)?;
        Ok(captures
            .into_iter()
            .filter(|capture| capture.order(Order::Stop(Cause::Stop)).is_ok())
            .map(|capture| capture.plan.id)
            .collect())
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
        for process in table.processes.values().filter(|process| process.capture().is_none()) {
            process.set_mode(ModeSettings::default());
        }
        for capture in table.captures.values() {
            capture.hurry();
            // One that takes no orders is ending already.
            let _ = capture.order(Order::Stop(Cause::Shutdown));
        }
    }

    pub fn status(&self) -> StatusInfo {
        let now_ns = clock::monotonic_ns();
        let table = self.lock();
        StatusInfo {
            daemon_version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            session: self.id_text(),
            uptime_ns: now_ns.saturating_sub(self.started_ns),
            apps: table.processes.values().map(|process| process.info()).collect(),
            captures: table
                .captures
                .values()
                .filter(|capture| capture.kept.is_none())
                .map(|capture| table.capture_info(capture, now_ns))
                .collect(),
            kept: table.keeps.iter().map(|keep| keep.info()).collect(),
            slot_count: self.layout.slot_count(),
            ring_bytes: self.layout.ring_bytes(),
            totals: table.totals(),
            rejected: Rejected { rings: table.refused_rings(), ..self.rejected.read() },
        }
    }

    /// The counters of the status page.
    pub fn page(&self) -> StatusPage {
        let table = self.lock();
        let totals = table.totals();
        StatusPage {
            apps: table.processes.len() as u32,
            captures: table.captures.len() as u32,
            frames: totals.frames,
            calls: totals.calls,
            records: totals.records,
            raw_bytes: totals.raw_bytes,
            blob_bytes: totals.blob_bytes,
            file_bytes: totals.file_bytes,
            waits: totals.waits,
            wait_ns: totals.wait_ns,
            lost_calls: totals.lost.calls,
            lost_bytes: totals.lost.bytes,
            ..StatusPage::default()
        }
    }

    /// How many captures have ended, by the reason.
    pub fn ended_by_reason(&self) -> BTreeMap<String, u64> {
        self.lock().ended_by_reason.clone()
    }

    /// Applications that may be connected.
    pub fn max_apps(&self) -> usize {
        self.max_apps
    }

    /// Slots that threads have, in the application where most do.
    pub fn slots_used(&self) -> usize {
        self.lock().processes.values().map(|process| process.slots_used()).max().unwrap_or(0)
    }

    /// Bytes that the stores of all applications hold, and those that they may.
    pub fn stored(&self) -> (u64, u64) {
        let table = self.lock();
        let stores = table.processes.values().filter_map(|process| process.store());
        stores.fold((0, 0), |(held, limit), store| (held + store.held_bytes(), limit + store.limit))
    }

    /// The session's id in hexadecimal.
    pub fn id_text(&self) -> String {
        self.id.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn capture_ended(&self, ended: control::Ended, client: &mpsc::UnboundedSender<control::Ended>) {
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

    fn keep_ended(&self, id: u64, summary: &control::Summary) {
        let mut table = self.lock();
        if let Some(capture) = table.captures.remove(&id) {
            table.ended = sum(&table.ended, &totals(&capture));
            table.ended_refused_rings += refused_rings(&capture);
        }
        table.keeps.iter().filter(|keep| keep.capture_id == id).for_each(|keep| keep.end());
        table.forget_keeps();
        drop(table);
        let (frames, reason) = (summary.frames, &summary.reason);
        tracing::info!(
            capture = id,
            frames,
            reason,
            "what capture {id} kept is at its end: {reason}"
        );
        self.changed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // A panic under the lock leaves maps that are still maps.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wishes {
    fn add(&mut self, launch: Launch, wish: Wish) {
        self.0.push_back((launch, wish));
        if self.0.len() > LAUNCHES_KEPT {
            self.0.pop_front();
        }
    }

    fn get(&self, launch: Launch) -> Option<Wish> {
        self.0.iter().find(|(known, _)| *known == launch).map(|(_, wish)| wish.clone())
    }
}

impl Table {
    /// Of programs that have ended the last few stay, and no more than the newest alone may have.
    fn forget_keeps(&mut self) {
        loop {
            let ended = || self.keeps.iter().filter(|keep| !keep.is_running());
            let bytes: u64 = ended().map(|keep| keep.kept.extent().bytes).sum();
            let most = ended().next_back().map_or(0, |keep| keep.kept.limits.bytes);
            if ended().count() <= ENDED_KEPT && bytes <= most {
                return;
            }
            let Some(oldest) = self.keeps.iter().position(|keep| !keep.is_running()) else {
                return;
            };
            self.keeps.remove(oldest);
        }
    }

    /// The application whose kept frames `target` means, and whether it has ended.
    fn kept(&self, target: &Target) -> Result<(Arc<Keep>, bool), ControlError> {
        let fits = |keep: &Keep| match target {
            Target::Only | Target::All => true,
            Target::App(name) => keep.is_called(name),
            Target::Launch(launch) => keep.launch == Some(*launch),
        };
        let found: Vec<_> = self.keeps.iter().filter(|keep| fits(keep)).collect();
        let newest = match (&found[..], target) {
            ([], Target::App(name)) => return Err(no_app(format!("nothing is kept of {name}"))),
            ([], _) => return Err(no_app("no application is kept".to_owned())),
            // A launch has children, most of which show nothing.
            (_, Target::Launch(_)) => {
                found.iter().max_by_key(|keep| keep.kept.extent().frames).copied()
            }
            // A pid may have been used again.
            (_, Target::App(name)) if name.parse::<u32>().is_ok() => found.last().copied(),
            ([only], _) => Some(*only),
            _ => None,
        };
        let Some(keep) = newest else {
            let names = found
                .iter()
                .map(|keep| format!("{} (pid {})", keep.origin.process.name, keep.pid()));
            let names: Vec<_> = names.collect();
            return Err(ControlError::new(
                code::AMBIGUOUS,
                format!("several applications are kept, name one: {}", names.join(", ")),
            ));
        };
        let is_gone = |process: &&Arc<Process>| process.is_gone();
        let process = self.processes.values().find(|process| process.pid == keep.pid());
        let has_ended =
            !keep.is_running() || process.is_none() || process.filter(is_gone).is_some();
        Ok((Arc::clone(keep), has_ended))
    }

    fn unregister(&mut self, index: u32, how: Departure) {
        let Some(process) = self.processes.remove(&index) else { return };
        let (pid, name, whom) = (process.pid, &process.name, process.described());
        match how {
            Departure::Died => tracing::info!(pid, name, "{whom} is gone"),
            Departure::Exec => tracing::info!(pid, name, "{whom} has become another program"),
        }
        let capture = process.capture().and_then(|id| self.captures.get(&id));
        if let Some(capture) = capture {
            // A capture that takes no orders has ended, for this process too.
            let _ = capture.order(Order::Gone { index, how });
        }
    }

    /// The capture that waits for processes with this token.
    fn launched(&self, launch: Launch) -> Option<&Arc<Capture>> {
        self.captures.values().find(|capture| capture.plan.launch == Some(launch))
    }

    /// The applications that a new capture of `target` begins with.
    fn candidates(&self, target: &Target) -> Result<Vec<Arc<Process>>, ControlError> {
        let all = || self.processes.values();
        let found: Vec<_> = match target {
            Target::Launch(launch) => {
                return match self.launched(*launch) {
                    None => Ok(Vec::new()),
                    Some(_) => Err(busy("this launch has a capture already")),
                };
            }
            Target::Only | Target::All => all().cloned().collect(),
            Target::App(name) => all().filter(|process| process.is_called(name)).cloned().collect(),
        };
        match (&found[..], target) {
            ([], Target::App(name)) => Err(no_app(format!("no application {name:?} is connected"))),
            ([], _) => Err(no_app("no application is connected".to_owned())),
            ([_], _) | (_, Target::All) => match found.iter().find(|p| p.capture().is_some()) {
                None => Ok(found),
                Some(process)
                    if self.keeps.iter().any(|k| process.capture() == Some(k.capture_id)) =>
                {
                    Err(busy(&format!(
                        "{} is being kept; `gapii-ctl save --app {}` writes its last frames",
                        process.described(),
                        process.pid
                    )))
                }
                Some(process) => {
                    Err(busy(&format!("{} is being captured already", process.described())))
                }
            },
            _ => Err(ControlError::new(
                code::AMBIGUOUS,
                format!("several applications are connected, name one: {}", list(&found)),
            )),
        }
    }

    /// The running captures that `target` means.
    fn targeted(&self, target: &Target) -> Result<Vec<Arc<Capture>>, ControlError> {
        let has_app = |capture: &Capture, name: &str| {
            let id = Some(capture.plan.id);
            self.processes.values().any(|p| p.capture() == id && p.is_called(name))
        };
        let fits = |capture: &Capture| match target {
            // What is kept is stopped by name alone.
            Target::Only | Target::All => capture.kept.is_none(),
            Target::App(name) => has_app(capture, name),
            Target::Launch(launch) => capture.plan.launch == Some(*launch),
        };
        let found: Vec<_> = self.captures.values().filter(|c| fits(c)).cloned().collect();
        match (found.len(), target) {
            (0, Target::All) => Ok(found),
            (0, _) => Err(ControlError::new(code::NO_CAPTURE, "no such capture is running")),
            (2.., Target::Only) => Err(ControlError::new(
                code::AMBIGUOUS,
                format!("{} captures are running, say which application's", found.len()),
            )),
            _ => Ok(found),
        }
    }

    fn capture_info(&self, capture: &Capture, now_ns: u64) -> CaptureInfo {
        let id = capture.plan.id;
        let members = self.processes.values().filter(|process| process.capture() == Some(id));
        CaptureInfo {
            capture: id,
            pids: members.map(|process| process.pid).collect(),
            running_ns: now_ns.saturating_sub(capture.started_ns),
            progress: capture.progress.message(id),
        }
    }

    fn refused_rings(&self) -> u64 {
        let running = self.captures.values().map(|capture| refused_rings(capture));
        self.ended_refused_rings + running.sum::<u64>()
    }

    fn totals(&self) -> Totals {
        let running = self.captures.values().map(|capture| totals(capture));
        running.fold(self.ended.clone(), |sum_so_far, totals| sum(&sum_so_far, &totals))
    }
}

/// What a capture adds to the sums. What is kept is in no file, and may become less.
fn totals(capture: &Capture) -> Totals {
    let totals = capture.progress.totals();
    let file_bytes = if capture.kept.is_some() { 0 } else { totals.file_bytes };
    Totals { file_bytes, ..totals }
}

fn log_end(control::Ended { capture, summary }: &control::Ended) {
    let control::Summary { reason, frames, calls, file_bytes, lost, .. } = summary;
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

fn refused_rings(capture: &Capture) -> u64 {
    // Relaxed: a number for people.
    capture.progress.refused_rings.load(Ordering::Relaxed)
}

impl Counters {
    /// Counts one.
    pub fn count(&self, counter: impl Fn(&Self) -> &AtomicU64) {
        // Relaxed: a number for people.
        counter(self).fetch_add(1, Ordering::Relaxed);
    }

    fn read(&self) -> Rejected {
        // Relaxed: numbers for people.
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Rejected {
            app_hellos: read(&self.app_hellos),
            app_versions: read(&self.app_versions),
            app_timeouts: read(&self.app_timeouts),
            ctl_messages: read(&self.ctl_messages),
            ctl_peers: read(&self.ctl_peers),
            ..Rejected::default()
        }
    }
}

/// Refuses numbers that mean nothing.
fn check(request: &StartRequest) -> Result<(), ControlError> {
    let bad = |message: String| Err(ControlError::new(code::BAD_REQUEST, message));
    match (request.seconds, request.frames) {
        (Some(seconds), _) if !(seconds > 0.0 && seconds.is_finite()) => {
            bad(format!("a capture cannot last {seconds} seconds"))
        }
        (_, Some(0)) => bad("a capture of 0 frames is none".to_owned()),
        _ if request.keep.is_some_and(|keep| keep.frames == 0 || keep.keyframe_every == 0) => {
            bad("0 frames are none to keep, and a keyframe every 0 frames is none".to_owned())
        }
        _ if request.observe_frames == Some(0) => {
            bad("every 0th frame is none, leave it out to observe no frames".to_owned())
        }
        _ => Ok(()),
    }
}

fn sum(a: &Totals, b: &Totals) -> Totals {
    Totals {
        captures: a.captures + b.captures,
        frames: a.frames + b.frames,
        calls: a.calls + b.calls,
        records: a.records + b.records,
        raw_bytes: a.raw_bytes + b.raw_bytes,
        blob_bytes: a.blob_bytes + b.blob_bytes,
        stored_bytes: a.stored_bytes + b.stored_bytes,
        ring_bytes: a.ring_bytes + b.ring_bytes,
        file_bytes: a.file_bytes + b.file_bytes,
        lost: control::Lost {
            calls: a.lost.calls + b.lost.calls,
            bytes: a.lost.bytes + b.lost.bytes,
        },
        waits: a.waits + b.waits,
        wait_ns: a.wait_ns + b.wait_ns,
    }
}

fn no_app(message: String) -> ControlError {
    ControlError::new(code::NO_APP, message)
}

fn busy(message: &str) -> ControlError {
    ControlError::new(code::BUSY, message)
}

fn list(processes: &[Arc<Process>]) -> String {
    let names: Vec<_> = processes.iter().map(|process| process.described()).collect();
    names.join(", ")
}

fn random_id() -> io::Result<[u8; 16]> {
    let mut id = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut id)?;
    Ok(id)
}

//! Applications whose last frames are kept: starting, ending and saving. A process that any capture has cannot be kept.
//! Frames of ended programs stay for `--keep-ended` programs (4), for `--keep-ended-for` (24 h), and together in no
//! more bytes than the newest of them may use; the oldest goes first. A save that fits several applications is refused
//! as ambiguous; of a launch it takes the process with most frames, of a reused pid the newest.

use std::sync::Arc;
use std::time::Duration;

use gapii_control::{AppInfo, ControlError, SaveRequest, Saved, StartRequest, Target, code};
use tokio::sync::mpsc;

use crate::clock;
use crate::kept_app::KeptApp;
use crate::session::retention::Retention;
use crate::session::table::{Table, busy};
use crate::session::totals::{refused_rings, sum, totals};
use crate::session::wishes::Wish;
use crate::session::{SEE_STATUS, Session, check, ends};
use gapii_capture::capture::{Capture, Destination};
use gapii_capture::kept_frames::{KeepLimits, KeptFrames};
use gapii_capture::output::Output;
use gapii_capture::plan::Plan;
use gapii_capture::process::Process;
use gapii_capture::save::Origin;

impl Session {
    /// Returns the number of ended programs whose frames stay, and the time for which they stay.
    pub fn retention(&self) -> Retention {
        self.retention
    }

    /// Forgets frames that have been kept for long enough. Returns when to call this again, if frames of ended
    /// programs remain.
    pub fn forget_old(&self) -> Option<Duration> {
        let now_ns = clock::monotonic_ns();
        let mut table = self.lock();
        let before = table.keeps.len();
        table.forget_keeps(self.retention, now_ns);
        if table.keeps.len() < before {
            self.reports.note_change();
        }
        let ended = table.keeps.iter().filter_map(|keep| keep.ended_ns()).min()?;
        let left_ns = (ended + self.retention.limit_ns).saturating_sub(now_ns);
        Some(Duration::from_nanos(left_ns))
    }

    /// Keeps the last frames of each of the target's applications: those that are connected, or those that a launch
    /// will have. `held` receives a message whenever a thread was held for a keyframe.
    pub fn start_keeping(
        self: &Arc<Self>,
        request: StartRequest,
        held: mpsc::Sender<gapii_control::Held>,
    ) -> Result<Vec<AppInfo>, ControlError> {
        check(&request)?;
        let mut table = self.lock();
        if table.ending {
            return Err(ends());
        }
        let processes = table.candidates(&request.target)?;
        if let Some(process) = processes.iter().find(|process| process.drain().is_some()) {
            return Err(busy(&format!(
                "{} is in a capture already, and frames are kept only of a program that no other capture has",
                process.described()
            )));
        }
        let wish = Wish { request, held };
        if let Target::Launch(launch) = wish.request.target {
            if let Some(forgotten) = table.wishes.add(launch, wish) {
                table.end_launch(forgotten);
            }
            return Ok(Vec::new());
        }
        for process in &processes {
            self.keep(&mut table, process, wish.clone())?;
        }
        drop(table);
        self.note_change();
        Ok(processes.iter().map(|process| process.info()).collect())
    }

    /// Starts to keep the last frames of a process.
    pub(super) fn keep(
        self: &Arc<Self>,
        table: &mut Table,
        process: &Arc<Process>,
        Wish { request, held }: Wish,
    ) -> Result<(), ControlError> {
        let cannot = |why: String| ControlError::new(code::INTERNAL, why, SEE_STATUS);
        let Some(gapii_control::KeepRequest { frames, bytes, keyframe_every }) = request.keep
        else {
            return Err(cannot("the request has no number of frames to keep".to_owned()));
        };
        self.check_captures(table)?;
        let limits = KeepLimits { frames, bytes, keyframe_every };
        let (id, pid) = (table.last_capture + 1, process.pid);
        let plan = Plan { keep: Some(limits), ..self.plan(id, &request) };
        let options = plan.options();
        let tell = move |frames, held_us| {
            tracing::debug!(pid, frames, held_us, "pid {pid} is held for a keyframe: {held_us} µs");
            // A client that is gone, or reads nothing, needs no message.
            let _ = held.try_send(gapii_control::Held { pid, frames, held_us });
        };
        let kept = Arc::new(KeptFrames::new(limits));
        let destination = Destination::Memory(kept, Box::new(tell));
        let session = Arc::clone(self);
        let on_end = move |summary| session.keep_ended(id, &summary);
        let resources = self.resources(process.counter());
        let capture = Capture::start(plan, destination, resources, None, on_end)
            .map_err(|error| cannot(format!("the capture into memory cannot start: {error}")))?;
        let origin = Origin {
            session: self.id,
            started: capture.started,
            process: process.entry(),
            options,
        };
        table.last_capture = id;
        table.captures.insert(id, Arc::clone(&capture));
        table.keeps.extend(KeptApp::new(&capture, process.launch, origin).map(Arc::new));
        let joined = capture.join(process);
        capture.all_joined();
        if joined {
            let (name, whom) = (&process.name, process.described());
            tracing::info!(pid, %name, capture = id, "the last frames of {whom} are kept, by capture {id}");
            Ok(())
        } else {
            Err(busy(&format!("{} is being captured", process.described())))
        }
    }

    /// Saves the kept frames of an application. Takes a while.
    pub fn save(&self, request: &SaveRequest, output: Output) -> Result<Saved, ControlError> {
        let (keep, has_ended) = self.lock().kept(&request.target)?;
        keep.save(request.last, has_ended, output)
    }

    /// Notes how a program ended, by its parent's account.
    pub fn exited(&self, pid: u32, signal: Option<i32>) {
        // A pid may have been used again, so the newest entry counts.
        let newest = self.lock().keeps.iter().rfind(|keep| keep.pid() == pid).cloned();
        if let Some(keep) = newest {
            keep.exited(signal);
        }
    }

    fn keep_ended(&self, id: u64, summary: &gapii_control::Summary) {
        let mut table = self.lock();
        if let Some(capture) = table.captures.remove(&id) {
            table.ended = sum(&table.ended, &totals(&capture));
            table.ended_refused_rings += refused_rings(&capture);
        }
        let now_ns = clock::monotonic_ns();
        table.keeps.iter().filter(|keep| keep.capture_id == id).for_each(|keep| keep.end(now_ns));
        table.forget_keeps(self.retention, now_ns);
        drop(table);
        let (frames, reason) = (summary.frames, &summary.reason);
        tracing::info!(
            capture = id,
            frames,
            reason,
            "capture {id} into memory has ended ({reason})"
        );
        self.note_change();
    }
}

/// What to type if the frames that a client wants are not kept.
const KEPT_ARE_LISTED: &str = "`gapii-ctl status` lists whose frames are kept, and `gapii-ctl run --keep-frames N -- CMD` begins to keep them";

impl Table {
    /// Forgets the frames of ended programs, except for those of the last `count`, for at most `limit_ns`, in no more
    /// memory than the newest may use alone.
    fn forget_keeps(&mut self, Retention { count, limit_ns }: Retention, now_ns: u64) {
        loop {
            let ended = || self.keeps.iter().filter(|keep| !keep.is_running());
            let bytes: u64 = ended().map(|keep| keep.kept.extent().bytes).sum();
            let most = ended().next_back().map_or(0, |keep| keep.kept.limits.bytes);
            let is_old = |keep: &Arc<KeptApp>| {
                keep.ended_ns().is_some_and(|ended| now_ns.saturating_sub(ended) >= limit_ns)
            };
            let Some(oldest) = self.keeps.iter().position(|keep| !keep.is_running()) else {
                return;
            };
            if ended().count() <= count && bytes <= most && !is_old(&self.keeps[oldest]) {
                return;
            }
            let keep = self.keeps.remove(oldest);
            let (pid, name) = (keep.pid(), &keep.origin.process.name);
            tracing::info!(
                pid,
                %name,
                "the kept frames of {name} (pid {pid}), which has ended, are deleted"
            );
        }
    }

    /// Returns the application whose kept frames `target` means, and whether it has ended.
    pub(super) fn kept(&self, target: &Target) -> Result<(Arc<KeptApp>, bool), ControlError> {
        let fits = |keep: &KeptApp| match target {
            Target::Only | Target::All => true,
            Target::App(name) => keep.is_called(name),
            Target::Launch(launch) => keep.launch == Some(*launch),
        };
        let found: Vec<_> = self.keeps.iter().filter(|keep| fits(keep)).collect();
        let newest = match (&found[..], target) {
            ([], Target::App(name)) => {
                let message = format!("no frames of {name} are kept");
                return Err(ControlError::new(code::NO_APP, message, KEPT_ARE_LISTED));
            }
            ([], _) => {
                let message = "no frames of any application are kept";
                return Err(ControlError::new(code::NO_APP, message, KEPT_ARE_LISTED));
            }
            // Most child processes of a launch draw nothing, so the process with the most frames counts.
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
                format!("frames of several applications are kept: {}", names.join(", ")),
                "choose one with `--app PID`",
            ));
        };
        let is_gone = |process: &&Arc<Process>| process.is_gone();
        let process = self.processes.values().find(|process| process.pid == keep.pid());
        let has_ended =
            !keep.is_running() || process.is_none() || process.filter(is_gone).is_some();
        Ok((Arc::clone(keep), has_ended))
    }
}

//! Captures that another daemon began: processes that hand their rings over, and clients that want to continue the
//! captures. Processes and clients wait for each other for `CLAIM_MS`, 1 s; then a process is refused as unwanted, and
//! a client gets "no program of the capture has connected again", except for a launch, whose programs may still come.
//! Kept frames cannot be continued, nor can a capture twice. The continued capture has the filter of its file and the
//! settings that its programs have.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use gapii_abi::app::{AppHello, CLAIM_MS};
use gapii_control::{AppInfo, ControlError, Ended, TakeUpRequest, Target, code};
use gapii_ringbuf::{CaptureId, Mode};
use rustix::process::Pid;
use tokio::sync::{mpsc, oneshot};

use crate::clock;
use crate::session::comers::Comers;
use crate::session::table::busy;
use crate::session::waiting::Waiting;
use crate::session::{Session, check, ends, launch_of};
use gapii_capture::capture::{Capture, Destination};
use gapii_capture::end::Departure;
use gapii_capture::plan::Plan;
use gapii_capture::process::{HandOverError, HandedOver, Orphan, Process};
use gapii_capture::recover::{Recovered, recover};

/// Why a process is not taken over.
#[derive(Debug, thiserror::Error)]
pub enum TakeOverError {
    #[error("{0} applications are connected, which is the limit (option max-apps)")]
    TooMany(usize),
    #[error(transparent)]
    HandOver(#[from] HandOverError),
    #[error("it is in no capture that can be continued")]
    NoCapture,
    #[error("no client has asked to continue its capture")]
    Unwanted,
    #[error("this daemon reads its rings already")]
    Here,
}

impl Session {
    /// Takes over a process whose daemon has ended, once a client wants to continue its capture. Returns the process,
    /// and its new mode page.
    pub async fn take_over(
        self: &Arc<Self>,
        pid: Pid,
        hello: &AppHello,
        handed_over: HandedOver,
    ) -> Result<(Arc<Process>, OwnedFd), TakeOverError> {
        let (process, mode, capture) = self.examine(pid, hello, handed_over)?;
        let Some(claimed) = self.wait_in_line(&process, capture, hello.lost_ns)? else {
            return Ok((process, mode));
        };
        self.handed_over.notify_waiters();
        if tokio::time::timeout(Duration::from_millis(CLAIM_MS), claimed).await.is_ok() {
            return Ok((process, mode));
        }
        let mut table = self.lock();
        let waiting = table.orphans.len();
        table.orphans.retain(|orphan| !Arc::ptr_eq(&orphan.process, &process));
        // A client claimed it at the last moment.
        if table.orphans.len() == waiting {
            Ok((process, mode))
        } else {
            Err(TakeOverError::Unwanted)
        }
    }

    fn examine(
        &self,
        pid: Pid,
        hello: &AppHello,
        handed_over: HandedOver,
    ) -> Result<(Arc<Process>, OwnedFd, CaptureId), TakeOverError> {
        let index = {
            let mut table = self.lock();
            let number = pid.as_raw_pid().cast_unsigned();
            let earlier = table.processes.values().find(|process| process.pid == number);
            if let Some(earlier) = earlier.map(|process| process.index) {
                table.unregister(earlier, Departure::Exec);
                return Err(TakeOverError::Here);
            }
            if table.processes.len() + table.orphans.len() >= self.max_apps {
                return Err(TakeOverError::TooMany(table.processes.len()));
            }
            table.next_process += 1;
            table.next_process - 1
        };
        let (bytes, known) = (self.store_bytes, self.counter());
        let Orphan { process, mode, capture } =
            Process::take_over(index, pid, hello, handed_over, bytes, (&known, clock::SYSTEM))?;
        let is_recorded = process.settings_before().mode == Mode::Capturing;
        if !is_recorded || process.takers_before() == 0 {
            return Err(TakeOverError::NoCapture);
        }
        Ok((Arc::new(process), mode, capture))
    }

    /// Adds a process to its captures, if one of them runs already. Otherwise returns a receiver that resolves when
    /// one does.
    fn wait_in_line(
        &self,
        process: &Arc<Process>,
        capture: CaptureId,
        lost_ns: u64,
    ) -> Result<Option<oneshot::Receiver<()>>, TakeOverError> {
        let mut table = self.lock();
        if table.ending {
            return Err(TakeOverError::Unwanted);
        }
        let running: Vec<_> =
            table.captures.values().filter(|it| it.is_of(process, capture)).cloned().collect();
        if running.is_empty() {
            let (claimed, is_claimed) = oneshot::channel();
            let process = Arc::clone(process);
            table.orphans.push(Waiting { process, capture, lost_ns, claimed });
            return Ok(Some(is_claimed));
        }
        let taken = running.iter().filter(|running| running.take_over(process, lost_ns)).count();
        if taken == 0 {
            return Err(TakeOverError::NoCapture);
        }
        table.processes.insert(process.index, Arc::clone(process));
        drop(table);
        self.note_change();
        Ok(None)
    }

    /// Continues a capture once one of its processes is there.
    pub async fn take_up(
        self: Arc<Self>,
        request: TakeUpRequest,
        (client, output): (u32, OwnedFd),
        ended: mpsc::UnboundedSender<Ended>,
    ) -> Result<(Arc<Capture>, Vec<AppInfo>), ControlError> {
        check(&request.start)?;
        let id = id_of(&request)?;
        let file = File::from(output);
        let recovering = tokio::task::spawn_blocking(move || {
            let recovered = recover(&file, id);
            (file, recovered)
        });
        let (file, recovered) = recovering.await.map_err(internal)?;
        let recovered = recovered.map_err(|error| {
            let message = format!("the capture cannot be continued: {error}");
            ControlError::new(code::NO_OUTPUT, message, BEGIN_ANOTHER)
        })?;
        let limit = Duration::from_millis(CLAIM_MS);
        let coming = self.wait_for_process(id, &recovered, &request.start.target);
        let came = tokio::time::timeout(limit, coming).await.is_ok();
        // Processes of a launch may not have connected to the daemon that has ended.
        if !came && !matches!(request.start.target, Target::Launch(_)) {
            let message = "no program of the capture has connected to the new daemon";
            return Err(ControlError::new(code::NO_CAPTURE, message, BEGIN_ANOTHER));
        }
        self.go_on(&request, (id, client), (file.into(), recovered), ended)
    }

    /// Returns when a process of that capture has handed its rings over. A capture that had not begun takes the
    /// target's processes, once another capture has them.
    async fn wait_for_process(&self, id: CaptureId, recovered: &Recovered, target: &Target) {
        let segments = recovered.segments();
        let is_of = |process: &Process, capture: CaptureId| match segments.get(&process.segment()) {
            Some(is_over) => !is_over,
            None => capture == id,
        };
        loop {
            let notified = self.handed_over.notified();
            tokio::pin!(notified);
            // Enabled before the look, so that a process that comes in between is noticed.
            notified.as_mut().enable();
            let is_here = {
                let table = self.lock();
                let is_known = |process: &Arc<Process>| {
                    process.drain().is_some() && is_of(process, CaptureId::default())
                };
                table.orphans.iter().any(|orphan| is_of(&orphan.process, orphan.capture))
                    || table.processes.values().any(is_known)
                    || segments.is_empty() && !table.taken_over(target).is_empty()
            };
            if is_here {
                return;
            }
            notified.await;
        }
    }

    /// Continues a capture with the processes that are there.
    fn go_on(
        self: &Arc<Self>,
        request: &TakeUpRequest,
        (origin, client): (CaptureId, u32),
        (output, recovered): (OwnedFd, Recovered),
        ended: mpsc::UnboundedSender<Ended>,
    ) -> Result<(Arc<Capture>, Vec<AppInfo>), ControlError> {
        let mut table = self.lock();
        if table.ending {
            return Err(ends());
        }
        if table.captures.values().any(|capture| capture.plan.origin == origin) {
            return Err(busy("the capture is continued already"));
        }
        self.check_captures(&table)?;
        let comers = Comers::take(&mut table, origin, &recovered, &request.start.target);
        let launch = launch_of(&request.start.target);
        let (counter, ring_bytes) = match (comers.first(), launch) {
            (Some(first), _) => (first.counter().clone(), first.ring_bytes()),
            (None, Some(_)) => (self.counter(), self.layout.ring_bytes()),
            (None, None) => {
                let message = "the programs of the capture have ended";
                return Err(ControlError::new(code::NO_CAPTURE, message, BEGIN_ANOTHER));
            }
        };
        if table.processes.is_empty() {
            // The capture's other processes must get stamps from the same counter.
            let mut known = self.counter.lock().unwrap_or_else(PoisonError::into_inner);
            known.clone_from(&counter);
        }
        let drain = table.drain_of(&comers.in_drain())?;
        // The file's records were selected with this filter.
        let filter = match &recovered.header {
            Some(header) => header.filter.clone(),
            None => request.start.filter.clone(),
        };
        let asked = self.plan(table.last_capture + 1, &request.start);
        let plan = Plan { launch, client, origin, ring_bytes, filter, ..asked };
        let plan = match comers.first() {
            Some(first) => plan.told(&first.settings_before(), first.frame_rule_before()),
            None => plan,
        };
        let destination = Destination::Begun(output, Box::new(recovered));
        let begun = self.begin(&mut table, plan, destination, (drain, &counter), ended);
        let capture = begun.map_err(internal)?;
        let apps = comers.join(&capture, &mut table, launch);
        capture.all_joined();
        drop(table);
        self.note_change();
        // Other captures of these processes may wait for them.
        self.handed_over.notify_waiters();
        Ok((capture, apps))
    }
}

/// What to type if a capture cannot be continued.
const BEGIN_ANOTHER: &str =
    "`gapii-ctl start` begins another capture of a program that `gapii-ctl apps` lists";

fn id_of(request: &TakeUpRequest) -> Result<CaptureId, ControlError> {
    let bad = |message: String| ControlError::new(code::BAD_REQUEST, message, BEGIN_ANOTHER);
    let session = gapii_abi::app::launch_from_hex(request.session.as_bytes());
    let session = session
        .ok_or_else(|| bad(format!("{:?} is not the id of a daemon's session", request.session)))?;
    if request.start.keep.is_some() || request.capture == 0 {
        return Err(bad("frames that the daemon kept in memory are lost with it".to_owned()));
    }
    Ok(CaptureId { session, number: request.capture })
}

fn internal(error: impl std::fmt::Display) -> ControlError {
    let message = format!("the capture cannot be continued: {error}");
    ControlError::new(code::INTERNAL, message, BEGIN_ANOTHER)
}

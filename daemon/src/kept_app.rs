//! An application whose last frames are kept, before and after its end, and saving them. A save waits up to
//! `FLUSH_LIMIT`, 5 s, for published records to be kept (of an ended program, for the capture's end), and then saves
//! the frames that are kept, with a warning in the log if a running program's last records are missing. With no kept
//! frame the save fails and names `--keep-bytes`.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use gapii_abi::app::Launch;
use gapii_control::{ControlError, KeepRequest, KeptInfo, Saved, code};

use gapii_capture::capture::Capture;
use gapii_capture::end::Exited;
use gapii_capture::kept_frames::{KeepLimits, KeptFrames};
use gapii_capture::output::Output;
use gapii_capture::process::is_called;
use gapii_capture::save::{self, Origin};

use crate::clock;

/// What to type if a client's output cannot be written.
pub const OTHER_OUTPUT: &str = "choose another file or pipe with `--output FILE`";

/// Time that published records may take to be kept.
const FLUSH_LIMIT: Duration = Duration::from_secs(5);

/// An application whose frames are kept, or were when it ended.
#[derive(Debug)]
pub struct KeptApp {
    pub capture_id: u64,
    pub launch: Option<Launch>,
    pub origin: Origin,
    pub kept: Arc<KeptFrames>,
    /// How the application ended by its parent's account, which may come after the end.
    exited: Mutex<Option<Exited>>,
    /// `None` once the application has ended.
    capture: Mutex<Option<Arc<Capture>>>,
    /// Monotonic time of the end.
    ended_ns: OnceLock<u64>,
}

impl KeptApp {
    /// Makes the entry of an application whose capture keeps its frames. Returns `None` if the capture goes to a file.
    pub fn new(capture: &Arc<Capture>, launch: Option<Launch>, origin: Origin) -> Option<Self> {
        Some(Self {
            capture_id: capture.plan.id,
            launch,
            origin,
            kept: Arc::clone(capture.kept.as_ref()?),
            exited: Mutex::new(None),
            capture: Mutex::new(Some(Arc::clone(capture))),
            ended_ns: OnceLock::new(),
        })
    }

    /// Returns the application's pid.
    pub fn pid(&self) -> u32 {
        self.origin.process.pid
    }

    /// Returns whether `name` is the application's pid, its name or the file name of its executable.
    pub fn is_called(&self, name: &str) -> bool {
        let process = &self.origin.process;
        is_called(name, (process.pid, &process.name, &process.exe))
    }

    /// Returns whether the application is still recorded.
    pub fn is_running(&self) -> bool {
        self.capture().is_some()
    }

    /// Notes how the application ended by its parent's account.
    pub fn exited(&self, signal: Option<i32>) {
        *self.exited.lock().unwrap_or_else(PoisonError::into_inner) = Some(Exited { signal });
        if let Some(capture) = self.capture() {
            capture.exited(Some(self.pid()), signal);
        }
    }

    /// Returns the monotonic time at which the application ended, if it has.
    pub fn ended_ns(&self) -> Option<u64> {
        self.ended_ns.get().copied()
    }

    /// Notes that the capture has ended.
    pub fn end(&self, now_ns: u64) {
        // Only the first end counts.
        let _ = self.ended_ns.set(now_ns);
        *self.capture.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns the kept frames as clients see them.
    pub fn info(&self) -> KeptInfo {
        let extent = self.kept.extent();
        let KeepLimits { frames, bytes, keyframe_every } = self.kept.limits;
        KeptInfo {
            pid: self.pid(),
            name: self.origin.process.name.clone(),
            is_running: self.is_running(),
            frames: extent.frames,
            bytes: extent.bytes,
            keyframes: extent.keyframes,
            held_us: extent.held_us,
            limits: KeepRequest { frames, bytes, keyframe_every },
        }
    }

    /// Writes at least the `last` frames, or all. Waits for records on their way, and, if the application has ended,
    /// for its last ones.
    pub fn save(
        &self,
        last: Option<u64>,
        has_ended: bool,
        output: Output,
    ) -> Result<Saved, ControlError> {
        if has_ended {
            self.kept.wait_end(FLUSH_LIMIT);
        } else {
            self.flush();
        }
        let process = &self.origin.process;
        let nothing = || {
            let KeepLimits { bytes, .. } = self.kept.limits;
            ControlError::new(
                code::NO_CAPTURE,
                format!(
                    "no frame of {} (pid {}) is kept yet: it has ended none since it is kept, or it records more than {} MiB \
                     between two keyframes",
                    process.name,
                    process.pid,
                    bytes >> 20
                ),
                format!(
                    "`gapii-ctl status` shows what is kept; more memory is given with `gapii-ctl run --keep-frames N \
                     --keep-bytes {}M`",
                    (bytes >> 20) * 2
                ),
            )
        };
        let selection = self.kept.select(last).ok_or_else(nothing)?;
        let ends = selection.blocks.iter().flat_map(|block| &block.facts.frame_ends);
        let first_frame = ends.map(|end| end.frame).next().unwrap_or(0);
        let exited = *self.exited.lock().unwrap_or_else(PoisonError::into_inner);
        let written = save::save(&selection, &self.origin, exited, output, clock::SYSTEM).map_err(
            |error| {
                let message = format!("the kept frames cannot be written: {error}");
                ControlError::new(code::INTERNAL, message, OTHER_OUTPUT)
            },
        )?;
        let (pid, name) = (process.pid, process.name.clone());
        Ok(Saved { pid, name, first_frame, summary: written.summary() })
    }

    /// Waits until the records that the application has published are kept.
    fn flush(&self) {
        let Some(capture) = self.capture() else { return };
        let (reached, is_reached) = channel();
        let accepted = capture.flush(reached);
        if !accepted || is_reached.recv_timeout(FLUSH_LIMIT) == Err(RecvTimeoutError::Timeout) {
            // The frames that are kept are saved all the same.
            let (pid, name) = (self.pid(), &self.origin.process.name);
            tracing::warn!(
                pid,
                %name,
                "the last records of pid {pid} took too long and are not in the saved trace"
            );
        }
    }

    fn capture(&self) -> Option<Arc<Capture>> {
        self.capture.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

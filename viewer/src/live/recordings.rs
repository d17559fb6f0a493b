//! Recordings that the page began: each is a process of `gapii-ctl` that runs until its trace is whole. Its answer is kept,
//! and the viewer of its trace once somebody opens it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{Notify, OnceCell, watch};

use crate::tool::{Tool, Unanswered};

/// Most recordings that run at once.
const RUNNING_MAX: usize = 16;

/// All recordings.
#[derive(Default)]
pub struct Recordings(Mutex<All>);

#[derive(Default)]
struct All {
    /// In the order in which they began.
    recordings: Vec<Arc<Recording>>,
    /// No further one begins.
    is_closed: bool,
}

/// Sort of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum What {
    /// Commands of a program from now on, until somebody stops it.
    #[serde(rename = "capture")]
    Capture,
    /// Frames that the daemon has kept of a program. It ends by itself.
    #[serde(rename = "kept frames")]
    Kept,
}

/// A recording.
pub struct Recording {
    number: u64,
    what: What,
    of: String,
    folder: PathBuf,
    stops: Notify,
    /// Whether it was asked to end: a second request would make it give up its trace.
    is_stopping: AtomicBool,
    ending: watch::Sender<Option<Ending>>,
    viewer: OnceCell<Router>,
}

/// How a recording ended.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Ending {
    /// What `gapii-ctl start` or `save` answered.
    Answer(Value),
    /// The sentence of the tool that gave no answer.
    Error(String),
}

/// A recording in a list.
#[derive(Serialize)]
pub struct Listed {
    /// Number of the recording, from 0.
    number: u64,
    /// Sort of the recording.
    what: What,
    /// The program.
    of: String,
    /// Whether it was asked to end.
    is_stopping: bool,
    /// Null while it runs.
    ending: Option<Ending>,
}

impl Recordings {
    /// Begins a recording of `of`, a program in words: lets `tool` do it in `folder`.
    ///
    /// # Errors
    /// Too many run, or the viewer ends.
    pub fn begin(
        &self,
        tool: Tool,
        folder: PathBuf,
        (what, of): (What, String),
        words: Vec<OsString>,
    ) -> Result<Listed, Unanswered> {
        let refused = |why: &str| Err(Unanswered::Refused(why.to_owned()));
        let mut all = self.lock();
        if all.is_closed {
            return refused("the viewer is ending");
        }
        if all.running() >= RUNNING_MAX {
            return refused("too many recordings run; stop one first");
        }
        let recording = Arc::new(Recording {
            number: all.recordings.len() as u64,
            what,
            of,
            folder,
            stops: Notify::new(),
            is_stopping: AtomicBool::new(false),
            ending: watch::Sender::new(None),
            viewer: OnceCell::new(),
        });
        all.recordings.push(Arc::clone(&recording));
        let listed = recording.listed();
        tokio::spawn(async move {
            let answer = tool.record(&words, &recording.folder, &recording.stops).await;
            recording.ending.send_replace(Some(Ending::of(answer)));
        });
        Ok(listed)
    }

    /// Returns all recordings.
    pub fn list(&self) -> Vec<Listed> {
        self.lock().recordings.iter().map(|it| it.listed()).collect()
    }

    /// Returns a recording.
    pub fn find(&self, number: u64) -> Option<Arc<Recording>> {
        self.lock().recordings.get(usize::try_from(number).ok()?).cloned()
    }

    /// Returns how many have not ended.
    pub fn running(&self) -> usize {
        self.lock().running()
    }

    /// Stops all, and waits for their ends. No further one begins.
    pub async fn finish(&self) {
        let all = {
            let mut all = self.lock();
            all.is_closed = true;
            all.recordings.clone()
        };
        all.iter().for_each(|recording| recording.stop());
        for recording in all {
            // The sender is part of the recording, so it lives as long.
            _ = recording.ending.subscribe().wait_for(Option::is_some).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl All {
    fn running(&self) -> usize {
        self.recordings.iter().filter(|it| it.ending.borrow().is_none()).count()
    }
}

impl Recording {
    /// Asks a capture for an early end. What was recorded until then is a whole trace.
    pub fn stop(&self) {
        // Relaxed: the flag publishes no other data.
        if self.what == What::Capture && !self.is_stopping.swap(true, Ordering::Relaxed) {
            self.stops.notify_one();
        }
    }

    /// Returns the viewer of the trace, which `make` makes when it is asked for the first time.
    ///
    /// # Errors
    /// The recording runs, or has left no trace, or the viewer cannot be made.
    pub async fn viewer(
        &self,
        make: impl FnOnce(PathBuf) -> Result<Router, Unanswered>,
    ) -> Result<Router, Unanswered> {
        self.viewer.get_or_try_init(async || make(self.trace()?)).await.cloned()
    }

    fn trace(&self) -> Result<PathBuf, Unanswered> {
        let refused = |why: &str| Err(Unanswered::Refused(why.to_owned()));
        match &*self.ending.borrow() {
            None => refused("this is still being recorded; stop it first"),
            Some(Ending::Error(_)) => refused("this recording has left no trace"),
            Some(Ending::Answer(answer)) => match answer["output"].as_str() {
                Some(path) => Ok(self.folder.join(path)),
                None => refused("this recording has left no trace"),
            },
        }
    }

    fn listed(&self) -> Listed {
        let Self { number, what, of, ending, is_stopping, .. } = self;
        Listed {
            number: *number,
            what: *what,
            of: of.clone(),
            is_stopping: is_stopping.load(Ordering::Relaxed),
            ending: ending.borrow().clone(),
        }
    }
}

impl Ending {
    fn of(answer: Result<Vec<u8>, Unanswered>) -> Self {
        let parsed = answer.map(|bytes| serde_json::from_slice::<Value>(&bytes));
        match parsed {
            Ok(Ok(answer)) => Self::Answer(answer),
            Ok(Err(error)) => {
                Self::Error(format!("gapii-ctl gave an answer that is no JSON: {error}"))
            }
            Err(error) => Self::Error(error.to_string()),
        }
    }
}

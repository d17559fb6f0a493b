//! Recordings that the page began: each is a process of `gapii-ctl` that runs until its trace is whole. Its answer is kept,
//! and the viewer of its trace once somebody opens it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{Notify, OnceCell, watch};

use crate::tool::{Tool, Unanswered};

/// All recordings, in the order in which they began.
#[derive(Default)]
pub struct Recordings(Mutex<Vec<Arc<Recording>>>);

/// A recording.
pub struct Recording {
    number: u64,
    what: &'static str,
    of: String,
    folder: PathBuf,
    stops: Notify,
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
    /// `capture` or `kept frames`.
    what: &'static str,
    /// The program.
    of: String,
    /// Null while it runs.
    ending: Option<Ending>,
}

impl Recordings {
    /// Begins a recording of `of`, a program in words: lets `tool` do it in `folder`.
    pub fn begin(
        &self,
        tool: Tool,
        folder: PathBuf,
        what: &'static str,
        of: String,
        words: Vec<OsString>,
    ) -> Listed {
        let mut all = self.lock();
        let (ending, viewer) = (watch::Sender::new(None), OnceCell::new());
        let number = all.len() as u64;
        let recording =
            Recording { number, what, of, folder, stops: Notify::new(), ending, viewer };
        let recording = Arc::new(recording);
        all.push(Arc::clone(&recording));
        let listed = recording.listed();
        tokio::spawn(async move {
            let answer = tool.record(&words, &recording.folder, &recording.stops).await;
            recording.ending.send_replace(Some(Ending::of(answer)));
        });
        listed
    }

    /// Returns all recordings.
    pub fn list(&self) -> Vec<Listed> {
        self.lock().iter().map(|it| it.listed()).collect()
    }

    /// Returns a recording.
    pub fn find(&self, number: u64) -> Option<Arc<Recording>> {
        self.lock().get(usize::try_from(number).ok()?).cloned()
    }

    /// Returns how many have not ended.
    pub fn running(&self) -> usize {
        self.lock().iter().filter(|it| it.ending.borrow().is_none()).count()
    }

    /// Stops all, and waits for their ends.
    pub async fn finish(&self) {
        let all = self.lock().clone();
        all.iter().for_each(|recording| recording.stop());
        for recording in all {
            // The sender is part of the recording, so it lives as long.
            _ = recording.ending.subscribe().wait_for(Option::is_some).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Recording>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recording {
    /// Asks for an early end. What was recorded until then is a whole trace.
    pub fn stop(&self) {
        self.stops.notify_one();
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
        let Self { number, what, of, ending, .. } = self;
        Listed { number: *number, what, of: of.clone(), ending: ending.borrow().clone() }
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

//! A client's saves in progress. Each has a thread of its own, because its output may be a pipe whose reader is slow. A
//! client has at most `SAVES_OF_CLIENT_MAX`, 4; the session limits those of all clients. One more is refused. A reader
//! that accepts nothing for `READER_LIMIT`, 60 s, is given up; for 2 s if the client is gone.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::Duration;

use gapii_capture::output::Output;
use gapii_control::{ControlError, Event, SaveRequest, code};
use tokio::sync::{Semaphore, mpsc};

use crate::kept_app::OTHER_OUTPUT;
use crate::session::{SAVES_MAX, Session};

/// Largest number of saves of one client at the same time.
const SAVES_OF_CLIENT_MAX: usize = 4;
/// Time for which a reader may accept nothing.
const READER_LIMIT: Duration = Duration::from_secs(60);

/// The saves of one client. When it is dropped, they do not wait for slow readers any more.
#[derive(Debug)]
pub struct ClientSaves {
    hurry: Arc<AtomicBool>,
    places: Arc<Semaphore>,
}

impl ClientSaves {
    /// A client without a save.
    pub fn new() -> Self {
        Self { hurry: Arc::default(), places: Arc::new(Semaphore::new(SAVES_OF_CLIENT_MAX)) }
    }

    /// Starts a save. Its answer is sent once it is done.
    pub fn start(
        &self,
        session: &Arc<Session>,
        request: SaveRequest,
        output: OwnedFd,
        answers: mpsc::UnboundedSender<Event>,
    ) -> Result<(), ControlError> {
        let take = |places: &Arc<Semaphore>, limit: usize, whose: &str| {
            Arc::clone(places).try_acquire_owned().map_err(|_| {
                let message = format!("{limit} saves{whose} are in progress, which is the limit");
                let suggestion = "repeat `gapii-ctl save` when one of them has ended";
                ControlError::new(code::TOO_MANY, message, suggestion)
            })
        };
        let mine = take(&self.places, SAVES_OF_CLIENT_MAX, " of this client")?;
        let of_all = take(&session.saves, SAVES_MAX, "")?;
        let output = Output::new(output, Arc::clone(&self.hurry))
            .map_err(|error| {
                let message = format!("the output of the save cannot be used: {error}");
                ControlError::new(code::BAD_REQUEST, message, OTHER_OUTPUT)
            })?
            .giving_up_after(READER_LIMIT);
        let session = Arc::clone(session);
        let save = move || {
            let answer = session.save(&request, output).map_or_else(Event::Error, Event::Saved);
            // The client may ask for the next save as soon as it has the answer.
            drop((mine, of_all));
            // A client that is gone needs no answer.
            let _ = answers.send(answer);
        };
        let started = Builder::new().name("save".to_owned()).spawn(save);
        started.map(drop).map_err(|error: io::Error| {
            let message = format!("a thread for the save cannot start: {error}");
            let suggestion = "`gapii-ctl status` shows what the daemon does meanwhile";
            ControlError::new(code::INTERNAL, message, suggestion)
        })
    }
}

impl Drop for ClientSaves {
    fn drop(&mut self) {
        // Relaxed: a flag on its own.
        self.hurry.store(true, Ordering::Relaxed);
    }
}

//! Connections to daemons on other machines: a link that looks like a local socket.
//!
//! A thread runs the link. `Connection` talks to it as to a local daemon and passes it the open output; the thread
//! writes the received pieces there.

mod address;
mod link;
mod output;
mod transport;

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::Builder;

pub use self::address::Via;

use self::link::Task;
use self::transport::Way;
use crate::failure::Failure;

/// A link. Drop the connection that uses it before the link.
pub struct Link {
    thread: Option<JoinHandle<()>>,
    failure: Why,
    grace: Duration,
}

/// Why a link ended unexpectedly, as one sentence.
#[derive(Clone, Default)]
struct Why(Arc<Mutex<Option<String>>>);

impl Link {
    /// Connects to the daemon at `via`; returns the link and the socket that leads to the daemon.
    pub fn open(via: &Via, credentials: Option<&Path>) -> Result<(UnixStream, Link), Failure> {
        let way = Way::find(via, credentials).map_err(Failure::system)?;
        let failed = |error: io::Error| Failure::system(format!("can't make a link: {error}"));
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        let failure = Why::default();
        let (arrived, has_arrived) = channel();
        let why = failure.clone();
        let thread = std::thread::Builder::new()
            .name("link".into())
            .spawn(move || run(way, theirs, &why, &arrived))
            .map_err(failed)?;
        match has_arrived.recv() {
            Ok(Ok(grace)) => Ok((ours, Link { thread: Some(thread), failure, grace })),
            Ok(Err(sentence)) => Err(Failure::system(sentence)),
            Err(_) => Err(Failure::unreachable(format!(
                "the link to {via} broke; `gapii-ctl doctor --via {via}` looks for the reason"
            ))),
        }
    }

    /// Returns why the link ended, if that was unexpected.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().clone()
    }

    /// Returns how long the link can be without a connection.
    pub fn grace(&self) -> Duration {
        self.grace
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Saying BYE takes at most 2 s.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Why {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The body of the link's thread.
fn run(way: Way, control: UnixStream, why: &Why, arrived: &Sender<Result<Duration, String>>) {
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            // The receiver exists until it has got this.
            let _ = arrived.send(Err(format!("can't make a link: {error}")));
            return;
        }
    };
    runtime.block_on(async {
        match Task::begin(way, control).await {
            Ok(task) => {
                let _ = arrived.send(Ok(task.grace()));
                // Stored before the socket is closed, so that the reader of the socket finds it.
                task.run(|sentence| *why.lock() = Some(sentence)).await;
            }
            Err(sentence) => drop(arrived.send(Err(sentence))),
        }
    });
    // Blocking writes that nobody reads are abandoned.
    runtime.shutdown_background();
}

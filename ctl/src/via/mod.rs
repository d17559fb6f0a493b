//! Daemons of other machines: a link to one, which looks from here like a socket of this machine.
//!
//! A thread holds the link. `Connection` talks to it as to a local daemon, and passes it the open output in
//! the same way; the thread writes there what arrives.

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

/// A link, until it is dropped. The connection that uses it goes first.
pub struct Link {
    thread: Option<JoinHandle<()>>,
    failure: Why,
    grace: Duration,
}

/// Why a link has ended, in a sentence, if it should not have.
#[derive(Clone, Default)]
struct Why(Arc<Mutex<Option<String>>>);

impl Link {
    /// Goes to the daemon at `via`; what is said to the socket is said to it.
    pub fn open(via: &Via, credentials: Option<&Path>) -> Result<(UnixStream, Link), Failure> {
        let way = Way::find(via, credentials).map_err(Failure::unreachable)?;
        let failed = |error: io::Error| Failure::unreachable(format!("can't make a link: {error}"));
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
            Ok(Err(sentence)) => Err(Failure::unreachable(sentence)),
            Err(_) => Err(Failure::unreachable(format!("the link to {via} broke"))),
        }
    }

    /// Why it has ended, if it should not have.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().clone()
    }

    /// For how long it can be without a connection.
    pub fn grace(&self) -> Duration {
        self.grace
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // It says good-bye, which takes a moment and no longer.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Why {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread of a link.
fn run(way: Way, control: UnixStream, why: &Why, arrived: &Sender<Result<Duration, String>>) {
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            // Who waits is there.
            let _ = arrived.send(Err(format!("can't make a link: {error}")));
            return;
        }
    };
    runtime.block_on(async {
        match Task::begin(way, control).await {
            Ok(task) => {
                let _ = arrived.send(Ok(task.grace()));
                // Before the socket is closed, so that who sees the one finds the other.
                task.run(|sentence| *why.lock() = Some(sentence)).await;
            }
            Err(sentence) => drop(arrived.send(Err(sentence))),
        }
    });
    // A write that nobody takes is not waited for.
    runtime.shutdown_background();
}

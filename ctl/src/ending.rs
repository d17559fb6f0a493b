//! `ending`: how a stop request ends the process, and what it undoes before: the draft of a file, a progress line on the
//! terminal. Where only a flag is asked for, the second request ends the process, or time: a driver may never return to
//! who would look at the flag.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::process::Signal;

use crate::signals::{self, Request, Signals};
use crate::wait;

/// How long a process that was asked to stop may go on.
const GRACE: Duration = Duration::from_secs(10);

type Undo = Box<dyn FnOnce() + Send>;

/// Actions of the living [`OnStop`]s, by number.
static UNDONE: Mutex<BTreeMap<u64, Undo>> = Mutex::new(BTreeMap::new());

/// While this lives, a stop request that ends the process undoes something first.
pub struct OnStop(u64);

impl OnStop {
    pub fn new(undo: impl FnOnce() + Send + 'static) -> OnStop {
        OnStop::add(&mut undone(), undo)
    }

    /// Makes something and what undoes it. A request waits meanwhile, so it cannot come in between.
    pub fn making<T, U: FnOnce() + Send + 'static>(
        make: impl FnOnce() -> io::Result<(T, U)>,
    ) -> io::Result<(T, OnStop)> {
        let mut undone = undone();
        let (made, undo) = make()?;
        Ok((made, OnStop::add(&mut undone, undo)))
    }

    fn add(undone: &mut BTreeMap<u64, Undo>, undo: impl FnOnce() + Send + 'static) -> OnStop {
        let number = undone.last_key_value().map_or(0, |(last, _)| last + 1);
        undone.insert(number, Box::new(undo));
        OnStop(number)
    }
}

impl Drop for OnStop {
    fn drop(&mut self) {
        undone().remove(&self.0);
    }
}

/// Lets a stop request end the process by [`end`], if nothing else in the process hears stop requests. Threads that run
/// already may still be ended without it.
pub fn hear_stops() -> io::Result<()> {
    if signals::are_heard() {
        return Ok(());
    }
    hear(Signals::block()?, |request| end(request.signal))
}

/// Returns a flag that the first request sets. The second request [ends](end) this process, or the first one after 10 s.
pub fn flag(signals: Signals) -> io::Result<Arc<AtomicBool>> {
    let raised = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&raised);
    hear(signals, move |request| {
        // Relaxed: the flag publishes no other data.
        if flag.swap(true, Ordering::Relaxed) {
            end(request.signal);
        }
        let late = move || {
            std::thread::sleep(GRACE);
            end(request.signal);
        };
        // Without a thread for it the second request ends the process.
        let _ = std::thread::Builder::new().name("late".into()).spawn(late);
    })?;
    Ok(raised)
}

/// Calls `act` with each request, in a thread of its own.
fn hear(signals: Signals, act: impl Fn(Request) + Send + 'static) -> io::Result<()> {
    let hear = move || {
        loop {
            let _ = wait::until_ready(&mut [PollFd::new(&signals, PollFlags::IN)], None);
            while let Some(request) = signals.next() {
                act(request);
            }
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(hear).map(drop)
}

/// Undoes what is to be undone, and ends the process with 128 plus the signal's number. A driver's exit handlers do not run: they may
/// wait for a thread that is in the driver.
pub fn end(signal: Signal) -> ! {
    // Held to the end of the process: nothing new is begun.
    let mut undone = undone();
    std::mem::take(&mut *undone).into_values().for_each(|undo| undo());
    // SAFETY: the process ends.
    unsafe { libc::_exit(128 + signal.as_raw()) }
}

fn undone() -> MutexGuard<'static, BTreeMap<u64, Undo>> {
    UNDONE.lock().unwrap_or_else(PoisonError::into_inner)
}

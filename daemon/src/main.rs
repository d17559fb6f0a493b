//! gapiid: owns the rings of the applications that it records, merges their records into one stream, and writes it. One
//! thread serves all sockets; each capture adds up to four. Keeps no state on disk. On SIGTERM, SIGINT or SIGHUP (a
//! private daemon: also at the end of standard input) captures end with the reason `shutdown` and their traces get 8 s
//! (`ENDING_LIMIT`), remote clients then 3 s. Memory is checked every 250 ms while captures run. Exit status: 2 for a
//! wrong configuration, 1 for other errors.

mod app;
mod client;
mod clock;
mod config;
mod death;
mod descriptors;
mod door;
mod ending;
mod kept_app;
mod listen;
mod log;
mod log_limit;
mod memory;
mod metrics;
mod peer;
mod quota;
mod refusals;
mod remote;
mod reporter;
mod saving;
mod service;
mod session;
mod status_page;

use std::fmt::Display;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use gapii_abi::app::{HelloReply, reply_status};
use gapii_control::Event;
use rustix::process::Signal;
use tokio::net::UnixListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::config::{Config, Held, LoadError, Loaded};
use crate::descriptors::Reserve;
use crate::ending::told;
use crate::listen::{Sockets, folder_of};
use crate::reporter::Reporter;
use crate::service::StatusLine;
use crate::session::Session;
use crate::status_page::Page;

/// Largest number of threads that read files of clients and credentials.
const BLOCKING_MAX: usize = 64;
/// Interval of the check of memory while a capture runs: 250 ms.
const MEMORY_PERIOD: Duration = Duration::from_millis(250);
/// Time to finish open traces when the daemon is told to end.
const ENDING_LIMIT: Duration = Duration::from_secs(8);
/// Time for remote clients to receive the rest.
const LINKS_LIMIT: Duration = Duration::from_secs(3);
/// Exit status for a wrong command line or configuration file: trying again does not help.
const WRONG_CONFIGURATION: u8 = 2;

fn main() -> ExitCode {
    let loaded = match Loaded::of_process() {
        Ok(loaded) => loaded,
        Err(LoadError::CommandLine(error)) => error.exit(),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(WRONG_CONFIGURATION);
        }
    };
    if loaded.config.check_config {
        return shown(&Held(&loaded));
    }
    let sink = log::start(&loaded.config.log);
    match run(&loaded) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            sink.say_last(&error);
            ExitCode::FAILURE
        }
    }
}

fn shown(text: &impl Display) -> ExitCode {
    // A reader that is gone has seen enough.
    let _ = write!(std::io::stdout(), "{text}");
    ExitCode::SUCCESS
}

fn run(loaded: &Loaded) -> anyhow::Result<()> {
    for path in loaded.files_read() {
        tracing::info!(path = %path.display(), "configuration read from {}", path.display());
    }
    for (path, why) in loaded.files_passed_over() {
        let path = path.display();
        tracing::warn!(%path, "configuration in {path} is not read: {why}; to have it read, type `gapiid --config {path}`");
    }
    descriptors::allow_many();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_MAX)
        .build()?;
    let result = runtime.block_on(serve(&loaded.config));
    // Tasks that still run have had their time, and are cut off.
    runtime.shutdown_background();
    result
}

async fn serve(config: &Config) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    // With a handler, even an unused one, a write beyond the file size limit returns an error and does not kill the
    // daemon.
    let _too_long = signal(SignalKind::from_raw(Signal::XFSZ.as_raw()))?;
    let sockets = Sockets::open(config)?;
    let session = Session::new(config)?;
    let page = if config.private { None } else { status_page(&sockets.ctl) };
    let reporter = Reporter::start(&session, page).context("a thread for reports cannot start")?;
    let (end, ending) = watch::channel(false);
    let words = HelloReply::refusal(reply_status::TOO_MANY, std::process::id()).to_bytes();
    let reserve = Reserve::new("an application", words.to_vec());
    tokio::spawn(accept_apps(Arc::clone(&session), sockets.app, reserve));
    if let Some(listener) = sockets.remote {
        let address = listener.local_addr()?;
        tracing::info!(%address, "remote clients are served at {address}");
        tokio::spawn(remote::serve(Arc::clone(&session), listener, ending.clone()));
    }
    let words = gapii_control::encode(&Event::Error(descriptors::exhausted()))?;
    let reserve = Reserve::new("a client", words);
    let clients = tokio::spawn(accept_clients(Arc::clone(&session), sockets.ctl, reserve, ending));
    if let Some(listener) = sockets.metrics {
        tracing::info!("metrics are served at {listener}");
        tokio::spawn(metrics::serve(Arc::clone(&session), listener));
    }
    let parent_gone = parent_gone(config.private)?;
    let look_after = look_after(&session, config.private);
    announce(config)?;
    let id = session.id_text();
    tracing::info!(session = id, "session {id} listens");

    tokio::select! {
        _ = terminate.recv() => tracing::info!("the daemon ends: it got SIGTERM"),
        _ = interrupt.recv() => tracing::info!("the daemon ends: it got SIGINT"),
        _ = hangup.recv() => tracing::info!("the daemon ends: it got SIGHUP, because its terminal is gone"),
        _ = parent_gone => tracing::info!("the daemon ends: its standard input has ended, as the run that started it has"),
        () = look_after => {}
        () = service::keep_watch(&session) => {}
    }
    service::stopping();
    session.end();
    // If the clients' task has failed, no task receives this, and none waits for it.
    let _ = end.send(true);
    finish(&session, clients).await?;
    drop(reporter);
    drop(sockets.place);
    Ok(())
}

/// Waits until all captures have ended and clients know how, within limits.
async fn finish(session: &Session, clients: JoinHandle<()>) -> anyhow::Result<()> {
    if tokio::time::timeout(ENDING_LIMIT, clients).await.is_err() {
        tracing::warn!(
            "some captures are not complete after {} s and are cut off; `gapii-ctl verify` shows what their traces lack",
            ENDING_LIMIT.as_secs()
        );
    }
    if tokio::time::timeout(LINKS_LIMIT, session.links.ended()).await.is_err() {
        tracing::warn!(
            "some remote clients have not taken the rest of their traces within {} s",
            LINKS_LIMIT.as_secs()
        );
    }
    while !session.captures().is_empty() {
        tokio::time::timeout(ENDING_LIMIT, session.changed.notified()).await?;
    }
    Ok(())
}

async fn accept_apps(session: Arc<Session>, listener: UnixListener, mut reserve: Reserve) {
    let mut connections = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((socket, _)) => {
                let session = &session;
                let serve =
                    |guest| connections.spawn(app::serve(Arc::clone(session), socket, guest));
                if session.doors.apps.open(serve) {
                    session.reject(|counters| &counters.app_timeouts);
                }
            }
            Err(error) => reserve.refuse(&error, &listener, &session.refusals).await,
        }
        while connections.try_join_next().is_some() {}
    }
}

/// Serves clients until the daemon ends, and then until they know how their captures ended.
async fn accept_clients(
    session: Arc<Session>,
    listener: UnixListener,
    mut reserve: Reserve,
    mut ending: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    loop {
        let heard = ending.clone();
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((socket, _)) => {
                    let session = &session;
                    let serve = |guest| {
                        let guest = Some(guest);
                        connections.spawn(remote::serve_client(Arc::clone(session), socket, heard, guest))
                    };
                    if session.doors.clients.open(serve) {
                        session.reject(|counters| &counters.ctl_timeouts);
                    }
                }
                Err(error) => reserve.refuse(&error, &listener, &session.refusals).await,
            },
            () = told(&mut ending) => break,
        }
        while connections.try_join_next().is_some() {}
    }
    while connections.join_next().await.is_some() {}
}

/// Returns a future that resolves when standard input ends; never, if `private` is false.
fn parent_gone(private: bool) -> anyhow::Result<impl Future<Output = ()>> {
    let (gone, is_gone) = oneshot::channel();
    if private {
        // A thread with blocking reads: standard input may be anything, also a regular file.
        std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
            let mut stdin = std::io::stdin().lock();
            while stdin.read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
            let _ = gone.send(());
        })?;
    } else {
        std::mem::forget(gone);
    }
    Ok(async move { drop(is_gone.await) })
}

/// Limits memory, and updates the service manager's text, as long as it is polled. An idle daemon does not wake up for
/// it.
async fn look_after(session: &Session, private: bool) {
    let mut line = StatusLine::default();
    loop {
        session.bound_memory();
        let forgets_after = session.forget_old();
        if !private {
            line.update(session);
        }
        if session.captures().is_empty() {
            let changed = session.changed.notified();
            match forgets_after {
                // Both are reasons to look again.
                Some(after) => drop(tokio::time::timeout(after, changed).await),
                None => changed.await,
            }
        }
        tokio::time::sleep(MEMORY_PERIOD).await;
    }
}

/// Makes the status page of the daemon whose clients connect to this socket.
fn status_page(clients: &UnixListener) -> Option<Page> {
    let page = folder_of(clients).and_then(Page::create);
    page.inspect_err(|error| {
        tracing::warn!("no status page, so `gapii-ctl status` asks the daemon: {error:#}")
    })
    .ok()
}

/// Tells the caller of the program and the service manager that the sockets listen.
fn announce(config: &Config) -> anyhow::Result<()> {
    if let Some(fd) = config.ready_fd {
        ensure!(
            fd > 2 || fd == 1,
            "--ready-fd {fd} cannot be written to: descriptors 0 and 2 are in use; pass another one, such as `--ready-fd 3 3>ready`"
        );
        // SAFETY: the caller of this program passes the descriptor for this purpose, and nothing else here uses it.
        // If it is not open, the write fails.
        let mut pipe = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
        pipe.write_all(b"\n").with_context(|| format!("cannot write to --ready-fd {fd}"))?;
    }
    service::ready();
    Ok(())
}

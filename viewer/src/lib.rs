//! The viewer: a web page on this machine that shows a trace, or the programs of a daemon, and the server that answers it.
//!
//! The page is a set of plain modules (`viewer/site`), which are part of the program; nothing is loaded from elsewhere. Each
//! answer of the server is the output of `gapii-ctl` with `--json`, run once for each question
//! (docs/decisions/viewer.md): whatever the page shows can be had on the command line, and a trace that breaks a reader
//! ends one process of many.
//!
//! Never reads a trace, never calls a driver. Opens no file but those of its own scratch folder.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod gate;
mod kept;
mod live;
mod parts;
mod pictures;
mod process;
mod question;
mod server;
mod site;
mod subject;
mod tool;

use std::future::Future;
use std::io;
use std::path::PathBuf;

use axum::Router;
use tokio::net::TcpListener;

pub use crate::live::Live;
pub use crate::subject::Subject;
use crate::tool::Tool;

/// Serves the viewer of `subject` on `listener` until `stop` is ready. Only addresses that begin with `token`, a word of
/// letters and digits, are answered; [`address`] returns the first of them. `tool` is the executable `gapii-ctl`.
///
/// # Errors
/// The scratch folder cannot be made, or the listener fails.
pub async fn serve(
    listener: TcpListener,
    tool: PathBuf,
    subject: Subject,
    token: &str,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let tool = Tool::new(tool);
    let router = server::router(tool.clone(), subject)?;
    let served = answer(listener, router, token, stop).await;
    tool.finish().await;
    served
}

/// Serves the page of a daemon, like [`serve`]. Captures that were started there run on when this returns.
///
/// # Errors
/// The listener fails.
pub async fn serve_live(
    listener: TcpListener,
    live: &Live,
    token: &str,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let served = answer(listener, live.router(), token, stop).await;
    live.end_questions().await;
    served
}

/// Returns the address of the page on `port` of this machine.
pub fn address(port: u16, token: &str) -> String {
    format!("http://127.0.0.1:{port}/{token}/")
}

async fn answer(
    listener: TcpListener,
    router: Router,
    token: &str,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let router = gate::guarded(router, token, listener.local_addr()?.port());
    tokio::select! {
        done = axum::serve(listener, router).into_future() => done,
        () = stop => Ok(()),
    }
}

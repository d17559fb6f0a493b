//! The page of a daemon: connected programs with their rates, running captures, buttons to start and stop, and the traces
//! that were recorded here. Each button is a command of `gapii-ctl`, too.
//!
//! A trace that is opened gets its own viewer, below `traces/NUMBER/`.

mod orders;
mod recordings;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Json, Path, Request, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::json;
use tower::ServiceExt;

use crate::live::orders::{Capture, Save};
use crate::live::recordings::{Recordings, What};
use crate::server::{self, Answer};
use crate::subject::Subject;
use crate::tool::{Cost, Tool, Unanswered};

/// A daemon that is shown, and the traces that were recorded from it.
#[derive(Clone)]
pub struct Live(Arc<Inner>);

struct Inner {
    tool: Tool,
    connect: Vec<OsString>,
    folder: PathBuf,
    recordings: Recordings,
}

impl Live {
    /// Shows the daemon to which the executable `tool` connects with the options `connect`. Traces are written into `folder`,
    /// an absolute path.
    pub fn new(tool: PathBuf, connect: Vec<OsString>, folder: PathBuf) -> Self {
        let (tool, recordings) = (Tool::new(tool), Recordings::default());
        Self(Arc::new(Inner { tool, connect, folder, recordings }))
    }

    /// Returns how many captures that were started here still run.
    pub fn running(&self) -> usize {
        self.0.recordings.running()
    }

    /// Stops the captures that were started here, and waits for their traces. If the wait is given up, they go on to their
    /// ends without the viewer.
    pub async fn finish(&self) {
        self.0.recordings.finish().await;
    }

    /// Ends what was asked for; captures run on.
    pub(crate) async fn end_questions(&self) {
        self.0.tool.finish().await;
    }

    pub(crate) fn router(&self) -> Router {
        let answers = Router::new()
            .route("/subject", get(subject))
            .route("/watch", get(watch))
            .route("/recordings", get(recordings).post(record))
            .route("/recordings/{number}/stop", post(stop_recording))
            .route("/captures/{number}/stop", post(stop_capture))
            .route("/kept", post(save));
        let file = |Path((_, file)): Path<(String, String)>| async move { server::page(&file) };
        Router::new()
            .route("/{token}/", get(|| async { server::page("live.html") }))
            .route("/{token}/{*file}", get(file))
            .route("/{token}/traces/{number}/", get(trace))
            .route("/{token}/traces/{number}/{*rest}", get(trace))
            .nest("/{token}/api", answers)
            .with_state(self.clone())
    }

    /// Returns the words of a command to the daemon.
    fn words(&self, words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
        words.into_iter().chain(self.0.connect.iter().cloned()).chain(["--json".into()]).collect()
    }

    fn begin(&self, what: (What, String), words: Vec<OsString>) -> Answer {
        let Inner { tool, folder, recordings, .. } = &*self.0;
        let words = self.words(words);
        let begun = recordings.begin(tool.clone(), folder.clone(), what, words)?;
        Ok((StatusCode::CREATED, Json(begun)).into_response())
    }
}

/// Where traces are written.
async fn subject(State(live): State<Live>) -> Response {
    Json(json!({ "folder": live.0.folder.to_string_lossy() })).into_response()
}

/// A line of JSON for each second.
async fn watch(State(live): State<Live>) -> Answer {
    let words = live.words(["watch".into()]);
    let pieces = live.0.tool.stream(Cost::Watch, &words).await?;
    let content_type = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((content_type, Body::from_stream(pieces)).into_response())
}

async fn recordings(State(live): State<Live>) -> Response {
    Json(live.0.recordings.list()).into_response()
}

async fn record(State(live): State<Live>, Json(order): Json<Capture>) -> Answer {
    live.begin((What::Capture, order.of()), order.words())
}

async fn save(State(live): State<Live>, Json(order): Json<Save>) -> Answer {
    live.begin((What::Kept, order.of()), order.words())
}

async fn stop_recording(
    State(live): State<Live>,
    Path((_, number)): Path<(String, u64)>,
) -> Response {
    match live.0.recordings.find(number) {
        Some(recording) => {
            recording.stop();
            StatusCode::NO_CONTENT.into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Stops a capture that anybody started.
async fn stop_capture(State(live): State<Live>, Path((_, number)): Path<(String, u64)>) -> Answer {
    let words = live.words(["stop".into(), number.to_string().into()]);
    live.0.tool.succeed(Cost::Read, &words).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Passes a question on to the viewer of a trace.
async fn trace(State(live): State<Live>, request: Request) -> Answer {
    let Some((number, path)) = below_trace(request.uri()) else {
        return Ok(StatusCode::NOT_FOUND.into_response());
    };
    let Some(recording) = live.0.recordings.find(number) else {
        return Ok(StatusCode::NOT_FOUND.into_response());
    };
    let viewer = recording.viewer(|trace| viewer_of(&live, trace)).await?;
    let (parts, body) = request.into_parts();
    // A request of its own: what the outer router found in the path is no concern of the inner one.
    let mut question = Request::new(body);
    *question.uri_mut() = path;
    *question.headers_mut() = parts.headers;
    viewer.oneshot(question).await.map_err(|never| match never {})
}

/// Returns the number of the trace, and the address in its own viewer.
fn below_trace(uri: &Uri) -> Option<(u64, Uri)> {
    let mut parts = uri.path().splitn(5, '/');
    let [_, token, _, number, rest] = [(); 5].map(|()| parts.next());
    let query = uri.query().map_or_else(String::new, |query| format!("?{query}"));
    let path = format!("/{}/{}{query}", token?, rest?);
    Some((number?.parse().ok()?, path.parse().ok()?))
}

fn viewer_of(live: &Live, trace: PathBuf) -> Result<Router, Unanswered> {
    Ok(server::router(live.0.tool.clone(), Subject::of(trace))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(uri: &'static str, expected: Option<(u64, &str)>) {
        let found = below_trace(&Uri::from_static(uri));
        let found = found.as_ref().map(|(number, uri)| (*number, uri.to_string()));
        assert_eq!(found, expected.map(|(number, uri)| (number, uri.to_owned())), "{uri}");
    }

    #[test]
    fn address_of_a_trace_is_one_of_its_viewer() {
        check("/abc/traces/3/", Some((3, "/abc/")));
        check("/abc/traces/3/panes/call.js", Some((3, "/abc/panes/call.js")));
        check("/abc/traces/12/api/state?at=1&since=0", Some((12, "/abc/api/state?at=1&since=0")));
        check("/abc/traces/3/api/objects/1/..%2f..", Some((3, "/abc/api/objects/1/..%2f..")));
        check("/abc/traces/x/", None);
        check("/abc/traces/-1/", None);
        check("/abc/traces/3", None);
    }
}

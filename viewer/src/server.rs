//! What the server answers at which address. All addresses are below the token.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::json;

use crate::gate::{Gate, guard};
use crate::pictures::{Content, Pictures};
use crate::question::{self, Words};
use crate::site;
use crate::subject::Subject;
use crate::tool::{Cost, Tool, Unanswered};

/// What all answers are made from.
struct Viewer {
    tool: Tool,
    trace: PathBuf,
    other: Option<PathBuf>,
    pictures: Pictures,
}

type Shared = State<Arc<Viewer>>;
type Answer = Result<Response, Unanswered>;

/// Makes the router of a viewer of `subject` on `port`.
///
/// # Errors
/// The scratch folder cannot be made.
pub fn router(subject: Subject, token: &str, port: u16) -> std::io::Result<Router> {
    let Subject { tool, trace, other } = subject;
    let viewer = Viewer { tool: Tool::new(tool), trace, other, pictures: Pictures::new()? };
    let answers = Router::new()
        .route("/subject", get(subject_of))
        .route("/info", get(info))
        .route("/frames", get(frames))
        .route("/commands", get(commands))
        .route("/state", get(state))
        .route("/sections/{at}", get(sections))
        .route("/statistics", get(statistics))
        .route("/problems", get(problems))
        .route("/differences", get(differences))
        .route("/pictures/{at}", get(framebuffer))
        .route("/pictures/{at}/{file}", get(framebuffer_file))
        .route("/objects/{at}", get(objects))
        .route("/objects/{at}/{file}", get(objects_file));
    let file = |Path((_, file)): Path<(String, String)>| async move { page(&file) };
    let gate = Arc::new(Gate::new(token, port));
    Ok(Router::new()
        .route("/{token}/", get(|| async { page("") }))
        .route("/{token}/{*file}", get(file))
        .nest("/{token}/api", answers)
        .with_state(Arc::new(viewer))
        .layer(middleware::from_fn_with_state(gate, guard)))
}

fn page(name: &str) -> Response {
    match site::file(name) {
        Some((content_type, content)) => {
            ([(header::CONTENT_TYPE, content_type)], content).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The names of the traces, for titles and for command lines.
async fn subject_of(State(viewer): Shared) -> Response {
    let Viewer { trace, other, .. } = &*viewer;
    axum::Json(json!({ "trace": trace.to_string_lossy(), "other": other.as_ref().map(|it| it.to_string_lossy()) }))
        .into_response()
}

async fn info(State(viewer): Shared) -> Answer {
    document(&viewer, Words::of("info", &viewer.trace)).await
}

async fn frames(State(viewer): Shared, Query(asked): Query<question::Frames>) -> Answer {
    document(&viewer, asked.words(&viewer.trace)).await
}

/// Lines of JSON, as they are found.
async fn commands(State(viewer): Shared, Query(asked): Query<question::Commands>) -> Answer {
    let words = asked.words(&viewer.trace);
    let pieces = viewer.tool.stream(Cost::Read, words.as_slice()).await?;
    let content_type = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((content_type, Body::from_stream(pieces)).into_response())
}

async fn state(State(viewer): Shared, Query(asked): Query<question::State>) -> Answer {
    document(&viewer, asked.words(&viewer.trace)).await
}

async fn sections(State(viewer): Shared, Path((_, at)): Path<(String, u64)>) -> Answer {
    document(&viewer, Words::of("state", &viewer.trace).with("at", at).word("--sections")).await
}

async fn statistics(State(viewer): Shared) -> Answer {
    document(&viewer, Words::of("stats", &viewer.trace)).await
}

async fn problems(State(viewer): Shared) -> Answer {
    document(&viewer, Words::of("problems", &viewer.trace)).await
}

async fn differences(State(viewer): Shared) -> Answer {
    let Some(other) = &viewer.other else {
        let why = "there is no second trace; begin with `gapii-ctl ui FILE OTHER`";
        return Err(Unanswered::Refused(why.to_owned()));
    };
    document(&viewer, Words::of("diff", &viewer.trace).word(other)).await
}

async fn framebuffer(viewer: Shared, at: Path<(String, u64)>) -> Answer {
    set(viewer, Content::Framebuffer, at).await
}

async fn objects(viewer: Shared, at: Path<(String, u64)>) -> Answer {
    set(viewer, Content::Objects, at).await
}

async fn framebuffer_file(viewer: Shared, file: Path<(String, u64, String)>) -> Answer {
    set_file(viewer, Content::Framebuffer, file).await
}

async fn objects_file(viewer: Shared, file: Path<(String, u64, String)>) -> Answer {
    set_file(viewer, Content::Objects, file).await
}

/// Answers with the names of the files that a replay up to a command writes.
async fn set(State(viewer): Shared, of: Content, Path((_, at)): Path<(String, u64)>) -> Answer {
    let set = viewer.pictures.set((of, at), &viewer.trace, &viewer.tool).await?;
    Ok(axum::Json(set).into_response())
}

/// Answers with one of these files.
async fn set_file(
    State(viewer): Shared,
    of: Content,
    Path((_, at, name)): Path<(String, u64, String)>,
) -> Answer {
    let set = viewer.pictures.set((of, at), &viewer.trace, &viewer.tool).await?;
    let Some(content) = set.read(&name) else { return Ok(StatusCode::NOT_FOUND.into_response()) };
    let content_type = match name.rsplit('.').next() {
        Some("png") => "image/png",
        Some("json") => "application/json",
        Some("bin") => "application/octet-stream",
        _ => "text/plain; charset=utf-8",
    };
    Ok(([(header::CONTENT_TYPE, content_type)], content?).into_response())
}

/// Answers with the document that the tool prints.
async fn document(viewer: &Viewer, words: Words) -> Answer {
    let answer = viewer.tool.ask(Cost::Read, words.as_slice()).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], answer).into_response())
}

impl IntoResponse for Unanswered {
    fn into_response(self) -> Response {
        let status = match self {
            Self::Io(_) => StatusCode::INTERNAL_SERVER_ERROR,
            // That a trace has no such command or picture is an answer.
            Self::Refused(_) => StatusCode::OK,
        };
        (status, axum::Json(json!({ "error": self.to_string() }))).into_response()
    }
}

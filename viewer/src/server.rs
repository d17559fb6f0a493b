//! What the viewer of a trace answers at which address. All addresses are below the token.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::json;

use crate::pictures::{Content, Pictures};
use crate::question::{self, Words};
use crate::site;
use crate::subject::Subject;
use crate::tool::{Cost, Tool, Unanswered};

/// What all answers are made from.
struct Viewer {
    tool: Tool,
    shown: Shown,
    other: Option<Shown>,
}

/// A trace that is shown.
struct Shown {
    trace: PathBuf,
    pictures: Pictures,
}

impl Shown {
    fn new(trace: PathBuf, whole_below: u64) -> std::io::Result<Self> {
        Ok(Self { pictures: Pictures::new(&trace, whole_below)?, trace })
    }
}

impl Viewer {
    fn other(&self) -> Result<&Shown, Unanswered> {
        let why = "there is no second trace; begin with `gapii-ctl ui FILE OTHER`";
        self.other.as_ref().ok_or_else(|| Unanswered::Refused(why.to_owned()))
    }
}

type Shared = State<Arc<Viewer>>;
/// The answer to a request.
pub type Answer = Result<Response, Unanswered>;

/// Makes the router of a viewer of `subject`, which `tool` reads.
///
/// # Errors
/// The scratch folder cannot be made.
pub fn router(tool: Tool, subject: Subject) -> std::io::Result<Router> {
    let Subject { trace, other, whole_below } = subject;
    let other = other.map(|path| Shown::new(path, whole_below)).transpose()?;
    let viewer = Viewer { tool, shown: Shown::new(trace, whole_below)?, other };
    let answers = Router::new()
        .route("/subject", get(subject_of))
        .route("/info", get(info))
        .route("/frames", get(frames))
        .route("/threads", get(threads))
        .route("/commands", get(commands))
        .route("/state", get(state))
        .route("/sections/{at}", get(sections))
        .route("/history", get(history))
        .route("/statistics", get(statistics))
        .route("/problems", get(problems))
        .route("/differences", get(differences))
        .route("/other/frames", get(other_frames))
        .route("/other/commands", get(other_commands))
        .route("/other/pictures/{at}", get(other_framebuffer))
        .route("/other/pictures/{at}/{file}", get(other_framebuffer_file))
        .route("/pictures/{at}", get(framebuffer))
        .route("/pictures/{at}/{file}", get(framebuffer_file))
        .route("/before/{at}", get(framebuffer_before))
        .route("/before/{at}/{file}", get(framebuffer_before_file))
        .route("/pixel", get(pixel))
        .route("/objects/{at}", get(objects))
        .route("/objects/{at}/{file}", get(objects_file));
    let file = |Path((_, file)): Path<(String, String)>| async move { page(&file) };
    Ok(Router::new()
        .route("/{token}/", get(|| async { page("") }))
        .route("/{token}/{*file}", get(file))
        .nest("/{token}/api", answers)
        .with_state(Arc::new(viewer)))
}

/// Answers with a file of the page.
pub fn page(name: &str) -> Response {
    match site::file(name) {
        Some((content_type, content)) => {
            ([(header::CONTENT_TYPE, content_type)], content).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The names of the traces, for titles and for command lines.
async fn subject_of(State(viewer): Shared) -> Response {
    let name = |shown: &Shown| shown.trace.to_string_lossy().into_owned();
    let names = json!({ "trace": name(&viewer.shown), "other": viewer.other.as_ref().map(name) });
    axum::Json(names).into_response()
}

async fn info(State(viewer): Shared) -> Answer {
    document(&viewer, Words::of("info", &viewer.shown.trace)).await
}

async fn frames(State(viewer): Shared, Query(asked): Query<question::Frames>) -> Answer {
    document(&viewer, asked.words(&viewer.shown.trace)).await
}

async fn threads(State(viewer): Shared) -> Answer {
    document(&viewer, Words::of("threads", &viewer.shown.trace)).await
}

/// Lines of JSON, as they are found.
async fn commands(State(viewer): Shared, Query(asked): Query<question::Commands>) -> Answer {
    lines(&viewer, asked.words(&viewer.shown.trace)).await
}

async fn other_commands(State(viewer): Shared, Query(asked): Query<question::Commands>) -> Answer {
    lines(&viewer, asked.words(&viewer.other()?.trace)).await
}

async fn lines(viewer: &Viewer, words: Words) -> Answer {
    let pieces = viewer.tool.stream(Cost::Read, words.as_slice()).await?;
    let content_type = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((content_type, Body::from_stream(pieces)).into_response())
}

async fn state(State(viewer): Shared, Query(asked): Query<question::State>) -> Answer {
    document(&viewer, asked.words(&viewer.shown.trace)).await
}

async fn sections(State(viewer): Shared, Path((_, at)): Path<(String, u64)>) -> Answer {
    document(&viewer, Words::of("state", &viewer.shown.trace).with("at", at).word("--sections"))
        .await
}

async fn history(State(viewer): Shared, Query(asked): Query<question::History>) -> Answer {
    document(&viewer, asked.words(&viewer.shown.trace)).await
}

async fn statistics(State(viewer): Shared) -> Answer {
    document(&viewer, Words::of("stats", &viewer.shown.trace)).await
}

async fn problems(State(viewer): Shared) -> Answer {
    document(&viewer, Words::of("problems", &viewer.shown.trace)).await
}

async fn differences(State(viewer): Shared) -> Answer {
    let words = Words::of("diff", &viewer.shown.trace).word(&viewer.other()?.trace);
    // It plays both traces.
    let answer = viewer.tool.ask(Cost::Replay, words.as_slice()).await?;
    Ok(json_answer(answer))
}

async fn other_frames(State(viewer): Shared, Query(asked): Query<question::Frames>) -> Answer {
    document(&viewer, asked.words(&viewer.other()?.trace)).await
}

type At = Path<(String, u64)>;
type FileAt = Path<(String, u64, String)>;

async fn framebuffer(State(viewer): Shared, at: At) -> Answer {
    set(&viewer, &viewer.shown, Content::Framebuffer, at).await
}

async fn framebuffer_before(State(viewer): Shared, at: At) -> Answer {
    set(&viewer, &viewer.shown, Content::FramebufferBefore, at).await
}

async fn pixel(State(viewer): Shared, Query(asked): Query<question::Pixel>) -> Answer {
    let answer = viewer.shown.pictures.pixel(&asked, &viewer.tool).await?;
    Ok(axum::Json(answer).into_response())
}

async fn objects(State(viewer): Shared, at: At) -> Answer {
    set(&viewer, &viewer.shown, Content::Objects, at).await
}

async fn other_framebuffer(State(viewer): Shared, at: At) -> Answer {
    set(&viewer, viewer.other()?, Content::Framebuffer, at).await
}

async fn framebuffer_file(State(viewer): Shared, file: FileAt) -> Answer {
    set_file(&viewer, &viewer.shown, Content::Framebuffer, file).await
}

async fn framebuffer_before_file(State(viewer): Shared, file: FileAt) -> Answer {
    set_file(&viewer, &viewer.shown, Content::FramebufferBefore, file).await
}

async fn objects_file(State(viewer): Shared, file: FileAt) -> Answer {
    set_file(&viewer, &viewer.shown, Content::Objects, file).await
}

async fn other_framebuffer_file(State(viewer): Shared, file: FileAt) -> Answer {
    set_file(&viewer, viewer.other()?, Content::Framebuffer, file).await
}

/// Answers with the names of the files that a replay up to a command writes.
async fn set(viewer: &Viewer, of: &Shown, content: Content, Path((_, at)): At) -> Answer {
    let set = of.pictures.set((content, at), &viewer.tool).await?;
    Ok(axum::Json(set).into_response())
}

/// Answers with one of these files.
async fn set_file(
    viewer: &Viewer,
    of: &Shown,
    content: Content,
    Path((_, at, name)): FileAt,
) -> Answer {
    let set = of.pictures.set((content, at), &viewer.tool).await?;
    let Some(content) = set.read(&name).await else {
        return Ok(StatusCode::NOT_FOUND.into_response());
    };
    let content_type = match name.rsplit('.').next() {
        Some("png") => "image/png",
        Some("bin") => "application/octet-stream",
        _ => "text/plain; charset=utf-8",
    };
    Ok(([(header::CONTENT_TYPE, content_type)], content?).into_response())
}

/// Answers with the document that the tool prints.
async fn document(viewer: &Viewer, words: Words) -> Answer {
    Ok(json_answer(viewer.tool.ask(Cost::Read, words.as_slice()).await?))
}

fn json_answer(answer: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], answer).into_response()
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

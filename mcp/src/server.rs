//! Answers the calls of an agent.

use std::ffi::OsString;
use std::path::PathBuf;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::sync::Semaphore;

use crate::bounded::{Bounded, bounded};
use crate::picture::{self, Picture};
use crate::tools::{Source, TOOLS, Tool};
use crate::traces::Traces;
use crate::{arguments, process};

/// Runs of `gapii-ctl` at one time. A replay uses all cores.
const RUNS_MAX: usize = 2;

const INSTRUCTIONS: &str = "gapii records what a program tells EGL, GLX, OpenGL, OpenGL ES and Level Zero. `traces` \
lists the recordings. Begin with `info` and `problems`; then look at `frames`, `commands`, `state` and `picture`. Commands have \
numbers, which the other tools take as `at`. The answers are JSON.";

/// Answers questions about traces.
pub struct Server {
    tool: PathBuf,
    traces: Traces,
    records: bool,
    turns: Semaphore,
}

impl Server {
    /// Asks the control tool at `tool`; it may record if `records` is set.
    pub fn new(tool: PathBuf, traces: Traces, records: bool) -> Self {
        Self { tool, traces, records, turns: Semaphore::new(RUNS_MAX) }
    }

    fn tools(&self) -> impl Iterator<Item = &'static Tool> {
        TOOLS.iter().filter(|tool| self.records || !tool.records)
    }

    async fn answer(
        &self,
        tool: &Tool,
        call: CallToolRequestParams,
    ) -> Result<Vec<ContentBlock>, String> {
        let words = arguments::words(tool, &call.arguments.unwrap_or_default(), &self.traces)?;
        let _turn = self.turns.acquire().await.map_err(|error| error.to_string())?;
        match tool.source {
            Source::Traces => bounded(&self.traces.list().to_string()).map(contents),
            Source::Command(command) => {
                let first = [command, "--json"].map(OsString::from);
                let printed = process::ask(&self.tool, first.into_iter().chain(words)).await?;
                bounded(&printed).map(contents)
            }
            Source::Pictures => {
                let pictures = picture::take(&self.tool, words).await?;
                Ok(pictures.into_iter().flat_map(shown).collect())
            }
        }
    }
}

fn contents(answer: Bounded) -> Vec<ContentBlock> {
    [Some(answer.text), answer.remark].into_iter().flatten().map(ContentBlock::text).collect()
}

fn shown(picture: Picture) -> [ContentBlock; 2] {
    let Picture { name, size: [width, height], png } = picture;
    let title = format!("{name}: {width} x {height} pixels");
    [ContentBlock::text(title), ContentBlock::image(png, "image/png")]
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("gapii", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(INSTRUCTIONS.to_owned());
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools().map(Tool::described).collect()))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.tools().find(|tool| tool.name == call.name) else {
            let is_known = TOOLS.iter().any(|tool| tool.name == call.name);
            let why = match is_known {
                true => {
                    format!("`{}` needs a server that was started with --allow-capture", call.name)
                }
                false => format!("there is no tool `{}`", call.name),
            };
            return Err(ErrorData::invalid_params(why, None));
        };
        // The run is killed if the agent does not wait for it any more.
        let answer = tokio::select! {
            answer = self.answer(tool, call) => answer,
            () = context.ct.cancelled() => Err("cancelled".to_owned()),
        };
        let result = match answer {
            Ok(contents) => CallToolResult::success(contents),
            Err(why) => CallToolResult::error(vec![ContentBlock::text(why)]),
        };
        Ok(CallToolResponse::Complete(result))
    }
}

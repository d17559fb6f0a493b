//! `gapii-mcp`: lets an agent ask about traces, over standard input and output (Model Context Protocol). `gapii-ctl mcp`
//! starts it. Each question is answered by a run of `gapii-ctl`, so the answers are those that people get.
//!
//! It reads only the traces of the folders that it was given. Every answer is bounded in size. It records only with
//! `--allow-capture`.

mod arguments;
mod bounded;
mod picture;
mod process;
mod server;
mod tools;
mod traces;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rmcp::ServiceExt;

use crate::server::Server;
use crate::traces::Traces;

#[derive(Parser)]
#[command(name = "gapii-mcp", version, about = "Answer an agent's questions about traces")]
struct Options {
    /// The control tool
    #[arg(long, value_name = "GAPII-CTL", default_value = "gapii-ctl")]
    tool: PathBuf,

    /// Also let the agent list running programs and record them
    #[arg(long)]
    allow_capture: bool,

    /// Traces, and folders with traces, that the agent may ask about
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let served = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match served.map_err(|error| error.to_string()).and_then(|it| it.block_on(serve(options))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("gapii-mcp: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Answers until standard input ends.
async fn serve(options: Options) -> Result<(), String> {
    let traces = Traces::below(&options.paths)?;
    let server = Server::new(options.tool, traces, options.allow_capture);
    let running = server.serve(rmcp::transport::stdio()).await;
    let ended = running.map_err(|error| error.to_string())?.waiting().await;
    ended.map(drop).map_err(|error| error.to_string())
}

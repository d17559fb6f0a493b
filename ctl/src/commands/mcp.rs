//! `mcp`: becomes `gapii-mcp`, which answers an agent over standard input and output. That is a program of its own, so that
//! the protocol's libraries are no part of this one. It asks this program in turn.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::{Args, ValueHint};
use gapii_package::MCP;

use crate::failure::Failure;
use crate::installation;

const AFTER_HELP: &str = "\
The agent can list traces, and ask for frames, commands, state, pictures, problems, differences and statistics. Every answer
is bounded in size. An agent's configuration names this command; docs/agents.md has examples.

Examples:
  gapii-ctl mcp ~/traces                        answer questions about the traces in this folder
  gapii-ctl mcp --allow-capture ~/traces        also record running programs into it";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Mcp {
    /// Also let the agent list running programs and record them
    #[arg(long)]
    allow_capture: bool,

    /// Traces, and folders with traces, that the agent may ask about; nothing else is read
    #[arg(value_name = "PATH", default_value = ".", value_hint = ValueHint::AnyPath)]
    paths: Vec<PathBuf>,
}

pub fn run(args: &Mcp) -> Result<u8, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::system(format!("can't find this program: {error}")))?;
    let server = installation::program_beside(MCP).ok_or_else(|| {
        Failure::unreachable(format!(
            "{MCP} is not installed; install Debian's package with `apt install ./{MCP}_*.deb`, or build all of gapii with \
             `cargo xtask build`"
        ))
    })?;
    let mut command = Command::new(&server);
    command.arg("--tool").arg(own);
    if args.allow_capture {
        command.arg("--allow-capture");
    }
    let error = command.arg("--").args(&args.paths).exec();
    Err(Failure::system(format!("can't run {}: {error}", server.display())))
}

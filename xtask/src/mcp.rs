//! `check-mcp`: the server for agents. Its lints and unit tests, and then the client of PyPI's package `mcp`, which asks
//! questions about recorded traces and compares the answers with what `gapii-ctl` prints. Not part of `test`, because it
//! downloads, and because the protocol's crates are built for nothing else.

use std::fs;
use std::process::Command;

use crate::own_workspace::MCP;
use crate::tree::Profile;
use crate::xserver::XServer;
use crate::{build, exports, packages, python, step, tree};

/// Asks the questions, and records a program. Arguments: the control tool, and the folder with the traces.
const ASKING: &str = "xtask/src/mcp/ask.py";

pub fn run() -> anyhow::Result<()> {
    packages::install(&[packages::DEMO, packages::EXPORTS])?;
    MCP.check()?;
    build::product(Profile::Dev)?;
    MCP.build(Profile::Dev)?;
    let folder = tree::target().join("agents");
    let traces = folder.join("traces");
    // What an earlier run has recorded would be listed, too.
    _ = fs::remove_dir_all(&traces);
    fs::create_dir_all(&traces)?;
    let python = python::with(&["mcp"], &folder.join("venv"))?;
    for name in ["one.gapii", "other.gapii"] {
        exports::record(&traces.join(name))?;
    }
    let tool = tree::artifacts(Profile::Dev).join(gapii_package::CTL);
    let display = XServer::start()?;
    let mut asking = Command::new(python);
    asking.arg(tree::root().join(ASKING)).arg(tool).arg(&traces).env("DISPLAY", display.name());
    step::run(&mut asking)
}

//! `XServer`: an Xvfb of our own, on an unused display, ended with its owner by SIGTERM.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};

pub struct XServer {
    child: Child,
    name: String,
}

impl XServer {
    /// Starts it and returns when it accepts connections.
    pub fn start() -> anyhow::Result<XServer> {
        let mut child = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("can't start Xvfb; it is in the package xvfb")?;
        let stdout = child.stdout.take();
        let mut server = XServer { child, name: String::new() };
        let mut number = String::new();
        if let Some(stdout) = stdout {
            BufReader::new(stdout).read_line(&mut number)?;
        }
        let number = number.trim();
        if number.is_empty() {
            bail!("Xvfb ended before it had a display");
        }
        server.name = format!(":{number}");
        Ok(server)
    }

    /// Returns the value for `DISPLAY`.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for XServer {
    fn drop(&mut self) {
        // SIGTERM, so that it removes its socket and lock; it fails only if Xvfb is gone already.
        let pid = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.child.wait();
    }
}

//! `Place`: a folder of an ordinary user, in which the programs run, with a display of each kind. Browsers refuse to run as
//! root, and their sandboxes are those of an ordinary user.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use tempfile::TempDir;

use super::program::{Display, FILES};
use crate::step;
use crate::xserver::XServer;

/// The user and the group "nobody", as which the programs run if this is root.
const NOBODY: u32 = 65534;
const WAYLAND: &str = "gapii-programs";
/// How long Weston may take until it listens.
const PATIENCE: Duration = Duration::from_secs(10);

pub struct Place {
    server: XServer,
    /// Ends before its folder goes.
    _compositor: Compositor,
    folder: TempDir,
}

struct Compositor(Child);

impl Place {
    pub fn new() -> anyhow::Result<Place> {
        let folder = TempDir::with_prefix("gapii-programs-")?;
        for (name, text) in FILES {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap_or(folder.path()))?;
            fs::write(path, text)?;
        }
        let sources = ["-O2", "-o", "window", "window.c", "-lglfw", "-lGLESv2"];
        step::run_aside(step::command("cc", &sources).current_dir(folder.path()))?;
        if rustix::process::geteuid().is_root() {
            give_away(folder.path())?;
        }
        fs::set_permissions(folder.path(), Permissions::from_mode(0o700))?;
        let server = XServer::start()?;
        let compositor = compositor(folder.path())?;
        Ok(Place { server, _compositor: compositor, folder })
    }

    /// Path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A command that runs here as the ordinary user, on this display.
    pub fn command(&self, words: &[&str], display: Display) -> Command {
        let mut command = command(self.folder.path(), words);
        match display {
            Display::None => {}
            Display::X11 => _ = command.env("DISPLAY", self.server.name()),
            Display::Wayland => _ = command.env("WAYLAND_DISPLAY", WAYLAND),
        }
        command
    }
}

/// Makes a folder and what is in it the ordinary user's.
fn give_away(folder: &Path) -> anyhow::Result<()> {
    chown(folder, Some(NOBODY), Some(NOBODY))?;
    for entry in fs::read_dir(folder)?.flatten() {
        match entry.file_type()?.is_dir() {
            true => give_away(&entry.path())?,
            false => chown(entry.path(), Some(NOBODY), Some(NOBODY))?,
        }
    }
    Ok(())
}

fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(folder).stdin(Stdio::null()).env_clear();
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env("PATH", path).env("LANG", "C.UTF-8").env("NO_AT_BRIDGE", "1");
    for name in ["HOME", "TMPDIR", "XDG_RUNTIME_DIR"] {
        command.env(name, folder);
    }
    if rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

fn compositor(folder: &Path) -> anyhow::Result<Compositor> {
    let words = ["weston", "--backend=headless-backend.so", "--idle-time=0", "--socket", WAYLAND];
    let mut command = command(folder, &words);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().context("weston")?;
    let compositor = Compositor(child);
    let began = Instant::now();
    while !folder.join(WAYLAND).exists() {
        if began.elapsed() > PATIENCE {
            bail!("weston does not listen after {} s", PATIENCE.as_secs());
        }
        sleep(Duration::from_millis(20));
    }
    Ok(compositor)
}

impl Drop for Compositor {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.0);
        // It fails only if Weston is gone already.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.0.wait();
    }
}

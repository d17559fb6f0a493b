//! A display for programs that need one: an Xvfb that ends when the value is dropped.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::process::Running;

pub struct Display {
    server: Running,
    name: String,
}

impl Display {
    pub fn start() -> Self {
        let mut command = Command::new("Xvfb");
        command.args([
            "-displayfd",
            "1",
            "-screen",
            "0",
            "800x600x24",
            "-nolisten",
            "tcp",
            "-noreset",
        ]);
        let server = Running::start(&mut command);
        let number = crate::wait::until("Xvfb's display number", Duration::from_secs(30), || {
            server.stdout_line()
        });
        Self { server, name: format!(":{number}") }
    }

    /// A program with its arguments, on this display.
    pub fn command<W: AsRef<OsStr>>(&self, words: &[W]) -> Command {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env_remove("EGL_PLATFORM");
        self.use_in(&mut command);
        command
    }

    /// Connects a client that does nothing. While it is connected, other clients get other identifiers than without it.
    pub fn client(&self) -> UnixStream {
        let number = self.name.trim_start_matches(':');
        let path = format!("/tmp/.X11-unix/X{number}");
        let mut client = UnixStream::connect(path).expect("the display's socket");
        // Least significant byte first, protocol 11.0, no authorization.
        client.write_all(&[b'l', 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0]).expect("room");
        let mut answer = [0; 8];
        client.read_exact(&mut answer).expect("an answer");
        assert_eq!(answer[0], 1, "the display refuses the client");
        client
    }

    /// Lets the server answer nobody while `act` runs.
    pub fn mute<T>(&self, act: impl FnOnce() -> T) -> T {
        self.server.signal(Signal::STOP);
        let acted = act();
        self.server.signal(Signal::CONT);
        acted
    }

    /// Puts `command` on this display.
    pub fn use_in(&self, command: &mut Command) {
        command.env("DISPLAY", &self.name).env_remove("WAYLAND_DISPLAY");
    }
}

/// Puts `command` on an EGL platform with pbuffers and without a display: Mesa's surfaceless platform, unless the
/// environment variable `GAPII_EGL_PLATFORM` names another one.
pub fn surfaceless(command: &mut Command) {
    let platform = std::env::var("GAPII_EGL_PLATFORM");
    command.env("EGL_PLATFORM", platform.as_deref().unwrap_or("surfaceless"));
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
}

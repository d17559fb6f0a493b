//! Honest programs with the shim, and peers from other machines, beside a siege: `cargo xtask soak -- hostile` says in its
//! environment where they are. The tests of this crate alone have no shim, and no guests.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::until;

/// Time between two rounds of a program's commands, in microseconds.
const REST_US: &str = "50000";
/// The longest time that the shim may keep a command, without the time in which other threads had the processors.
pub const PATIENCE: Duration = Duration::from_millis(20);

/// What guests are made of.
pub struct Guests {
    /// `tests/programs/headless.c`.
    program: OsString,
    /// The folder of the driver that takes no time.
    driver: OsString,
    shim: OsString,
    /// The daemon's folder of credentials for remote clients.
    credentials: OsString,
    /// Where the daemon serves remote clients.
    pub address: SocketAddr,
    /// The socket of a daemon that accepts every connection, and does not answer.
    silent: PathBuf,
    _folder: tempfile::TempDir,
    _listener: UnixListener,
}

/// An honest program; it measures its own commands.
pub struct Guest(Child);

impl Guests {
    /// `None` if the environment names none.
    pub fn invited() -> Option<Self> {
        let named = |what: &str| std::env::var_os(format!("GAPII_HOSTILE_{what}"));
        let folder = tempfile::tempdir().unwrap();
        let silent = folder.path().join("app.sock");
        Some(Self {
            program: named("PROGRAM")?,
            driver: named("DRIVER")?,
            shim: named("SHIM")?,
            credentials: named("CREDENTIALS")?,
            address: TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap(),
            _listener: UnixListener::bind(&silent).unwrap(),
            silent,
            _folder: folder,
        })
    }

    /// Options of a daemon that they can use.
    pub fn options(&self) -> Vec<String> {
        let address = self.address.to_string();
        let credentials = self.credentials.to_str().unwrap();
        ["--ring-size", "1M", "--remote", &address, "--remote-credentials", credentials]
            .map(str::to_owned)
            .to_vec()
    }

    /// A program of the daemon with this socket.
    pub fn start(&self, socket: &Path) -> Guest {
        let mut command = Command::new(&self.program);
        command.arg(REST_US).env("LD_LIBRARY_PATH", &self.driver).env("LD_PRELOAD", &self.shim);
        command.env("GAPII_SOCKET", socket).stdout(Stdio::piped());
        Guest(command.spawn().unwrap())
    }

    /// A program whose daemon does not answer.
    pub fn start_at_a_silent_daemon(&self) -> Guest {
        self.start(&self.silent)
    }

    /// Peers of other machines that say nothing, plain text, and half of a greeting of TLS.
    pub fn knock(&self) {
        let sockets: Vec<_> = (0..20)
            .filter_map(|number| {
                let mut socket = TcpStream::connect(self.address).ok()?;
                let words: [&[u8]; 3] = [b"", b"GET / HTTP/1.1\r\n\r\n", &[22, 3, 1, 2, 0, 1, 0]];
                // The daemon may have closed the connection.
                let _ = socket.write_all(words[number % words.len()]);
                Some(socket)
            })
            .collect();
        std::thread::sleep(Duration::from_millis(20));
        drop(sockets);
    }
}

impl Guest {
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Ends the program. Returns the time of its longest command.
    pub fn end(mut self) -> Duration {
        kill_process(Pid::from_child(&self.0), Signal::TERM).unwrap();
        let mut said = String::new();
        self.0.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        let status = until("a guest to end", || self.0.try_wait().unwrap());
        assert!(status.success(), "a guest ended with {status}: {said}");
        let longest = said.lines().find_map(|line| line.strip_prefix("longest "));
        Duration::from_micros(longest.and_then(|us| us.parse().ok()).expect("it says so"))
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

//! A daemon that serves remote clients, the credentials that admit them, and traces that they fetch.

use std::fmt;
use std::fs;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::fake_driver;
use crate::gapii::{Daemon, Session, Trace, append};
use crate::process::{Finished, LIMIT, run};
use crate::programs::program;
use crate::proxy::Proxy;
use crate::random::Random;
use crate::wait;

/// A daemon on a port of this machine, with a client that it admits.
pub struct Remote {
    pub session: Session,
    pub daemon: Daemon,
    pub address: SocketAddr,
    /// The file of a client that is admitted.
    pub credentials: PathBuf,
}

/// Counts of fetched traces and of the faults on the way.
#[derive(Default)]
pub struct Fetched {
    traces: u64,
    bytes: u64,
    connections: u64,
    cuts: u64,
    delays: u64,
    garbled: u64,
}

impl Remote {
    pub fn new() -> Self {
        Self::with(&[])
    }

    /// With more options of `gapiid`.
    pub fn with(options: &[&str]) -> Self {
        let session = Session::new();
        let credentials = session.path("client.json");
        pair(&session, &["new", "client", "-o"], &credentials).ok();
        let folder = folder_of(&session);
        let folder = folder.to_str().expect("a plain name").to_owned();
        let metrics = session.path("metrics.sock");
        let metrics = metrics.to_str().expect("a plain name").to_owned();
        let own =
            ["--remote", "127.0.0.1:0", "--remote-credentials", &folder, "--metrics", &metrics];
        // All clients of the proxy have the same address, and the limit of attempts is per address.
        let own = own.into_iter().chain(["--remote-attempts", "100000"]);
        let options: Vec<&str> = own.chain(options.iter().copied()).collect();
        let daemon = session.daemon(&options);
        let said = "remote clients are served at ";
        let address = wait::until("the daemon's port", LIMIT, || {
            let log = daemon.log();
            let (_, rest) = log.split_once(said)?;
            rest.split_once('\n')?.0.trim().parse().ok()
        });
        Self { session, daemon, address, credentials }
    }

    /// `gapii-ctl --via`, with the credentials of the client that is admitted.
    pub fn ctl(&self, to: SocketAddr, arguments: &[&str]) -> Command {
        self.ctl_as(&self.credentials, to, arguments)
    }

    /// The same with other credentials.
    pub fn ctl_as(&self, credentials: &Path, to: SocketAddr, arguments: &[&str]) -> Command {
        let mut command = self.session.ctl(["--via", &format!("tls://{to}"), "--credentials"]);
        command.arg(credentials).args(arguments);
        command
    }

    /// `gapii-ctl pair`, in the daemon's folder.
    pub fn pair(&self, arguments: &[&str], file: &Path) -> Finished {
        pair(&self.session, arguments, file)
    }

    /// The daemon's folder of credentials.
    pub fn folder(&self) -> PathBuf {
        folder_of(&self.session)
    }

    /// A value of the daemon's metrics.
    pub fn metric(&self, name: &str) -> u64 {
        let mut socket =
            UnixStream::connect(self.session.path("metrics.sock")).expect("metrics are served");
        socket.write_all(b"GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n").expect("it is heard");
        let mut text = String::new();
        socket.read_to_string(&mut text).expect("it answers");
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let value = line.unwrap_or_else(|| panic!("no metric {name}: {text}"));
        value.trim().parse().unwrap_or_else(|_| panic!("{name} is {value}"))
    }

    /// Returns the number of connections that were refused for this reason.
    pub fn refused(&self, why: &str) -> u64 {
        self.metric(&format!("gapiid_remote_refused_total{{why=\"{why}\"}}"))
    }

    /// Runs a program to its end; the daemon keeps all its frames.
    pub fn keep_a_program(&self, rounds: u64) {
        let mut process = Command::new(program("draw_forever"));
        process.args(["2", &rounds.to_string()]);
        fake_driver::use_in(&mut process, None);
        let mut command = self.session.ctl(["run", "--keep-frames", "1000000"]);
        append(&mut command, &process);
        run(&mut command).ok();
        wait::until("what is kept to be whole", LIMIT, || {
            let apps = self.session.apps();
            apps.is_empty().then_some(())
        });
    }

    /// Saves the kept frames on this machine; returns the trace's length in bytes.
    #[track_caller]
    pub fn saved_here(&self) -> u64 {
        let trace = Trace::new(self.session.path("here.gapii"));
        run(self.session.ctl(["save", "--force", "-o"]).arg(&trace.path)).ok();
        trace.is_whole("exit");
        trace.path.metadata().expect("it was written").len()
    }

    /// Saves the kept frames with `command`, which lacks the subcommand, and checks that the file has the bytes
    /// that the daemon's writer wrote. Returns its length in bytes.
    #[track_caller]
    pub fn saved_there(&self, mut command: Command) -> u64 {
        let before = self.outputs().len();
        let trace = Trace::new(self.session.path("there.gapii"));
        let saved = run(command.args(["save", "-o"]).arg(&trace.path)).ok();
        let len = self.is_what_was_written(&trace, before, &saved);
        trace.is_whole("exit");
        fs::remove_file(&trace.path).expect("it is ours");
        len
    }

    /// Checks the trace against the hash that the daemon took of the output before sending it, for the first
    /// output after `before`. Returns its length in bytes.
    #[track_caller]
    pub fn is_what_was_written(&self, trace: &Trace, before: usize, fetched: &Finished) -> u64 {
        let (len, hash) = wait::until("the output in the daemon's log", LIMIT, || {
            let mut outputs = self.outputs();
            (outputs.len() > before).then(|| outputs.remove(before))
        });
        let bytes = fs::read(&trace.path).expect("it was written");
        assert_eq!(bytes.len() as u64, len, "{fetched}");
        assert_eq!(blake3::hash(&bytes).to_string(), hash, "{fetched}");
        len
    }

    /// Length and hash of each output that the daemon has taken for a remote client, by its log.
    pub fn outputs(&self) -> Vec<(u64, String)> {
        let log = self.daemon.log();
        let said = log.lines().filter_map(|line| line.split_once(" an output of "));
        let sums = said.filter_map(|(_, rest)| rest.split_once(" bytes is complete, BLAKE3 "));
        // The last line may be incomplete.
        let whole = sums.filter(|(_, hash)| hash.trim().len() == 64);
        whole.map(|(len, hash)| (len.parse().expect("a length"), hash.trim().to_owned())).collect()
    }
}

impl Default for Remote {
    fn default() -> Self {
        Self::new()
    }
}

fn folder_of(session: &Session) -> PathBuf {
    session.path("daemon-credentials")
}

/// `gapii-ctl pair ARGUMENTS FILE`, in the session's own folder.
fn pair(session: &Session, arguments: &[&str], file: &Path) -> Finished {
    let mut command = session.ctl(["pair", "--folder"]);
    run(command.arg(folder_of(session)).args(arguments).arg(file))
}

/// Saves the kept frames of a program again and again, each time through a proxy of another seed, and compares
/// the file with the bytes that the daemon has written.
#[track_caller]
pub fn save_through(remote: &Remote, random: &mut Random, times: u64) -> Fetched {
    const ROUNDS: u64 = 20_000;
    remote.keep_a_program(ROUNDS);
    let here = remote.saved_here();
    let mut sum = Fetched::default();
    for number in 0..times {
        let seed = random.below(u64::MAX >> 17);
        // Several faults per trace.
        eprintln!("trace {number}, through the proxy of seed {seed}");
        let proxy = Proxy::start(remote.address, seed, here / 2);
        let there = remote.saved_there(remote.ctl(proxy.address(), &[]));
        sum.add(there, &proxy);
    }
    sum
}

impl Fetched {
    fn add(&mut self, bytes: u64, proxy: &Proxy) {
        let done = proxy.done();
        self.traces += 1;
        self.bytes += bytes;
        self.connections += done.connections.load(Ordering::SeqCst);
        self.cuts += done.cuts.load(Ordering::SeqCst);
        self.delays += done.delays.load(Ordering::SeqCst);
        self.garbled += done.garbled.load(Ordering::SeqCst);
    }

    /// Checks that faults have happened.
    #[track_caller]
    pub fn was_an_adventure(&self) {
        assert!(self.connections > self.traces && self.cuts + self.garbled > 0, "{self}");
    }
}

impl fmt::Display for Fetched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { traces, bytes, connections, cuts, delays, garbled } = self;
        write!(
            f,
            "{traces} traces of {} KiB in all, each as it was written; {connections} connections, {cuts} cut, \
             {garbled} garbled, {delays} pieces delayed",
            bytes >> 10
        )
    }
}

/// Time that a test waits for the daemon to notice an event.
pub const NOTICE: Duration = Duration::from_secs(20);

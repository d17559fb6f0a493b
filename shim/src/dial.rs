//! Looking for a daemon: the socket, the hello, and the wait for its answer. The socket is `GAPII_SOCKET` if set, else
//! the first that exists of `$XDG_RUNTIME_DIR/gapii/app.sock` and `/run/gapii/app.sock`. Nothing here blocks, except
//! [`Dialled::answer`] for the time that its caller gives. No socket, a full queue of connections or a refusal means no
//! connection; the program goes on unrecorded.
//!
//! Looks for the socket's file before it makes a socket. A program that has closed its sandbox, as Chromium's GPU process
//! does after it has loaded the driver, may end at the call `socket`; the file is hidden from it without an end.
//!
//! Sends nothing to a process that runs neither as this process' user nor as root: whoever answers gives the orders,
//! and gets the program's commands and memory.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gapii_abi::app::{self, AppHello, HelloReply, REPLY_LEN};

use crate::connection::{Connection, Descriptors, receive_with_descriptors};
use crate::environment;
use crate::fault::{self, Fault};
use crate::first_command;
use crate::system;

/// A hello that a daemon has not answered yet.
pub struct Dialled {
    hello: AppHello,
    address: libc::sockaddr_un,
    socket: OwnedFd,
    began_ns: u64,
}

/// What [`Dialled::answer`] has found.
#[expect(clippy::large_enum_variant, reason = "it lives as long as a call")]
pub enum Answer {
    /// The daemon has accepted the process.
    Accepted(Connection),
    /// The daemon has refused the process.
    Refused,
    /// The daemon has gone without an answer.
    Gone,
    /// The daemon has not answered yet.
    None(Dialled),
}

impl Dialled {
    /// Sends this process' hello to the daemon at its socket path. `None` if no daemon takes it at once. `apis` are the
    /// bits of the APIs that the process has called.
    pub fn new(apis: u32) -> Option<Dialled> {
        let address = address_of(&socket_path()?)?;
        let socket = connect(&address)?;
        let hello = hello(apis);
        let bytes = hello.to_bytes();
        // SAFETY: the buffer has that length. Without MSG_NOSIGNAL a daemon that has gone would raise SIGPIPE.
        let sent = unsafe {
            libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL)
        };
        (sent == bytes.len() as isize).then(|| Dialled {
            hello,
            address,
            socket,
            began_ns: system::now_ns(),
        })
    }

    /// Whether this process has sent the hello, and not its parent.
    pub fn is_own(&self) -> bool {
        self.hello.pid == std::process::id()
    }

    /// How long ago the hello was sent.
    pub fn age(&self) -> Duration {
        Duration::from_nanos(system::now_ns().saturating_sub(self.began_ns))
    }

    /// Waits for the answer, for `limit` at most.
    pub fn answer(self, limit: Duration) -> Answer {
        let raw = self.socket.as_raw_fd();
        let is_limited = !fault::is_put_in(Fault::AnswerWithoutLimit);
        let limit = if is_limited { limit } else { Duration::MAX };
        if system::poll(raw, libc::POLLIN, limit) == 0 {
            return Answer::None(self);
        }
        let Some(reply) = receive_reply(raw) else { return Answer::Gone };
        let accepted = Connection::new(self.hello, self.address, self.socket, reply);
        accepted.map_or(Answer::Refused, Answer::Accepted)
    }
}

/// Reads the reply, which a daemon sends as one message.
fn receive_reply(socket: RawFd) -> Option<(HelloReply, Descriptors)> {
    let mut bytes = [0; REPLY_LEN];
    let (received, descriptors) = receive_with_descriptors(socket, &mut bytes)?;
    let is_whole = received == REPLY_LEN || fault::is_put_in(Fault::AnyLength);
    let reply = is_whole.then(|| HelloReply::from_bytes(&bytes).ok())??;
    Some((reply, descriptors))
}

/// Connects without waiting. A connection to a socket in the file system is made at once or not at all. `None` also if
/// the process that listens may not record this one.
pub fn connect(address: &libc::sockaddr_un) -> Option<OwnedFd> {
    connect_to_anybody(address).filter(|socket| listener_of(socket).is_some_and(may_record))
}

/// Returns the user of the process that listens on the daemon's socket, if it may not record this process.
pub fn foreign_listener() -> Option<libc::uid_t> {
    let socket = connect_to_anybody(&address_of(&socket_path()?)?)?;
    listener_of(&socket).filter(|user| !may_record(*user))
}

fn connect_to_anybody(address: &libc::sockaddr_un) -> Option<OwnedFd> {
    if !system::is_there(address) {
        return None;
    }
    let mut kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    if fault::is_put_in(Fault::BlockingSocket) {
        kind &= !libc::SOCK_NONBLOCK;
    }
    // SAFETY: takes no memory.
    let raw = unsafe { libc::socket(libc::AF_UNIX, kind, 0) };
    if raw < 0 {
        return None;
    }
    // SAFETY: the call above made it, and nothing else owns it.
    let socket = unsafe { OwnedFd::from_raw_fd(raw) };
    system::connect(raw, address).then_some(socket)
}

/// Returns the effective user of the process that listens on the other end of a connected socket (`SO_PEERCRED`).
fn listener_of(socket: &OwnedFd) -> Option<libc::uid_t> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut len = size_of_val(&peer) as libc::socklen_t;
    // SAFETY: a buffer of that length.
    let failed = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut len,
        )
    } != 0;
    (!failed && len as usize == size_of_val(&peer)).then_some(peer.uid)
}

/// Whether a daemon of user `theirs` may record this process.
fn may_record(theirs: libc::uid_t) -> bool {
    theirs == 0 || theirs == own_user()
}

/// Returns the effective user of this process.
pub fn own_user() -> libc::uid_t {
    // SAFETY: takes no memory.
    unsafe { libc::geteuid() }
}

/// Returns the path of the daemon's socket: `GAPII_SOCKET` if set, otherwise the first that exists of the user's and
/// the system's.
fn socket_path() -> Option<PathBuf> {
    #[cfg(test)]
    if crate::simulation::running().is_some() {
        return Some(PathBuf::from("/simulated"));
    }
    variable("GAPII_SOCKET").or_else(|| default_sockets().find(|path| path.exists()))
}

/// Whether there is a socket on which a daemon was found or will be, perhaps after a restart.
pub fn has_socket() -> bool {
    socket_path().is_some_and(|path| path.exists())
}

/// Returns the path on which a daemon would be found, whether or not one is there.
pub fn wanted_socket() -> PathBuf {
    let user = || default_sockets().next().unwrap_or_default();
    socket_path().unwrap_or_else(user)
}

/// Whether `gapii-ctl` looks for the daemon of this socket without `--connect`.
pub fn is_default(socket: &Path) -> bool {
    default_sockets().next().is_some_and(|first| first == socket)
}

/// The user's socket and the system's, in the order in which they are looked for.
fn default_sockets() -> impl Iterator<Item = PathBuf> {
    let user = variable("XDG_RUNTIME_DIR").map(|folder| folder.join("gapii"));
    let folders = user.into_iter().chain([PathBuf::from("/run/gapii")]);
    folders.map(|folder| folder.join(app::SOCKET_NAME))
}

fn variable(name: &str) -> Option<PathBuf> {
    environment::variable(name).map(PathBuf::from)
}

/// Returns a path as a socket address. `None` if the path is too long for one.
fn address_of(path: &Path) -> Option<libc::sockaddr_un> {
    // SAFETY: sockaddr_un is plain data for which zero is valid.
    let mut address: libc::sockaddr_un = unsafe { core::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let bytes = path.as_os_str().as_bytes();
    // A NUL follows the path.
    let room = address.sun_path.len().checked_sub(1)?;
    let field =
        address.sun_path.get_mut(..bytes.len().min(room + 1)).filter(|f| f.len() <= room)?;
    for (to, from) in field.iter_mut().zip(bytes) {
        *to = *from as libc::c_char;
    }
    Some(address)
}

/// Builds this process' hello.
fn hello(apis: u32) -> AppHello {
    let mut hello = AppHello::new(std::process::id());
    // A process waits before its first command, and never again: neither a forked child nor a later daemon holds it.
    if !first_command::is_over() && environment::wait_limit().is_some() {
        hello.flags |= app::FLAG_WAIT;
    }
    if !environment::monitors() {
        hello.flags |= app::FLAG_NO_MONITOR;
    }
    hello.launch = environment::launch().unwrap_or_default();
    if let Ok(exe) = std::env::current_exe() {
        copy_padded(&mut hello.exe, exe.as_os_str().as_bytes());
    }
    copy_padded(&mut hello.name, &std::fs::read("/proc/self/comm").unwrap_or_default());
    hello.apis = apis;
    hello
}

/// Copies a name without its trailing white space, truncated so that at least one NUL follows it.
fn copy_padded(field: &mut [u8], name: &[u8]) {
    let name = name.trim_ascii_end();
    let len = name.len().min(field.len() - 1);
    field[..len].copy_from_slice(&name[..len]);
}

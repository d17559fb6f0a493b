//! The connection of a process to a daemon: hello, shared memory, and whether the daemon is alive. The socket is
//! `GAPII_SOCKET` if set, else the first that exists of `$XDG_RUNTIME_DIR/gapii/app.sock` and `/run/gapii/app.sock`. No
//! socket, a refusal, or a daemon that keeps a read or write waiting for `HELLO_TIMEOUT_MS` (2 s) means no connection;
//! the program goes on unrecorded. If the program has closed the socket, the daemon counts as alive.
//!
//! A connection stays mapped for the life of the process, because other threads may be writing through it. What must
//! not survive a `fork` lies in memory that the kernel wipes in the child.

use std::io::Read;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use gapii_abi::app::{self, AppHello, HELLO_TIMEOUT_MS, HelloReply, REPLY_LEN, reply_status};
use gapii_recorder::{Shared, Thread, own_memory};
use gapii_ringbuf::{CounterMap, ModeMap, Segment, SegmentLayout};

use crate::descriptor::OwnDescriptor;
use crate::environment;
use crate::first_command;

/// The connection of a process to a daemon.
pub struct Connection {
    /// The memory that the daemon sent, for the recording threads.
    pub shared: Shared,
    /// The hello that was sent.
    pub hello: AppHello,
    /// The address of the daemon's socket.
    pub address: libc::sockaddr_un,
    socket: OwnDescriptor,
    /// The descriptors that the daemon sent, kept for another daemon: counter, mode page and segment.
    descriptors: [OwnDescriptor; app::DESCRIPTORS],
    wiped: Wiped,
}

impl Connection {
    /// Connects to the daemon at the process' socket path. `None` if there is no daemon, or if it declines.
    /// `apis` are the bits of the APIs that the process has called.
    pub fn open(apis: u32) -> Option<Connection> {
        let path = socket_path()?;
        let address = address_of(&path)?;
        let mut stream = UnixStream::connect(path).ok()?;
        let timeout = Some(Duration::from_millis(HELLO_TIMEOUT_MS));
        stream.set_read_timeout(timeout).ok()?;
        stream.set_write_timeout(timeout).ok()?;
        let hello = hello(apis);
        // std's sockets send with MSG_NOSIGNAL: a daemon that has gone raises no SIGPIPE.
        stream.write_all(&hello.to_bytes()).ok()?;
        let (reply, descriptors) = receive_reply(&mut stream)?;
        if reply.status != reply_status::OK {
            return None;
        }
        let [Some(counter), Some(mode), Some(segment)] = descriptors else { return None };
        let layout = SegmentLayout::new(reply.slot_count, reply.ring_bytes)?;
        let shared = Shared::new(
            Arc::new(Segment::map(segment.as_fd(), layout).ok()?),
            CounterMap::map(counter.as_fd()).ok()?,
            ModeMap::map(mode.as_fd()).ok()?,
        )?;
        Some(Connection {
            shared,
            wiped: Wiped::map(reply.slot_count as usize)?,
            hello,
            address,
            socket: OwnDescriptor::keep(stream.into())?,
            descriptors: [
                OwnDescriptor::keep(counter)?,
                OwnDescriptor::keep(mode)?,
                OwnDescriptor::keep(segment)?,
            ],
        })
    }

    /// Whether this process is a child of the one that made the connection.
    pub fn is_inherited(&self) -> bool {
        self.wiped.is_wiped()
    }

    /// Whether the daemon is gone, or the shim has closed the socket. False if the program has closed the socket,
    /// because then nothing is known.
    pub fn is_daemon_gone(&self) -> bool {
        let Some(descriptor) = self.socket.get() else { return self.socket.is_closed() };
        let mut poll = libc::pollfd { fd: descriptor, events: 0, revents: 0 };
        // SAFETY: one pollfd, no waiting.
        unsafe { libc::poll(&raw mut poll, 1, 0) == 1 && poll.revents & libc::POLLHUP != 0 }
    }

    /// Returns the descriptors to hand to another daemon. `None` if the program has closed one of them.
    pub fn descriptors(&self) -> Option<[RawFd; app::DESCRIPTORS]> {
        let [counter, mode, segment] = &self.descriptors;
        Some([counter.get()?, mode.get()?, segment.get()?])
    }

    /// Continues with another daemon, which gives its orders in the page `mode`. False if something failed.
    pub fn go_on(&self, socket: OwnedFd, mode: OwnedFd) -> bool {
        self.shared.mode.replace(mode.as_fd()).is_ok()
            && self.descriptors[1].replace(mode)
            && self.socket.replace(socket)
    }

    /// Releases what can be released once the daemon is gone: the socket, the descriptors and the content of the
    /// rings. The mappings stay, because threads may still write through them.
    pub fn give_up(&self) {
        self.socket.close();
        self.descriptors.iter().for_each(OwnDescriptor::close);
        self.shared.segment.discard_rings();
    }

    /// Returns the state of the thread that owns slot `slot`.
    pub fn thread(&self, slot: u32) -> *mut Thread {
        self.wiped.thread(slot as usize)
    }

    /// Whether a thread records over this connection.
    pub fn has(&self, thread: &Thread) -> bool {
        self.wiped.has(thread)
    }
}

/// Returns the path of the daemon's socket: `GAPII_SOCKET` if set, otherwise the first that exists of the user's and
/// the system's.
fn socket_path() -> Option<PathBuf> {
    variable("GAPII_SOCKET").or_else(|| default_sockets().find(|path| path.exists()))
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
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
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

/// Descriptors that arrived with a message, in their order.
pub type Descriptors = [Option<OwnedFd>; app::DESCRIPTORS];

/// Reads the reply; the descriptors come with its first bytes.
fn receive_reply(stream: &mut UnixStream) -> Option<(HelloReply, Descriptors)> {
    let mut bytes = [0; REPLY_LEN];
    let (received, descriptors) = receive_with_descriptors(stream.as_raw_fd(), &mut bytes)?;
    stream.read_exact(bytes.get_mut(received..)?).ok()?;
    Some((HelloReply::from_bytes(&bytes).ok()?, descriptors))
}

/// Receives some bytes, and the descriptors that came with them. `None` if the peer is gone, or no bytes are there
/// yet.
pub fn receive_with_descriptors(socket: RawFd, bytes: &mut [u8]) -> Option<(usize, Descriptors)> {
    let mut control = [0u64; 8];
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: msghdr is plain data for which zero is valid.
    let mut message: libc::msghdr = unsafe { core::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control);
    // SAFETY: the message points to live buffers of the sizes it says.
    let received = unsafe { libc::recvmsg(socket, &raw mut message, libc::MSG_CMSG_CLOEXEC) };
    let received = usize::try_from(received).ok().filter(|&received| received > 0)?;
    Some((received, take_descriptors(&message)))
}

/// Takes the descriptors out of a control buffer. Descriptors beyond the expected number are closed.
fn take_descriptors(message: &libc::msghdr) -> Descriptors {
    let mut taken = Descriptors::default();
    let mut next = 0;
    // SAFETY: the kernel filled the control buffer that the message describes.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    while let Some(at) = NonNull::new(header) {
        // SAFETY: CMSG_*HDR return headers inside the buffer.
        let control = unsafe { at.read() };
        if (control.cmsg_level, control.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
            // SAFETY: as above.
            let data = unsafe { libc::CMSG_DATA(at.as_ptr()) }.cast::<RawFd>();
            // SAFETY: computes a length.
            let empty = unsafe { libc::CMSG_LEN(0) } as usize;
            for i in 0..(control.cmsg_len - empty) / size_of::<RawFd>() {
                // SAFETY: `i` is below the number of descriptors the header announces.
                let at = unsafe { data.add(i) };
                // SAFETY: as above.
                let raw = unsafe { at.read_unaligned() };
                // SAFETY: the kernel made the descriptor for this message; nothing else owns it.
                let owned = unsafe { OwnedFd::from_raw_fd(raw) };
                if let Some(slot) = taken.get_mut(next) {
                    *slot = Some(owned);
                    next += 1;
                }
            }
        }
        // SAFETY: as for the first header.
        header = unsafe { libc::CMSG_NXTHDR(message, at.as_ptr()) };
    }
    taken
}

/// Private memory that `fork` turns into zeros: a mark, and the state of every slot's thread.
///
/// Zeros in a thread's state mean "detached", so no command of a child reaches the parent's rings, however the child
/// was created.
struct Wiped {
    memory: NonNull<u8>,
    threads: usize,
}

// SAFETY: the mapping stays. `Thread` says what threads may do with each other's state; the mark is only read.
unsafe impl Send for Wiped {}
// SAFETY: as above.
unsafe impl Sync for Wiped {}

/// Bytes before the first thread: the mark, in cache lines of its own.
const MARK_BYTES: usize = 128;

impl Wiped {
    fn map(threads: usize) -> Option<Wiped> {
        let bytes = MARK_BYTES + threads * size_of::<Thread>();
        let memory = own_memory::map(bytes)?;
        // SAFETY: the mark lies in the mapping.
        unsafe { memory.cast::<u64>().write_volatile(1) };
        Some(Wiped { memory, threads })
    }

    fn is_wiped(&self) -> bool {
        // SAFETY: the mark lies in the mapping, which stays.
        unsafe { self.memory.cast::<u64>().read_volatile() == 0 }
    }

    fn thread(&self, slot: usize) -> *mut Thread {
        // SAFETY: the threads begin behind the mark.
        let threads = unsafe { self.memory.add(MARK_BYTES) }.cast::<Thread>();
        // SAFETY: slots are below the number that the mapping was made for.
        unsafe { threads.add(slot) }.as_ptr()
    }
    fn has(&self, thread: &Thread) -> bool {
        let first = self.thread(0).addr();
        (first..first + self.threads * size_of::<Thread>())
            .contains(&core::ptr::from_ref(thread).addr())
    }
}

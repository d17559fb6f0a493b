//! The connection of a process to a daemon: shared memory, and whether the daemon is alive. If the program has closed the
//! socket, the daemon counts as alive. `dial.rs` makes connections.
//!
//! A connection stays mapped for the life of the process, because other threads may be writing through it. What must
//! not survive a `fork` lies in memory that the kernel wipes in the child.

use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use gapii_abi::app::{self, AppHello, HelloReply, reply_status};
use gapii_recorder::{Shared, Thread, own_memory};
use gapii_ringbuf::{CounterMap, ModeMap, Segment, SegmentLayout};

use crate::descriptor::OwnDescriptor;
use crate::system;

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
    /// Maps what a daemon sent in answer to `hello`. `None` if it declines, or if something cannot be mapped.
    pub fn new(
        hello: AppHello,
        address: libc::sockaddr_un,
        socket: OwnedFd,
        (reply, descriptors): (HelloReply, Descriptors),
    ) -> Option<Connection> {
        if reply.status != reply_status::OK {
            return None;
        }
        let [Some(counter), Some(mode), Some(segment)] = descriptors else { return None };
        let layout = SegmentLayout::new(reply.slot_count, reply.ring_bytes)?;
        let shared = Shared::new(
            Arc::new(Segment::map_for_producers(segment.as_fd(), layout).ok()?),
            CounterMap::map(counter.as_fd()).ok()?,
            ModeMap::map(mode.as_fd()).ok()?,
        )?;
        let socket = OwnDescriptor::keep(socket)?;
        let descriptors = [
            OwnDescriptor::keep(counter)?,
            OwnDescriptor::keep(mode)?,
            OwnDescriptor::keep(segment)?,
        ];
        own_memory::reserve();
        // The last step, because this memory stays mapped even if the connection is dropped.
        let wiped = Wiped::map(reply.slot_count as usize)?;
        Some(Connection { shared, wiped, hello, address, socket, descriptors })
    }

    /// Whether this process is a child of the one that made the connection.
    pub fn is_inherited(&self) -> bool {
        self.wiped.is_wiped()
    }

    /// Whether the daemon is gone, or the shim has closed the socket. False if the program has closed the socket,
    /// because then nothing is known.
    pub fn is_daemon_gone(&self) -> bool {
        let Some(descriptor) = self.socket.get() else { return self.socket.is_closed() };
        system::poll(descriptor, 0, Duration::ZERO) & libc::POLLHUP != 0
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

/// Descriptors that arrived with a message, in their order.
pub type Descriptors = [Option<OwnedFd>; app::DESCRIPTORS];

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

/// Sends bytes with descriptors, without waiting if the socket does not block. Returns whether all were sent.
pub fn send_with_descriptors<const COUNT: usize>(
    socket: RawFd,
    bytes: &[u8],
    shared: [RawFd; COUNT],
) -> bool {
    let mut control = [0_u64; 8];
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: msghdr is plain data for which zero is valid.
    let mut message: libc::msghdr = unsafe { core::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    let len = size_of_val(&shared) as u32;
    // SAFETY: computes a length.
    message.msg_controllen = unsafe { libc::CMSG_SPACE(len) } as usize;
    // SAFETY: the message has a control buffer with room for a header.
    let header = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    let first = libc::cmsghdr {
        // SAFETY: computes a length.
        cmsg_len: unsafe { libc::CMSG_LEN(len) } as usize,
        cmsg_level: libc::SOL_SOCKET,
        cmsg_type: libc::SCM_RIGHTS,
    };
    // SAFETY: in the control buffer, which is larger and aligned to eight.
    unsafe { header.write(first) };
    // SAFETY: behind the header, in the buffer.
    let data = unsafe { libc::CMSG_DATA(header) };
    // SAFETY: the buffer has room for as many descriptors; it is not aligned for them.
    unsafe { data.cast::<[RawFd; COUNT]>().write_unaligned(shared) };
    // SAFETY: the message points to live buffers of the sizes it says.
    let sent = unsafe { libc::sendmsg(socket, &raw const message, libc::MSG_NOSIGNAL) };
    sent == bytes.len() as isize
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

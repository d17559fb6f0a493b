//! The daemon of the simulation: it listens on a real socket, and answers as its temper says, when the clock says so.

use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

use gapii_abi::app::{
    AppHello, FLAG_TAKE_OVER, HELLO_LEN, HelloReply, REPLY_LEN, REPLY_MAGIC, reply_status,
};
use gapii_ringbuf::{CounterMap, Mode, ModeMap, ModeSettings, ModeWriter, Segment, SegmentLayout};

use super::random::Random;
use crate::connection::{receive_with_descriptors, send_with_descriptors};
use crate::system;

const MS: u64 = 1_000_000;
const SLOTS: u32 = 2;
const RING_BYTES: u64 = 4_096;

/// How a daemon answers a hello.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    /// Accepts the process, or takes over its capture.
    Proper,
    Refusal,
    /// Other bytes, of some length.
    Nonsense,
    /// The first bytes of a proper answer.
    Cut,
    /// A proper answer without its descriptors.
    Bare,
    /// A proper answer with descriptors of other files.
    Mismatched,
    /// Closes the connection.
    HangUp,
    /// Nothing, as long as it stays like this.
    Silence,
}

/// A connection of the program.
struct Peer {
    socket: UnixStream,
    /// When the daemon answers, and how; `None` once it has.
    due: Option<(u64, Answer)>,
    /// A part of an answer was sent that will not be completed.
    is_spoilt: bool,
    /// The shared memory that the daemon keeps.
    mode: Option<ModeWriter>,
    memory: Option<(CounterMap, Segment)>,
}

/// A daemon, or the lack of one.
pub struct Daemon {
    random: Random,
    listener: Option<UnixListener>,
    name: String,
    peers: Vec<Peer>,
    /// Until when it does nothing.
    stopped_until_ns: u64,
    /// Until when its queue of connections is full.
    full_until_ns: u64,
    /// When another daemon begins.
    begins_ns: Option<u64>,
    /// Answers at once and properly.
    is_well: bool,
    /// How many answers were proper.
    pub accepted: usize,
    /// What the program did wrong.
    pub mistake: Option<String>,
}

impl Daemon {
    /// Begins the daemon of a seed: alive, in three of four.
    pub fn new(seed: u64) -> Self {
        let name = format!("gapii-simulation-{}", std::process::id());
        let mut daemon = Self {
            random: Random::new(seed),
            listener: None,
            name,
            peers: Vec::new(),
            stopped_until_ns: 0,
            full_until_ns: 0,
            begins_ns: None,
            is_well: false,
            accepted: 0,
            mistake: None,
        };
        if daemon.random.below(4) > 0 {
            daemon.begin();
        }
        daemon
    }

    fn begin(&mut self) {
        // The name has all bytes of an address, as that of the shim's connections.
        let mut name = self.name.clone().into_bytes();
        name.resize(address_of("").sun_path.len() - 1, 0);
        let address = SocketAddr::from_abstract_name(name).expect("a name that fits");
        self.listener = Some(UnixListener::bind_addr(&address).expect("a free name"));
    }

    fn die(&mut self) {
        self.listener = None;
        self.peers.clear();
    }

    /// Another daemon takes the place of this one.
    pub fn begin_anew(&mut self) {
        self.die();
        self.begin();
    }

    /// Whether it listens.
    pub fn is_alive(&self) -> bool {
        self.listener.is_some()
    }

    /// Whether a connection waits until the daemon takes others out of its queue.
    pub fn is_full(&self, now_ns: u64) -> bool {
        self.is_alive() && now_ns < self.full_until_ns
    }

    /// When the daemon does something next.
    pub fn next_ns(&self) -> Option<u64> {
        let due = self.peers.iter().filter_map(|peer| match peer.due? {
            (_, Answer::Silence) => None,
            (at, _) => Some(at.max(self.stopped_until_ns)),
        });
        due.chain(self.begins_ns)
            .chain((self.full_until_ns > 0).then_some(self.full_until_ns))
            .min()
    }

    /// Does what is due.
    pub fn act(&mut self, now_ns: u64) {
        if self.begins_ns.is_some_and(|at| at <= now_ns) {
            self.begins_ns = None;
            self.begin();
        }
        if self.full_until_ns <= now_ns {
            self.full_until_ns = 0;
        }
        if now_ns < self.stopped_until_ns {
            return;
        }
        for at in 0..self.peers.len() {
            if let Some((due, answer)) = self.peers[at].due
                && due <= now_ns
                && answer != Answer::Silence
            {
                self.peers[at].due = None;
                self.answer(at, answer);
            }
        }
        self.peers.retain(|peer| peer.due.is_some() || peer.mode.is_some() || peer.is_spoilt);
    }

    /// Something happens to the daemon.
    pub fn suffer(&mut self, now_ns: u64) {
        let random = &self.random;
        match random.below(30) {
            0 => self.stopped_until_ns = now_ns + random.below(3_000) * MS,
            1 => self.full_until_ns = now_ns + (1 + random.below(3_000)) * MS,
            2 if self.is_alive() => {
                let delay = [5, 500, 5_000, 20_000][random.below(4) as usize];
                self.begins_ns = Some(now_ns + (1 + random.below(delay)) * MS);
                self.stopped_until_ns = 0;
                self.full_until_ns = 0;
                self.die();
            }
            3..6 => self.order(),
            _ => {}
        }
    }

    /// Orders the connected process to begin a capture, which another daemon could continue, or something that needs no
    /// action.
    fn order(&mut self) {
        let is_capture = self.random.once_in(2);
        let mut good = self.peers.iter_mut().filter(|peer| !peer.is_spoilt);
        let Some(mode) = good.find_map(|peer| peer.mode.as_mut()) else { return };
        let is_running = mode.settings().is_some_and(|(_, it)| it.mode == Mode::Capturing);
        if is_capture && !is_running {
            mode.set_takers(1);
            mode.set(ModeSettings { mode: Mode::Capturing, ..ModeSettings::default() });
        } else {
            mode.ask_keyframe();
        }
    }

    /// From here on the daemon is alive, and answers everything at once.
    pub fn get_well(&mut self, now_ns: u64) {
        if !self.is_alive() {
            self.begin();
        }
        (self.begins_ns, self.stopped_until_ns, self.full_until_ns) = (None, 0, 0);
        self.is_well = true;
        for peer in &mut self.peers {
            peer.due = peer.due.map(|_| (now_ns, Answer::Proper));
        }
        // What has begun with a part of an answer can't become a good one.
        self.peers.retain(|peer| !peer.is_spoilt);
    }

    /// Connects a socket of the program. Returns false if nobody listens, or if the queue is full.
    pub fn connect(&mut self, socket: RawFd, now_ns: u64) -> bool {
        let full = self.is_full(now_ns);
        let Some(listener) = self.listener.as_ref().filter(|_| !full) else { return false };
        let waiting = self.peers.iter().filter(|peer| peer.due.is_some() && !peer.is_left());
        if waiting.count() > 0 {
            self.mistake = Some("a second hello while the first may be answered".to_owned());
        }
        assert!(system::connect_really(socket, &address_of(&self.name)), "the daemon listens");
        let (peer, _) = listener.accept().expect("it has just connected");
        let random = &self.random;
        let delay = match random.below(4) {
            _ if self.is_well => 0,
            0 => 0,
            1 => random.below(20),
            2 => 20 + random.below(1_000),
            _ => 1_000 + random.below(4_000),
        };
        let answer = match random.below(11) {
            _ if self.is_well => Answer::Proper,
            0 => Answer::Refusal,
            1 => Answer::Nonsense,
            2 => Answer::Cut,
            3 => Answer::Bare,
            4 => Answer::Mismatched,
            5 => Answer::HangUp,
            6 => Answer::Silence,
            _ => Answer::Proper,
        };
        let due = Some((now_ns + delay * MS, answer));
        self.peers.push(Peer { socket: peer, due, is_spoilt: false, mode: None, memory: None });
        true
    }

    fn answer(&mut self, at: usize, answer: Answer) {
        let mut bytes = [0; HELLO_LEN];
        let peer = &mut self.peers[at];
        let raw = peer.socket.as_raw_fd();
        if system::poll_really(raw, libc::POLLIN, Duration::ZERO) & libc::POLLIN == 0 {
            return;
        }
        let Some((HELLO_LEN, handed)) = receive_with_descriptors(raw, &mut bytes) else { return };
        let Ok(hello) = AppHello::from_bytes(&bytes) else {
            self.mistake = Some("a hello that is none".to_owned());
            return;
        };
        let layout = SegmentLayout::new(SLOTS, RING_BYTES).expect("a small layout");
        let takes_over = hello.flags & FLAG_TAKE_OVER != 0;
        let status = if takes_over { reply_status::TAKEN_OVER } else { reply_status::OK };
        let reply = HelloReply {
            version: 1,
            slot_count: layout.slot_count(),
            ring_bytes: layout.ring_bytes(),
            segment_bytes: layout.segment_bytes(),
            ..HelloReply::refusal(status, std::process::id())
        };
        let proper = reply.to_bytes();
        let send = |bytes: &[u8]| send_with_descriptors::<0>(raw, bytes, []);
        match answer {
            Answer::Proper => {
                let is_sent = match takes_over {
                    true => peer.take_over(&proper, handed),
                    false => peer.accept(&proper, layout),
                };
                self.accepted += usize::from(is_sent);
                return;
            }
            Answer::Refusal => {
                send(&HelloReply::refusal(reply_status::TOO_MANY, std::process::id()).to_bytes());
            }
            Answer::Nonsense => {
                let len = 1 + self.random.below(2 * REPLY_LEN as u64) as usize;
                let mut nonsense: Vec<u8> =
                    (0..len).map(|_| self.random.below(256) as u8).collect();
                if self.random.once_in(2) {
                    // It begins like an answer.
                    let begin = len.min(size_of_val(&REPLY_MAGIC));
                    nonsense[..begin].copy_from_slice(&proper[..begin]);
                }
                peer.accept(&nonsense, layout);
            }
            Answer::Cut => {
                let cut = [1, REPLY_LEN - 1][self.random.below(2) as usize];
                peer.accept(
                    &proper[..REPLY_LEN - 1 - self.random.below(cut as u64) as usize],
                    layout,
                );
            }
            Answer::Bare => {
                send(&proper);
            }
            Answer::Mismatched => {
                let file = std::fs::File::open("/dev/null").expect("there is one");
                send_with_descriptors(raw, &proper, [file.as_raw_fd(); 3]);
            }
            Answer::HangUp | Answer::Silence => return,
        }
        // The connection stays open: it is the program that has to give it up.
        peer.is_spoilt = true;
    }
}

impl Peer {
    /// Whether the program has closed the connection.
    fn is_left(&self) -> bool {
        let events = system::poll_really(self.socket.as_raw_fd(), 0, Duration::ZERO);
        events & libc::POLLHUP != 0
    }

    fn accept(&mut self, reply: &[u8], layout: SegmentLayout) -> bool {
        let (counter, counter_fd) = CounterMap::create().expect("a page");
        let (mode, mode_fd) = ModeWriter::create().expect("a page");
        let (segment, segment_fd) = Segment::create(layout).expect("a segment");
        let shared = [&counter_fd, &mode_fd, &segment_fd].map(AsRawFd::as_raw_fd);
        let is_sent = send_with_descriptors(self.socket.as_raw_fd(), reply, shared);
        (self.mode, self.memory) = (Some(mode), Some((counter, segment)));
        is_sent
    }

    fn take_over(&mut self, reply: &[u8], handed: [Option<OwnedFd>; 3]) -> bool {
        let [Some(_), Some(mode), Some(_)] = handed else { return false };
        let old = ModeMap::map(mode.as_fd()).expect("the page of the old daemon");
        let (mode, fd, _) = ModeWriter::create_like(&old).expect("a page");
        let is_sent = send_with_descriptors(self.socket.as_raw_fd(), reply, [fd.as_raw_fd()]);
        self.mode = Some(mode);
        is_sent
    }
}

/// Returns the address of an abstract socket.
fn address_of(name: &str) -> libc::sockaddr_un {
    // SAFETY: sockaddr_un is plain data for which zero is valid.
    let mut address: libc::sockaddr_un = unsafe { core::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (to, from) in address.sun_path[1..].iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    address
}

//! A proxy between a remote client and its daemon that cuts, delays and garbles the bytes between them.
//!
//! A seed determines the faults of each connection.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::random::Random;

/// Bytes of the first connection that go through untouched: a client that was never admitted has nothing to resume.
const FIRST_WORDS: u64 = 16 << 10;
/// Bytes that are passed on at once.
const PIECE: usize = 4 << 10;
/// The longest delay of a piece.
const DELAY_MAX_US: u64 = 3_000;

/// A proxy, until it is dropped.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

/// Counts of connections and of their faults.
#[derive(Debug, Default)]
pub struct Done {
    pub connections: AtomicU64,
    pub cuts: AtomicU64,
    pub delays: AtomicU64,
    pub garbled: AtomicU64,
}

struct Shared {
    to: SocketAddr,
    random: Mutex<Random>,
    /// Largest offset of a fault within a connection, in bytes.
    reach: u64,
    ends: AtomicBool,
    done: Done,
}

/// Fault of one direction of a connection.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Passes,
    Delayed { pause: Duration },
    CutAfter(u64),
    GarbledAt(u64),
}

impl Proxy {
    /// Begins to pass connections on to `to`; faults happen within the first `reach` bytes.
    pub fn start(to: SocketAddr, seed: u64, reach: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of this machine is free");
        let address = listener.local_addr().expect("it is bound");
        let shared = Arc::new(Shared {
            to,
            random: Mutex::new(Random::new(seed)),
            reach,
            ends: AtomicBool::new(false),
            done: Done::default(),
        });
        let serving = Arc::clone(&shared);
        let acceptor = std::thread::spawn(move || serving.accept(&listener));
        Self { address, shared, acceptor: Some(acceptor) }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn done(&self) -> &Done {
        &self.shared.done
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::SeqCst);
        // Wakes the acceptor.
        drop(TcpStream::connect(self.address));
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

impl Shared {
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        for client in listener.incoming().map_while(Result::ok) {
            if self.ends.load(Ordering::SeqCst) {
                return;
            }
            let Ok(daemon) = TcpStream::connect(self.to) else { continue };
            let is_first = self.done.connections.fetch_add(1, Ordering::SeqCst) == 0;
            let up = self.fate(is_first, false);
            let down = self.fate(is_first, true);
            self.pass(&client, &daemon, up);
            self.pass(&daemon, &client, down);
        }
    }

    /// Requests are few, so a fault in this direction happens early or never.
    fn fate(&self, is_first: bool, is_down: bool) -> Fate {
        let mut random = self.random.lock().expect("no proxy panics");
        let from = if is_first { FIRST_WORDS } else { 0 };
        let reach = if is_down { self.reach } else { self.reach / 16 };
        let at = from + random.below(reach.max(1));
        match random.below(if is_down { 4 } else { 12 }) {
            0 => Fate::CutAfter(at),
            1 => Fate::GarbledAt(at),
            2 => Fate::Delayed { pause: Duration::from_micros(1 + random.below(DELAY_MAX_US)) },
            _ => Fate::Passes,
        }
    }

    /// Passes bytes on in a thread of its own until either side ends or the fault cuts the connection.
    fn pass(self: &Arc<Self>, from: &TcpStream, to: &TcpStream, fate: Fate) {
        let (Ok(from), Ok(to)) = (from.try_clone(), to.try_clone()) else { return };
        let shared = Arc::clone(self);
        std::thread::spawn(move || {
            let cut = shared.carry(&from, &to, fate);
            let how = if cut { Shutdown::Both } else { Shutdown::Write };
            let _ = to.shutdown(how);
            if cut {
                let _ = from.shutdown(Shutdown::Both);
            }
        });
    }

    /// Returns true if the connection is cut.
    fn carry(&self, mut from: &TcpStream, mut to: &TcpStream, fate: Fate) -> bool {
        let (mut piece, mut passed) = ([0; PIECE], 0_u64);
        loop {
            let count = match from.read(&mut piece) {
                Ok(0) | Err(_) => return false,
                Ok(count) => count,
            };
            let piece = &mut piece[..count];
            let here = |at: u64| (passed..passed + count as u64).contains(&at);
            match fate {
                Fate::Passes => {}
                Fate::Delayed { pause } => {
                    self.done.delays.fetch_add(1, Ordering::SeqCst);
                    std::thread::park_timeout(pause);
                }
                Fate::GarbledAt(at) if here(at) => {
                    self.done.garbled.fetch_add(1, Ordering::SeqCst);
                    piece[(at - passed) as usize] ^= 1 << (at % 8);
                }
                Fate::CutAfter(at) if here(at) => {
                    self.done.cuts.fetch_add(1, Ordering::SeqCst);
                    let _ = to.write_all(&piece[..(at - passed) as usize]);
                    return true;
                }
                Fate::GarbledAt(_) | Fate::CutAfter(_) => {}
            }
            if to.write_all(piece).is_err() {
                return true;
            }
            passed += count as u64;
        }
    }
}

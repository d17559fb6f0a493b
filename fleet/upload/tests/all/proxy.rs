//! A proxy between an uploader and its store that cuts connections, holds them up, answers 500, and keeps answers back.
//!
//! A seed determines the fate of each connection.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

/// Bytes that are passed on at once.
const PIECE: usize = 16 << 10;

/// A proxy, which serves as long as the test's process lives.
pub struct Proxy {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

/// What happens to connections.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    pub seed: u64,
    /// Of how many connections one is faulty; 0 means none is.
    pub one_of: u64,
    /// How long each piece on its way to the store is held up.
    pub pause: Duration,
    /// Behind how many bytes of answers each other connection is cut.
    pub answers: u64,
}

struct Shared {
    to: SocketAddr,
    faults: Faults,
    count: Counts,
}

/// What has happened.
#[derive(Debug, Default)]
pub struct Counts {
    pub connections: AtomicU64,
    pub cut: AtomicU64,
    pub answers_lost: AtomicU64,
    pub answered_500: AtomicU64,
    /// Bytes that went to the store.
    pub up: AtomicU64,
}

#[derive(Clone, Copy, Debug)]
enum Fate {
    /// Behind this many bytes to the store.
    CutAfter(u64),
    /// Behind this many bytes of answers, after the store has got the whole request.
    AnswerLostAfter(u64),
    Answers500,
}

impl Proxy {
    /// Begins to pass connections on to `to`.
    pub fn start(to: SocketAddr, faults: Faults) -> Proxy {
        Proxy::start_at(SocketAddr::from(([127, 0, 0, 1], 0)), to, faults)
    }

    /// As [`Proxy::start`], at a given address.
    pub fn start_at(at: SocketAddr, to: SocketAddr, faults: Faults) -> Proxy {
        let listener = TcpListener::bind(at).expect("the port is free");
        let address = listener.local_addr().expect("it is bound");
        let shared = Arc::new(Shared { to, faults, count: Counts::default() });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let serving = Arc::clone(&serving);
                // A connection that fails is what a proxy is for.
                thread::spawn(move || drop(serving.serve(&client)));
            }
        });
        Proxy { address, shared }
    }

    pub fn count(&self) -> &Counts {
        &self.shared.count
    }
}

impl Shared {
    fn serve(self: Arc<Self>, client: &TcpStream) -> io::Result<()> {
        let number = self.count.connections.fetch_add(1, SeqCst);
        let fate = self.faults.fate_of(number);
        if let Fate::Answers500 = fate {
            return self.answer_500(client);
        }
        let store = TcpStream::connect(self.to)?;
        let (from, to, this) = (client.try_clone()?, store.try_clone()?, Arc::clone(&self));
        thread::spawn(move || {
            let limit = if let Fate::CutAfter(at) = fate { at } else { u64::MAX };
            if this.carry(&from, &to, limit, true) {
                this.count.cut.fetch_add(1, SeqCst);
                let _ = from.shutdown(Shutdown::Both);
            }
            let _ = to.shutdown(Shutdown::Both);
        });
        let limit = if let Fate::AnswerLostAfter(at) = fate { at } else { u64::MAX };
        if self.carry(&store, client, limit, false) {
            self.count.answers_lost.fetch_add(1, SeqCst);
            let _ = store.shutdown(Shutdown::Both);
        }
        client.shutdown(Shutdown::Both)
    }

    /// Passes bytes on until one side ends, or `limit` of them have passed: then returns true.
    fn carry(&self, mut from: &TcpStream, mut to: &TcpStream, limit: u64, is_up: bool) -> bool {
        let (mut piece, mut passed) = (vec![0; PIECE], 0);
        loop {
            let bytes = match from.read(&mut piece) {
                Ok(0) | Err(_) => return false,
                Ok(bytes) => bytes,
            };
            if is_up {
                thread::park_timeout(self.faults.pause);
                self.count.up.fetch_add(bytes as u64, SeqCst);
            }
            let may_pass = (limit - passed).min(bytes as u64);
            if to.write_all(&piece[..may_pass as usize]).is_err() {
                return false;
            }
            passed += may_pass;
            if passed == limit {
                return true;
            }
        }
    }

    /// Reads a request with its body, and answers that the store fails.
    fn answer_500(&self, mut client: &TcpStream) -> io::Result<()> {
        let mut request = Vec::new();
        let mut piece = vec![0; PIECE];
        let head = loop {
            let bytes = client.read(&mut piece)?;
            if bytes == 0 {
                return Ok(());
            }
            request.extend_from_slice(&piece[..bytes]);
            if let Some(at) = request.windows(4).position(|it| it == b"\r\n\r\n") {
                break at + 4;
            }
        };
        let text = String::from_utf8_lossy(&request[..head]).to_ascii_lowercase();
        let length = text.lines().find_map(|it| it.strip_prefix("content-length: ")?.parse().ok());
        let mut left = length.unwrap_or(0_usize).saturating_sub(request.len() - head);
        while left > 0 {
            match client.read(&mut piece)? {
                0 => return Ok(()),
                bytes => left = left.saturating_sub(bytes),
            }
        }
        self.count.answered_500.fetch_add(1, SeqCst);
        let answer =
            "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        client.write_all(answer.as_bytes())?;
        client.shutdown(Shutdown::Both)
    }
}

impl Faults {
    /// Returns what happens to the connection with this number.
    fn fate_of(&self, number: u64) -> Fate {
        let mut random = Random(self.seed ^ (number << 32));
        if self.one_of == 0 || random.below(self.one_of) != 0 {
            return Fate::AnswerLostAfter(self.answers);
        }
        match random.below(4) {
            0 => Fate::Answers500,
            1 => Fate::CutAfter(random.below(4 << 20)),
            // Heads of answers have some 500 bytes.
            2 => Fate::AnswerLostAfter(1 + random.below(300)),
            _ => Fate::CutAfter(random.below(1_000)),
        }
    }
}

/// Numbers from a seed (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// Returns a number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (it ^ (it >> 31)) % limit
    }
}

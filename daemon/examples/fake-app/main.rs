//! An application without an API: connects to a daemon as the shim does, and carries out the orders on its
//! standard input.
//!
//! For the daemon's tests. One order per line, each answered by the line `done`:
//!
//! ```text
//! wait          waits until the daemon says that a capture runs
//! idle          waits until it says that none does
//! thread        records in a new thread's slot from now on, once one is free
//! retire        gives the slot back
//! calls N       records N commands that take effect and return
//! frames N C    records N times C commands and a swap
//! enter         records a command that does not return
//! describe      records a command of a snapshot
//! described     records the end of a snapshot
//! drop N        drops N commands and records that
//! drop-silently N  drops N commands
//! send B        sends a blob of many bytes B for the daemon's store
//! name B        names that blob, if the store has it
//! name-much B   names it a thousand times
//! end REASON    puts the hooks back, for this reason
//! exec          becomes another program
//! kill          dies of SIGKILL
//! ```
//!
//! Orders that no shim would carry out are in [`lies`].

mod lies;

use std::io::{self, BufRead, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use gapii_abi::app::{self, AppHello, HelloReply, REPLY_LEN};
use gapii_abi::atom::{self, EFFECT, FRAME_END, GapCause, LEAVE, LEAVES, ProcessEnd, SETUP};
use gapii_ringbuf::{
    CounterMap, Header, Mode, ModeMap, Producer, Room, Segment, SegmentLayout, SlotState,
};
use gapii_trace::Description;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{Signal, getpid, kill_process};

/// Time that a full ring is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// Size of a blob, in bytes.
const BLOB_BYTES: usize = 60_000;

struct App {
    socket: UnixStream,
    /// Connections of earlier hellos.
    former: Vec<UnixStream>,
    counter: CounterMap,
    mode: ModeMap,
    segment: Segment,
    /// The segment's memory file, to write without checks.
    memory: OwnedFd,
    /// The counter's memory file.
    counter_memory: OwnedFd,
    layout: SegmentLayout,
    slot: u32,
    producer: Producer,
    tid: u32,
    draw: u16,
    swap: u16,
}

fn main() -> anyhow::Result<()> {
    let path = std::env::var_os("GAPII_SOCKET").context("GAPII_SOCKET is not set")?;
    let launch = std::env::var("GAPII_LAUNCH").unwrap_or_default();
    let mut app = App::connect(UnixStream::connect(path)?, &launch)?;
    answer()?;
    for line in io::stdin().lock().lines() {
        app.obey(&line?)?;
        answer()?;
    }
    Ok(())
}

fn answer() -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(b"done\n")?;
    out.flush()
}

impl App {
    fn connect(socket: UnixStream, launch: &str) -> anyhow::Result<Self> {
        let mut hello = AppHello::new(std::process::id());
        hello.apis = app::API_EGL;
        hello.name[..8].copy_from_slice(b"fake-app");
        hello.launch = app::launch_from_hex(launch.as_bytes()).unwrap_or_default();
        (&socket).write_all(&hello.to_bytes())?;
        let (reply, fds) = receive_reply(&socket)?;
        ensure!(reply.status == app::reply_status::OK, "refused with status {}", reply.status);
        let [counter, mode, segment] = &fds[..] else { bail!("{} descriptors came", fds.len()) };
        let layout = SegmentLayout::new(reply.slot_count, reply.ring_bytes).context("sizes")?;
        Ok(Self {
            socket,
            former: Vec::new(),
            counter: CounterMap::map(counter.as_fd())?,
            mode: ModeMap::map(mode.as_fd())?,
            segment: Segment::map(segment.as_fd(), layout)?,
            memory: segment.try_clone()?,
            counter_memory: counter.try_clone()?,
            layout,
            slot: 0,
            producer: Producer::detached(),
            tid: std::process::id(),
            draw: function("glUniform4f")?,
            swap: function("eglSwapBuffers")?,
        })
    }

    fn obey(&mut self, line: &str) -> anyhow::Result<()> {
        let words: Vec<_> = line.split_whitespace().collect();
        match words[..] {
            ["wait"] => self.wait_for(Mode::Capturing),
            ["idle"] => self.wait_for(Mode::Idle),
            ["thread"] => return self.begin_thread(),
            ["retire"] => self.producer.retire(),
            ["calls", count] => return self.call(count.parse()?),
            ["frames", frames, calls] => {
                for _ in 0..frames.parse()? {
                    self.call(calls.parse()?)?;
                    self.swap()?;
                }
            }
            ["enter"] => self.record(self.draw, EFFECT, &[0; 20])?,
            ["describe"] => self.record(self.draw, EFFECT | SETUP, &[0; 20])?,
            ["described"] => {
                let snapshot = atom::Snapshot { len: 0, held_us: 1 };
                self.record(atom::SNAPSHOT, 0, &snapshot.encode())?;
            }
            ["drop", count] => self.drop_calls(count.parse()?, true)?,
            ["drop-silently", count] => self.drop_calls(count.parse()?, false)?,
            ["send", blob] => self.send_for_store(blob.as_bytes()[0])?,
            ["name", blob] => self.name_stored(blob.as_bytes()[0], 1)?,
            ["name-much", blob] => self.name_stored(blob.as_bytes()[0], 1000)?,
            ["end", reason] => return self.end(reason.parse()?),
            ["exec"] => return Err(Command::new("cat").exec().into()),
            ["kill"] => kill_process(getpid(), Signal::KILL)?,
            _ => return self.lie(&words),
        }
        Ok(())
    }

    fn wait_for(&self, wanted: Mode) {
        loop {
            let seen = self.mode.orders().load(Ordering::Acquire);
            if self.mode.settings().is_some_and(|(_, settings)| settings.mode == wanted) {
                return;
            }
            self.mode.wait_order(seen, Duration::from_millis(100));
        }
    }

    fn begin_thread(&mut self) -> anyhow::Result<()> {
        let name = self.claim()?;
        let thread = atom::Thread { tid: self.tid, flags: 0, name };
        self.record(atom::THREAD, 0, &thread.encode())?;
        let context = atom::Context { context: 0xC0, api: 0x30A0, client_version: 0 };
        self.record(atom::CONTEXT, 0, &context.encode())?;
        self.tid += 1;
        Ok(())
    }

    /// Claims a slot, and introduces the thread there.
    fn claim(&mut self) -> anyhow::Result<[u8; 16]> {
        let mut name = [0; 16];
        name[..4].copy_from_slice(b"fake");
        let deadline = Instant::now() + PATIENCE;
        let slot = loop {
            if let Some(slot) = self.segment.claim(self.tid, name) {
                break slot;
            }
            ensure!(Instant::now() < deadline, "no slot is free");
            std::thread::yield_now();
        };
        ensure!(self.segment.slot(slot).context("slot")?.state() == Some(SlotState::Active));
        // SAFETY: the slot was just claimed, this is its only producer, and the maps live as long
        // as the program.
        let attached =
            unsafe { self.producer.attach(&self.segment, slot, &self.counter, &self.mode) };
        ensure!(attached, "slot {slot} cannot be written to");
        self.slot = slot;
        Ok(name)
    }

    fn call(&mut self, count: u64) -> anyhow::Result<()> {
        for number in 0..count {
            let mut payload = [0; 20];
            payload[..4].copy_from_slice(&(number as u32).to_le_bytes());
            self.record(self.draw, EFFECT, &payload)?;
            self.producer.finish();
        }
        Ok(())
    }

    fn drop_calls(&mut self, calls: u64, say_so: bool) -> anyhow::Result<()> {
        let slot = self.producer.slot().context("no thread records")?;
        slot.count_dropped(calls, calls, calls * 32);
        if say_so {
            let (bytes, cause) = (calls * 32, GapCause::Dropped);
            let gap = atom::Gap { records: calls, calls, bytes, cause, ..Default::default() };
            self.record(atom::GAP, 0, &gap.encode())?;
        }
        self.producer.forget_stamp();
        Ok(())
    }

    /// Sends the blob that consists of this byte for the daemon's store.
    fn send_for_store(&mut self, byte: u8) -> anyhow::Result<()> {
        // Relaxed, both: the blob is published later.
        self.segment.header().stored_bytes.fetch_add(BLOB_BYTES as u64, Ordering::Relaxed);
        let total = atom::for_store(BLOB_BYTES as u64, self.mode.store().number);
        let fixed = atom::Blob { total, offset: 0 }.encode();
        self.record(atom::BLOB, atom::SETUP, &[&fixed[..], &[byte; BLOB_BYTES]].concat())?;
        self.record(atom::NUMBERED, atom::SETUP, &numbered(byte))
    }

    /// Names the blob this many times.
    fn name_stored(&mut self, byte: u8, times: u64) -> anyhow::Result<()> {
        let total = BLOB_BYTES as u64;
        let stored = atom::Stored { total, offset: 0, len: total, number: byte.into() }.encode();
        (0..times).try_for_each(|_| {
            self.record(atom::STORED, 0, &stored)?;
            self.record(atom::NUMBERED, 0, &numbered(byte))
        })
    }

    fn swap(&mut self) -> anyhow::Result<()> {
        self.record(self.swap, EFFECT | LEAVES, &[0; 16])?;
        self.record(self.swap, LEAVE | FRAME_END, &1_u32.to_le_bytes())?;
        self.producer.finish();
        // Relaxed: a number for people.
        self.segment.header().frames.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn end(&mut self, reason: u32) -> anyhow::Result<()> {
        // Relaxed: this process' own counter.
        let frames = self.segment.header().frames.load(Ordering::Relaxed);
        let end = atom::CaptureEnd { reason: ProcessEnd::from_code(reason), frames };
        self.record(atom::CAPTURE_END, 0, &end.encode())?;
        let generation = self.mode.generation();
        // Release: pairs with the daemon's acquire, so that a drain that sees it sees all records.
        self.segment.header().ended_generation.store(generation, Ordering::Release);
        Ok(())
    }

    /// Begins the thread's part of the capture that the daemon has ordered, unless it has begun.
    pub fn follow_order(&mut self) {
        let Some((order, settings)) = self.mode.settings() else { return };
        if settings.mode == Mode::Capturing && self.producer.part_generation() != order {
            self.producer.begin_part(order);
            self.producer.forget_stamp();
        }
    }

    fn record(&mut self, id: u16, flags: u16, payload: &[u8]) -> anyhow::Result<()> {
        self.follow_order();
        let len = 8 + payload.len() as u32;
        let header = Header::new(id, flags, len);
        loop {
            // SAFETY: the producer is attached (see `begin_thread`); the header claims 8 bytes and the payload.
            if let Some(room) = unsafe { self.producer.reserve(header) } {
                // SAFETY: the reservation has room for the payload, and no other thread writes there.
                unsafe { room.payload.as_ptr().copy_from(payload.as_ptr(), payload.len()) };
                // SAFETY: this is the last reservation, and its payload is written.
                unsafe { self.producer.publish(room) };
                return Ok(());
            }
            match self.producer.make_room(u64::from(len)) {
                Room::Ready => {}
                Room::Full => {
                    let room = self.producer.wait_for_room(u64::from(len), PATIENCE);
                    ensure!(room == Room::Ready, "the ring stays full");
                }
                Room::Never => bail!("no room ever for {len} bytes"),
            }
        }
    }
}

fn receive_reply(socket: &UnixStream) -> anyhow::Result<(HelloReply, Vec<OwnedFd>)> {
    let mut bytes = [0; REPLY_LEN];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC;
    let received = recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags)?;
    let mut fds = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    let mut socket = socket;
    socket.read_exact(&mut bytes[received.bytes..])?;
    Ok((HelloReply::from_bytes(&bytes)?, fds))
}

fn function(name: &str) -> anyhow::Result<u16> {
    let found = Description::built_in().named(name);
    Ok(found.with_context(|| format!("{name} is not described"))?.id)
}

/// The record that numbers the blob which consists of this byte.
fn numbered(byte: u8) -> [u8; atom::Numbered::LEN] {
    atom::Numbered { number: byte.into() }.encode()
}

//! A program whose threads record like the shim's, one piece at a time.

use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use gapii_abi::app::{self, AppHello};
use gapii_abi::atom::{self, EFFECT, FRAME_END, LEAVE, LEAVES, ProcessEnd};
use gapii_ringbuf::{
    CaptureId, Header, Mode, ModeMap, Producer, Reservation, Room, Segment, SegmentLayout,
};
use gapii_trace::Description;

use super::calls::Calls;
use super::clock;
use super::random::Random;
use crate::process::{Counter, Descriptors, HandedOver, Orphan, Process};

/// Number of a program's threads that record at once.
const THREADS: usize = 3;
/// Name of the program's threads.
const NAME: [u8; 16] = *b"simulated\0\0\0\0\0\0\0";

/// The command that programs call.
const DRAW: &str = "glUniform4f";
/// The command that ends their frames.
const SWAP: &str = "eglSwapBuffers";

/// A simulated program.
pub struct Program {
    pub process: Arc<Process>,
    counter: Counter,
    layout: SegmentLayout,
    segment: Segment,
    mode: ModeMap,
    /// The memory files of these maps.
    fds: Descriptors,
    threads: Vec<Thread>,
    /// Generation of the order that the program follows.
    generation: u64,
    /// Number of the running recording, unique among all programs.
    recording: Option<u64>,
    /// Generation of the order that began it.
    recorded: u64,
    /// Threads introduce themselves again when it changes: at the beginning of a recording, and at a keyframe.
    epoch: u64,
    keyframes_made: u32,
    keyframe_at_made: u64,
    frames: u64,
    is_told_to_stop: bool,
    /// The program does nothing until then.
    asleep_until_ns: u64,
    /// Generation of the order up to which all are followed once the hooks are back.
    ends: u64,
    is_dead: bool,
    draw: u16,
    swap: u16,
}

struct Thread {
    tid: u32,
    producer: Producer,
    /// The epoch in which the thread has introduced itself.
    epoch: u64,
    open: Option<Open>,
    /// The thread has swapped, and the leave record is due.
    leaves: bool,
}

/// A call that has room in the ring and is not published.
struct Open {
    reservation: Reservation,
    number: u32,
}

/// Describes the two commands that programs call. A header with all commands takes most of a seed's time.
pub fn description() -> &'static Description {
    static DESCRIPTION: OnceLock<Description> = OnceLock::new();
    DESCRIPTION.get_or_init(|| {
        let function = |name| Description::built_in().named(name).expect("it is described").clone();
        Description::new([DRAW, SWAP].map(function).into(), Vec::new(), Vec::new())
    })
}

impl Program {
    /// Connects a program that records nothing yet.
    pub fn new(index: u32, counter: &Counter, layout: SegmentLayout) -> Self {
        let (process, fds) = connect(index, counter, layout);
        let function = |name| description().named(name).expect("it is described").id;
        Self {
            process,
            counter: counter.clone(),
            layout,
            segment: Segment::map(fds.segment.as_fd(), layout).expect("a segment"),
            mode: ModeMap::map(fds.mode.as_fd()).expect("a mode page"),
            fds,
            threads: Vec::new(),
            generation: 0,
            recording: None,
            recorded: 0,
            epoch: 0,
            keyframes_made: 0,
            keyframe_at_made: 0,
            frames: 0,
            is_told_to_stop: false,
            asleep_until_ns: 0,
            ends: 0,
            is_dead: false,
            draw: function(DRAW),
            swap: function(SWAP),
        }
    }

    /// Returns whether the program has ended.
    pub fn is_dead(&self) -> bool {
        self.is_dead
    }

    /// Returns the number of the recording that runs.
    pub fn recording(&self) -> Option<u64> {
        self.recording
    }

    /// Returns the number of the recording that runs, if the program was told to stop it and has not noticed yet.
    pub fn left_recording(&self) -> Option<u64> {
        self.recording.filter(|_| self.mode.generation() != self.recorded)
    }

    /// Lets the program do nothing for a while.
    pub fn sleep(&mut self, ns: u64) {
        self.asleep_until_ns = clock::now_ns() + ns;
    }

    /// Kills the program between two instructions of each of its threads.
    pub fn kill(&mut self) {
        self.is_dead = true;
    }

    /// Returns whether a daemon that replaces the program's own has something to continue.
    pub fn is_recorded(&self) -> bool {
        let is_told = self.mode.settings().is_some_and(|(_, told)| told.mode == Mode::Capturing);
        is_told && self.mode.takers() > 0
    }

    /// Hands the rings over to another daemon. Returns the capture for which they were begun.
    pub fn hand_over(&mut self) -> CaptureId {
        let handed_over = HandedOver {
            counter: self.counter.fd.try_clone().expect("a descriptor"),
            mode: self.fds.mode.try_clone().expect("a descriptor"),
            segment: self.fds.segment.try_clone().expect("a descriptor"),
        };
        let mut hello = hello();
        (hello.slot_count, hello.ring_bytes) = (self.layout.slot_count(), self.layout.ring_bytes());
        let (index, pid) = (self.process.index, rustix::process::getpid());
        let orphan = Process::take_over(
            index,
            pid,
            &hello,
            handed_over,
            0,
            (&self.counter, clock::SIMULATED),
        );
        let Orphan { process, mode, capture } = orphan.expect("its rings are in order");
        self.mode.replace(mode.as_fd()).expect("a mode page");
        (self.process, self.fds.mode) = (Arc::new(process), mode);
        capture
    }

    /// Connects to another daemon, because its own is gone and had not recorded the program.
    pub fn begin_anew(&mut self) {
        self.threads.drain(..).for_each(|mut thread| thread.producer.retire());
        (self.process, self.fds) = connect(self.process.index, &self.counter, self.layout);
        self.segment = Segment::map(self.fds.segment.as_fd(), self.layout).expect("a segment");
        self.mode = ModeMap::map(self.fds.mode.as_fd()).expect("a mode page");
        (self.generation, self.ends) = (0, 0);
        (self.keyframes_made, self.keyframe_at_made) = (0, 0);
        (self.recording, self.is_told_to_stop) = (None, false);
    }

    /// Takes a step. `next` is the number of the next thread or recording.
    pub fn step(&mut self, random: &mut Random, calls: &mut Calls, next: &mut u32) {
        if self.is_dead || clock::now_ns() < self.asleep_until_ns {
            return;
        }
        self.look_at_mode(next);
        if self.recording.is_none() {
            return;
        }
        if let Some(at) = self.next_to_publish(random) {
            return self.publish(at, calls);
        }
        if self.is_told_to_stop {
            return self.end(ProcessEnd::Stop);
        }
        if self.threads.len() < THREADS && random.once_in(8) {
            *next += 1;
            return self.threads.push(Thread::new(*next));
        }
        if self.threads.is_empty() {
            return;
        }
        let at = random.below(self.threads.len() as u64) as usize;
        match random.below(40) {
            0 if self.threads[at].open.is_none() && !self.threads[at].leaves => {
                self.threads.swap_remove(at).producer.retire();
            }
            1..=4 => self.swap(at),
            _ => self.draw(at, calls),
        }
    }

    /// Ends in good order, as far as that is possible at once. Returns whether the program has ended.
    pub fn exit(&mut self, calls: &mut Calls) -> bool {
        while let Some(at) = self.threads.iter().position(|thread| thread.open.is_some()) {
            self.publish(at, calls);
        }
        if self.recording.is_some() && !self.is_dead {
            self.end(ProcessEnd::Exit);
        }
        self.is_dead |= self.recording.is_none();
        self.is_dead
    }

    fn look_at_mode(&mut self, next: &mut u32) {
        let Some((generation, settings)) = self.mode.settings() else { return };
        if generation == self.generation {
            return;
        }
        match settings.mode {
            // A program that still records ends that first, and has not followed this order then.
            Mode::Capturing if self.recording.is_some() => {
                self.is_told_to_stop = true;
                self.ends = generation - 1;
            }
            Mode::Capturing => {
                self.generation = generation;
                self.ends = generation;
                *next += 1;
                self.recording = Some(u64::from(*next));
                self.recorded = generation;
                self.epoch += 1;
                (self.keyframes_made, self.keyframe_at_made) = (0, 0);
                self.is_told_to_stop = false;
            }
            Mode::Idle | Mode::Wait => {
                self.generation = generation;
                self.ends = generation;
                self.is_told_to_stop = self.recording.is_some();
            }
        }
    }

    /// Returns a thread with an open record: any if the program is told to stop, otherwise perhaps one.
    fn next_to_publish(&self, random: &mut Random) -> Option<usize> {
        let open = |thread: &Thread| thread.open.is_some();
        let at = self.threads.iter().position(open)?;
        if self.is_told_to_stop {
            return Some(at);
        }
        let at = random.below(self.threads.len() as u64) as usize;
        self.threads.get(at).filter(|thread| open(thread)).map(|_| at)
    }

    fn publish(&mut self, at: usize, calls: &mut Calls) {
        let Thread { tid, producer, open, .. } = &mut self.threads[at];
        let Some(Open { reservation, number }) = open.take() else { return };
        // SAFETY: this is the last reservation, and its payload is written.
        unsafe { producer.publish(reservation) };
        producer.finish();
        calls.publish(*tid, number);
    }

    fn draw(&mut self, at: usize, calls: &mut Calls) {
        let (draw, recording) = (self.draw, self.recording.unwrap_or(0));
        let frames = self.frames();
        if self.threads[at].open.is_some() || !self.leave_swap(at) || !self.introduce(at) {
            return;
        }
        let thread = &mut self.threads[at];
        let Some(reservation) = thread.reserve(draw, EFFECT, 20) else { return };
        let number = calls.reserve(thread.tid, (recording, frames));
        let words = [number, 0, 0, 0, 0].map(u32::to_le_bytes).concat();
        // SAFETY: the reservation has room for the payload, and no other thread writes there.
        unsafe { reservation.payload.as_ptr().copy_from(words.as_ptr(), words.len()) };
        thread.open = Some(Open { reservation, number });
    }

    /// Ends a frame, perhaps with a keyframe.
    fn swap(&mut self, at: usize) {
        if self.threads[at].open.is_some() || !self.leave_swap(at) || !self.introduce(at) {
            return;
        }
        if !self.threads[at].write(self.swap, EFFECT | LEAVES, &[0; 16]) {
            return;
        }
        self.threads[at].leaves = true;
        if !self.leave_swap(at) {
            return;
        }
        let (asked, frame) = (self.mode.keyframes_asked(), self.frames());
        let is_wanted = asked != self.keyframes_made || self.keyframe_is_due();
        if is_wanted
            && self.threads[at].write(
                atom::KEYFRAME,
                0,
                &atom::Keyframe { frame, at_ns: 0 }.encode(),
            )
        {
            self.keyframes_made = asked;
            if self.keyframe_is_due() {
                self.keyframe_at_made = self.mode.keyframe_at().map_or(0, NonZeroU64::get);
            }
            self.epoch += 1;
        }
    }

    /// Returns the number of frames that the program has ended since it connected.
    fn frames(&self) -> u64 {
        // Relaxed: the program's own count.
        self.segment.header().frames.load(Ordering::Relaxed)
    }

    /// Returns whether the daemon wants a keyframe at a frame that has ended, and that keyframe was not made.
    fn keyframe_is_due(&self) -> bool {
        let frames = self.frames();
        let is_due = |at: NonZeroU64| frames >= at.get() && self.keyframe_at_made != at.get();
        self.mode.keyframe_at().is_some_and(is_due)
    }

    /// Writes the leave record that is due, if there is one. Returns false if the ring has no room.
    fn leave_swap(&mut self, at: usize) -> bool {
        let thread = &mut self.threads[at];
        if !thread.leaves {
            return true;
        }
        if !thread.write(self.swap, LEAVE | FRAME_END, &1_u32.to_le_bytes()) {
            return false;
        }
        thread.leaves = false;
        thread.producer.finish();
        self.frames += 1;
        // Relaxed: a number for people.
        self.segment.header().frames.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Makes sure that a thread has a ring and has introduced itself there. Returns false if it could not yet.
    fn introduce(&mut self, at: usize) -> bool {
        let thread = &mut self.threads[at];
        if !thread.producer.is_attached() {
            let Some(slot) = self.segment.claim(thread.tid, NAME) else {
                return false;
            };
            // SAFETY: the slot was just claimed, this is its only producer, and the maps live as long
            // as the program, whose threads go with it.
            let attached = unsafe {
                thread.producer.attach(&self.segment, slot, &self.counter.map, &self.mode)
            };
            assert!(attached, "slot {slot} cannot be written to");
        }
        if thread.epoch == self.epoch {
            return true;
        }
        let record = atom::Thread { tid: thread.tid, flags: 0, name: NAME };
        thread.producer.begin_part(self.recorded);
        thread.producer.forget_stamp();
        if thread.write(atom::THREAD, 0, &record.encode()) {
            thread.epoch = self.epoch;
        }
        thread.epoch == self.epoch
    }

    /// Puts the hooks back, once the ring has room to say so.
    fn end(&mut self, reason: ProcessEnd) {
        let payload = atom::CaptureEnd { reason, frames: self.frames }.encode();
        let attached = |thread: &Thread| thread.producer.is_attached();
        if let Some(at) = self.threads.iter().position(attached) {
            let is_said = self.leave_swap(at)
                && self.introduce(at)
                && self.threads[at].write(atom::CAPTURE_END, 0, &payload);
            if !is_said {
                return;
            }
        }
        // Release: pairs with the daemon's acquire, so that a drain that sees it sees all records.
        self.segment.header().ended_generation.store(self.ends, Ordering::Release);
        self.threads.iter_mut().for_each(|thread| thread.leaves = false);
        self.recording = None;
        self.is_told_to_stop = false;
    }
}

fn hello() -> AppHello {
    let mut hello = AppHello::new(rustix::process::getpid().as_raw_pid() as u32);
    hello.apis = app::API_EGL;
    hello
}

fn connect(index: u32, counter: &Counter, layout: SegmentLayout) -> (Arc<Process>, Descriptors) {
    let pid = rustix::process::getpid();
    let (process, fds) =
        Process::new(index, pid, &hello(), layout, 0, (counter.clone(), clock::SIMULATED))
            .expect("memory");
    (Arc::new(process), fds)
}

impl Thread {
    fn new(tid: u32) -> Self {
        Self { tid, producer: Producer::detached(), epoch: 0, open: None, leaves: false }
    }

    /// Reserves room for a record, if there is some.
    fn reserve(&mut self, id: u16, flags: u16, payload_len: usize) -> Option<Reservation> {
        let len = 8 + payload_len as u32;
        loop {
            // SAFETY: the producer is attached, or reserving fails; the header claims 8 bytes and the payload.
            if let Some(reservation) = unsafe { self.producer.reserve(Header::new(id, flags, len)) }
            {
                return Some(reservation);
            }
            match self.producer.make_room(u64::from(len)) {
                Room::Ready => {}
                Room::Full | Room::Never => return None,
            }
        }
    }

    /// Writes a whole record, if the ring has room.
    fn write(&mut self, id: u16, flags: u16, payload: &[u8]) -> bool {
        let Some(reservation) = self.reserve(id, flags, payload.len()) else { return false };
        // SAFETY: the reservation has room for the payload, and no other thread writes there.
        unsafe { reservation.payload.as_ptr().copy_from(payload.as_ptr(), payload.len()) };
        // SAFETY: this is the last reservation, and its payload is written.
        unsafe { self.producer.publish(reservation) }
    }
}

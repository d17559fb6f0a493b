//! A capture in a simulation, with its output and its client.

use std::borrow::Cow;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use gapii_trace::clock::Moment;
use gapii_trace::frame::UNTIMED_VERSION;
use gapii_trace::{BlockEncoder, FileAt, TraceHeader, TraceReader};

use super::random::Random;
use super::{clock, program};
use crate::backlog::{Backlog, Done, Spiller, Work, backlog};
use crate::capture::Capture;
use crate::output::Output;
use crate::plan::Plan;
use crate::profile::Profile;
use crate::progress::Progress;
use crate::recover::{RecoverError, Recovered, recover};
use crate::spill::Spill;
use crate::taker::Taker;
use crate::writer::Writer;

/// Size of a ring in bytes: the smallest, so that rings are full now and then.
pub const RING_BYTES: u64 = 64 << 10;

/// A capture, its output and its client.
pub struct Client {
    pub capture: Arc<Capture>,
    pub file: File,
    /// Recordings that ran when the capture began.
    pub began: Vec<Option<u64>>,
    /// Recordings that ran then although their programs had been told to stop them.
    pub left: Vec<u64>,
    /// The capture ran when its programs ended.
    pub saw_the_end: bool,
    /// `None` once the trace is written.
    pub(super) writer: Option<Writer>,
    pub(super) backlog: Backlog,
    pub(super) spiller: Spiller,
    pub(super) done: Sender<Done>,
    /// The work that the output of a stream has not accepted yet.
    pub(super) in_hand: Option<Work>,
    pub(super) takes_nothing: bool,
    /// The client accepted nothing for a while, or had paused the capture.
    pub was_slow: bool,
    pub is_stopped: bool,
    /// Its daemon was killed while it wrote the index and footer, so no daemon can continue the capture.
    pub has_no_footer: bool,
}

impl Client {
    pub(super) fn new(
        plan: Plan,
        (file, spill, is_stream): (File, Spill, bool),
        (began, now_ns): (Vec<Option<u64>>, u64),
        recovered: Option<Recovered>,
    ) -> (Self, Taker) {
        let (feed, backlog, _) = backlog(RING_BYTES);
        let (done, done_in) = channel();
        let hurry = Arc::new(AtomicBool::new(false));
        let output = OwnedFd::from(file.try_clone().expect("a descriptor"));
        let output = match &recovered {
            Some(recovered) => Output::go_on(output, Arc::clone(&hurry), recovered.end),
            None => Output::new(output, Arc::clone(&hurry)),
        };
        let output = output.map(|it| if is_stream { it.as_stream() } else { it });
        let spiller = backlog.spiller(spill, true);
        let mut writer =
            Writer::new(output.expect("a file is an output"), 1, clock::SIMULATED).expect("memory");
        match &recovered {
            Some(recovered) => {
                let header = recovered.header.as_ref().expect("it was written at once");
                writer.go_on(header, recovered).expect("a file can be read");
            }
            None => {
                let header = TraceHeader::new("simulation", plan.origin.session, 0, now_ns);
                let (version, capture) = (UNTIMED_VERSION, plan.origin.number);
                let description = Cow::Borrowed(program::description());
                writer.begin(&TraceHeader { version, capture, description, ..header });
            }
        }
        let profile = Arc::new(Profile {
            plan,
            started: Moment { monotonic_ns: now_ns, ..Moment::default() },
            was_begun_elsewhere: recovered.is_some(),
            can_continue: !is_stream,
            progress: Arc::new(Progress::default()),
            kept: None,
            clock: clock::SIMULATED,
            processes: Mutex::default(),
        });
        let capture = Arc::new(Capture::of(Arc::clone(&profile), recovered.as_ref(), hurry));
        let taker = Taker::new(profile, feed, done_in, recovered);
        let client = Self {
            capture,
            file,
            began,
            left: Vec::new(),
            saw_the_end: false,
            writer: Some(writer),
            backlog,
            spiller,
            done,
            in_hand: None,
            takes_nothing: false,
            was_slow: false,
            is_stopped: false,
            has_no_footer: false,
        };
        (client, taker)
    }

    /// Takes the next piece of work, if there is one and none is in hand.
    fn take_in_hand(&mut self) {
        if let (None, Some(writer)) = (&self.in_hand, &self.writer) {
            self.in_hand = self.backlog.take();
            self.in_hand.iter().for_each(|it| writer.take_in_hand(it, &self.backlog, &self.done));
        }
    }

    /// Does what the threads do while the output accepts nothing. Only a stream can be so for longer than a moment.
    pub(super) fn wait_for_reader(&mut self, encoder: &mut BlockEncoder) {
        if !self.capture.can_continue {
            self.take_in_hand();
        }
        self.spiller.step(encoder, &self.done);
    }

    /// Writes the next piece of work, if there is one.
    pub(super) fn write(&mut self) {
        self.take_in_hand();
        let Self { writer, backlog, done, capture, in_hand, .. } = self;
        let Some(work) = in_hand.take() else { return };
        let mut writing = writer.take().expect("nothing comes behind the end");
        match writing.deal_with(work, backlog, &capture.progress, done) {
            Some(finish) => {
                let written = writing.finish(*finish);
                assert!(written.error.is_none(), "{:?}", written.error);
            }
            None => *writer = Some(writing),
        }
    }

    /// Kills the daemon, perhaps while it writes: the file then has all of the next block, a part of it, or nothing.
    pub(super) fn die(&mut self, random: &mut Random) {
        let before = self.len();
        if !self.takes_nothing && random.once_in(2) {
            self.write();
        }
        let written = self.len() - before;
        if random.once_in(2) {
            self.file.set_len(before + random.below(written + 1)).expect("a file");
        }
        self.writer = None;
    }

    fn len(&self) -> u64 {
        self.file.metadata().expect("a file").len()
    }

    /// Continues the capture in another daemon. Returns `None` if the capture had ended, or if its trace was at its
    /// end.
    pub(super) fn go_on(&mut self, now_ns: u64) -> Option<Taker> {
        if !self.capture.can_continue {
            // The trace ends where the daemon was killed.
            (self.has_no_footer, self.in_hand) = (true, None);
            return None;
        }
        let recovered = match recover(&self.file, self.capture.plan.origin) {
            Ok(recovered) => recovered,
            Err(RecoverError::Complete) => {
                self.has_no_footer = !self.has_footer();
                return None;
            }
            Err(error) => panic!("a file that a daemon has left: {error}"),
        };
        let file = self.file.try_clone().expect("a descriptor");
        let output = (file, Spill::none(), false);
        let plan = self.capture.plan.clone();
        let began = std::mem::take(&mut self.began);
        let (client, taker) = Self::new(plan, output, (began, now_ns), Some(recovered));
        let left = std::mem::take(&mut self.left);
        let Self { takes_nothing, was_slow, is_stopped, .. } = *self;
        *self = Self { left, takes_nothing, was_slow, is_stopped, ..client };
        Some(taker)
    }

    fn has_footer(&self) -> bool {
        let file = FileAt::of(&self.file).expect("a descriptor");
        TraceReader::open(file).is_ok_and(|reader| reader.footer().is_some())
    }

    /// Notes that the trace need not have everything of this program.
    pub(super) fn forget(&mut self, program: usize) {
        if let Some(recording) = self.began.get_mut(program) {
            *recording = None;
        }
    }
}

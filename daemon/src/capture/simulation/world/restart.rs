//! The daemon is killed, and another takes its place: with files and rings, and nothing else.

use std::sync::Arc;

use gapii_protocol::trace::{FileAt, TraceReader};
use gapii_ringbuf::CaptureId;

use super::{Client, World};
use crate::capture::drain::DrainHandle;
use crate::capture::end::Cause;
use crate::capture::recover::{RecoverError, recover};
use crate::capture::simulation::random::Random;
use crate::capture::spill::Spill;
use crate::capture::taker::Taker;
use crate::capture::{Capture, Order};
use crate::process::Process;

/// A program that has come back.
struct Back {
    process: Arc<Process>,
    /// The capture for which it began to record.
    capture: CaptureId,
}

impl World {
    /// Kills the daemon, perhaps in the middle of writes, and has another go on with all that it can.
    pub(super) fn restart(&mut self) {
        // Without a drain nothing is captured.
        if self.drain.take().is_none() {
            return;
        }
        let programs = self.come_back();
        let mut running = Vec::new();
        for (at, client) in self.captures.iter_mut().enumerate() {
            if client.writer.is_some() {
                client.die(&mut self.random);
                running.extend(client.go_on(self.now_ns).map(|taker| (at, taker)));
            }
        }
        let running = running.into_iter().map(|(at, taker)| self.drain_for(at, taker)).collect();
        self.bring_together(running, &programs);
        self.send_away(&programs);
    }

    /// Programs that are recorded hand their rings over; the others begin anew.
    fn come_back(&mut self) -> Vec<Back> {
        let programs = &mut *self.programs.borrow_mut();
        let mut backs = Vec::new();
        for (at, program) in programs.all.iter_mut().enumerate() {
            if !program.is_dead() && program.is_recorded() {
                let capture = program.hand_over();
                backs.push(Back { process: Arc::clone(&program.process), capture });
                continue;
            }
            if !program.is_dead() {
                program.begin_anew();
            }
            // What the daemon had of it is gone.
            self.captures.iter_mut().for_each(|client| client.forget(at));
        }
        backs
    }

    /// Has the drain give its records to a capture; the first one brings it.
    fn drain_for(&mut self, at: usize, taker: Taker) -> Arc<Capture> {
        let handle = match &self.drain {
            Some((handle, _)) => {
                assert!(handle.order(Order::Take(Box::new(taker))).is_ok(), "it takes orders");
                Arc::clone(handle)
            }
            None => {
                let (handle, drain) = DrainHandle::new(taker, self.counter.clone(), self.now_ns);
                self.drain = Some((Arc::clone(&handle), drain));
                handle
            }
        };
        let capture = Arc::clone(&self.captures[at].capture);
        let _ = capture.drain.set(handle);
        capture
    }

    /// Each capture with the programs of its file, as the session does it.
    fn bring_together(&self, captures: Vec<Arc<Capture>>, programs: &[Back]) {
        for capture in &captures {
            let is_of = |back: &&Back| capture.is_of(&back.process, back.capture);
            for back in programs.iter().filter(is_of) {
                assert!(capture.take_over(&back.process, self.now_ns), "it is in no other drain");
            }
        }
        for capture in &captures {
            if capture.processes().is_empty() && capture.segments.is_empty() {
                for back in programs.iter().filter(|back| back.process.drain().is_some()) {
                    assert!(capture.share(&back.process), "it takes orders");
                }
            }
            capture.all_joined();
        }
        // Who had asked asks again.
        let is_stopped = |capture: &&Arc<Capture>| {
            self.captures.iter().any(|it| it.is_stopped && Arc::ptr_eq(&it.capture, capture))
        };
        for capture in captures.iter().filter(is_stopped) {
            assert!(capture.stop(Cause::Stop), "it takes orders");
        }
    }

    /// Programs that nobody wants any more begin anew.
    fn send_away(&mut self, backs: &[Back]) {
        let programs = &mut *self.programs.borrow_mut();
        for back in backs.iter().filter(|back| back.process.drain().is_none()) {
            let at = back.process.index as usize;
            programs.all[at].begin_anew();
            self.captures.iter_mut().for_each(|client| client.forget(at));
        }
    }
}

impl Client {
    /// The daemon dies, perhaps while it writes: of the next block there is all then, some, or nothing.
    fn die(&mut self, random: &mut Random) {
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

    /// Another daemon goes on in the file. `None`: it is at its end, or at the end of its writer.
    fn go_on(&mut self, now_ns: u64) -> Option<Taker> {
        let recovered = match recover(&self.file, self.capture.plan.origin) {
            Ok(recovered) => recovered,
            Err(RecoverError::Complete) => {
                self.has_no_footer = !self.has_footer();
                return None;
            }
            Err(error) => panic!("a file that a daemon has left: {error}"),
        };
        let file = self.file.try_clone().expect("a descriptor");
        let output = (file, Spill::none());
        let plan = self.capture.plan.clone();
        let began = std::mem::take(&mut self.began);
        let (client, taker) = Self::new(plan, output, (began, now_ns), Some(recovered));
        let Self { takes_nothing, was_slow, is_stopped, .. } = *self;
        *self = Self { takes_nothing, was_slow, is_stopped, ..client };
        Some(taker)
    }

    fn has_footer(&self) -> bool {
        let file = FileAt::of(&self.file).expect("a descriptor");
        TraceReader::open(file).is_ok_and(|reader| reader.footer().is_some())
    }

    /// What that program did need not be in the trace to its end.
    fn forget(&mut self, program: usize) {
        if let Some(recording) = self.began.get_mut(program) {
            *recording = None;
        }
    }
}

//! The daemon is killed, and another one replaces it, which has only files and rings.

use std::sync::Arc;

use gapii_ringbuf::CaptureId;

use super::world::World;
use crate::capture::Capture;
use crate::drain::DrainHandle;
use crate::end::Cause;
use crate::order::Order;
use crate::process::Process;
use crate::taker::Taker;

/// A program that has come back.
struct Back {
    process: Arc<Process>,
    /// The capture for which it began to record.
    capture: CaptureId,
}

impl World {
    /// Kills the daemon, perhaps in the middle of writes, and lets another one continue all that it can.
    pub(super) fn restart(&mut self) {
        // Nothing is captured without a drain.
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

    /// Recorded programs hand their rings over, and the others connect anew.
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
            // The records that only the daemon had are lost.
            self.captures.iter_mut().for_each(|client| client.forget(at));
        }
        backs
    }

    /// Adds a continued capture to the drain; the first one brings the drain.
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
        capture.set_drain(handle);
        capture
    }

    /// Brings each capture together with the programs of its file, as the session does.
    fn bring_together(&self, captures: Vec<Arc<Capture>>, programs: &[Back]) {
        for capture in &captures {
            let is_of = |back: &&Back| capture.is_of(&back.process, back.capture);
            for back in programs.iter().filter(is_of) {
                assert!(capture.take_over(&back.process, self.now_ns), "it is in no other drain");
            }
        }
        for capture in &captures {
            if capture.processes().is_empty() && capture.has_no_segments() {
                for back in programs.iter().filter(|back| back.process.drain().is_some()) {
                    assert!(capture.want(&back.process), "it takes orders");
                }
            }
            capture.all_joined();
        }
        // Clients repeat their requests.
        let is_stopped = |capture: &&Arc<Capture>| {
            self.captures.iter().any(|it| it.is_stopped && Arc::ptr_eq(&it.capture, capture))
        };
        for capture in captures.iter().filter(is_stopped) {
            assert!(capture.stop(Cause::Stop), "it takes orders");
        }
    }

    /// Programs that no capture wants connect anew.
    fn send_away(&mut self, backs: &[Back]) {
        let programs = &mut *self.programs.borrow_mut();
        for back in backs.iter().filter(|back| back.process.drain().is_none()) {
            let at = back.process.index as usize;
            programs.all[at].begin_anew();
            self.captures.iter_mut().for_each(|client| client.forget(at));
        }
    }
}

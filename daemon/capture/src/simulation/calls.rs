//! The calls of the simulated programs. The traces are compared with them.

use std::collections::BTreeMap;

/// All recorded calls of all threads that ever were.
#[derive(Default)]
pub struct Calls {
    /// The last moment. Every event has its own.
    now: u64,
    /// Calls by thread, in the thread's order.
    threads: BTreeMap<u32, Vec<Call>>,
}

/// A recorded call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The recording of its program that the call belongs to.
    pub recording: u64,
    /// Frames that the program had ended before.
    pub frames: u64,
    pub reserved: u64,
    /// Moment of the call's publication. No other thread sees the call before. `None`: its program was killed
    /// first.
    pub published: Option<u64>,
}

impl Calls {
    /// Adds a call for which the thread has room. Returns the call's number in its thread.
    pub fn reserve(&mut self, thread: u32, (recording, frames): (u64, u64)) -> u32 {
        let reserved = self.next_moment();
        let calls = self.threads.entry(thread).or_default();
        calls.push(Call { recording, frames, reserved, published: None });
        calls.len() as u32 - 1
    }

    /// Notes that the call was published.
    pub fn publish(&mut self, thread: u32, number: u32) {
        let moment = self.next_moment();
        let calls = self.threads.get_mut(&thread).expect("it was reserved");
        calls[number as usize].published = Some(moment);
    }

    /// Returns a call by its thread and its number there.
    pub fn get(&self, thread: u32, number: u32) -> Option<&Call> {
        self.threads.get(&thread)?.get(number as usize)
    }

    /// Returns the numbers of the calls that a thread has published in a recording.
    pub fn published_in(&self, recording: u64) -> impl Iterator<Item = (u32, Vec<u32>)> + '_ {
        self.threads.iter().filter_map(move |(thread, calls)| {
            let is_of_it = |call: &Call| call.recording == recording && call.published.is_some();
            let numbers: Vec<_> =
                (0..).zip(calls).filter(|(_, it)| is_of_it(it)).map(|(number, _)| number).collect();
            (!numbers.is_empty()).then_some((*thread, numbers))
        })
    }

    fn next_moment(&mut self) -> u64 {
        self.now += 1;
        self.now
    }
}

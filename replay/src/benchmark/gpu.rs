//! Timestamps of the GPU: one at the first command of a frame, one before its swap. A timestamp belongs to the context in
//! which it was asked for, and is read while that context is current. At most 256 (`UNREAD_MAX`) of a context are left
//! unread; then the driver has to finish the oldest.

use std::collections::{HashMap, VecDeque};

use super::timer::Timer;
use crate::call::Call;
use crate::parts::Parts;

/// Largest number of timestamps of a context that wait to be read.
const UNREAD_MAX: usize = 256;

/// A context of the trace: process and handle.
type Context = (u32, u64);

/// Timestamps of frames.
#[derive(Debug, Default)]
pub(super) struct GpuTimes {
    contexts: HashMap<Context, Stamps>,
    /// Index of the present frame in `times`.
    frame: usize,
    has_begun: bool,
    times: Vec<Times>,
}

/// The timestamps of a frame, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Times {
    begin: Option<u64>,
    end: Option<u64>,
}

/// Timestamps that a context was asked for.
#[derive(Debug, Default)]
struct Stamps {
    /// Whether the context has timestamps; `None` if that was not asked for.
    exist: Option<bool>,
    /// Names of queries, the oldest first.
    unread: VecDeque<Stamp>,
    /// Names of queries that were read.
    free: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Stamp {
    query: u32,
    frame: usize,
    is_end: bool,
}

impl GpuTimes {
    /// Whether no command of the present frame has been played.
    pub(super) fn is_between_frames(&self) -> bool {
        !self.has_begun
    }

    /// Asks for a timestamp before the first command of a frame.
    pub(super) fn begin_frame(&mut self, call: &mut Call<'_, '_>) {
        self.has_begun = true;
        self.ask(call.parts, (call.command.process, call.command.context), false);
    }

    /// Asks for a timestamp before the frame's swap, if its context is current, and reads the ones that the driver has.
    pub(super) fn end_frame(&mut self, call: &mut Call<'_, '_>) {
        let (process, thread) = (call.command.process, call.command.thread);
        let Some(context) = call.parts.egl.current(thread) else { return };
        self.ask(call.parts, (process, context), true);
        self.read(call.parts, thread, false);
    }

    /// Goes on to the next frame.
    pub(super) fn next_frame(&mut self) {
        self.frame += 1;
        self.has_begun = false;
    }

    /// The time of a frame, by its index.
    pub(super) fn of_frame(&self, index: usize) -> Option<u64> {
        let times = self.times.get(index)?;
        // A clock that went back was set anew.
        times.end?.checked_sub(times.begin?)
    }

    /// Reads the timestamps of the context that is current on this thread; `waits` for those that the driver does not
    /// have yet.
    pub(super) fn read(&mut self, parts: &Parts, thread: u32, waits: bool) {
        let Some(current) = parts.egl.currents.get(&thread) else { return };
        let stamps = self.contexts.get_mut(&(current.process, current.context));
        let Some(stamps) = stamps.filter(|stamps| !stamps.unread.is_empty()) else { return };
        let Some(timer) = Timer::of(parts) else { return };
        let is_valid = !timer.was_disjoint();
        while let Some(stamp) = stamps.unread.front().copied() {
            let must_wait = waits || stamps.unread.len() > UNREAD_MAX;
            if !must_wait && !timer.is_available(stamp.query) {
                break;
            }
            let time = timer.result(stamp.query);
            stamps.unread.pop_front();
            stamps.free.push(stamp.query);
            if self.times.len() <= stamp.frame {
                self.times.resize(stamp.frame + 1, Times::default());
            }
            let times = &mut self.times[stamp.frame];
            let place = if stamp.is_end { &mut times.end } else { &mut times.begin };
            *place = time.filter(|_| is_valid);
        }
    }

    fn ask(&mut self, parts: &Parts, context: Context, is_end: bool) {
        let stamps = self.contexts.entry(context).or_default();
        if !*stamps.exist.get_or_insert_with(|| Timer::exists(parts)) {
            return;
        }
        let Some(timer) = Timer::of(parts) else { return };
        let query = stamps.free.pop().or_else(|| timer.new_query());
        if let Some(query) = query {
            timer.stamp(query);
            if !is_end {
                timer.flush();
            }
            stamps.unread.push_back(Stamp { query, frame: self.frame, is_end });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_a_frame_needs_both_stamps_in_their_order() {
        let check = |begin, end, expected| {
            let gpu = GpuTimes { times: vec![Times { begin, end }], ..GpuTimes::default() };
            assert_eq!(gpu.of_frame(0), expected);
            assert_eq!(gpu.of_frame(1), None);
        };
        check(Some(100), Some(350), Some(250));
        check(Some(100), None, None);
        check(None, Some(350), None);
        check(Some(350), Some(100), None);
    }
}

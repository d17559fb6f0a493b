//! `Timer`: measures the commands of one context on the GPU. Each command has a query before and a query behind it, whose
//! results are moments of the GPU's clock. Queries are made 512 at a time, at most 32,768 per context; a command that
//! finds none is counted, and has no time.
//!
//! When results are read, the GPU's clock and the trace's are read one after the other, and give the moments their times
//! in the trace. A period in which the GPU was interrupted takes the times of all commands that were not read before it.

use std::collections::VecDeque;
use std::time::Duration;

use gapii_abi::atom::{GpuTime, GpuTimes, GpuTimesKind};
use gapii_recorder::Timed;

use super::clocks::{Clocks, Counter, Unit};
use super::patience::wait_until;
use super::told;

/// The timer queries of a driver. The timer's context is current.
pub trait Gpu {
    /// Returns the number of bits that timestamps have; otherwise why nothing can be measured.
    fn counter_bits(&self) -> Result<u32, GpuTimesKind>;
    /// Makes names of queries.
    fn generate(&self, names: &mut [u32]);
    /// Deletes queries.
    fn delete(&self, names: &[u32]);
    /// Has a query take the moment at which the GPU has executed all commands so far.
    fn count(&self, query: u32);
    /// Whether a query's moment can be read without waiting.
    fn is_available(&self, query: u32) -> bool;
    /// Returns a query's moment, in nanoseconds of the GPU's clock.
    fn result(&self, query: u32) -> u64;
    /// Whether the GPU's clock was interrupted since this was last asked.
    fn is_disjoint(&self) -> bool;
    /// Returns the present moment, in nanoseconds of the GPU's clock.
    fn now(&self) -> u64;
    /// Returns the present moment, in nanoseconds of `CLOCK_MONOTONIC`.
    fn clock_ns(&self) -> u64;
}

/// Measures the commands of one context.
pub struct Timer {
    /// Handle of the context.
    context: u64,
    /// The first epoch of the capture that the timer measures for; 0 before the first.
    capture: u64,
    /// Why nothing is measured; `None` while commands are.
    closed: Option<GpuTimesKind>,
    counter: Counter,
    /// Queries without a command, in pairs.
    free: Vec<[u32; 2]>,
    /// Number of pairs that were made.
    made: usize,
    /// The queries of the command in progress.
    present: Option<[u32; 2]>,
    /// Commands whose results were not read yet, oldest first.
    pending: VecDeque<Pending>,
    /// When the GPU was last asked about interruptions.
    asked_ns: u64,
    /// Commands that found no query, and were not told yet.
    left_out: u32,
}

/// A command whose results were not read yet.
struct Pending {
    queries: [u32; 2],
    called_ns: u64,
    tid: u32,
    id: u16,
}

/// Pairs of queries that are made at a time.
const MADE_AT_ONCE: usize = 256;
/// Most pairs of queries of a context.
const PAIRS_MAX: usize = 16_384;

impl Timer {
    /// A timer that has measured nothing.
    pub const fn new() -> Self {
        Self {
            context: 0,
            capture: 0,
            closed: None,
            counter: Counter::UNKNOWN,
            free: Vec::new(),
            made: 0,
            present: None,
            pending: VecDeque::new(),
            asked_ns: 0,
            left_out: 0,
        }
    }

    /// Returns the first epoch of the capture that the timer measures for; 0 before the first.
    pub fn capture(&self) -> u64 {
        self.capture
    }

    /// Begins to measure a command of a context, in a capture that is known by its first epoch.
    pub fn begin(
        &mut self,
        gpu: &dyn Gpu,
        context: u64,
        capture: u64,
        tell: &mut dyn FnMut(&[u8]),
    ) {
        self.join(gpu, context, capture, tell);
        if self.closed.is_some() {
            return;
        }
        self.make_room(gpu, tell);
        self.present = self.free.pop();
        match self.present {
            Some([before, _]) => gpu.count(before),
            None => self.left_out += 1,
        }
    }

    /// Ends the measurement of the command in progress, which thread `tid` has called.
    pub fn end(&mut self, gpu: &dyn Gpu, command: &Timed, tid: u32) {
        let Some(queries) = self.present.take() else { return };
        gpu.count(queries[1]);
        let Timed { id, called_ns, .. } = *command;
        self.pending.push_back(Pending { queries, called_ns, tid, id });
    }

    /// Tells the times of all commands whose results are there. Waits for the results of the others for up to `patience`.
    pub fn collect(&mut self, gpu: &dyn Gpu, patience: Duration, tell: &mut dyn FnMut(&[u8])) {
        if self.closed.is_some() {
            return;
        }
        let ready = self.wait_until_ready(gpu, patience);
        let commands: Vec<Pending> = self.pending.drain(..ready).collect();
        let moments: Vec<[u64; 2]> =
            commands.iter().map(|it| it.queries.map(|query| gpu.result(query))).collect();
        self.free.extend(commands.iter().map(|it| it.queries));
        // The answer is for the results that were read before it, too.
        let from_ns = core::mem::replace(&mut self.asked_ns, gpu.clock_ns());
        if gpu.is_disjoint() {
            let others = self.drop_pending();
            self.tell_disjoint(commands.len() as u32 + others, from_ns, tell);
        } else {
            let clocks = Clocks { counter: self.counter, count: gpu.now(), ns: gpu.clock_ns() };
            let times = commands.iter().zip(moments).map(|(command, moments)| {
                let (begin_ns, duration_ns) = clocks.span(moments);
                let Pending { called_ns, tid, id, .. } = *command;
                GpuTime { called_ns, begin_ns, duration_ns, tid, id }
            });
            told::tell_times(self.context, 0, &times.collect::<Vec<_>>(), tell);
        }
        if self.left_out != 0 {
            let count = core::mem::take(&mut self.left_out);
            tell(&told::without(self.context, GpuTimesKind::Full, count).encode());
        }
    }

    /// Leaves timer queries to the program from now on.
    pub fn yield_up(
        &mut self,
        gpu: &dyn Gpu,
        context: u64,
        capture: u64,
        tell: &mut dyn FnMut(&[u8]),
    ) {
        self.join(gpu, context, capture, tell);
        if self.closed.is_none() {
            let count = self.drop_pending();
            self.put_away(gpu);
            self.close(GpuTimesKind::OwnQueries, count, tell);
        }
    }

    /// Deletes all queries.
    pub fn put_away(&mut self, gpu: &dyn Gpu) {
        self.drop_pending();
        self.free.extend(self.present.take());
        if !self.free.is_empty() {
            gpu.delete(self.free.as_flattened());
        }
        (self.free, self.made) = (Vec::new(), 0);
    }

    /// Begins to measure for a capture, unless the timer does already.
    fn join(&mut self, gpu: &dyn Gpu, context: u64, capture: u64, tell: &mut dyn FnMut(&[u8])) {
        if self.capture == capture {
            return;
        }
        (self.context, self.capture, self.left_out) = (context, capture, 0);
        self.drop_pending();
        // A program that has used timer queries may do so again.
        if self.closed == Some(GpuTimesKind::OwnQueries) {
            return self.close(GpuTimesKind::OwnQueries, 0, tell);
        }
        match gpu.counter_bits() {
            Ok(bits) => {
                self.closed = None;
                self.counter = Counter::new(bits, Unit::NANOSECOND);
                // What happened before is of no interest.
                gpu.is_disjoint();
                self.asked_ns = gpu.clock_ns();
            }
            Err(why) => self.close(why, 0, tell),
        }
    }

    fn close(&mut self, why: GpuTimesKind, count: u32, tell: &mut dyn FnMut(&[u8])) {
        self.closed = Some(why);
        tell(&told::without(self.context, why, count).encode());
    }

    /// Makes queries if none is free.
    fn make_room(&mut self, gpu: &dyn Gpu, tell: &mut dyn FnMut(&[u8])) {
        if !self.free.is_empty() {
            return;
        }
        if self.made >= PAIRS_MAX {
            return self.collect(gpu, Duration::ZERO, tell);
        }
        let mut names = [[0; 2]; MADE_AT_ONCE];
        gpu.generate(names.as_flattened_mut());
        // The last name is used last.
        self.free.extend(names.into_iter().rev().filter(|pair| !pair.contains(&0)));
        self.made += MADE_AT_ONCE;
    }

    /// Returns how many commands, from the oldest on, have their results.
    fn wait_until_ready(&self, gpu: &dyn Gpu, patience: Duration) -> usize {
        let is_ready = |pending: &Pending| gpu.is_available(pending.queries[1]);
        let Some(last) = self.pending.back() else { return 0 };
        match wait_until(patience, || is_ready(last)) {
            true => self.pending.len(),
            false => self.pending.iter().take_while(|pending| is_ready(pending)).count(),
        }
    }

    /// Forgets the commands whose results were not read, and returns how many.
    fn drop_pending(&mut self) -> u32 {
        let count = self.pending.len();
        self.free.extend(self.pending.drain(..).map(|pending| pending.queries));
        count as u32
    }

    fn tell_disjoint(&self, count: u32, from_ns: u64, tell: &mut dyn FnMut(&[u8])) {
        let record = told::without(self.context, GpuTimesKind::Disjoint, count);
        tell(&GpuTimes { from_ns, to_ns: self.asked_ns, ..record }.encode());
    }
}

#[cfg(test)]
mod tests {
    use core::cell::{Cell, RefCell};
    use std::collections::BTreeMap;

    use super::*;

    /// A GPU whose clock is 1,000 ns behind, and goes on by 10 ns with each query.
    struct Fake {
        bits: Result<u32, GpuTimesKind>,
        now: Cell<u64>,
        moments: RefCell<BTreeMap<u32, u64>>,
        names: Cell<u32>,
        deleted: Cell<usize>,
        /// Moments up to this one can be read.
        done: Cell<u64>,
        is_disjoint: Cell<bool>,
    }

    impl Fake {
        fn new() -> Self {
            Self {
                bits: Ok(64),
                now: Cell::new(0),
                moments: RefCell::default(),
                names: Cell::new(0),
                deleted: Cell::new(0),
                done: Cell::new(u64::MAX),
                is_disjoint: Cell::new(false),
            }
        }
    }

    impl Gpu for Fake {
        fn counter_bits(&self) -> Result<u32, GpuTimesKind> {
            self.bits
        }

        fn generate(&self, names: &mut [u32]) {
            for name in names {
                self.names.set(self.names.get() + 1);
                *name = self.names.get();
            }
        }

        fn delete(&self, names: &[u32]) {
            self.deleted.set(self.deleted.get() + names.len());
        }

        fn count(&self, query: u32) {
            self.now.set(self.now.get() + 10);
            self.moments.borrow_mut().insert(query, self.now());
        }

        fn is_available(&self, query: u32) -> bool {
            self.moments.borrow()[&query] <= self.done.get()
        }

        fn result(&self, query: u32) -> u64 {
            self.moments.borrow()[&query]
        }

        fn is_disjoint(&self) -> bool {
            self.is_disjoint.take()
        }

        fn now(&self) -> u64 {
            self.now.get() & u64::MAX >> (64 - self.bits.unwrap_or(64))
        }

        fn clock_ns(&self) -> u64 {
            self.now.get() + 1000
        }
    }

    /// A timer, and what it has told.
    struct Bench {
        gpu: Fake,
        timer: Timer,
        told: Vec<(GpuTimes, Vec<GpuTime>)>,
    }

    impl Bench {
        fn new(gpu: Fake) -> Self {
            Self { gpu, timer: Timer::new(), told: Vec::new() }
        }

        fn act(&mut self, act: impl FnOnce(&mut Timer, &Fake, &mut dyn FnMut(&[u8]))) {
            let told = &mut self.told;
            act(&mut self.timer, &self.gpu, &mut |payload| {
                let (record, times) = GpuTimes::decode(payload).expect("a record");
                let times = times.chunks(GpuTime::LEN).map(|it| GpuTime::decode(it).unwrap().0);
                told.push((record, times.collect()));
            });
        }

        fn draw(&mut self, capture: u64, called_ns: u64) {
            self.act(|timer, gpu, tell| timer.begin(gpu, 7, capture, tell));
            let command = Timed { id: 3, called_ns, ..Timed::default() };
            self.act(|timer, gpu, _| timer.end(gpu, &command, 42));
        }

        fn collect(&mut self) -> Vec<(GpuTimes, Vec<GpuTime>)> {
            self.act(|timer, gpu, tell| timer.collect(gpu, Duration::ZERO, tell));
            core::mem::take(&mut self.told)
        }
    }

    fn kinds(told: &[(GpuTimes, Vec<GpuTime>)]) -> Vec<(GpuTimesKind, u32)> {
        told.iter().map(|(record, _)| (record.kind, record.count)).collect()
    }

    #[test]
    fn commands_have_their_begin_on_the_traces_clock_and_their_duration() {
        for bits in [64, 8] {
            let mut bench = Bench::new(Fake { bits: Ok(bits), ..Fake::new() });
            // With 8 bits the clock begins anew between the queries of a command.
            bench.gpu.now.set(240);
            bench.draw(5, 111);
            bench.draw(5, 222);
            let told = bench.collect();
            let time = |called_ns, begin_ns| GpuTime {
                called_ns,
                begin_ns,
                duration_ns: 10,
                tid: 42,
                id: 3,
            };
            assert_eq!(told[0].1, [time(111, 1250), time(222, 1270)], "{bits} bits");
            assert_eq!((told.len(), told[0].0.context), (1, 7));
            assert!(bench.collect().is_empty());
        }
    }

    #[test]
    fn results_are_told_once_they_are_there_and_queries_are_used_again() {
        let mut bench = Bench::new(Fake::new());
        bench.draw(5, 1);
        bench.gpu.done.set(20);
        bench.draw(5, 2);
        assert_eq!(kinds(&bench.collect()), [(GpuTimesKind::Times, 1)]);
        assert!(bench.collect().is_empty());
        bench.gpu.done.set(40);
        assert_eq!(kinds(&bench.collect()), [(GpuTimesKind::Times, 1)]);
        for called_ns in 0..1000 {
            bench.gpu.done.set(u64::MAX);
            bench.draw(5, called_ns);
            bench.collect();
        }
        assert_eq!(bench.gpu.names.get() as usize, 2 * MADE_AT_ONCE);
    }

    #[test]
    fn interruption_takes_the_times_of_all_commands_before_it() {
        let mut bench = Bench::new(Fake::new());
        bench.draw(5, 1);
        bench.gpu.done.set(20);
        bench.draw(5, 2);
        bench.gpu.is_disjoint.set(true);
        let told = bench.collect();
        assert_eq!(kinds(&told), [(GpuTimesKind::Disjoint, 2)]);
        assert_eq!((told[0].0.from_ns, told[0].0.to_ns), (1000, 1040));
        bench.gpu.done.set(u64::MAX);
        assert!(bench.collect().is_empty());
        bench.draw(5, 3);
        assert_eq!(kinds(&bench.collect()), [(GpuTimesKind::Times, 1)]);
    }

    #[test]
    fn program_that_uses_timer_queries_gets_them_for_itself_in_later_captures_too() {
        let mut bench = Bench::new(Fake::new());
        bench.draw(5, 1);
        bench.act(|timer, gpu, tell| timer.yield_up(gpu, 7, 5, tell));
        assert_eq!(kinds(&core::mem::take(&mut bench.told)), [(GpuTimesKind::OwnQueries, 1)]);
        assert_eq!(bench.gpu.deleted.get(), 2 * MADE_AT_ONCE);
        bench.draw(5, 2);
        assert!(bench.collect().is_empty());
        bench.draw(9, 3);
        assert_eq!(kinds(&bench.collect()), [(GpuTimesKind::OwnQueries, 0)]);
        assert_eq!(bench.gpu.names.get() as usize, 2 * MADE_AT_ONCE);
    }

    #[test]
    fn context_without_timer_queries_says_so_once_in_each_capture() {
        let mut bench = Bench::new(Fake { bits: Err(GpuTimesKind::NoExtension), ..Fake::new() });
        for capture in [5, 5, 9] {
            bench.draw(capture, 1);
        }
        let expected = [(GpuTimesKind::NoExtension, 0); 2];
        assert_eq!(kinds(&bench.collect()), expected);
        assert_eq!(bench.gpu.names.get(), 0);
    }

    #[test]
    fn commands_without_a_free_query_are_counted() {
        let mut bench = Bench::new(Fake::new());
        bench.gpu.done.set(0);
        for called_ns in 0..PAIRS_MAX as u64 + 3 {
            bench.draw(5, called_ns);
        }
        bench.gpu.done.set(u64::MAX);
        let told = bench.told.len();
        let counts = kinds(&bench.collect());
        let sum = |kind| counts.iter().filter(|it| it.0 == kind).map(|it| it.1 as usize).sum();
        let full: usize = sum(GpuTimesKind::Full);
        let times: usize = sum(GpuTimesKind::Times);
        assert_eq!((times, full, told), (PAIRS_MAX, 3, 2));
    }

    #[test]
    fn queries_are_deleted_after_the_capture() {
        let mut bench = Bench::new(Fake::new());
        bench.draw(5, 1);
        bench.act(|timer, gpu, _| timer.put_away(gpu));
        assert_eq!(bench.gpu.deleted.get(), 2 * MADE_AT_ONCE);
        bench.act(|timer, gpu, _| timer.put_away(gpu));
        assert_eq!(bench.gpu.deleted.get(), 2 * MADE_AT_ONCE);
        bench.draw(9, 2);
        assert_eq!(kinds(&bench.collect()), [(GpuTimesKind::Times, 1)]);
    }
}

//! `Measured`: the lists whose commands are measured, with the pairs of counts that the device writes. A list that is executed
//! again writes into the same pairs, so the counts of an execution are read before the next one, which by the rules of Level
//! Zero begins when the device has finished the list. An execution whose counts are not there by then is counted, and has
//! no times.
//!
//! A command that finds no pair is counted, and has no time. Calls the driver for questions and memory only: the caller
//! appends.

use std::collections::BTreeMap;

use gapii_abi::atom::{GpuTime, GpuTimes, GpuTimesKind};
use gapii_recorder::Timed;

use super::pairs::{MADE_AT_ONCE, Pair, Pairs};
use crate::gpu_timing::clocks::{Clocks, Counter};
use crate::gpu_timing::told;
use crate::kept::registry::ListPlace;

/// The questions that are put to the driver and to the shim.
pub trait Gpu {
    /// Returns where a list belongs; `None` if that is not known.
    fn place_of(&self, list: u64) -> Option<ListPlace>;
    /// Returns the counter of a device; `None` if it has none.
    fn counter(&self, device: u64) -> Option<Counter>;
    /// Returns the present moment: a device's count, and nanoseconds of `CLOCK_MONOTONIC`.
    fn now(&self, device: u64) -> Option<(u64, u64)>;
    /// Allocates memory of a context that the host and all its devices can use, aligned to 8 bytes.
    fn allocate(&self, context: u64, bytes: usize) -> Option<*mut u8>;
    /// Returns the number of commands in a list that a device executes, as far as it is known.
    fn work_in(&self, list: u64) -> u32;
}

/// Most pairs of the process: 512 KiB of memory.
const PAIRS_MAX: usize = 32 * MADE_AT_ONCE;

/// Lists whose commands are measured.
#[derive(Default)]
pub struct Measured {
    /// The first epoch of the capture that is measured for; 0 before the first.
    capture: u64,
    /// By handle.
    lists: BTreeMap<u64, List>,
    /// Memory by handle of the context.
    memories: BTreeMap<u64, Pairs>,
    /// By handle of the device.
    counters: BTreeMap<u64, Option<Counter>>,
    /// The trace says that a list is unknown.
    has_told_unknown: bool,
    /// Immediate lists are not measured.
    leaves_immediate_lists: bool,
}

/// A list.
struct List {
    place: ListPlace,
    /// Why no further command is measured; `None` while commands are.
    closed: Option<GpuTimesKind>,
    /// Commands with a pair: of an immediate list those whose counts were not read yet.
    commands: Vec<Command>,
    /// Pairs that the device may write when it executes the list, and that nobody reads.
    held: Vec<Pair>,
    /// The pair of the command in progress.
    present: Option<Pair>,
    /// The command that executes the list has not returned.
    is_starting: bool,
    /// When the execution was ordered whose counts were not read yet; 0 for none, and for an immediate list.
    submitted_ns: u64,
    /// Commands that a device executes, and that were appended in this capture.
    appended: u32,
    /// The trace says that the list has earlier commands.
    has_told_earlier: bool,
    /// Commands that found no pair, and were not told yet.
    left_out: u32,
}

/// A command that has a pair.
#[derive(Clone, Copy)]
struct Command {
    pair: Pair,
    called_ns: u64,
    tid: u32,
    id: u16,
}

/// Counts of an execution that were read.
struct Counts {
    list: u64,
    device: u64,
    submitted_ns: u64,
    commands: Vec<(Command, [u64; 2])>,
}

impl List {
    fn new(place: ListPlace) -> Self {
        Self {
            place,
            closed: None,
            commands: Vec::new(),
            held: Vec::new(),
            present: None,
            is_starting: false,
            submitted_ns: 0,
            appended: 0,
            has_told_earlier: false,
            left_out: 0,
        }
    }

    /// Whether counts are missing.
    fn is_pending(&self) -> bool {
        !self.commands.is_empty() && (self.place.is_immediate || self.submitted_ns != 0)
    }

    /// Reads the counts that are there: of a list that is executed all or none.
    fn read(&mut self, list: u64) -> Option<Counts> {
        if !self.is_pending() {
            return None;
        }
        let counts = self.commands.iter().map_while(|it| Some((*it, it.pair.counts()?)));
        let commands: Vec<_> = counts.collect();
        if commands.is_empty() || !self.place.is_immediate && commands.len() < self.commands.len() {
            return None;
        }
        let submitted_ns = core::mem::take(&mut self.submitted_ns);
        Some(Counts { list, device: self.place.device, submitted_ns, commands })
    }

    /// Forgets all commands. Returns their pairs.
    fn clear(&mut self) -> impl Iterator<Item = Pair> + use<> {
        let commands = core::mem::take(&mut self.commands).into_iter().map(|it| it.pair);
        let held = core::mem::take(&mut self.held).into_iter();
        (self.appended, self.has_told_earlier) = (0, false);
        self.forget_execution();
        commands.chain(held).chain(self.present.take())
    }

    /// Stops to read what the list's commands count; their pairs stay theirs.
    fn hold_all(&mut self) {
        self.held.extend(self.commands.drain(..).map(|it| it.pair));
        self.forget_execution();
    }

    fn forget_execution(&mut self) {
        (self.is_starting, self.submitted_ns) = (false, 0);
    }
}

impl Measured {
    /// Begins to measure for a capture, unless that has happened.
    pub fn join(&mut self, gpu: &dyn Gpu, capture: u64) {
        if self.capture == capture {
            return;
        }
        self.capture = capture;
        self.has_told_unknown = false;
        // Between captures lists may have been emptied, executed and destroyed.
        self.drop_ended(gpu);
        for list in self.lists.values_mut() {
            list.hold_all();
            list.held.extend(list.present.take());
            (list.appended, list.has_told_earlier, list.left_out) = (0, false, 0);
            if list.closed == Some(GpuTimesKind::NoCounter) {
                list.closed = None;
            }
        }
    }

    /// Begins to measure a command that is about to be appended. Returns the pair that it is to count in.
    pub fn begin(
        &mut self,
        gpu: &dyn Gpu,
        handle: u64,
        tell: &mut dyn FnMut(&[u8]),
    ) -> Option<Pair> {
        let list = self.list(gpu, handle, tell)?;
        list.appended += 1;
        if list.closed.is_some() {
            return None;
        }
        let place = list.place;
        let mut pair = self.take_pair(gpu, place);
        if pair.is_none() {
            // Counts that are there free their pairs.
            self.collect_pending(gpu, tell);
            pair = self.take_pair(gpu, place);
        }
        let list = self.lists.get_mut(&handle)?;
        list.present = pair;
        list.left_out += u32::from(pair.is_none());
        pair
    }

    /// Gives up the measurement of the command in progress, whose first count was refused.
    pub fn give_up(&mut self, handle: u64, is_unsupported: bool, tell: &mut dyn FnMut(&[u8])) {
        let Some(list) = self.lists.get_mut(&handle) else { return };
        let (pair, place) = (list.present.take(), list.place);
        if is_unsupported {
            close(handle, list, GpuTimesKind::NoCounter, tell);
        }
        self.give_back(place, pair);
    }

    /// Returns the pair of the command in progress.
    pub fn present(&self, handle: u64) -> Option<Pair> {
        self.lists.get(&handle)?.present
    }

    /// Ends the measurement of the command in progress, which thread `tid` has called, and whose second count `is_appended`.
    pub fn end_command(&mut self, handle: u64, command: &Timed, tid: u32, is_appended: bool) {
        let Some(list) = self.lists.get_mut(&handle) else { return };
        let Some(pair) = list.present.take() else { return };
        let Timed { id, called_ns, .. } = *command;
        if is_appended {
            list.commands.push(Command { pair, called_ns, tid, id });
        } else {
            // The list has the first count.
            list.held.push(pair);
            list.left_out += 1;
        }
    }

    /// Begins an execution of these lists.
    pub fn submit(&mut self, gpu: &dyn Gpu, handles: &[u64], tell: &mut dyn FnMut(&[u8])) {
        self.collect_from(gpu, handles, tell);
        for handle in handles {
            let Some(list) = self.list(gpu, *handle, tell) else { continue };
            tell_lost(*handle, list, tell);
            list.commands.iter().for_each(|command| command.pair.clear());
            list.is_starting = !list.place.is_immediate;
            if !core::mem::replace(&mut list.has_told_earlier, true) {
                let earlier = gpu.work_in(*handle).saturating_sub(list.appended);
                tell_some(*handle, GpuTimesKind::Earlier, earlier, tell);
            }
        }
    }

    /// Notes when the command was called that executes these lists. It has returned.
    pub fn submitted(&mut self, handles: &[u64], called_ns: u64) {
        for handle in handles {
            if let Some(list) = self.lists.get_mut(handle)
                && core::mem::take(&mut list.is_starting)
            {
                list.submitted_ns = called_ns;
            }
        }
    }

    /// Tells the times of all executions whose counts are there. Returns whether no count is missing any more.
    pub fn collect(&mut self, gpu: &dyn Gpu, tell: &mut dyn FnMut(&[u8])) -> bool {
        self.collect_pending(gpu, tell);
        self.lists.iter_mut().for_each(|(handle, list)| tell_left_out(*handle, list, tell));
        !self.lists.values().any(List::is_pending)
    }

    /// Forgets the commands in a list that is about to be emptied.
    pub fn empty(&mut self, gpu: &dyn Gpu, handle: u64, tell: &mut dyn FnMut(&[u8])) {
        self.collect_from(gpu, &[handle], tell);
        let Some(list) = self.lists.get_mut(&handle) else { return };
        if !list.place.is_immediate {
            tell_lost(handle, list, tell);
            tell_left_out(handle, list, tell);
            let (pairs, place) = (list.clear(), list.place);
            self.give_back(place, pairs);
        }
    }

    /// Forgets a list that is about to be destroyed.
    pub fn end(&mut self, gpu: &dyn Gpu, handle: u64, tell: &mut dyn FnMut(&[u8])) {
        self.collect_from(gpu, &[handle], tell);
        if let Some(mut list) = self.lists.remove(&handle) {
            tell_lost(handle, &mut list, tell);
            tell_left_out(handle, &mut list, tell);
            self.give_back(list.place, list.clear());
        }
    }

    /// Forgets a context that is about to be destroyed, with its lists and its memory.
    pub fn end_context(&mut self, gpu: &dyn Gpu, context: u64, tell: &mut dyn FnMut(&[u8])) {
        let lists = self.lists.iter().filter(|(_, list)| list.place.context == context);
        let lists: Vec<u64> = lists.map(|(handle, _)| *handle).collect();
        lists.iter().for_each(|list| self.end(gpu, *list, tell));
        self.memories.remove(&context);
    }

    /// Measures no further command of a list: its commands have numbers, which the shim's own would take.
    pub fn leave(&mut self, gpu: &dyn Gpu, handle: u64, tell: &mut dyn FnMut(&[u8])) {
        if let Some(list) = self.list(gpu, handle, tell) {
            close(handle, list, GpuTimesKind::OwnCommands, tell);
        }
    }

    /// Measures no command of a list any more: another list is about to write into the same pairs.
    pub fn share(&mut self, gpu: &dyn Gpu, handle: u64, tell: &mut dyn FnMut(&[u8])) {
        self.collect_from(gpu, &[handle], tell);
        if let Some(list) = self.list(gpu, handle, tell) {
            tell_lost(handle, list, tell);
            // No list gets these pairs again.
            list.clear().for_each(drop);
            close(handle, list, GpuTimesKind::OwnCommands, tell);
        }
    }

    /// Measures no further command of immediate lists: a graph of them would write into the same pairs at each execution.
    pub fn leave_immediate_lists(&mut self, gpu: &dyn Gpu, tell: &mut dyn FnMut(&[u8])) {
        self.collect(gpu, tell);
        self.leaves_immediate_lists = true;
        for (handle, list) in self.lists.iter_mut().filter(|(_, list)| list.place.is_immediate) {
            close(*handle, list, GpuTimesKind::OwnCommands, tell);
        }
    }

    /// Returns a list, which may be a new one. Tells if nothing of a new list is measured. `None` if the list is unknown to
    /// the shim.
    fn list(
        &mut self,
        gpu: &dyn Gpu,
        handle: u64,
        tell: &mut dyn FnMut(&[u8]),
    ) -> Option<&mut List> {
        let Some(place) = gpu.place_of(handle) else {
            if !core::mem::replace(&mut self.has_told_unknown, true) {
                tell(&told::without(handle, GpuTimesKind::UnknownList, 0).encode());
            }
            return None;
        };
        if self.lists.get(&handle).is_some_and(|list| list.place != place)
            && let Some(mut ended) = self.lists.remove(&handle)
        {
            self.give_back(ended.place, ended.clear());
        }
        let counter =
            *self.counters.entry(place.device).or_insert_with(|| gpu.counter(place.device));
        let leaves = place.is_immediate && self.leaves_immediate_lists;
        let list = self.lists.entry(handle).or_insert_with(|| List::new(place));
        if counter.is_none() {
            close(handle, list, GpuTimesKind::NoCounter, tell);
        } else if leaves {
            close(handle, list, GpuTimesKind::OwnCommands, tell);
        }
        Some(list)
    }

    /// Takes a pair of a context; makes more if none is left.
    fn take_pair(&mut self, gpu: &dyn Gpu, place: ListPlace) -> Option<Pair> {
        let ListPlace { context, context_serial, .. } = place;
        let made: usize = self.memories.values().map(Pairs::made).sum();
        let memory = self.memories.entry(context).or_insert_with(|| Pairs::new(context_serial));
        if memory.context_serial != context_serial {
            // The memory of an earlier context is gone with it.
            *memory = Pairs::new(context_serial);
        }
        memory.take().or_else(|| {
            if made < PAIRS_MAX {
                memory.make(|bytes| gpu.allocate(context, bytes));
            }
            memory.take()
        })
    }

    fn give_back(&mut self, place: ListPlace, pairs: impl IntoIterator<Item = Pair>) {
        if let Some(memory) = self.memories.get_mut(&place.context)
            && memory.context_serial == place.context_serial
        {
            pairs.into_iter().for_each(|pair| memory.give_back(pair));
        }
    }

    /// Forgets lists that have ended without a command that says so.
    fn drop_ended(&mut self, gpu: &dyn Gpu) {
        let is_ended = |(handle, list): &(&u64, &List)| gpu.place_of(**handle) != Some(list.place);
        let ended: Vec<u64> =
            self.lists.iter().filter(is_ended).map(|(handle, _)| *handle).collect();
        for handle in ended {
            if let Some(mut list) = self.lists.remove(&handle) {
                self.give_back(list.place, list.clear());
            }
        }
    }

    fn collect_pending(&mut self, gpu: &dyn Gpu, tell: &mut dyn FnMut(&[u8])) {
        let pending = self.lists.iter().filter(|(_, list)| list.is_pending());
        let pending: Vec<u64> = pending.map(|(handle, _)| *handle).collect();
        self.collect_from(gpu, &pending, tell);
    }

    /// Tells the times of executions of these lists whose counts are there.
    fn collect_from(&mut self, gpu: &dyn Gpu, handles: &[u64], tell: &mut dyn FnMut(&[u8])) {
        let mut all = Vec::new();
        for handle in handles {
            let Some(list) = self.lists.get_mut(handle) else { continue };
            // The memory of a list that has ended may be gone.
            if list.is_pending() && gpu.place_of(*handle) == Some(list.place) {
                all.extend(list.read(*handle));
            }
        }
        // The devices' clocks are read behind the counts.
        let mut clocks: BTreeMap<u64, Option<Clocks>> = BTreeMap::new();
        for counts in all {
            let Counts { list, device, .. } = counts;
            let known = clocks.entry(device).or_insert_with(|| {
                let (count, ns) = gpu.now(device)?;
                let counter = self.counters.get(&device).copied().flatten()?;
                Some(Clocks { counter, count, ns })
            });
            tell_counts(&counts, *known, tell);
            self.free_read(list, counts.commands.len());
        }
    }

    /// Gives the pairs of an immediate list's first commands back.
    fn free_read(&mut self, handle: u64, count: usize) {
        let Some(list) = self.lists.get_mut(&handle) else { return };
        if list.place.is_immediate {
            let count = count.min(list.commands.len());
            let pairs: Vec<Pair> = list.commands.drain(..count).map(|it| it.pair).collect();
            let place = list.place;
            self.give_back(place, pairs);
        }
    }
}

/// Tells that no further command of a list is measured, once in each capture.
fn close(handle: u64, list: &mut List, why: GpuTimesKind, tell: &mut dyn FnMut(&[u8])) {
    if list.closed.is_none() {
        list.closed = Some(why);
        tell(&told::without(handle, why, 0).encode());
    }
}

/// Tells that commands of a list have no times for this reason, if there are any.
fn tell_some(handle: u64, why: GpuTimesKind, count: u32, tell: &mut dyn FnMut(&[u8])) {
    if count != 0 {
        tell(&told::without(handle, why, count).encode());
    }
}

/// Tells how many commands of a list found no pair.
fn tell_left_out(handle: u64, list: &mut List, tell: &mut dyn FnMut(&[u8])) {
    tell_some(handle, GpuTimesKind::Full, core::mem::take(&mut list.left_out), tell);
}

/// Tells how many commands of an execution have no times, because their counts are not there and will not be read later.
fn tell_lost(handle: u64, list: &mut List, tell: &mut dyn FnMut(&[u8])) {
    if list.is_pending() || list.is_starting {
        tell_some(handle, GpuTimesKind::Lost, list.commands.len() as u32, tell);
        list.forget_execution();
    }
}

/// Tells the times of an execution. `clocks` were read behind the counts; `None` if the device does not answer any more.
fn tell_counts(counts: &Counts, clocks: Option<Clocks>, tell: &mut dyn FnMut(&[u8])) {
    let Counts { list, submitted_ns, ref commands, .. } = *counts;
    let count = commands.len() as u32;
    let Some(clocks) = clocks else {
        return tell_some(list, GpuTimesKind::Lost, count, tell);
    };
    let called_ns = commands.first().map_or(0, |(command, _)| command.called_ns);
    let from_ns = if submitted_ns == 0 { called_ns } else { submitted_ns };
    if clocks.ns.saturating_sub(from_ns) > clocks.counter.order_ns() {
        let record = told::without(list, GpuTimesKind::Disjoint, count);
        return tell(&GpuTimes { from_ns, to_ns: clocks.ns, ..record }.encode());
    }
    // An execution that overlaps with the next one, against the rules, can leave counts of both.
    let (mixed, whole): (Vec<_>, Vec<_>) =
        commands.iter().copied().partition(|(_, counts)| clocks.counter.is_backwards(*counts));
    let times = whole.into_iter().map(|(command, counts)| {
        let (begin_ns, duration_ns) = clocks.span(counts);
        let Command { called_ns, tid, id, .. } = command;
        GpuTime { called_ns, begin_ns, duration_ns, tid, id }
    });
    told::tell_times(list, submitted_ns, &times.collect::<Vec<_>>(), tell);
    tell_some(list, GpuTimesKind::Lost, mixed.len() as u32, tell);
}

#[cfg(test)]
mod tests {
    use core::cell::{Cell, RefCell};
    use core::sync::atomic::AtomicU64;
    use core::sync::atomic::Ordering::Relaxed;

    use super::*;
    use crate::gpu_timing::clocks::Unit;

    const LIST: u64 = 0x10;
    const OTHER: u64 = 0x20;
    const AT_ONCE: u64 = 0x30;
    const DEVICE: u64 = 0x40;
    const CONTEXT: u64 = 0x50;

    /// A device whose count goes on by 1 with each write, in units of 10 ns, and is 1,000 ns behind the trace's clock.
    struct Fake {
        places: RefCell<BTreeMap<u64, ListPlace>>,
        has_counter: Cell<bool>,
        /// Bits of the counter.
        bits: Cell<u32>,
        has_memory: Cell<bool>,
        count: Cell<u64>,
        /// Nanoseconds by which the trace's clock has gone on without the device.
        slept_ns: Cell<u64>,
        work_in: Cell<u32>,
        allocated: Cell<usize>,
    }

    fn place(serial: u64, context_serial: u64, is_immediate: bool) -> ListPlace {
        ListPlace { serial, context: CONTEXT, context_serial, device: DEVICE, is_immediate }
    }

    impl Fake {
        fn new() -> Self {
            let places = [(LIST, 1, false), (OTHER, 2, false), (AT_ONCE, 3, true)];
            let places =
                places.map(|(handle, serial, immediate)| (handle, place(serial, 9, immediate)));
            Self {
                places: RefCell::new(BTreeMap::from(places)),
                has_counter: Cell::new(true),
                bits: Cell::new(16),
                has_memory: Cell::new(true),
                count: Cell::new(0),
                slept_ns: Cell::new(0),
                work_in: Cell::new(0),
                allocated: Cell::new(0),
            }
        }

        /// Writes the count.
        fn write(&self, address: u64) {
            self.count.set(self.count.get() + 1);
            // SAFETY: memory that `allocate` has returned, which is never freed.
            let word = unsafe { &*(address as *const AtomicU64) };
            word.store(self.count.get(), Relaxed);
        }
    }

    impl Gpu for Fake {
        fn place_of(&self, list: u64) -> Option<ListPlace> {
            self.places.borrow().get(&list).copied()
        }

        fn counter(&self, _device: u64) -> Option<Counter> {
            let unit = Unit::of_resolutions(10, 10)?;
            self.has_counter.get().then(|| Counter::new(self.bits.get(), unit))
        }

        fn now(&self, _device: u64) -> Option<(u64, u64)> {
            let count = self.count.get();
            Some((count, count * 10 + 1000 + self.slept_ns.get()))
        }

        fn allocate(&self, _context: u64, bytes: usize) -> Option<*mut u8> {
            if !self.has_memory.get() {
                return None;
            }
            self.allocated.set(self.allocated.get() + bytes);
            let words: Box<[AtomicU64]> = (0..bytes / 8).map(|_| AtomicU64::new(7)).collect();
            Some(Box::leak(words).as_mut_ptr().cast())
        }

        fn work_in(&self, _list: u64) -> u32 {
            self.work_in.get()
        }
    }

    /// Lists, the pairs that they have, and what was told.
    struct Bench {
        gpu: Fake,
        measured: Measured,
        pairs: BTreeMap<u64, Vec<Pair>>,
        told: Vec<(GpuTimes, Vec<GpuTime>)>,
        called_ns: u64,
    }

    impl Bench {
        fn new() -> Self {
            let mut bench = Self {
                gpu: Fake::new(),
                measured: Measured::default(),
                pairs: BTreeMap::new(),
                told: Vec::new(),
                called_ns: 0,
            };
            bench.capture(5);
            bench
        }

        fn capture(&mut self, capture: u64) {
            self.measured.join(&self.gpu, capture);
        }

        fn act<T>(
            &mut self,
            act: impl FnOnce(&mut Measured, &Fake, &mut dyn FnMut(&[u8])) -> T,
        ) -> T {
            let told = &mut self.told;
            act(&mut self.measured, &self.gpu, &mut |payload| {
                let (record, times) = GpuTimes::decode(payload).expect("a record");
                let times = times.chunks(GpuTime::LEN).map(|it| GpuTime::decode(it).unwrap().0);
                told.push((record, times.collect()));
            })
        }

        /// Appends a command. Returns when it was called.
        fn append(&mut self, list: u64) -> u64 {
            self.called_ns += 1;
            let pair = self.act(|measured, gpu, tell| measured.begin(gpu, list, tell));
            assert_eq!(self.measured.present(list), pair);
            let command = Timed { id: 3, called_ns: self.called_ns, ..Timed::default() };
            self.measured.end_command(list, &command, 42, true);
            self.pairs.entry(list).or_default().extend(pair);
            self.called_ns
        }

        fn submit(&mut self, lists: &[u64], called_ns: u64) {
            self.act(|measured, gpu, tell| measured.submit(gpu, lists, tell));
            self.measured.submitted(lists, called_ns);
        }

        /// Has the device execute a list.
        fn run(&self, list: u64) {
            let pairs = self.pairs[&list].iter();
            pairs.flat_map(|pair| pair.addresses()).for_each(|address| self.gpu.write(address));
        }

        fn collect(&mut self) -> Vec<(GpuTimes, Vec<GpuTime>)> {
            self.act(|measured, gpu, tell| measured.collect(gpu, tell));
            core::mem::take(&mut self.told)
        }

        #[track_caller]
        fn says(&mut self, expected: &[(u64, GpuTimesKind, u32)]) {
            let told = self.collect().into_iter();
            let told: Vec<_> = told.map(|(it, _)| (it.context, it.kind, it.count)).collect();
            assert_eq!(told, expected);
        }
    }

    use GpuTimesKind::{Disjoint, Earlier, Full, Lost, NoCounter, OwnCommands, Times, UnknownList};

    #[test]
    fn each_execution_has_its_times_on_the_traces_clock() {
        let mut bench = Bench::new();
        let called = [bench.append(LIST), bench.append(LIST)];
        bench.says(&[]);
        for (submitted_ns, first_ns) in [(700, 1010), (800, 1050)] {
            bench.submit(&[LIST], submitted_ns);
            bench.says(&[]);
            bench.run(LIST);
            let told = bench.collect();
            assert_eq!(told.len(), 1);
            let expected = GpuTimes { from_ns: submitted_ns, ..told::without(LIST, Times, 2) };
            assert_eq!(told[0].0, expected);
            let time = |at: u64| GpuTime {
                called_ns: called[at as usize],
                begin_ns: first_ns + 20 * at,
                duration_ns: 10,
                tid: 42,
                id: 3,
            };
            assert_eq!(told[0].1, [time(0), time(1)]);
        }
        bench.says(&[]);
    }

    #[test]
    fn counts_are_read_before_the_list_is_executed_emptied_or_destroyed() {
        let mut bench = Bench::new();
        bench.append(LIST);
        for end in 0..3 {
            bench.submit(&[LIST], 700);
            bench.run(LIST);
            match end {
                0 => bench.submit(&[LIST], 800),
                1 => bench.act(|measured, gpu, tell| measured.empty(gpu, LIST, tell)),
                _ => bench.act(|measured, gpu, tell| measured.end(gpu, LIST, tell)),
            }
            if end == 0 {
                bench.run(LIST);
                bench.says(&[(LIST, Times, 1), (LIST, Times, 1)]);
            } else {
                bench.says(&[(LIST, Times, 1)]);
            }
            if end == 1 {
                bench.pairs.clear();
                bench.append(LIST);
            }
        }
    }

    #[test]
    fn execution_without_counts_is_counted_when_the_next_begins_or_the_list_ends() {
        let mut bench = Bench::new();
        bench.append(LIST);
        bench.append(LIST);
        bench.submit(&[LIST], 700);
        bench.submit(&[LIST, LIST], 800);
        bench.run(LIST);
        bench.says(&[(LIST, Lost, 2), (LIST, Lost, 2), (LIST, Times, 2)]);
        bench.submit(&[LIST], 900);
        bench.act(|measured, gpu, tell| measured.empty(gpu, LIST, tell));
        bench.says(&[(LIST, Lost, 2)]);
    }

    #[test]
    fn counts_that_are_backwards_are_those_of_two_executions() {
        let mut bench = Bench::new();
        bench.append(LIST);
        bench.submit(&[LIST], 700);
        let [before, behind] = bench.pairs[&LIST][0].addresses();
        bench.gpu.write(behind);
        bench.gpu.write(before);
        bench.says(&[(LIST, Lost, 1)]);
    }

    #[test]
    fn execution_that_is_being_submitted_is_not_read() {
        let mut bench = Bench::new();
        bench.append(LIST);
        bench.act(|measured, gpu, tell| measured.submit(gpu, &[LIST], tell));
        bench.run(LIST);
        bench.says(&[]);
        bench.measured.submitted(&[LIST], 700);
        bench.says(&[(LIST, Times, 1)]);
    }

    #[test]
    fn immediate_list_has_times_from_its_first_command_on_and_uses_pairs_again() {
        let mut bench = Bench::new();
        bench.append(AT_ONCE);
        bench.append(AT_ONCE);
        bench.says(&[]);
        let [before, behind] = bench.pairs[&AT_ONCE][0].addresses();
        [before, behind].into_iter().for_each(|address| bench.gpu.write(address));
        bench.says(&[(AT_ONCE, Times, 1)]);
        bench.run(AT_ONCE);
        bench.says(&[(AT_ONCE, Times, 1)]);
        for _ in 0..3 * MADE_AT_ONCE {
            bench.pairs.clear();
            bench.append(AT_ONCE);
            bench.run(AT_ONCE);
            bench.says(&[(AT_ONCE, Times, 1)]);
        }
        assert_eq!(bench.gpu.allocated.get(), MADE_AT_ONCE * 16);
    }

    #[test]
    fn commands_without_a_pair_are_counted() {
        let mut bench = Bench::new();
        // The counts of all pairs fit into half a period.
        bench.gpu.bits.set(36);
        for _ in 0..PAIRS_MAX + 3 {
            bench.append(LIST);
        }
        bench.says(&[(LIST, Full, 3)]);
        bench.submit(&[LIST], 700);
        bench.run(LIST);
        let times: usize = bench.collect().iter().map(|(_, times)| times.len()).sum();
        assert_eq!((times, bench.gpu.allocated.get()), (PAIRS_MAX, PAIRS_MAX * 16));
        // An emptied list gives its pairs to others.
        bench.act(|measured, gpu, tell| measured.empty(gpu, LIST, tell));
        bench.append(OTHER);
        bench.submit(&[OTHER], 800);
        bench.run(OTHER);
        bench.says(&[(OTHER, Times, 1)]);
    }

    #[test]
    fn no_memory_is_no_time() {
        let mut bench = Bench::new();
        bench.gpu.has_memory.set(false);
        bench.append(LIST);
        bench.submit(&[LIST], 700);
        bench.says(&[(LIST, Full, 1)]);
    }

    #[test]
    fn list_of_a_device_without_a_counter_says_so_once_in_each_capture() {
        let mut bench = Bench::new();
        bench.gpu.has_counter.set(false);
        for capture in [5, 9] {
            bench.capture(capture);
            bench.append(LIST);
            bench.append(LIST);
            bench.submit(&[LIST], 700);
            bench.says(&[(LIST, NoCounter, 0)]);
        }
        assert_eq!(bench.gpu.allocated.get(), 0);
    }

    #[test]
    fn driver_without_timestamps_is_asked_once() {
        let mut bench = Bench::new();
        let pair = bench.act(|measured, gpu, tell| measured.begin(gpu, LIST, tell));
        assert!(pair.is_some());
        bench.act(|measured, _, tell| measured.give_up(LIST, true, tell));
        assert_eq!(bench.act(|measured, gpu, tell| measured.begin(gpu, LIST, tell)), None);
        bench.says(&[(LIST, NoCounter, 0)]);
        // A list that is closed refuses one command.
        let refused = bench.act(|measured, gpu, tell| measured.begin(gpu, OTHER, tell));
        bench.act(|measured, _, tell| measured.give_up(OTHER, false, tell));
        assert_eq!(bench.act(|measured, gpu, tell| measured.begin(gpu, OTHER, tell)), refused);
    }

    #[test]
    fn command_without_a_second_count_keeps_its_pair_and_is_counted() {
        let mut bench = Bench::new();
        let pair = bench.act(|measured, gpu, tell| measured.begin(gpu, LIST, tell)).unwrap();
        bench.measured.end_command(LIST, &Timed::default(), 42, false);
        bench.append(LIST);
        assert_ne!(bench.pairs[&LIST], [pair]);
        bench.submit(&[LIST], 700);
        bench.run(LIST);
        bench.says(&[(LIST, Times, 1), (LIST, Full, 1)]);
    }

    #[test]
    fn commands_from_before_the_capture_are_counted_once() {
        let mut bench = Bench::new();
        bench.gpu.work_in.set(7);
        bench.append(LIST);
        for _ in 0..2 {
            bench.submit(&[LIST], 700);
            bench.run(LIST);
        }
        bench.says(&[(LIST, Earlier, 6), (LIST, Times, 1), (LIST, Times, 1)]);
        // In the next capture all of them are.
        bench.capture(9);
        bench.submit(&[LIST], 700);
        bench.run(LIST);
        bench.says(&[(LIST, Earlier, 7)]);
    }

    #[test]
    fn pairs_of_an_earlier_capture_stay_with_a_list_that_may_still_use_them() {
        let mut bench = Bench::new();
        bench.append(LIST);
        bench.capture(9);
        bench.append(OTHER);
        assert_ne!(bench.pairs[&LIST], bench.pairs[&OTHER]);
        // The list ends between captures; its pair is the next one that is used.
        bench.gpu.places.borrow_mut().remove(&LIST);
        bench.capture(11);
        bench.append(AT_ONCE);
        assert_eq!(bench.pairs[&LIST], bench.pairs[&AT_ONCE]);
    }

    #[test]
    fn memory_of_a_destroyed_context_is_not_used_again() {
        let mut bench = Bench::new();
        bench.append(LIST);
        bench.act(|measured, gpu, tell| measured.end_context(gpu, CONTEXT, tell));
        bench.append(LIST);
        assert_ne!(bench.pairs[&LIST][0], bench.pairs[&LIST][1]);
        // One that was destroyed between captures, and has a successor.
        bench.gpu.places.borrow_mut().insert(LIST, place(12, 13, false));
        bench.append(LIST);
        assert_eq!(bench.gpu.allocated.get(), 3 * MADE_AT_ONCE * 16);
        assert!(!bench.pairs[&LIST][..2].contains(&bench.pairs[&LIST][2]));
    }

    #[test]
    fn lists_whose_commands_the_program_numbers_clones_or_captures_are_left_to_it() {
        let mut bench = Bench::new();
        bench.append(LIST);
        bench.act(|measured, gpu, tell| measured.leave(gpu, LIST, tell));
        bench.append(LIST);
        bench.submit(&[LIST], 700);
        bench.run(LIST);
        bench.says(&[(LIST, OwnCommands, 0), (LIST, Times, 1)]);
        bench.append(OTHER);
        bench.act(|measured, gpu, tell| measured.share(gpu, OTHER, tell));
        bench.submit(&[OTHER], 700);
        bench.run(OTHER);
        bench.says(&[(OTHER, OwnCommands, 0)]);
        bench.append(AT_ONCE);
        bench.run(AT_ONCE);
        bench.act(|measured, gpu, tell| measured.leave_immediate_lists(gpu, tell));
        bench.append(AT_ONCE);
        bench.says(&[(AT_ONCE, Times, 1), (AT_ONCE, OwnCommands, 0)]);
    }

    #[test]
    fn counts_that_are_older_than_the_counters_order_are_disjoint() {
        let mut bench = Bench::new();
        bench.append(LIST);
        bench.submit(&[LIST], 700);
        bench.run(LIST);
        // Half of the period of 16 bits, in units of 10 ns.
        bench.gpu.slept_ns.set(327_670 + 700);
        let told = bench.collect();
        let expected = told::without(LIST, Disjoint, 1);
        let to_ns = bench.gpu.now(DEVICE).unwrap().1;
        assert_eq!(told, [(GpuTimes { from_ns: 700, to_ns, ..expected }, vec![])]);
    }

    #[test]
    fn list_that_the_shim_does_not_know_is_left_alone() {
        let mut bench = Bench::new();
        assert_eq!(bench.act(|measured, gpu, tell| measured.begin(gpu, 0x99, tell)), None);
        bench.submit(&[0x99, 0x98], 700);
        bench.says(&[(0x99, UnknownList, 0)]);
    }
}

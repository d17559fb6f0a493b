//! The merge against simulated threads: every schedule must keep every happens-before.
//!
//! A simulated thread checks for a message from another thread, loads the counter, takes a stamp if it
//! needs one, publishes, and tells: one step each, in any order with the other threads' steps and
//! with the drain's reads of single heads. Rules simpler than the merger's fail here.

use gapii_ringbuf::{Emitted, LaneId, Merger, Reading};
use proptest::prelude::*;

const THREADS: usize = 3;

/// Number of records of each thread that are known to be published.
type Knowledge = [usize; THREADS];

#[derive(Clone, Copy, Debug)]
struct Record {
    stamp: u64,
    /// The records that the record's thread knew of when it took or kept the stamp.
    after: Knowledge,
}

#[derive(Clone, Copy)]
enum Step {
    Listen,
    Load,
    Stamp(Knowledge),
    Publish(Record),
    Tell,
}

struct Thread {
    step: Step,
    last_stamp: u64,
    knows: Knowledge,
    published: Vec<Record>,
}

/// The threads, their shared memory, and the heads that the drain has read.
struct Simulation<R> {
    counter: u64,
    told: [Knowledge; THREADS],
    threads: [Thread; THREADS],
    heads: Vec<usize>,
    rule: R,
    order: Order,
}

/// The merged order so far, checked as it grows.
#[derive(Default)]
struct Order {
    emitted: Knowledge,
    violation: Option<String>,
}

impl Order {
    fn push(&mut self, thread: usize, index: usize, record: Record) {
        let too_early = (0..THREADS).any(|other| record.after[other] > self.emitted[other]);
        if too_early || index != self.emitted[thread] {
            self.violation.get_or_insert_with(|| {
                format!("record {index} of thread {thread}, {record:?}, after {:?}", self.emitted)
            });
        }
        self.emitted[thread] += 1;
    }
}

/// A way to merge: gets both readings of all heads.
trait Rule {
    fn round(&mut self, threads: &[Thread; THREADS], heads: &[usize], order: &mut Order);
}

impl<R: Rule> Simulation<R> {
    fn new(rule: R) -> Self {
        let thread = || Thread {
            step: Step::Listen,
            last_stamp: u64::MAX,
            knows: [0; THREADS],
            published: Vec::new(),
        };
        Self {
            counter: 0,
            told: [[0; THREADS]; THREADS],
            threads: [thread(), thread(), thread()],
            heads: Vec::new(),
            rule,
            order: Order::default(),
        }
    }

    /// Runs `schedule`, then completes open records and drains all rings. `Err` names a record that came before
    /// a record that its thread knew of.
    fn run(mut self, schedule: impl IntoIterator<Item = u8>) -> Result<(), String> {
        for choice in schedule {
            // Half of the choices are the drain's: it has more steps to take in a round.
            match choice % 8 {
                thread @ 0..3 => self.step_thread(thread.into(), choice / 8),
                3 | 4 => self.step_thread((choice / 8 % 3).into(), choice / 24),
                _ => self.step_drain(),
            }
        }
        for thread in 0..THREADS {
            while !matches!(self.threads[thread].step, Step::Listen) {
                self.step_thread(thread, 0);
            }
        }
        for _ in 0..4 * THREADS {
            self.step_drain();
        }
        let published = [0, 1, 2].map(|thread: usize| self.threads[thread].published.len());
        match self.order.violation {
            Some(violation) => Err(violation),
            None if self.order.emitted != published => Err("a record was never emitted".into()),
            None => Ok(()),
        }
    }

    fn step_thread(&mut self, index: usize, whom: u8) {
        let thread = &mut self.threads[index];
        thread.step = match thread.step {
            Step::Listen => {
                let told = self.told[usize::from(whom) % THREADS];
                for (knows, told) in thread.knows.iter_mut().zip(told) {
                    *knows = (*knows).max(told);
                }
                Step::Load
            }
            Step::Load if self.counter == thread.last_stamp => {
                Step::Publish(Record { stamp: thread.last_stamp, after: thread.knows })
            }
            Step::Load => Step::Stamp(thread.knows),
            Step::Stamp(after) => {
                self.counter += 1;
                thread.last_stamp = self.counter;
                Step::Publish(Record { stamp: self.counter, after })
            }
            Step::Publish(record) => {
                thread.published.push(record);
                thread.knows[index] = thread.published.len();
                Step::Tell
            }
            Step::Tell => {
                self.told[index] = thread.knows;
                Step::Listen
            }
        };
    }

    /// Reads one head; after the last of both readings, merges.
    fn step_drain(&mut self) {
        self.heads.push(self.threads[self.heads.len() % THREADS].published.len());
        if self.heads.len() == 2 * THREADS {
            self.rule.round(&self.threads, &self.heads, &mut self.order);
            self.heads.clear();
        }
    }
}

/// The crate's own rule.
struct TwoReadings {
    merger: Merger<usize>,
    lanes: [LaneId; THREADS],
    read: [usize; THREADS],
}

impl TwoReadings {
    fn new() -> Self {
        let mut merger = Merger::new();
        let lanes = [0, 1, 2].map(|thread| merger.add(thread));
        Self { merger, lanes, read: [0; THREADS] }
    }
}

impl Rule for TwoReadings {
    fn round(&mut self, threads: &[Thread; THREADS], heads: &[usize], order: &mut Order) {
        for (reading, heads) in [Reading::First, Reading::Second].into_iter().zip(heads.chunks(3)) {
            for (thread, &head) in heads.iter().enumerate() {
                let batch = self.merger.batch_mut(self.lanes[thread]).expect("no lane is removed");
                for index in self.read[thread]..head {
                    let stamp = threads[thread].published[index].stamp;
                    batch.push(reading, stamp, &(index as u64).to_le_bytes(), index as u64 + 1);
                }
                self.read[thread] = head;
            }
        }
        self.merger.merge(|emitted: Emitted<'_, usize>| {
            for index in emitted.bytes.as_chunks().0 {
                let index = u64::from_le_bytes(*index) as usize;
                order.push(emitted.ring, index, threads[emitted.ring].published[index]);
            }
        });
    }
}

/// A rule that emits, in stamp order, the records of each thread up to its place in `ends`.
struct Simple(fn(&[Thread; THREADS], &[usize]) -> Knowledge);

impl Rule for Simple {
    fn round(&mut self, threads: &[Thread; THREADS], heads: &[usize], order: &mut Order) {
        let ends = (self.0)(threads, heads);
        let mut ready = Vec::new();
        for (thread, &end) in ends.iter().enumerate() {
            for index in order.emitted[thread]..end {
                ready.push((threads[thread].published[index].stamp, thread, index));
            }
        }
        ready.sort_unstable();
        for (_, thread, index) in ready {
            order.push(thread, index, threads[thread].published[index]);
        }
    }
}

/// Wrong: all of the first reading.
fn all_of_the_first(_: &[Thread; THREADS], heads: &[usize]) -> Knowledge {
    [heads[0], heads[1], heads[2]]
}

/// Wrong: both readings, up to the highest stamp of the first.
fn both_up_to_the_firsts_highest(threads: &[Thread; THREADS], heads: &[usize]) -> Knowledge {
    let last = |thread: usize| threads[thread].published[..heads[thread]].last();
    let highest = (0..THREADS).filter_map(last).map(|record| record.stamp).max().unwrap_or(0);
    [0, 1, 2].map(|thread| {
        let second = &threads[thread].published[..heads[THREADS + thread]];
        second.partition_point(|record| record.stamp <= highest)
    })
}

/// Schedules that are the same in every run.
fn schedules(count: u64, len: usize) -> impl Iterator<Item = Vec<u8>> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..count).map(move |_| (0..len).map(|_| next()).collect())
}

const SCHEDULES: u64 = 50_000;

#[test]
#[cfg_attr(miri, ignore = "takes hours; reads no shared memory")]
fn two_readings_keep_happens_before_on_many_schedules() {
    for schedule in schedules(SCHEDULES, 120) {
        let outcome = Simulation::new(TwoReadings::new()).run(schedule.iter().copied());
        assert_eq!(outcome, Ok(()), "{schedule:?}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes hours; reads no shared memory")]
fn simpler_rules_break_happens_before_on_some_schedule() {
    for (name, rule) in [
        ("all of the first", all_of_the_first as fn(&_, &_) -> _),
        ("both up to the first's highest", both_up_to_the_firsts_highest),
    ] {
        let broken = schedules(SCHEDULES, 120)
            .filter(|schedule| Simulation::new(Simple(rule)).run(schedule.iter().copied()).is_err())
            .count();
        println!("{name}: {broken} of {SCHEDULES} schedules");
        assert!(broken > 0, "no schedule breaks \"{name}\": the simulation shows nothing");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[cfg_attr(miri, ignore = "takes hours; reads no shared memory")]
    fn two_readings_keep_happens_before(schedule in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert_eq!(Simulation::new(TwoReadings::new()).run(schedule), Ok(()));
    }
}

/// One round of one case: the stamps that each reading holds, per ring, and the emitted stamps.
fn check(rings: &[(&[u64], &[u64])], expected: &[(usize, u64, u64)]) {
    let mut merger = Merger::new();
    for (ring, (first, second)) in rings.iter().enumerate() {
        let lane = merger.add(ring);
        let batch = merger.batch_mut(lane).expect("the lane was just added");
        let readings = [(Reading::First, *first), (Reading::Second, *second)];
        for (reading, stamps) in readings {
            for &stamp in stamps {
                batch.push(reading, stamp, &stamp.to_le_bytes(), stamp);
            }
        }
    }
    let mut emitted = Vec::new();
    let merged = merger.merge(|run| emitted.push((run.ring, run.stamp, run.records)));
    assert_eq!(emitted, expected, "{rings:?}");
    assert_eq!(merged.emitted, expected.iter().map(|run| run.2).sum::<u64>());
}

#[test]
fn merge_of_one_reading_is_in_stamp_order() {
    check(&[], &[]);
    check(&[(&[1, 1, 2, 7], &[])], &[(0, 1, 4)]);
    check(&[(&[1, 4], &[]), (&[2, 3], &[])], &[(0, 1, 1), (1, 2, 2), (0, 4, 1)]);
    check(&[(&[5], &[]), (&[], &[]), (&[1], &[])], &[(2, 1, 1), (0, 5, 1)]);
}

#[test]
fn records_at_the_lowest_stamp_of_the_second_reading_go_only_in_its_own_ring() {
    check(&[(&[1, 4], &[]), (&[2], &[3])], &[(0, 1, 1), (1, 2, 1)]);
    check(&[(&[1, 3, 3], &[3, 3]), (&[2], &[])], &[(0, 1, 1), (1, 2, 1), (0, 3, 2)]);
    check(&[(&[3], &[3]), (&[3], &[5])], &[(0, 3, 1)]);
    check(&[(&[], &[1]), (&[2], &[])], &[]);
}

#[test]
fn carried_records_come_with_the_next_round() {
    let mut merger = Merger::new();
    let lanes = ["a", "b"].map(|ring| merger.add(ring));
    let push = |merger: &mut Merger<&'static str>, lane: usize, reading, stamp: u64| {
        let batch = merger.batch_mut(lanes[lane]).expect("no lane is removed");
        batch.push(reading, stamp, &stamp.to_le_bytes(), stamp * 8);
    };
    push(&mut merger, 0, Reading::First, 5);
    push(&mut merger, 1, Reading::Second, 2);
    push(&mut merger, 1, Reading::Second, 9);
    let mut seen = Vec::new();
    let held = merger.merge(|run| seen.push((run.ring, run.end_index)));
    assert!(seen.is_empty() && held.held_back && !merger.is_empty());

    push(&mut merger, 0, Reading::Second, 7);
    merger.merge(|run| seen.push((run.ring, run.end_index)));
    assert_eq!(seen, [("b", 16), ("a", 40)]);

    merger.merge(|run| seen.push((run.ring, run.end_index)));
    assert_eq!(seen[2..], [("a", 56), ("b", 72)]);
    assert!(merger.is_empty());
}

#[test]
fn removed_lane_returns_what_it_held_and_its_place_is_used_again() {
    let mut merger = Merger::new();
    let lane = merger.add('a');
    merger.batch_mut(lane).expect("there").push(Reading::First, 1, &[0; 8], 8);
    let left = merger.remove(lane).expect("there");
    assert_eq!((left.len_records(), left.len_bytes()), (1, 8));
    assert!(merger.remove(lane).is_none() && merger.is_empty());
    assert_eq!(merger.add('b'), lane);
}

//! Finds the first difference of two traces, thread by thread. Threads are matched by the order in which they appear,
//! and each is compared up to its first difference. The interleaving of threads and addresses are not compared; handles
//! by the order of their first use. Results and outputs of the driver are counted separately, and do not make traces
//! different. Commands without effect are ignored.

use std::collections::{BTreeMap, HashMap, VecDeque};

use gapii_trace::Command;
use schemars::JsonSchema;
use serde::Serialize;

use crate::identity::{Digest, Identity};

/// Differences of two traces. `a` is the first trace, `b` the second.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct Diff {
    /// Numbers of commands.
    pub commands: Sides<u64>,
    /// The earliest of the threads' first differences, as `seq` in each trace; `None` if there is no
    /// difference. A side is `None` where its trace has no more commands of the thread.
    pub first: Option<Sides<Option<u64>>>,
    /// Number of equal commands with different results or outputs of the driver.
    pub answers: u64,
    /// The first of these commands, as `seq` in each trace.
    pub first_answer: Option<Sides<u64>>,
    /// Functions that the traces call a different number of times, by name.
    pub functions: Vec<FunctionDiff>,
}

/// The same quantity of both traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct Sides<T> {
    /// Of the first trace.
    pub a: T,
    /// Of the second trace.
    pub b: T,
}

/// Numbers of calls of a function.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct FunctionDiff {
    /// Name of the function.
    pub name: String,
    /// Numbers of calls.
    pub commands: Sides<u64>,
}

/// One of two traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The first trace.
    A,
    /// The second trace.
    B,
}

/// Compares the commands of two traces. The caller passes them in turn from both traces.
#[derive(Default)]
pub struct Comparer {
    a: Trace,
    b: Trace,
    /// Threads, by the order in which they appear.
    threads: Vec<Thread>,
    diff: Diff,
    functions: BTreeMap<String, Sides<u64>>,
}

/// State of one trace.
#[derive(Default)]
struct Trace {
    identity: Identity,
    /// Position of each thread in `Comparer::threads`, by its index in the trace.
    ranks: HashMap<u32, usize>,
}

/// Commands of a thread that wait for their counterparts.
#[derive(Default)]
struct Thread {
    a: VecDeque<Waiting>,
    b: VecDeque<Waiting>,
    differs: bool,
}

#[derive(Clone, Copy)]
struct Waiting {
    seq: u64,
    digest: Digest,
}

impl Comparer {
    /// Takes the next command of a trace. Commands that took no effect are ignored.
    pub fn take(&mut self, side: Side, command: &Command<'_>) {
        let Some(seq) = command.seq else { return };
        self.count(side, command.name());
        let trace = match side {
            Side::A => &mut self.a,
            Side::B => &mut self.b,
        };
        let next = trace.ranks.len();
        let rank = *trace.ranks.entry(command.thread).or_insert(next);
        let waiting = Waiting { seq, digest: trace.identity.of(command) };
        if self.threads.len() <= rank {
            self.threads.resize_with(rank + 1, Thread::default);
        }
        let thread = &mut self.threads[rank];
        if thread.differs {
            return;
        }
        match side {
            Side::A => thread.a.push_back(waiting),
            Side::B => thread.b.push_back(waiting),
        }
        thread.compare(&mut self.diff);
    }

    /// Returns the differences, after the last command of both traces.
    pub fn finish(mut self) -> Diff {
        for thread in self.threads.iter().filter(|thread| !thread.differs) {
            let (a, b) = (thread.a.front(), thread.b.front());
            if a.is_some() || b.is_some() {
                self.diff.differ(a.map(|command| command.seq), b.map(|command| command.seq));
            }
        }
        let differing = self.functions.into_iter().filter(|(_, count)| count.a != count.b);
        self.diff.functions =
            differing.map(|(name, commands)| FunctionDiff { name, commands }).collect();
        self.diff
    }

    fn count(&mut self, side: Side, name: &str) {
        if !self.functions.contains_key(name) {
            self.functions.insert(name.to_owned(), Sides::default());
        }
        let function = self.functions.get_mut(name).expect("it was inserted above");
        for commands in [&mut self.diff.commands, function] {
            match side {
                Side::A => commands.a += 1,
                Side::B => commands.b += 1,
            }
        }
    }
}

impl Thread {
    /// Compares the commands that both traces have.
    fn compare(&mut self, diff: &mut Diff) {
        while let (Some(a), Some(b)) = (self.a.front().copied(), self.b.front().copied()) {
            if a.digest.inputs != b.digest.inputs {
                diff.differ(Some(a.seq), Some(b.seq));
                *self = Self { differs: true, ..Self::default() };
                return;
            }
            if a.digest.outputs != b.digest.outputs {
                diff.answers += 1;
                diff.first_answer.get_or_insert(Sides { a: a.seq, b: b.seq });
            }
            self.a.pop_front();
            self.b.pop_front();
        }
    }
}

impl Diff {
    /// Returns true if the traces have the same commands.
    pub fn is_same(&self) -> bool {
        self.first.is_none()
    }

    /// Notes a thread's first difference. A side without a number has no more commands of the thread.
    fn differ(&mut self, a: Option<u64>, b: Option<u64>) {
        let place = |sides: &Sides<Option<u64>>| sides.a.or(sides.b);
        let found = Sides { a, b };
        if self.first.as_ref().is_none_or(|first| place(&found) < place(first)) {
            self.first = Some(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(seq: u64, inputs: u64, outputs: u64) -> Waiting {
        Waiting { seq, digest: Digest { inputs, outputs } }
    }

    #[test]
    fn thread_is_compared_up_to_its_first_difference() {
        let mut diff = Diff::default();
        let mut thread = Thread::default();
        thread.a.extend([waiting(0, 1, 1), waiting(1, 2, 1), waiting(2, 9, 1)]);
        thread.b.extend([waiting(0, 1, 1), waiting(5, 2, 3), waiting(6, 3, 1)]);
        thread.compare(&mut diff);
        assert_eq!(diff.first, Some(Sides { a: Some(2), b: Some(6) }));
        assert_eq!((diff.answers, diff.first_answer), (1, Some(Sides { a: 1, b: 5 })));
        assert!(thread.differs && !diff.is_same());
    }

    #[test]
    fn earliest_difference_is_the_first() {
        let mut diff = Diff::default();
        diff.differ(Some(7), None);
        diff.differ(None, Some(3));
        diff.differ(Some(5), Some(1));
        assert_eq!(diff.first, Some(Sides { a: None, b: Some(3) }));
    }
}

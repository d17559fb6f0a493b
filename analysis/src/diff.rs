//! Where two traces begin to differ, thread by thread.
//!
//! Threads are matched by the order in which they appear, and each is compared up to its first
//! difference: how the threads of two runs interleave is not compared. Addresses don't count, nor
//! what the driver answered, which is compared by itself.

use std::collections::{BTreeMap, HashMap, VecDeque};

use gapii_trace::Command;
use serde::Serialize;

use crate::identity::{Digest, Identity};

/// How two traces differ; `a` and `b` are the first and the second.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Diff {
    pub commands: Sides<u64>,
    /// Of all threads' first differences the one that comes first in the first trace.
    pub first: Option<Sides<Option<u64>>>,
    /// Commands that are the same and got another answer.
    pub answers: u64,
    /// The first of them.
    pub first_answer: Option<Sides<u64>>,
    /// Functions that do not occur equally often, by name.
    pub functions: Vec<FunctionDiff>,
}

/// The same of two traces. Of commands: their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Sides<T> {
    pub a: T,
    pub b: T,
}

/// How often a function occurs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct FunctionDiff {
    pub name: String,
    pub commands: Sides<u64>,
}

/// Which of two traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    A,
    B,
}

/// Compares commands as they are given, those of both traces in turn.
#[derive(Default)]
pub struct Comparer {
    a: Trace,
    b: Trace,
    /// Threads by rank.
    threads: Vec<Thread>,
    diff: Diff,
    functions: BTreeMap<String, Sides<u64>>,
}

/// What is kept of one trace.
#[derive(Default)]
struct Trace {
    identity: Identity,
    /// Ranks of threads by their index in the trace.
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
    /// Takes the next command of a trace. Those that never took effect are passed over.
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

    /// What differs, once both traces are through.
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
        let function = self.functions.get_mut(name).expect("there is one by now");
        for commands in [&mut self.diff.commands, function] {
            match side {
                Side::A => commands.a += 1,
                Side::B => commands.b += 1,
            }
        }
    }
}

impl Thread {
    /// Compares what both traces have.
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
    /// Whether the traces have the same commands.
    pub fn is_same(&self) -> bool {
        self.first.is_none()
    }

    /// A thread's first difference; without a number its trace has no more commands of the thread.
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

//! Finds all differences of two traces, thread by thread, and groups them by their cause. Threads are matched by the order
//! in which they appear. Inside of a thread, commands are paired frame by frame (`analysis/src/alignment.rs`), and every
//! `WINDOW_MAX` commands where frames are longer or the thread ends none.
//!
//! The interleaving of threads, addresses and the numbers of objects are not compared. Two commands use the same object if
//! the first commands that used or made it are paired. Results and outputs of the driver are counted separately, and do
//! not make traces different. Commands without effect are ignored.
//!
//! Frames whose pixels both traces have, or the hashes of them (`--observe-frames`), are compared by number.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gapii_trace::{BlobName, Command};
use schemars::JsonSchema;
use serde::Serialize;

use crate::alignment::{self, Step};
pub use crate::causes::{Cause, Way};
use crate::causes::{Causes, Key, place};
use crate::digest::Map;
use crate::identity::{Identity, Shape};
pub use crate::sides::{Side, Sides};

/// Commands of a thread are compared at the latest when this many wait in both traces.
const WINDOW_MAX: usize = 1 << 14;

/// Differences of two traces. `a` is the first trace, `b` the second.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct Diff {
    /// Numbers of commands.
    pub commands: Sides<u64>,
    /// The earliest of the threads' first differences, as `seq` in each trace; `None` if there is no
    /// difference. A side is `None` where its trace has no more commands of the thread.
    pub first: Option<Sides<Option<u64>>>,
    /// Number of commands that differ, or that only one trace has.
    pub differing: u64,
    /// Number of equal commands with different results or outputs of the driver.
    pub answers: u64,
    /// The first of these commands, as `seq` in each trace.
    pub first_answer: Option<Sides<u64>>,
    /// All differences and different answers, by cause, the earliest first.
    pub causes: Vec<Cause>,
    /// Functions that the traces call a different number of times, by name.
    pub functions: Vec<FunctionDiff>,
    /// Number of frames that were observed in both traces.
    pub observed_frames: u64,
    /// These frames, by process and number.
    #[serde(skip)]
    pub observed: BTreeSet<(u32, u64)>,
    /// Those of the observed frames that differ, by process and number.
    #[serde(skip)]
    pub recorded: Vec<RecordedFrame>,
}

/// Numbers of calls of a function.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct FunctionDiff {
    /// Name of the function.
    pub name: String,
    /// Numbers of calls.
    pub commands: Sides<u64>,
}

/// A frame that was observed in both traces with different pixels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedFrame {
    /// Index of the process in the traces.
    pub process: u32,
    /// Number of the frame within its process, from 0.
    pub frame: u64,
    /// Width and height in pixels.
    pub sizes: Sides<[u32; 2]>,
    /// Names that the pixels have, or would have, as blobs.
    pub names: Sides<BlobName>,
    /// True if both traces have the pixels, and not only a hash.
    pub has_pixels: bool,
}

/// Compares the commands of two traces. The caller passes them in turn from both traces, and says when a trace is over.
#[derive(Default)]
pub struct Comparer {
    traces: Sides<Trace>,
    /// Threads, by the order in which they appear.
    threads: Vec<Thread>,
    found: Findings,
    /// Observed frames of one trace whose counterpart did not come yet, by process and number.
    frames: BTreeMap<(u32, u64), Sides<Option<Observed>>>,
}

/// Reduces the commands of one trace, in order, to what a [`Comparer`] compares. The traces' commands can be reduced on two
/// threads.
#[derive(Default)]
pub struct Reducer {
    identity: Identity,
    /// By function id: true if the names of the function were handed out.
    named: Vec<bool>,
}

/// A command as a [`Comparer`] takes it.
pub struct Reduced {
    command: Waiting,
    thread: u32,
    ends_frame: bool,
    observed: Option<Box<Observed>>,
    /// Only for the first command of a function.
    names: Option<Box<Names>>,
}

/// State of one trace.
#[derive(Default)]
struct Trace {
    reducer: Reducer,
    /// Position of each thread in `Comparer::threads`, by its index in the trace.
    ranks: Map<u32, usize>,
    /// The thread of the last command, with its position.
    last: Option<(u32, usize)>,
    is_over: bool,
}

/// Differences of two traces, and what is needed to add the next one.
#[derive(Default)]
struct Findings {
    diff: Diff,
    causes: Causes,
    objects: Objects,
    /// Functions that occurred in commands, by digest.
    names: Map<u64, Names>,
}

/// Names of a function and of its parameters.
struct Names {
    function: String,
    params: Vec<String>,
    /// Numbers of calls.
    commands: Sides<u64>,
}

/// Which object of one trace is which of the other.
#[derive(Default)]
struct Objects {
    of_a: Map<u64, u64>,
    of_b: Map<u64, u64>,
}

/// Commands of a thread that wait for their counterparts.
#[derive(Default)]
struct Thread {
    waiting: Sides<Windows>,
    differs: bool,
}

/// Commands of one trace's thread: frame by frame, the last not complete. Never empty.
struct Windows(VecDeque<VecDeque<Waiting>>);

struct Waiting {
    seq: u64,
    /// Process and number.
    frame: (u32, u64),
    shape: Shape,
}

#[derive(Clone, Copy)]
struct Observed {
    size: [u32; 2],
    name: [u8; 16],
    has_pixels: bool,
}

impl Comparer {
    /// Takes the next command of a trace. Commands that took no effect are ignored.
    pub fn take(&mut self, side: Side, command: &Command<'_>) {
        if let Some(reduced) = self.traces.of(side).reducer.reduce(command) {
            self.add(side, reduced);
        }
    }

    /// Takes the next command of a trace, which the trace's own [`Reducer`] has reduced.
    pub fn add(&mut self, side: Side, reduced: Reduced) {
        let Reduced { command, thread, ends_frame, observed, names } = reduced;
        self.count(side, command.shape.function, names);
        if let Some(observed) = observed {
            self.observe(side, command.frame, *observed);
        }
        let trace = self.traces.of(side);
        let rank = match trace.last {
            Some((last, rank)) if last == thread => rank,
            _ => {
                let next = trace.ranks.len();
                *trace.ranks.entry(thread).or_insert(next)
            }
        };
        trace.last = Some((thread, rank));
        if self.threads.len() <= rank {
            self.threads.resize_with(rank + 1, Thread::default);
        }
        let windows = self.threads[rank].waiting.of(side);
        windows.push(command);
        if ends_frame {
            windows.0.push_back(VecDeque::new());
        }
        self.compare(rank);
    }

    /// Notes that a trace has no more commands.
    pub fn end(&mut self, side: Side) {
        if !std::mem::replace(&mut self.traces.of(side).is_over, true) {
            (0..self.threads.len()).for_each(|rank| self.compare(rank));
        }
    }

    /// Returns the differences, after the last command of both traces.
    pub fn finish(mut self) -> Diff {
        self.end(Side::A);
        self.end(Side::B);
        let mut diff = self.found.diff;
        diff.causes = self.found.causes.finish();
        diff.recorded.sort_by_key(|frame| (frame.process, frame.frame));
        let names = self.found.names.into_values();
        let differing = names.filter(|Names { commands, .. }| commands.a != commands.b);
        diff.functions = differing
            .map(|Names { function: name, commands, .. }| FunctionDiff { name, commands })
            .collect();
        diff.functions.sort_by(|a, b| a.name.cmp(&b.name));
        diff
    }

    /// Compares the commands of a thread as far as both traces have them.
    fn compare(&mut self, rank: usize) {
        let is_over = Sides { a: self.traces.a.is_over, b: self.traces.b.is_over };
        while self.threads[rank].compare(is_over, &mut self.found) {}
    }

    /// Counts a command of the function with this digest.
    fn count(&mut self, side: Side, function: u64, names: Option<Box<Names>>) {
        let known = &mut self.found.names;
        if let Some(names) = names {
            known.entry(function).or_insert(*names);
        }
        if let Some(names) = known.get_mut(&function) {
            *names.commands.of(side) += 1;
        }
        *self.found.diff.commands.of(side) += 1;
    }

    /// Compares the pixels of a frame once both traces had it.
    fn observe(&mut self, side: Side, place: (u32, u64), seen: Observed) {
        let both = self.frames.entry(place).or_default();
        *both.of(side) = Some(seen);
        let Sides { a: Some(a), b: Some(b) } = *both else { return };
        self.frames.remove(&place);
        self.found.diff.observed_frames += 1;
        self.found.diff.observed.insert(place);
        if (a.size, a.name) != (b.size, b.name) {
            self.found.diff.recorded.push(RecordedFrame {
                process: place.0,
                frame: place.1,
                sizes: Sides { a: a.size, b: b.size },
                names: Sides { a: BlobName(a.name), b: BlobName(b.name) },
                has_pixels: a.has_pixels && b.has_pixels,
            });
        }
    }
}

impl Reducer {
    /// Reduces the next command; `None` if it took no effect.
    pub fn reduce(&mut self, command: &Command<'_>) -> Option<Reduced> {
        let seq = command.seq?;
        let observed = command.observed_frame.map(|frame| {
            let size = [frame.width, frame.height];
            Box::new(Observed { size, name: frame.name, has_pixels: frame.has_pixels() })
        });
        let id = usize::from(command.id);
        if self.named.len() <= id {
            self.named.resize(id + 1, false);
        }
        let is_first = !std::mem::replace(&mut self.named[id], true);
        let shape = self.identity.of(command);
        Some(Reduced {
            command: Waiting { seq, frame: (command.process, command.frame), shape },
            thread: command.thread,
            ends_frame: command.ends_frame,
            observed,
            names: is_first.then(|| Box::new(Names::of(command))),
        })
    }
}

impl Thread {
    /// Compares the next frame, or a part of it. Returns false if there is nothing to compare yet.
    fn compare(&mut self, is_over: Sides<bool>, found: &mut Findings) -> bool {
        let Sides { a, b } = &mut self.waiting;
        let is_final = Sides { a: a.is_complete(is_over.a), b: b.is_complete(is_over.b) };
        let is_there = (is_final.a || a.front().len() >= WINDOW_MAX)
            && (is_final.b || b.front().len() >= WINDOW_MAX);
        if !is_there || (a.is_empty() && b.is_empty()) {
            return false;
        }
        let is_whole = is_final.a && is_final.b;
        let most = if is_whole { usize::MAX } else { WINDOW_MAX };
        let mut steps = alignment::steps(&a.shapes(most), &b.shapes(most));
        if !is_whole {
            keep_tail(&mut steps);
        }
        let (mut at, mut at_b) = (0, 0);
        for step in &steps {
            let heads = Sides { a: a.seq(at), b: b.seq(at_b) };
            let differs = match *step {
                Step::Equal(i, j) => found.compare(&a.front()[i], &b.front()[j]),
                Step::Changed(i, j) => found.changed(&a.front()[i], &b.front()[j]),
                Step::OnlyA(i) => found.only(Side::A, &a.front()[i]),
                Step::OnlyB(j) => found.only(Side::B, &b.front()[j]),
            };
            at += usize::from(!matches!(step, Step::OnlyB(_)));
            at_b += usize::from(!matches!(step, Step::OnlyA(_)));
            if differs && !std::mem::replace(&mut self.differs, true) {
                found.diff.differ(heads);
            }
        }
        a.drop_front(at, is_whole);
        b.drop_front(at_b, is_whole);
        true
    }
}

/// Leaves out the differences at the end, whose counterparts may come later, unless they are most of the window.
fn keep_tail(steps: &mut Vec<Step>) {
    let last = steps.iter().rposition(|step| matches!(step, Step::Equal(..)));
    let kept = last.map_or(0, |last| last + 1);
    if kept >= steps.len() / 2 && kept > 0 {
        steps.truncate(kept);
    }
}

impl Findings {
    /// Compares equal commands by the objects that they use, and by the driver's answers. Returns true if they differ.
    fn compare(&mut self, a: &Waiting, b: &Waiting) -> bool {
        let objects = self.others(a, b, false, true);
        if !objects.is_empty() {
            self.differ(Way::Changed, a, b, objects.clone(), objects);
            return true;
        }
        let mut parts = self.answers(&a.shape, &b.shape);
        let objects = self.others(a, b, true, true);
        parts.extend(
            objects.iter().filter(|name| !parts.contains(name)).cloned().collect::<Vec<_>>(),
        );
        if !parts.is_empty() {
            self.diff.answers += 1;
            let at = Sides { a: a.seq, b: b.seq };
            let first = self.diff.first_answer.get_or_insert(at);
            if at.a < first.a {
                *first = at;
            }
            self.add(Way::Answered, a, Some(b), parts, objects);
        }
        false
    }

    /// Notes two commands of one function that read something else.
    fn changed(&mut self, a: &Waiting, b: &Waiting) -> bool {
        let mut parts = self.inputs(&a.shape, &b.shape);
        let objects = self.others(a, b, false, false);
        parts.extend(
            objects.iter().filter(|name| !parts.contains(name)).cloned().collect::<Vec<_>>(),
        );
        // The commands that use the new objects are then equal.
        self.others(a, b, true, true);
        self.differ(Way::Changed, a, b, parts, objects);
        true
    }

    fn differ(
        &mut self,
        way: Way,
        a: &Waiting,
        b: &Waiting,
        parts: Vec<String>,
        objects: Vec<String>,
    ) {
        self.diff.differing += 1;
        self.add(way, a, Some(b), parts, objects);
    }

    /// Notes a command that one trace has alone.
    fn only(&mut self, side: Side, command: &Waiting) -> bool {
        self.diff.differing += 1;
        let way = if side == Side::A { Way::OnlyInA } else { Way::OnlyInB };
        self.add(way, command, None, Vec::new(), Vec::new());
        true
    }

    fn add(
        &mut self,
        way: Way,
        command: &Waiting,
        other: Option<&Waiting>,
        parts: Vec<String>,
        objects: Vec<String>,
    ) {
        let names = self.names.get(&command.shape.function);
        let function = names.map_or_else(String::new, |names| names.function.clone());
        let at = match (way, other) {
            (Way::OnlyInB, _) => Sides { a: None, b: Some(command.seq) },
            (_, other) => Sides { a: Some(command.seq), b: other.map(|other| other.seq) },
        };
        self.causes.add(Key { function, way, parts, objects }, command.frame, at);
    }

    /// Names of the inputs that differ.
    fn inputs(&self, a: &Shape, b: &Shape) -> Vec<String> {
        let differs = |at: &usize| a.inputs.get(*at) != b.inputs.get(*at);
        let all = 0..a.inputs.len().max(b.inputs.len());
        all.filter(differs).map(|at| self.part(a, at, false)).collect()
    }

    /// Names of the answers that differ.
    fn answers(&self, a: &Shape, b: &Shape) -> Vec<String> {
        if a.outputs == b.outputs && a.inputs.len() == b.inputs.len() {
            return Vec::new();
        }
        let differs = |at: &usize| a.output(*at) != b.output(*at);
        let all = 0..a.inputs.len().max(b.inputs.len());
        all.filter(differs).map(|at| self.part(a, at, true)).collect()
    }

    fn part(&self, shape: &Shape, at: usize, is_answer: bool) -> String {
        let names = self.names.get(&shape.function);
        let rest = if is_answer { "result" } else { "memory" };
        names.and_then(|names| names.params.get(at)).map_or(rest, String::as_str).to_owned()
    }

    /// Names of the parts in which the commands use other objects, or were given them. With `learn`, objects that
    /// occurred in neither trace become the same.
    fn others(&mut self, a: &Waiting, b: &Waiting, outputs: bool, learn: bool) -> Vec<String> {
        let of_a = a.shape.objects.iter().filter(|object| object.is_output == outputs);
        let of_b = b.shape.objects.iter().filter(|object| object.is_output == outputs);
        if !of_a.clone().map(|object| object.part).eq(of_b.clone().map(|object| object.part)) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (a_object, b_object) in of_a.zip(of_b) {
            if !self.objects.agree(a_object.number, b_object.number, learn) {
                let name = self.part(&a.shape, a_object.part, outputs);
                if !found.contains(&name) {
                    found.push(name);
                }
            }
        }
        found
    }
}

impl Objects {
    /// Whether the objects are the same. With `learn`, two that occurred in neither trace become the same.
    fn agree(&mut self, a: u64, b: u64, learn: bool) -> bool {
        match (self.of_a.get(&a), self.of_b.get(&b)) {
            (None, None) => {
                if learn {
                    self.of_a.insert(a, b);
                    self.of_b.insert(b, a);
                }
                true
            }
            (Some(its), Some(_)) => *its == b,
            _ => false,
        }
    }
}

impl Default for Windows {
    fn default() -> Self {
        Self([VecDeque::new()].into())
    }
}

impl Windows {
    fn push(&mut self, command: Waiting) {
        self.0.back_mut().expect("never empty").push_back(command);
    }

    fn front(&self) -> &VecDeque<Waiting> {
        self.0.front().expect("never empty")
    }

    /// Shapes of the first `most` commands of the first window.
    fn shapes(&self, most: usize) -> Vec<&Shape> {
        self.front().iter().take(most).map(|waiting| &waiting.shape).collect()
    }

    /// Whether no command comes to the first window any more.
    fn is_complete(&self, is_over: bool) -> bool {
        is_over || self.0.len() > 1
    }

    fn is_empty(&self) -> bool {
        self.0.len() == 1 && self.front().is_empty()
    }

    /// `seq` of a command in the first window, or of the one after it.
    fn seq(&self, at: usize) -> Option<u64> {
        let next = || self.0.get(1).and_then(VecDeque::front);
        self.front().get(at).or_else(next).map(|waiting| waiting.seq)
    }

    /// Drops commands that were compared; `is_whole`: the first window is done.
    fn drop_front(&mut self, count: usize, is_whole: bool) {
        let first = self.0.front_mut().expect("never empty");
        first.drain(..count);
        if is_whole && self.0.len() > 1 {
            self.0.pop_front();
        }
    }
}

impl Names {
    fn of(command: &Command<'_>) -> Self {
        let params = command.function.map_or(&[][..], |function| &function.params);
        let params = params.iter().map(|param| param.name.clone()).collect();
        Self { function: command.name().to_owned(), params, commands: Sides::default() }
    }
}

impl Diff {
    /// Returns true if the traces have the same commands, and the same pixels of observed frames.
    pub fn is_same(&self) -> bool {
        self.has_same_commands() && self.recorded.is_empty()
    }

    /// Returns true if the traces have the same commands.
    pub fn has_same_commands(&self) -> bool {
        self.differing == 0
    }

    /// Notes a thread's first difference. A side without a number has no more commands of the thread.
    fn differ(&mut self, found: Sides<Option<u64>>) {
        if self.first.as_ref().is_none_or(|first| place(&found) < place(first)) {
            self.first = Some(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Object;

    /// A command: a letter for the function, its input, the driver's answer, and an object that it uses, or is given if
    /// the letter is a capital; 0 is none.
    type Word = (char, u64, u64, u64);

    fn waiting(seq: u64, (letter, input, output, object): Word) -> Waiting {
        let function = u64::from(letter);
        let object = Object { part: 0, is_output: letter.is_uppercase(), number: object };
        let objects = if object.number == 0 { Box::default() } else { Box::from([object]) };
        let shape = Shape {
            key: function << 32 | input,
            function,
            inputs: [input, 0].into(),
            outputs: [0, output].into(),
            objects,
        };
        Waiting { seq, frame: (0, seq / 100), shape }
    }

    /// Compares two threads. `s` ends a frame.
    fn compared(a: &[Word], b: &[Word]) -> Diff {
        let mut comparer = Comparer::default();
        comparer.threads.push(Thread::default());
        for (side, words) in [(Side::A, a), (Side::B, b)] {
            for (seq, word) in (0..).zip(words) {
                let command = waiting(seq, *word);
                let function = word.0.to_string();
                let params = vec!["value".into()];
                let names = Names { function, params, commands: Sides::default() };
                comparer.found.names.insert(command.shape.function, names);
                let windows = comparer.threads[0].waiting.of(side);
                windows.push(command);
                if word.0 == 's' {
                    windows.0.push_back(VecDeque::new());
                }
                comparer.compare(0);
            }
        }
        comparer.finish()
    }

    fn words(diff: &Diff) -> Vec<String> {
        let word = |cause: &Cause| {
            let Cause { function, way, parts, objects, commands, first, .. } = cause;
            let at = [first.a, first.b].map(|at| at.map_or("-".to_owned(), |at| at.to_string()));
            format!("{commands} {function} {way:?} {parts:?} {objects:?} {}", at.join("/"))
        };
        diff.causes.iter().map(word).collect()
    }

    #[test]
    fn all_differences_are_found_and_grouped_by_cause() {
        let frame = |value| [('u', value, 0, 0), ('d', 1, 0, 0), ('s', 0, 0, 0)];
        let a = [frame(1), frame(2), frame(3)].concat();
        let mut b = [frame(1), frame(8), frame(9)].concat();
        b.insert(4, ('f', 0, 0, 0));
        let diff = compared(&a, &b);
        assert_eq!(
            words(&diff),
            [r#"2 u Changed ["value"] [] 3/3"#, "1 f OnlyInB [] [] -/4"],
            "{diff:#?}"
        );
        assert_eq!(diff.first, Some(Sides { a: Some(3), b: Some(3) }));
        assert_eq!((diff.differing, diff.is_same()), (3, false));
    }

    #[test]
    fn answers_are_counted_and_are_no_difference() {
        let diff = compared(&[('q', 1, 5, 0), ('q', 1, 6, 0)], &[('q', 1, 5, 0), ('q', 1, 7, 0)]);
        assert_eq!(words(&diff), [r#"1 q Answered ["result"] [] 1/1"#]);
        assert_eq!((diff.answers, diff.first_answer), (1, Some(Sides { a: 1, b: 1 })));
        assert!(diff.is_same());
    }

    #[test]
    fn objects_are_the_same_by_what_made_them_and_not_by_number() {
        let a = [('M', 0, 0, 1), ('b', 0, 0, 1), ('M', 0, 0, 2), ('b', 0, 0, 2)];
        // Another object comes first, so that the numbers of the others are shifted.
        let b = [('N', 0, 0, 1), ('M', 0, 0, 2), ('b', 0, 0, 2), ('M', 0, 0, 3), ('b', 0, 0, 3)];
        assert_eq!(words(&compared(&a, &b)), ["1 N OnlyInB [] [] -/0"]);
        let wrong = [('M', 0, 0, 1), ('b', 0, 0, 1), ('M', 0, 0, 2), ('b', 0, 0, 1)];
        assert_eq!(words(&compared(&a, &wrong)), [r#"1 b Changed ["value"] ["value"] 3/3"#]);
    }

    #[test]
    fn long_frames_are_compared_in_parts_with_one_difference_each() {
        let a: Vec<Word> = (0..5 * WINDOW_MAX as u64).map(|at| ('d', at, 0, 0)).collect();
        let mut b = a.clone();
        b.remove(40_000);
        b.insert(7, ('f', 0, 0, 0));
        let diff = compared(&a, &b);
        assert_eq!(words(&diff), ["1 f OnlyInB [] [] -/7", "1 d OnlyInA [] [] 40000/-"]);
    }

    #[test]
    fn trace_that_ends_earlier_lacks_the_rest() {
        let a: Vec<Word> = (0..9).map(|at| ('d', at, 0, 0)).collect();
        let diff = compared(&a, &a[..4]);
        assert_eq!(words(&diff), ["5 d OnlyInA [] [] 4/-"]);
        assert_eq!(diff.first, Some(Sides { a: Some(4), b: None }));
        assert!(compared(&a, &a).is_same());
    }
}

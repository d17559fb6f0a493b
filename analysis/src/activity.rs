//! `Activity`: when each thread was active, and what happened. The size of an answer does not depend on the length of the
//! trace: a thread has a cell for one or more frames, as many for all threads, so that there are at most 50,000 cells
//! (`CELLS_MAX`); of events and marks there are as many as the caller asks for, the first ones, and the others are counted.
//!
//! The caller passes commands and events in their order.

use std::collections::BTreeMap;

use gapii_trace::clock::TraceClock;
use gapii_trace::event::{Event, EventKind};
use gapii_trace::tracker::Tracker;
use gapii_trace::{Command, Untrusted};
use schemars::JsonSchema;
use serde::Serialize;

use crate::marks::{Marked, marked, text_of};

/// Most cells of all threads.
const CELLS_MAX: usize = 50_000;
/// Most groups that are open in a thread at once. Deeper ones have no end.
const DEPTH_MAX: usize = 1024;

/// Activity of the threads of a trace.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Activity {
    /// Frames that a cell stands for.
    pub frames_per_cell: u64,
    /// The threads that called commands, or to which something happened, by index.
    pub threads: Vec<ThreadActivity>,
    /// Holds, waits, gaps, keyframes and times without a daemon, in the order of the trace.
    pub events: Vec<Happening>,
    /// Events that are left out, because there were too many.
    pub events_left_out: u64,
    /// Marks and groups of the program, in the order of the trace.
    pub marks: Vec<Happening>,
    /// Marks and groups that are left out, because there were too many.
    pub marks_left_out: u64,
}

/// Activity of a thread.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct ThreadActivity {
    /// Index of the thread in the trace.
    pub thread: u32,
    /// Index of its process.
    pub process: u32,
    /// Thread id of the operating system.
    pub tid: u32,
    /// The kernel's name for the thread.
    pub name: Untrusted,
    /// Commands that it called.
    pub commands: u64,
    /// Nanoseconds in the driver; null if they were not measured.
    pub driver_ns: Option<u64>,
    /// The frames of its process in which it called commands, in order.
    pub cells: Vec<Cell>,
}

/// Activity of a thread in some frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Cell {
    /// Number of the first of these frames in its process.
    pub frame: u64,
    /// Number of the thread's first command in them; null if none took effect.
    pub seq: Option<u64>,
    /// Commands.
    pub commands: u64,
    /// Nanoseconds in the driver; missing if they were not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver_ns: Option<u64>,
}

/// Something that happened.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Happening {
    /// `hold`, `wait`, `gap`, `keyframe` or `no_daemon`; of the program `mark` or `group`.
    pub kind: &'static str,
    /// Index of the process in the trace; null if it happened to the capture.
    pub process: Option<u32>,
    /// Index of the thread in the trace; null as above.
    pub thread: Option<u32>,
    /// Frames of the process that had ended.
    pub frame: u64,
    /// Number of the command that marks the place, otherwise of the next command; null if that took no effect.
    pub seq: Option<u64>,
    /// Number of the command that ends a group; missing without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_seq: Option<u64>,
    /// When it happened or began, in nanoseconds of `CLOCK_MONOTONIC`; null if the trace does not have the time.
    pub begin_ns: Option<u64>,
    /// The same in nanoseconds of Unix time; missing where the trace does not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begin_unix_ns: Option<u64>,
    /// How long it lasted, in nanoseconds; missing for a moment, and where the trace does not have the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ns: Option<u64>,
    /// The program's text, or the cause of a gap; missing without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Untrusted>,
    /// Commands that a gap lacks; missing for other kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commands: Option<u64>,
}

/// Counts activity.
pub struct Counter {
    most: usize,
    frames_per_cell: u64,
    cells: usize,
    threads: BTreeMap<u32, ThreadActivity>,
    events: Vec<Happening>,
    events_left_out: u64,
    marks: Vec<Happening>,
    marks_left_out: u64,
    /// By thread: the open groups, each as its index in `marks` if it is there.
    groups: BTreeMap<u32, Vec<Option<usize>>>,
}

impl Counter {
    /// Makes a counter that keeps at most `most` events, and as many marks.
    pub fn keeping(most: usize) -> Self {
        Self {
            most,
            frames_per_cell: 1,
            cells: 0,
            threads: BTreeMap::new(),
            events: Vec::new(),
            events_left_out: 0,
            marks: Vec::new(),
            marks_left_out: 0,
            groups: BTreeMap::new(),
        }
    }

    /// Counts a command; those of a snapshot, which the program did not call, do not count.
    pub fn command(&mut self, command: &Command<'_>) {
        if command.is_setup {
            return;
        }
        self.called(command.thread, command.frame, command.seq, command.driver_ns);
        if let Some(what) = marked(command) {
            self.mark(command.thread, what, [command.seq, command.begin_ns], || Happening {
                kind: if what == Marked::Begin { "group" } else { "mark" },
                process: Some(command.process),
                thread: Some(command.thread),
                frame: command.frame,
                seq: command.seq,
                end_seq: None,
                begin_ns: command.begin_ns,
                begin_unix_ns: None,
                duration_ns: None,
                text: Some(text_of(command).as_str().into()),
                commands: None,
            });
        }
    }

    /// Counts an event.
    pub fn event(&mut self, event: &Event) {
        let (text, commands) = match event.kind {
            EventKind::Gap { calls, cause } => (Some(cause.name().into()), Some(calls)),
            _ => (None, None),
        };
        if let Some(thread) = event.thread {
            self.threads.entry(thread).or_default();
        }
        if self.events.len() >= self.most {
            self.events_left_out += 1;
            return;
        }
        self.events.push(Happening {
            kind: event.kind.name(),
            process: event.process,
            thread: event.thread,
            frame: event.frame,
            seq: Some(event.seq),
            end_seq: None,
            begin_ns: event.begin_ns,
            begin_unix_ns: None,
            duration_ns: event.duration_ns,
            text,
            commands,
        });
    }

    /// Returns the activity. `tracker` is as of the last record. `clock` tells the Unix time of what happened.
    pub fn finish(self, tracker: &Tracker, clock: Option<&TraceClock>) -> Activity {
        let Self {
            frames_per_cell, mut events, events_left_out, mut marks, marks_left_out, ..
        } = self;
        for it in events.iter_mut().chain(&mut marks) {
            it.begin_unix_ns = clock.zip(it.begin_ns).and_then(|(clock, ns)| clock.unix_ns(ns));
        }
        let known = |(index, activity): (u32, ThreadActivity)| {
            let Some(track) = tracker.thread_at(index) else {
                return ThreadActivity { thread: index, ..activity };
            };
            let name = track.name.split(|byte| *byte == 0).next().unwrap_or_default();
            ThreadActivity {
                thread: index,
                process: track.process,
                tid: track.tid,
                name: String::from_utf8_lossy(name).as_ref().into(),
                ..activity
            }
        };
        let threads = self.threads.into_iter().map(known).collect();
        Activity { frames_per_cell, threads, events, events_left_out, marks, marks_left_out }
    }

    /// Counts a command of a thread.
    fn called(&mut self, thread: u32, frame: u64, seq: Option<u64>, driver_ns: Option<u64>) {
        let frame = frame - frame % self.frames_per_cell;
        let thread = self.threads.entry(thread).or_default();
        thread.commands += 1;
        add(&mut thread.driver_ns, driver_ns);
        let at = match thread.cells.last() {
            Some(last) if last.frame == frame => thread.cells.len() - 1,
            Some(last) if last.frame < frame => thread.cells.len(),
            None => 0,
            // Commands of a thread can be handed out behind those of its next frame.
            Some(_) => thread.cells.partition_point(|cell| cell.frame < frame),
        };
        if thread.cells.get(at).is_none_or(|cell| cell.frame != frame) {
            thread.cells.insert(at, Cell { frame, seq, commands: 0, driver_ns: None });
            self.cells += 1;
        }
        let cell = &mut thread.cells[at];
        cell.commands += 1;
        add(&mut cell.driver_ns, driver_ns);
        while self.cells > CELLS_MAX && self.frames_per_cell < 1 << 63 {
            self.widen();
        }
    }

    /// Notes a mark with this number and time, which `make` describes if it is kept.
    fn mark(
        &mut self,
        thread: u32,
        what: Marked,
        [seq, at_ns]: [Option<u64>; 2],
        make: impl FnOnce() -> Happening,
    ) {
        let groups = self.groups.entry(thread).or_default();
        if what == Marked::End {
            let Some(Some(at)) = groups.pop() else { return };
            let group = &mut self.marks[at];
            group.end_seq = seq;
            let times = group.begin_ns.zip(at_ns);
            group.duration_ns = times.map(|(begin, end)| end.saturating_sub(begin));
            return;
        }
        let is_kept = self.marks.len() < self.most;
        if what == Marked::Begin && groups.len() < DEPTH_MAX {
            groups.push(is_kept.then_some(self.marks.len()));
        }
        match is_kept {
            true => self.marks.push(make()),
            false => self.marks_left_out += 1,
        }
    }

    /// Makes each cell stand for twice as many frames.
    fn widen(&mut self) {
        self.frames_per_cell *= 2;
        self.cells = 0;
        for thread in self.threads.values_mut() {
            let mut wide: Vec<Cell> = Vec::with_capacity(thread.cells.len() / 2 + 1);
            for cell in thread.cells.drain(..) {
                let frame = cell.frame - cell.frame % self.frames_per_cell;
                match wide.last_mut().filter(|last| last.frame == frame) {
                    Some(last) => {
                        last.commands += cell.commands;
                        last.seq = last.seq.or(cell.seq);
                        add(&mut last.driver_ns, cell.driver_ns);
                    }
                    None => wide.push(Cell { frame, ..cell }),
                }
            }
            self.cells += wide.len();
            thread.cells = wide;
        }
    }
}

fn add(total_ns: &mut Option<u64>, more_ns: Option<u64>) {
    if let Some(more_ns) = more_ns {
        *total_ns = Some(total_ns.unwrap_or(0).saturating_add(more_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(counter: &Counter, thread: u32) -> Vec<(u64, Option<u64>, u64, Option<u64>)> {
        let cells = counter.threads[&thread].cells.iter();
        cells.map(|cell| (cell.frame, cell.seq, cell.commands, cell.driver_ns)).collect()
    }

    #[test]
    fn thread_has_a_cell_for_each_frame_in_which_it_called_commands() {
        let mut counter = Counter::keeping(1);
        let calls = [(0, 0, None), (0, 2, Some(5)), (2, 7, Some(1)), (1, 8, None), (2, 9, Some(2))];
        for (frame, seq, driver_ns) in calls {
            counter.called(3, frame, Some(seq), driver_ns);
        }
        let expected = [(0, Some(0), 2, Some(5)), (1, Some(8), 1, None), (2, Some(7), 2, Some(3))];
        assert_eq!(cells(&counter, 3), expected);
        let thread = &counter.threads[&3];
        assert_eq!((thread.commands, thread.driver_ns, counter.cells), (5, Some(8), 3));
    }

    #[test]
    fn cells_of_a_long_trace_stand_for_several_frames() {
        let frames = CELLS_MAX as u64 + 1;
        let mut counter = Counter::keeping(1);
        for frame in 0..frames {
            counter.called(0, frame, Some(2 * frame), Some(1));
            counter.called(1, frame, None, None);
        }
        assert_eq!(counter.frames_per_cell, 4);
        let rest = frames % 4;
        assert_eq!(
            cells(&counter, 0).last(),
            Some(&(frames - rest, Some(2 * (frames - rest)), rest, Some(rest)))
        );
        assert_eq!(cells(&counter, 1)[1], (4, None, 4, None));
        assert_eq!(counter.cells, counter.threads.values().map(|it| it.cells.len()).sum::<usize>());
        assert!(counter.cells <= CELLS_MAX);
    }

    #[test]
    fn group_ends_with_the_end_of_its_own_thread_and_depth_also_if_it_is_left_out() {
        let mut counter = Counter::keeping(2);
        let mut mark = |thread, what, seq: u64| {
            let begin_ns = Some(100 + seq * seq);
            counter.mark(thread, what, [Some(seq), begin_ns], || Happening {
                kind: "group",
                process: Some(0),
                thread: Some(thread),
                frame: 0,
                seq: Some(seq),
                end_seq: None,
                begin_ns,
                begin_unix_ns: None,
                duration_ns: None,
                text: None,
                commands: None,
            });
        };
        // One that began before the trace.
        mark(0, Marked::End, 0);
        mark(0, Marked::Begin, 1);
        mark(1, Marked::Begin, 2);
        mark(0, Marked::Begin, 3);
        mark(0, Marked::Moment, 4);
        mark(0, Marked::End, 5);
        mark(0, Marked::End, 6);
        let found = counter.marks.iter().map(|it| (it.thread, it.end_seq, it.duration_ns));
        let expected = [(Some(0), Some(6), Some(35)), (Some(1), None, None)];
        assert!(found.eq(expected), "{:?}", counter.marks);
        assert_eq!(counter.marks_left_out, 2);
    }

    #[test]
    fn events_that_are_too_many_are_counted() {
        let mut counter = Counter::keeping(1);
        let cause = gapii_trace::footer::GapEntry::default().cause;
        let event = Event {
            kind: EventKind::Gap { calls: 7, cause },
            thread: Some(4),
            process: Some(0),
            frame: 1,
            seq: 9,
            begin_ns: Some(10),
            duration_ns: Some(5),
        };
        counter.event(&event);
        counter.event(&Event { kind: EventKind::Wait, ..event });
        let activity = counter.finish(&Tracker::default(), None);
        assert_eq!((activity.events.len(), activity.events_left_out), (1, 1));
        let gap = &activity.events[0];
        assert_eq!((gap.kind, gap.seq, gap.commands), ("gap", Some(9), Some(7)));
        assert_eq!(gap.text, Some(cause.name().into()));
        // The thread is listed, though it called no command.
        assert_eq!(activity.threads[0].thread, 4);
    }
}

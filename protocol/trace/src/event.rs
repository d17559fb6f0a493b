//! What happened to threads and captures beside the commands: holds, waits, gaps, keyframes, and times without a daemon.
//! Older traces have no times of holds and keyframes, and no waits.
//!
//! Takes the content of records, and reads no command.

use std::collections::BTreeSet;

use gapii_abi::atom::{GapCause, TimeKind};

use super::meta::Meta;
use super::tracker::Tracker;

/// Something that happened beside the commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// Index of the thread in the trace; `None` if it happened to the capture.
    pub thread: Option<u32>,
    /// Index of the process in the trace; `None` as above.
    pub process: Option<u32>,
    /// Frames of the process that had ended.
    pub frame: u64,
    /// Commands that had taken effect: the number of the next one.
    pub seq: u64,
    /// When it happened or began, in nanoseconds of `CLOCK_MONOTONIC`; `None` if an older writer did not record it.
    pub begin_ns: Option<u64>,
    /// How long it lasted, in nanoseconds; `None` for a moment.
    pub duration_ns: Option<u64>,
}

/// The kind of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventKind {
    /// The thread stood still to write its part of a snapshot.
    Hold,
    /// The thread waited for room in its ring.
    Wait,
    /// Commands of the thread are not in the stream.
    Gap {
        /// Number of the commands.
        calls: u64,
        /// Why they are missing.
        cause: GapCause,
    },
    /// The capture goes on as if it began here.
    Keyframe,
    /// No daemon recorded, until another one continued the capture.
    NoDaemon,
}

impl EventKind {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hold => "hold",
            Self::Wait => "wait",
            Self::Gap { .. } => "gap",
            Self::Keyframe => "keyframe",
            Self::NoDaemon => "no_daemon",
        }
    }
}

/// Finds events in records.
#[derive(Clone, Debug, Default)]
pub struct EventLog {
    events: Vec<Event>,
    /// Threads that have told a hold since their last SNAPSHOT.
    told: BTreeSet<u32>,
}

impl EventLog {
    /// Takes note of a record that is not a command. `tracker` is as of this record.
    pub fn take(&mut self, tracker: &Tracker, meta: &Meta<'_>) {
        let thread = tracker.current();
        let found = match meta {
            Meta::Time(time) => {
                let kind = match time.kind {
                    TimeKind::Hold => EventKind::Hold,
                    TimeKind::Wait => EventKind::Wait,
                    TimeKind::Command | TimeKind::Other(_) => return,
                };
                if kind == EventKind::Hold {
                    self.told.extend(thread);
                }
                (kind, Some(time.at_ns), Some(time.duration_ns))
            }
            Meta::Snapshot(snapshot) => {
                let is_told = thread.is_some_and(|thread| self.told.remove(&thread));
                if is_told || snapshot.held_us == 0 {
                    return;
                }
                (EventKind::Hold, None, Some(u64::from(snapshot.held_us) * 1000))
            }
            Meta::Gap(gap) => {
                let kind = EventKind::Gap { calls: gap.calls, cause: gap.cause };
                (kind, Some(gap.start_ns), Some(gap.end_ns.saturating_sub(gap.start_ns)))
            }
            Meta::Keyframe(keyframe) => {
                (EventKind::Keyframe, Some(keyframe.at_ns).filter(|at_ns| *at_ns != 0), None)
            }
            Meta::Seam(seam) => (EventKind::NoDaemon, Some(seam.from_ns), Some(seam.away_ns())),
            _ => return,
        };
        let (kind, begin_ns, duration_ns) = found;
        let thread = thread.filter(|_| kind != EventKind::NoDaemon);
        let track = thread.and_then(|thread| tracker.thread_at(thread));
        let process = track.map(|track| track.process);
        let ended = process.and_then(|process| tracker.process_at(process));
        self.events.push(Event {
            kind,
            thread,
            process,
            frame: ended.map_or(0, |process| process.frames),
            seq: tracker.seq(),
            begin_ns,
            duration_ns,
        });
    }

    /// Hands out the events since the last call, in the order of the stream.
    pub fn drain(&mut self) -> impl Iterator<Item = Event> + use<'_> {
        self.events.drain(..)
    }
}

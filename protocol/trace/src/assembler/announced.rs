//! Notes of a thread's records about its next command: the frame that was read back before a swap, and the changes that
//! tracers made to its arguments. A note is dropped if another command follows, or a gap; a snapshot's command in
//! between does not count. Also tells the four kinds of TRACED records apart; other kinds are ignored.

use std::collections::BTreeMap;

use gapii_abi::atom::{Frame, TracedKind};

use super::held::Held;
use crate::command::Traces;
use crate::meta::Traced;

/// Notes about the next command, by thread.
#[derive(Default)]
pub(super) struct Announced {
    threads: BTreeMap<u32, Announcement>,
}

#[derive(Default)]
struct Announcement {
    /// The frame that was read back before the command.
    frame: Option<Box<Frame>>,
    /// Function id of the command, and the changes that tracers made to it.
    traces: Option<(u16, Box<Traces>)>,
}

/// Content of a TRACED record, by the command of its thread that it is about.
pub(super) enum TracerNote {
    /// Tracers changed the arguments of the next command, or call it themselves.
    Next(Box<Traces>),
    /// Tracers changed the result of the command before: the bytes that the program got.
    Previous(Box<[u8]>),
    /// Tracers skipped the command, so that no other record tells of it.
    Skipped { traces: Box<Traces>, args: Box<[u8]>, result: Box<[u8]> },
    /// The record is of a kind that only later versions know.
    Unknown,
}

impl Announced {
    /// Notes the frame that was read back before the thread's next command.
    pub(super) fn frame(&mut self, thread: u32, frame: Frame) {
        self.threads.entry(thread).or_default().frame = Some(Box::new(frame));
    }

    /// Notes the changes that tracers made to the thread's next command, which is of function `id`.
    pub(super) fn traces(&mut self, thread: u32, id: u16, traces: Box<Traces>) {
        self.threads.entry(thread).or_default().traces = Some((id, traces));
    }

    /// Forgets the notes for a thread whose next command is not in the stream.
    pub(super) fn forget(&mut self, thread: u32) {
        self.threads.remove(&thread);
    }

    /// Moves the notes for the thread of `held` into `held`.
    #[inline]
    pub(super) fn give(&mut self, held: &mut Held) {
        if !self.threads.is_empty() {
            self.give_some(held);
        }
    }

    #[cold]
    fn give_some(&mut self, held: &mut Held) {
        let Some(announced) = self.threads.remove(&held.thread) else { return };
        held.observed_frame = announced.frame;
        match announced.traces {
            Some((id, traces)) if !held.is_setup && id == held.id => held.traces = Some(traces),
            // A snapshot's command, which the program did not call, may come in between.
            traces if held.is_setup && traces.is_some() => {
                self.threads.insert(held.thread, Announcement { frame: None, traces });
            }
            _ => {}
        }
    }
}

impl TracerNote {
    /// Returns the content of a TRACED record.
    pub(super) fn of(traced: &Traced<'_>) -> Self {
        let made = || Some(Box::from(traced.made));
        match traced.kind {
            TracedKind::Own => Self::Next(Box::new(Traces { is_own: true, ..Traces::default() })),
            TracedKind::Changed => {
                Self::Next(Box::new(Traces { made: made(), ..Traces::default() }))
            }
            TracedKind::Result => Self::Previous(Box::from(traced.given)),
            TracedKind::Skipped => {
                let made = if traced.made == traced.left { None } else { made() };
                let traces = Box::new(Traces { is_skipped: true, made, ..Traces::default() });
                let (args, result) = (Box::from(traced.left), Box::from(traced.given));
                Self::Skipped { traces, args, result }
            }
            TracedKind::Other(_) => Self::Unknown,
        }
    }
}

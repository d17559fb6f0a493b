//! Notes of a thread's records about its next command: the frame that was read back before a swap, and the changes that
//! tracers made to its arguments. A note is dropped if another command follows, or a gap; a snapshot's command in
//! between does not count. Also tells the four kinds of TRACED records apart; other kinds are ignored.

use std::collections::BTreeMap;

use gapii_abi::atom::{Frame, TracedKind};
use serde::{Deserialize, Serialize};

use super::held::Held;
use crate::command::Traces;
use crate::meta::Traced;

/// Notes about the next command, by thread.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Announced {
    threads: BTreeMap<u32, Announcement>,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Announcement {
    /// The frame that was read back before the command.
    #[serde(with = "crate::atom_serde::frame")]
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

    /// Notes the changes that tracers made to the thread's next command, which is of function `id`. Of two notes about
    /// the arguments the first has those of the program.
    pub(super) fn traces(&mut self, thread: u32, id: u16, mut traces: Box<Traces>) {
        let noted = &mut self.threads.entry(thread).or_default().traces;
        if let Some((_, before)) = noted.take().filter(|(before, _)| *before == id) {
            traces.is_own |= before.is_own;
            traces.made = before.made.or(traces.made);
        }
        *noted = Some((id, traces));
    }

    /// Adds the notes about the thread's next command, if it is of function `id`, to what tracers did when they skipped
    /// it.
    pub(super) fn skipped(&mut self, thread: u32, id: u16, traces: Box<Traces>) -> Box<Traces> {
        if !self.threads.contains_key(&thread) {
            return traces;
        }
        let is_skipped = traces.is_skipped;
        self.traces(thread, id, traces);
        let (_, mut all) =
            self.threads.remove(&thread).and_then(|it| it.traces).unwrap_or_default();
        all.is_skipped = is_skipped;
        all
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

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(made: u8) -> Box<Traces> {
        Box::new(Traces { made: Some(Box::new([made])), ..Traces::default() })
    }

    /// Two kinds of tracers may change one command, one after the other.
    #[test]
    fn first_note_about_a_command_has_the_programs_arguments() {
        let mut announced = Announced::default();
        announced.traces(0, 7, changed(1));
        announced.traces(0, 7, changed(2));
        announced.traces(0, 7, Box::new(Traces { is_own: true, ..Traces::default() }));
        announced.traces(1, 7, changed(3));
        let skipped = Box::new(Traces { is_skipped: true, ..*changed(4) });
        let all = announced.skipped(0, 7, skipped);
        assert_eq!((all.made.as_deref(), all.is_own, all.is_skipped), (Some(&[1][..]), true, true));
        announced.traces(1, 8, changed(5));
        let other = announced.skipped(1, 8, changed(6));
        assert_eq!((other.made.as_deref(), other.is_own), (Some(&[5][..]), false));
        assert!(announced.threads.is_empty());
    }
}

//! What of a stream is not part of the story that it tells: in a capture with keyframes the same things
//! are described again and again, and a file may begin at any keyframe.
//!
//! Looks at records, not at what they say of commands. Holds a name for each context at most.

use std::collections::BTreeSet;

use super::meta::Meta;
use gapii_abi::atom::{SETUP, Subject, SubjectKind};

/// Most subjects that are remembered; of more, all are described again.
const SUBJECTS_MAX: usize = 1 << 20;

/// Where in its capture what is read begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Begin {
    /// With the capture. A keyframe in it goes on behind a gap: what was known may be there no more.
    #[default]
    Capture,
    /// With a capture that was kept, whose keyframes repeat what there is.
    Kept,
    /// At a keyframe: what a thread says before it introduces itself is in what is described.
    Keyframe,
    /// Anywhere else: all descriptions are of what was there before.
    Middle,
}

/// Who has been described or made so far, thread by thread.
#[derive(Default)]
pub struct Story {
    begin: Begin,
    /// By thread.
    introduced: Vec<bool>,
    /// Process, kind and number.
    known: BTreeSet<(u32, u32, u64)>,
    /// Threads that are describing somebody who is known.
    repeating: BTreeSet<u32>,
}

impl Story {
    pub fn new(begin: Begin) -> Self {
        Self { begin, ..Self::default() }
    }

    /// Takes note of a record of a thread that is not a command.
    pub fn meta(&mut self, thread: u32, process: u32, meta: &Meta<'_>) {
        match meta {
            Meta::Thread(_) | Meta::Gap(_) => self.introduce(thread),
            Meta::Snapshot(_) => {
                self.repeating.remove(&thread);
            }
            Meta::Subject(subject) => self.subject(thread, process, subject),
            Meta::Keyframe(_) if self.begin == Begin::Capture => {
                self.known.clear();
                self.repeating.clear();
            }
            _ => {}
        }
    }

    /// Whether a command record of the thread with these flags is to be passed over.
    #[inline]
    pub fn passes_over(&self, thread: u32, flags: u16) -> bool {
        if flags & SETUP != 0 && !self.repeating.is_empty() && self.repeating.contains(&thread) {
            return true;
        }
        self.begin == Begin::Keyframe && !self.is_introduced(thread)
    }

    /// Whether what the thread says belongs to the story.
    pub fn is_introduced(&self, thread: u32) -> bool {
        self.introduced.get(thread as usize).copied().unwrap_or(false)
    }

    /// Whether a thread that has not introduced itself is passed over.
    pub fn begins_at_keyframe(&self) -> bool {
        self.begin == Begin::Keyframe
    }

    fn introduce(&mut self, thread: u32) {
        if self.begin != Begin::Keyframe {
            return;
        }
        if self.introduced.len() <= thread as usize {
            self.introduced.resize(thread as usize + 1, false);
        }
        self.introduced[thread as usize] = true;
    }

    fn subject(&mut self, thread: u32, process: u32, subject: &Subject) {
        let id = if subject.kind == SubjectKind::Thread { u64::from(thread) } else { subject.id };
        let who = (process, subject.kind.code(), id);
        let is_new = !self.known.contains(&who);
        if is_new && self.known.len() < SUBJECTS_MAX {
            self.known.insert(who);
        }
        if !subject.is_made() && (!is_new || self.begin == Begin::Middle) {
            self.repeating.insert(thread);
        } else {
            self.repeating.remove(&thread);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meta::Snapshot;
    use gapii_abi::atom::{Keyframe, Thread};

    const KEYFRAME: Meta<'_> = Meta::Keyframe(Keyframe { frame: 9 });
    const SNAPSHOT: Meta<'_> = Meta::Snapshot(Snapshot { missing: &[], held_us: 0 });

    fn thread() -> Meta<'static> {
        Meta::Thread(Thread { tid: 1, flags: 0, name: [0; 16] })
    }

    fn subject(id: u64, is_made: bool) -> Meta<'static> {
        Meta::Subject(Subject { id, kind: SubjectKind::Context, made: is_made.into() })
    }

    /// Whether a context is passed over that is described after `before`.
    fn check(begin: Begin, before: &[Meta<'_>], expected: bool) {
        let mut story = Story::new(begin);
        before.iter().for_each(|meta| story.meta(0, 0, meta));
        story.meta(0, 0, &subject(5, false));
        assert_eq!(story.passes_over(0, SETUP), expected, "{begin:?} {before:?}");
        story.meta(0, 0, &SNAPSHOT);
        let is_stranger = begin == Begin::Keyframe && before.is_empty();
        assert_eq!(story.passes_over(0, 0), is_stranger);
    }

    #[test]
    fn who_is_known_is_not_described_again() {
        check(Begin::Capture, &[], false);
        check(Begin::Capture, &[subject(5, false), SNAPSHOT], true);
        check(Begin::Capture, &[subject(6, false), SNAPSHOT], false);
        check(Begin::Capture, &[subject(5, true)], true);
        check(Begin::Capture, &[subject(5, true), KEYFRAME], false);
        check(Begin::Kept, &[subject(5, true), KEYFRAME], true);
        check(Begin::Keyframe, &[thread()], false);
        check(Begin::Keyframe, &[thread(), subject(5, true)], true);
        check(Begin::Middle, &[], true);
    }

    #[test]
    fn who_has_not_introduced_himself_is_passed_over_at_a_keyframe_alone() {
        for (begin, expected) in [
            (Begin::Capture, false),
            (Begin::Kept, false),
            (Begin::Keyframe, true),
            (Begin::Middle, false),
        ] {
            let mut story = Story::new(begin);
            assert_eq!(story.passes_over(3, 0), expected);
            story.meta(3, 0, &thread());
            assert!(!story.passes_over(3, 0));
            assert_eq!(story.passes_over(4, 0), expected);
        }
    }

    #[test]
    fn subject_is_of_its_process_and_kind() {
        let mut story = Story::default();
        story.meta(0, 0, &subject(5, true));
        story.meta(1, 1, &subject(5, false));
        assert!(!story.passes_over(1, SETUP));
        let group = Subject { id: 5, kind: SubjectKind::Group, made: 0 };
        story.meta(0, 0, &Meta::Subject(group));
        assert!(!story.passes_over(0, SETUP));
    }
}

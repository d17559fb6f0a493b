//! Finds the records of a stream that repeat what the reader already has: a capture with keyframes describes the same
//! objects again and again, and a file may begin at any keyframe. A file that begins at a keyframe skips a thread's
//! records before its THREAD or GAP. Remembers up to 1,048,576 subjects (`SUBJECTS_MAX`); further ones are described
//! again.
//!
//! Looks at records, not at arguments. Holds at most one entry per context.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::meta::Meta;
use gapii_abi::atom::{SETUP, Subject, SubjectKind};

/// Most subjects that are remembered. Subjects beyond this limit are described again.
const SUBJECTS_MAX: usize = 1 << 20;

/// Where in its capture the reading begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Begin {
    /// At the beginning of the capture. A keyframe in it follows a gap, so objects that were known may have
    /// changed.
    #[default]
    Capture,
    /// At the beginning of a capture that was kept. Its keyframes repeat what exists.
    Kept,
    /// At a keyframe. The description there includes the effects of what a thread records before its
    /// THREAD.
    Keyframe,
    /// Anywhere else. All descriptions repeat what existed before.
    Middle,
}

/// The subjects and threads that have been described so far.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Story {
    begin: Begin,
    /// True for threads that have written a THREAD or a GAP, by thread index.
    introduced: Vec<bool>,
    /// Subjects that were described or made: process, kind and number.
    known: BTreeSet<(u32, u32, u64)>,
    /// Threads that are describing a known subject.
    repeating: BTreeSet<u32>,
}

impl Story {
    /// Makes a story that begins at `begin`.
    pub fn new(begin: Begin) -> Self {
        Self { begin, ..Self::default() }
    }

    /// Takes note of a record that is not a command.
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

    /// Returns true if a reader skips a command record of this thread with these flags.
    #[inline]
    pub fn passes_over(&self, thread: u32, flags: u16) -> bool {
        if flags & SETUP != 0 && !self.repeating.is_empty() && self.repeating.contains(&thread) {
            return true;
        }
        self.begin == Begin::Keyframe && !self.is_introduced(thread)
    }

    /// Returns true if the thread has written a THREAD or a GAP since a beginning at a keyframe.
    pub fn is_introduced(&self, thread: u32) -> bool {
        self.introduced.get(thread as usize).copied().unwrap_or(false)
    }

    /// Returns true if records of a thread before its THREAD are skipped.
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
        // The reader skips what this thread describes: it is still describing for the keyframe before. Another
        // description of the subject follows, for the keyframe at which the reading begins.
        if self.begin == Begin::Keyframe && !self.is_introduced(thread) {
            return;
        }
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

    const KEYFRAME: Meta<'_> = Meta::Keyframe(Keyframe { frame: 9, at_ns: 0 });
    const SNAPSHOT: Meta<'_> = Meta::Snapshot(Snapshot { missing: &[], held_us: 0 });

    fn thread() -> Meta<'static> {
        Meta::Thread(Thread { tid: 1, flags: 0, name: [0; 16] })
    }

    fn subject(id: u64, is_made: bool) -> Meta<'static> {
        Meta::Subject(Subject { id, kind: SubjectKind::Context, made: is_made.into() })
    }

    /// Checks whether the description of a context is skipped after the records `before`.
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
        check(Begin::Keyframe, &[subject(5, false), SNAPSHOT, thread()], false);
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

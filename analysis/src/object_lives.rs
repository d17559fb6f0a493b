//! `ObjectLives`: the objects of a program, each with when it was made and deleted, how often it was changed, and the bytes
//! that were uploaded into it. Objects come from the state that follows the commands (`gapii_state::touched`): those of EGL and
//! OpenGL. Level Zero's are not listed. Two contexts with the same handle, one after the other, count as one.
//!
//! An object is passed on when it loses its name, so that a program that makes and deletes objects all the time takes no
//! memory. At most 1,048,576 objects live at a time (`LIVE_MAX`); others are counted and left out.

use gapii_follow::Thread;
use gapii_follow::generated::describe::KINDS;
use gapii_follow::value::{Kind, Owner};
use gapii_state::touched::{Touch, Touched};
use gapii_trace::Command;

use crate::digest::Map;
use crate::history::{bound, owner_of};
use crate::stats::uploaded_bytes;

/// Most objects that live at a time.
const LIVE_MAX: usize = 1 << 20;

/// An object of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObjectLife {
    /// Kind of object, such as `Texture`.
    pub kind: &'static str,
    /// Its name, or its handle.
    pub name: u64,
    /// Index of its process in the trace.
    pub process: u32,
    /// Handle of the context in which it was first seen; `None` for an object that belongs to no context.
    pub context: Option<u64>,
    /// When it was made; `None` if the trace does not have the command.
    pub made: Option<Moment>,
    /// Whether it was made by a snapshot: it is older than the trace.
    pub is_setup: bool,
    /// When it lost its name; `None` if it has it at the end.
    pub deleted: Option<Moment>,
    /// Commands of the program that changed its state, perhaps to the same values.
    pub changes: u64,
    /// Commands of the program that uploaded bytes into it.
    pub uploads: u64,
    /// Bytes of these.
    pub uploaded_bytes: u64,
    /// Frame of the last command that changed or filled it.
    pub last_frame: u64,
}

/// A command, and its frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment {
    /// Number of the command; `None` if it took no effect.
    pub seq: Option<u64>,
    /// Number of its frame.
    pub frame: u64,
}

/// Index of the process, kind, owner, serial, name.
type Key = (u32, &'static str, u64, u32, u64);

/// Collects the lives of objects.
#[derive(Default)]
pub struct ObjectLives {
    live: Map<Key, ObjectLife>,
    left_out: u64,
}

impl ObjectLives {
    /// Notes what a command has done: `thread` is the state of its thread, behind the command, and `touched` the objects that it
    /// touched there. Passes on the objects that have lost their names.
    pub fn note(
        &mut self,
        command: &Command<'_>,
        thread: Option<&Thread>,
        touched: &[Touched],
        mut pass_on: impl FnMut(ObjectLife),
    ) {
        let Some(thread) = thread else { return };
        let moment = Moment { seq: command.seq, frame: command.frame };
        let by_program = u64::from(!command.is_setup);
        // A command changes an object once, whatever it assigns.
        let mut changed: Option<Key> = None;
        for it in touched {
            let Some((key, life)) = self.life(command, thread, (it.kind, it.name, it.serial))
            else {
                continue;
            };
            life.last_frame = command.frame;
            match it.touch {
                Touch::Made => {
                    (life.made, life.is_setup) = (Some(moment), command.is_setup);
                }
                Touch::Changed => {
                    life.changes += if changed == Some(key) { 0 } else { by_program };
                    changed = Some(key);
                }
                Touch::Deleted => {
                    if let Some(mut life) = self.live.remove(&key) {
                        life.deleted = Some(moment);
                        pass_on(life);
                    }
                }
            }
        }
        let bytes = if command.is_setup { 0 } else { uploaded_bytes(command) };
        if bytes > 0
            && let Some(bound) = bound::filled(command, thread)
            && let Some((_, life)) =
                self.life(command, thread, (bound.kind, bound.name, bound.serial))
        {
            life.uploads += 1;
            life.uploaded_bytes = life.uploaded_bytes.saturating_add(bytes);
            life.last_frame = command.frame;
        }
    }

    /// Passes on the objects that have names at the end, in the order in which they were made, and returns how many objects were
    /// left out.
    pub fn finish(self, pass_on: impl FnMut(ObjectLife)) -> u64 {
        let mut all: Vec<_> = self.live.into_values().collect();
        all.sort_by_key(|life| {
            (life.process, life.made.map(|made| (made.frame, made.seq)), life.kind, life.name)
        });
        all.into_iter().for_each(pass_on);
        self.left_out
    }

    /// Returns an object, a new one at its first command; `None` if too many live.
    fn life(
        &mut self,
        command: &Command<'_>,
        thread: &Thread,
        (kind, name, serial): (&str, u64, u32),
    ) -> Option<(Key, &mut ObjectLife)> {
        let kind = kind_named(kind)?;
        let key = (command.process, kind.name, owner_of(*kind, thread), serial, name);
        if self.live.len() >= LIVE_MAX && !self.live.contains_key(&key) {
            self.left_out += 1;
            return None;
        }
        let context = match kind.owner {
            Owner::Process => None,
            Owner::ShareGroup | Owner::Context => thread.context.as_deref().map(|it| it.handle),
        };
        let life = self.live.entry(key).or_insert(ObjectLife {
            kind: kind.name,
            name,
            process: command.process,
            context,
            made: None,
            is_setup: false,
            deleted: None,
            changes: 0,
            uploads: 0,
            uploaded_bytes: 0,
            last_frame: command.frame,
        });
        Some((key, life))
    }
}

/// Returns the kind of object with this name. The list is short, and most names are the same piece of memory.
fn kind_named(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| std::ptr::eq(kind.name, name) || kind.name == name)
}

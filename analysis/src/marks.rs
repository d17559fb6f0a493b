//! Commands with which a program says what it does: debug groups and markers. A text is cut after 200 characters.
//!
//! Which commands they are is said by roles of the descriptions (`apis/gles/roles.api`).

use gapii_trace::Command;
use gapii_trace::description::Kind;

use crate::role::Role;

/// Most characters of a text.
const TEXT_MAX: usize = 200;
const MARKS: u64 = Role::Marks.bit() | Role::BeginsGroup.bit() | Role::EndsGroup.bit();

/// What a command marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marked {
    /// A moment.
    Moment,
    /// The begin of a group of commands.
    Begin,
    /// The end of the group that began last.
    End,
}

/// Returns what the command marks; `None` for most commands, and for those of a snapshot.
#[inline]
pub fn marked(command: &Command<'_>) -> Option<Marked> {
    let known = command.known();
    if !Role::is_any_of(MARKS, known) || command.is_setup {
        return None;
    }
    Some(if Role::BeginsGroup.is_of(known) {
        Marked::Begin
    } else if Role::EndsGroup.is_of(known) {
        Marked::End
    } else {
        Marked::Moment
    })
}

/// Returns the text that a command passes first; empty without one.
pub fn text_of(command: &Command<'_>) -> String {
    let text = command.args().find(|arg| arg.param.ty.kind == Kind::String);
    let Some(bytes) = text.and_then(|arg| command.bytes_of(arg.observation)) else {
        return String::new();
    };
    let text = String::from_utf8_lossy(&bytes);
    text.trim_end_matches('\0').chars().take(TEXT_MAX).collect()
}

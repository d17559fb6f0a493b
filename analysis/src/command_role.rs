//! `CommandRole`: what a reader of a list of commands tells apart: draws, dispatches, and the commands with which a program says
//! what it does. Which commands they are is said by roles of the descriptions (`apis/*/roles.api`), so that a new API needs no
//! change in a reader.

use gapii_trace::Command;

use crate::role::Role;

/// The part that a command plays in its frame. Most commands play none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommandRole {
    /// It draws.
    Draw,
    /// It dispatches work.
    Dispatch,
    /// It begins a debug group.
    GroupBegin,
    /// It ends the debug group that its thread began last.
    GroupEnd,
    /// It marks a moment.
    Mark,
}

const ROLES: u64 = Role::Draw.bit()
    | Role::Dispatch.bit()
    | Role::BeginsGroup.bit()
    | Role::EndsGroup.bit()
    | Role::Marks.bit();

impl CommandRole {
    /// All roles.
    pub const ALL: [Self; 5] =
        [Self::Draw, Self::Dispatch, Self::GroupBegin, Self::GroupEnd, Self::Mark];

    /// Returns the role of a command.
    #[inline]
    pub fn of(command: &Command<'_>) -> Option<Self> {
        let known = command.known();
        if !Role::is_any_of(ROLES, known) {
            return None;
        }
        Self::ALL.into_iter().find(|role| role.described().is_of(known))
    }

    /// Returns the word for it, such as `group-begin`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Draw => "draw",
            Self::Dispatch => "dispatch",
            Self::GroupBegin => "group-begin",
            Self::GroupEnd => "group-end",
            Self::Mark => "mark",
        }
    }

    /// Returns the role that a word stands for.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.word() == word)
    }

    /// Whether a command of this role can have a text of the program.
    pub const fn has_text(self) -> bool {
        matches!(self, Self::GroupBegin | Self::Mark)
    }

    const fn described(self) -> Role {
        match self {
            Self::Draw => Role::Draw,
            Self::Dispatch => Role::Dispatch,
            Self::GroupBegin => Role::BeginsGroup,
            Self::GroupEnd => Role::EndsGroup,
            Self::Mark => Role::Marks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_one_role_each() {
        for role in CommandRole::ALL {
            assert_eq!(CommandRole::named(role.word()), Some(role));
        }
        assert_eq!(CommandRole::named("begin"), None);
    }
}

//! Hooks of the commands that begin and end the compilation of a display list.

#![expect(non_snake_case, reason = "named like the commands")]

use super::Scope;
use crate::lists;

/// Begins to keep the list's commands.
pub fn glNewList(_scope: &Scope, _list: u32, _mode: u32) {
    lists::begin_list();
}

/// Files the list's commands.
pub fn glEndList(_scope: &Scope) {
    lists::end_list();
}

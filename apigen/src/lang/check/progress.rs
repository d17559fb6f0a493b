//! Functions and procedures as far as they have been checked.

use super::super::ast::{self, Item, ItemKind};
use super::super::typed::Type;

/// How far the checking of a function is.
#[derive(Clone, Copy)]
pub(super) enum Progress<'a> {
    Declared(&'a Item),
    /// What it calls comes first.
    Begun(&'a Item),
    Done,
    /// Its mistakes have been reported; whoever calls it is left alone.
    Failed,
}

/// A procedure, as an index into the checker's list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ProcedureId(pub usize);

/// A procedure as it is declared, and how far its check has come.
pub(super) struct Procedure<'a> {
    pub item: &'a Item,
    /// Names and types of the parameters; [`Type::None`] where the type has a mistake.
    pub params: Vec<(&'a ast::Name, Type)>,
    pub progress: ProcedureProgress,
    /// Whether it writes memory or ends a frame, which only the part behind the fence can do.
    pub is_behind_fence: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ProcedureProgress {
    Declared,
    /// A procedure that it calls is being checked.
    Begun,
    Done,
    /// Its mistakes have been reported, and its calls are skipped.
    Failed,
}

impl<'a> Procedure<'a> {
    pub fn new(item: &'a Item) -> Self {
        let progress = ProcedureProgress::Declared;
        Self { item, params: Vec::new(), progress, is_behind_fence: false }
    }

    pub fn name(&self) -> &'a ast::Name {
        match &self.item.kind {
            ItemKind::Procedure { name, .. } => name,
            _ => unreachable!("only procedures are declared as procedures"),
        }
    }

    pub fn body(&self) -> &'a ast::Block {
        match &self.item.kind {
            ItemKind::Procedure { body, .. } => body,
            _ => unreachable!("only procedures are declared as procedures"),
        }
    }
}

//! Progress of the checks of functions and procedures.

use super::super::ast::{self, Item, ItemKind};
use super::super::typed::Type;

/// Progress of the check of a function.
#[derive(Clone, Copy)]
pub(super) enum Progress<'a> {
    Declared(&'a Item),
    /// The functions that it calls are being checked.
    Begun(&'a Item),
    Done,
    /// Its mistakes have been reported. Its callers get no further mistakes for calling it.
    Failed,
}

/// A procedure, as an index into the checker's list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ProcedureId(pub usize);

/// A declared procedure and the progress of its check.
pub(super) struct Procedure<'a> {
    pub item: &'a Item,
    /// Names and types of the parameters; [`Type::None`] where the type has a mistake.
    pub params: Vec<(&'a ast::Name, Type)>,
    pub progress: ProcedureProgress,
    /// Whether it contains `write` or `frame`, which are allowed behind the fence only.
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

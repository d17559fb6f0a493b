//! Names that the generated code of `state` uses itself: types (`TYPES`) and fields of a scope. A declaration with such
//! a name is a mistake.

use super::super::ast::{Item, ItemKind, Name};
use super::super::diagnostic::Diagnostic;
use super::super::typed::Scope;
use super::checker::Checker;
use super::names::scope;
use crate::naming;

/// Types in scope of the generated code.
const TYPES: &[&str] = &[
    "Arc",
    "AtomicU64",
    "BTreeMap",
    "Box",
    "Caches",
    "Context",
    "Default",
    "Err",
    "Extensions",
    "Group",
    "GroupState",
    "NameCache",
    "None",
    "Objects",
    "Ok",
    "Option",
    "Process",
    "ProcessState",
    "Ref",
    "Self",
    "Some",
    "String",
    "Thread",
    "Vec",
];

/// Built-in fields of the state of a scope.
fn fields_of(scope: Scope) -> &'static [&'static str] {
    match scope {
        Scope::Context => &["api", "caches", "extensions", "group", "handle", "version"],
        Scope::Thread => &["context", "id", "process"],
        Scope::ShareGroup | Scope::Process => &[],
    }
}

impl Checker<'_> {
    /// Reports declarations with a reserved name. All items must have been declared.
    pub(super) fn refuse_reserved_names(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Object { name, .. }
            | ItemKind::Struct { name, .. }
            | ItemKind::Enum { name, .. }
                if TYPES.contains(&name.text.as_str()) =>
            {
                self.refuse_reserved(name, "a type of the generated code has this name");
            }
            ItemKind::State { scope: word, fields } => {
                let Some(scope) = scope(&word.text) else { return };
                for field in fields {
                    self.refuse_reserved_field(scope, &field.name);
                }
            }
            _ => {}
        }
    }

    fn refuse_reserved_field(&mut self, scope: Scope, name: &Name) {
        if fields_of(scope).contains(&name.text.as_str()) {
            self.refuse_reserved(name, "the generated state has a field of this name");
        }
        let objects = self.program.objects.iter().filter(|object| object.scope == scope);
        let same = objects.into_iter().find(|object| naming::table(&object.name) == name.text);
        if let Some(object) = same {
            let help =
                format!("all objects of the kind {} are in a field of this name", object.name);
            self.refuse_reserved(name, &help);
        }
    }

    fn refuse_reserved(&mut self, name: &Name, help: &str) {
        let message = format!("`{}` is taken", name.text);
        self.report(Diagnostic::at(name.span, message).help(help));
    }
}

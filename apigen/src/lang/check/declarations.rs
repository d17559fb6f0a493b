//! Declares all items before their contents are checked, so that the order of declarations does not matter. A reserved
//! word (`RESERVED`) and a name that is declared twice are mistakes; then the first declaration holds.

use std::collections::BTreeSet;

use super::super::ast::{self, Item, ItemKind};
use super::super::diagnostic::Diagnostic;
use super::super::typed::{
    Enum, EnumId, Extern, ExternId, ExternKind, Function, FunctionId, Layout, LayoutId, Object,
    ObjectId, Scope, Sizes, SizesId, Struct, StructId,
};
use super::checker::Checker;
use super::items::placeholder;
use super::names::{Declared, did_you_mean, scope};
use super::progress::{Procedure, ProcedureId, Progress};

/// Words that can't be names of declarations: in an expression they have another meaning.
const RESERVED: &[&str] = &[
    "address",
    "attribute",
    "bytes",
    "context",
    "desktop",
    "extension",
    "false",
    "fixed_function",
    "float",
    "if",
    "int",
    "is_null",
    "match",
    "max",
    "min",
    "none",
    "process",
    "result",
    "share_group",
    "strings",
    "text",
    "text_of",
    "thread",
    "true",
    "version",
];

impl<'a> Checker<'a> {
    /// Declares a named item: registers its name and adds an empty entry to the program.
    pub(super) fn declare(&mut self, api: &str, item: &'a Item) {
        let allowed: &[&str] = match &item.kind {
            ItemKind::Object { .. } => &["tracked"],
            ItemKind::Extern { .. } => &["tools"],
            ItemKind::Command { .. } => &[
                "effect", "hook", "frame", "consumes", "draws", "replay", "offset", "array",
                "nullable",
            ],
            _ => &[],
        };
        self.allow_attributes(&item.attributes, allowed);
        if let ItemKind::State { scope, fields } = &item.kind {
            self.state_names(api, scope, fields);
        }
        if let Some((name, declared)) = self.place(api, item) {
            self.give_name(name, declared);
        }
    }

    /// Adds an empty entry to the program for the declaration `item`.
    fn place(&mut self, api: &str, item: &'a Item) -> Option<(&'a ast::Name, Declared)> {
        Some(match &item.kind {
            ItemKind::Object { name, scope, by_handle, .. } => {
                let scope = self.scope_of_objects(scope);
                (name, Declared::Object(self.new_object(api, item, name, scope, *by_handle)))
            }
            ItemKind::Struct { name, .. } => {
                (name, Declared::Struct(self.new_struct(api, item, name)))
            }
            ItemKind::Enum { name, variants } => {
                (name, Declared::Enum(self.new_enum(api, item, name, variants)))
            }
            ItemKind::Layout { name, .. } => {
                (name, Declared::Layout(self.new_layout(api, item, name)))
            }
            ItemKind::Sizes { name, .. } => {
                (name, Declared::Sizes(self.new_sizes(api, item, name)))
            }
            ItemKind::Function { name, .. } => {
                let id = FunctionId(self.program.functions.len());
                let (docs, api) = (item.docs.clone(), api.to_owned());
                let function = Function::placeholder(&name.text, docs, api, item.span);
                self.program.functions.push(function);
                self.functions.push(Progress::Declared(item));
                (name, Declared::Function(id))
            }
            ItemKind::Procedure { name, .. } => {
                self.procedures.push(Procedure::new(item));
                (name, Declared::Procedure(ProcedureId(self.procedures.len() - 1)))
            }
            ItemKind::Extern { name, .. } => {
                (name, Declared::Extern(self.new_extern(api, item, name)))
            }
            ItemKind::State { .. }
            | ItemKind::Group { .. }
            | ItemKind::Class { .. }
            | ItemKind::Prefer { .. }
            | ItemKind::Play { .. }
            | ItemKind::Role { .. }
            | ItemKind::Reach { .. }
            | ItemKind::Refuse { .. }
            | ItemKind::Asked { .. }
            | ItemKind::Answers { .. }
            | ItemKind::Command { .. } => return None,
        })
    }

    fn scope_of_objects(&mut self, word: &ast::Name) -> Scope {
        let scope = scope(&word.text).filter(|scope| *scope != Scope::Thread);
        if scope.is_none() {
            let message = "objects live in a `context`, a `share_group` or a `process`";
            self.mistake(word.span, message);
        }
        scope.unwrap_or(Scope::Context)
    }

    fn new_object(
        &mut self,
        api: &str,
        item: &Item,
        name: &ast::Name,
        scope: Scope,
        by_handle: bool,
    ) -> ObjectId {
        let tracked = self.has_word(&item.attributes, "tracked");
        let objects = &mut self.program.objects;
        objects.push(Object {
            name: name.text.clone(),
            docs: item.docs.clone(),
            api: api.to_owned(),
            scope,
            by_handle,
            tracked,
            fields: Vec::new(),
            span: item.span,
        });
        ObjectId(objects.len() - 1)
    }

    fn new_struct(&mut self, api: &str, item: &Item, name: &ast::Name) -> StructId {
        let structs = &mut self.program.structs;
        structs.push(Struct {
            name: name.text.clone(),
            docs: item.docs.clone(),
            api: api.to_owned(),
            tracked: false,
            fields: Vec::new(),
            span: item.span,
        });
        StructId(structs.len() - 1)
    }

    fn new_enum(
        &mut self,
        api: &str,
        item: &Item,
        name: &ast::Name,
        variants: &[ast::Name],
    ) -> EnumId {
        self.refuse_second_names(variants, "variant");
        if variants.is_empty() {
            self.mistake(name.span, "an enum needs at least one variant");
        }
        let enums = &mut self.program.enums;
        enums.push(Enum {
            name: name.text.clone(),
            docs: item.docs.clone(),
            api: api.to_owned(),
            variants: variants.iter().map(|variant| variant.text.clone()).collect(),
            span: item.span,
        });
        EnumId(enums.len() - 1)
    }

    fn new_layout(&mut self, api: &str, item: &Item, name: &ast::Name) -> LayoutId {
        let layouts = &mut self.program.layouts;
        layouts.push(Layout {
            name: name.text.clone(),
            docs: item.docs.clone(),
            api: api.to_owned(),
            size: 0,
            align: 1,
            stype: None,
            fields: Vec::new(),
            span: item.span,
        });
        LayoutId(layouts.len() - 1)
    }

    fn new_sizes(&mut self, api: &str, item: &Item, name: &ast::Name) -> SizesId {
        let sizes = &mut self.program.sizes;
        sizes.push(Sizes {
            name: name.text.clone(),
            docs: item.docs.clone(),
            api: api.to_owned(),
            default: 0,
            cases: Vec::new(),
            span: item.span,
        });
        SizesId(sizes.len() - 1)
    }

    fn new_extern(&mut self, api: &str, item: &Item, name: &ast::Name) -> ExternId {
        let externs = &mut self.program.externs;
        externs.push(Extern {
            name: name.text.clone(),
            docs: item.docs.clone(),
            api: api.to_owned(),
            kind: ExternKind::Function,
            params: Vec::new(),
            result: None,
            tools_only: false,
            span: item.span,
        });
        ExternId(externs.len() - 1)
    }

    /// Merges state blocks of a scope. Declares their fields, whose types are checked later.
    fn state_names(&mut self, api: &str, word: &ast::Name, fields: &[ast::Field]) {
        let Some(scope) = scope(&word.text) else {
            let message = format!("no state `{}`", word.text);
            let help = "states are `context`, `share_group`, `thread` and `process`";
            self.report(Diagnostic::at(word.span, message).help(help));
            return;
        };
        for field in fields {
            let all = &mut self.program.states[scope as usize].fields;
            if let Some(first) = all.iter().find(|known| known.name == field.name.text) {
                let message = format!("`{}.{}` is declared twice", word.text, field.name.text);
                let diagnostic = Diagnostic::at(field.name.span, message)
                    .label("here again")
                    .also(first.span, "declared here");
                self.report(diagnostic);
                continue;
            }
            all.push(placeholder(api, field));
        }
    }

    pub(super) fn refuse_second_names(&mut self, names: &[ast::Name], what: &str) {
        let mut seen = BTreeSet::new();
        for name in names {
            if !seen.insert(name.text.as_str()) {
                self.mistake(name.span, format!("the {what} `{}` is repeated", name.text));
            }
        }
    }
}

impl Checker<'_> {
    /// Registers an item's name; reports a mistake if the name is reserved or declared already.
    pub(super) fn give_name(&mut self, name: &ast::Name, declared: Declared) {
        if RESERVED.contains(&name.text.as_str()) {
            let message = format!("`{}` is a reserved word", name.text);
            self.mistake(name.span, message);
        }
        if let Some((_, first)) = self.names.declared.get(&name.text) {
            let diagnostic =
                Diagnostic::at(name.span, format!("`{}` is declared twice", name.text))
                    .label("here again")
                    .also(*first, "declared here");
            self.report(diagnostic);
            return;
        }
        self.names.declared.insert(name.text.clone(), (declared, name.span));
    }

    /// The value of an enumerant; reports a mistake if it does not exist.
    pub(super) fn enumerant(&mut self, name: &ast::Name) -> Option<i64> {
        let found = self.names.constant(&name.text);
        if found.is_none() {
            let like = self.names.like_constant(&name.text).map(did_you_mean);
            let mistake = Diagnostic::at(name.span, format!("no enumerant `{}`", name.text));
            self.report(Diagnostic { help: like, ..mistake });
        }
        found
    }
}

//! Checks the contents of declarations: fields, size tables, signatures. Determines which of them the shim keeps. A
//! field that refers to an object which may end before the field does is a mistake, and so is a struct that contains
//! itself.

use std::collections::BTreeSet;

use super::super::ast::{self, Initial, Item, ItemKind};
use super::super::diagnostic::Diagnostic;
use super::super::source::Span;
use super::super::typed::{
    Expr, ExternKind, Field, Local, ObjectId, Scope, SizesCase, StructId, Type,
};
use super::body::Body;
use super::checker::Checker;
use super::names::{Declared, scope};

impl<'a> Checker<'a> {
    /// Types and attributes of the fields of states, objects and structs.
    pub(super) fn fields(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::State { scope: word, fields } => {
                let Some(scope) = scope(&word.text) else { return };
                for field in fields {
                    let typed = self.field("", field, &["tracked", "ask", "group"]);
                    let all = &mut self.program.states[scope as usize].fields;
                    let place = all.iter_mut().find(|known| known.span == field.name.span);
                    if let (Some(typed), Some(place)) = (typed, place) {
                        *place = Field { api: std::mem::take(&mut place.api), ..typed };
                    }
                }
            }
            ItemKind::Object { name, fields, .. } => {
                let Some(Declared::Object(id)) = self.declared_here(name, item) else { return };
                for field in fields.iter().filter(|field| field.name.text == "name") {
                    self.mistake(field.name.span, "every object has a built-in field `name`");
                }
                let api = self.program[id].api.clone();
                let typed = self.field_list(&api, fields, &["tracked", "ask", "group"]);
                self.program.objects[id.0].fields = typed;
            }
            ItemKind::Struct { name, fields } => {
                let Some(Declared::Struct(id)) = self.declared_here(name, item) else { return };
                let api = self.program[id].api.clone();
                let typed = self.field_list(&api, fields, &["ask", "group"]);
                self.program.structs[id.0].fields = typed;
            }
            _ => {}
        }
    }

    /// The declaration of `item`; `None` if another item has its name.
    pub(super) fn declared_here(&self, name: &ast::Name, item: &Item) -> Option<Declared> {
        let declared = self.names.declared(&name.text)?;
        let program = &self.program;
        let span = match declared {
            Declared::Object(id) => program[id].span,
            Declared::Struct(id) => program[id].span,
            Declared::Enum(id) => program[id].span,
            Declared::Layout(id) => program[id].span,
            Declared::Sizes(id) => program[id].span,
            Declared::Function(id) => program[id].span,
            Declared::Extern(id) => program[id].span,
            Declared::Procedure(id) => self.procedures[id.0].item.span,
        };
        (span == item.span).then_some(declared)
    }

    fn field_list(&mut self, api: &str, fields: &[ast::Field], allowed: &[&str]) -> Vec<Field> {
        let names: Vec<_> = fields.iter().map(|field| field.name.clone()).collect();
        self.refuse_second_names(&names, "field");
        fields.iter().filter_map(|field| self.field(api, field, allowed)).collect()
    }

    fn field(&mut self, api: &str, field: &ast::Field, allowed: &[&str]) -> Option<Field> {
        self.allow_attributes(&field.attributes, allowed);
        let tracked = self.has_word(&field.attributes, "tracked");
        let group = self.group_of_field(&field.attributes);
        let ask = self.ask(&field.attributes);
        let ty = self.ty(&field.ty)?;
        Some(Field { ty, tracked, group, ask, ..placeholder(api, field) })
    }

    /// Reports references to objects whose scope ends before that of the field.
    pub(super) fn check_lifetimes(&mut self) {
        let mut mistakes = Vec::new();
        let scopes = [Scope::Context, Scope::ShareGroup, Scope::Thread, Scope::Process];
        let states = scopes.into_iter().map(|scope| (scope, &self.program[scope].fields));
        let objects = self.program.objects.iter().map(|object| (object.scope, &object.fields));
        for (scope, fields) in states.chain(objects) {
            for field in fields {
                let found = self.refs_in(&field.ty);
                let short =
                    found.into_iter().map(|id| &self.program[id]).find(|object| match scope {
                        Scope::Context | Scope::Thread => false,
                        Scope::ShareGroup => object.scope == Scope::Context,
                        Scope::Process => object.scope != Scope::Process,
                    });
                if let Some(object) = short {
                    let message =
                        format!("this field outlives a {} that it refers to", object.name);
                    let help = "keep the object's name instead";
                    mistakes.push(Diagnostic::at(field.span, message).help(help));
                }
            }
        }
        self.sink.extend(mistakes);
    }

    /// Object kinds that a value of the type may refer to, directly or through structs.
    fn refs_in(&self, ty: &Type) -> Vec<ObjectId> {
        let mut found = objects_in(ty);
        let mut seen = BTreeSet::new();
        let mut todo = structs_in(ty);
        while let Some(id) = todo.pop() {
            if seen.insert(id) {
                for field in &self.program[id].fields {
                    found.extend(objects_in(&field.ty));
                    todo.extend(structs_in(&field.ty));
                }
            }
        }
        found
    }

    /// Reports structs that contain themselves.
    pub(super) fn refuse_endless_structs(&mut self) {
        for at in 0..self.program.structs.len() {
            let mut seen = BTreeSet::new();
            let mut todo = vec![StructId(at)];
            while let Some(id) = todo.pop() {
                let fields = self.program[id].fields.iter();
                let inner: Vec<_> = fields.flat_map(|field| structs_in(&field.ty)).collect();
                if inner.contains(&StructId(at)) {
                    let span = self.program.structs[at].span;
                    let message = format!("`{}` contains itself", self.program.structs[at].name);
                    self.mistake(span, message);
                    // Without fields, later walks over the struct end.
                    self.program.structs[at].fields.clear();
                    break;
                }
                todo.extend(inner.into_iter().filter(|id| seen.insert(*id)));
            }
        }
    }

    /// Marks object kinds as tracked that have a tracked field or that a tracked field refers to.
    pub(super) fn track(&mut self) {
        for object in &mut self.program.objects {
            object.tracked |= object.fields.iter().any(|field| field.tracked);
        }
        let mut todo: Vec<Type> = Vec::new();
        let states = self.program.states.iter().flat_map(|state| &state.fields);
        let objects = self.program.objects.iter().flat_map(|object| &object.fields);
        for field in states.chain(objects).filter(|field| field.tracked) {
            todo.push(field.ty.clone());
        }
        let mut seen = BTreeSet::new();
        while let Some(ty) = todo.pop() {
            for id in objects_in(&ty) {
                self.program.objects[id.0].tracked = true;
            }
            for id in structs_in(&ty).into_iter().filter(|id| seen.insert(*id)) {
                self.program.structs[id.0].tracked = true;
                todo.extend(self.program[id].fields.iter().map(|field| field.ty.clone()));
            }
        }
    }

    /// Marks structs as tracked that functions of the shim use. All fields of a tracked struct are tracked.
    pub(super) fn track_structs(&mut self) {
        let functions = self.program.functions.iter().filter(|function| !function.tools_only);
        let mut todo: Vec<Type> = functions
            .flat_map(|function| {
                function.locals.iter().map(|local| &local.ty).chain([&function.result])
            })
            .cloned()
            .collect();
        let externs = self.program.externs.iter().filter(|function| !function.tools_only);
        todo.extend(externs.flat_map(|function| {
            function.params.iter().map(|(_, ty)| ty).chain(&function.result).cloned()
        }));
        let mut seen = BTreeSet::new();
        while let Some(ty) = todo.pop() {
            for id in structs_in(&ty).into_iter().filter(|id| seen.insert(*id)) {
                self.program.structs[id.0].tracked = true;
                todo.extend(self.program[id].fields.iter().map(|field| field.ty.clone()));
            }
        }
        for item in &mut self.program.structs {
            for field in &mut item.fields {
                field.tracked = item.tracked;
            }
        }
    }

    /// Checks the defaults of fields: constants.
    pub(super) fn defaults(&mut self, item: &Item) {
        let fields = match &item.kind {
            ItemKind::State { fields, .. }
            | ItemKind::Object { fields, .. }
            | ItemKind::Struct { fields, .. } => fields,
            _ => return,
        };
        for field in fields {
            let Some(written) = &field.default else { continue };
            let Some(ty) = self.field_at(field.name.span).map(|field| field.ty.clone()) else {
                continue;
            };
            let value = self.initial(written, &ty, field.name.span);
            if let Some(place) = self.field_at(field.name.span) {
                place.default = value;
            }
        }
    }

    fn initial(
        &mut self,
        written: &Initial<ast::Expr>,
        ty: &Type,
        span: Span,
    ) -> Option<Initial<Expr>> {
        let elements = match written {
            Initial::Value(value) => {
                return Body::constant(self).check(value, ty).map(Initial::Value);
            }
            Initial::Elements(elements) => elements,
        };
        let Type::Array(element, len) = ty else {
            self.mistake(span, "only an array begins with a list of values");
            return None;
        };
        if elements.len() as u64 != *len {
            let found = elements.len();
            self.mistake(span, format!("the array has {len} elements, and {found} values"));
            return None;
        }
        let values = elements.iter().map(|value| Body::constant(self).check(value, element));
        values.collect::<Option<_>>().map(Initial::Elements)
    }

    fn field_at(&mut self, span: Span) -> Option<&mut Field> {
        let program = &mut self.program;
        let states = program.states.iter_mut().flat_map(|state| &mut state.fields);
        let objects = program.objects.iter_mut().flat_map(|object| &mut object.fields);
        let structs = program.structs.iter_mut().flat_map(|item| &mut item.fields);
        states.chain(objects).chain(structs).find(|field| field.span == span)
    }

    pub(super) fn sizes(&mut self, item: &Item) {
        let ItemKind::Sizes { name, cases, default } = &item.kind else { return };
        let Some(Declared::Sizes(id)) = self.declared_here(name, item) else { return };
        let mut seen = BTreeSet::new();
        let mut typed = Vec::new();
        for case in cases {
            let mut enumerants = Vec::new();
            for name in &case.enumerants {
                let Some(value) = self.enumerant(name) else { continue };
                if !seen.insert(value) {
                    let message = format!("the value of `{}` has a case already", name.text);
                    self.mistake(name.span, message);
                }
                enumerants.push((name.text.clone(), value));
            }
            self.check_count(&case.elements);
            typed.push(SizesCase { elements: case.elements.value, enumerants });
        }
        match default {
            Some(default) => self.check_count(default),
            None => {
                let help = "add `_ => 1`, or `_ => 0` for unknown values";
                let message = "the table has no `_`";
                self.report(Diagnostic::at(name.span, message).help(help));
            }
        }
        let sizes = &mut self.program.sizes[id.0];
        sizes.cases = typed;
        sizes.default = default.as_ref().map_or(0, |default| default.value);
    }

    fn check_count(&mut self, count: &ast::Number) {
        if !(0..=i64::from(u16::MAX)).contains(&count.value) {
            self.mistake(count.span, format!("expected 0 to {} elements", u16::MAX));
        }
    }

    /// Checks parameters and results of functions, procedures and hand-written functions.
    pub(super) fn signature(&mut self, item: &'a Item) {
        match &item.kind {
            ItemKind::Function { name, params, result, .. } => {
                let Some(Declared::Function(id)) = self.declared_here(name, item) else { return };
                let names: Vec<_> = params.iter().map(|param| param.name.clone()).collect();
                self.refuse_second_names(&names, "parameter");
                let mut locals = Vec::new();
                for param in params {
                    let ty = self.ty(&param.ty).unwrap_or(Type::None);
                    locals.push(Local { name: param.name.text.clone(), ty, tools_only: false });
                }
                let result = result.as_ref().and_then(|result| self.ty(result));
                let function = &mut self.program.functions[id.0];
                function.params = locals.len();
                function.locals = locals;
                function.result = result.unwrap_or(Type::None);
            }
            ItemKind::Procedure { name, params, .. } => {
                let Some(Declared::Procedure(id)) = self.declared_here(name, item) else { return };
                let params = params
                    .iter()
                    .map(|param| (&param.name, self.ty(&param.ty).unwrap_or(Type::None)));
                let params = params.collect();
                self.procedures[id.0].params = params;
            }
            ItemKind::Extern { kind, name, params, result } => {
                let Some(Declared::Extern(id)) = self.declared_here(name, item) else { return };
                let tools_only = self.has_word(&item.attributes, "tools");
                let typed = match kind.text.as_str() {
                    "read" => ExternKind::Read,
                    "write" => ExternKind::Write,
                    "fn" => ExternKind::Function,
                    "update" => ExternKind::Update,
                    _ => {
                        let message = "expected `read`, `write`, `fn` or `update` behind `extern`";
                        self.mistake(kind.span, message);
                        return;
                    }
                };
                self.check_extern_result(name, typed, result.as_ref());
                let params = params.iter().map(|param| {
                    (param.name.text.clone(), self.ty(&param.ty).unwrap_or(Type::None))
                });
                let params = params.collect();
                let result = result.as_ref().and_then(|result| self.ty(result));
                let function = &mut self.program.externs[id.0];
                function.kind = typed;
                function.params = params;
                function.result = result;
                function.tools_only = tools_only;
            }
            _ => {}
        }
    }

    fn check_extern_result(
        &mut self,
        name: &ast::Name,
        kind: ExternKind,
        result: Option<&ast::Type>,
    ) {
        match (kind, result) {
            (ExternKind::Function, None) => {
                self.mistake(name.span, "an `extern fn` computes a value: say its type");
            }
            (ExternKind::Function, Some(_)) | (_, None) => {}
            (_, Some(result)) => self.mistake(result.span, "only an `extern fn` has a result"),
        }
    }
}

/// A field whose type has not been checked yet.
pub(super) fn placeholder(api: &str, field: &ast::Field) -> Field {
    Field {
        name: field.name.text.clone(),
        docs: field.docs.clone(),
        api: api.to_owned(),
        ty: Type::None,
        default: None,
        tracked: false,
        group: None,
        ask: None,
        span: field.name.span,
    }
}

/// The structs that a type contains directly.
pub(super) fn structs_in(ty: &Type) -> Vec<StructId> {
    match ty {
        Type::Struct(id) => vec![*id],
        Type::Array(inner, _) | Type::List(inner) | Type::Optional(inner) => structs_in(inner),
        Type::Map(key, value) => [structs_in(key), structs_in(value)].concat(),
        _ => Vec::new(),
    }
}

fn objects_in(ty: &Type) -> Vec<ObjectId> {
    match ty {
        Type::Ref(id) => vec![*id],
        Type::Array(inner, _) | Type::List(inner) | Type::Optional(inner) => objects_in(inner),
        Type::Map(key, value) => [objects_in(key), objects_in(value)].concat(),
        _ => Vec::new(),
    }
}

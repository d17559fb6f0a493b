//! Targets of assignments: fields of state, of objects and of structs, elements of arrays and lists, values of maps.
//! Variables and the program's memory can't be assigned to.

use super::super::ast;
use super::super::diagnostic::Diagnostic;
use super::super::typed::{Place, Root, Step, Type};
use super::body::Body;

impl Body<'_, '_> {
    /// The place that an expression names.
    pub fn place(&mut self, expr: &ast::Expr) -> Option<Place> {
        let place = match &expr.kind {
            ast::ExprKind::Member(base, member) => self.place_member(base, member)?,
            ast::ExprKind::Index(base, index) => self.place_index(base, index)?,
            ast::ExprKind::Name(name) if self.binding(name).is_some() => {
                let help = "variables are constant; state such as `context.…` can be changed";
                let mistake = Diagnostic::at(expr.span, format!("`{name}` can't be changed"));
                self.report(mistake.help(help));
                return None;
            }
            _ => {
                self.mistake(expr.span, "this can't be assigned to");
                return None;
            }
        };
        Some(Place { span: expr.span, ..place })
    }

    fn place_member(&mut self, base: &ast::Expr, member: &ast::Name) -> Option<Place> {
        let span = member.span;
        if let Some(scope) = self.state_named(base) {
            let field = self.state_field(scope, base, member)?;
            let known = &self.checker.program[scope].fields[field];
            let (ty, tracked) = (known.ty.clone(), known.tracked);
            let root = Root::State(scope, field);
            // A field whose declaration has a mistake.
            return (ty != Type::None).then_some(Place {
                root,
                steps: Vec::new(),
                ty,
                tracked,
                span,
            });
        }
        let owner = self.infer(base)?;
        match owner.ty.clone() {
            Type::Ref(id) => {
                let fields = &self.checker.program[id].fields;
                let Some(field) = fields.iter().position(|field| field.name == member.text) else {
                    let names: Vec<_> = fields.iter().map(|field| field.name.clone()).collect();
                    return self.no_field(&owner.ty, &names, member);
                };
                let (ty, tracked) = (fields[field].ty.clone(), fields[field].tracked);
                let root = Root::Object(id, Box::new(owner), field);
                Some(Place { root, steps: Vec::new(), ty, tracked, span })
            }
            Type::Struct(id) => {
                let mut place = self.place(base)?;
                let fields = &self.checker.program[id].fields;
                let Some(field) = fields.iter().position(|field| field.name == member.text) else {
                    let names: Vec<_> = fields.iter().map(|field| field.name.clone()).collect();
                    return self.no_field(&owner.ty, &names, member);
                };
                place.ty = fields[field].ty.clone();
                place.steps.push(Step::Field(id, field));
                Some(place)
            }
            other => self.no_field(&other, &[], member),
        }
    }

    fn place_index(&mut self, base: &ast::Expr, index: &ast::Expr) -> Option<Place> {
        if self.pointer_named(base).is_some() {
            self.mistake(base.span, "the program's memory can't be assigned to");
            return None;
        }
        let mut place = self.place(base)?;
        match place.ty.clone() {
            Type::Array(element, _) | Type::List(element) => {
                place.steps.push(Step::Index(self.integer(index)?));
                place.ty = *element;
            }
            Type::Map(key, value) => {
                place.steps.push(Step::Key(self.check(index, &key)?));
                place.ty = *value;
            }
            other => {
                let message = format!("{} has no elements", self.type_name(&other));
                self.mistake(base.span, message);
                return None;
            }
        }
        Some(place)
    }
}

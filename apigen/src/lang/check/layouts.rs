//! Layouts: C structs, with natural alignment. A layout has 1 MiB at most (`MOST_BYTES`), an array in it 65,536
//! elements; a layout that contains itself, has no field, or has the `stype` of another is a mistake. A layout with a
//! chain must begin with a value that identifies it.

use std::collections::BTreeSet;

use super::super::ast::{self, Item, ItemKind, LayoutType, TypeKind};
use super::super::diagnostic::Diagnostic;
use super::super::source::Span;
use super::super::typed::{Layout, LayoutField, LayoutFieldKind, LayoutId, Program, Type};
use super::body::Body;
use super::checker::Checker;
use super::names::Declared;

/// Maximum size of a layout, in bytes.
const MOST_BYTES: u64 = 1 << 20;

impl Checker<'_> {
    /// Checks the types of the fields. Sizes and offsets are computed when all layouts have been checked.
    pub(super) fn layout(&mut self, item: &Item) {
        let ItemKind::Layout { name, fields } = &item.kind else { return };
        let Some(Declared::Layout(id)) = self.declared_here(name, item) else { return };
        let mut seen = BTreeSet::new();
        for field in fields {
            if !seen.insert(&field.name.text) {
                let message = format!("the field `{}` is repeated", field.name.text);
                self.mistake(field.name.span, message);
            }
        }
        let siblings: Vec<_> = fields
            .iter()
            .map(|field| (field.name.text.clone(), self.number_of_layout(&field.ty)))
            .collect();
        let mut typed = Vec::new();
        for (at, field) in fields.iter().enumerate() {
            if let Some(kind) = self.layout_field(field, &siblings) {
                let (name, docs) = (field.name.text.clone(), field.docs.clone());
                typed.push(LayoutField { name, docs, offset: 0, kind, span: field.span });
            }
            self.stype(id, at, field);
        }
        if fields.is_empty() {
            self.mistake(name.span, "a layout needs at least one field");
        }
        let has_chain = typed.iter().any(|field| matches!(field.kind, LayoutFieldKind::Chain));
        let is_told = fields.first().is_some_and(|first| first.value.is_some());
        if has_chain && !is_told {
            let help =
                "begin with `stype: u32 = …;`: a chain identifies structs by their first field";
            let message = "the first field of a layout with a chain needs a value";
            self.report(Diagnostic::at(name.span, message).help(help));
        }
        self.program.layouts[id.0].fields = typed;
    }

    /// The type of a field that counts may use. Reports no mistakes.
    fn number_of_layout(&mut self, ty: &LayoutType) -> Option<Type> {
        let LayoutType::Inline(ty) = ty else { return None };
        let TypeKind::Named(name) = &ty.kind else { return None };
        if matches!(self.names.declared(name), Some(Declared::Layout(_))) {
            return None;
        }
        self.ty(ty).filter(Type::is_integer)
    }

    /// Checks the value of the first field: `stype: u32 = VALUE;`.
    fn stype(&mut self, id: LayoutId, at: usize, field: &ast::LayoutField) {
        let Some(value) = &field.value else { return };
        if at > 0 {
            self.mistake(value.span, "only the first field can have a value");
            return;
        }
        if !matches!(field.ty, LayoutType::Inline(_)) {
            self.mistake(field.span, "the field that identifies the layout must be a number");
            return;
        }
        let Some(value_typed) = Body::constant(self).integer(value) else { return };
        let super::super::typed::ExprKind::Int(stype, _) = value_typed.kind else {
            self.mistake(value.span, "this is not a constant");
            return;
        };
        let other = self.program.layouts.iter().find(|layout| layout.stype == Some(stype));
        if let Some(other) = other {
            let message = format!("the layout `{}` has the same value", other.name);
            let mistake = Diagnostic::at(value.span, message).also(other.span, "declared here");
            self.report(mistake);
            return;
        }
        self.program.layouts[id.0].stype = Some(stype);
    }

    fn layout_field(
        &mut self,
        field: &ast::LayoutField,
        siblings: &[(String, Option<Type>)],
    ) -> Option<LayoutFieldKind> {
        match &field.ty {
            LayoutType::Chain => Some(LayoutFieldKind::Chain),
            LayoutType::Text => Some(LayoutFieldKind::Text),
            LayoutType::Strings(count) => {
                let count = Body::layout(self, siblings.to_vec()).integer(count)?;
                Some(LayoutFieldKind::Strings { count })
            }
            LayoutType::Read { element, count } => {
                let count = Body::layout(self, siblings.to_vec()).integer(count);
                match self.layout_named(element) {
                    Some(element) => Some(LayoutFieldKind::Layouts { element, count: count? }),
                    None => {
                        let element = self.layout_scalar(element)?;
                        Some(LayoutFieldKind::Numbers { element, count: count? })
                    }
                }
            }
            LayoutType::ReadEach { element, each, count } => {
                let each = Body::layout(self, siblings.to_vec()).integer(each);
                let count = Body::layout(self, siblings.to_vec()).integer(count);
                let element = self.layout_scalar(element)?;
                Some(LayoutFieldKind::Pointers { element, each: each?, count: count? })
            }
            LayoutType::Inline(ty) => self.inline(ty),
        }
    }

    fn inline(&mut self, ty: &ast::Type) -> Option<LayoutFieldKind> {
        let (element, len) = match &ty.kind {
            TypeKind::Array(element, len) => {
                // Checks the length, and refuses arrays of arrays below.
                if len.value < 1 || len.value > 65536 {
                    self.mistake(len.span, "an array has 1 to 65536 elements");
                    return None;
                }
                (element.as_ref(), Some(len.value.unsigned_abs()))
            }
            _ => (ty, None),
        };
        if let Some(id) = self.layout_named(element) {
            return Some(LayoutFieldKind::Inline(id, len.unwrap_or(1)));
        }
        let scalar = self.layout_scalar(element)?;
        Some(match len {
            Some(len) => LayoutFieldKind::Array(scalar, len),
            None => LayoutFieldKind::Scalar(scalar),
        })
    }

    fn layout_named(&self, ty: &ast::Type) -> Option<LayoutId> {
        let TypeKind::Named(name) = &ty.kind else { return None };
        match self.names.declared(name) {
            Some(Declared::Layout(id)) => Some(id),
            _ => None,
        }
    }

    fn layout_scalar(&mut self, ty: &ast::Type) -> Option<Type> {
        let typed = self.ty(ty)?;
        if size_of(&typed).is_none() {
            let message =
                format!("{} can't be a field of a layout", self.program.name_of_type(&typed));
            let help = "fields are numbers, addresses, layouts, arrays of these, `chain`, `text`, \
                        `strings[…]` and `read …[…]`";
            self.report(Diagnostic::at(ty.span, message).help(help));
            return None;
        }
        Some(typed)
    }

    /// Computes sizes, alignments and offsets; reports layouts that contain themselves.
    pub(super) fn refuse_endless_layouts(&mut self) {
        let mut states = vec![Measured::Not; self.program.layouts.len()];
        for at in 0..states.len() {
            self.measure(LayoutId(at), &mut states);
        }
    }

    fn measure(&mut self, id: LayoutId, states: &mut [Measured]) {
        match states[id.0] {
            Measured::Done => return,
            Measured::Begun => {
                let layout = &self.program[id];
                let (span, message) = (layout.span, format!("`{}` contains itself", layout.name));
                self.mistake(span, message);
                return;
            }
            Measured::Not => states[id.0] = Measured::Begun,
        }
        let inner: Vec<LayoutId> = self.program[id]
            .fields
            .iter()
            .filter_map(|field| match field.kind {
                LayoutFieldKind::Inline(inner, _) => Some(inner),
                _ => None,
            })
            .collect();
        inner.into_iter().for_each(|inner| self.measure(inner, states));
        let (offsets, size, align) = measured(&self.program, &self.program[id]);
        let layout = &mut self.program.layouts[id.0];
        layout.size = size;
        layout.align = align;
        for (field, offset) in layout.fields.iter_mut().zip(offsets) {
            field.offset = offset;
        }
        let (span, is_large) = (layout.span, size > MOST_BYTES);
        self.refuse_large(span, is_large);
        states[id.0] = Measured::Done;
    }

    fn refuse_large(&mut self, span: Span, is_large: bool) {
        if is_large {
            self.mistake(span, format!("a layout has at most {MOST_BYTES} bytes"));
        }
    }
}

#[derive(Clone, Copy)]
enum Measured {
    Not,
    Begun,
    Done,
}

/// Offsets, size and alignment.
fn measured(program: &Program, layout: &Layout) -> (Vec<u64>, u64, u64) {
    let mut offsets = Vec::new();
    let (mut end, mut align) = (0_u64, 1);
    for field in &layout.fields {
        let (size, of_field) = match &field.kind {
            LayoutFieldKind::Scalar(ty) => (size_of(ty).unwrap_or(1), size_of(ty).unwrap_or(1)),
            LayoutFieldKind::Array(ty, len) => {
                let size = size_of(ty).unwrap_or(1);
                (size.saturating_mul(*len), size)
            }
            LayoutFieldKind::Inline(inner, len) => {
                let inner = &program[*inner];
                (inner.size.saturating_mul(*len), inner.align)
            }
            _ => (8, 8),
        };
        let offset = end.checked_next_multiple_of(of_field).unwrap_or(u64::MAX);
        offsets.push(offset);
        end = offset.saturating_add(size);
        align = align.max(of_field);
    }
    let size = end.checked_next_multiple_of(align).unwrap_or(u64::MAX);
    (offsets, size, align)
}

/// Size in bytes of a type that a C struct can contain.
fn size_of(ty: &Type) -> Option<u64> {
    match ty {
        Type::Number(number) => Some(u64::from(number.repr.size())),
        Type::Address => Some(8),
        _ => None,
    }
}

//! Walks over expressions: every kind is listed here once.

use super::typed::{Arm, Expr, ExprKind, Extent, Place, Root, Step};

/// Calls `see` with the expression and all its subexpressions.
pub fn walk(expr: &Expr, see: &mut dyn FnMut(&Expr)) {
    see(expr);
    map(expr, &mut |inner| {
        walk(inner, see);
        inner.clone()
    });
}

/// Calls `see` with every expression of the extent.
pub fn walk_extent(extent: &Extent, see: &mut dyn FnMut(&Expr)) {
    map_extent(extent, &mut |inner| {
        walk(inner, see);
        inner.clone()
    });
}

/// Calls `see` with every expression of the place.
pub fn walk_place(place: &Place, see: &mut dyn FnMut(&Expr)) {
    map_place(place, &mut |inner| {
        walk(inner, see);
        inner.clone()
    });
}

/// Applies `f` to each expression of the place, and returns the result.
pub fn map_place(place: &Place, f: &mut dyn FnMut(&Expr) -> Expr) -> Place {
    let root = match &place.root {
        Root::State(..) => place.root.clone(),
        Root::Object(id, object, field) => Root::Object(*id, Box::new(f(object)), *field),
    };
    let steps = place.steps.iter().map(|step| match step {
        Step::Field(..) => step.clone(),
        Step::Index(index) => Step::Index(f(index)),
        Step::Key(key) => Step::Key(f(key)),
    });
    Place { root, steps: steps.collect(), ..place.clone() }
}

/// Applies `f` to each expression of the extent, and returns the result.
pub fn map_extent(extent: &Extent, f: &mut dyn FnMut(&Expr) -> Expr) -> Extent {
    let mut all = |exprs: &[Expr]| exprs.iter().map(&mut *f).collect();
    match extent {
        Extent::Elements(count) => Extent::Elements(f(count)),
        Extent::Slice(from, to) => Extent::Slice(f(from), f(to)),
        Extent::Counted { count, most } => Extent::Counted { count: *count, most: f(most) },
        Extent::Text { within } => Extent::Text { within: within.as_ref().map(f) },
        Extent::TextOf { length, terminated } => {
            Extent::TextOf { length: f(length), terminated: *terminated }
        }
        Extent::Strings { count, lengths } => {
            Extent::Strings { count: f(count), lengths: *lengths }
        }
        Extent::Memory { address, bytes } => {
            Extent::Memory { address: f(address), bytes: f(bytes) }
        }
        Extent::By { function, arguments } => {
            Extent::By { function: *function, arguments: all(arguments) }
        }
        Extent::Call { function, arguments } => {
            Extent::Call { function: *function, arguments: all(arguments) }
        }
        Extent::Chain { layout, count } => Extent::Chain { layout: *layout, count: f(count) },
        Extent::Attributes { end } => Extent::Attributes { end: f(end) },
        Extent::AnyChain => extent.clone(),
    }
}

/// Applies `f` to each direct subexpression, and returns the result.
pub fn map(expr: &Expr, f: &mut dyn FnMut(&Expr) -> Expr) -> Expr {
    let mut b = |inner: &Expr| Box::new(f(inner));
    let kind = match &expr.kind {
        ExprKind::Bool(_)
        | ExprKind::Int(..)
        | ExprKind::Float(_)
        | ExprKind::Text(_)
        | ExprKind::None
        | ExprKind::Variant(..)
        | ExprKind::Param(_)
        | ExprKind::Result
        | ExprKind::Local(_)
        | ExprKind::LayoutField(_)
        | ExprKind::State(..)
        | ExprKind::Version(..)
        | ExprKind::Desktop(..)
        | ExprKind::FixedFunction
        | ExprKind::Executes
        | ExprKind::HasExtension(_) => expr.kind.clone(),
        ExprKind::ObjectField(id, object, field) => ExprKind::ObjectField(*id, b(object), *field),
        ExprKind::StructField(id, value, field) => ExprKind::StructField(*id, b(value), *field),
        ExprKind::NameOf(id, object) => ExprKind::NameOf(*id, b(object)),
        ExprKind::Index(list, index) => ExprKind::Index(b(list), b(index)),
        ExprKind::Lookup(map, key) => ExprKind::Lookup(b(map), b(key)),
        ExprKind::Memory { param, element, index } => {
            ExprKind::Memory { param: *param, element: element.clone(), index: b(index) }
        }
        ExprKind::MemoryText { param, extent } => {
            ExprKind::MemoryText { param: *param, extent: Box::new(map_extent(extent, f)) }
        }
        ExprKind::MemoryBytes { param, count } => {
            ExprKind::MemoryBytes { param: *param, count: b(count) }
        }
        ExprKind::Attribute { param, element, key, default, end } => ExprKind::Attribute {
            param: *param,
            element: element.clone(),
            key: b(key),
            default: b(default),
            end: b(end),
        },
        ExprKind::IsNull(pointer) => ExprKind::IsNull(b(pointer)),
        ExprKind::Call(id, arguments) => ExprKind::Call(*id, arguments.iter().map(f).collect()),
        ExprKind::CallExtern(id, arguments) => {
            ExprKind::CallExtern(*id, arguments.iter().map(f).collect())
        }
        ExprKind::Sizes(id, value) => ExprKind::Sizes(*id, b(value)),
        ExprKind::Unary(op, value) => ExprKind::Unary(*op, b(value)),
        ExprKind::Binary(op, left, right) => ExprKind::Binary(*op, b(left), b(right)),
        ExprKind::If(condition, then, otherwise) => {
            ExprKind::If(b(condition), b(then), b(otherwise))
        }
        ExprKind::Match { value, arms, otherwise } => ExprKind::Match {
            value: b(value),
            arms: arms
                .iter()
                .map(|arm| Arm { patterns: arm.patterns.clone(), body: *b(&arm.body) })
                .collect(),
            otherwise: b(otherwise),
        },
        ExprKind::Convert(value) => ExprKind::Convert(b(value)),
        ExprKind::Len(value) => ExprKind::Len(b(value)),
        ExprKind::Contains { map, key } => ExprKind::Contains { map: b(map), key: b(key) },
        ExprKind::OrElse(value, default) => ExprKind::OrElse(b(value), b(default)),
        ExprKind::Min(left, right) => ExprKind::Min(b(left), b(right)),
        ExprKind::Max(left, right) => ExprKind::Max(b(left), b(right)),
        ExprKind::Create(id, name) => ExprKind::Create(*id, b(name)),
        ExprKind::Bind(id, name) => ExprKind::Bind(*id, b(name)),
        ExprKind::Find(id, name) => ExprKind::Find(*id, b(name)),
        ExprKind::Delete(id, name) => ExprKind::Delete(*id, b(name)),
        ExprKind::Push(place, value) => {
            let place = map_place(place, f);
            ExprKind::Push(place, Box::new(f(value)))
        }
        ExprKind::Remove(place, key) => {
            let place = map_place(place, f);
            ExprKind::Remove(place, Box::new(f(key)))
        }
        ExprKind::Clear(place) => ExprKind::Clear(map_place(place, f)),
    };
    Expr { kind, ..expr.clone() }
}

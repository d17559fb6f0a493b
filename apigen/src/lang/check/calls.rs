//! Calls of functions, size tables, hand-written functions, methods and builtins (`BUILTINS`). A wrong number of
//! arguments is a mistake; an unknown name is one that suggests a similar name.

use super::super::ast;
use super::super::diagnostic::Diagnostic;
use super::super::source::Span;
use super::super::typed::{
    Expr, ExprKind, Extent, ExternId, ExternKind, FunctionId, ObjectId, SizesId, Terminated, Type,
};
use super::body::Body;
use super::expressions::object_name_type;
use super::names::{self, Declared, did_you_mean};

/// The builtin functions.
const BUILTINS: &[&str] = &[
    "address",
    "attribute",
    "bytes",
    "desktop",
    "extension",
    "fixed_function",
    "float",
    "int",
    "is_null",
    "max",
    "min",
    "strings",
    "text",
    "text_of",
    "version",
];

type Typed = Option<(ExprKind, Type)>;

impl Body<'_, '_> {
    pub fn call(&mut self, function: &ast::Expr, arguments: &[ast::Expr], span: Span) -> Typed {
        match &function.kind {
            ast::ExprKind::Name(name) => self.call_named(name, function.span, arguments, span),
            ast::ExprKind::Member(base, method) => self.method(base, method, arguments, span),
            _ => {
                self.mistake(function.span, "this is not a function");
                None
            }
        }
    }

    fn call_named(
        &mut self,
        name: &str,
        name_span: Span,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Typed {
        match self.checker.names.declared(name) {
            Some(Declared::Sizes(id)) => return self.call_sizes(id, arguments, span),
            Some(Declared::Function(id)) => return self.call_function(id, arguments, span),
            Some(Declared::Extern(id)) => return self.call_extern(id, arguments, span),
            Some(Declared::Procedure(_)) => {
                let help = "a procedure is called by a statement of its own";
                let message = format!("`{name}` has no value");
                self.report(Diagnostic::at(name_span, message).help(help));
                return None;
            }
            _ => {}
        }
        if !BUILTINS.contains(&name) {
            let near = names::nearest(name, BUILTINS.iter().copied())
                .or_else(|| self.checker.names.like_declared(name));
            let help = near.map(did_you_mean);
            let mistake = Diagnostic::at(name_span, format!("no function `{name}`"));
            self.report(Diagnostic { help, ..mistake });
            return None;
        }
        match name {
            "version" => self.version(arguments, span, ExprKind::Version),
            "desktop" => self.version(arguments, span, ExprKind::Desktop),
            "fixed_function" => {
                let [] = self.exactly(arguments, span)?;
                Some((ExprKind::FixedFunction, Type::Bool))
            }
            "extension" => self.extension(arguments, span),
            "is_null" => {
                let [inner] = self.exactly(arguments, span)?;
                let inner = self.check(inner, &Type::Address)?;
                Some((ExprKind::IsNull(Box::new(inner)), Type::Bool))
            }
            "min" | "max" => self.min_max(name, arguments, span),
            "float" => self.convert(arguments, span, Type::FLOAT, Type::is_integer),
            "int" => {
                self.convert(arguments, span, Type::INT, |ty| ty.is_float() || *ty == Type::Address)
            }
            "address" => self.convert(arguments, span, Type::Address, Type::is_integer),
            "attribute" => self.attribute(arguments, span),
            "bytes" => self.bytes(arguments, span),
            _ => self.text(name, arguments, span),
        }
    }

    /// The arguments; reports a mistake if their number is not `N`.
    fn exactly<'e, const N: usize>(
        &mut self,
        arguments: &'e [ast::Expr],
        span: Span,
    ) -> Option<[&'e ast::Expr; N]> {
        let found: Vec<&ast::Expr> = arguments.iter().collect();
        let count = found.len();
        let all = found.try_into().ok();
        if all.is_none() {
            self.wrong_count(N, count, span);
        }
        all
    }

    fn wrong_count(&mut self, wanted: usize, found: usize, span: Span) {
        let plural = if wanted == 1 { "" } else { "s" };
        self.mistake(span, format!("expected {wanted} argument{plural}, found {found}"));
    }

    fn call_sizes(&mut self, id: SizesId, arguments: &[ast::Expr], span: Span) -> Typed {
        let [argument] = self.exactly(arguments, span)?;
        let argument = Box::new(self.integer(argument)?);
        Some((ExprKind::Sizes(id, argument), Type::INT))
    }

    fn call_function(&mut self, id: FunctionId, arguments: &[ast::Expr], span: Span) -> Typed {
        if self.is_constant {
            self.mistake(span, "functions can't be called here");
            return None;
        }
        if !self.checker.is_callable(id, span) {
            return None;
        }
        let function = &self.checker.program[id];
        let params = function.locals[..function.params].iter();
        let wanted: Vec<Type> = params.map(|param| param.ty.clone()).collect();
        let result = function.result.clone();
        let arguments = self.arguments(&wanted, arguments, span)?;
        Some((ExprKind::Call(id, arguments), result))
    }

    fn call_extern(&mut self, id: ExternId, arguments: &[ast::Expr], span: Span) -> Typed {
        if self.is_constant {
            self.mistake(span, "functions can't be called here");
            return None;
        }
        let function = &self.checker.program[id];
        let wanted: Vec<Type> = function.params.iter().map(|(_, ty)| ty.clone()).collect();
        let result = match (function.kind, &function.result) {
            (ExternKind::Function, Some(ty)) => ty.clone(),
            (ExternKind::Update, _) if self.subject.is_some() => Type::None,
            _ => {
                let message = match function.kind {
                    ExternKind::Update => "a function can't change state",
                    _ => "this observes memory: write `read …` or `write …`",
                };
                self.mistake(span, message);
                return None;
            }
        };
        let arguments = self.arguments(&wanted, arguments, span)?;
        Some((ExprKind::CallExtern(id, arguments), result))
    }

    pub fn arguments(
        &mut self,
        wanted: &[Type],
        arguments: &[ast::Expr],
        span: Span,
    ) -> Option<Vec<Expr>> {
        if wanted.len() != arguments.len() {
            self.wrong_count(wanted.len(), arguments.len(), span);
            return None;
        }
        let typed: Vec<_> =
            arguments.iter().zip(wanted).map(|(argument, ty)| self.check(argument, ty)).collect();
        typed.into_iter().collect()
    }

    fn version(
        &mut self,
        arguments: &[ast::Expr],
        span: Span,
        kind: fn(u32, u32) -> ExprKind,
    ) -> Typed {
        let numbers = self.exactly::<2>(arguments, span)?.map(|argument| match argument.kind {
            ast::ExprKind::Int(value) => u32::try_from(value).ok(),
            _ => None,
        });
        let [Some(major), Some(minor)] = numbers else {
            self.mistake(span, "a version has two numbers: `version(3, 1)`");
            return None;
        };
        Some((kind(major, minor), Type::Bool))
    }

    fn extension(&mut self, arguments: &[ast::Expr], span: Span) -> Typed {
        let [argument] = self.exactly(arguments, span)?;
        let ast::ExprKind::Text(name) = &argument.kind else {
            self.mistake(argument.span, "expected the extension's name in quotes");
            return None;
        };
        Some((ExprKind::HasExtension(name.clone()), Type::Bool))
    }

    fn min_max(&mut self, name: &str, arguments: &[ast::Expr], span: Span) -> Typed {
        let [left, right] = self.exactly(arguments, span)?;
        let (left, right) = (self.infer(left), self.infer(right));
        let (left, right, ty) = self.unify(left?, right?)?;
        if !ty.is_integer() && !ty.is_float() {
            let message = format!("{} has no {name}imum", self.type_name(&ty));
            self.mistake(span, message);
            return None;
        }
        let (left, right) = (Box::new(left), Box::new(right));
        let kind =
            if name == "min" { ExprKind::Min(left, right) } else { ExprKind::Max(left, right) };
        Some((kind, ty))
    }

    fn convert(
        &mut self,
        arguments: &[ast::Expr],
        span: Span,
        to: Type,
        accepts: impl Fn(&Type) -> bool,
    ) -> Typed {
        let [inner] = self.exactly(arguments, span)?;
        let inner = self.infer(inner)?;
        if !accepts(&inner.ty) {
            let message =
                format!("can't convert {} to {}", self.type_name(&inner.ty), self.type_name(&to));
            self.mistake(inner.span, message);
            return None;
        }
        Some((ExprKind::Convert(Box::new(inner)), to))
    }

    /// The pointer parameter that `expr` names; reports a mistake if its memory can't be read in this part.
    fn memory_of(&mut self, expr: &ast::Expr) -> Option<usize> {
        let Some(param) = self.pointer_named(expr) else {
            self.mistake(expr.span, "this is not a pointer parameter");
            return None;
        };
        self.check_readable(param, expr.span)?;
        Some(param)
    }

    fn attribute(&mut self, arguments: &[ast::Expr], span: Span) -> Typed {
        let (arguments, end) = match arguments.split_last() {
            Some((end, rest)) if rest.len() == 3 => (rest, Some(end)),
            _ => (arguments, None),
        };
        let [list, key, default] = self.exactly(arguments, span)?;
        let (key, default) = (self.integer(key), self.integer(default));
        let end = Box::new(self.list_end(end, span)?);
        let param = self.memory_of(list)?;
        let element = self.element(param, list.span)?;
        if !element.ty.is_integer() {
            self.mistake(list.span, "this is not a list of attributes");
            return None;
        }
        let (key, default) = (Box::new(key?), Box::new(default?));
        Some((ExprKind::Attribute { param, element, key, default, end }, Type::INT))
    }

    fn bytes(&mut self, arguments: &[ast::Expr], span: Span) -> Typed {
        let [pointer, count] = self.exactly(arguments, span)?;
        let count = self.integer(count);
        let param = self.memory_of(pointer)?;
        Some((ExprKind::MemoryBytes { param, count: Box::new(count?) }, Type::Bytes))
    }

    /// `text(p)`, `text_of(p, length, if_negative)`, `strings(p, n)`, as values.
    fn text(&mut self, word: &str, arguments: &[ast::Expr], span: Span) -> Typed {
        let Some((pointer, rest)) = arguments.split_first() else {
            self.wrong_count(1, 0, span);
            return None;
        };
        let param = self.memory_of(pointer)?;
        let extent = match (word, rest) {
            ("text", []) => Extent::Text { within: None },
            ("text", [size]) => Extent::Text { within: Some(self.integer(size)?) },
            ("text_of", [length, rule]) => {
                let ast::ExprKind::Name(name) = &rule.kind else {
                    self.mistake(rule.span, "say `if_negative` or `if_zero`");
                    return None;
                };
                let terminated = self.terminated(name, rule.span)?;
                Extent::TextOf { length: self.integer(length)?, terminated }
            }
            ("strings", [count]) => Extent::Strings { count: self.integer(count)?, lengths: None },
            ("strings", [count, lengths]) => {
                let count = self.integer(count);
                let lengths = self.memory_of(lengths)?;
                Extent::Strings { count: count?, lengths: Some(lengths) }
            }
            _ => {
                self.mistake(span, format!("too many arguments for `{word}`"));
                return None;
            }
        };
        self.check_text(param, &extent, pointer.span)?;
        Some((ExprKind::MemoryText { param, extent: Box::new(extent) }, Type::Text))
    }

    pub fn terminated(&mut self, rule: &str, span: Span) -> Option<Terminated> {
        match rule {
            "if_negative" => Some(Terminated::IfNegative),
            "if_zero" => Some(Terminated::IfZero),
            _ => {
                self.mistake(span, "say `if_negative` or `if_zero`");
                None
            }
        }
    }

    fn method(
        &mut self,
        base: &ast::Expr,
        method: &ast::Name,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Typed {
        if let ast::ExprKind::Name(name) = &base.kind {
            let is_hidden = self.binding(name).is_some();
            if let (false, Some(Declared::Object(id))) =
                (is_hidden, self.checker.names.declared(name))
            {
                return self.object_method(id, method, arguments, span);
            }
        }
        match method.text.as_str() {
            "push" | "remove" | "clear" => self.change(base, method, arguments, span),
            "contains" => {
                let [key] = self.exactly(arguments, span)?;
                let map = self.infer(base)?;
                let Type::Map(key_ty, _) = map.ty.clone() else {
                    return self.no_method(&map.ty, method);
                };
                let key = Box::new(self.check(key, &key_ty)?);
                Some((ExprKind::Contains { map: Box::new(map), key }, Type::Bool))
            }
            "or" => {
                let [default] = self.exactly(arguments, span)?;
                let value = self.infer(base)?;
                let Type::Optional(inner) = value.ty.clone() else {
                    return self.no_method(&value.ty, method);
                };
                let default = Box::new(self.check(default, &inner)?);
                Some((ExprKind::OrElse(Box::new(value), default), *inner))
            }
            _ => {
                let base = self.infer(base)?;
                self.no_method(&base.ty, method)
            }
        }
    }

    fn object_method(
        &mut self,
        id: ObjectId,
        method: &ast::Name,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Typed {
        let is_action = method.text != "find";
        if self.is_constant || is_action && self.subject.is_none() {
            self.mistake(span, "objects can't be created or deleted here");
            return None;
        }
        let make: fn(ObjectId, Box<Expr>) -> ExprKind = match method.text.as_str() {
            "create" => ExprKind::Create,
            "bind" => ExprKind::Bind,
            "find" => ExprKind::Find,
            "delete" => ExprKind::Delete,
            _ => {
                let message = format!("objects have no method `{}`", method.text);
                let help = "there are `create`, `bind`, `find` and `delete`";
                self.report(Diagnostic::at(method.span, message).help(help));
                return None;
            }
        };
        let [name] = self.exactly(arguments, span)?;
        let name_ty = object_name_type(self.checker.program[id].by_handle);
        let name = Box::new(self.check(name, &name_ty)?);
        if is_action && self.checker.program[id].tracked {
            self.require_tracked(&name, "an object that the shim keeps");
            self.require_unconditional_tracking(span);
        }
        let ty = if method.text == "delete" { Type::None } else { Type::Ref(id) };
        Some((make(id, name), ty))
    }

    /// `list.push(x)`, `map.remove(key)`, `list.clear()`
    fn change(
        &mut self,
        base: &ast::Expr,
        method: &ast::Name,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Typed {
        if self.subject.is_none() {
            self.mistake(span, "a function can't change state");
            return None;
        }
        let place = self.place(base)?;
        let kind = match (method.text.as_str(), place.ty.clone()) {
            ("push", Type::List(element)) => {
                let [value] = self.exactly(arguments, span)?;
                ExprKind::Push(place, Box::new(self.check(value, &element)?))
            }
            ("remove", Type::Map(key_ty, _)) => {
                let [key] = self.exactly(arguments, span)?;
                ExprKind::Remove(place, Box::new(self.check(key, &key_ty)?))
            }
            ("clear", Type::List(_) | Type::Map(..)) => {
                let [] = self.exactly(arguments, span)?;
                ExprKind::Clear(place)
            }
            (_, ty) => return self.no_method(&ty, method),
        };
        Some((kind, Type::None))
    }

    fn no_method<T>(&mut self, ty: &Type, method: &ast::Name) -> Option<T> {
        let message = format!("{} has no method `{}`", self.type_name(ty), method.text);
        let help = match ty {
            Type::List(_) => Some("lists have `push`, `clear` and `len`"),
            Type::Map(..) => Some("maps have `contains`, `remove`, `clear` and `len`"),
            Type::Optional(_) => Some("optional values have `or`"),
            _ => None,
        };
        let help = help.map(str::to_owned);
        self.report(Diagnostic { help, ..Diagnostic::at(method.span, message) });
        None
    }
}

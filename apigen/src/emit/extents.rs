//! Extents that depend on arguments alone, as expressions of the shim's `observe` module. If the program passes null
//! for the count of elements, all elements that fit count.

use proc_macro2::{Delimiter, Literal, TokenStream, TokenTree};
use quote::quote;

use super::output::ident;
use crate::ctype::Repr;
use crate::lang::ast::{BinaryOp, UnaryOp};
use crate::lang::typed::{Arm, Expr, ExprKind, Extent, Pattern, Terminated};
use crate::model::{Function, Observation, Param};

/// The expression that observes the memory behind `param`.
pub fn observe(function: &Function, param: &Param, observation: &Observation) -> TokenStream {
    let pointer = pointer(param);
    let of = Arguments { function, observation };
    match &observation.extent {
        Extent::Elements(elements) => of.array(param, observation, elements),
        Extent::Counted { count, most } => of.counted(param, observation, *count, most),
        Extent::Text { within: None } => quote!(observe::c_string(#pointer)),
        Extent::Text { within: Some(most) } => {
            let most = of.int(most);
            quote!(observe::c_string_bounded(#pointer, #most))
        }
        Extent::TextOf { length, terminated } => {
            let (bare, length) = (of.bare(length), of.int(length));
            let is_terminated = match terminated {
                Terminated::IfNegative => quote!(#bare < 0),
                Terminated::IfZero => quote!(#bare == 0),
            };
            quote! {
                if #is_terminated {
                    observe::c_string(#pointer)
                } else {
                    observe::array(#pointer, #length, 1)
                }
            }
        }
        Extent::Strings { count, lengths } => {
            let count = of.int(count);
            let lengths = match lengths {
                Some(lengths) => of.name(*lengths),
                None => quote!(core::ptr::null()),
            };
            quote!(observe::strings(#count, #pointer, #lengths))
        }
        Extent::Attributes { end } => {
            let end = of.int(end);
            match is_wide(observation) {
                true => quote!(observe::attributes_to_isize(#pointer, #end)),
                false => quote!(observe::attributes_to_i32(#pointer, #end)),
            }
        }
        Extent::Slice(..)
        | Extent::Memory { .. }
        | Extent::By { .. }
        | Extent::Call { .. }
        | Extent::Chain { .. }
        | Extent::AnyChain => quote!(observe::none()),
    }
}

/// The address of the memory that is observed.
fn pointer(param: &Param) -> TokenStream {
    let name = ident(&param.ident);
    match param.by_value {
        Some(_) => quote!(#name.address()),
        None => quote!(#name),
    }
}

fn is_wide(observation: &Observation) -> bool {
    observation.element.is_some_and(|element| element.repr.size() == 8)
}

fn element_bytes(observation: &Observation) -> Literal {
    Literal::u16_unsuffixed(observation.element.map_or(1, |element| element.repr.size()))
}

/// Expressions over a command's arguments.
struct Arguments<'a> {
    function: &'a Function,
    observation: &'a Observation,
}

impl Arguments<'_> {
    fn array(&self, param: &Param, observation: &Observation, elements: &Expr) -> TokenStream {
        let pointer = pointer(param);
        let elements = self.int(elements);
        let bytes = element_bytes(observation);
        quote!(observe::array(#pointer, #elements, #bytes))
    }

    /// The program may pass null for the count; then all `most` elements are observed.
    fn counted(
        &self,
        param: &Param,
        observation: &Observation,
        count: usize,
        most: &Expr,
    ) -> TokenStream {
        let pointer = ident(&param.ident);
        let uncounted = self.array(param, observation, most);
        let (count, most, bytes) = (self.name(count), self.int(most), element_bytes(observation));
        quote! {
            if #count.is_null() {
                #uncounted
            } else {
                observe::counted_array(#pointer, #count, #most, #bytes)
            }
        }
    }

    fn name(&self, param: usize) -> TokenStream {
        let name = self.function.params.get(param).map(|param| ident(&param.ident));
        quote!(#name)
    }

    /// The argument's name if the expression is an argument, else the expression as an operand.
    fn bare(&self, expr: &Expr) -> TokenStream {
        match &expr.kind {
            ExprKind::Param(at) => self.name(*at),
            _ => self.operand(expr),
        }
    }

    /// An expression of type `i64` that cannot overflow.
    fn int(&self, expr: &Expr) -> TokenStream {
        match &expr.kind {
            ExprKind::Int(number, _) => {
                let number = Literal::i64_unsuffixed(*number);
                quote!(#number)
            }
            ExprKind::Param(at) => {
                let name = self.name(*at);
                quote!(#name as i64)
            }
            ExprKind::Convert(inner) => self.int(inner),
            ExprKind::Sizes(id, argument) => self.sizes(id.0, argument).unwrap_or_default(),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
            ExprKind::Unary(UnaryOp::Negate, value) => {
                let value = self.operand(value);
                quote!(#value.saturating_neg())
            }
            ExprKind::Unary(UnaryOp::Complement, value) => {
                let value = self.operand(value);
                quote!(!#value)
            }
            ExprKind::Min(left, right) => {
                let (left, right) = (self.operand(left), self.int(right));
                quote!(#left.min(#right))
            }
            ExprKind::Max(left, right) => {
                let (left, right) = (self.operand(left), self.int(right));
                quote!(#left.max(#right))
            }
            ExprKind::If(condition, then, otherwise) => {
                let condition = without_parentheses(self.bool(condition));
                let (then, otherwise) = (self.int(then), self.int(otherwise));
                quote!(if #condition { #then } else { #otherwise })
            }
            ExprKind::Match { value, arms, otherwise } => {
                let (value, otherwise) = (self.int(value), self.int(otherwise));
                let arms = arms.iter().map(|arm| self.arm(arm, self.int(&arm.body)));
                quote!(match #value { #(#arms)* _ => #otherwise })
            }
            ExprKind::Memory { .. } | ExprKind::Bool(_) => quote!(0),
            _ => {
                let condition = self.bool(expr);
                quote!(i64::from(#condition))
            }
        }
    }

    /// An arm of a match whose body is written as `body`.
    fn arm(&self, arm: &Arm<Expr>, body: TokenStream) -> TokenStream {
        let patterns = arm.patterns.iter().filter_map(|pattern| match pattern {
            Pattern::Int(value, _) => Some(Literal::i64_unsuffixed(*value)),
            _ => None,
        });
        quote!(#(#patterns)|* => #body,)
    }

    fn sizes(&self, table: usize, argument: &Expr) -> Option<TokenStream> {
        let table = ident(self.observation.tables.get(&table)?);
        let is_u32 = matches!(&argument.kind, ExprKind::Param(at)
            if self.function.params.get(*at).is_some_and(|param| param.value.ty.repr == Repr::U32));
        let argument = match is_u32 {
            true => self.bare(argument),
            false => {
                let argument = self.operand(argument);
                quote!(#argument as u32)
            }
        };
        Some(quote!(sizes::#table(#argument)))
    }

    fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr) -> TokenStream {
        if op.is_comparison() || matches!(op, BinaryOp::And | BinaryOp::Or) {
            let condition = self.comparison(op, left, right);
            return quote!(i64::from(#condition));
        }
        let is_constant = matches!(right.kind, ExprKind::Int(1.., _));
        let (left, right_operand, right) =
            (self.operand(left), self.operand(right), self.int(right));
        match op {
            BinaryOp::Multiply => quote!(#left.saturating_mul(#right)),
            BinaryOp::Add => quote!(#left.saturating_add(#right)),
            BinaryOp::Subtract => quote!(#left.saturating_sub(#right)),
            BinaryOp::Divide if is_constant => quote!(#left / #right),
            BinaryOp::Divide => quote!(gapii_state::number::div(#left, #right)),
            BinaryOp::Remainder if is_constant => quote!(#left % #right),
            BinaryOp::Remainder => quote!(gapii_state::number::rem(#left, #right)),
            BinaryOp::ShiftLeft => quote!(gapii_state::number::shl(#left, #right)),
            BinaryOp::ShiftRight => quote!(gapii_state::number::shr(#left, #right)),
            BinaryOp::BitAnd => quote!((#left & #right_operand)),
            BinaryOp::BitXor => quote!((#left ^ #right_operand)),
            _ => quote!((#left | #right_operand)),
        }
    }

    fn comparison(&self, op: BinaryOp, left: &Expr, right: &Expr) -> TokenStream {
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            let (left, right) = (self.bool(left), self.bool(right));
            return match op {
                BinaryOp::And => quote!((#left && #right)),
                _ => quote!((#left || #right)),
            };
        }
        let (left, right) = (self.operand(left), self.operand(right));
        match op {
            BinaryOp::Equal => quote!((#left == #right)),
            BinaryOp::NotEqual => quote!((#left != #right)),
            BinaryOp::Less => quote!((#left < #right)),
            BinaryOp::LessEqual => quote!((#left <= #right)),
            BinaryOp::Greater => quote!((#left > #right)),
            _ => quote!((#left >= #right)),
        }
    }

    fn bool(&self, expr: &Expr) -> TokenStream {
        match &expr.kind {
            ExprKind::Bool(value) => quote!(#value),
            ExprKind::Param(at) => {
                let name = self.name(*at);
                quote!((#name != 0))
            }
            ExprKind::Unary(UnaryOp::Not, value) => {
                let value = self.bool(value);
                quote!(!#value)
            }
            ExprKind::IsNull(pointer) => {
                let pointer = self.bare(pointer);
                quote!(#pointer.is_null())
            }
            ExprKind::Binary(op, left, right) => self.comparison(*op, left, right),
            ExprKind::If(condition, then, otherwise) => {
                let (condition, then, otherwise) =
                    (self.bool(condition), self.bool(then), self.bool(otherwise));
                let condition = without_parentheses(condition);
                quote!((if #condition { #then } else { #otherwise }))
            }
            ExprKind::Match { value, arms, otherwise } => {
                let value = self.int(value);
                let arms =
                    arms.iter().map(|arm| self.arm(arm, without_parentheses(self.bool(&arm.body))));
                let otherwise = without_parentheses(self.bool(otherwise));
                quote!((match #value { #(#arms)* _ => #otherwise }))
            }
            _ => quote!(compile_error!("a condition that slots cannot have")),
        }
    }

    fn operand(&self, expr: &Expr) -> TokenStream {
        let tokens = self.int(expr);
        match &expr.kind {
            ExprKind::Int(number, _) => {
                let number = Literal::i64_suffixed(*number);
                quote!(#number)
            }
            ExprKind::Sizes(..) => tokens,
            _ => quote!((#tokens)),
        }
    }
}

/// `tokens` without a pair of parentheses around all of them.
fn without_parentheses(tokens: TokenStream) -> TokenStream {
    let mut trees = tokens.clone().into_iter();
    match (trees.next(), trees.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Parenthesis => {
            group.stream()
        }
        _ => tokens,
    }
}

//! Operators. An address plus or minus an integer is an address, the difference of two addresses an integer; an integer
//! beside a float becomes a float. Division by the constant 0 is a mistake.

use super::super::ast;
use super::super::diagnostic::Diagnostic;
use super::super::source::Span;
use super::super::typed::{BinaryOp, Expr, ExprKind, Type, UnaryOp};
use super::body::Body;

impl Body<'_, '_> {
    pub fn unary(&mut self, operator: UnaryOp, inner: &ast::Expr) -> Option<(ExprKind, Type)> {
        let inner = self.infer(inner)?;
        match (operator, &inner.kind) {
            (UnaryOp::Not, _) => {
                let inner = self.coerce(inner, &Type::Bool)?;
                Some((ExprKind::Unary(operator, Box::new(inner)), Type::Bool))
            }
            (UnaryOp::Negate, ExprKind::Int(value, None)) => {
                Some((ExprKind::Int(value.saturating_neg(), None), Type::INT))
            }
            (UnaryOp::Negate, _) if inner.ty.is_float() => {
                Some((ExprKind::Unary(operator, Box::new(inner)), Type::FLOAT))
            }
            _ => {
                let inner = self.coerce(inner, &Type::INT)?;
                Some((ExprKind::Unary(operator, Box::new(inner)), Type::INT))
            }
        }
    }

    pub fn binary(
        &mut self,
        operator: BinaryOp,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Option<(ExprKind, Type)> {
        let (left, right) = (self.infer(left), self.infer(right));
        let (left, right) = (left?, right?);
        let (left, right, ty) = match operator {
            BinaryOp::And | BinaryOp::Or => {
                let (left, right) =
                    (self.coerce(left, &Type::Bool), self.coerce(right, &Type::Bool));
                (left?, right?, Type::Bool)
            }
            BinaryOp::ShiftLeft
            | BinaryOp::ShiftRight
            | BinaryOp::BitAnd
            | BinaryOp::BitXor
            | BinaryOp::BitOr => {
                let (left, right) = (self.coerce(left, &Type::INT), self.coerce(right, &Type::INT));
                (left?, right?, Type::INT)
            }
            _ if operator.is_comparison() => self.comparison(operator, left, right, span)?,
            _ => self.arithmetic(operator, left, right, span)?,
        };
        Some((ExprKind::Binary(operator, Box::new(left), Box::new(right)), ty))
    }

    fn comparison(
        &mut self,
        operator: BinaryOp,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Option<(Expr, Expr, Type)> {
        let (left, right, ty) = self.unify(left, right)?;
        let is_equality = matches!(operator, BinaryOp::Equal | BinaryOp::NotEqual);
        let is_ordered = ty.is_integer() || ty.is_float() || ty == Type::Address;
        let is_equatable = is_ordered
            || match &ty {
                Type::Bool | Type::Text | Type::Ref(_) | Type::Enum(_) => true,
                Type::Optional(_) => {
                    matches!(left.kind, ExprKind::None) || matches!(right.kind, ExprKind::None)
                }
                _ => false,
            };
        if is_ordered || is_equality && is_equatable {
            return Some((left, right, Type::Bool));
        }
        let message = format!("{} can't be compared with this operator", self.type_name(&ty));
        let help = matches!(ty, Type::Optional(_)).then(|| "write `….or(value)`".to_owned());
        self.report(Diagnostic { help, ..Diagnostic::at(span, message) });
        None
    }

    fn arithmetic(
        &mut self,
        operator: BinaryOp,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Option<(Expr, Expr, Type)> {
        let is_address = |expr: &Expr| expr.ty == Type::Address;
        match operator {
            BinaryOp::Add if is_address(&left) && right.ty.is_integer() => {
                return Some((left, right, Type::Address));
            }
            BinaryOp::Add if left.ty.is_integer() && is_address(&right) => {
                return Some((right, left, Type::Address));
            }
            BinaryOp::Subtract if is_address(&left) && right.ty.is_integer() => {
                return Some((left, right, Type::Address));
            }
            BinaryOp::Subtract if is_address(&left) && is_address(&right) => {
                return Some((left, right, Type::INT));
            }
            BinaryOp::Divide | BinaryOp::Remainder if matches!(right.kind, ExprKind::Int(0, _)) => {
                self.mistake(span, "division by 0");
                return None;
            }
            _ => {}
        }
        if left.ty.is_float() || right.ty.is_float() {
            let (left, right) = (self.coerce(left, &Type::FLOAT), self.coerce(right, &Type::FLOAT));
            return Some((left?, right?, Type::FLOAT));
        }
        let (left, right) = (self.coerce(left, &Type::INT), self.coerce(right, &Type::INT));
        Some((left?, right?, Type::INT))
    }
}

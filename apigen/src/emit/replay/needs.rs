//! Size of the memory that the driver may access behind a pointer, where it depends on arguments alone. The player
//! compares the size with its buffer. Sizes from size tables are at most 16 elements ([`SIZES_MAX`]) and are not
//! compared; an index of a draw counts as 4 bytes.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::super::output::ident;
use crate::lang::ast::BinaryOp;
use crate::lang::typed::{Command, Direction, Expr, ExprKind, Extent, Program, StmtKind};
use crate::model::Function;
use crate::parts;

/// The largest number in a size table.
const SIZES_MAX: i64 = 16;

pub struct Needs<'a> {
    pub function: &'a Function,
    pub command: &'a Command,
    pub program: &'a Program,
}

/// Pixels behind a parameter: those that one of the `extern`s of `apis/gles/pixels.api` observes.
pub struct Pixels {
    pub is_input: bool,
    amount: Amount,
}

/// How much memory the pixels are.
enum Amount {
    /// Width, height and depth, as far as they depend on arguments; and the type of each pixel.
    Size([TokenStream; 3], TokenStream),
    /// Bytes, as an `i64`.
    Bytes(TokenStream),
    /// What only the trace tells.
    Recorded,
}

impl Pixels {
    /// An expression of `replay/src/gl/pixels.rs`.
    pub fn need(&self) -> TokenStream {
        match &self.amount {
            Amount::Size([width, height, depth], ty) => {
                quote!(Need::Pixels([#width, #height, #depth], #ty))
            }
            Amount::Bytes(bytes) => quote!(Need::Bytes(#bytes)),
            Amount::Recorded => quote!(Need::Recorded),
        }
    }
}

impl Needs<'_> {
    /// The pixels behind a parameter, if it points at such.
    pub fn pixels(&self, at: usize) -> Option<Pixels> {
        let (direction, Extent::By { function, arguments }) = extent(self.command, at)? else {
            return None;
        };
        let name = self.program[*function].name.as_str();
        let numbers: Vec<Option<TokenStream>> = arguments
            .iter()
            .map(|argument| self.int(&parts::inlined(self.program, argument)))
            .collect();
        let number = |at: usize| numbers.get(at).cloned().flatten();
        let sized = |size: [Option<TokenStream>; 3], ty: usize| match (size, number(ty)) {
            ([Some(width), Some(height), Some(depth)], Some(ty)) => {
                Amount::Size([width, height, depth], ty)
            }
            _ => Amount::Recorded,
        };
        let within = |at: usize| number(at).map_or(Amount::Recorded, Amount::Bytes);
        let one = || Some(quote!(1));
        let amount = match name {
            "unpack_2d" | "pack" => sized([number(0), number(1), one()], 3),
            "unpack_3d" | "pack_3d" => sized([number(0), number(1), number(2)], 4),
            "unpack_compressed" => within(0),
            "pack_within" => within(4),
            "pack_3d_within" => within(5),
            "pack_image" => Amount::Recorded,
            "pack_image_within" => within(6),
            "pack_compressed" => within(1),
            _ => return None,
        };
        Some(Pixels { is_input: direction == Direction::In, amount })
    }

    pub fn direction(&self, at: usize) -> Option<Direction> {
        extent(self.command, at).map(|(direction, _)| direction)
    }

    pub fn is_texts(&self, at: usize) -> bool {
        matches!(extent(self.command, at), Some((_, Extent::Strings { .. })))
    }

    /// Number of elements, as an `i64`.
    pub fn elements(&self, at: usize) -> Option<TokenStream> {
        let (_, extent) = extent(self.command, at)?;
        match &parts::written_out(self.program, extent) {
            Extent::Elements(count) | Extent::Strings { count, .. } => self.int(count),
            Extent::Counted { most, .. } => self.int(most),
            _ => None,
        }
    }

    /// Size in bytes, as an `i64`; `None` if it is unknown, constant or from a size table.
    pub fn bytes(&self, at: usize) -> Option<TokenStream> {
        if self.command.draws && self.command.offset.is_some_and(|(offset, _)| offset == at) {
            // An index has four bytes at most.
            let count = self.function.params.iter().find(|param| param.name == "count")?;
            let count = ident(&count.ident);
            return Some(quote!(i64::from(#count).saturating_mul(4)));
        }
        let (_, extent) = extent(self.command, at)?;
        let size = self.element_bytes(at);
        let times = |count: &Expr| {
            let tokens = (!is_small(count)).then(|| self.int(count)).flatten()?;
            let size = Literal::i64_unsuffixed(size);
            Some(if self.element_bytes(at) == 1 {
                tokens
            } else {
                quote!(#tokens.saturating_mul(#size))
            })
        };
        match &parts::written_out(self.program, extent) {
            Extent::Elements(count) => times(count),
            Extent::Slice(_, end) => times(end),
            Extent::Counted { most, .. } => times(most),
            Extent::Text { within: Some(within) } => times(within),
            Extent::TextOf { length, .. } => times(length),
            _ => None,
        }
    }

    fn element_bytes(&self, at: usize) -> i64 {
        let pointee = self.command.params.get(at).and_then(|param| param.ctype.pointee());
        let size = pointee.and_then(|pointee| pointee.scalar()).map(|(repr, _)| repr.size());
        i64::from(size.unwrap_or(1).max(1))
    }

    /// An expression of arguments as an `i64` that saturates.
    fn int(&self, expr: &Expr) -> Option<TokenStream> {
        Some(match &expr.kind {
            ExprKind::Int(number, _) => {
                let number = Literal::i64_unsuffixed(*number);
                quote!(#number)
            }
            ExprKind::Param(at) => {
                let param =
                    self.function.params.get(*at).filter(|param| !param.value.is_pointer)?;
                let (name, at) = (ident(&param.ident), Literal::usize_unsuffixed(*at));
                match param.value.rust.to_string().as_str() {
                    "i64" => quote!(#name),
                    "isize" | "u64" => quote!(call.i64(#at)),
                    _ => quote!(i64::from(#name)),
                }
            }
            ExprKind::Convert(inner) => self.int(inner)?,
            ExprKind::Sizes(..) => {
                let most = Literal::i64_suffixed(SIZES_MAX);
                quote!(#most)
            }
            ExprKind::Binary(op, left, right) => {
                let suffixed = |expr: &Expr| match &expr.kind {
                    ExprKind::Int(number, _) => {
                        let number = Literal::i64_suffixed(*number);
                        Some(quote!(#number))
                    }
                    _ => self.int(expr),
                };
                let is_divisor = matches!(right.kind, ExprKind::Int(1.., _));
                let (left, right) = (suffixed(left)?, self.int(right)?);
                match op {
                    BinaryOp::Divide if is_divisor => quote!((#left / #right)),
                    BinaryOp::Multiply => quote!(#left.saturating_mul(#right)),
                    BinaryOp::Add => quote!(#left.saturating_add(#right)),
                    BinaryOp::Subtract => quote!(#left.saturating_sub(#right)),
                    BinaryOp::Divide => quote!((#left / #right.max(1))),
                    _ => return None,
                }
            }
            ExprKind::If(_, then, otherwise) => match (&then.kind, &otherwise.kind) {
                (_, ExprKind::Int(0, _)) => self.int(then)?,
                (ExprKind::Int(0, _), _) => self.int(otherwise)?,
                _ => {
                    let (then, otherwise) = (self.int(then)?, self.int(otherwise)?);
                    quote!(#then.max(#otherwise))
                }
            },
            ExprKind::Min(left, right) => {
                let (left, right) = (self.int(left)?, self.int(right)?);
                quote!((#left).min(#right))
            }
            ExprKind::Max(left, right) => {
                let (left, right) = (self.int(left)?, self.int(right)?);
                quote!((#left).max(#right))
            }
            _ => return None,
        })
    }
}

/// Whether a number depends on constants and size tables alone.
fn is_small(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(..) | ExprKind::Sizes(..) => true,
        ExprKind::Convert(inner) => is_small(inner),
        ExprKind::If(_, left, right)
        | ExprKind::Binary(_, left, right)
        | ExprKind::Min(left, right)
        | ExprKind::Max(left, right) => is_small(left) && is_small(right),
        _ => false,
    }
}

/// The direction and the extent of a parameter's memory: that of its slot, else that of its only range.
pub fn extent(command: &Command, at: usize) -> Option<(Direction, &Extent)> {
    if let Some(slot) = command.slots.iter().find(|slot| slot.param == at) {
        return Some((slot.direction, &slot.extent));
    }
    let mut found = Vec::new();
    for part in [&command.enter, &command.leave] {
        parts::each(part, &mut |stmt| {
            if let StmtKind::Observe(observation) = &stmt.kind
                && observation.param == Some(at)
            {
                found.push((observation.direction, &observation.extent));
            }
        });
    }
    // Several ranges may be alternatives, each of which is a whole extent.
    match found.as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

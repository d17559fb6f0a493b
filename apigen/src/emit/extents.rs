//! Extents as expressions of the shim's `observe` module.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::ident;
use crate::extent::{Expr, Extent, Terminated};
use crate::model::{Function, Observation, Param};
use crate::naming;

/// The expression that observes what `param` points at.
pub fn observe(function: &Function, param: &Param, observation: &Observation) -> TokenStream {
    let pointer = ident(&param.ident);
    match &observation.extent {
        Extent::Unobserved => quote!(observe::none()),
        Extent::Elements(elements) => array(param, observation, elements),
        Extent::Counted { count, most } => counted(param, observation, count, most),
        Extent::Text => quote!(observe::c_string(#pointer)),
        Extent::TextWithin(most) => {
            let most = expr(most);
            quote!(observe::c_string_bounded(#pointer, #most))
        }
        Extent::TextOf { length, terminated } => {
            let length = argument(length);
            let is_terminated = match terminated {
                Terminated::IfNegative => quote!(#length < 0),
                Terminated::IfZero => quote!(#length == 0),
            };
            quote! {
                if #is_terminated {
                    observe::c_string(#pointer)
                } else {
                    observe::array(#pointer, #length as i64, 1)
                }
            }
        }
        Extent::Strings { count, lengths } => {
            let count = argument(count);
            let lengths = match lengths {
                Some(lengths) => argument(lengths),
                None => quote!(core::ptr::null()),
            };
            quote!(observe::strings(#count as i64, #pointer, #lengths))
        }
        Extent::Attributes if function.api == crate::model::Api::Egl && is_wide(observation) => {
            quote!(observe::attributes_isize(#pointer))
        }
        Extent::Attributes => quote!(observe::attributes_i32(#pointer)),
    }
}

fn array(param: &Param, observation: &Observation, elements: &Expr) -> TokenStream {
    let pointer = ident(&param.ident);
    let elements = expr(elements);
    let bytes = element_bytes(observation);
    quote!(observe::array(#pointer, #elements, #bytes))
}

/// The program need not ask how many there are.
fn counted(param: &Param, observation: &Observation, count: &str, most: &Expr) -> TokenStream {
    let pointer = ident(&param.ident);
    let uncounted = array(param, observation, most);
    let (count, most, bytes) = (argument(count), expr(most), element_bytes(observation));
    quote! {
        if #count.is_null() {
            #uncounted
        } else {
            observe::counted_array(#pointer, #count, #most, #bytes)
        }
    }
}

fn is_wide(observation: &Observation) -> bool {
    observation.element.is_some_and(|element| element.repr.size() == 8)
}

fn element_bytes(observation: &Observation) -> Literal {
    Literal::u16_unsuffixed(observation.element.map_or(1, |element| element.repr.size()))
}

/// An expression of type `i64` that cannot overflow.
fn expr(expr: &Expr) -> TokenStream {
    match expr {
        Expr::Number(number) => {
            let number = Literal::i64_unsuffixed(*number);
            quote!(#number)
        }
        Expr::Argument(name) => {
            let name = argument(name);
            quote!(#name as i64)
        }
        Expr::Sizes { table, argument } => {
            let (table, argument) = (ident(table), self::argument(argument));
            quote!(sizes::#table(#argument))
        }
        Expr::Product(left, right) => {
            let left = operand(left);
            let right = self::expr(right);
            quote!(#left.saturating_mul(#right))
        }
        Expr::Quotient(left, divisor) => {
            let left = operand(left);
            let divisor = Literal::i64_unsuffixed(*divisor);
            quote!(#left / #divisor)
        }
    }
}

fn operand(expr: &Expr) -> TokenStream {
    let tokens = self::expr(expr);
    match expr {
        Expr::Number(number) => {
            let number = Literal::i64_suffixed(*number);
            quote!(#number)
        }
        Expr::Sizes { .. } => tokens,
        _ => quote!((#tokens)),
    }
}

fn argument(name: &str) -> TokenStream {
    let name = ident(&naming::parameter(name));
    quote!(#name)
}

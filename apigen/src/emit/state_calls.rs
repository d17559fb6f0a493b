//! Calls of the state mutator: what handlers and trackers do for it.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::output::ident;
use crate::ctype::Repr;
use crate::model::{Direction, Function, Value};

/// Has the state's part of a recorded command run.
pub fn touch(function: &Function, call: TokenStream, part: Direction) -> TokenStream {
    let act = act(function, part);
    let touch = match function.api.is_of_process() {
        true => quote!(tracking::touch_process(Some(#call), #act);),
        false => quote!(tracking::touch(#call, #act);),
    };
    match guard(function) {
        Some(guard) => quote!(if #guard { #touch }),
        None => touch,
    }
}

/// The same of a hooked command, recorded or not.
pub fn touch_hooked(function: &Function, part: Direction) -> TokenStream {
    let act = act(function, part);
    quote!(tracking::touch_process(call.as_mut(), #act);)
}

/// The same of one that is not recorded.
pub fn update(function: &Function, part: Direction) -> TokenStream {
    let act = act(function, part);
    quote!(tracker.update(#act);)
}

pub fn tracker(function: &Function) -> TokenStream {
    match function.api.is_of_process() {
        true => quote!(Tracker::begin_process()),
        false => quote!(Tracker::begin()),
    }
}

/// The closure that runs the state's part of a command. No parameter of a command has the names of its own.
fn act(function: &Function, part: Direction) -> TokenStream {
    let name = ident(&function.name);
    let plain = |name: TokenStream, value: &Value| match value.ty.repr {
        Repr::Pointer => quote!(#name as u64),
        Repr::I64 if value.rust.to_string() == "isize" => quote!(#name as i64),
        _ => name,
    };
    let arguments = function.params.iter().map(|param| {
        let name = ident(&param.ident);
        plain(quote!(#name), &param.value)
    });
    match part {
        Direction::In => quote! {
            |tracked, readable, observer| {
                commands::#name::enter(tracked, readable, observer #(, #arguments)*)
            }
        },
        Direction::Out => {
            let result = function.result.as_ref().map(|value| plain(quote!(result), value));
            let arguments = arguments.chain(result);
            quote! {
                |tracked, readable, observer| {
                    commands::#name::leave(tracked, readable, observer #(, #arguments)*)
                }
            }
        }
    }
}

/// Whether the arguments are some for which the state's part does anything.
pub fn guard(function: &Function) -> Option<TokenStream> {
    let guard = function.guard.as_ref()?;
    let param = ident(&function.params.get(guard.param)?.ident);
    let values = guard.values.iter().map(|value| hexadecimal(*value));
    Some(quote!(matches!(#param, #(#values)|*)))
}

fn hexadecimal(value: u32) -> Literal {
    format!("{value:#x}").parse().expect("hexadecimal digits are a literal")
}

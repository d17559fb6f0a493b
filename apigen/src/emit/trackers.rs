//! `trackers.rs`: what runs in place of a command that changes tracked state while nothing is
//! recorded.

use quote::quote;

use super::handlers::{PRELUDE, Parts, params, result_type};
use super::output::{file, ident};
use super::state_calls::{guard, tracker, update};
use crate::model::{Direction, Function, Model, StateParts};

pub fn emit(model: &Model) -> String {
    let tracked = model.functions.iter().filter(|function| function.has_tracker());
    let items: Vec<String> = tracked.clone().map(|function| tracker_of(function) + "\n").collect();
    let table = model.functions.iter().map(|function| match function.has_tracker() {
        true => format!("Some(Handler({} as *const ())),", function.name),
        false => "None,".to_owned(),
    });
    let table = format!(
        "/// Trackers by id.\npub static TRACKERS: [Option<Handler>; COUNT] = [{}];\n",
        table.collect::<Vec<_>>().join("\n")
    );
    let body = items.join("");
    let imports = [
        ("use core::ffi::c_char;\n", "c_char"),
        ("use core::ffi::c_void;\n", "c_void"),
        ("\nuse gapii_state::commands;\n\n", "commands ::"),
        ("use super::ids::*;\n", ""),
        ("use crate::driver::driver;\n", "driver !"),
        ("use crate::table::Handler;\n", ""),
        ("use crate::tracking::Tracker;\n", "Tracker ::"),
    ];
    let imports = imports.iter().filter(|(_, word)| body.contains(word));
    let imports: String = imports.map(|(import, _)| *import).collect();
    let items: Vec<String> = [table].into_iter().chain(items).collect();
    file(&format!("{PRELUDE}\n{imports}"), &items)
}

fn tracker_of(function: &Function) -> String {
    let (name, id) = (ident(&function.name), ident(&function.constant));
    let params = params(function);
    let types = function.params.iter().map(|param| &param.value.rust);
    let result_type = result_type(function);
    let Parts { call_driver, drive, .. } = Parts::new(function);
    let begin = tracker(function);
    let guard = guard(function).map(|guard| quote!(if !#guard { return #call_driver; }));
    let state = function.state;
    let has = |part: fn(&StateParts) -> bool| state.as_ref().is_some_and(part);
    let enter = has(|state| state.enter).then(|| update(function, Direction::In));
    let leave = has(|state| state.leave).then(|| update(function, Direction::Out));
    let drive = match &leave {
        Some(leave) => {
            let result = function.result.as_ref().map(|_| quote!(result));
            quote!(#drive #leave #result)
        }
        None => call_driver.clone(),
    };
    quote! {
        pub unsafe extern "C" fn #name(#(#params),*) #result_type {
            let driver = || -> unsafe extern "C" fn(#(#types),*) #result_type { driver!(#id) };
            #guard
            let Some(mut tracker) = #begin else { return #call_driver };
            #enter
            #drive
        }
    }
    .to_string()
}

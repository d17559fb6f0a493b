//! `handlers_*.rs`: what runs in place of a command while it is recorded; and their table.
//!
//! The shapes are those of `shim/src/call.rs` (a record or two around the driver's function) and,
//! for hooked commands, `shim/src/hooks.rs`.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::extents;
use super::output::{file, ident};
use super::state_calls::{touch, touch_hooked, tracker, update};
use crate::model::{Direction, Effect, Function, Model, Param, StateParts};
use crate::registry::Origin;

/// The modules of handlers, and what each begins with.
const MODULES: [(Origin, &str); 7] = [
    (Origin::Egl, "handlers_egl"),
    (Origin::Es1, "handlers_gl_es1"),
    (Origin::Es2, "handlers_gl_es2"),
    (Origin::Es3, "handlers_gl_es3"),
    (Origin::SharedExtension, "handlers_gl_shared_extensions"),
    (Origin::VendorExtension, "handlers_gl_vendor_extensions"),
    (Origin::LevelZero, "handlers_level_zero"),
];

pub const PRELUDE: &str = "\
// A handler has its caller's duties: the arguments are those of a program that calls the command.
#![allow(
    clippy::manual_range_patterns,
    clippy::missing_safety_doc,
    clippy::multiple_unsafe_ops_per_block,
    clippy::too_many_arguments,
    clippy::undocumented_unsafe_blocks,
    non_snake_case,
    unsafe_op_in_unsafe_fn
)]
";

/// The modules by name, with their unformatted text.
pub fn emit_modules(model: &Model) -> Vec<(&'static str, String)> {
    MODULES.iter().map(|(origin, module)| (*module, emit_module(model, *origin))).collect()
}

fn emit_module(model: &Model, origin: Origin) -> String {
    let functions = model.functions.iter().filter(|function| function.origin == origin);
    let items: Vec<String> = functions.map(|function| handler(function) + "\n").collect();
    let body = items.join("");
    let imports = [
        ("use core::ffi::c_char;\n", "c_char"),
        ("use core::ffi::c_void;\n", "c_void"),
        ("\nuse gapii_abi::atom::{EFFECT, LEAVES};\n", ""),
        ("use gapii_state::commands;\n", "commands ::"),
        ("\nuse super::ids::*;\n", ""),
        ("use super::sizes;\n", "sizes ::"),
        ("use super::trackers;\n", "trackers ::"),
        ("use crate::call::Call;\n", ""),
        ("use crate::driver::driver;\n", ""),
        ("use crate::hooks;\n", "hooks ::"),
        ("use crate::observe;\n", "observe ::"),
        ("use crate::tracking;\n", "tracking ::"),
        ("use crate::tracking::Tracker;\n", "Tracker ::"),
    ];
    let imports = imports.iter().filter(|(_, word)| body.contains(word));
    let imports: String = imports.map(|(import, _)| *import).collect();
    file(&format!("{PRELUDE}\n{imports}"), &items)
}

/// The table of handlers, and which of them stay in place without a capture.
pub fn emit_table(model: &Model) -> String {
    let handlers: Vec<String> = model
        .functions
        .iter()
        .map(|function| {
            let module = MODULES.iter().find(|(origin, _)| *origin == function.origin);
            let module = module.map_or("handlers_egl", |(_, module)| module);
            format!("Handler({module}::{} as *const ()),", function.name)
        })
        .collect();
    let hooked = model.functions.iter().filter(|function| function.hook.is_some());
    let hooked: Vec<&str> = hooked.map(|function| function.constant.as_str()).collect();
    let modules: Vec<&str> = MODULES.iter().map(|(_, module)| *module).collect();
    let items = [
        format!(
            "/// Handlers by id.\npub static HANDLERS: [Handler; COUNT] = [{}];\n",
            handlers.join("\n")
        ),
        format!(
            "/// Commands whose handler is in place whether or not a capture runs.\n\
             pub static HOOKED: &[u16] = &[{}];",
            hooked.join(", ")
        ),
    ];
    file(
        &format!(
            "use super::ids::*;\nuse super::{{{}}};\nuse crate::table::Handler;",
            modules.join(", ")
        ),
        &items,
    )
}

/// One handler, unformatted.
fn handler(function: &Function) -> String {
    let name = ident(&function.name);
    let params = params(function);
    let types = function.params.iter().map(Param::passed_type);
    let result = result_type(function);
    let id = ident(&function.constant);
    let places = places(function);
    let body = match (function.hook, function.state) {
        (None, None) => plain_body(function),
        (None, Some(state)) => stateful_body(function, state),
        (Some(_), _) => hooked_body(function),
    };
    quote! {
        pub unsafe extern "C" fn #name(#(#params),*) #result {
            let driver = || -> unsafe extern "C" fn(#(#types),*) #result { driver!(#id) };
            #places
            #body
        }
    }
    .to_string()
}

pub fn params(function: &Function) -> Vec<TokenStream> {
    let params = function.params.iter().map(|param| {
        let (name, ty) = (param.passed(), param.passed_type());
        quote!(#name: #ty)
    });
    params.collect()
}

impl Param {
    /// What the driver is given.
    pub fn passed(&self) -> Ident {
        match &self.by_value {
            Some(_) => format_ident!("{}_value", self.ident),
            None => ident(&self.ident),
        }
    }

    pub fn passed_type(&self) -> TokenStream {
        match &self.by_value {
            Some(name) => {
                let name = ident(name);
                quote!(gapii_ze_api::types::#name)
            }
            None => self.value.rust.clone(),
        }
    }
}

/// Variables for where the arguments are that are passed by value.
pub fn places(function: &Function) -> TokenStream {
    let by_value = function.params.iter().filter(|param| param.by_value.is_some());
    let places = by_value.map(|param| {
        let (name, value) = (ident(&param.ident), param.passed());
        quote!(let #name = (&raw const #value).cast::<c_void>();)
    });
    quote!(#(#places)*)
}

pub fn result_type(function: &Function) -> Option<TokenStream> {
    function.result.as_ref().map(|result| {
        let ty = &result.rust;
        quote!(-> #ty)
    })
}

fn plain_body(function: &Function) -> TokenStream {
    let parts = Parts::new(function);
    let Parts { begin, reads, reserve, puts, publish, drive, leave, .. } = &parts;
    let pass_on = &parts.call_driver;
    let result = function.result.as_ref().map(|_| quote!(result));
    let does_more = !leaves_at_once(function);
    let mutable = does_more.then(|| quote!(mut));
    let returned = does_more.then(|| quote!(call.returned();));
    quote! {
        let Some(call) = #begin else { return #pass_on };
        #reads
        let Some(call) = #reserve else { return #pass_on };
        #puts
        let #mutable call = #publish;
        #drive
        #returned
        #leave
        #result
    }
}

/// State goes on whether or not there is room for the records.
fn stateful_body(function: &Function, state: StateParts) -> TokenStream {
    let parts = Parts::new(function);
    let Parts { begin, reads, reserve, puts, publish, drive, leave, .. } = &parts;
    let arguments = function.params.iter().map(|param| ident(&param.ident));
    let pass_on = match function.has_tracker() {
        true => {
            let name = ident(&function.name);
            quote!(trackers::#name(#(#arguments),*))
        }
        false => parts.call_driver.clone(),
    };
    let result = function.result.as_ref().map(|_| quote!(result));
    let touch_enter = state.enter.then(|| touch(function, quote!(&mut call), Direction::In));
    let touch_leave = state.leave.then(|| touch(function, quote!(&mut call), Direction::Out));
    let unrecorded_leave = (state.leave && state.is_tracked).then(|| {
        let update = update(function, Direction::Out);
        let begin = tracker(function);
        quote!(else if let Some(mut tracker) = #begin { #update })
    });
    let mutable = state.enter.then(|| quote!(mut));
    let does_more = !leaves_at_once(function);
    let mutable_again = does_more.then(|| quote!(mut));
    let returned = does_more.then(|| quote!(call.returned();));
    quote! {
        let Some(#mutable call) = #begin else { return #pass_on };
        #touch_enter
        #reads
        let call = #reserve.map(|call| { #puts #publish });
        #drive
        if let Some(#mutable_again call) = call { #returned #touch_leave #leave } #unrecorded_leave
        #result
    }
}

/// Hooked commands always leave: the hook runs when the driver has returned.
fn hooked_body(function: &Function) -> TokenStream {
    let parts = Parts::new(function);
    let Parts { begin, reads, reserve, puts, publish, drive, leave, .. } = &parts;
    let pass_on = &parts.call_driver;
    let hook = ident(&function.name);
    let arguments = function.params.iter().map(|param| ident(&param.ident));
    let result = function.result.as_ref().map(|_| quote!(, result));
    let has = |part: fn(&StateParts) -> bool| function.state.as_ref().is_some_and(part);
    let touch_enter = has(|state| state.enter).then(|| touch_hooked(function, Direction::In));
    let touch_leave = has(|state| state.leave).then(|| touch_hooked(function, Direction::Out));
    let before = function.hook.is_some_and(|hook| hook.before).then(|| {
        let hook = format_ident!("{}_before", function.name);
        let arguments = function.params.iter().map(|param| ident(&param.ident));
        quote!(if let Some(call) = &mut call { hooks::#hook(call #(, #arguments)*); })
    });
    let mutable = (touch_enter.is_some() || before.is_some()).then(|| quote!(mut));
    quote! {
        let Some(scope) = hooks::enter() else { return #pass_on };
        let #mutable call = #begin;
        #before
        #touch_enter
        let mut call = call.and_then(|call| {
            #reads
            let call = #reserve?;
            #puts
            Some(#publish)
        });
        #drive
        if let Some(call) = &mut call { call.returned(); }
        #touch_leave
        if let Some(call) = call { #leave }
        hooks::#hook(&scope #(, #arguments)* #result)
    }
}

/// What handlers of both shapes are made of.
pub struct Parts {
    /// An expression of type `Option<Call>`.
    begin: TokenStream,
    /// `let mut reads = …;` if anything is.
    reads: TokenStream,
    /// An expression that makes `call` an `Option<Entering>`.
    reserve: TokenStream,
    puts: TokenStream,
    /// An expression that publishes `call`.
    publish: TokenStream,
    pub call_driver: TokenStream,
    pub drive: TokenStream,
    /// The leave record, or the note that there is none.
    leave: TokenStream,
}

impl Parts {
    pub fn new(function: &Function) -> Self {
        let id = ident(&function.constant);
        let enter_flags = enter_flags(function);
        let fixed = Literal::u16_unsuffixed(function.fixed_len);
        let observed = observations(function, Direction::In);
        let has_gaps = words_with_gaps(function);
        let shared = has_gaps.iter().filter(|word| !has_one_argument(function, **word));
        let clears = shared.map(|offset| {
            let offset = Literal::u16_unsuffixed(*offset);
            quote!(call.clear(#offset);)
        });
        let puts = function.params.iter().map(|param| {
            let (offset, name) = (Literal::u16_unsuffixed(param.offset), ident(&param.ident));
            let is_alone =
                has_gaps.contains(&param.offset) && has_one_argument(function, param.offset);
            match param.by_value {
                // Where the copy is means nothing.
                Some(_) => quote!(call.put(#offset, core::ptr::null::<c_void>());),
                None if is_alone => quote!(call.put_word(#offset, #name);),
                None => quote!(call.put(#offset, #name);),
            }
        });
        let arguments = function.params.iter().map(Param::passed);
        // Read where it is called: a handler that kept it would have one register more to save.
        let call_driver = quote!(driver()(#(#arguments),*));
        let reads_ranges = function.state.is_some_and(|state| state.reads_ranges);
        let (reads, reserve, publish) = if observed.is_empty() && !reads_ranges {
            let reserve = quote!(call.reserve(#enter_flags, #fixed));
            (quote!(), reserve, quote!(call.publish()))
        } else {
            let padded = Literal::u16_unsuffixed(function.fixed_len.next_multiple_of(8));
            (
                quote!(let mut reads = [#(#observed),*];),
                quote!(call.reserve_observing(#enter_flags, #fixed, &mut reads)),
                quote!(call.publish_observing(#padded, &reads)),
            )
        };
        let drive = match function.result {
            Some(_) => quote!(let result = #call_driver;),
            None => quote!(#call_driver;),
        };
        let leave = if function.leaves() { leave(function) } else { quote!(call.finish();) };
        let puts = quote!(#(#clears)* #(#puts)*);
        let begin = quote!(Call::begin(#id));
        Self { begin, reads, reserve, puts, publish, call_driver, drive, leave }
    }
}

/// Offsets of the fixed part's words that the arguments do not fill. They are cleared first, or written
/// whole, so that nothing of an older record is left between arguments or behind them.
fn words_with_gaps(function: &Function) -> Vec<u16> {
    let filled = |word: u16| -> u16 {
        in_word(function, word).map(|param| param.value.ty.repr.size()).sum()
    };
    (0..function.fixed_len).step_by(8).filter(|word| filled(*word) < 8).collect()
}

fn has_one_argument(function: &Function, word: u16) -> bool {
    in_word(function, word).count() == 1
}

fn in_word(function: &Function, word: u16) -> impl Iterator<Item = &Param> {
    function.params.iter().filter(move |param| param.offset & !7 == word)
}

fn leave(function: &Function) -> TokenStream {
    let id = ident(&function.constant);
    let flags = leave_flags(function);
    let result = match function.result {
        Some(_) => quote!(result),
        None => quote!(()),
    };
    let mut observed = observations(function, Direction::Out);
    if function.observes_result() {
        observed.push(quote!(observe::c_string(result)));
    }
    if leaves_at_once(function) {
        return quote!(call.leave_result(#id, #flags, #result););
    }
    if observed.is_empty() {
        return quote!(call.leave(#id, #flags, #result, &mut []););
    }
    quote! {
        let mut writes = [#(#observed),*];
        call.leave(#id, #flags, #result, &mut writes);
    }
}

/// Whether nothing is looked at between the driver's return and the command's end.
fn leaves_at_once(function: &Function) -> bool {
    let writes = function.observed(Direction::Out).next().is_some() || function.observes_result();
    let touches = function.state.is_some_and(|state| state.leave);
    !(writes || touches || function.hook.is_some())
}

fn observations(function: &Function, direction: Direction) -> Vec<TokenStream> {
    let observed = function.observed(direction);
    observed.map(|(param, observation)| extents::observe(function, param, observation)).collect()
}

fn enter_flags(function: &Function) -> TokenStream {
    if function.hook.is_some_and(|hook| hook.enter_flags) {
        let hook = format_ident!("{}_enter_flags", function.name);
        let arguments = function.params.iter().map(|param| ident(&param.ident));
        return quote!(hooks::#hook(#(#arguments),*) | LEAVES);
    }
    match (function.effect, function.leaves()) {
        (Effect::Enter, true) => quote!(EFFECT | LEAVES),
        (Effect::Enter, false) => quote!(EFFECT),
        (_, true) => quote!(LEAVES),
        (_, false) => quote!(0),
    }
}

fn leave_flags(function: &Function) -> TokenStream {
    if function.hook.is_some_and(|hook| hook.leave_flags) {
        let hook = format_ident!("{}_leave_flags", function.name);
        let arguments = function.params.iter().map(|param| ident(&param.ident));
        let result = function.result.as_ref().map(|_| quote!(result));
        let all = arguments.map(|name| quote!(#name)).chain(result);
        return quote!(hooks::#hook(#(#all),*));
    }
    match function.effect {
        Effect::Leave => quote!(EFFECT),
        Effect::Enter | Effect::Recorded => quote!(0),
    }
}
